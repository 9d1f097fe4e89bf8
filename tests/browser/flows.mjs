// The few things that every visitor does, in a real browser: open, play, step, scrub, change, share.
//
// Numbers are judged elsewhere (native tests, `bioscope validate`); here only what needs a browser.
import { check, equal, pause, runCases } from './harness.mjs';

const PRESET = '#v=1&p=smr-seq-write';
const DEPTHS = [1, 2, 4, 8, 16, 32, 64, 128];
/** MiB/s as published with the patch series that introduced zoned_qd1_writes, by depth. */
const PUBLISHED = {
  baseline: [244, 244, 245, 242, 222, 211, 193, 112],
  patched: [245, 245, 245, 245, 246, 245, 244, 246],
};
/** Devices without a head, and policies; the settings that make them what they are. */
const NULL_BLK = '#v=1&drive=null_blk&zoned=1&rw=write&bs=4KiB&iodepth=64&zonemode=zbd&zone_size=1MiB&capacity=16MiB&size=16MiB&runtime=20ms&irqmode=2&completion_nsec=100us&t=0.005s';
const FLASH = '#v=1&drive=flash&zoned=1&rw=write&bs=128KiB&iodepth=32&zonemode=zbd&zone_size=64MiB&capacity=8GiB&size=2GiB&zone_nr_conv=4&zone_readonly=20&zone_offline=21&runtime=1s&t=0.2s';
const WBT = '#v=1&drive=cmr-8tb&rw=randread&iodepth=4&bs=4KiB&wbt_lat_usec=2ms&runtime=2s&t=1s';
const SWEEP_MS = 120_000;
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

function countAnimationFrames() {
  window.framesRequested = 0;
  const request = window.requestAnimationFrame;
  window.requestAnimationFrame = (callback) => {
    window.framesRequested += 1;
    return request.call(window, callback);
  };
}

function refuseWorkers() {
  window.Worker = class {
    constructor() {
      throw new DOMException('workers are refused here', 'SecurityError');
    }
  };
}

async function clockMoves(player, words) {
  const before = await player.text('clock');
  await player.untilText('clock', (text) => text !== before, words);
}

async function clockRests(player, words) {
  const before = await player.text('clock');
  await pause(500);
  equal(await player.text('clock'), before, words);
}

/** The tables of a lane, opened. */
async function openTables(player, side) {
  const lane = player.get(`lane-${side}`);
  if ((await lane.locator('.tables table').count()) === 0) await lane.locator('summary').first().click();
  await lane.locator('.tables table').first().waitFor();
  return lane.locator('.tables');
}

/** Pure red pixels of run A's canvas: what gzbd-viewer paints where a zone is written. */
async function countRed(player) {
  return player.get('lane-a').locator('canvas').evaluate((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let n = 0;
    for (let i = 0; i < data.length; i += 4) n += data[i] === 255 && data[i + 1] === 0 && data[i + 2] === 0 && data[i + 3] === 255;
    return n;
  });
}

/** The sweep's table as rows of numbers, columns by their headings. */
async function sweepTable(player) {
  return player.get('sweep-table').evaluate((element) => {
    const table = element.matches('table') ? element : element.querySelector('table');
    const cells = (row) => [...row.cells].map((cell) => cell.textContent.trim());
    return { head: cells(table.tHead.rows[table.tHead.rows.length - 1]), rows: [...table.tBodies[0].rows].map(cells) };
  });
}

const number = (text) => (/\d/.test(text) ? Number.parseFloat(text.replaceAll(',', '')) : Number.NaN);

/**
 * Runs the sweep that the page offers and waits until every setting has a number for both sides. The table has columns
 * of published figures where there are any (`sources`: for both sides, else for none).
 */
async function finishSweep(player, settings, sources = true) {
  await player.get('sweep-run').click();
  await player.get('sweep-table').waitFor({ state: 'attached' });
  const { head } = await sweepTable(player);
  const columns = (word, expected) => {
    const found = head.flatMap((title, index) => (title.includes(word) ? [index] : []));
    equal(found.length, expected, `columns "${word}" for A and B in sweep-table among ${JSON.stringify(head)}`);
    return found;
  };
  const [published, simulated] = [columns('published', sources ? 2 : 0), columns('simulated', 2)];
  const complete = async () => {
    const { rows } = await sweepTable(player);
    const done = rows.filter((row) => simulated.every((index) => Number.isFinite(number(row[index]))));
    return done.length === settings.length;
  };
  await player.until(complete, `sweep-table has ${settings.length} complete rows`, SWEEP_MS);
  const { rows } = await sweepTable(player);
  const column = (index) => rows.map((row) => number(row[index]));
  return { settings: column(0), published: published.map(column), simulated: simulated.map(column) };
}

