// Finishes the built book: each page gets a Content-Security-Policy of its own.
//
// The policy allows the page's inline scripts by their hashes and frames of this site only. What it would refuse
// (inline styles, event attributes) is refused here already; mdBook's one inline style is a class of the book's
// style sheet instead.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const BOOK = process.argv[2] ?? 'dist/book';

const pages = readdirSync(BOOK, { recursive: true }).filter((name) => name.endsWith('.html'));
if (pages.length === 0) fail(BOOK, 'no page');
for (const page of pages) {
  const file = join(BOOK, page);
  writeFileSync(file, finished(file, readFileSync(file, 'utf8')));
}
console.log(`${pages.length} pages of the book have their policy`);

function finished(file, source) {
  const html = source.replaceAll('<div style="clear: both"></div>', '<div class="clear-both"></div>');
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

function fail(file, words) {
  console.error(`book: ${file}: ${words}`);
  process.exit(1);
}
