// `cargo xtask later`: which functions the first scene needs; writes web/later.txt.
//
//   BIOSCOPE_COUNT_CALLS=1 trunk build --dist target/later && node crates/xtask/js/later.mjs target/later
//
// Opens the front page of a build whose functions note that they were called, in a wide and a narrow window, plays,
// steps and seeks, and writes the names of all functions that were not called. Functions of equal name (copies for
// several types) count as one. To be run when `cargo xtask size` says that the first file has grown over its limit.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { serve } from '../../../tests/browser/server.mjs';

const [folder] = process.argv.slice(2);
const { base, names } = JSON.parse(readFileSync(join(folder, 'later.json'), 'utf8'));
const { server, url } = await serve(folder);
const browser = await chromium.launch({ executablePath: process.env.BIOSCOPE_CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
const used = new Set();
for (const viewport of [{ width: 1440, height: 900 }, { width: 390, height: 844 }]) {
  const page = await browser.newPage({ viewport });
  await page.addInitScript(() => addEventListener('TrunkApplicationStarted', (event) => (window.counted = event.detail.wasm)));
  await page.goto(url);
  await page.getByTestId('play').waitFor();
  await page.waitForTimeout(5000);
  await page.getByTestId('play').click();
  await page.waitForTimeout(4000);
  for (const key of ['Space', 'ArrowRight', 'ArrowLeft']) await page.keyboard.press(key);
  await page.getByTestId('scrub').click();
  await page.waitForTimeout(1000);
  const marks = await page.evaluate(([at, n]) => [...new Uint8Array(window.counted.memory.buffer, at, n)], [base, names.length]);
  marks.forEach((mark, i) => mark && used.add(names[i]));
}
await browser.close();
server.close();
const rest = [...new Set(names)].filter((name) => !used.has(name) && !/^\d+$/.test(name)).sort();
const head = '# Functions that the first scene does not call: they go to the second wasm file. Written by `cargo xtask later`.\n';
writeFileSync('web/later.txt', `${head}${rest.join('\n')}\n`);
console.log(`${used.size} names called, ${rest.length} not: web/later.txt`);
