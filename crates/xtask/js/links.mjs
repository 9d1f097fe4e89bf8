// `cargo xtask dist` and the tests: no dead link in the built site.
//
//   node crates/xtask/js/links.mjs DIST BIOSCOPE
//
// Every address in every page and style sheet names a file of the site, every #anchor exists in its page, and every
// fragment that opens the simulator decodes without a word on standard error: BIOSCOPE is the command that reads
// it. Addresses of other sites are counted and named, not fetched.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { elementFragment, tags } from './html.mjs';

const [dist, bioscope] = process.argv.slice(2);
if (!dist || !bioscope) {
  console.error('usage: node crates/xtask/js/links.mjs DIST BIOSCOPE');
  process.exit(2);
}

const root = resolve(dist);
const files = readdirSync(root, { recursive: true }).map((name) => join(root, name));
/** Pages whose fragment is a scenario. */
const SIMULATOR = ['index.html', 'embed.html'].map((name) => join(root, name));
const ADDRESSES = ['href', 'src', 'poster', 'data'];

const problems = [];
const outside = new Map();
/** Fragment -> the first page that has it. */
const scenarios = new Map();
const anchors = new Map();
let checked = 0;

for (const file of files.filter((name) => name.endsWith('.html'))) page(file);
for (const file of files.filter((name) => name.endsWith('.css'))) {
  const css = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
  for (const [, address] of css.matchAll(/url\(\s*["']?([^"')]+)["']?\s*\)/g)) follow(file, address);
}
for (const [fragment, file] of scenarios) {
  const { status, stderr, error } = spawnSync(bioscope, ['url', fragment], { encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0 || stderr !== '') report(file, `#${fragment}`, `bioscope url: ${stderr.trim() || `status ${status}`}`);
}

for (const [host, count] of [...outside].sort()) console.log(`not fetched: ${host} (${count})`);
for (const problem of problems) console.error(problem);
console.log(`links: ${checked} addresses, ${scenarios.size} scenarios, ${problems.length} dead`);
process.exitCode = problems.length > 0 ? 1 : 0;

/** Follows everything that a page points to. */
function page(file) {
  const html = readFileSync(file, 'utf8');
  for (const { name, attributes } of tags(html)) {
    for (const key of ADDRESSES) {
      if (attributes.has(key)) follow(file, attributes.get(key));
    }
    if (attributes.has('srcset')) follow(file, attributes.get('srcset'));
    if (name === 'meta' && attributes.get('http-equiv')?.toLowerCase() === 'refresh') {
      follow(file, attributes.get('content').replace(/^[^;]*;\s*url=/i, ''));
    }
    if (name === 'bio-scope') scenario(file, elementFragment(attributes));
  }
}

function follow(file, address) {
  if (/^data:/i.test(address)) return;
  checked += 1;
  if (/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(address)) {
    const host = /^https?:/i.test(address) ? new URL(address).host : address;
    outside.set(host, (outside.get(host) ?? 0) + 1);
    return;
  }
  if (address.startsWith('/')) return report(file, address, 'an absolute path breaks under a sub-path');
  const [path, fragment] = split(address);
  let target = path === '' ? file : resolve(dirname(file), decodeURI(path));
  if (target !== root && !target.startsWith(root + sep)) return report(file, address, 'outside the site');
  if (statSync(target, { throwIfNoEntry: false })?.isDirectory()) target = join(target, 'index.html');
  if (!statSync(target, { throwIfNoEntry: false })?.isFile()) return report(file, address, 'no such file');
  if (!fragment) return;
  if (SIMULATOR.includes(target)) return scenario(file, fragment);
  if (!target.endsWith('.html')) return;
  if (!anchors.has(target)) anchors.set(target, anchorsOf(target));
  if (!anchors.get(target).has(decodeURIComponent(fragment))) report(file, address, 'no such anchor');
}

/** Path without query, and fragment. */
function split(address) {
  const hash = address.indexOf('#');
  const path = hash < 0 ? address : address.slice(0, hash);
  return [path.split('?')[0], hash < 0 ? '' : address.slice(hash + 1)];
}

function anchorsOf(file) {
  const all = new Set();
  for (const { attributes } of tags(readFileSync(file, 'utf8'))) {
    for (const key of ['id', 'name']) if (attributes.has(key)) all.add(attributes.get(key));
  }
  return all;
}

function scenario(file, fragment) {
  checked += 1;
  if (!scenarios.has(fragment)) scenarios.set(fragment, file);
}

function report(file, address, words) {
  problems.push(`${relative(root, file)}: ${address}: ${words}`);
}
