// `cargo xtask size`: raw and compressed size of every file of dist, held against the budget.
//
// Everything in dist counts as first use, except what a reader has to ask for (LATER). That is an
// upper bound of what is fetched until the first preset plays. An embed before a click is what
// embed.html names, the list of presets and the largest poster.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const DIST = 'dist';
/**
 * Files and folders of dist that are fetched on demand only: other pages, the service worker, the element; with them
 * the second wasm file, which the front page fetches when its first scene stands.
 */
const LATER = ['book/', 'p/', 'embed.html', 'sw.js', 'static/embed.js'];
const LIMITS = { wasm: 220_000, firstUse: 300_000, embed: 15_000, element: 3_000 };

/** Files of dist that a page of dist names. */
const named = (page) =>
  [...readFileSync(join(DIST, page), 'utf8').matchAll(/\s(?:href|src)="\.\/([^"#?]+)"/g)].map((match) => match[1]);
const byIndex = named('index.html');
const byEmbed = ['embed.html', ...named('embed.html').filter((name) => !name.endsWith('.html'))];
const isLater = (name) =>
  name.endsWith('_later.wasm') ||
  LATER.some((later) => name === later || (later.endsWith('/') && name.startsWith(later))) ||
  (byEmbed.includes(name) && !byIndex.includes(name));

const files = readdirSync(DIST, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(DIST.length + 1))
  .sort();
if (files.length === 0) throw new Error('dist is empty');

const rows = files.map((name) => {
  const bytes = readFileSync(join(DIST, name));
  const brotli = brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });
  return {
    name,
    first: !isLater(name),
    raw: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    brotli: brotli.length,
  };
});

const sum = (list, key) => list.reduce((total, row) => total + row[key], 0);
const first = rows.filter((row) => row.first);
const wasm = rows.filter((row) => row.first && row.name.endsWith('.wasm'));

const embed = byEmbed.map((name) => rows.find((row) => row.name === name) ?? fail(`embed.html names ${name}, which is not in dist`));
const posters = rows.filter((row) => /^p\/.*\.svg$/.test(row.name)).sort((a, b) => b.brotli - a.brotli);
if (posters.length === 0) fail('no poster in dist/p');
const element = rows.filter((row) => row.name === 'static/embed.js');

const line = (name, raw, gzip, brotli) => console.log(`${name.padEnd(44)}${[raw, gzip, brotli].map((n) => String(n).padStart(12)).join('')}`);
line('file', 'raw', 'gzip -9', 'brotli -11');
for (const row of rows) line(row.first ? row.name : `${row.name} (later)`, row.raw, row.gzip, row.brotli);
line('first use', sum(first, 'raw'), sum(first, 'gzip'), sum(first, 'brotli'));
// An address that names a scenario has both wasm files fetched side by side.
const linked = rows.filter((row) => row.first || row.name.endsWith('_later.wasm'));
line('a link', sum(linked, 'raw'), sum(linked, 'gzip'), sum(linked, 'brotli'));

const checks = [
  ['wasm', sum(wasm, 'brotli'), LIMITS.wasm],
  ['first use', sum(first, 'brotli'), LIMITS.firstUse],
  ['embed before a click', sum([...embed, posters[0]], 'brotli'), LIMITS.embed],
  ['element', sum(element, 'brotli'), LIMITS.element],
];
for (const [name, size, limit] of checks) {
  const verdict = size <= limit ? 'within' : 'OVER';
  console.log(`${name}: ${(size / 1000).toFixed(1)} kB brotli, ${verdict} the limit of ${limit / 1000} kB`);
  if (size > limit) process.exitCode = 1;
}

function fail(words) {
  console.error(`size: ${words}`);
  process.exit(1);
}
