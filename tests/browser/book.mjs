// Every chapter of the book: no error, nothing that its policy refuses, every scene starts and every control of a
// figure is obeyed. On a phone's width the start button has a place of its own.
//
//   node tests/browser/book.mjs [CHAPTER]...
import { existsSync, readdirSync } from 'node:fs';
import { check, dist, equal, runCases } from './harness.mjs';

const BOOK = `${dist}/book`;
const READY_MS = 30_000;

const chapters = existsSync(BOOK) ? readdirSync(BOOK).filter((name) => name.endsWith('.html') && name !== 'toc.html') : [];
check(chapters.length > 10, `${BOOK} holds the book; \`cargo xtask dist\` builds it`);

await runCases(Object.fromEntries(chapters.map((name) => [name.replace('.html', ''), (visit) => chapter(name, visit)])));

async function chapter(name, visit) {
  const reader = await visit({ query: `book/${name}`, ready: false, init: listen });
  const { page } = reader;
  check((await page.locator('main h1').count()) >= 1, 'the chapter has a heading');
  const figures = page.locator('figure', { has: page.locator('.scene') });
  await page.setViewportSize({ width: 390, height: 844 });
  for (const scene of await page.locator('.scene').all()) {
    // Seen and loaded first, and measured at one time: pictures come when they are scrolled to, and move what follows.
    await scene.scrollIntoViewIfNeeded();
    await pictures(reader, scene, 'a scene on a phone');
    const apart = await scene.evaluate((element) => {
      const picture = [...element.querySelectorAll('picture img')].find((img) => img.checkVisibility());
      const [above, middle, below] = [element.querySelector('.start'), picture, element.querySelector('.full')].map((part) => part.getBoundingClientRect());
      return above.bottom <= middle.top && middle.bottom <= below.top;
    });
    check(apart, 'on a phone nothing covers anything');
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  // One after the other, each taken out when it has been seen: a dozen runs at a time are too much for a test.
  for (let left = await figures.count(); left > 0; left -= 1) {
    const figure = figures.first();
    const scene = figure.locator('.scene');
    const what = `scene ${JSON.stringify(await scene.getAttribute('aria-label'))}`;
    await scene.scrollIntoViewIfNeeded();
    await pictures(reader, scene, what);
    check((await scene.locator('iframe').count()) === 0, `${what}: nothing is loaded before the start`);
    await scene.getByRole('button', { name: 'Start' }).click();
    await ready(reader, scene, what);
    const controls = figure.locator('.control a');
    const count = await controls.count();
    // From the one after what is shown already, which comes last.
    const first = await controls.evaluateAll((all) => all.findIndex((link) => link.classList.contains('now')) + 1);
    for (let n = 0; n < count; n += 1) {
      const control = controls.nth((first + n) % count);
      await scene.locator('bio-scope').evaluate((element) => delete element.dataset.ready);
      await control.click();
      equal(await figure.locator('.control .now').innerText(), await control.innerText(), `${what}: the control pressed`);
      await ready(reader, scene, `${what}, ${await control.innerText()}`);
    }
    await figure.evaluate((element) => element.remove());
  }
  check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the window');
}

/** Exactly one picture of a scene is shown, and it has loaded. */
async function pictures(reader, scene, what) {
  const shown = async () => {
    const widths = await scene.locator('picture img').evaluateAll((all) => all.filter((img) => img.checkVisibility()).map((img) => img.naturalWidth));
    return widths.length === 1 && widths[0] > 0;
  };
  await reader.until(shown, `${what} shows one picture`);
}

async function ready(reader, scene, what) {
  const told = () => scene.locator('bio-scope').evaluate((element) => element.dataset.ready === '1');
  await reader.until(told, `${what} says that it is ready`, READY_MS);
  check(await scene.locator('iframe').isVisible(), `${what} is seen`);
}

/** In every document: what a scene tells is kept on it, and its complaints become errors. */
function listen() {
  addEventListener('bioscope-ready', (event) => (event.target.dataset.ready = '1'));
  addEventListener('bioscope-error', (event) => console.error(`scene: ${event.detail.messages.join(' ')}`));
}
