// The service worker: lets the simulator start without a network after a first visit.
//
// Models: nothing.
// Rule: the network comes first, so whoever can reach the server sees its newest page; what is kept is one whole
// build, each file held against its hash, never a mixture of two.
// Leaves out: frames. They are other sites' pages, and a poster or a panel there tells its own story.

// Filled in by the build (crates/xtask/js/offline.mjs).
const BUILD = '';
const FILES = {};

// One origin may hold several copies of Bioscope, each under its own path.
const OURS = `bioscope ${registration.scope} `;
const NAME = OURS + BUILD;

addEventListener('install', (event) => event.waitUntil(install()));
addEventListener('activate', (event) => event.waitUntil(dropOldBuilds()));

addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET' || ['iframe', 'frame'].includes(request.destination)) return;
  if (!request.url.startsWith(registration.scope)) return;
  event.respondWith(answer(event));
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

async function answer(event) {
  const { request } = event;
  const path = address(request);
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
  // Pages beside the simulator, such as the book's, are kept as they are read.
  const extra = !(`./${path.slice(registration.scope.length)}` in FILES) && !path.includes('?');
  if (extra && response.status === 200 && !response.redirected) {
    const copy = response.clone();
    event.waitUntil(caches.open(NAME).then((cache) => cache.put(path, copy)));
  }
  return response;
}

/** Under which address a request's answer is kept. */
function address(request) {
  const url = request.url.split('#')[0];
  const [path, query] = url.split('?');
  if (path === `${registration.scope}index.html`) return registration.scope;
  return query === undefined || path === registration.scope ? path : url;
}
