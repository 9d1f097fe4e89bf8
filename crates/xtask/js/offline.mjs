// Writes dist/sw.js: the service worker with the files that the first use needs, each with its hash.
//
// The key of a build is a hash over that list, so a build that differs in any of the files replaces the one before.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Asked for by the running page, so index.html does not name them. */
const LATER = ['./static/boot.js', './static/words.json'];
const PLACE = /const BUILD = '';\nconst FILES = \{\};\n/;

export function writeServiceWorker(source, folder) {
  const template = readFileSync(join(source, 'sw.js'), 'utf8');
  if (!PLACE.test(template)) throw new Error('sw.js: no place for BUILD and FILES');

  const index = readFileSync(join(folder, 'index.html'), 'utf8');
  const named = [...index.matchAll(/\s(?:href|src)="(\.\/[^"]+)"/g)].map((match) => match[1]);
  const second = readdirSync(folder).filter((name) => name.endsWith('_later.wasm')).map((name) => `./${name}`);
  const files = {};
  // The page goes by its folder's address: some servers answer index.html with a redirection to that.
  for (const name of ['./', ...new Set([...named, ...second, ...LATER])]) {
    const bytes = readFileSync(join(folder, name === './' ? 'index.html' : name));
    files[name] = `sha256-${createHash('sha256').update(bytes).digest('base64')}`;
  }
  const build = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16);
  const values = `const BUILD = '${build}';\nconst FILES = ${JSON.stringify(files, null, 2)};\n`;
  writeFileSync(join(folder, 'sw.js'), template.replace(PLACE, () => values));
}
