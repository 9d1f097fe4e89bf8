// What all browser tests share: a real Chromium on the built page, served under a sub-path.
//
// A case is an async function that throws to fail. Each gets a browser context of its own, so cases
// do not see each other's storage. Whatever a page reports as an error fails its case, the policy's
// refusals included. A failed case leaves a screenshot in out/browser/.
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

const parsed = parseArgs({ options: { dist: { type: 'string', default: 'dist' } }, allowPositionals: true });
/** Arguments of the command line beside `--dist FOLDER`. */
export const positionals = parsed.positionals;

export class Failure extends Error {}

export function check(condition, words) {
  if (!condition) throw new Failure(words);
}

export function equal(actual, expected, words) {
  check(actual === expected, `${words}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(actual)}`);
}

/** Runs the cases named on the command line, or all, and sets the exit status. */
export async function runCases(cases) {
  const names = positionals.length > 0 ? positionals : Object.keys(cases);
  const unknown = names.filter((name) => !(name in cases));
  if (unknown.length > 0) {
    console.error(`no case ${unknown.join(', ')}; there are: ${Object.keys(cases).join(', ')}`);
    process.exit(2);
  }
  let failed = 0;
  await withBrowser(async (visit) => {
    for (const name of names) {
      const start = performance.now();
      const errors = await runCase(name, cases[name], visit);
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
  const { server, url } = await serve(parsed.values.dist, { base: '/some/path/' });
  const browser = await chromium.launch({ executablePath: executable(), args: ARGS });
  try {
    await work((settings) => visit(browser, url, settings));
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

async function runCase(name, work, visit) {
  const opened = [];
  const errors = [];
  try {
    await work(async (settings) => {
      const player = await visit(settings);
      opened.push(player);
      await player.open();
      return player;
    });
  } catch (error) {
    errors.push(error instanceof Failure ? error.message : withoutColour(error.stack));
  }
  for (const player of opened) errors.push(...player.errors);
  if (errors.length > 0) await keepScreenshot(name, opened.at(-1));
  for (const player of opened) await player.context.close();
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
 * A page that is not opened yet. Settings: `query`, `fragment`, `init` (function run before the page's own
 * scripts), `route` (function given Playwright's page), `ready` (false: do not wait for it), `errors`
 * (false: errors are expected), and Playwright's context options.
 */
async function visit(browser, url, { query = '', fragment = '', init, route, ready = true, errors = true, ...contextOptions } = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...contextOptions });
  context.setDefaultTimeout(ACTION_MS);
  const page = await context.newPage();
  const player = new Player(context, page, url, query + fragment, ready);
  if (errors) player.collectErrors();
  if (init) await page.addInitScript(init);
  if (route) await route(page);
  return player;
}

/** The page as a person with a keyboard sees it, by the names that the tests and the page agree on. */
class Player {
  constructor(context, page, url, address, ready) {
    Object.assign(this, { context, page, url, address, ready, errors: [], workers: 0, crashed: false });
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
    this.page.on('requestfailed', (request) => this.errors.push(`not loaded: ${request.url()} (${request.failure()?.errorText})`));
  }

  async open() {
    await this.page.goto(this.url + this.address);
    if (this.ready) await this.waitReady();
  }

  async reload() {
    await this.page.reload();
    await this.waitReady();
  }

  async waitReady() {
    const state = async () => this.page.evaluate(() => document.documentElement.dataset.ready === '1');
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
    return this.page.getByTestId(testid);
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
    return this.page.evaluate(() => location.hash);
  }
}
