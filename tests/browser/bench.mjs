// The simulator's speed in Chromium beside the native one. Prints, asserts nothing.
//
// Both sides give lines `name <TAB> value <TAB> unit`: natively in out/bench-native.tsv, in the page
// as the answer of `window.__bioscope.bench()`. The ratio is speed in WebAssembly by native speed.
import { existsSync, readFileSync } from 'node:fs';
import { withBrowser } from './harness.mjs';

const NATIVE = 'out/bench-native.tsv';

const parse = (text) =>
  text
    .split('\n')
    .filter((line) => line.includes('\t'))
    .map((line) => line.split('\t'))
    .map(([name, value, unit = '']) => ({ name, value: Number(value), unit }));

/** Rates are better when higher, durations when lower; other units have no speed. */
function ratio({ value, unit }, native) {
  if (unit.endsWith('/s')) return value / native;
  return ['s', 'ms', 'us', 'ns'].includes(unit) ? native / value : Number.NaN;
}

let answer;
await withBrowser(async (visit) => {
  const player = await visit({ query: '?hooks' });
  await player.open();
  if (!(await player.page.evaluate(() => typeof window.__bioscope?.bench === 'function'))) {
    throw new Error('the page has no window.__bioscope.bench(): not available');
  }
  answer = await player.page.evaluate(() => window.__bioscope.bench());
});

const native = new Map((existsSync(NATIVE) ? parse(readFileSync(NATIVE, 'utf8')) : []).map((row) => [row.name, row.value]));
const wasm = parse(answer);
const show = (value) => (Number.isFinite(value) ? value.toLocaleString('en', { maximumSignificantDigits: 4 }) : 'not available');
const line = (...cells) => console.log(cells.map((cell, index) => (index === 0 ? cell.padEnd(44) : cell.padStart(16))).join(''));
line('', 'native', 'WebAssembly', 'unit', 'wasm/native');
for (const name of new Set([...native.keys(), ...wasm.map((row) => row.name)])) {
  const row = wasm.find((row) => row.name === name);
  const speed = row && native.has(name) ? ratio(row, native.get(name)) : Number.NaN;
  line(name, show(native.get(name)), show(row?.value), row?.unit ?? '', Number.isFinite(speed) ? speed.toFixed(2) : '-');
}
