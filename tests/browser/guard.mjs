// Servers, policies and browsers that keep the simulator from starting: words, or it starts all the same. With them the
// second wasm file: when it is fetched, and what happens without it.
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DIST, check, equal, runCases } from './harness.mjs';

const FRAGMENT = '#v=1&p=smr-seq-write&iodepth=8&t=1.5s';
const WITHOUT_WASM = { headers: { 'content-security-policy': "script-src 'self' 'unsafe-inline'" } };

/** The built file whose name ends so. */
const built = (end) => readdirSync(DIST).find((name) => name.endsWith(end));

const STACK = '#v=1&p=raid456-split';
/** Requests for the second file so far. */
const later = (player) => player.page.evaluate(() => performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('_later.wasm')).length);

/** It is not fetched on its own while a case runs. */
function never() {
  const { setTimeout } = window;
  window.setTimeout = (work, ms, ...more) => (ms === 3000 ? 0 : setTimeout(work, ms, ...more));
}

/** The simulator does not start, and its panel has these words. */
const refused = (settings, ...parts) => async (visit) => {
  const player = await visit({ ready: false, errors: false, fragment: FRAGMENT, ...settings });
  const words = await player.untilText('boot-failed', (text) => text.length > 0, 'has words');
  for (const part of parts) check(words.includes(part), `the panel says "${part}": ${words}`);
  equal(await player.get('boot-open').count(), 0, 'links to a tab, on a page that is no frame');
};

/** The built folder as somebody opens it from the disk. */
const ON_DISK = pathToFileURL(`${resolve(DIST)}/`).href;

/** Ten seconds in half of one. */
function hurry() {
  const { setTimeout } = window;
  window.setTimeout = (work, ms, ...more) => setTimeout(work, ms / 20, ...more);
}

/** What an old browser reports of a module that it cannot read, before it would run it. */
function failToParse() {
  document.addEventListener('readystatechange', () => {
    dispatchEvent(new ErrorEvent('error', { error: new SyntaxError('Unexpected token') }));
  });
}

await runCases({
  async 'another type for WebAssembly'(visit) {
    const player = await visit({ site: { wasmType: 'text/plain' }, fragment: FRAGMENT });
    await player.hash('a');
  },
  async 'no type for WebAssembly'(visit) {
    const player = await visit({ site: { bare: true }, fragment: FRAGMENT });
    await player.hash('a');
  },
  'a page in place of WebAssembly': refused(
    { site: { pages: { [built('.wasm')]: '<!doctype html><p>There is nothing here.</p>' } } },
    'The server sent something else',
  ),
  'WebAssembly cut short': refused({ site: { pages: { [built('.wasm')]: '\0asm\u0001\0\0\0\u0001' } } }, 'only a part of it'),
  'the module is missing': refused({ site: { without: /^app-.*\.js$/ } }, 'could not be loaded'),
  'WebAssembly is missing': refused({ site: { without: /\.wasm$/ } }, 'could not be loaded'),
  'a policy without WebAssembly': refused({ site: WITHOUT_WASM }, 'security policy'),
  // The module is taken away too: a browser that does not know modules would not run it.
  'no modules': refused(
    { init: () => delete HTMLScriptElement.prototype.noModule, site: { without: /^app-/ } },
    'too old',
    '2022',
  ),
  'opened as a file': refused({ at: `${ON_DISK}index.html` }, 'web server', 'python3 -m http.server'),
  async 'a poster opened as a file'(visit) {
    const player = await visit({ ready: false, errors: false, at: `${ON_DISK}embed.html`, fragment: FRAGMENT });
    await player.get('poster-start').click();
    const words = await player.untilText('boot-failed', (text) => text.length > 0, 'has words');
    check(words.includes('python3 -m http.server'), `the panel says what is needed: ${words}`);
  },
  async 'a server that does not answer'(visit) {
    const route = (page) => page.route(/\.wasm$/, () => {});
    const player = await visit({ ready: false, init: hurry, route, fragment: FRAGMENT });
    const words = () => player.page.innerText('#boot-message');
    check((await words()).startsWith('Loading'), 'first it loads');
    await player.until(async () => (await words()).startsWith('Still waiting'), 'then it still waits');
  },
  async 'the front page starts with one file'(visit) {
    const player = await visit();
    await player.hash('a');
    equal(await later(player), 0, 'the second file, when the first scene stands');
    await player.until(async () => (await later(player)) === 1, 'it is fetched afterwards');
  },
  async 'a scenario in the address has both files'(visit) {
    const player = await visit({ fragment: STACK });
    equal(await later(player), 1, 'the second file, at the start');
  },
  async 'a function of the second file is called before that came'(visit) {
    const player = await visit({ init: never });
    equal(await later(player), 0, 'the second file, at first');
    const linked = await visit({ fragment: STACK });
    await player.get('preset').selectOption('raid456-split');
    await player.until(async () => (await player.hash('a')) === (await linked.hash('a')), 'the run is the same as with both files from the start');
    check((await later(player)) > 0, 'the file was fetched');
  },
  'the second file is missing, with a scenario': refused({ site: { without: /_later\.wasm$/ } }, 'could not be loaded'),
  async 'the second file is missing'(visit) {
    const player = await visit({ errors: false, site: { without: /_later\.wasm$/ } });
    await player.get('preset').selectOption('raid456-split').catch(() => {});
    await player.untilText('boot-failed', (text) => text.includes('stopped'), 'words instead of a standstill');
  },
  'words of a newer language': refused({ init: failToParse, site: { without: /^app-/ } }, 'too old'),
});