await runCases({
  async open(visit) {
    const player = await visit();
    check((await player.page.title()).includes('Bioscope'), 'the title names Bioscope');
    for (const testid of ['lane-a', 'lane-b', 'play', 'scrub', 'clock', 'why-list']) {
      check(await player.get(testid).isVisible(), `${testid} is visible`);
    }
    const overflow = await player.page.evaluate(() => {
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } = document.documentElement;
      return [scrollWidth - clientWidth, scrollHeight - clientHeight];
    });
    equal(overflow.join(), '0,0', 'a desktop page does not scroll');
  },

  async 'play and pause'(visit) {
    const player = await visit({ init: countAnimationFrames });
    await clockRests(player, 'the page opens paused');
    await player.get('play').click();
    await clockMoves(player, 'advances while playing');
    await player.get('play').click();
    await pause(300);
    await clockRests(player, 'a paused clock rests');
    const frames = () => player.page.evaluate(() => window.framesRequested);
    check((await frames()) > 0, 'playing requests animation frames');
    const before = await frames();
    await pause(1000);
    equal(await frames(), before, 'a paused page requests no animation frames');
  },

  async keyboard(visit) {
    const player = await visit();
    await player.page.keyboard.press('Space');
    await clockMoves(player, 'advances after the space key');
    await player.page.keyboard.press('Space');
    await pause(300);
    await clockRests(player, 'the space key pauses');
    const event = await player.eventNumber();
    await player.page.keyboard.press('ArrowRight');
    await player.until(async () => (await player.eventNumber()) === event + 1, 'the right arrow steps one event');
    await player.page.keyboard.press('ArrowLeft');
    await player.until(async () => (await player.eventNumber()) === event, 'the left arrow steps back');
  },

  async step(visit) {
    const player = await visit({ fragment: `${PRESET}&t=2s` });
    const event = await player.eventNumber();
    check(event > 0, 'at 2 s some events have happened');
    await player.get('step').click();
    await player.until(async () => (await player.eventNumber()) === event + 1, `step shows event ${event + 1}`);
    await player.get('step-back').click();
    await player.until(async () => (await player.eventNumber()) === event, `step back shows event ${event}`);
    await player.get('step-back').click();
    await player.until(async () => (await player.eventNumber()) === event - 1, `step back shows event ${event - 1}`);
    await player.until(async () => /&t=1\.\d+s/.test(await player.location()), 'the address has the moment stepped to');
  },

  async scrub(visit) {
    const player = await visit({ fragment: `${PRESET}&t=2s` });
    const opened = await player.text('clock');
    await player.get('scrub').focus();
    await player.page.keyboard.press('End');
    const end = await player.untilText('clock', (text) => text !== opened, 'jumps to the end');
    await player.page.keyboard.press('Home');
    await player.untilText('clock', (text) => text !== opened && text !== end, 'jumps to the start');
    equal(await player.eventNumber(), 0, 'the start is before the first event');
  },

  async 'change a setting, reload'(visit) {
    const player = await visit({ fragment: PRESET });
    const before = await player.hash('a');
    await player.setField('iodepth', '16');
    await player.until(async () => (await player.location()).includes('iodepth=16'), 'the address follows iodepth=16');
    await player.waitReady();
    await player.untilText('hash-a', (text) => text !== before && /[0-9a-f]{16}/.test(text), 'changes with the setting');
    const state = await player.state();
    await player.reload();
    equal(await player.get('field-iodepth').inputValue(), '16', 'the field after a reload');
    equal(await player.state(), state, 'clock, event and hashes after a reload');
  },

  async 'an edit keeps the moment'(visit) {
    const player = await visit({ fragment: `${PRESET}&t=2s` });
    await player.get('scrub').focus();
    await player.page.keyboard.press('PageUp');
    const moment = await player.untilText('clock', (text) => !text.startsWith('2.000'), 'leaves the moment of the link');
    await player.setField('iodepth', '16');
    await player.until(async () => (await player.location()).includes('iodepth=16'), 'the address follows iodepth=16');
    await player.waitReady();
    equal(await player.text('clock'), moment, 'the moment after an edit');
    await player.page.getByRole('button', { name: 'Single' }).click();
    await player.until(async () => (await player.get('lane-b').count()) === 0, 'Single shows run A only');
    await player.waitReady();
    equal(await player.text('clock'), moment, 'the moment with one run');
    await player.get('preset').selectOption('smr-rand-zones');
    await player.untilText('clock', (text) => text !== moment, 'another preset has its own moment');
  },

  async 'reload at a moment'(visit) {
    const player = await visit({ fragment: `${PRESET}&iodepth=8&t=1.5s` });
    const state = await player.state();
    await player.reload();
    equal(await player.state(), state, 'clock, event and hashes after a reload');
  },

  async share(visit) {
    const player = await visit({ fragment: `${PRESET}&t=2s` });
    await player.get('step').click();
    await player.get('share').click();
    const link = await player.get('share-url').inputValue();
    check(link.startsWith(`${player.url}#v=1&`) && /[&#]t=2/.test(link), `share-url is the full link with t=, found ${link}`);
    const state = await player.state();
    const other = await visit({ fragment: link.slice(player.url.length) });
    equal(await other.state(), state, 'clock, event and hashes of the shared link');
  },

  async 'the link goes away'(visit) {
    const player = await visit({ fragment: PRESET });
    const [link, head] = [player.get('share-url'), player.get('lane-a')];
    const gone = (words) => player.until(async () => (await link.count()) === 0, words);
    const open = async () => {
      await player.get('share').click();
      await link.waitFor();
    };
    await open();
    const [box, lane] = [await link.boundingBox(), await head.boundingBox()];
    check(box.y + box.height <= lane.y, 'the link covers nothing of run A');
    await player.page.keyboard.press('Escape');
    await gone('Escape closes it');
    await open();
    await link.click();
    check(await link.isVisible(), 'a click on it leaves it open');
    await player.get('share-close').click();
    await gone('its button closes it');
    equal(await player.page.evaluate(() => document.activeElement.id), 'share', 'the focus after closing');
    await open();
    await player.page.evaluate(() => {
      const field = document.querySelector('[data-testid=field-iodepth]');
      field.value = '8';
      field.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await gone('an edit closes it');
  },

  async sweep(visit) {
    const player = await visit({ fragment: `${PRESET}&sw=iodepth:${DEPTHS}` });
    const { settings, published, simulated } = await finishSweep(player, DEPTHS);
    equal(settings.join(), DEPTHS.join(), 'settings of the sweep');
    equal(published[0].join(), PUBLISHED.baseline.join(), 'published baseline');
    equal(published[1].join(), PUBLISHED.patched.join(), 'published patched');
    for (const [side, values] of Object.entries([PUBLISHED.baseline, PUBLISHED.patched])) {
      values.forEach((value, row) => {
        const error = simulated[side][row] / value - 1;
        check(Math.abs(error) < 0.3, `depth ${DEPTHS[row]}, side ${side}: ${simulated[side][row]} is not near ${value}`);
      });
    }
    check(player.workers > 0, 'the sweep runs in workers');
  },

  async 'fetched words'(visit) {
    const player = await visit({ fragment: PRESET });
    const help = () => player.page.getAttribute('label[for=field-iodepth]', 'title');
    await player.until(async () => (await help())?.includes('in flight'), 'a label has its help');
    check((await player.page.innerText('.left .look-for')).includes('crosses into the next zone'), 'what to look for');
    check((await player.text('sweep-source')).includes('commit log'), 'the source of the published figures');
  },

  async 'no words to fetch'(visit) {
    const refuse = () => {
      const { fetch } = window;
      window.fetch = (what, ...rest) => (String(what).includes('words') ? Promise.reject(new TypeError('refused')) : fetch(what, ...rest));
    };
    const player = await visit({ fragment: `${PRESET}&sw=iodepth:1,64`, init: refuse });
    await player.until(async () => (await player.page.innerText('.left .look-for')).includes('could not be loaded'), 'the page says so');
    equal(await player.page.getAttribute('label[for=field-iodepth]', 'title'), null, 'a label without help');
    await finishSweep(player, [1, 64], false);
    check((await player.text('sweep-source')).includes('could not be loaded'), 'and that in words');
    await player.setField('iodepth', '4');
    await player.until(async () => (await player.location()).includes('iodepth=4'), 'the page works on');
  },

  async 'sweep without workers'(visit) {
    const depths = [1, 64];
    const player = await visit({ fragment: `${PRESET}&sw=iodepth:${depths}`, init: refuseWorkers });
    const { settings } = await finishSweep(player, depths);
    equal(settings.join(), depths.join(), 'settings of the sweep');
  },

  async 'several seeds'(visit) {
    const player = await visit({ fragment: `${PRESET}&sw=iodepth:1,64&sw2=bs:1MiB,512KiB&seeds=2` });
    check((await player.text('sweep-second')).includes('bs'), 'the chart says that it leaves the second sweep out');
    await finishSweep(player, [1, 64]);
    await player.untilText('sweep-progress', (text) => text.includes('8 runs, mean of seeds 1 to 2'), 'counts the runs', SWEEP_MS);
  },

  async 'texts for documents'(visit) {
    const player = await visit({ fragment: `${PRESET}&iodepth=8&t=2s` });
    await player.get('share').click();
    const text = player.get('share-text');
    const parts = {
      'Markdown link': '](',
      'HTML element': '<bio-scope scenario="',
      'HTML frame': '<iframe src="',
      reStructuredText: '.. raw:: html',
      Docusaurus: 'useColorMode',
    };
    for (const [form, part] of Object.entries(parts)) {
      await player.get('share-as').selectOption(form);
      await player.until(async () => (await text.inputValue()).includes(part), `${form} has ${part}`);
      const plain = (await text.inputValue()).replaceAll('&amp;', '&');
      check(plain.includes('v=1&p=smr-seq-write&iodepth=8&t=2s'), `${form} has the whole link: ${plain}`);
    }
    equal(await player.get('share-short').count(), 0, 'an edited preset has no page of its own');
    const [download] = await Promise.all([player.page.waitForEvent('download'), player.get('share-file').click()]);
    equal(download.suggestedFilename(), 'smr-seq-write-2s.bioscope', 'name of the file');
    const plain = await visit({ fragment: PRESET });
    await plain.get('share').click();
    check((await plain.get('share-short').getAttribute('href')).endsWith('/p/smr-seq-write.html'), 'a preset has its page');
  },

  async 'clipboard refused'(visit) {
    const init = () => {
      Object.defineProperty(navigator, 'clipboard', { value: { writeText: () => Promise.reject(new DOMException('refused')) } });
    };
    const player = await visit({ fragment: PRESET, init });
    await player.get('share').click();
    await player.get('share-copy').click();
    const selected = () => player.page.evaluate(() => {
      const field = document.activeElement;
      return field.id === 'share-text' && field.selectionEnd - field.selectionStart === field.value.length;
    });
    await player.until(selected, 'the text stands selected');
  },

  async fork(visit) {
    const player = await visit({ fragment: `${PRESET}&t=2s` });
    await player.get('fork').click();
    await player.until(async () => (await player.location()).includes('b.at=2s'), 'the address has the fork');
    await player.waitReady();
    check((await player.text('lane-b')).includes('zoned_qd1_writes=1 from 2 s'), `run B's words: ${await player.text('lane-b')}`);
    check((await player.text('clock')).startsWith('2.000'), 'the moment stays');
    await player.get('play').click();
    await player.untilText('hash-b', (text) => text !== '', 'is there');
    await pause(1000);
    await player.get('play').click();
    await player.until(async () => /&t=2\.\d/.test(await player.location()), 'the address has the moment');
    const state = await player.state();
    await player.reload();
    equal(await player.state(), state, 'clock, event and hashes after a reload');
    await player.get('field-iodepth').focus();
    const fixed = player.page.locator('.row', { has: player.get('field-iodepth') }).locator('.tools button');
    check(await fixed.last().isDisabled(), 'iodepth cannot differ in a fork');
    check((await fixed.last().getAttribute('title')).includes('needs a new run'), 'and says why');
    await player.get('unfork').click();
    await player.until(async () => !(await player.location()).includes('b.at'), 'the fork is gone from the address');
  },

  async 'submission steps'(visit) {
    const player = await visit({ fragment: '#v=1&p=raid456-split&t=0s' });
    const counter = (words) => player.untilText('event-counter', (text) => text.startsWith(words), words);
    await counter('step 0 of 8');
    for (const step of [1, 2, 3]) {
      await player.get('submission').click();
      await counter(`step ${step} of 8`);
    }
    await player.get('submission-back').click();
    await counter('step 2 of 8');
    await player.get('submission-back').click();
    await counter('step 1 of 8');
    await player.page.keyboard.press('s');
    await counter('step 2 of 8');
    equal(await player.page.getByTestId('fork').count(), 0, 'nothing to fork while I/O runs');
  },

  async 'tags, wait queues and schedulers'(visit) {
    // What the tables of both runs' panels say.
    const SCENES = [
      ['hdd-async-depth', 'Wait queues, wake_batch 1,', 'Wait queues, wake_batch 8,'],
      ['hdd-async-depth-sata', 'mq-deadline', 'mq-deadline'],
      ['bfq-fairness', 'mq-deadline', 'bfq'],
      ['kyber-latency', 'ctx lists', 'READ'],
      ['nullb-hw-depth', 'Tag maps', 'Tag maps'],
    ];
    for (const [preset, ...words] of SCENES) {
      const player = await visit({ fragment: `#v=1&p=${preset}` });
      const lanes = player.page.locator('.lane');
      equal(await lanes.count(), 2, `lanes of ${preset}`);
      for (const [n, expected] of words.entries()) {
        await lanes.nth(n).locator('summary').first().click();
        const tables = () => lanes.nth(n).locator('.tables').first().innerText();
        await player.until(async () => (await tables()).includes(expected), `${preset}, run ${'AB'[n]} has "${expected}"`);
      }
      const before = await player.eventNumber();
      await player.get('step').click();
      await player.until(async () => (await player.eventNumber()) > before, `${preset} steps`);
    }
  },

  async 'the scheduler and nr_requests are changed'(visit) {
    const player = await visit({ fragment: '#v=1&p=hdd-async-depth-sata&b=0' });
    for (const scheduler of ['bfq', 'kyber', 'none', 'mq-deadline']) {
      const before = await player.hash('a');
      await player.get('field-scheduler').selectOption(scheduler);
      await player.until(async () => (await player.hash('a')) !== before, `${scheduler} gives another run`);
    }
    const before = await player.hash('a');
    await player.setField('nr_requests', '16');
    await player.until(async () => (await player.hash('a')) !== before, 'nr_requests gives another run');
  },

  async 'order and queue scenes on small screens'(visit) {
    const SCREENS = [{ width: 1366, height: 768 }, { width: 1280, height: 720 }, { width: 820, height: 1180 }, PHONE.viewport];
    const cases = SCREENS.flatMap((viewport) => ['raid5-dd', 'hdd-async-depth'].map((preset) => ({ viewport, preset })));
    for (const { viewport, preset } of cases) {
      const player = await visit({ fragment: `#v=1&p=${preset}`, viewport });
      const boxes = await player.page.evaluate(() =>
        [...document.querySelectorAll('.lane')].map((lane) => {
          const [own, canvas] = [lane, lane.querySelector('canvas')].map((e) => e.getBoundingClientRect());
          return { lane: own.bottom, canvas: canvas.bottom };
        }),
      );
      equal(boxes.length, 2, 'lanes');
      for (const box of boxes) {
        check(box.canvas <= box.lane + 1, `a lane of ${preset} keeps to its place at ${viewport.width} px: ${JSON.stringify(box)}`);
      }
    }
  },

  async 'back and forward'(visit) {
    const player = await visit({ fragment: PRESET });
    await player.setField('iodepth', '16');
    await player.get('preset').selectOption('smr-rand-zones');
    await player.until(async () => (await player.location()).includes('smr-rand-zones'), 'the address follows the preset');
    await player.page.goBack();
    await player.until(async () => (await player.get('field-iodepth').inputValue()) === '16', 'back is the edited preset');
    equal(await player.get('preset').inputValue(), 'smr-seq-write', 'the preset after going back');
    await player.page.goForward();
    await player.until(async () => (await player.get('preset').inputValue()) === 'smr-rand-zones', 'forward is the other again');
  },

  async 'open a file'(visit) {
    const player = await visit({ fragment: PRESET });
    const file = (name, text) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
    await player.get('open-file').setInputFiles(file('good.bioscope', 'v=1\np=smr-seq-write\niodepth=8 # as found\nt=1.5s\n'));
    await player.until(async () => (await player.location()).includes('iodepth=8'), 'the address follows the file');
    await player.waitReady();
    check((await player.text('clock')).startsWith('1.500'), 'the moment of the file');
    const state = await player.state();
    await player.get('open-file').setInputFiles(file('bad.bioscope', 'v=1\np=smr-seq-write\niodepth=banana\n'));
    await player.untilText('diagnostics', (text) => text.includes('banana') && text.includes('3'), 'names the mistake and its line');
    equal(await player.state(), state, 'the run stays');
    await player.page.goBack();
    await player.until(async () => !(await player.location()).includes('iodepth=8'), 'opening a file is an entry of its own');
    await player.waitReady();
    const drop = (text) => player.page.evaluate((words) => {
      const data = new DataTransfer();
      data.items.add(new File([words], 'dropped.bioscope'));
      document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data }));
    }, text);
    await drop('v=1\np=smr-seq-write\niodepth=4\n');
    await player.until(async () => (await player.location()).includes('iodepth=4'), 'the address follows the dropped file');
  },

  async 'some of the panels'(visit) {
    const player = await visit({ fragment: `${PRESET}&view=drive,why&t=2s` });
    check(!(await player.get('sweep-run').count()), 'the chart is not shown');
    check(await player.get('why-list').isVisible(), 'the reasons are');
    const state = await player.state();
    await player.get('all-panels').click();
    await player.get('sweep-run').waitFor();
    equal(await player.state(), state, 'the moment stays');
    await player.until(async () => !(await player.location()).includes('view='), 'the address has no panels any more');
    await visit({ fragment: `${PRESET}&view=throughput` }).then(async (charts) => {
      equal(await charts.get('lane-a').count(), 0, 'no lane where none is asked for');
    });
  },

  async 'in a frame of its own'(visit) {
    const fragment = `${PRESET}&iodepth=16&t=2s`;
    const player = await visit({ query: '?embed=1', fragment, viewport: { width: 700, height: 400 } });
    equal(await player.get('share').count() + (await player.get('field-iodepth').count()), 0, 'no form and no share button');
    await player.get('step').click();
    await pause(600);
    equal(await player.location(), fragment, 'the address is left alone');
    const href = await player.get('open-full').getAttribute('href');
    check(/^\.\/index\.html#v=1&p=smr-seq-write&iodepth=16&t=2/.test(href) && !href.endsWith('t=2s'), `the link has the moment: ${href}`);
    for (const [width, height] of [[280, 180], [320, 200], [700, 400], [1400, 700]]) {
      await player.page.setViewportSize({ width, height });
      await pause(200);
      const over = await player.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      check(over <= 0, `${width} px: nothing is wider than the frame`);
      check(await player.get('play').isVisible(), `${width} px: play is there`);
    }
    const playing = await visit({ query: '?embed=1&play=1&theme=light', fragment, colorScheme: 'dark' });
    await clockMoves(playing, 'advances by itself with play=1');
    equal(await playing.page.evaluate(() => document.documentElement.dataset.theme), 'light', 'the theme of the address');
  },

  async 'bad address'(visit) {
    const player = await visit({ fragment: `${PRESET}&iodepth=banana&bs=-3&nosuch=1` });
    const words = await player.text('diagnostics');
    for (const part of ['iodepth', 'banana', 'bs', 'nosuch']) check(words.includes(part), `diagnostics name ${part}: ${words}`);
    for (const key of ['iodepth', 'bs']) check((await player.text(`msg-${key}`)) !== '', `msg-${key} has words`);
    await player.get('play').click();
    await clockMoves(player, 'advances all the same');
  },

  async 'bad value typed'(visit) {
    const player = await visit({ fragment: PRESET });
    await player.setField('iodepth', 'banana');
    await player.untilText('msg-iodepth', (text) => text !== '', 'has words');
    check(!(await player.location()).includes('banana'), 'the address keeps the last good value');
    await player.setField('iodepth', '4');
    await player.until(async () => (await player.location()).includes('iodepth=4'), 'the address follows iodepth=4');
    const messages = player.get('msg-iodepth');
    await player.until(async () => (await messages.count()) === 0 || (await messages.innerText()) === '', 'the message goes');
  },

  async phone(visit) {
    const player = await visit({ fragment: PRESET, ...PHONE });
    const overflow = () => player.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    check((await overflow()) <= 0, 'nothing is wider than a phone');
    check(!(await player.get('field-iodepth').isVisible()), 'the form is in the closed drawer');
    await player.get('drawer').tap();
    await player.until(() => player.get('field-iodepth').isVisible(), 'the drawer shows the form');
    check((await overflow()) <= 0, 'the open drawer is not wider than a phone');
    await player.page.keyboard.press('Escape');
    await player.until(async () => !(await player.get('field-iodepth').isVisible()), 'Escape closes the drawer');
    await player.until(() => player.page.locator('.brief .look-for').isVisible(), 'what to look for is on the first screen');
    for (const summary of await player.page.locator('summary').all()) await summary.tap();
    await player.page.locator('.tables table').first().waitFor();
    check((await overflow()) <= 0, 'open tables are not wider than a phone');
    await player.get('play').tap();
    await clockMoves(player, 'advances on a phone');
  },

  async 'a finger asks'(visit) {
    const player = await visit({ fragment: PRESET, ...PHONE });
    const tip = player.get('lane-a').locator('.tip');
    const stage = player.get('lane-a').locator('.stage');
    // The first chip of fio, near the top left corner.
    await stage.tap({ position: { x: 15, y: 52 } });
    await player.until(async () => (await tip.innerText()) !== '', 'a tap on a chip shows its words');
    await player.get('clock').tap();
    await player.until(async () => (await tip.textContent()) === '', 'a tap elsewhere hides them');
  },

  async 'reduced motion'(visit) {
    const player = await visit({ fragment: PRESET, reducedMotion: 'reduce' });
    await clockRests(player, 'the page opens paused');
    await player.get('play').click();
    await clockMoves(player, 'advances under reduced motion');
    equal(await player.page.evaluate(() => document.getAnimations().length), 0, 'running CSS animations');
  },

  async theme(visit) {
    const player = await visit({ colorScheme: 'dark' });
    const background = () => player.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await background();
    await player.page.emulateMedia({ colorScheme: 'light' });
    await player.until(async () => (await background()) !== dark, 'the page follows the system to light');
    check(await player.get('theme').isVisible(), 'theme is visible');
  },

  async policy(visit) {
    const player = await visit({ ready: false, errors: false });
    const ran = await player.page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'window.inlineScriptRan = true';
      document.head.append(script);
      return window.inlineScriptRan === true;
    });
    check(!ran, 'the policy refuses inline scripts other than the hashed one');
  },

  async 'null_blk: timers, locks and the map of zones'(visit) {
    const player = await visit({ fragment: `${NULL_BLK}&zone_ordering=zone_lock&scheduler=mq-deadline&b.zone_ordering=pipelined` });
    const tables = await openTables(player, 'a');
    const captions = async () => (await tables.locator('caption').allInnerTexts()).join('|');
    await player.until(async () => /null_blk, \d+ in flight, each takes 100 us; zone locks/.test(await captions()), 'the timers as a table');
    check((await captions()).includes('Zone locks'), `zone locks in place of plugs: ${await captions()}`);
    await player.until(async () => /zones, open \d+/.test(await captions()), 'zones as a table');
    check((await tables.innerText()).includes('IMP_OPEN'), 'conditions have the names of the kernel');
    const b = await openTables(player, 'b');
    await player.until(async () => (await b.locator('caption').allInnerTexts()).join('|').includes('pipelined'), 'run B has no locks');
    // A bar of the timeline says what it is.
    const stage = player.get('lane-a').locator('.stage');
    const tip = player.get('lane-a').locator('.tip');
    await player.get('lane-a').locator('summary').first().click();
    const box = await stage.boundingBox();
    let words = '';
    for (let x = 0.97; x > 0.6 && !words.includes('driver tag'); x -= 0.01) {
      for (let y = 0.15; y < 0.6 && !words.includes('driver tag'); y += 0.012) {
        await player.page.mouse.move(box.x + box.width * x, box.y + box.height * y);
        words = await tip.textContent();
      }
    }
    check(/zone \d+ at .* KiB, \d+ KiB, driver tag \d+: (its timer ends|done)/.test(words), `a bar says what it is: ${words}`);
    await player.get('play').click();
    await clockMoves(player, 'advances with timers');
  },

  async 'colours of gzbd-viewer'(visit) {
    const player = await visit({ fragment: `${NULL_BLK}&view=zonemap` });
    const button = player.get('gzbd');
    const red = () => countRed(player);
    equal(await button.getAttribute('aria-pressed'), 'false', 'off at first');
    equal(await red(), 0, 'red pixels at first');
    await button.click();
    await player.until(async () => (await red()) > 50, 'written is red');
    await player.reload();
    equal(await player.get('gzbd').getAttribute('aria-pressed'), 'true', 'remembered');
    check((await red()) > 50, 'and drawn');
    await player.get('gzbd').click();
    await player.until(async () => (await red()) === 0, 'off again');
    const linked = await visit({ query: '?zones=gzbd', fragment: `${NULL_BLK}&view=zonemap` });
    equal(await linked.get('gzbd').getAttribute('aria-pressed'), 'true', 'an address carries it');
    const plain = await visit({ fragment: PRESET });
    equal(await plain.get('gzbd').count(), 0, 'not there without a map of zones');
  },

  async 'flash: channels and dies'(visit) {
    const player = await visit({ fragment: FLASH });
    const tables = await openTables(player, 'a');
    await player.until(async () => /flash, busy: \d+ of 8 channels, \d+ of 32 dies/.test(await tables.innerText()), 'flash as a table');
    for (const word of ['NOT_WP', 'READONLY', 'OFFLINE']) check((await tables.innerText()).includes(word), `${word} is told`);
    equal(await player.page.locator('#parts-title').count(), 0, 'no card of a drive’s time where there is no head');
    await player.get('play').click();
    await clockMoves(player, 'advances with flash');
  },

  async 'policies of rq_qos'(visit) {
    const player = await visit({ fragment: WBT });
    const tables = await openTables(player, 'a');
    await player.until(async () => /rq_qos, wbt/.test(await tables.innerText()), 'policies appear by themselves');
    check(/limits: max, normal, background/.test(await tables.innerText()), 'limits are told');
    const without = await visit({ fragment: PRESET });
    const gate = await (await openTables(without, 'a')).innerText();
    check(gate.includes('rq_qos, no policy') && gate.includes('stopped at the gate'), 'without a policy there is only its gate');
  },

  async 'a link with live settings'(visit) {
    const player = await visit({ fragment: `${PRESET}&change=1.2s:nr_requests:16,1.9s:async_depth:8&t=1.25s` });
    const tables = await openTables(player, 'a');
    await player.until(async () => /nr_requests 16\s+frozen for 50\.0 ms/.test(await tables.innerText()), 'a freeze is on');
    check(/in zone plugs/.test(await tables.innerText()), 'what holds a reference is told');
    await player.get('scrub').focus();
    await player.page.keyboard.press('End');
    await player.until(async () => /nr_requests 16\s+took \d+/.test(await tables.innerText()), 'what it took is told');
    check((await player.get('lane-a').locator('.readouts .freeze').innerText()).includes('freeze'), 'and in the readouts');
  },

  async 'a setting written during play, and taken back'(visit) {
    const player = await visit({ fragment: `${PRESET}&t=1.5s` });
    await player.get('play').click();
    await clockMoves(player, 'advances while playing');
    await player.get('write-open-nr_requests').click();
    await player.get('write-nr_requests').fill('16');
    await player.get('write-a-nr_requests').click();
    await player.until(async () => /&change=1\.\d+s:nr_requests:16/.test(await player.location()), 'the address has the write');
    const written = Number.parseFloat((await player.location()).match(/change=([\d.]+)s/)[1]);
    check((await player.location()).includes('&b.change='), 'run B is left alone');
    await clockMoves(player, 'plays on after the write');
    const now = Number.parseFloat((await player.text('clock')).replaceAll(/\s/g, ''));
    check(now >= written, `the past is not lost: ${now} after ${written}`);
    await player.get('play').click();
    const tables = await openTables(player, 'a');
    await player.until(async () => (await tables.innerText()).includes('nr_requests 16'), 'the write is listed');
    equal(await player.get('write-nr_requests').count(), 0, 'its field is closed');
    await player.page.goBack();
    await player.until(async () => !(await player.location()).includes('change='), 'back takes the write back');
    await player.waitReady();
    await player.until(async () => !(await tables.innerText()).includes('nr_requests 16'), 'and the list is without it');
    await player.page.goForward();
    await player.until(async () => (await player.location()).includes('nr_requests:16'), 'forward writes it again');
  },

  async 'a write that is refused'(visit) {
    const player = await visit({ fragment: `${PRESET}&t=1.5s` });
    const before = await player.location();
    await player.get('write-open-nr_requests').click();
    await player.get('write-nr_requests').fill('many');
    await player.get('write-b-nr_requests').click();
    await player.untilText('msg-nr_requests', (text) => text.includes('EINVAL'), 'has the errno');
    equal(await player.location(), before, 'the address stays');
    await player.get('write-open-nr_requests').click();
    equal(await player.get('write-nr_requests').count(), 0, 'the field closes');
  },

  async 'nothing old is said while playing'(visit) {
    const player = await visit({ fragment: `${PRESET}&t=2s` });
    const said = player.page.locator('p.unseen[aria-live]');
    await player.until(async () => (await said.textContent()).startsWith('Paused at'), 'a paused moment is said');
    await player.get('play').click();
    await player.until(async () => (await said.textContent()) === '', 'and no longer while playing');
  },

  async 'no WebAssembly'(visit) {
    const player = await visit({ init: () => delete window.WebAssembly, ready: false, errors: false });
    await player.untilText('boot-failed', (text) => text.includes('WebAssembly'), 'explains that WebAssembly is needed');
  },

  async 'a file is missing'(visit) {
    const route = (page) => page.route('**/*.wasm', (request) => request.abort());
    const player = await visit({ route, ready: false, errors: false });
    await player.untilText('boot-failed', (text) => text.includes('could not be loaded'), 'explains that a file is missing');
  },

  async 'a trap'(visit) {
    const player = await visit({ errors: false });
    await player.page.evaluate(() => {
      dispatchEvent(new ErrorEvent('error', { error: new WebAssembly.RuntimeError('unreachable') }));
    });
    await player.untilText('boot-failed', (text) => text.includes('simulator stopped'), 'says that the simulator stopped');
  },
});
