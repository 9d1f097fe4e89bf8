// The page of every preset: leads to the simulator at the preset's moment, and its pictures are pictures.
//
//   node tests/browser/presets.mjs [PRESET]...
import { existsSync, readFileSync } from 'node:fs';
import { check, DIST, equal, runCases } from './harness.mjs';

const LIST = `${DIST}/p/presets.js`;
check(existsSync(LIST), `${LIST} names the presets; \`cargo xtask dist\` writes it`);
new Function(readFileSync(LIST, 'utf8'))();
const presets = globalThis.bioscopePresets;
check(Object.keys(presets).length >= 5, 'there are presets');

await runCases(Object.fromEntries(Object.keys(presets).map((name) => [name, (visit) => preset(name, visit)])));

async function preset(name, visit) {
  const there = await visit({ fragment: `#v=1&p=${name}` });
  const reader = await visit({ query: `p/${name}.html`, ready: false });
  const address = `${reader.url}#v=1&p=${name}`;
  await reader.until(() => reader.page.url().startsWith(address), `the page of ${name} goes on to ${address}`);
  await reader.waitReady();
  equal(await reader.state(), await there.state(), 'what the page leads to');
  // The clock groups its digits.
  const shown = Number((await reader.text('clock')).replace(/[^\d.]/g, ''));
  equal(shown, Number.parseFloat(presets[name].t), `the moment is ${presets[name].t}`);

  for (const [file, width, height] of [['.png', 1200, 630], ['-dark.svg', 800, 450], ['-light.svg', 800, 450]]) {
    const size = await reader.page.evaluate(async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      return `${image.naturalWidth} x ${image.naturalHeight}`;
    }, `p/${name}${file}`);
    equal(size, `${width} x ${height}`, `p/${name}${file}`);
  }
}
