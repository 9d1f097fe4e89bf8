// The <bio-scope> element on somebody else's page: attributes, properties, events, methods, several of them.
import { check, equal, pause, runCases } from './harness.mjs';

const SCRIPT = (url) => `<script src="${url}static/embed.js"></script>`;
/** Keeps the element's events in `window.events`. */
const EVENTS = `<script>
  window.events = [];
  for (const type of ['ready', 'time', 'event', 'error']) {
    addEventListener('bioscope-' + type, (event) => events.push({ type, id: event.target.id, detail: event.detail }));
  }
</script>`;

const page = (elements) => (url) => EVENTS + elements + SCRIPT(url);

/** Runs in the page, given the element with that id. */
const on = (player, id, work, ...values) =>
  player.page.evaluate(
    ([name, text, list]) => new Function('element', 'values', `return (${text})(element, ...values)`)(document.getElementById(name), list),
    [id, work.toString(), values],
  );

const heard = (player, type, id) => player.page.evaluate(([t, i]) => window.events.filter((e) => e.type === t && (i === undefined || e.id === i)), [type, id]);

const source = (player, id) => on(player, id, (element) => element.shadowRoot.querySelector('iframe')?.src);

const untilSource = (player, id, end, words) =>
  player.until(async () => (await source(player, id))?.endsWith(end), `${words}: the frame's address ends with ${end}`);

/** Asks the frame itself, which may be changing documents. */
const untilShown = (embed, end, words) => {
  const shown = () => embed.frame.evaluate(() => location.href).catch(() => '');
  return embed.until(async () => (await shown()).endsWith(end), `${words}: the frame shows ${end}`);
};

async function untilEvent(player, type, id, count = 1) {
  await player.until(async () => (await heard(player, type, id)).length >= count, `bioscope-${type} number ${count} of ${id}`);
  return (await heard(player, type, id)).at(-1).detail;
}

async function posterReady(embed) {
  await embed.get('poster-start').waitFor();
}

