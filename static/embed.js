// <bio-scope>: a moment of the simulator in a page, as an element. See the book's embedding guide.
//
// Models: nothing.
// Rule: attributes are the truth; the frame inside is made from them, and told when they change. Works as a classic
// script and as a module, and does nothing when it is loaded a second time.
// Leaves out: what the frame shows; embed.html and index.html?embed=1 do that.
(() => {
  if (customElements.get('bio-scope')) return;

  // The file's own address: a module has no currentScript, but its errors name it.
  const self = document.currentScript?.src || new Error().stack.match(/\b(https?|file):[^\s()@]*?\/embed\.js/)[0];
  const base = new URL('../', self);
  const NAMES = ['preset', 'scenario', 't', 'view', 'theme', 'height'];
  const PING_MS = 250;
  const PINGS = 240;

  /** Text as a value in a link: what ends a value is written out, what times and lists are made of stays readable. */
  const encoded = (text) =>
    encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, '\ufffd')).replace(/%2[BC]|%3A/g, decodeURIComponent);

  /** A height in px that a page can bear; nothing that counts for what is none. */
  const bounded = (height) => parseFloat(height) && Math.min(Math.max(parseFloat(height), 120), 4000);

  // A style sheet object and not text, which a strict policy of the page would refuse.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(':host{display:block}:host([hidden]){display:none}iframe{display:block;width:100%;height:450px;border:0}');

  class BioScope extends HTMLElement {
    static observedAttributes = [...NAMES, 'title'];

    #frame = null;
    /** Messages for a frame that does not listen yet. */
    #waiting = [];
    #listening = false;
    /** Has this frame ever answered? Before that a change goes into its address. */
    #met = false;
    #poster = false;
    #timer = 0;
    #stale = new Set();
    /** The height that the frame asked for last; it does not repeat it. */
    #wanted = 0;

    constructor() {
      super();
      this.attachShadow({ mode: 'open' }).adoptedStyleSheets = [sheet];
    }

    connectedCallback() {
      // What was set before the class was known hides the accessors.
      for (const name of NAMES) {
        if (!Object.hasOwn(this, name)) continue;
        const value = this[name];
        delete this[name];
        this[name] = value;
      }
      const frame = (this.#frame = document.createElement('iframe'));
      frame.loading = 'lazy';
      frame.addEventListener('load', () => this.#call());
      this.#met = false;
      this.#stale.clear();
      this.#dress();
      frame.src = this.#address();
      addEventListener('message', this);
      this.shadowRoot.append(frame);
    }

    disconnectedCallback() {
      clearInterval(this.#timer);
      removeEventListener('message', this);
      this.#frame.remove();
      this.#frame = null;
      this.#waiting = [];
      this.#listening = false;
    }

    attributeChangedCallback(name, before, after) {
      if (!this.#frame || before === after) return;
      // Several attributes set in a row are one change.
      if (this.#stale.size === 0) queueMicrotask(() => this.#update());
      this.#stale.add(name);
    }

    play() {
      this.#send({ type: 'play' });
    }

    pause() {
      this.#send({ type: 'pause' });
    }

    /** Time in ns; `record` counts the records at that time. */
    seek(time_ns, record = 0) {
      this.#send({ type: 'seek', time_ns, record });
    }

    /** Another link in this frame, until an attribute changes. */
    load(fragment) {
      this.#send({ type: 'load', fragment });
    }

    #fragment() {
      const { scenario, preset, t, view } = this;
      const parts = scenario ? scenario.replace(/^#/, '').split('&') : preset ? ['v=1', `p=${encoded(preset)}`] : [];
      const last = Object.entries({ view, t }).filter(([, value]) => value);
      const kept = parts.filter((part) => !last.some(([key]) => part.startsWith(`${key}=`)));
      return [...kept, ...last.map(([key, value]) => `${key}=${encoded(value)}`)].join('&');
    }

    #theme() {
      return /^(dark|light)$/.test(this.theme) ? this.theme : 'system';
    }

    #address() {
      const url = new URL('embed.html', base);
      if (this.#theme() !== 'system') url.search = `theme=${this.#theme()}`;
      url.hash = this.#fragment();
      return url.href;
    }

    #dress() {
      this.#frame.title = this.title || `Bioscope: ${this.preset || 'a run'}`;
      const height = bounded(this.height) || this.#wanted;
      this.#frame.style.height = height ? `${height}px` : '';
    }

    #update() {
      const stale = this.#stale;
      this.#stale = new Set();
      if (!this.#frame) return;
      this.#dress();
      const moved = ['preset', 'scenario', 't', 'view'].some((name) => stale.has(name));
      if (!this.#met) {
        if (moved || stale.has('theme')) this.#frame.src = this.#address();
        return;
      }
      if (stale.has('theme')) this.#send({ type: 'theme', theme: this.#theme() });
      if (moved) this.load(this.#fragment());
    }

    /** The frame has a new document: asks until it answers. */
    #call() {
      clearInterval(this.#timer);
      this.#listening = false;
      let left = PINGS;
      const ping = () => {
        if (left-- > 0) return this.#post({ type: 'ping' });
        clearInterval(this.#timer);
        this.#tell('error', { messages: ['the frame does not answer'] });
      };
      this.#timer = setInterval(ping, PING_MS);
      ping();
    }

    #post(message) {
      this.#frame.contentWindow.postMessage({ bioscope: 1, ...message }, '*');
    }

    #send(message) {
      if (!this.#listening) return void this.#waiting.push(message);
      this.#post(message);
      // These make a poster give way; who comes after it says so.
      if (this.#poster && /play|pause|seek/.test(message.type)) this.#listening = false;
    }

    #tell(type, detail) {
      this.dispatchEvent(new CustomEvent(`bioscope-${type}`, { detail, bubbles: true }));
    }

    #flush() {
      this.#met = this.#listening = true;
      for (const message of this.#waiting.splice(0)) this.#send(message);
    }

    handleEvent({ source, data }) {
      if (source !== this.#frame.contentWindow || data?.bioscope !== 1) return;
      const { type, bioscope, ...detail } = data;
      if (type === 'pong' || type === 'error') clearInterval(this.#timer);
      if (type === 'pong') {
        this.#poster = detail.state === 'poster';
        // While it still loads, it would have to remember what it is told; ready comes after.
        if (detail.state !== 'loading') this.#flush();
      } else if (type === 'resize') {
        this.#wanted = bounded(detail.height);
        this.#dress();
      } else if (['ready', 'time', 'event', 'error'].includes(type)) {
        if (type === 'ready') this.#flush();
        // It could not start: a change begins anew with the poster.
        if (type === 'error' && !this.#listening) this.#met = false;
        this.#tell(type, detail);
      }
    }
  }

  for (const name of NAMES) {
    Object.defineProperty(BioScope.prototype, name, {
      get() {
        return this.getAttribute(name) ?? '';
      },
      set(value) {
        if (value === null || value === undefined) this.removeAttribute(name);
        else this.setAttribute(name, value);
      },
      configurable: true,
      enumerable: true,
    });
  }

  customElements.define('bio-scope', BioScope);
})();
