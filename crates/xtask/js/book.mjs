// Finishes the built book: pictures for its scenes, and a policy for each page.
//
//   node crates/xtask/js/book.mjs BOOK BIOSCOPE
//
// A chapter holds plain <bio-scope> elements. Each becomes a picture of its moment, drawn by the command BIOSCOPE,
// with a start button (docs/theme/bioscope.js) and the element in a template: what a figure shows is there before a
// click, on paper, and without scripts.
//
// The policy allows the page's inline scripts by their hashes, and frames of this site only. What it would refuse
// (inline styles, event attributes) is refused here already; mdBook's one inline style is a class of the book's style
// sheet instead.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { attributesOf, elementFragment } from './html.mjs';

const [book, bioscope] = process.argv.slice(2);
if (!bioscope) fail('usage', 'node crates/xtask/js/book.mjs BOOK BIOSCOPE');

/** Widths of the pictures in CSS pixels, and the widest window that gets the narrow one. */
const WIDE = 940;
const NARROW = 380;
const NARROW_UP_TO = 700;

const pages = readdirSync(book, { recursive: true }).filter((name) => name.endsWith('.html'));
if (pages.length === 0) fail(book, 'no page');
mkdirSync(join(book, 'figures'), { recursive: true });
for (const page of pages) {
  const file = join(book, page);
  const html = readFileSync(file, 'utf8').replaceAll('<div style="clear: both"></div>', '<div class="clear-both"></div>');
  writeFileSync(file, withPolicy(file, withPictures(file, html)));
}
console.log(`${pages.length} pages of the book, ${readdirSync(join(book, 'figures')).length} pictures`);

function withPictures(file, html) {
  return html.replaceAll(/<bio-scope([^>]*)>([\s\S]*?)<\/bio-scope>/g, (element, attributes, inside) => {
    const named = attributesOf(attributes);
    const title = named.get('title');
    if (!title) fail(file, `a scene without title: ${element}`);
    const fragment = elementFragment(named);
    const shades = ['light', 'dark'].map((theme) => {
      const [wide, narrow] = [WIDE, NARROW].map((width) => drawn(fragment, title, theme, width));
      return `<picture class="for-${theme}"><source media="(max-width: ${NARROW_UP_TO}px)" srcset="${narrow.src}" width="${narrow.width}" height="${narrow.height}"><img src="${wide.src}" width="${wide.width}" height="${wide.height}" alt="" loading="lazy"></picture>`;
    });
    // Two pictures, one of them shown: the name stands once, with the button.
    const button = `<button type="button" class="start" aria-label="Start: ${escaped(title)}"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M3 1.5v13L14 8z"></path></svg>Start</button>`;
    return `<div class="scene" role="group" aria-label="${escaped(title)}">${shades.join('')}${button}<template><bio-scope${attributes}></bio-scope></template><p class="full">${inside.trim()}</p></div>`;
  });
}

/** The picture of a moment: address from the book's folder, and size. */
function drawn(fragment, title, theme, width) {
  const name = `${createHash('sha256').update(`${fragment} ${title}`).digest('hex').slice(0, 12)}-${theme}-${width}.svg`;
  const file = join(book, 'figures', name);
  if (!existsSync(file)) {
    const words = ['render', fragment, '--title', title, '--theme', theme, '--width', String(width), '-o', file];
    const { status, stderr, error } = spawnSync(bioscope, words, { encoding: 'utf8' });
    if (error) throw error;
    if (status !== 0 || stderr !== '') fail(fragment, `bioscope ${words.join(' ')}: ${stderr}`);
  }
  const size = readFileSync(file, 'utf8').match(/<svg[^>]*?\swidth="([\d.]+)"[^>]*?\sheight="([\d.]+)"/);
  if (!size) fail(file, 'a picture without its size');
  return { src: `figures/${name}`, width: Math.round(size[1]), height: Math.round(size[2]) };
}

function withPolicy(file, html) {
  const forbidden = html.match(/<style[\s>]|<[^>]+\s(?:style|on[a-z]+)=/);
  if (forbidden) fail(file, `the policy refuses inline styles and handlers: ${forbidden[0]}`);
  const inline = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map((match) => match[1]);
  const hashes = [...new Set(inline)].map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  const policy = [
    "default-src 'none'",
    ["script-src 'self'", ...hashes].join(' '),
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
  ].join('; ');
  const anchor = /<meta charset="utf-8"\s*\/?>/i;
  if (!anchor.test(html)) fail(file, 'no <meta charset="utf-8"> to put the policy after');
  return html.replace(anchor, (meta) => `${meta}\n        <meta http-equiv="Content-Security-Policy" content="${policy}">`);
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
}

function fail(where, words) {
  console.error(`book: ${where}: ${words}`);
  process.exit(1);
}
