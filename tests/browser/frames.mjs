// The page in frames on other people's pages: what each kind of frame shows before and after a click on Start.
//
// EXPECTED was written before the cases and is the table of README.md, word for word; the first case compares them.
// Frames come from another site than the page around them, on a server with brotli.
import { readFileSync } from 'node:fs';
import { LISTENER, check, equal, pause, runCases } from './harness.mjs';

/** Frame, what it shows before a click, what after. */
const EXPECTED = [
  ['plain, from another site', 'poster', 'simulator, paused at `t`'],
  ['`sandbox="allow-scripts"`, server sends `Access-Control-Allow-Origin: *`', 'poster', 'simulator, paused at `t`'],
  ['`sandbox="allow-scripts"`, server does not', 'poster', 'words: a sandbox; the link, and the address to copy'],
  ['`sandbox=""`', 'poster without picture, words: JavaScript is off', 'nothing to click'],
  ['off-screen, started from outside, then scrolled in', 'poster', 'simulator, ready before it is seen; plays once seen'],
  ['policy without `wasm-unsafe-eval`', 'poster', 'words: a policy; the link'],
  ['storage blocked', 'poster', 'simulator, paused at `t`'],
  ['workers refused', 'poster', 'simulator, paused at `t`'],
  ['five on one page', 'five posters', 'five simulators, each with its own state'],
];
const SIMULATOR = EXPECTED[0][2];

const LINK = 'v=1&p=smr-seq-write&iodepth=8&t=1.5s';
/** What a click may cost before it happens: everything that a frame loads by itself, on the wire. */
const POSTER_BYTES = 15_000;

const frame = (attributes = '', link = LINK) => (url) =>
  `<iframe width="800" height="450" ${attributes} src="${url}embed.html#${link}"></iframe>`;

async function poster(embed) {
  await embed.get('poster-start').waitFor();
  equal(await embed.get('poster-start').getAttribute('aria-label'), `Start the simulator: ${await embed.text('poster-title')}`, 'the name of the button');
  check((await embed.text('poster-look')).length > 20, 'the poster says what to look for');
  const drawn = () => embed.get('poster-picture').evaluate((image) => image.complete && image.naturalWidth > 0 && !image.hidden);
  await embed.until(drawn, 'the poster has its picture');
}

async function simulator(embed) {
  await embed.waitReady();
  check((await embed.text('clock')).startsWith('1.500'), `the clock stands at t, found ${await embed.text('clock')}`);
  check(embed.frame.url().includes('/index.html?embed=1'), 'the frame shows the simulator');
  equal(await embed.location(), `#${LINK}`, 'the fragment of the frame');
}

/** The panel has these words and the link to a tab; a sandbox also has the address to copy. */
async function words(embed, part, copy) {
  const text = await embed.untilText('boot-failed', (found) => found.includes(part), `says "${part}"`);
  const link = embed.get('boot-open');
  equal(await link.getAttribute('href'), `${embed.url}index.html#${LINK}`, 'where the link of the panel goes');
  equal(`${await link.getAttribute('target')} ${await link.getAttribute('rel')}`, '_blank noopener', 'how it opens');
  equal(text.includes(`${embed.url}index.html#${LINK}`), copy, 'the address stands there to be copied');
}

/** A frame's row of the table: the poster, then what a click brings. */
const row = (index, settings, after) => async (visit, host) => {
  // A refusal is told in the console as well.
  const player = await host({ html: frame(), errors: EXPECTED[index][2] === SIMULATOR, ...settings });
  const embed = await player.embed();
  await poster(embed);
  await embed.get('poster-start').click();
  await after(embed);
};

function blockStorage() {
  for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches']) {
    Object.defineProperty(window, name, {
      get() {
        throw new DOMException('storage is blocked here', 'SecurityError');
      },
    });
  }
}

function refuseWorkers() {
  window.Worker = class {
    constructor() {
      throw new DOMException('workers are refused here', 'SecurityError');
    }
  };
}

