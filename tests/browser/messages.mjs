// Messages between a frame and the page around it, version 1: the poster's and the simulator's, and what both ignore.
//
// The protocol is in the book; here it is held against pages that follow it and pages that do not.
import { LISTENER, check, equal, pause, runCases } from './harness.mjs';

const LINK = 'v=1&p=smr-seq-write&iodepth=8&t=1.5s';
const OTHER = 'v=1&p=smr-rand-zones';
const NS = 1_500_000_000;
const MAX_FRAGMENT = 16_384;

/** The two documents that speak the protocol, and how each says that it is there. */
const SIDES = {
  poster: { path: 'embed.html', state: 'poster' },
  simulator: { path: 'index.html?embed=1', state: 'ready' },
};

const framed = ({ path }, more = '') => (url) =>
  `<iframe width="800" height="450" src="${url}${path}#${LINK}"></iframe>${more}${LISTENER}`;

/** What is no message of the protocol: it must be ignored in silence. Made in the page, since not all of it is JSON. */
function junk() {
  const circle = { bioscope: 1 };
  circle.type = circle;
  const named = (type) => ({ bioscope: 1, type });
  return [
    null, undefined, true, 42, Number.NaN, '', 'ping', '{"bioscope":1,"type":"ping"}', 'x'.repeat(100_000), 10n,
    [], ['ping'], [{ bioscope: 1, type: 'ping' }], {}, { type: 'ping' }, { bioscope: 1 },
    { bioscope: '1', type: 'ping' }, { bioscope: 2, type: 'ping' }, { bioscope: true, type: 'ping' }, { bioscope: [1], type: 'ping' },
    { bioscope: { valueOf: 1 }, type: 'ping' }, { bioscope: Number.NaN, type: 'ping' },
    ...[null, undefined, 1, {}, [], ['ping'], '', 'PING', 'ping ', 'nosuch', 'ready', 'pong', 'time'].map(named),
    ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype', 'x'.repeat(100_000)].map(named),
    new Map([['bioscope', 1]]), new Set([1]), new Date(0), /ping/, new ArrayBuffer(8), new Error('ping'), circle,
  ];
}

/** Messages with a value that cannot be: each gets one error. */
const WRONG = [
  ...[undefined, null, 1, true, [], {}, ['v=1']].map((fragment) => ({ type: 'load', fragment })),
  { type: 'load', fragment: 'x'.repeat(MAX_FRAGMENT + 1) },
  ...[undefined, null, '1', true, [], {}, [1], -1, -0.5, 1e300, Number.NaN, Infinity, -Infinity].map((time_ns) => ({ type: 'seek', time_ns })),
  ...[null, '1', [], {}, -1, 1e300, 2 ** 32, Number.NaN, Infinity].map((record) => ({ type: 'seek', time_ns: NS, record })),
  ...[undefined, null, 1, 'blue', '', 'DARK', [], ['dark'], {}, '__proto__', 'constructor'].map((theme) => ({ type: 'theme', theme })),
];

const sendJunk = (player) =>
  player.page.evaluate((source) => {
    for (const message of new Function(`return (${source})()`)()) window.say(message, 0);
  }, junk.toString());

/** A frame on a page of ours that has answered its first ping, in the state that ends its start. */
async function met(host, side, settings = {}) {
  const player = await host({ html: framed(side), ...settings });
  const embed = await player.embed();
  await player.meet(0, side.state);
  return { player, embed };
}

const ready = (player) => player.until(async () => (await player.heard('ready')).length > 0, 'the frame says ready');
const last = async (player, type) => (await player.heard(type)).at(-1);

/** The message that comes once `act` was done. */
async function next(player, type, act) {
  const before = (await player.heard(type)).length;
  await act();
  await player.until(async () => (await player.heard(type)).length > before, `the frame says ${type}`);
  return last(player, type);
}

const entries = (player) => player.page.evaluate(() => history.length);

/** Cases that hold for both documents. */
const both = (name, work) => Object.entries(SIDES).map(([word, side]) => [`${word}: ${name}`, (visit, host) => work(side, visit, host)]);

const settled = async (side, embed) => (side.state === 'ready' ? embed.waitReady() : embed.get('poster-start').waitFor());

