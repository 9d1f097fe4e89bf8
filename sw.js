// The service worker: lets the simulator start without a network after a first visit.
//
// Models: nothing.
// Rule: the network comes first, so whoever can reach the server sees its newest page; what is kept is one whole
// build, each file held against its hash, never a mixture of two. Beside that some of our own pages, as they are
// read. Whatever else lies under our path is another's: its requests pass by here untouched.
// Leaves out: frames. They are other sites' pages, and a poster or a panel there tells its own story.

// Filled in by the build (crates/xtask/js/offline.mjs).
const BUILD = '';
const FILES = {};

// One origin may hold several copies of Bioscope, each under its own path.
const OURS = `bioscope ${registration.scope} `;
const NAME = OURS + BUILD;

/** What is kept as it is read. At an origin's root everything is under our path, so it is named. */
const EXTRA = /^(embed\.html$|book\/|p\/|static\/)/;
/** The book and all presets have fewer files than this. */
const MAX_EXTRAS = 300;

addEventListener('install', (event) => event.waitUntil(install()));
addEventListener('activate', (event) => event.waitUntil(dropOldBuilds()));

addEventListener('fetch', (event) => {
  const { request } = event;
  const path = address(request);
  if (path !== null) event.respondWith(answer(event, path));
});

async function install() {
  const cache = await caches.open(NAME);
  const requests = Object.entries(FILES).map(([path, integrity]) => {
    // A name with a hash never changes its meaning, so the browser's own copy will do.
    const settled = /-[0-9a-f]{16}[._]/.test(path);
    return new Request(path, { integrity, cache: settled ? 'default' : 'no-cache' });
  });
  // All of them or none: a build that is being replaced on the server is left for the next visit.
  await cache.addAll(requests);
  await skipWaiting();
}

async function dropOldBuilds() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(OURS) && name !== NAME).map((name) => caches.delete(name)));
}

async function answer(event, path) {
  const { request } = event;
  let response;
  try {
    // A page may lie in the browser's own cache for minutes; the server is asked whether it still holds.
    response = await (request.mode === 'navigate' ? fetch(request, { cache: 'no-cache' }) : fetch(request));
  } catch (error) {
    const cache = await caches.open(NAME);
    const kept = await cache.match(path, { ignoreSearch: true, ignoreVary: true });
    if (kept) return kept;
    throw error;
  }
  if (!listed(path) && !request.url.includes('?') && mayKeep(response)) event.waitUntil(keep(path, response.clone()));
  return response;
}

/** Is it a file of the build, kept when the worker was installed? */
function listed(path) {
  return `./${path.slice(registration.scope.length)}` in FILES;
}

/** Under which address a request's answer is kept; null for a request that is none of our business. */
function address(request) {
  const { method, destination, headers } = request;
  if (method !== 'GET' || ['iframe', 'frame'].includes(destination)) return null;
  if (headers.has('authorization') || /text\/event-stream/i.test(headers.get('accept'))) return null;
  const [path] = request.url.split(/[?#]/);
  if (!path.startsWith(registration.scope)) return null;
  if (path === `${registration.scope}index.html`) return registration.scope;
  return listed(path) || EXTRA.test(path.slice(registration.scope.length)) ? path : null;
}

/** Another program may have a folder of the same name; what it gives to one reader only is left alone. */
function mayKeep({ status, type, redirected, headers }) {
  const has = (name, words) => words.test(headers.get(name) ?? '');
  if (status !== 200 || type !== 'basic' || redirected) return false;
  return !has('cache-control', /no-store|private/i) && !has('content-type', /^text\/event-stream/i) && !has('vary', /\*/);
}

async function keep(path, response) {
  const cache = await caches.open(NAME);
  await cache.put(path, response);
  // In the order in which they came.
  const extras = (await cache.keys()).filter(({ url }) => !listed(url));
  await Promise.all(extras.slice(0, -MAX_EXTRAS).map((request) => cache.delete(request)));
}
