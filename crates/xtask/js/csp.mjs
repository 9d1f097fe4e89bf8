// Trunk's post_build hook: writes the Content-Security-Policy into the built index.html.
//
// The policy allows exactly one inline script, the module that Trunk appends, by its hash. What it
// would refuse (inline styles, event attributes) is refused here already, at build time.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const file = join(process.env.TRUNK_STAGING_DIR ?? 'dist', 'index.html');
const html = readFileSync(file, 'utf8');

const inline = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map((match) => match[1]);
if (inline.length !== 1) fail(`expected Trunk's one inline script, found ${inline.length}`);

const forbidden = html.match(/<style[\s>]|<[^>]+\s(?:style|on[a-z]+)=/);
if (forbidden) fail(`the policy refuses inline styles and handlers: ${forbidden[0]}`);

const hash = createHash('sha256').update(inline[0]).digest('base64');
const policy = [
  "default-src 'none'",
  `script-src 'self' 'wasm-unsafe-eval' 'sha256-${hash}'`,
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
].join('; ');

const anchor = /<meta charset="utf-8"\s*\/?>/i;
if (!anchor.test(html)) fail('no <meta charset="utf-8"> to put the policy after');
writeFileSync(file, html.replace(anchor, (meta) => `${meta}\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`));

function fail(words) {
  console.error(`csp: ${file}: ${words}`);
  process.exit(1);
}
