// Says in words why the simulator did not start (no WebAssembly, WebAssembly refused, a file missing)
// or why it stopped (a trap: the module cannot go on).
//
// Runs before the module is asked for; once Trunk reports the start it listens for traps only. Leaves
// out everything else that goes wrong later: that is the page's own business.
(() => {
  'use strict';

  const why = (error) => {
    const text = String((error && error.message) || error || '');
    if (error instanceof WebAssembly.CompileError || /wasm-unsafe-eval|unsafe-eval/.test(text)) {
      return 'This page was not allowed to run WebAssembly: a security policy of the browser, of an extension or of the framing site refuses it.';
    }
    return 'A file of the simulator could not be loaded. The network may be down, or the page was replaced by a newer version: reloading may help.';
  };

  const show = (words, detail, heading = 'Bioscope could not start') => {
    stop();
    const paint = () => {
      const app = document.getElementById('app');
      const panel = document.createElement('main');
      panel.className = 'boot boot-failed';
      panel.dataset.testid = 'boot-failed';
      const title = document.createElement('h1');
      title.textContent = heading;
      const text = document.createElement('p');
      text.setAttribute('role', 'alert');
      text.textContent = words;
      panel.append(title, text);
      if (detail) {
        const code = document.createElement('p');
        code.className = 'boot-detail';
        code.textContent = detail;
        panel.append(code);
      }
      app.replaceChildren(panel);
    };
    if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', paint);
    else paint();
  };

  const onRejection = (event) => show(why(event.reason), String(event.reason));
  // A file that fails to load reports to its element without bubbling; the capture phase sees it.
  const onError = (event) => {
    const element = event.target instanceof Element ? event.target : null;
    if (element && element.tagName !== 'SCRIPT') return;
    show(why(event.error), event.message || '');
  };
  const onTrap = (event) => {
    if (!(event.error instanceof WebAssembly.RuntimeError || event.error instanceof RangeError)) return;
    removeEventListener('error', onTrap);
    show('It met something it could not go on from, perhaps for want of memory. Reload the page; if it happens again, the address below says what was asked for.', location.href, 'The simulator stopped');
  };
  const stop = () => {
    addEventListener('error', onTrap);
    removeEventListener('error', onError, true);
    removeEventListener('unhandledrejection', onRejection);
    removeEventListener('TrunkApplicationStarted', stop);
  };

  if (typeof WebAssembly !== 'object') {
    show('This browser has no WebAssembly, or it is switched off. Bioscope needs a browser from 2022 or later with WebAssembly on.');
    return;
  }
  addEventListener('error', onError, true);
  addEventListener('unhandledrejection', onRejection);
  addEventListener('TrunkApplicationStarted', stop);
})();
