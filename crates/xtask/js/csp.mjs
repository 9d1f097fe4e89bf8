// Writes the Content-Security-Policy into the built index.html and embed.html.
//
// The simulator's policy allows exactly one inline script, the module that Trunk appends, by its hash. The poster
// has none and runs no WebAssembly. What a policy would refuse (inline styles, event attributes) is refused here
// already, at build time.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The policies go into the pages in `folder`. */
export function writePolicies(folder) {
  protect(join(folder, 'index.html'), 1, (hashes) => [
    "default-src 'none'",
    `script-src 'self' 'wasm-unsafe-eval' ${hashes.join(' ')}`,
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
  ]);
  protect(join(folder, 'embed.html'), 0, () => [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
  ]);
}

/** `policy` is given the hashes of the inline scripts, of which there have to be as many as `expected`. */
function protect(file, expected, policy) {
  const html = readFileSync(file, 'utf8');
  const fail = (words) => {
    throw new Error(`${file}: ${words}`);
  };

  const inline = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map((match) => match[1]);
  if (inline.length !== expected) fail(`expected inline scripts: ${expected}, found: ${inline.length}`);

  const forbidden = html.match(/<style[\s>]|<[^>]+\s(?:style|on[a-z]+)=/);
  if (forbidden) fail(`the policy refuses inline styles and handlers: ${forbidden[0]}`);

  const hashes = inline.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`);
  const anchor = /<meta charset="utf-8"\s*\/?>/i;
  if (!anchor.test(html)) fail('no <meta charset="utf-8"> to put the policy after');
  const meta = `<meta http-equiv="Content-Security-Policy" content="${policy(hashes).join('; ')}" />`;
  writeFileSync(file, html.replace(anchor, (charset) => `${charset}\n    ${meta}`));
}
