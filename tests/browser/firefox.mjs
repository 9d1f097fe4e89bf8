// The way through the page in a second browser: Firefox opens it, plays, steps, and starts a frame on another site.
//
// One flow, over WebDriver BiDi; everything in detail is tested in Chromium. BIOSCOPE_FIREFOX names the program.
import puppeteer from 'puppeteer-core';
import { check, equal, pause, serveDist } from './harness.mjs';
import { serve } from './server.mjs';

const FRAGMENT = '#v=1&p=smr-seq-write&iodepth=8&t=1.5s';
const READY_MS = 60_000;

async function until(condition, words, timeout = READY_MS) {
  const end = Date.now() + timeout;
  while (!(await condition())) {
    check(Date.now() < end, `waited ${timeout / 1000} s in vain until ${words}`);
    await pause(100);
  }
}

const text = (frame, testid) => frame.evaluate((id) => document.querySelector(`[data-testid="${id}"]`)?.innerText.trim() ?? '', testid);
const click = (frame, testid) => frame.evaluate((id) => document.querySelector(`[data-testid="${id}"]`).click(), testid);
const ready = (frame) => until(() => frame.evaluate(() => document.documentElement.dataset.ready === '1').catch(() => false), 'the page is ready');

/** Clock and event number of a paused page. */
const moment = async (frame) => `${await text(frame, 'clock')} ${await text(frame, 'event-counter')}`;

async function simulator(frame) {
  await ready(frame);
  const opened = await text(frame, 'clock');
  check(opened.startsWith('1.500'), `the clock stands at t, found ${opened}`);
  await click(frame, 'play');
  await until(async () => (await text(frame, 'clock')) !== opened, 'the clock advances while playing');
  await click(frame, 'play');
  await pause(500);
  const stopped = await text(frame, 'clock');
  await pause(500);
  equal(await text(frame, 'clock'), stopped, 'a paused clock rests');
  await click(frame, 'step');
  await until(async () => (await text(frame, 'clock')) !== stopped, 'a step moves the clock');
}

/** A new tab; what it reports as an error goes into `errors`. */
async function tab(browser, errors) {
  const page = await browser.newPage();
  page.on('pageerror', (error) => errors.push(`page error: ${error.message}`));
  page.on('console', (message) => message.type() === 'error' && errors.push(`console: ${message.text()}`));
  return page;
}

async function whole(browser, site, errors) {
  const page = await tab(browser, errors);
  await page.goto(site.url + FRAGMENT);
  await simulator(page);
  check(/^[0-9a-f]{16}$/.test(await text(page, 'hash-a')), 'the page shows a trace hash');
  const before = await moment(page);
  await click(page, 'step');
  await until(async () => (await moment(page)) !== before, 'a step shows the next event');
  await click(page, 'step-back');
  await until(async () => (await moment(page)) === before, 'a step back shows the event before');
  await page.close();
}

async function framed(browser, site, errors) {
  const html = `<!doctype html><meta charset="utf-8"><title>A page with a frame</title><link rel="icon" href="data:,">
    <bio-scope preset="smr-seq-write" scenario="${FRAGMENT.slice(1).replaceAll('&', '&amp;')}"></bio-scope>
    <script src="${site.url}static/embed.js"></script>`;
  const host = await serve(null, { pages: { 'index.html': html } });
  const page = await tab(browser, errors);
  await page.goto(host.url.replace('127.0.0.1', 'localhost'));
  const frame = () => page.frames().find((one) => one.url().startsWith(site.url));
  await until(async () => frame() && (await text(frame(), 'poster-look')) !== '', 'the element shows a poster');
  check(!site.log.some(({ path }) => path.includes('.wasm')), 'a poster loads no WebAssembly');
  await click(frame(), 'poster-start');
  await until(() => frame()?.url().includes('index.html?embed=1'), 'the poster gives way to the simulator');
  await simulator(frame());
  await page.close();
  host.server.close();
}

const executablePath = process.env.BIOSCOPE_FIREFOX;
if (!executablePath) {
  console.error('BIOSCOPE_FIREFOX is not set: `cargo xtask test` sets it, or give the path of a Firefox');
  process.exit(2);
}
const browser = await puppeteer.launch({ browser: 'firefox', executablePath, headless: true });
let failed = 0;
for (const [name, work] of Object.entries({ 'the page': whole, 'a frame on another site': framed })) {
  const site = await serveDist({ brotli: true });
  const start = performance.now();
  try {
    const errors = [];
    await work(browser, site, errors);
    equal(errors.join('\n'), '', 'what Firefox reports as errors');
    console.log(`pass  ${name}  (${((performance.now() - start) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${name}\n      ${error.stack}`);
  }
  site.server.closeAllConnections();
  site.server.close();
}
console.log(`${2 - failed} passed, ${failed} failed in ${await browser.version()}`);
await browser.close();
process.exitCode = failed > 0 ? 1 : 0;
