// Pictures of the page for a person to look at: both themes, desk and phone, paused and playing.
//
//   node tests/browser/shots.mjs [FRAGMENT]      writes out/shots/*.png
//
// No judgement in here; axe and the flows judge.
import { mkdirSync } from 'node:fs';
import { positionals, withBrowser } from './harness.mjs';

const FOLDER = 'out/shots';
const fragment = positionals[0] ?? '#v=1&p=smr-seq-write&iodepth=64&t=2s';
const SCREENS = {
  desk: { viewport: { width: 1440, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 },
};

mkdirSync(FOLDER, { recursive: true });
await withBrowser(async (visit) => {
  for (const [screen, settings] of Object.entries(SCREENS)) {
    for (const colorScheme of ['dark', 'light']) {
      const player = await visit({ fragment, colorScheme, ...settings });
      await player.open();
      const shoot = (state) => player.page.screenshot({ path: `${FOLDER}/${screen}-${colorScheme}-${state}.png` });
      await shoot('paused');
      await player.get('play').click();
      await new Promise((resume) => setTimeout(resume, 2000));
      await shoot('playing');
      for (const error of player.errors) console.log(`${screen} ${colorScheme}: ${error}`);
      await player.context.close();
    }
  }
});
console.log(`pictures in ${FOLDER}/`);