const shared = [
  ...both('silent before a ping', async (side, _, host) => {
    const player = await host({ html: framed(side) });
    await settled(side, await player.embed());
    await player.say({ type: 'theme', theme: 'light' });
    await player.say({ type: 'theme', theme: 'blue' });
    await player.say({ type: 'load', fragment: 1 });
    await sendJunk(player);
    await pause(1000);
    equal(JSON.stringify(await player.heard()), '[]', 'what the frame said');
  }),

  ...both('what is no message', async (side, _, host) => {
    const { player, embed } = await met(host, side);
    await pause(500);
    const [before, url] = [(await player.heard()).length, embed.frame.url()];
    await sendJunk(player);
    await pause(1000);
    equal((await player.heard()).length, before, `what the frame said: ${JSON.stringify((await player.heard()).slice(before))}`);
    equal(embed.frame.url(), url, 'the address of the frame');
    await next(player, 'pong', () => player.say({ type: 'ping' }));
  }),

  ...both('values that cannot be', async (side, _, host) => {
    const { player, embed } = await met(host, side);
    await pause(500);
    const url = embed.frame.url();
    for (const message of WRONG) {
      const words = JSON.stringify(message).slice(0, 80);
      const [before, started] = [(await player.heard('error')).length, Date.now()];
      // NaN and Infinity do not survive JSON, but the debugger keeps them.
      const answer = await next(player, 'error', () => player.say(message));
      check(Date.now() - started < 2000, `an error for ${words} comes at once`);
      check(Array.isArray(answer.messages) && answer.messages.length > 0, `${words}: messages is a list, ${JSON.stringify(answer)}`);
      for (const text of answer.messages) check(typeof text === 'string' && text.length > 5, `${words}: a message has words, ${text}`);
      equal(Object.keys(answer).sort().join(), 'bioscope,messages,type', `${words}: fields of the error`);
      equal((await player.heard('error')).length, before + 1, `errors for ${words}`);
    }
    equal(embed.frame.url(), url, 'the address of the frame');
  }),

  ...both('a sibling speaks', async (side, _, host) => {
    const sibling = `<iframe srcdoc="<script>
      parent.siblingHeard = [];
      addEventListener('message', ({ data }) => parent.siblingHeard.push(data));
      setInterval(() => {
        for (const type of ['ping', 'play', 'pause']) parent.frames[0].postMessage({ bioscope: 1, type }, '*');
        parent.frames[0].postMessage({ bioscope: 1, type: 'load', fragment: '${OTHER.replace('&', '&amp;')}' }, '*');
        parent.frames[0].postMessage({ bioscope: 1, type: 'seek', time_ns: 7 }, '*');
      }, 100);
    </script>"></iframe>`;
    const player = await host({ html: framed(side, sibling) });
    const embed = await player.embed();
    await settled(side, embed);
    const url = embed.frame.url();
    await pause(1500);
    equal(JSON.stringify(await player.heard()), '[]', 'what the frame said to the page');
    equal(await player.page.evaluate(() => JSON.stringify(window.siblingHeard)), '[]', 'what it said to the sibling');
    equal(embed.frame.url(), url, 'the address of the frame');
    if (side.state === 'ready') check((await embed.text('clock')).startsWith('1.500'), 'the frame has not moved');
  }),

  ...both('an opener speaks', async (side, _, host) => {
    const player = await host({
      html: (url) => `<button onclick="
        heard = [];
        addEventListener('message', ({ data }) => heard.push(data));
        const tab = window.open('${url}${side.path}#${LINK.replaceAll('&', '&amp;')}');
        setInterval(() => { for (const type of ['ping', 'play']) tab.postMessage({ bioscope: 1, type }, '*'); }, 100);
      ">open</button>`,
    });
    const [tab] = await Promise.all([player.context.waitForEvent('page'), player.page.getByText('open').click()]);
    const other = await player.other(tab);
    await settled(side, other);
    const url = tab.url();
    // A page speaking to itself is its own parent when it is no frame.
    await tab.evaluate(() => postMessage({ bioscope: 1, type: 'play' }, '*'));
    await pause(1500);
    equal(await player.page.evaluate(() => JSON.stringify(window.heard)), '[]', 'what the tab said to its opener');
    equal(tab.url(), url, 'the address of the tab');
  }),

  ...both('themes', async (side, _, host) => {
    const { player, embed } = await met(host, side, { colorScheme: 'dark' });
    const ground = () => embed.frame.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await ground();
    await player.say({ type: 'theme', theme: 'light' });
    await player.until(async () => (await ground()) !== dark, 'the frame is light');
    const light = await ground();
    await player.say({ type: 'theme', theme: 'system' });
    await player.until(async () => (await ground()) === dark, 'the frame follows the system to dark');
    await player.page.emulateMedia({ colorScheme: 'light' });
    await player.until(async () => (await ground()) === light, 'the frame follows the system to light');
    await player.say({ type: 'theme', theme: 'dark' });
    await player.until(async () => (await ground()) === dark, 'the frame is dark');
  }),

  ...both('its height', async (side, _, host) => {
    const { player } = await met(host, side);
    await player.until(async () => (await player.heard('resize')).length > 0, 'the frame says which height it wants');
    const { height } = await last(player, 'resize');
    check(Number.isInteger(height) && height > 100 && height < 3000, `a height in CSS pixels, found ${height}`);
  }),
];