await runCases({
  async 'the table is the one in README.md'() {
    const text = readFileSync(new URL('README.md', import.meta.url), 'utf8');
    const rows = text.split('\n').filter((line) => line.startsWith('| ') && line.split(' | ').length === 3).map((line) => line.slice(2, -2));
    for (const cells of EXPECTED) check(rows.includes(cells.join(' | ')), `README.md has the row: ${cells.join(' | ')}`);
  },

  'plain, from another site': row(0, {}, simulator),
  'sandbox, readable from any origin': row(1, { html: frame('sandbox="allow-scripts"'), site: { cors: true } }, simulator),
  'sandbox': row(2, { html: frame('sandbox="allow-scripts"') }, (embed) => words(embed, 'sandbox', true)),

  async 'sandbox without scripts'(visit, host) {
    const player = await host({ html: frame('sandbox=""'), errors: false });
    const embed = await player.embed();
    const text = async () => embed.frame.locator('noscript').innerText();
    await embed.until(async () => (await text()).includes('JavaScript is off'), 'the frame says that JavaScript is off');
  },

  async 'off-screen, then scrolled in'(visit, host) {
    const html = (url) => `<div style="height:5000px"></div>${frame()(url)}${LISTENER}`;
    const player = await host({ html, site: { cors: true } });
    const embed = await player.embed();
    await player.meet();
    await player.say({ type: 'pause' });
    await player.meet(0, 'ready');
    equal((await player.heard('ready'))[0].time_ns, 1_500_000_000, 'the time of the frame before it is seen');
    const frames = () => embed.frame.evaluate(() => new Promise((done) => {
      const timer = setTimeout(() => done(false), 500);
      requestAnimationFrame(() => {
        clearTimeout(timer);
        done(true);
      });
    }));
    check(!(await frames()), 'an off-screen frame has no animation frames');
    await player.page.locator('iframe').scrollIntoViewIfNeeded();
    await simulator(embed);
    await embed.get('play').click();
    await embed.untilText('clock', (text) => !text.startsWith('1.500'), 'advances once the frame is seen');
  },

  'policy without WebAssembly': row(
    5,
    { site: { headers: { 'content-security-policy': "script-src 'self' 'unsafe-inline'" } } },
    (embed) => words(embed, 'security policy', false),
  ),
  'storage blocked': row(6, { init: blockStorage }, simulator),
  'workers refused': row(7, { init: refuseWorkers }, simulator),

  async 'five on one page'(visit, host) {
    const depths = [1, 2, 4, 8, 16];
    const links = depths.map((depth) => `v=1&p=smr-seq-write&iodepth=${depth}&t=1.${depth}s`);
    const player = await host({ html: (url) => links.map((link) => frame('', link)(url)).join('') + LISTENER });
    const embeds = await Promise.all(depths.map((_, index) => player.embed(index)));
    for (const embed of embeds) await poster(embed);
    for (const embed of embeds) await embed.get('poster-start').click();
    const clocks = [];
    for (const embed of embeds) {
      await embed.waitReady();
      clocks.push(await embed.text('clock'));
      const twice = await embed.frame.evaluate(() => {
        const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
        return ids.filter((id, index) => ids.indexOf(id) !== index);
      });
      equal(twice.join(), '', 'ids that a frame has twice');
    }
    equal(new Set(clocks).size, 5, `moments of the five: ${clocks}`);
    await embeds[2].get('step').click();
    await embeds[2].untilText('clock', (text) => text !== clocks[2], 'steps');
    for (const [index, embed] of embeds.entries()) {
      if (index !== 2) equal(await embed.text('clock'), clocks[index], `the clock of frame ${index} after a step in another`);
    }
  },

  async 'the wheel scrolls the page around'(visit, host) {
    const html = (url) => `<div style="height:100px"></div>${frame()(url)}<div style="height:5000px"></div>`;
    const player = await host({ html });
    const embed = await player.embed();
    const scrolled = () => player.page.evaluate(() => window.scrollY);
    const wheel = async (what) => {
      await player.page.evaluate(() => window.scrollTo(0, 0));
      await player.page.mouse.move(400, 300);
      await pause(100);
      await player.page.mouse.wheel(0, 120);
      await player.until(async () => (await scrolled()) > 0, `the wheel over ${what} scrolls the page around`);
    };
    await poster(embed);
    await wheel('the poster');
    await embed.get('poster-start').click();
    await embed.waitReady();
    await wheel('the simulator');
  },

  async 'before a click'(visit, host) {
    const player = await host({ html: frame() });
    await poster(await player.embed());
    await pause(1000);
    const { log } = player.site;
    const bytes = log.reduce((sum, answer) => sum + answer.bytes, 0);
    console.log(log.map((answer) => `      ${String(answer.bytes).padStart(6)}  ${answer.path}`).join('\n'));
    console.log(`      ${String(bytes).padStart(6)}  in all, headers included`);
    check(log.some(({ path }) => path.endsWith('.svg')), 'the picture is among them');
    check(!log.some(({ path }) => path.includes('.wasm') || path.includes('/app-')), 'no WebAssembly and no module is among them');
    check(bytes <= POSTER_BYTES, `a frame loads ${bytes} bytes before a click, at most ${POSTER_BYTES} are allowed`);
  },

  async 'open full, at an edited and forked moment'(visit, host) {
    const link = 'v=1&p=smr-seq-write&iodepth=16&b=0&b.zoned_qd1_writes=1&b.at=1.2s&t=1.5s';
    const player = await host({ html: (url) => frame('', link)(url) + LISTENER });
    const embed = await player.embed();
    await embed.get('poster-start').click();
    await embed.waitReady();
    await player.meet(0, 'ready');
    await player.say({ type: 'seek', time_ns: 1_700_000_000 });
    await embed.untilText('clock', (text) => text.startsWith('1.700'), 'follows the message');
    await embed.get('step').click();
    await embed.get('step').click();
    await pause(300);
    const clock = await embed.text('clock');
    const { event, hash_a: a, hash_b: b } = (await player.heard('event')).at(-1);
    check(a !== b, 'the two runs differ at this moment');
    const [tab] = await Promise.all([player.context.waitForEvent('page'), embed.get('open-full').click()]);
    const full = await player.other(tab);
    await full.waitReady();
    check((await full.location()).includes('b.at=1.2s'), `the fork is in the address: ${await full.location()}`);
    equal(await full.text('clock'), clock, 'the clock in the new tab');
    equal(await full.eventNumber(), event, 'the event in the new tab');
    equal(`${await full.hash('a')} ${await full.hash('b')}`, `${a} ${b}`, 'the hashes in the new tab');
    check(!(await tab.evaluate(() => location.search)).includes('embed'), 'the new tab is the whole page');
  },

  async 'open full, from the poster'(visit, host) {
    const player = await host({ html: frame() });
    const embed = await player.embed();
    await poster(embed);
    const [tab] = await Promise.all([player.context.waitForEvent('page'), embed.get('open-full').click()]);
    const full = await player.other(tab);
    await full.waitReady();
    equal(full.page.url(), `${embed.url}index.html#${LINK}`, 'the address of the new tab');
  },
});
