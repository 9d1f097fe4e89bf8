// Accessibility: axe's whole rule set finds nothing, in each state that looks different, in both themes.
import { readFileSync } from 'node:fs';
import { check, runCases } from './harness.mjs';

const PRESET = '#v=1&p=smr-seq-write';
// Evaluated through the debugger: a script element would be refused by the page's policy.
const AXE = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');

const NULL_BLK = '#v=1&drive=null_blk&zoned=1&rw=write&bs=4KiB&iodepth=64&zonemode=zbd&zone_size=1MiB&capacity=16MiB&size=16MiB&runtime=20ms&irqmode=2&completion_nsec=100us&t=0.005s';

const STATES = {
  initial: { settings: {} },
  'paused at 2 s': { settings: { fragment: `${PRESET}&t=2s` } },
  'diagnostics shown': {
    settings: { fragment: `${PRESET}&iodepth=banana&bs=-3&nosuch=1` },
    enter: (player) => player.get('diagnostics').waitFor(),
  },
  'share panel': {
    settings: { fragment: `${PRESET}&t=2s` },
    enter: (player) => player.get('share').click(),
  },
  'order scene': { settings: { fragment: '#v=1&p=raid5-dd' } },
  'order scene on a phone': {
    settings: { fragment: '#v=1&p=raid456-split', viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  },
  'tags and wait queues': { settings: { fragment: '#v=1&p=hdd-async-depth' } },
  'tags and wait queues on a phone': {
    settings: { fragment: '#v=1&p=hdd-async-depth', viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  },
  'bfq': { settings: { fragment: '#v=1&p=bfq-fairness' } },
  'kyber': { settings: { fragment: '#v=1&p=kyber-latency' } },
  'null_blk': { settings: { fragment: `${NULL_BLK}&zone_ordering=zone_lock&scheduler=mq-deadline` } },
  'null_blk on a phone': { settings: { fragment: NULL_BLK, viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } },
  'zones in the colours of gzbd-viewer': { settings: { query: '?zones=gzbd', fragment: `${NULL_BLK}&view=zonemap` } },
  'flash': { settings: { fragment: '#v=1&drive=flash&zoned=1&rw=write&bs=128KiB&iodepth=32&zonemode=zbd&zone_size=64MiB&capacity=8GiB&size=2GiB&runtime=1s&t=0.2s' } },
  'rq_qos': { settings: { fragment: '#v=1&drive=cmr-8tb&rw=randread&iodepth=4&bs=4KiB&wbt_lat_usec=2ms&runtime=2s&t=1s' } },
  'a freeze, a setting about to be written': {
    settings: { fragment: `${PRESET}&change=1.2s:nr_requests:16&t=1.25s` },
    enter: (player) => player.get('write-open-nr_requests').click(),
  },
  'a write refused': {
    settings: { fragment: `${PRESET}&t=2s` },
    enter: async (player) => {
      await player.get('write-open-nr_requests').click();
      await player.get('write-nr_requests').fill('many');
      await player.get('write-a-nr_requests').click();
      await player.untilText('msg-nr_requests', (text) => text !== '', 'has words');
    },
  },
  'a check of an array': { settings: { fragment: '#v=1&p=raid6-check-36' } },
  fork: { settings: { fragment: `${PRESET}&b.at=1.2s&t=2s` } },
  'some of the panels': { settings: { fragment: `${PRESET}&view=drive,why&t=2s` } },
  'in a frame': { settings: { query: '?embed=1', fragment: `${PRESET}&t=2s`, viewport: { width: 700, height: 400 } } },
  'in a small frame': { settings: { query: '?embed=1', fragment: `${PRESET}&view=drive`, viewport: { width: 320, height: 200 } } },
  'a poster': { settings: { query: 'embed.html', fragment: `${PRESET}&iodepth=4`, ready: false, viewport: { width: 700, height: 400 } } },
  'a poster without a preset': { settings: { query: 'embed.html', ready: false, viewport: { width: 320, height: 200 } } },
  'phone, tables open': {
    settings: { fragment: PRESET, viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
    enter: async (player) => {
      for (const summary of await player.page.locator('summary').all()) await summary.tap();
      await player.page.locator('.tables table').first().waitFor();
    },
  },
  'phone, drawer open': {
    settings: { fragment: PRESET, viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
    enter: async (player) => {
      await player.get('drawer').tap();
      await player.get('field-iodepth').waitFor();
    },
  },
};

function accessible({ settings, enter }, colorScheme) {
  return async (visit) => {
    const player = await visit({ ...settings, colorScheme, reducedMotion: 'reduce' });
    if (enter) await enter(player);
    await player.page.evaluate(AXE);
    const violations = await player.page.evaluate(async () => (await window.axe.run()).violations);
    const words = violations.map(
      ({ id, help, nodes }) => `${id}: ${help}\n${nodes.map((node) => `  ${node.target}: ${node.any[0]?.message ?? node.html}`).join('\n')}`,
    );
    check(violations.length === 0, words.join('\n'));
  };
}

const cases = Object.entries(STATES).flatMap(([name, state]) =>
  ['dark', 'light'].map((scheme) => [`${name}, ${scheme}`, accessible(state, scheme)]),
);
await runCases(Object.fromEntries(cases));
