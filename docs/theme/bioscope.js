// The book's scenes: a picture until it is started, then the simulator; they follow the book's theme, and the links
// below a figure set its control. Without this script there is the picture, and each link opens the simulator.
(function () {
  const root = document.documentElement;
  const dark = ['coal', 'navy', 'ayu'];

  function dress() {
    const theme = dark.some((name) => root.classList.contains(name)) ? 'dark' : 'light';
    for (const embed of document.querySelectorAll('bio-scope')) {
      if (embed.getAttribute('theme') !== theme) embed.setAttribute('theme', theme);
    }
  }
  new MutationObserver(dress).observe(root, { attributeFilter: ['class'] });

  // What scrolls can be reached by keyboard.
  for (const code of document.querySelectorAll('pre > code, .table-wrapper')) code.tabIndex = 0;

  // The picture stays until the run is there, or says what is wrong.
  function start(scene, scenario) {
    const embed = scene.querySelector('template').content.firstElementChild.cloneNode();
    if (scenario) choose(embed, scenario);
    scene.classList.add('starting');
    scene.append(embed);
    dress();
    // Asked to pause, the poster gives way to the simulator at its moment.
    customElements.whenDefined('bio-scope').then(() => embed.pause());
    for (const name of ['bioscope-ready', 'bioscope-error']) {
      embed.addEventListener(name, () => (scene.className = 'scene started'));
    }
  }

  function choose(embed, scenario) {
    for (const name of ['t', 'view', 'preset']) embed.removeAttribute(name);
    embed.setAttribute('scenario', scenario);
  }

  for (const scene of document.querySelectorAll('.scene')) {
    scene.querySelector('.start').addEventListener('click', () => {
      if (scene.className === 'scene') start(scene);
    });
  }

  for (const control of document.querySelectorAll('figure .control')) {
    control.addEventListener('click', (event) => {
      const link = event.target.closest('a');
      const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
      if (!link || !plain) return;
      event.preventDefault();
      const scene = control.closest('figure').querySelector('.scene');
      const embed = scene.querySelector('bio-scope');
      if (embed) choose(embed, link.hash.slice(1));
      else start(scene, link.hash.slice(1));
      for (const other of control.querySelectorAll('a')) {
        other.classList.toggle('now', other === link);
        if (other === link) other.setAttribute('aria-current', 'true');
        else other.removeAttribute('aria-current');
      }
    });
  }
})();
