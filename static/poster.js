// The poster in a frame: shows what a link is about, and gives way to the simulator when asked to.
//
// Models: nothing.
// Rule: a classic script without fetches, workers or storage, so that a sandboxed frame can run it; speaks only to
// the parent, only after a ping; whatever else arrives is ignored in silence.
// Leaves out: reading the settings of a link: the simulator does that, with messages.
(() => {
  'use strict';

  const MAX_FRAGMENT = 16384;
  /** The simulator counts the records of a moment in 32 bits. */
  const MAX_RECORD = 0xffffffff;
  const THEMES = ['dark', 'light', 'system'];
  const own = (object, key) => Object.prototype.hasOwnProperty.call(object, key);
  const presets = globalThis.bioscopePresets || {};
  const [root, title, picture, start, look, note, full] = [
    document.documentElement,
    ...['title', 'picture', 'start', 'look', 'note', 'full'].map((id) => document.getElementById(id)),
  ];
  const light = matchMedia('(prefers-color-scheme: light)');

  let theme = new URLSearchParams(location.search).get('theme');
  /** Where answers go: the origin of the last ping; null before the first. */
  let origin = null;
  /** What is added to the simulator's query once it was asked for. */
  let play = '';

  const fragment = () => location.hash.slice(1);

  /** The keys of a link, in its order, with the values as they are written. */
  const pairs = (text) =>
    text.split('&').filter(Boolean).map((part) => {
      const at = part.indexOf('=');
      return at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
    });

  const decoded = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };

  const UNITS = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, '': 1e9 };

  /** A moment as `ns+record`, however it is written; what is none stays as it is. */
  const moment = (text) => {
    const [, number, unit, record] = text.match(/^(\d+(?:\.\d+)?)\s*(ns|us|ms|s|)(?:\+(\d+))?$/) || [];
    return number === undefined ? text : `${Math.round(number * UNITS[unit])}+${Number(record || 0)}`;
  };

  /** Does this pair of a link leave the preset's picture as it is? The picture has the drive and the strip. */
  const asDrawn = (preset, key, value) =>
    ['v', 'm', 'p'].includes(key) ||
    (key === 't' && moment(value) === moment(preset.t)) ||
    (key === 'view' && ['drive,strip', 'strip,drive'].includes(value));

  function show() {
    const entries = pairs(fragment());
    const name = decoded((entries.find(([key]) => key === 'p') || ['', ''])[1]);
    const preset = own(presets, name) ? presets[name] : null;
    const read = entries.map(([key, value]) => [key, decoded(value)]);
    const changes = preset ? read.filter(([key, value]) => !asDrawn(preset, key, value)).map((pair) => pair.join('=')) : [];
    const added = changes.join(', ');

    title.textContent = preset ? preset.title : 'Bioscope';
    document.title = preset ? `${preset.title}: Bioscope` : 'Bioscope';
    start.setAttribute('aria-label', preset ? `Start the simulator: ${preset.title}` : 'Start the simulator');
    look.textContent = preset
      ? preset.look
      : name
        ? `This copy of Bioscope has no picture for “${name.slice(0, 60)}”. The simulator says what it makes of the link.`
        : 'Linux block I/O and SMR disks, in motion. This run has no picture; the simulator makes it anew.';
    // The picture is the preset's own; a link that says more must not pass for it.
    note.hidden = changes.length === 0;
    note.textContent = `The picture shows the preset; this link adds ${added.length > 200 ? `${added.slice(0, 200)} …` : `${added}.`}`;

    const shade = theme === 'dark' || (theme !== 'light' && !light.matches) ? 'dark' : 'light';
    const source = preset ? `./p/${name}-${shade}.svg` : '';
    if (picture.getAttribute('src') !== source) {
      picture.hidden = !preset;
      if (preset) picture.src = source;
      else picture.removeAttribute('src');
    }
    picture.alt = preset ? `A moment of “${preset.title}”` : '';
    full.href = `./index.html#${fragment()}`;
  }

  function dress(word) {
    theme = word === 'dark' || word === 'light' ? word : null;
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    show();
  }

  /** Replaces this document; asked again before it has gone, the newest wish counts. */
  function begin() {
    location.replace(`./index.html?embed=1${theme ? `&theme=${theme}` : ''}${play}#${fragment()}`);
  }

  function setFragment(text) {
    // Replaced, not assigned: a frame adds nothing to the reader's history.
    location.replace(`#${text}`);
    show();
  }

  const say = (message) => parent.postMessage({ bioscope: 1, ...message }, origin === 'null' ? '*' : origin);

  const complain = (words) => {
    if (origin !== null) say({ type: 'error', messages: [words] });
  };

  const whole = (value) => typeof value === 'number' && Number.isSafeInteger(Math.floor(value)) && value >= 0;

  const obey = {
    ping(_, from) {
      origin = from;
      say({ type: 'pong', version: 1, model: null, state: 'poster' });
      tellHeight(true);
    },
    load({ fragment: text }) {
      if (typeof text !== 'string') return complain('load: fragment is no text');
      if (text.length > MAX_FRAGMENT) return complain(`load: fragment has ${text.length} characters, at most ${MAX_FRAGMENT} are read`);
      setFragment(text.replace(/^#/, ''));
    },
    theme({ theme: word }) {
      if (!THEMES.includes(word)) return complain('theme: dark, light or system');
      dress(word);
    },
    play() {
      play = '&play=1';
      begin();
    },
    pause() {
      play = '';
      begin();
    },
    seek({ time_ns: time, record = 0 }) {
      if (!whole(time)) return complain('seek: time_ns is no number of nanoseconds');
      if (!whole(record) || Math.floor(record) > MAX_RECORD) return complain('seek: record is no number of a record');
      const rest = pairs(fragment()).filter(([key]) => key !== 't').map(([key, value]) => `${key}=${value}`);
      const moment = `${Math.floor(time)}ns${record >= 1 ? `+${Math.floor(record)}` : ''}`;
      setFragment([...rest, `t=${moment}`].join('&'));
      begin();
    },
  };

  addEventListener('message', (event) => {
    if (event.source !== parent || parent === window) return;
    const { data } = event;
    if (typeof data !== 'object' || data === null || data.bioscope !== 1) return;
    if (typeof data.type !== 'string' || !own(obey, data.type)) return;
    obey[data.type](data, event.origin);
  });

  let told = 0;
  /** The height that shows everything at this width: the words as they are, the picture in full. */
  function tellHeight(again = false) {
    if (origin === null) return;
    const scene = picture.parentElement;
    const ratio = picture.naturalWidth > 0 ? picture.naturalHeight / picture.naturalWidth : 9 / 16;
    const rest = root.clientHeight - scene.clientHeight;
    const height = Math.ceil(rest + scene.clientWidth * ratio);
    if (height === told && !again) return;
    told = height;
    say({ type: 'resize', height });
  }

  start.addEventListener('click', begin);
  // Without its picture the poster is words and a button, which is enough to go on.
  picture.addEventListener('error', () => (picture.hidden = true));
  picture.addEventListener('load', () => {
    picture.hidden = false;
    tellHeight();
  });
  light.addEventListener('change', show);
  addEventListener('hashchange', show);
  addEventListener('resize', () => tellHeight());
  dress(theme);
})();
