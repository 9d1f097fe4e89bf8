// Pictures of the page for a person to look at: both themes, desk and phone, paused and playing; frames and panels.
//
//   node tests/browser/shots.mjs [FRAGMENT]      writes out/shots/*.png
//
// No judgement in here; axe and the flows judge.
import { mkdirSync } from 'node:fs';
import { pause, positionals, withBrowser } from './harness.mjs';

const FOLDER = 'out/shots';
const fragment = positionals[0] ?? '#v=1&p=smr-seq-write&iodepth=64&t=2s';
const SCREENS = {
  desk: { viewport: { width: 1440, height: 900 } },
  middle: { viewport: { width: 1024, height: 768 } },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 },
};
const size = (width, height) => ({ viewport: { width, height }, query: '?embed=1' });
const FORK = '&b=0&b.zoned_qd1_writes=1&b.at=1.2s';
/** Name, settings of the visit, what to do first. */
const STATES = [
  ['share', { ...SCREENS.desk }, (player) => player.get('share').click()],
  ['share-phone', { ...SCREENS.phone }, (player) => player.get('share').tap()],
  ['fork', { ...SCREENS.desk, fragment: fragment + FORK }],
  ['some-panels', { ...SCREENS.desk, fragment: `${fragment}&view=drive,strip,why` }],
  ['no-lanes', { ...SCREENS.desk, fragment: `${fragment}&view=throughput,time` }],
  ['embed-280x180-drive', { ...size(280, 180), fragment: `${fragment}&view=drive` }],
  ['embed-320x200', size(320, 200)],
  ['embed-700x400', size(700, 400)],
  ['embed-800x450-fork', { ...size(800, 450), fragment: fragment + FORK }],
  ['embed-700x400-drive-strip', { ...size(700, 400), fragment: `${fragment}&view=drive,strip` }],
  ['embed-500x320-why', { ...size(500, 320), fragment: `${fragment}&view=why` }],
  ['embed-700x400-charts', { ...size(700, 400), fragment: `${fragment}&view=throughput,time` }],
  ['embed-1200x500', size(1200, 500)],
];

mkdirSync(FOLDER, { recursive: true });
await withBrowser(async (visit) => {
  const shoot = (player, name) => player.page.screenshot({ path: `${FOLDER}/${name}.png` });
  const close = async (player, name) => {
    for (const error of player.errors) console.log(`${name}: ${error}`);
    await player.context.close();
  };
  for (const colorScheme of ['dark', 'light']) {
    for (const [screen, settings] of Object.entries(SCREENS)) {
      const player = await visit({ fragment, colorScheme, ...settings });
      await player.open();
      await shoot(player, `${screen}-${colorScheme}-paused`);
      await player.get('play').click();
      await pause(2000);
      await shoot(player, `${screen}-${colorScheme}-playing`);
      await close(player, screen);
    }
    for (const [name, settings, act] of STATES) {
      const player = await visit({ fragment, colorScheme, ...settings });
      await player.open();
      await act?.(player);
      await pause(300);
      await shoot(player, `${name}-${colorScheme}`);
      await close(player, name);
    }
  }
});
console.log(`pictures in ${FOLDER}/`);
