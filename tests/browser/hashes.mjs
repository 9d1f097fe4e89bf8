// The same scenario gives the same trace in WebAssembly as natively, after half of its events and at the end.
//
// Expects out/hashes.tsv from the native side (`cargo run --release -p bioscope-lab --example hashes`):
// fragment, hash after half of run A's engine events (rounded down), hash at its end, tab-separated. The page answers through
// `window.__bioscope.hash(fragment)`, there with `?hooks` in the address, with both hashes and a space between.
import { readFileSync } from 'node:fs';
import { withBrowser } from './harness.mjs';

const LEAST = 200;
const SHOWN = 10;

const expected = readFileSync('out/hashes.tsv', 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => line.split('\t'));

const hookMissing = 'the page has no window.__bioscope.hash(fragment): the comparison cannot run';
const ask = (fragment) => window.__bioscope.hash(fragment);

let passed = 0;
let failed = 0;
let longest = 0;
await withBrowser(async (visit) => {
  const player = await visit({ query: '?hooks' });
  await player.open();
  if (!(await player.page.evaluate(() => typeof window.__bioscope?.hash === 'function'))) throw new Error(hookMissing);
  for (const [fragment, half, end] of expected) {
    const start = performance.now();
    const answer = await player.page.evaluate(ask, fragment).catch((error) => String(error));
    longest = Math.max(longest, performance.now() - start);
    if (answer === `${half} ${end}`) {
      passed += 1;
      continue;
    }
    failed += 1;
    if (failed <= SHOWN) console.log(`FAIL  ${fragment}\n      natively ${half} ${end}\n      browser  ${answer}`);
  }
  for (const error of player.errors) console.log(`FAIL  ${error}`);
  failed += player.errors.length;
});
if (expected.length < LEAST) {
  console.log(`FAIL  only ${expected.length} scenarios; at least ${LEAST} were promised`);
  failed += 1;
}
console.log(`slowest scenario ${(longest / 1000).toFixed(1)} s`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