await runCases({
  async 'attributes at the start'(_, host) {
    const html = page(`
      <bio-scope id="a" preset="smr-seq-write"></bio-scope>
      <bio-scope id="b" preset="smr-seq-write" t="2s+1" view="jobs,drive" theme="light" height="300" title="Two jobs"></bio-scope>
      <bio-scope id="c" preset="ignored" scenario="#v=1&p=smr-rand-zones&iodepth=4&t=1s" t="3s"></bio-scope>
      <bio-scope id="d"></bio-scope>`);
    const player = await host({ html });
    equal(await source(player, 'a'), `${player.site.url}embed.html#v=1&p=smr-seq-write`, 'a preset');
    equal(await source(player, 'b'), `${player.site.url}embed.html?theme=light#v=1&p=smr-seq-write&view=jobs,drive&t=2s+1`, 'all of them');
    equal(await source(player, 'c'), `${player.site.url}embed.html#v=1&p=smr-rand-zones&iodepth=4&t=3s`, 'a scenario, with another moment');
    equal((await source(player, 'd')).replace(/#$/, ''), `${player.site.url}embed.html`, 'nothing');
    const box = (id) => on(player, id, (element) => {
      const frame = element.shadowRoot.querySelector('iframe');
      return `${frame.title}|${frame.loading}|${frame.getBoundingClientRect().height}|${getComputedStyle(element).display}`;
    });
    equal(await box('b'), 'Two jobs|lazy|300|block', 'title, loading, height, display');
    check((await box('a')).startsWith('Bioscope: smr-seq-write|lazy|'), 'a frame without a title gets one');
  },

  async 'attributes changed on a poster'(_, host) {
    const player = await host({ html: page('<bio-scope id="a" preset="smr-seq-write"></bio-scope>') });
    const embed = await player.embed();
    await posterReady(embed);
    const title = await embed.text('poster-title');
    // The frame may not have answered yet, or it may: the result is the same.
    await on(player, 'a', (element) => element.setAttribute('preset', 'smr-rand-zones'));
    await embed.untilText('poster-title', (text) => text !== title, 'is the other preset’s');
    await pause(500);
    await on(player, 'a', (element) => {
      element.setAttribute('preset', 'smr-seq-write');
      element.setAttribute('t', '2s');
      element.setAttribute('view', 'drive');
    });
    await untilShown(embed, '#v=1&p=smr-seq-write&view=drive&t=2s', 'three at once');
    await on(player, 'a', (element) => element.removeAttribute('t'));
    await untilShown(embed, '#v=1&p=smr-seq-write&view=drive', 'one taken away');
    await on(player, 'a', (element) => element.setAttribute('scenario', 'v=1&p=smr-rand-zones&iodepth=2'));
    await untilShown(embed, '#v=1&p=smr-rand-zones&iodepth=2&view=drive', 'a scenario wins over a preset');
    await on(player, 'a', (element) => element.setAttribute('theme', 'light'));
    await embed.until(() => embed.frame.evaluate(() => document.documentElement.dataset.theme === 'light'), 'the theme follows');
    await on(player, 'a', (element) => element.setAttribute('theme', 'nosuch'));
    await embed.until(() => embed.frame.evaluate(() => !('theme' in document.documentElement.dataset)), 'an unknown theme is the system’s');
    await on(player, 'a', (element) => element.setAttribute('height', '222'));
    equal(await on(player, 'a', (element) => element.getBoundingClientRect().height), 222, 'the height');
    await on(player, 'a', (element) => element.setAttribute('title', 'Another title'));
    equal(await on(player, 'a', (element) => element.shadowRoot.querySelector('iframe').title), 'Another title', 'the title');
  },

  async 'properties'(_, host) {
    const html = (url) => `${EVENTS}<bio-scope id="a"></bio-scope><script>
      // Before the class is known.
      document.getElementById('a').preset = 'smr-seq-write';
      document.getElementById('a').t = '2s';
    </script>${SCRIPT(url)}`;
    const player = await host({ html });
    await untilSource(player, 'a', '#v=1&p=smr-seq-write&t=2s', 'properties set before the script');
    const read = () => on(player, 'a', (e) => [e.preset, e.scenario, e.t, e.view, e.theme, e.height, e.title].join('|'));
    equal(await read(), 'smr-seq-write||2s||||', 'properties');
    // A document that is still on its way is the business of other cases.
    await posterReady(await player.embed());
    await on(player, 'a', (element) => {
      Object.assign(element, { scenario: 'v=1&p=smr-rand-zones', t: null, view: 'jobs', theme: 'dark', height: 250, title: 'Words' });
    });
    equal(await read(), 'smr-seq-write|v=1&p=smr-rand-zones||jobs|dark|250|Words', 'properties set');
    const attributes = () => on(player, 'a', (e) => e.getAttributeNames().sort().map((name) => `${name}=${e.getAttribute(name)}`).join('|'));
    equal(await attributes(), 'height=250|id=a|preset=smr-seq-write|scenario=v=1&p=smr-rand-zones|theme=dark|title=Words|view=jobs', 'attributes');
    await untilShown(await player.embed(), '#v=1&p=smr-rand-zones&view=jobs', 'properties reach the frame');
  },

  async 'removed and added again'(_, host) {
    const player = await host({ html: page('<div id="one"><bio-scope id="a" preset="smr-seq-write"></bio-scope></div><div id="two"></div>') });
    await posterReady(await player.embed());
    await player.page.evaluate(() => {
      window.kept = document.getElementById('a');
      window.kept.remove();
      // Nobody listens; nothing may break.
      window.kept.preset = 'smr-rand-zones';
      window.kept.theme = 'light';
      window.kept.pause();
    });
    await pause(600);
    equal(player.page.frames().length, 1, 'frames of the page without the element');
    await player.page.evaluate(() => document.getElementById('two').append(window.kept));
    await untilSource(player, 'a', '?theme=light#v=1&p=smr-rand-zones', 'added again');
    const embed = await player.embed();
    await posterReady(embed);
    await player.page.evaluate(() => document.getElementById('one').append(window.kept));
    await pause(600);
    equal(player.page.frames().length, 2, 'frames of the page after a move');
    await posterReady(await player.embed());
    await on(player, 'a', (element) => (element.preset = 'smr-seq-write'));
    await untilShown(await player.embed(), '#v=1&p=smr-seq-write', 'a change after a move');
  },

  async 'two with the same preset'(_, host) {
    const player = await host({ html: page('<bio-scope id="a" preset="smr-seq-write"></bio-scope><bio-scope id="b" preset="smr-seq-write"></bio-scope>') });
    const [a, b] = [await player.embed(0), await player.embed(1)];
    await posterReady(a);
    await posterReady(b);
    await on(player, 'b', (element) => element.pause());
    await untilEvent(player, 'ready', 'b');
    check(a.frame.url().includes('embed.html'), 'the other is still a poster');
    await on(player, 'a', (element) => element.seek(2e9));
    await untilEvent(player, 'ready', 'a');
    equal((await heard(player, 'ready', 'a')).at(-1).detail.time_ns, 2e9, 'the moment of the one');
    check((await heard(player, 'ready', 'b')).at(-1).detail.time_ns !== 2e9, 'the moment of the other');
  },

  async 'methods and events'(_, host) {
    const player = await host({ html: page('<bio-scope id="a" preset="smr-seq-write" t="1.5s"></bio-scope>') });
    // Before the frame listens: kept until it does.
    await on(player, 'a', (element) => {
      element.play();
      element.seek(1.6e9);
      element.pause();
    });
    const first = await untilEvent(player, 'ready', 'a');
    check(first.duration_ns > 1e9 && first.fragment.includes('smr-seq-write'), `detail of ready: ${JSON.stringify(first)}`);
    const embed = await player.embed();
    await embed.untilText('clock', (text) => text.startsWith('1.600'), 'is where the methods left it');
    const moved = await untilEvent(player, 'event', 'a');
    equal(Object.keys(moved).sort().join(), 'event,events,hash_a,hash_b,time_ns', 'detail of event');
    await on(player, 'a', (element) => element.play());
    await player.until(async () => (await heard(player, 'time', 'a')).some(({ detail }) => detail.playing), 'bioscope-time tells of playing');
    await on(player, 'a', (element) => element.pause());
    await player.until(async () => (await heard(player, 'time', 'a')).at(-1).detail.playing === false, 'bioscope-time tells of the stop');
    const before = (await heard(player, 'ready', 'a')).length;
    await on(player, 'a', (element) => element.load('v=1&p=smr-rand-zones'));
    check((await untilEvent(player, 'ready', 'a', before + 1)).fragment.includes('smr-rand-zones'), 'load shows another link');
    await on(player, 'a', (element) => element.load('v=99'));
    check((await untilEvent(player, 'error', 'a')).messages.length > 0, 'bioscope-error has messages');
    await on(player, 'a', (element) => (element.t = '1.8s'));
    await untilEvent(player, 'ready', 'a', before + 2);
    await embed.untilText('clock', (text) => text.startsWith('1.800'), 'follows an attribute while the simulator runs');
    equal(await player.page.evaluate(() => window.events.filter(({ id }) => id !== 'a').length), 0, 'events of other elements');
  },

  async 'its own height'(_, host) {
    const player = await host({ html: page('<bio-scope id="a" preset="smr-seq-write"></bio-scope>'), viewport: { width: 700, height: 900 } });
    await posterReady(await player.embed());
    const height = () => on(player, 'a', (element) => element.getBoundingClientRect().height);
    await player.until(async () => (await height()) !== 450, 'the element takes the height that the frame wants');
    const wide = await height();
    await player.page.setViewportSize({ width: 400, height: 900 });
    await player.until(async () => (await height()) < wide, 'a narrower frame is lower');
    const low = await height();
    for (const [name, value] of [['theme', 'light'], ['title', 'Another title'], ['theme', null]]) {
      await on(player, 'a', (element, [key, word]) => (word === null ? element.removeAttribute(key) : element.setAttribute(key, word)), [name, value]);
      await pause(300);
      equal(await height(), low, `the height after ${name}=${value}`);
    }
    await on(player, 'a', (element) => (element.height = 300));
    await player.until(async () => (await height()) === 300, 'a height of the page’s own');
    await on(player, 'a', (element) => (element.height = null));
    await player.until(async () => Math.abs((await height()) - low) <= 1, 'without one the frame’s wish counts again');
    await on(player, 'a', (element) => element.pause());
    await untilEvent(player, 'ready', 'a');
    await player.until(async () => Math.abs((await height()) - low) > 20, 'the simulator has a wish of its own');
  },

  async 'values that try to be more'(_, host) {
    const html = page(`
      <bio-scope id="a" preset="smr-seq-write" t="1s&iodepth=3" view="jobs&p=smr-rand-zones#x"></bio-scope>
      <bio-scope id="b" preset="a&b=c" height="1e9"></bio-scope>
      <bio-scope id="c" height="-5"></bio-scope>
      <bio-scope id="d" height="tall"></bio-scope>`);
    const player = await host({ html });
    const rest = async (id) => (await source(player, id)).split('embed.html#')[1];
    equal(await rest('a'), 'v=1&p=smr-seq-write&view=jobs%26p%3Dsmr-rand-zones%23x&t=1s%26iodepth%3D3', 'a value stays one value');
    equal(await rest('b'), 'v=1&p=a%26b%3Dc', 'a preset stays one value');
    const style = (id) => on(player, id, (element) => element.shadowRoot.querySelector('iframe').style.height);
    equal([await style('b'), await style('c')].join(), '4000px,120px', 'heights have bounds');
    check(!(await style('d')).includes('NaN'), 'a height that is no number is none');
    await on(player, 'a', (element) => (element.t = '\ud8001s'));
    await untilShown(await player.embed(), '&t=%EF%BF%BD1s', 'half a character is replaced');
  },

  async 'a frame that cannot start'(_, host) {
    const player = await host({ html: page('<bio-scope id="a" preset="smr-seq-write"></bio-scope>'), site: { without: /\.wasm$/ }, errors: false });
    await on(player, 'a', (element) => element.play());
    check((await untilEvent(player, 'error', 'a')).messages[0].includes('could not be loaded'), 'bioscope-error has the words of the panel');
    await on(player, 'a', (element) => (element.preset = 'smr-rand-zones'));
    await untilShown(await player.embed(), 'embed.html#v=1&p=smr-rand-zones', 'another preset begins anew');
  },

  async 'the script twice, and as a module'(_, host) {
    const html = (url) => `<bio-scope id="a" preset="smr-seq-write"></bio-scope>${SCRIPT(url)}${SCRIPT(url)}
      <script type="module" src="${url}static/embed.js"></script>`;
    await posterReady(await (await host({ html, site: { cors: true } })).embed());
    const module = (url) => `<bio-scope id="a" preset="smr-seq-write"></bio-scope><script type="module">import '${url}static/embed.js?x=1';</script>`;
    const player = await host({ html: module, site: { cors: true } });
    await posterReady(await player.embed());
    await untilSource(player, 'a', '/some/path/embed.html#v=1&p=smr-seq-write', 'the module’s own address');
  },

  async 'under a strict policy'(_, host) {
    const policy = "default-src 'none'; script-src http://127.0.0.1:*; frame-src http://127.0.0.1:*; img-src data:";
    const html = (url) => `<bio-scope preset="smr-seq-write" height="321"></bio-scope>${SCRIPT(url)}`;
    const player = await host({ html, headers: { 'content-security-policy': policy } });
    await posterReady(await player.embed());
    const box = await player.page.locator('bio-scope').boundingBox();
    equal(box.height, 321, 'the height under a policy without inline styles');
  },

  async 'without scripts'(_, host) {
    const html = page('<bio-scope preset="smr-seq-write"><a href="https://example.org/">A link and a picture in place of it</a></bio-scope>');
    const without = await host({ html, javaScriptEnabled: false });
    check(await without.page.getByText('A link and a picture').isVisible(), 'what is inside shows where scripts are off');
    const player = await host({ html });
    await posterReady(await player.embed());
    check(!(await player.page.getByText('A link and a picture').isVisible()), 'what is inside gives way to the frame');
  },

  async 'far down the page'(_, host) {
    const html = page('<div style="height: 30000px"></div><bio-scope id="a" preset="smr-seq-write"></bio-scope>');
    const player = await host({ html });
    await pause(1000);
    check(!player.asked().some((path) => path.startsWith('embed.html')), 'a frame far away is not loaded');
    await on(player, 'a', (element) => element.scrollIntoView());
    await posterReady(await player.embed());
  },
});
