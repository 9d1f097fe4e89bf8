// Gives the functions that the wasm file imports short names, in it and in its module.
//
// wasm-bindgen ends each name with sixteen digits of a hash, which no compression makes smaller: 3 kB of the one file, 2 kB of the other.
// Both files get another name, since their content is another one, and the page the checksums that go with it.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const IMPORTS = 2;

/** `rework` may change both files first. */
export function shortenNames(folder, rework) {
  // Trunk writes its hash without zeros in front.
  const [wasmName] = readdirSync(folder).filter((name) => /^app-[0-9a-f]{1,16}_bg\.wasm$/.test(name));
  if (!wasmName) throw new Error(`${folder}: no app-….wasm`);
  const stem = wasmName.replace('_bg.wasm', '');
  const old = { js: readFileSync(join(folder, `${stem}.js`)), wasm: readFileSync(join(folder, wasmName)) };

  rework(folder);
  const { bytes: wasm, names } = renamed(readFileSync(join(folder, wasmName)));
  let js = readFileSync(join(folder, `${stem}.js`), 'utf8');
  for (const [long, short] of names) {
    // The module has each as a key of one object, and nowhere else.
    const parts = js.split(new RegExp(`\\b${long}\\b`));
    if (parts.length !== 2 || !parts[1].startsWith(': ')) throw new Error(`${stem}.js: ${long} is not one key`);
    js = parts.join(short);
  }
  const hash = createHash('sha256').update(js).update(wasm).digest('hex').slice(0, 16);
  const fresh = `app-${hash}`;
  js = js.replaceAll(stem, fresh);

  const index = join(folder, 'index.html');
  let html = readFileSync(index, 'utf8').replaceAll(stem, fresh);
  for (const [before, after] of [[old.js, js], [old.wasm, wasm]]) {
    if (!html.includes(checksum(before))) throw new Error('index.html: a checksum is missing');
    html = html.replaceAll(checksum(before), checksum(after));
  }
  rmSync(join(folder, `${stem}.js`));
  rmSync(join(folder, wasmName));
  const later = join(folder, `${stem}_later.wasm`);
  if (existsSync(later)) renameSync(later, join(folder, `${fresh}_later.wasm`));
  writeFileSync(join(folder, `${fresh}.js`), js);
  writeFileSync(join(folder, `${fresh}_bg.wasm`), wasm);
  writeFileSync(index, html);
}

const checksum = (bytes) => `sha384-${createHash('sha384').update(bytes).digest('base64')}`;

/** The file with short names of imported functions, and which long name became which short one. */
function renamed(bytes) {
  const names = new Map();
  const out = [bytes.subarray(0, 8)];
  for (let at = 8; at < bytes.length; ) {
    const id = bytes[at];
    const [size, start] = number(bytes, at + 1);
    const body = bytes.subarray(start, start + size);
    const section = id === IMPORTS ? imports(body, names) : body;
    out.push(Buffer.from([id, ...leb(section.length)]), section);
    at = start + size;
  }
  if (names.size === 0) throw new Error('the wasm file imports nothing');
  return { bytes: Buffer.concat(out), names };
}

function imports(body, names) {
  const [count, first] = number(body, 0);
  const out = [body.subarray(0, first)];
  let at = first;
  for (let i = 0; i < count; i += 1) {
    const [moduleSize, moduleStart] = number(body, at);
    const [size, start] = number(body, moduleStart + moduleSize);
    const end = start + size;
    // wasm-bindgen imports functions only: a kind of 0 and a type.
    if (body[end] !== 0) throw new Error(`import ${i} is no function`);
    const [, next] = number(body, end + 1);
    const long = body.subarray(start, end).toString();
    if (names.has(long)) throw new Error(`${long} is imported twice`);
    names.set(long, `_${i.toString(36)}`);
    const name = Buffer.from(names.get(long));
    out.push(body.subarray(at, moduleStart + moduleSize), Buffer.from(leb(name.length)), name, body.subarray(end, next));
    at = next;
  }
  return Buffer.concat(out);
}

/** An unsigned LEB128 number, and where it ends. */
function number(bytes, at) {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at];
    at += 1;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return [value, at];
  }
}

function leb(value) {
  const out = [];
  do {
    const rest = Math.floor(value / 128);
    out.push((value % 128) | (rest > 0 ? 0x80 : 0));
    value = rest;
  } while (value > 0);
  return out;
}
