// Embeds of the book: they follow its theme, and the links below a figure set its control.
(function () {
  const root = document.documentElement;
  const dark = ['coal', 'navy', 'ayu'];

  function dress() {
    const theme = dark.some((name) => root.classList.contains(name)) ? 'dark' : 'light';
    for (const embed of document.querySelectorAll('bio-scope')) {
      if (embed.getAttribute('theme') !== theme) embed.setAttribute('theme', theme);
    }
  }
  dress();
  new MutationObserver(dress).observe(root, { attributeFilter: ['class'] });

  // Without this script each is a link to the simulator.
  for (const control of document.querySelectorAll('figure .control')) {
    control.addEventListener('click', (event) => {
      const link = event.target.closest('a');
      const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
      if (!link || !plain) return;
      event.preventDefault();
      const embed = control.closest('figure').querySelector('bio-scope');
      for (const name of ['t', 'view', 'preset']) embed.removeAttribute(name);
      embed.setAttribute('scenario', link.hash.slice(1));
      for (const other of control.querySelectorAll('a')) {
        other.classList.toggle('now', other === link);
        if (other === link) other.setAttribute('aria-current', 'true');
        else other.removeAttribute('aria-current');
      }
    });
  }
})();
