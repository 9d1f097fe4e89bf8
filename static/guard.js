// Says in words why the simulator did not start (no WebAssembly, WebAssembly refused, a sandbox, an old browser, a
// file missing or not what it should be) or why it stopped (a trap: the module cannot go on). In a frame the panel
// has a link to the simulator in a tab of its own, and the words also go to the page around it when that asks.
//
// Runs before the module is asked for; once Trunk reports the start it listens for traps only. Written in the
// language of old browsers, since it is for them too. Leaves out everything else that goes wrong later: that is the
// page's own business.
(function () {
  'use strict';

  var OLD = 'This browser is too old for the simulator, or a part of it is switched off. Bioscope needs a browser from 2022 or later.';
  var framed = window.parent !== window;
  /** Opened from the disk, without a server: browsers refuse modules there. */
  var disk = location.protocol === 'file:';
  var WAIT_MS = 10000;
  var waiting;
  /** A policy's refusal arrives as an event of its own, before the error. */
  var refusedByPolicy = false;

  // Before the page itself does it, so that the first paint and a panel have the right colours.
  var theme = framed && /[?&]theme=(dark|light)\b/.exec(location.search);
  if (theme) document.documentElement.setAttribute('data-theme', theme[1]);

  function opaque() {
    return framed && window.origin === 'null';
  }

  function why(error) {
    var text = String((error && error.message) || error || '');
    if (disk) {
      return 'The simulator was opened as a file, and browsers run no programs of this kind from files. It needs a web server, on this machine will do: run “python3 -m http.server” in the folder that has index.html, then open http://localhost:8000/.';
    }
    if (refusedByPolicy || /unsafe-eval|content security policy|blocked by csp/i.test(text)) {
      return 'This page was not allowed to run WebAssembly: a security policy of the browser, of an extension or of the framing site refuses it.';
    }
    if (/magic|doesn't start with|fell off|reached end|unexpected end|end of/i.test(text)) {
      return 'The server sent something else in place of the simulator’s WebAssembly file, or only a part of it: perhaps a page that says it is missing.';
    }
    if (error instanceof WebAssembly.CompileError || error instanceof SyntaxError) return OLD;
    if (opaque()) {
      return 'The sandbox of this frame takes its origin away, and the server of Bioscope gives such frames no programs. The simulator needs a tab of its own.';
    }
    return 'A file of the simulator could not be loaded. The network may be down, or the page was replaced by a newer version: reloading may help.';
  }

  function paragraph(className, text) {
    var p = document.createElement('p');
    p.className = className;
    p.textContent = text;
    return p;
  }

  /** The same moment in a tab; its address stands there to be copied, for a sandbox may refuse to open it. */
  function wayOut() {
    var address = location.href.split(/[?#]/)[0] + location.hash;
    var p = paragraph('boot-way-out', '');
    var link = document.createElement('a');
    link.href = address;
    link.target = '_blank';
    link.rel = 'noopener';
    link.setAttribute('data-testid', 'boot-open');
    link.textContent = 'Open the simulator in a tab';
    p.appendChild(link);
    return opaque() ? [p, paragraph('boot-detail', address)] : [p];
  }

  function show(words, detail, heading) {
    stop();
    tellParent(words);
    function paint() {
      var app = document.getElementById('app');
      var panel = document.createElement('main');
      panel.className = 'boot boot-failed';
      panel.setAttribute('data-testid', 'boot-failed');
      var title = document.createElement('h1');
      title.textContent = heading || 'Bioscope could not start';
      var text = paragraph('', words);
      text.setAttribute('role', 'alert');
      var parts = [title, text].concat(framed && !disk ? wayOut() : []);
      if (detail) parts.push(paragraph('boot-detail', detail));
      for (var i = 0; i < parts.length; i++) panel.appendChild(parts[i]);
      app.textContent = '';
      app.appendChild(panel);
    }
    if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', paint);
    else paint();
  }

  /** Nobody else will answer a ping any more. */
  function tellParent(words) {
    if (!framed) return;
    addEventListener('message', function (event) {
      var data = event.data;
      if (event.source !== window.parent || !data || data.bioscope !== 1 || data.type !== 'ping') return;
      window.parent.postMessage({ bioscope: 1, type: 'error', messages: [words] }, event.origin === 'null' ? '*' : event.origin);
    });
  }

  function onPolicy(event) {
    if (event.blockedURI === 'wasm-eval') refusedByPolicy = true;
  }
  function onRejection(event) {
    show(why(event.reason), String(event.reason));
  }
  // A file that fails to load reports to its element without bubbling; the capture phase sees it.
  function onError(event) {
    var element = event.target instanceof Element ? event.target : null;
    if (element && element.tagName !== 'SCRIPT') return;
    // Offline use is an extra.
    if (element && /\/offline\.js$/.test(element.src)) return;
    show(why(event.error), event.message || '');
  }
  function onTrap(event) {
    if (!(event.error instanceof WebAssembly.RuntimeError || event.error instanceof RangeError)) return;
    removeEventListener('error', onTrap);
    show('It met something it could not go on from, perhaps for want of memory. Reload the page; if it happens again, the address below says what was asked for.', location.href, 'The simulator stopped');
  }
  function onWait() {
    var message = document.getElementById('boot-message');
    if (message) message.textContent = 'Still waiting for the simulator’s files. The network may be slow, or the server does not answer.';
  }
  function stop() {
    clearTimeout(waiting);
    addEventListener('error', onTrap);
    removeEventListener('securitypolicyviolation', onPolicy, true);
    removeEventListener('error', onError, true);
    removeEventListener('unhandledrejection', onRejection);
    removeEventListener('TrunkApplicationStarted', stop);
  }

  if (typeof WebAssembly !== 'object') {
    show('This browser has no WebAssembly, or it is switched off. Bioscope needs a browser from 2022 or later with WebAssembly on.');
    return;
  }
  if (!('noModule' in document.createElement('script'))) {
    show(OLD);
    return;
  }
  waiting = setTimeout(onWait, WAIT_MS);
  addEventListener('securitypolicyviolation', onPolicy, true);
  addEventListener('error', onError, true);
  addEventListener('unhandledrejection', onRejection);
  addEventListener('TrunkApplicationStarted', stop);
})();
