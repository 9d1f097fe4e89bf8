// Without a network after a first visit, and with a newer build on the server.
//
// Each case has a copy of dist/ on a server of its own, so that the build can be replaced and the server stopped.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeServiceWorker } from '../../crates/xtask/js/offline.mjs';
import { DIST, check, equal, runCases } from './harness.mjs';
import { serve } from './server.mjs';

const FRAGMENT = '#v=1&p=smr-seq-write&iodepth=8&t=1.5s';

/** A copy of the built page, served; `replace` makes it another build, `stop` ends the server. */
async function site(base = '/some/path/', manner = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'bioscope-offline-'));
  cpSync(DIST, folder, { recursive: true });
  const { server, url, log } = await serve(folder, { base, ...manner });
  const change = (words) => {
    const index = join(folder, 'index.html');
    const html = readFileSync(index, 'utf8').replace(/(<meta name="description" content=)"[^"]*"/, `$1"${words}"`);
    writeFileSync(index, html);
  };
  return {
    url,
    log,
    change,
    replace(words) {
      change(words);
      writeServiceWorker('.', folder);
    },
    stop() {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function withSite(work) {
  return async (visit, host) => {
    const copy = await site();
    try {
      await work(copy, (settings) => visit({ at: copy.url, serviceWorkers: 'allow', ...settings }), host);
    } finally {
      copy.stop();
    }
  };
}

/** What tells the builds apart. */
const build = (player) => player.page.getAttribute('meta[name=description]', 'content');

const caches = (player) => player.page.evaluate(() => window.caches.keys());

/** The worker of the newest build is there and has taken over. */
async function untilKept(player, words) {
  const done = () =>
    player.page.evaluate(async () => {
      const registration = await navigator.serviceWorker.getRegistration();
      if (!registration?.active || registration.installing || registration.waiting) return false;
      return registration.active.state === 'activated' && (await window.caches.keys()).length === 1;
    });
  await player.until(done, words);
}

await runCases({
  'a second visit': withSite(async (copy, visit) => {
    const player = await visit({ fragment: FRAGMENT });
    await untilKept(player, 'the first visit keeps the build');
    const state = await player.state();
    await player.context.setOffline(true);
    const before = copy.log.length;
    await player.reload();
    equal(await player.state(), state, 'clock, event and hashes without a network');
    await player.page.goto(`${copy.url}index.html${FRAGMENT}`);
    await player.waitReady();
    equal(copy.log.length, before, 'answers of the server meanwhile');
    const help = () => player.page.getAttribute('label[for=field-iodepth]', 'title');
    await player.until(async () => (await help())?.includes('in flight'), 'fetched words are kept too');
  }),

  'a newer build': withSite(async (copy, visit) => {
    const player = await visit();
    await untilKept(player, 'the first visit keeps the build');
    const [old] = await caches(player);
    copy.replace('The second build');
    await player.reload();
    equal(await build(player), 'The second build', 'what the next visit shows');
    await player.until(async () => (await caches(player)).every((name) => name !== old), 'the first build is dropped');
    await untilKept(player, 'the second build is kept');
    await player.context.setOffline(true);
    await player.reload();
    equal(await build(player), 'The second build', 'what is shown without a network');
  }),

  'a build changed half-way': withSite(async (copy, visit) => {
    const player = await visit();
    await untilKept(player, 'the first visit keeps the build');
    const kept = await caches(player);
    const first = await build(player);
    copy.replace('The second build');
    copy.change('Neither the first nor the second');
    await player.reload();
    equal(await build(player), 'Neither the first nor the second', 'what the next visit shows');
    const failed = () => player.page.evaluate(async () => {
      const registration = await navigator.serviceWorker.getRegistration();
      return registration.active !== null && registration.installing === null && registration.waiting === null;
    });
    const asked = () => copy.log.filter(({ path }) => path.endsWith('/sw.js')).length;
    await player.until(async () => asked() === 2 && (await failed()), 'the second worker gives up');
    check((await caches(player)).includes(kept[0]), 'the first build is still kept');
    await player.context.setOffline(true);
    await player.reload();
    equal(await build(player), first, 'what is shown without a network is one whole build');
  }),

  'a page beside it': withSite(async (copy, visit) => {
    const player = await visit();
    await untilKept(player, 'the first visit keeps the build');
    await player.page.goto(`${copy.url}embed.html#v=1&p=smr-seq-write`);
    const look = await player.text('poster-look');
    await player.context.setOffline(true);
    await player.page.reload();
    equal(await player.text('poster-look'), look, 'a page that was read before, without a network');
  }),

  async 'another program at the same origin'(visit) {
    // At an origin's root everything is under the worker's path.
    const pages = {
      'other/index.html': '<!doctype html><title>Other</title>',
      'api/me': { text: '{"name":"somebody"}', headers: { 'cache-control': 'no-store' } },
      'nested/static/app.js': '1',
      'p/private.json': { text: '{}', headers: { 'cache-control': 'no-store' } },
      'p/events': { text: 'data: 1\n\n', headers: { 'content-type': 'text/event-stream' } },
    };
    for (let n = 0; n < 320; n++) pages[`static/many/${n}.txt`] = String(n);
    const copy = await site('/', { pages });
    try {
      // The fetch at the end has to fail.
      const player = await visit({ at: copy.url, serviceWorkers: 'allow', errors: false });
      await untilKept(player, 'the first visit keeps the build');
      // From here on requests go through the worker.
      await player.reload();
      const fetched = (path, settings) => player.page.evaluate(([p, s]) => fetch(p, s).then((r) => r.text()), [path, settings]);
      for (const path of ['/other/', '/api/me', '/nested/static/app.js']) await fetched(path);
      await fetched('/p/presets.js', { headers: { authorization: 'Basic eDp5' } });
      await fetched('/p/presets.js', { headers: { accept: 'text/event-stream' } });
      await fetched('/p/presets.js?for=somebody');
      await fetched('/p/private.json');
      await fetched('/p/events');
      await fetched('/p/smr-seq-write.html');
      const kept = () => player.page.evaluate(async () => {
        const [name] = await window.caches.keys();
        return (await (await window.caches.open(name)).keys()).map(({ url }) => new URL(url).pathname);
      });
      await player.until(async () => (await kept()).includes('/p/smr-seq-write.html'), 'a page of our own is kept');
      const foreign = (await kept()).filter((path) => /other|api|nested|private|events|presets/.test(path));
      equal(foreign.join(), '', 'files of others that are kept');
      await player.page.evaluate(async () => {
        for (let n = 0; n < 320; n++) await fetch(`/static/many/${n}.txt`);
      });
      const many = async () => (await kept()).filter((path) => path.includes('/many/'));
      await player.until(async () => (await many()).includes('/static/many/319.txt'), 'the newest is kept');
      await player.until(async () => (await many()).length === 300, 'no more than 300 are kept');
      await player.context.setOffline(true);
      const lost = await player.page.evaluate(() => fetch('/api/me').then(() => false, () => true));
      check(lost, 'what is another’s is not answered without a network');
      await player.reload();
    } finally {
      copy.stop();
    }
  },

  async 'not in a frame'(visit, host) {
    const player = await host({
      html: (url) => `<iframe width="800" height="450" src="${url}index.html?embed=1${FRAGMENT}"></iframe>`,
      serviceWorkers: 'allow',
    });
    const embed = await player.embed();
    await embed.waitReady();
    check(!player.asked().includes('sw.js'), 'the frame does not ask for the worker');
  },
});
