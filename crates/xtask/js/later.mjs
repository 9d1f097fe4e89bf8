// `cargo xtask later`: what of its functions the first scene needs; writes web/later.txt.
//
//   BIOSCOPE_COUNT_CALLS=1 trunk build --dist target/later && node crates/xtask/js/later.mjs target/later
//
// Opens the front page of a build that notes which places are reached, in windows of several kinds, plays, steps and
// seeks. Writes the names of all functions that were not called, and after each of the others, behind a tab, the parts
// that were not reached. Functions of equal name (copies for several types) count as one. To be run when
// `cargo xtask size` says that the first file has grown over its limit.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { coldParts, plainName } from './cold.mjs';
import { disassembled, NAME } from './split.mjs';
import { serve } from '../../../tests/browser/server.mjs';

const [folder] = process.argv.slice(2);
const { base, counts } = JSON.parse(readFileSync(join(folder, 'later.json'), 'utf8'));
const { server, url } = await serve(folder);
const browser = await chromium.launch({ executablePath: process.env.BIOSCOPE_CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
const bytes = counts.reduce((sum, count) => sum + count, 0);
const marks = new Uint8Array(bytes);
/** `slower`: the processor, which loses frames. */
const WINDOWS = [
  { viewport: { width: 1440, height: 900 } },
  { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, colorScheme: 'dark', locale: 'de-DE' },
  { viewport: { width: 900, height: 700 }, serviceWorkers: 'block', reducedMotion: 'reduce', slower: 6 },
  { viewport: { width: 1440, height: 900 }, slower: 20 },
];
for (const { slower = 1, ...kind } of WINDOWS) {
  const page = await browser.newPage(kind);
  await (await page.context().newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: slower });
  await page.addInitScript(() => addEventListener('TrunkApplicationStarted', (event) => (window.counted = event.detail.wasm)));
  await page.goto(url);
  await page.getByTestId('play').waitFor();
  await page.waitForTimeout(5000);
  await page.getByTestId('play').click();
  await page.waitForTimeout(4000);
  for (const key of ['Space', 'ArrowRight', 'ArrowLeft']) await page.keyboard.press(key);
  await page.getByTestId('scrub').click();
  await page.waitForTimeout(1000);
  const seen = await page.evaluate(([at, n]) => [...new Uint8Array(window.counted.memory.buffer, at, n)], [base, bytes]);
  seen.forEach((mark, i) => (marks[i] |= mark));
}
await browser.close();
server.close();

const copies = new Map();
let at = 0;
disassembled(folder, 'later.wasm').forms.filter((form) => form.startsWith('(func ')).forEach((form, i) => {
  const name = plainName(form.match(NAME)[0]);
  copies.set(name, [...(copies.get(name) ?? []), { form, marks: marks.subarray(at, (at += counts[i])) }]);
});
let calls = 0;
const lines = [];
for (const [name, all] of copies) {
  // wasm-bindgen's, and what the compiler could not name.
  if (/^\d+$/.test(name)) continue;
  const called = all.some((copy) => copy.marks[0]);
  const parts = called ? coldParts(all) : [];
  calls += called;
  if (!called || parts.length > 0) lines.push(called ? `${name}\t${parts.join(' ')}` : name);
}
const head = '# What the first scene does not run: functions, and parts of functions that it does call (cold.mjs).\n# It goes to the second wasm file. Written by `cargo xtask later`.\n';
writeFileSync('web/later.txt', `${head}${lines.sort().join('\n')}\n`);
console.log(`${calls} names called, ${copies.size - calls} not: web/later.txt`);
