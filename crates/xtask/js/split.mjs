// Splits the page's wasm file in two: what the first scene needs, and what is fetched behind it.
//
// The functions named in web/later.txt go to the second file, and the parts of functions that it lists (cold.mjs makes
// them functions of their own). Where the first calls one of them it has a stub, which goes through a slot of the
// function table; the second file, once instantiated, fills the slots. Both share memory,
// table and globals, so nothing is handed over and no state is kept twice. A page whose address names a scenario
// fetches both side by side, and so does a later visit; on the first visit the front page fetches the second when its
// first scene stands. A stub that is called before that (in a worker always) fetches the file there and then.
//
// So web/later.txt decides about sizes and never about results. `cargo xtask later` writes it. Leaves out: data
// (strings stay in the first file), and functions that JavaScript calls.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cut, plainName, withMarks } from './cold.mjs';

export { plainName };

export const NAME = /\$(?:"(?:[^"\\]|\\.)*"|[^\s()]+)/;
const FEATURES = ['bulk-memory', 'reference-types', 'nontrapping-float-to-int', 'sign-ext', 'mutable-globals', 'multivalue'];
/** Letters of text of a function that is not worth a stub. */
const STUB = 240;
const flags = FEATURES.map((name) => `--enable-${name}`);

/** The wasm file that Trunk left, as its top-level forms of text. */
export function disassembled(folder, name = readdirSync(folder).find((entry) => /^app-[0-9a-f]{1,16}_bg\.wasm$/.test(entry))) {
  if (!name) throw new Error(`${folder}: no app-….wasm`);
  const text = execFileSync('wasm-dis', [...flags, join(folder, name)], { encoding: 'utf8', maxBuffer: 1 << 28 });
  return { name, forms: text.trim().replace(/^\(module\s*/, '').replace(/\)$/, '').split(/\n (?=\()/) };
}

/** Text to a wasm file without names, and without what the change left unused. */
export function assembled(forms, output) {
  const work = mkdtempSync(join(tmpdir(), 'bioscope-'));
  try {
    const source = join(work, 'module.wat');
    writeFileSync(source, `(module\n ${forms.join('\n ')}\n)\n`);
    execFileSync('wasm-opt', [...flags, '--strip-debug', '--remove-unused-module-elements', '--low-memory-unused', source, '-o', output], { stdio: 'inherit' });
  } finally {
    rmSync(work, { recursive: true });
  }
}

export function splitWasm(source, folder) {
  const later = new Map();
  for (const line of readFileSync(join(source, 'web/later.txt'), 'utf8').split('\n')) {
    const [function_, parts] = line.split('\t');
    if (line && !line.startsWith('#')) later.set(function_, parts && new Set(parts.split(' ')));
  }
  const { name, forms } = disassembled(folder);
  const [first, second] = halves(forms, later);
  const stem = name.replace('_bg.wasm', '');
  assembled(first, join(folder, name));
  assembled(second, join(folder, `${stem}_later.wasm`));
  joinModules(folder, stem);
}

/** The two modules, as forms. */
function halves(forms, later) {
  const of = (kind) => forms.filter((form) => form.startsWith(`(${kind} `));
  const imported = of('import').map((form) => ({ form, name: form.slice(form.indexOf('(func ')).match(NAME)[0], ...signature(form) }));
  const exported = new Set(of('export').map((form) => form.match(/\(func (.*)\)\)$/)?.[1]));
  const started = new Set(of('start').map((form) => form.match(NAME)[0]));
  const tables = of('elem').flatMap((form) => names(form.slice(form.indexOf(' func ') + 6)));
  if (of('elem').some((form) => !form.includes(' func '))) throw new Error('a table of another kind');
  const [table] = of('table').filter((form) => form.endsWith('funcref)'));
  const [, tableName, size] = table.match(/^\(table (\S+) (\d+) \2 funcref\)$/);

  const parts = new Map();
  const ways = new Map();
  const outlined = (text, kinds, result, args) => {
    const part = parts.get(text) ?? { name: `$part${parts.size}`, slot: Number(size) + parts.size };
    parts.set(text, part);
    const kind = `$part-of-${kinds.join('-')}-to-${result}`;
    ways.set(kind, { params: kinds, result: result ? `(result ${result})` : '' });
    return ['call', kind, ...args, ['i32.const', `${part.slot}`]];
  };
  const functions = of('func').map((form) => {
    const name = form.match(NAME)[0];
    const keys = later.get(plainName(name));
    return { form: keys ? cut(form, keys, outlined) : form, name, ...signature(form) };
  });
  const wanted = functions.filter(
    (f) => later.has(plainName(f.name)) && !later.get(plainName(f.name)) && !exported.has(f.name) && !started.has(f.name),
  );
  const named = new Set(wanted.map((f) => f.name));
  const byFirst = new Set([...functions.filter((f) => !named.has(f.name)).flatMap((f) => called(f.form)), ...tables]);
  // A stub is as large as a small function.
  const whole = wanted.filter((f) => f.form.length > STUB || !byFirst.has(f.name));
  const cuts = [...parts].map(([text, { name }]) => ({ form: `(func ${name}\n  ${text})`, name }));
  const moved = [...cuts, ...whole];
  const goes = new Set(moved.map((f) => f.name));
  const stays = functions.filter((f) => !goes.has(f.name));

  const fromFirst = new Set([...stays.flatMap((f) => called(f.form)), ...tables]);
  const stubs = whole.filter((f) => fromFirst.has(f.name));
  const slots = [...cuts, ...stubs];
  const fromSecond = new Set(moved.flatMap((f) => called(f.form)).filter((callee) => !goes.has(callee)));
  const shared = [...imported, ...stays].filter((f) => fromSecond.has(f.name));

  const others = of('table').filter((form) => form !== table);
  const [memory] = of('memory');
  const carried = new Set([...stays, ...cuts].flatMap((f) => f.form.match(/\$part-(?:way|return|[if]\d\d)[-\w]*/g) ?? []));
  const carriers = [...carried].sort().map((global) => {
    const type = global.match(/[if]\d\d/)?.[0] ?? 'i32';
    return `(global ${global} (mut ${type}) (${type}.const 0))`;
  });
  const globals = [...of('global'), ...carriers].map((form) => {
    const [, globalName, type] = form.match(/^\(global (\S+) (\(mut \w+\)|\w+) /);
    return { form, name: globalName, type };
  });
  const ready = '(global $later (mut i32) (i32.const 0))';
  const grown = `(table ${tableName} ${Number(size) + slots.length} ${Number(size) + slots.length} funcref)`;
  const through = (name, { params, result }, more, slot) =>
    `(func ${name} ${[...params, ...more].map((type, i) => `(param $${i} ${type})`).join(' ')} ${result}\n` +
    '  (if (i32.eqz (global.get $later)) (then (call $fetch-later)))\n' +
    `  (call_indirect ${tableName} ${typeUse({ params, result })} ${params.map((_, i) => `(local.get $${i})`).join(' ')} ${slot}))`;

  const first = [
    ...of('type'),
    ...of('import'),
    '(import "later" "__fetch_later" (func $fetch-later))',
    ...globals.map((g) => g.form),
    ready,
    memory,
    grown,
    ...others,
    ...of('elem'),
    ...of('data'),
    ...of('export'),
    `(export "_t" (table ${tableName}))`,
    '(export "_l" (global $later))',
    ...globals.map((g, i) => `(export "_g${i}" (global ${g.name}))`),
    ...shared.map((f, i) => `(export "_f${i.toString(36)}" (func ${f.name}))`),
    ...of('start'),
    ...stays.map((f) => f.form),
    ...stubs.map((f, i) => through(f.name, f, [], `(i32.const ${Number(size) + cuts.length + i})`)),
    // The slot of a part comes last.
    ...[...ways].map(([name, kind]) => through(name, kind, ['i32'], `(local.get $${kind.params.length})`)),
  ];
  const pages = memory.match(/^\(memory (\S+) (\d+)/);
  const second = [
    ...of('type'),
    `(import "f" "memory" (memory ${pages[1]} ${pages[2]}))`,
    `(import "f" "_t" ${grown.replace(/ \d+ funcref/, ' funcref')})`,
    ...others.map((form) => `(import "f" "${form.match(NAME)[0].slice(1)}" ${form})`),
    '(import "f" "_l" (global $later (mut i32)))',
    ...globals.map((g, i) => `(import "f" "_g${i}" (global ${g.name} ${g.type}))`),
    ...shared.map((f, i) => `(import "f" "_f${i.toString(36)}" (func ${f.name} ${typeUse(f)}))`),
    `(elem $slots (table ${tableName}) (i32.const ${size}) func ${slots.map((f) => f.name).join(' ')})`,
    '(start $ready)',
    '(func $ready (global.set $later (i32.const 1)))',
    ...moved.map((f) => f.form),
  ];
  console.log(`wasm: ${stays.length} functions first, ${whole.length} and ${cuts.length} parts later, ${stubs.length + ways.size} stubs, ${shared.length} shared`);
  return [first, second];
}

const names = (text) => text.match(new RegExp(NAME, 'g')) ?? [];
const called = (form) => [...form.matchAll(new RegExp(`\\((?:return_)?(?:call|ref\\.func) (${NAME.source})`, 'g'))].map((match) => match[1]);

/** Types of parameters, and the result as text. */
function signature(form) {
  const head = form.slice(form.indexOf('(func ')).split('\n')[0];
  const bare = head.replace(/\$"(?:[^"\\]|\\.)*"/g, '$q');
  const params = [...bare.matchAll(/\(param ([^()]*)\)/g)].flatMap(([, inside]) =>
    inside.trim().split(/\s+/).filter((word) => !word.startsWith('$')),
  );
  return { params, result: bare.match(/\(result [^()]*\)/)?.[0] ?? '' };
}

const typeUse = (f) => `${f.params.length > 0 ? `(param ${f.params.join(' ')})` : ''} ${f.result}`;

/** Tells the module about the second file. */
function joinModules(folder, stem) {
  const file = join(folder, `${stem}.js`);
  const bytes = readFileSync(join(folder, `${stem}_later.wasm`));
  const integrity = `sha384-${createHash('sha384').update(bytes).digest('base64')}`;
  const changes = [
    [/(return \{\s*__proto__: null,\s*)("\.\/app[^"]*": import0,)/, '$1"later": { __fetch_later: laterNow },\n        $2'],
    [/(await __wbg_load\([^;]*;\n)/, '$1    await laterFirst?.then((bytes) => joinLater(bytes, instance.exports));\n'],
  ];
  let js = readFileSync(file, 'utf8');
  for (const [place, words] of changes) {
    if (js.match(new RegExp(place, 'g'))?.length !== 1) throw new Error(`${file}: not once: ${place}`);
    js = js.replace(place, words);
  }
  js += `
const LATER = new URL('./${stem}_later.wasm', import.meta.url);
const inPage = typeof document === 'object';
const fetchLater = async () => (await fetch(LATER, { integrity: '${integrity}' })).arrayBuffer();
const joinLater = (bytes, first) => WebAssembly.instantiate(bytes, { f: first });
/** A scenario in the address may need any function from the start; who comes again has the file already. */
const laterFirst = inPage && (location.hash.length > 1 || navigator.serviceWorker?.controller) ? fetchLater() : undefined;
if (inPage && !laterFirst) {
    // Without it, the first function that needs it fetches it.
    const fill = () => fetchLater().then((bytes) => joinLater(bytes, wasm)).catch(() => {});
    addEventListener('TrunkApplicationStarted', () => setTimeout(fill, 3000));
}
function laterNow() {
    const request = new XMLHttpRequest();
    request.open('GET', LATER, false);
    request.overrideMimeType('text/plain; charset=x-user-defined');
    try {
        request.send();
    } catch {}
    if (request.status !== 200) throw new WebAssembly.RuntimeError('a file of the simulator could not be loaded');
    const bytes = Uint8Array.from(request.responseText, (letter) => letter.charCodeAt(0));
    new WebAssembly.Instance(new WebAssembly.Module(bytes), { f: wasm });
}
`;
  writeFileSync(file, js);
}

/** Instead of splitting: every place of a function marks a byte of its own when it is reached (for later.mjs). */
export function countWasm(folder) {
  const { name, forms } = disassembled(folder);
  copyFileSync(join(folder, name), join(folder, 'later.wasm'));
  const memory = forms.findIndex((form) => form.startsWith('(memory '));
  const [, memoryName, pages] = forms[memory].match(/^\(memory (\S+) (\d+)/);
  const base = Number(pages) * 65_536;
  let at = 0;
  const counts = [];
  const counted = forms.map((form) => {
    if (!form.startsWith('(func ')) return form;
    const marked = withMarks(form, base + at);
    at += marked.count;
    counts.push(marked.count);
    return marked.form;
  });
  counted[memory] = `(memory ${memoryName} ${Number(pages) + Math.ceil(at / 65_536)})`;
  assembled(counted, join(folder, name));
  writeFileSync(join(folder, 'later.json'), JSON.stringify({ base, counts }));
}
