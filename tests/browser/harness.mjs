// What all browser tests share: a real Chromium on the built page, served under a sub-path.
//
// A case is an async function that throws to fail. Each gets a browser context of its own, so cases
// do not see each other's storage. Whatever a page reports as an error fails its case, the policy's
// refusals included. A failed case leaves a screenshot in out/browser/. With `--server bare` the page comes from the
// simplest of servers.
//
// Other people's pages with frames in them come from an origin of their own: `host` opens one.
import { mkdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { serve } from './server.mjs';

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const READY_MS = 30_000;
const ACTION_MS = 10_000;
/** Errors told of a failed case; what follows the first few is mostly their echo. */
const SHOWN = 4;

const BASE = '/some/path/';
const SERVERS = { full: {}, bare: { bare: true }, brotli: { brotli: true } };

const parsed = parseArgs({
  options: { dist: { type: 'string', default: 'dist' }, server: { type: 'string', default: 'full' } },
  allowPositionals: true,
});
if (!Object.hasOwn(SERVERS, parsed.values.server)) {
  console.error(`no server ${parsed.values.server}; there are: ${Object.keys(SERVERS).join(', ')}`);
  process.exit(2);
}
/** Folder of the built site. */
export const dist = parsed.values.dist;
/** Arguments of the command line beside the options. */
export const positionals = parsed.positionals;

export const pause = (ms) => new Promise((resume) => setTimeout(resume, ms));

/** The folder under test. */
export const DIST = parsed.values.dist;

/** The built page on a server that behaves as asked (see server.mjs). */
export function serveDist(manner = {}) {
  return serve(DIST, { base: BASE, ...manner });
}

export class Failure extends Error {}

export function check(condition, words) {
  if (!condition) throw new Failure(words);
}

export function equal(actual, expected, words) {
  check(actual === expected, `${words}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(actual)}`);
}

/** A script for somebody else's page: keeps what frames say in `window.heard`, and speaks to them. */
export const LISTENER = `<script>
  window.heard = [];
  window.iframes = () => [...document.querySelectorAll('iframe')];
  addEventListener('message', ({ source, data }) => heard.push({ frame: iframes().findIndex((f) => f.contentWindow === source), data }));
  window.say = (message, index) => iframes()[index].contentWindow.postMessage(message, '*');
</script>`;

/** Runs the cases named on the command line, or all, and sets the exit status. */
export async function runCases(cases) {
  const names = positionals.length > 0 ? positionals : Object.keys(cases);
  const unknown = names.filter((name) => !(name in cases));
  if (unknown.length > 0) {
    console.error(`no case ${unknown.join(', ')}; there are: ${Object.keys(cases).join(', ')}`);
    process.exit(2);
  }
  let failed = 0;
  await withBrowser(async (visit, host) => {
    for (const name of names) {
      const start = performance.now();
      const errors = await runCase(name, cases[name], visit, host);
      console.log(`${errors.length === 0 ? 'pass' : 'FAIL'}  ${name}  (${((performance.now() - start) / 1000).toFixed(1)} s)`);
      for (const error of errors.slice(0, SHOWN)) console.log(`      ${error.replaceAll(/\n\s*/g, '\n      ')}`);
      if (errors.length > SHOWN) console.log(`      … and ${errors.length - SHOWN} more`);
      if (errors.length > 0) failed += 1;
    }
  });
  console.log(`${names.length - failed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

/** Starts server and browser around `work`, which is handed the way to open a page. */
export async function withBrowser(work) {
  const { server, url } = await serveDist(SERVERS[parsed.values.server]);
  const browser = await chromium.launch({ executablePath: executable(), args: ARGS });
  try {
    await work(
      (settings) => visit(browser, url, settings),
      (settings) => host(browser, settings),
    );
  } finally {
    await browser.close();
    server.close();
  }
}

function executable() {
  const path = process.env.BIOSCOPE_CHROMIUM;
  if (path) return path;
  console.error('BIOSCOPE_CHROMIUM is not set: `cargo xtask test` sets it, or give the path of a Chromium');
  process.exit(2);
}

async function runCase(name, work, visit, host) {
  const opened = [];
  const errors = [];
  const opening = (way) => async (settings) => {
    const player = await way(settings);
    opened.push(player);
    await player.open();
    return player;
  };
  try {
    await work(opening(visit), opening(host));
  } catch (error) {
    errors.push(error instanceof Failure ? error.message : withoutColour(error.stack));
  }
  for (const player of opened) errors.push(...player.errors);
  if (errors.length > 0) await keepScreenshot(name, opened.at(-1));
  for (const player of opened) await player.close();
  return errors;
}

/** Playwright paints its messages for a terminal. */
function withoutColour(text) {
  return text.replace(/\u001b\[\d+m/g, '');
}

async function keepScreenshot(name, player) {
  if (!player) return;
  mkdirSync('out/browser', { recursive: true });
  await player.page.screenshot({ path: `out/browser/${name.replace(/[^a-z0-9]+/gi, '-')}.png` }).catch(() => {});
}

/**
 * A page that is not opened yet. Settings: `query`, `fragment`, `init` (function run before the page's own scripts),
 * `route` (function given Playwright's page), `ready` (false: do not wait for it), `errors` (false: errors are
 * expected), `site` (a server of its own, that behaves so) or `at` (the address of another), and Playwright's context
 * options.
 */
async function visit(browser, url, { at = url, site, query = '', fragment = '', ready = true, ...settings } = {}) {
  const own = site && (await serveDist(site));
  const { context, page } = await newPage(browser, settings);
  const player = new Player(context, page, own?.url ?? at, query + fragment, ready);
  if (own) player.servers.push(own.server);
  await prepare(player, settings);
  return player;
}

/**
 * Somebody else's page, not opened yet. Settings beside those of `visit`: `html` (function given the address of the
 * built site), `site` (how its server behaves), `headers` of the page itself.
 */
async function host(browser, { html, site: manner, headers, ...settings }) {
  const site = await serveDist({ brotli: true, ...manner });
  const page = `<!doctype html><meta charset="utf-8"><title>A page with frames</title><link rel="icon" href="data:,">${html(site.url)}`;
  const own = await serve(null, { pages: { 'index.html': page }, headers });
  const opened = await newPage(browser, settings);
  // Another name of this machine, which makes it another site and not only another origin.
  const player = new Host(opened.context, opened.page, own.url.replace('127.0.0.1', 'localhost'), site);
  player.servers.push(site.server, own.server);
  await prepare(player, settings);
  return player;
}

async function newPage(browser, { init, route, errors, ...contextOptions }) {
  // A worker from an earlier case must not answer; what it does has cases of its own.
  const options = { viewport: { width: 1440, height: 900 }, serviceWorkers: 'block', ...contextOptions };
  const context = await browser.newContext(options);
  context.setDefaultTimeout(ACTION_MS);
  return { context, page: await context.newPage() };
}

async function prepare(player, { init, route, errors = true }) {
  if (errors) player.collectErrors();
  if (init) await player.page.addInitScript(init);
  if (route) await route(player.page);
}

/** The page as a person with a keyboard sees it, by the names that the tests and the page agree on. */
class Player {
  constructor(context, page, url, address, ready) {
    Object.assign(this, { context, page, frame: page.mainFrame(), url, address, ready });
    Object.assign(this, { errors: [], workers: 0, crashed: false, servers: [] });
    page.on('worker', () => (this.workers += 1));
  }

  collectErrors() {
    this.page.on('console', (message) => {
      if (message.type() === 'error') this.errors.push(`console: ${message.text()} (${message.location().url})`);
    });
    this.page.on('pageerror', (error) => {
      this.crashed = true;
      this.errors.push(`page error: ${error.stack ?? error}`);
    });
    this.page.on('requestfailed', (request) => {
      const why = request.failure()?.errorText;
      // Cut off by going elsewhere, as an icon often is.
      if (why !== 'net::ERR_ABORTED') this.errors.push(`not loaded: ${request.url()} (${why})`);
    });
  }

  async open() {
    await this.page.goto(this.url + this.address);
    if (this.ready) await this.waitReady();
  }

  async close() {
    await this.context.close();
    for (const server of this.servers) {
      server.closeAllConnections();
      server.close();
    }
  }

  async reload() {
    await this.page.reload();
    await this.waitReady();
  }

  async waitReady() {
    const state = async () => {
      try {
        return await this.frame.evaluate(() => document.documentElement.dataset.ready === '1');
      } catch (error) {
        // A poster gives way to the simulator just then.
        if (/context was destroyed/.test(error.message)) return false;
        throw error;
      }
    };
    await this.until(state, 'the page sets data-ready="1" on <html>', READY_MS);
  }

  /** Polls from outside, so that waiting requests no animation frame of the page. */
  async until(condition, words, timeout = ACTION_MS) {
    const end = Date.now() + timeout;
    while (!(await condition())) {
      check(!this.crashed, `the page stopped before ${words}`);
      check(Date.now() < end, `waited ${timeout / 1000} s in vain until ${words}`);
      await new Promise((resume) => setTimeout(resume, 50));
    }
  }

  get(testid) {
    return this.frame.getByTestId(testid);
  }

  async text(testid) {
    return (await this.get(testid).innerText()).trim();
  }

  async untilText(testid, accept, words, timeout) {
    await this.until(async () => accept(await this.text(testid)), `${testid} ${words}`, timeout);
    return this.text(testid);
  }

  /** The first whole number in the event counter, thousands separators taken out. */
  async eventNumber() {
    const text = await this.text('event-counter');
    const number = text.match(/\d(?:[\d,\u00a0\u2009\u202f]*\d)?/);
    check(number, `event-counter shows a number, found ${JSON.stringify(text)}`);
    return Number(number[0].replace(/\D/g, ''));
  }

  /** The trace hash of a side, once it is there. */
  async hash(side) {
    return this.untilText(`hash-${side}`, (text) => /[0-9a-f]{16}/.test(text), 'shows a trace hash', READY_MS);
  }

  /** What a reload and a shared link have to bring back. */
  async state() {
    return JSON.stringify({
      clock: await this.text('clock'),
      event: await this.eventNumber(),
      hashes: [await this.hash('a'), await this.hash('b')],
    });
  }

  async setField(key, value) {
    await this.get(`field-${key}`).fill(value);
    await this.get(`field-${key}`).press('Enter');
  }

  async location() {
    return this.frame.evaluate(() => location.hash);
  }
}

/** A page with frames of ours in it. */
class Host extends Player {
  constructor(context, page, url, site) {
    super(context, page, url, '', false);
    this.site = site;
  }

  /** The frame with that number, in the page's order, as a page of ours. */
  async embed(index = 0) {
    await this.until(() => this.page.frames().length > index + 1, `the page has frame ${index}`);
    const player = new Player(this.context, this.page, this.site.url, '', true);
    player.frame = this.page.frames()[index + 1];
    player.errors = this.errors;
    return player;
  }

  /** Posts a message of the protocol to a frame. For these, the page has LISTENER in it. */
  async say(message, index = 0) {
    await this.page.evaluate(([said, number]) => window.say(said, number), [{ bioscope: 1, ...message }, index]);
  }

  /** What a frame has said so far, or only messages of that type. */
  async heard(type, index = 0) {
    const messages = await this.page.evaluate((number) => window.heard.filter(({ frame }) => frame === number).map(({ data }) => data), index);
    return type === undefined ? messages : messages.filter((message) => message.type === type);
  }

  /** Pings until a frame answers, in that state if one is named, as pages around are asked to. */
  async meet(index = 0, state) {
    const answered = async () => {
      await this.say({ type: 'ping' }, index);
      await pause(200);
      const pongs = await this.heard('pong', index);
      return state === undefined ? pongs.length > 0 : pongs.some((pong) => pong.state === state);
    };
    await this.until(answered, `frame ${index} answers a ping${state ? ` as ${state}` : ''}`, READY_MS);
  }

  /** A tab that a link opened, as a page of ours. */
  async other(tab) {
    await tab.waitForLoadState('domcontentloaded');
    const player = new Player(this.context, tab, this.site.url, '', true);
    player.errors = this.errors;
    return player;
  }

  /** Paths that the site was asked for, below its folder. */
  asked() {
    return this.site.log.map(({ path }) => path.slice(BASE.length));
  }
}
