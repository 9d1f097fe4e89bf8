// A static file server for the built page: the one behind `cargo xtask serve` and the browser tests.
//
//   node tests/browser/server.mjs FOLDER [--port N]
//
// Listens on this machine only. Without --port it takes 8080 or the next free port. Leaves out
// compression, caching and directory listings: it serves a build, it does not publish one.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

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
};

/** Serves `folder` under `base` and resolves to { server, url } once it listens. Port 0 is any free one. */
export async function serve(folder, { port = 0, base = '/' } = {}) {
  const root = resolve(folder);
  const server = createServer((request, response) => answer(root, base, request, response));
  await new Promise((listening, failed) => {
    server.once('error', failed);
    server.listen(port, '127.0.0.1', listening);
  });
  return { server, url: `http://127.0.0.1:${server.address().port}${base}` };
}

async function answer(root, base, request, response) {
  const refuse = (status, words) => response.writeHead(status, { 'content-type': 'text/plain' }).end(`${words}\n`);
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405, 'GET only');
  const file = locate(root, base, request.url);
  const info = file && (await stat(file).catch(() => null));
  if (!info?.isFile()) return refuse(404, 'not found');
  response.writeHead(200, {
    'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
    'content-length': info.size,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
  });
  if (request.method === 'HEAD') return response.end();
  createReadStream(file).on('error', () => response.destroy()).pipe(response);
}

/** The file that a request names, or null when it names none inside `root`. */
function locate(root, base, url) {
  let path;
  try {
    path = decodeURIComponent(new URL(url, 'http://localhost').pathname);
  } catch {
    return null;
  }
  if (!path.startsWith(base) || path.includes('\0')) return null;
  const rest = path.slice(base.length);
  const file = resolve(root, `./${rest === '' || rest.endsWith('/') ? `${rest}index.html` : rest}`);
  return file.startsWith(root + sep) ? file : null;
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
