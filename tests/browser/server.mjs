// A static file server for the built page: the one behind `cargo xtask serve` and the browser tests.
//
//   node tests/browser/server.mjs FOLDER [--port N]
//
// Listens on this machine only. Without --port it takes 8080 or the next free port. The tests make it behave like
// servers elsewhere (see `serve`). Leaves out caching and directory listings: it serves a build, it does not
// publish one.
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';

const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.csv': 'text/csv; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  // Streaming compilation refuses any other type.
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
};
/** Compressed bodies, over all servers: compressing takes a second a MB, so each file is done once. */
const packed = new Map();
const PACKED = new Set(['.css', '.html', '.js', '.json', '.svg', '.txt', '.wasm']);

/**
 * Serves `folder` under `base` and resolves to { server, url, log } once it listens. Port 0 is any free one.
 *
 * How it behaves, each off unless said: `bare`, types by the ends of names and no other header, and no type for
 * WebAssembly, like the simplest of servers; `brotli`; `cors`, any origin may read; `headers`, more of them; `wasmType`
 * instead of the right one; `pages`, texts by path that stand before the folder's files (or { text, headers }); `without`, a pattern
 * of paths that are not found.
 * `log` fills with an entry { path, bytes } for each answer: bytes as they went over the wire, headers included.
 */
export async function serve(folder, { port = 0, base = '/', ...manner } = {}) {
  const site = { root: folder && resolve(folder), base, log: [], ...manner };
  const server = createServer((request, response) => answer(site, request, response));
  await new Promise((listening, failed) => {
    server.once('error', failed);
    server.listen(port, '127.0.0.1', listening);
  });
  return { server, url: `http://127.0.0.1:${server.address().port}${base}`, log: site.log };
}

async function answer(site, request, response) {
  const before = request.socket.bytesWritten;
  response.on('finish', () => site.log.push({ path: request.url, bytes: request.socket.bytesWritten - before }));
  const refuse = (status, words) => response.writeHead(status, { 'content-type': 'text/plain' }).end(`${words}\n`);
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405, 'GET only');
  const found = await find(site, request.url);
  if (!found) return refuse(404, 'not found');
  const pack = site.brotli && found.file && PACKED.has(found.type) && /\bbr\b/.test(request.headers['accept-encoding'] ?? '');
  const body = pack ? compressed(found) : found.bytes;
  response.writeHead(200, {
    ...headers(site, found.type),
    ...found.headers,
    ...(pack && { 'content-encoding': 'br', vary: 'accept-encoding' }),
    'content-length': body.length,
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

function headers(site, type) {
  if (site.bare) return type in TYPES && type !== '.wasm' ? { 'content-type': TYPES[type].split(';')[0] } : {};
  return {
    'content-type': (type === '.wasm' && site.wasmType) || (TYPES[type] ?? 'application/octet-stream'),
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    ...(site.cors && { 'access-control-allow-origin': '*' }),
    ...site.headers,
  };
}

/** What a request names, as { bytes, type }, or null. */
async function find(site, url) {
  const path = locate(site.base, url);
  if (path === null || site.without?.test(path)) return null;
  const page = site.pages?.[path];
  if (page !== undefined) return { bytes: Buffer.from(page.text ?? page), type: extname(path), headers: page.headers };
  if (!site.root) return null;
  const file = resolve(site.root, `./${path}`);
  if (!file.startsWith(site.root + sep)) return null;
  const info = await stat(file).catch(() => null);
  return info?.isFile() ? { bytes: await readFile(file), type: extname(file), file, changed: info.mtimeMs } : null;
}

/** A request's path below `base`, with a folder's page named, or null. */
function locate(base, url) {
  let path;
  try {
    path = decodeURIComponent(new URL(url, 'http://localhost').pathname);
  } catch {
    return null;
  }
  if (!path.startsWith(base) || path.includes('\0')) return null;
  const rest = path.slice(base.length);
  return rest === '' || rest.endsWith('/') ? `${rest}index.html` : rest;
}

function compressed({ file, changed, bytes }) {
  const key = `${changed} ${file}`;
  if (!packed.has(key)) {
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    packed.set(key, brotliCompressSync(bytes, { params }));
  }
  return packed.get(key);
}

async function main([folder, ...options]) {
  if (!folder || (options.length > 0 && options[0] !== '--port')) {
    console.error('usage: node tests/browser/server.mjs FOLDER [--port N]');
    process.exit(2);
  }
  const ports = options.length > 0 ? [Number(options[1])] : Array.from({ length: 20 }, (_, n) => 8080 + n);
  for (const port of ports) {
    try {
      const { url } = await serve(folder, { port });
      console.log(`Bioscope is served at ${url} (Ctrl-C ends it)`);
      return;
    } catch (error) {
      if (error.code !== 'EADDRINUSE' || port === ports.at(-1)) {
        console.error(`port ${port}: ${error.message}`);
        process.exit(1);
      }
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