await runCases({
  ...Object.fromEntries(shared),

  async 'poster: handshake'(_, host) {
    const { player } = await met(host, SIDES.poster);
    const pong = (await player.heard('pong'))[0];
    equal(JSON.stringify(pong), '{"bioscope":1,"type":"pong","version":1,"model":null,"state":"poster"}', 'the answer to a ping');
  },

  async 'poster: load'(_, host) {
    const { player, embed } = await met(host, SIDES.poster);
    const [title, before] = [await embed.text('poster-title'), await entries(player)];
    await player.say({ type: 'load', fragment: OTHER });
    await embed.untilText('poster-title', (text) => text !== title && text !== 'Bioscope', 'is the other preset’s');
    await player.say({ type: 'load', fragment: `#${LINK}` });
    await embed.untilText('poster-title', (text) => text === title, 'is the first preset’s');
    await embed.until(() => embed.get('poster-note').isVisible(), 'the poster says that the picture is the preset’s');
    for (const [fragment, part] of [
      ['', 'no picture'],
      ['v=1&p=nosuch', '“nosuch”'],
      ['v=1&p=__proto__', '“__proto__”'],
      ['v=1&p=constructor', '“constructor”'],
      ['v=1&p=../../evil', '“../../evil”'],
      ['%E0%A4%A&p=%', '“%”'],
      ['x'.repeat(MAX_FRAGMENT), 'no picture'],
    ]) {
      await player.say({ type: 'load', fragment });
      await embed.untilText('poster-look', (text) => text.includes(part), `says ${part}`);
      equal(await embed.text('poster-title'), 'Bioscope', 'the title without a preset');
      check(!(await embed.get('poster-picture').isVisible()), 'no picture is shown');
    }
    equal((await player.heard('error')).length, 0, 'errors');
    equal(await entries(player), before, 'entries of the history');
  },

  async 'poster: what its picture does not show'(_, host) {
    const { player, embed } = await met(host, SIDES.poster);
    const own = await embed.get('poster-note').evaluate(() => globalThis.bioscopePresets['smr-seq-write'].t);
    const seconds = Number(own.match(/^[\d.]+(?=s)/)?.[0]);
    check(seconds > 0, `the preset's moment, ${own}, in seconds`);
    const record = own.match(/\+\d+$/)?.[0] ?? '';
    for (const [more, words] of [
      ['', null],
      [`&t=${own}`, null],
      [`&t=${(seconds * 1000).toFixed(6)}ms${record}`, null],
      ['&view=drive,strip', null],
      ['&t=0.25s', 't=0.25s.'],
      [`&view=zwplugs,strip&t=${own}`, 'view=zwplugs,strip.'],
      ['&view=zwplugs&iodepth=8', 'view=zwplugs, iodepth=8.'],
    ]) {
      await player.say({ type: 'load', fragment: `v=1&p=smr-seq-write${more}` });
      const note = embed.get('poster-note');
      const right = async () => (words === null ? !(await note.isVisible()) : (await note.isVisible()) && (await note.innerText()).endsWith(words));
      await embed.until(right, `the note for ${more} says ${words}`);
    }
    // In a small frame the note stands below the caption, and all of it is there.
    await player.page.locator('iframe').evaluate((frame) => {
      [frame.width, frame.height] = [320, 200];
    });
    await player.say({ type: 'load', fragment: 'v=1&p=smr-seq-write&t=0.25s' });
    await embed.untilText('poster-note', (text) => text.endsWith('t=0.25s.'), 'names the moment');
    check(await embed.get('poster-look').isVisible(), 'the caption is there');
    const cut = await embed.get('poster-note').evaluate((note) => note.getBoundingClientRect().bottom > innerHeight || note.scrollHeight > note.clientHeight);
    check(!cut, 'the note is not cut');
  },

  async 'poster: play, pause, seek'(_, host) {
    const wants = [
      [[{ type: 'play' }], `index.html?embed=1&play=1#${LINK}`],
      [[{ type: 'pause' }], `index.html?embed=1#${LINK}`],
      [[{ type: 'theme', theme: 'light' }, { type: 'pause' }], `index.html?embed=1&theme=light#${LINK}`],
      [[{ type: 'seek', time_ns: 1.7e9, record: 2 }], 'index.html?embed=1#v=1&p=smr-seq-write&iodepth=8&t=1700000000ns+2'],
      [[{ type: 'seek', time_ns: 1.7e9 }, { type: 'play' }], 'index.html?embed=1&play=1#v=1&p=smr-seq-write&iodepth=8&t=1700000000ns'],
    ];
    for (const [messages, address] of wants) {
      const { player, embed } = await met(host, SIDES.poster);
      const before = await entries(player);
      // In one go: the poster is still there for all of them.
      await player.page.evaluate((list) => {
        for (const message of list) window.say({ bioscope: 1, ...message }, 0);
      }, messages);
      await player.until(() => embed.frame.url() === embed.url + address, `${JSON.stringify(messages)} leads to ${address}`);
      equal(await entries(player), before, 'entries of the history');
    }
  },

  async 'simulator: handshake'(_, host) {
    const { player, embed } = await met(host, SIDES.simulator);
    await ready(player);
    const pongs = await player.heard('pong');
    for (const pong of pongs) {
      equal(Object.keys(pong).join(), 'bioscope,type,version,model,state', 'fields of pong');
      check(pong.version === 1 && Number.isInteger(pong.model), `version and model: ${JSON.stringify(pong)}`);
      check(['loading', 'ready'].includes(pong.state), `state: ${pong.state}`);
    }
    const said = await last(player, 'ready');
    equal(Object.keys(said).sort().join(), 'bioscope,duration_ns,fragment,time_ns,type', 'fields of ready');
    equal(said.time_ns, NS, 'the time shown');
    check(said.duration_ns > NS, `the run's length: ${said.duration_ns}`);
    check(said.fragment.includes('p=smr-seq-write') && said.fragment.includes('iodepth=8'), `the fragment: ${said.fragment}`);
    equal(await embed.location(), `#${LINK}`, 'the address of the frame');
  },

  async 'simulator: play and pause'(_, host) {
    const { player, embed } = await met(host, SIDES.simulator);
    await ready(player);
    await player.say({ type: 'play' });
    await player.until(async () => (await player.heard('time')).some(({ playing }) => playing), 'the frame plays');
    const [before, start] = [(await player.heard('time')).length, Date.now()];
    await pause(2000);
    const rate = (((await player.heard('time')).length - before) / (Date.now() - start)) * 1000;
    check(rate > 1 && rate <= 11, `messages of time a second: ${rate}`);
    const stopped = await next(player, 'event', () => player.say({ type: 'pause' }));
    const times = await player.heard('time');
    equal(times.at(-1).playing, false, 'playing in the last message of time');
    equal(Object.keys(times[0]).sort().join(), 'bioscope,playing,time_ns,type', 'fields of time');
    check(times.every(({ time_ns }, index) => index === 0 || time_ns >= times[index - 1].time_ns), 'time goes on');
    equal(Object.keys(stopped).sort().join(), 'bioscope,event,events,hash_a,hash_b,time_ns,type', 'fields of event');
    check(stopped.event <= stopped.events && /^[0-9a-f]{16}$/.test(stopped.hash_a), `the event: ${JSON.stringify(stopped)}`);
    const count = (await player.heard('time')).length;
    await pause(1000);
    equal((await player.heard('time')).length, count, 'messages of time while paused');
    equal(await embed.location(), `#${LINK}`, 'the address of the frame');
  },

  async 'simulator: seek'(_, host) {
    const { player, embed } = await met(host, SIDES.simulator);
    await ready(player);
    const first = await next(player, 'event', () => player.say({ type: 'seek', time_ns: 1.7e9 }));
    await embed.untilText('clock', (text) => text.startsWith('1.700'), 'follows');
    equal(first.time_ns, 1.7e9, 'the time of the event');
    const back = await next(player, 'event', () => player.say({ type: 'seek', time_ns: 1.2e9 }));
    check(back.event < first.event, `an earlier event: ${back.event}, ${first.event}`);
    const again = await next(player, 'event', () => player.say({ type: 'seek', time_ns: 1.7e9 }));
    equal(JSON.stringify(again), JSON.stringify(first), 'the same moment again');
    const end = await next(player, 'event', () => player.say({ type: 'seek', time_ns: 9e15 }));
    equal(end.time_ns, (await last(player, 'ready')).duration_ns, 'a time behind the end is the end');
  },

  async 'simulator: a flood of wishes'(_, host) {
    const { player, embed } = await met(host, SIDES.simulator);
    await ready(player);
    const flood = (count) => {
      for (let n = 0; n < count; n += 1) {
        window.say({ bioscope: 1, type: 'seek', time_ns: 1e9 + n * 1e5 }, 0);
        window.say({ bioscope: 1, type: 'theme', theme: n % 2 ? 'dark' : 'light' }, 0);
        window.say({ bioscope: 1, type: n % 2 ? 'pause' : 'play' }, 0);
      }
    };
    await player.page.evaluate(flood, 5000);
    await embed.untilText('clock', (text) => text.startsWith('1.499'), 'stands where the last wish led');
    await next(player, 'pong', () => player.say({ type: 'ping' }));
  },

  async 'simulator: load'(_, host) {
    const { player } = await met(host, SIDES.simulator);
    await ready(player);
    const before = await entries(player);
    const said = await next(player, 'ready', () => player.say({ type: 'load', fragment: OTHER }));
    check(said.fragment.includes('p=smr-rand-zones'), `the fragment: ${said.fragment}`);
    const back = await next(player, 'ready', () => player.say({ type: 'load', fragment: `#${LINK}` }));
    equal(back.time_ns, NS, 'the time of the link');
    const newer = await next(player, 'error', () => player.say({ type: 'load', fragment: 'v=99&p=smr-seq-write' }));
    check(newer.messages.join().includes('99'), `the newer version is named: ${newer.messages}`);
    const bad = await next(player, 'error', () => player.say({ type: 'load', fragment: `${LINK}&iodepth=banana` }));
    check(bad.messages.join().includes('banana'), `the bad value is named: ${bad.messages}`);
    await next(player, 'pong', () => player.say({ type: 'ping' }));
    equal(await entries(player), before, 'entries of the history');
  },

  async 'simulator: started by play'(_, host) {
    const { player } = await met(host, SIDES.poster);
    await player.say({ type: 'play' });
    await player.meet(0, 'ready');
    await player.until(async () => (await player.heard('time')).some(({ playing }) => playing), 'the frame plays by itself');
  },

  async 'simulator: cannot start'(_, host) {
    const player = await host({ html: framed(SIDES.simulator), site: { without: /\.wasm$/ }, errors: false });
    await (await player.embed()).get('boot-failed').waitFor();
    equal(JSON.stringify(await player.heard()), '[]', 'what the frame said before a ping');
    const { messages } = await next(player, 'error', () => player.say({ type: 'ping' }));
    check(messages.length === 1 && messages[0].includes('could not be loaded'), `the words of the panel: ${messages}`);
  },
});
