// The simulator's speed in Chromium beside the native one. Judges nothing; fails when a figure is missing.
//
// Both sides give lines `NAME VALUE`, with names that end in `_per_s` or `_seconds` where they have a speed: natively
// in out/bench-native.txt (`cargo run --release -p bioscope-lab --example bench`), in the page timed around
// `window.__bioscope.work(NAME)`, there with `?hooks` in the address. The ratio is speed in WebAssembly by native speed.
import { readFileSync } from 'node:fs';
import { withBrowser } from './harness.mjs';

const parse = (text) =>
  new Map(
    text
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((words) => words.length === 2)
      .map(([name, value]) => [name, Number(value)]),
  );

/** Rates are better when higher, durations when lower; other figures have no speed. */
function ratio(name, native, wasm) {
  if (name.endsWith('_per_s')) return wasm / native;
  return name.endsWith('_seconds') ? native / wasm : undefined;
}

const native = parse(readFileSync('out/bench-native.txt', 'utf8'));
let answer;
await withBrowser(async (visit) => {
  const player = await visit({ query: '?hooks' });
  await player.open();
  if (!(await player.page.evaluate(() => typeof window.__bioscope?.work === 'function'))) {
    throw new Error('the page has no window.__bioscope.work(): not available');
  }
  answer = await player.page.evaluate(() => {
    // Medians of three runs, under the names of the native side.
    const median = (name) => {
      const runs = [0, 1, 2].map(() => {
        const start = performance.now();
        const counts = window.__bioscope.work(name).split(' ').map(Number);
        return { seconds: (performance.now() - start) / 1000, counts };
      });
      return runs.sort((a, b) => a.seconds - b.seconds)[1];
    };
    const lines = [];
    const zones = median('rand_zones_128');
    for (const [index, what] of ['ios', 'events', 'records'].entries()) lines.push(`rand_zones_128_${what}_per_s ${zones.counts[index] / zones.seconds}`);
    const cells = median('cells_44');
    lines.push(`cells_44_seconds ${cells.seconds}`);
    for (const [index, what] of ['ios', 'events'].entries()) lines.push(`cells_44_${what}_per_s ${cells.counts[index] / cells.seconds}`);
    return lines.join('\n');
  });
});
const wasm = parse(answer);

const show = (value) => value?.toLocaleString('en', { maximumSignificantDigits: 4 }) ?? 'not available';
const line = (...cells) => console.log(cells.map((cell, index) => (index === 0 ? cell.padEnd(32) : cell.padStart(16))).join(''));
line('', 'native', 'WebAssembly', 'wasm/native');
for (const name of new Set([...native.keys(), ...wasm.keys()])) {
  const [here, there] = [native.get(name), wasm.get(name)];
  const speed = here && there ? ratio(name, here, there) : undefined;
  line(name, show(here), show(there), speed?.toFixed(2) ?? '');
}
const missing = [...native.keys()].filter((name) => /_per_s$|_seconds$/.test(name) && !wasm.has(name));
if (missing.length > 0) {
  console.log(`NOT AVAILABLE in the page: ${missing.join(', ')}`);
  process.exitCode = 1;
}
