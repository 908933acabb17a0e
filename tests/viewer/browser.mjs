// Pages in Chromium, without a network: every panel is drawn, the console stays empty, the
// selection is shown, keys and pointer work, nothing is wider than a phone: browser.mjs FOLDER
// KINDS.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { Browser } from "./chromium.mjs";

const [folder, kinds] = process.argv.slice(2);
const browser = new Browser(`${folder}/profile`);

/// What holds for every page.
async function checkPage(name) {
  await browser.settle();
  assert.deepEqual(browser.complaints, [], name);
  assert.equal(await browser.run("document.documentElement.dataset.errors"), "0", name);
  const found = await browser.run(`({
    over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    unnamed: [...document.querySelectorAll("button, select, input, canvas, [tabindex]")].filter((one) => !one.hidden && one.id !== "panels" && !(one.ariaLabel || one.textContent.trim())).map((one) => one.outerHTML.slice(0, 80)),
    blank: [...document.querySelectorAll("canvas")].filter((one) => one.offsetParent && (() => {
      const copy = new OffscreenCanvas(one.width, one.height).getContext("2d", { willReadFrequently: true });
      copy.drawImage(one, 0, 0);
      return !copy.getImageData(0, 0, one.width, one.height).data.some((byte) => byte > 0);
    })()).map((one) => one.dataset.panel),
    small: [...document.querySelectorAll("body *")].filter((one) => one.offsetParent && one.childElementCount === 0 && one.textContent.trim() && parseFloat(getComputedStyle(one).fontSize) < 11).map((one) => one.outerHTML.slice(0, 80)),
  })`);
  assert.deepEqual(found, { over: 0, unnamed: [], blank: [], small: [] }, name);
}
const open = async (file, fragment, options) => {
  await browser.open(`${folder}/${file}.html`, fragment, options);
  await checkPage(`${file}#${fragment} ${JSON.stringify(options ?? {})}`);
};
const text = (selector) =>
  browser.run(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? null`);
const count = (selector) => browser.run(`document.querySelectorAll(${JSON.stringify(selector)}).length`);
const state = (key) => browser.run(`torcView.state.${key}`);
const kCtrl = 2;
const kTabs = ["links", "choice", "measured", "dependences", "rank", "text"];

try {
  const simulated = JSON.parse(readFileSync(`${folder}/a.simulate.json`));
  await open("a", "");
  assert.equal(await browser.run("document.documentElement.dataset.ops"), "144");
  assert.equal(await text("#proof"), "proved at 1 cell of nodes for every count");
  assert.match(
    await text("#prediction"),
    new RegExp(`^64K on generic: ${(simulated.makespan_s * 1e6).toPrecision(4).replace(/\.?0+$/, "")} µs`),
  );
  for (const tab of kTabs) {
    for (const options of [{}, { width: 390, height: 844 }, { dark: true }]) {
      await open("a", `tab=${tab}`, options);
      assert.equal(await browser.run(`document.getElementById("${tab}").hidden`), false);
    }
  }
  assert.equal(await browser.run("getComputedStyle(document.body).backgroundColor"), "rgb(20, 23, 26)");

  // The fragment selects; so do the text, the timeline, and keys along the critical path.
  await open("a", "op=5&tab=text");
  assert.match(await text("#selected"), /^%5 = recv_reduce/);
  assert.match(await text(".row.chosen"), /%5 = recv_reduce/);
  await browser.press("Escape");
  assert.equal(await text("#selected"), null);
  for (const step of simulated.critical_path.slice(0, 4)) {
    await browser.press("n");
    assert.ok((await text("#selected")).startsWith(`%${step.operation} = `), `step %${step.operation}`);
  }
  await browser.press("p");
  assert.ok((await text("#selected")).startsWith(`%${simulated.critical_path[2].operation} = `));
  assert.match(await browser.run("location.hash"), /op=\d+/);
  await browser.press("/");
  await browser.send("Input.insertText", { text: "%7" });
  await browser.press("Enter");
  assert.match(await text("#selected"), /^%7 = /);
  await browser.press("Escape");
  const [x, y] = await browser.middleOf(".row.op");
  await browser.click(x, y);
  assert.equal(await count(".row.chosen"), 1);

  // Zoom, and back.
  const [, , left, top, width] = await browser.middleOf("canvas[data-panel='4']");
  const view = () => browser.run("torcView.panels.time.view.end - torcView.panels.time.view.begin");
  const whole = await view();
  await browser.press("w");
  assert.ok((await view()) < whole);
  const turn = async (x, y, modifiers) => {
    const more = { deltaX: 0, deltaY: -400, button: "none", buttons: 0, modifiers };
    await browser.mouse("mouseWheel", x, y, more);
    await browser.settle();
  };
  await turn(left + width / 2, top + 60, kCtrl);
  assert.ok((await view()) < 0.6 * whole);
  await browser.press("d", "a", "0");
  assert.equal(await view(), whole);
  await browser.run("scrollTo(0, scrollY + 60)");
  const scrolled = await browser.run("scrollY");
  await turn(left + width / 2, top + 60, 0);
  assert.equal(await view(), whole);
  await new Promise((resolve) => setTimeout(resolve, 500)); // it scrolls smoothly
  assert.ok((await browser.run("scrollY")) < scrolled);
  await browser.middleOf("canvas[data-panel='4']");
  // An operation of the first row of streams, and a moment of the ruler.
  await browser.press("Escape");
  const row = await browser.run("torcView.panels.time.places.find(({ row }) => row.type === 'stream')");
  await browser.click(left + 120, top + row.y + row.height / 2);
  assert.match(await text("#selected"), /send/);
  await browser.click(left + width - 40, top + 6);
  assert.ok((await state("time")) > 0.8 * whole);
  await browser.press("ArrowLeft");
  const before = await state("time");
  await browser.press("ArrowRight");
  assert.ok((await state("time")) > before);
  await browser.press(" ");
  assert.equal(await browser.run("torcView.playing"), true);
  await browser.press(" ");
  assert.equal(await browser.run("torcView.playing"), false);
  await checkPage("a, after all that");

  // A block is followed: by the fragment, a click, keys.
  await open("a", "chunk=0.2.1.1");
  assert.match(await text("#way"), /^Block of \(2, 1, 1\), color 0 \+: \d+ messages/);
  assert.ok((await count(".way li")) > 4);
  await browser.press("Shift+ArrowRight");
  assert.match(await browser.run("location.hash"), /chunk=0\.3\.1\.1/);
  await browser.run("document.querySelector('.way li button').click()");
  await browser.settle();
  assert.match(await text("#selected"), /send|copy/);
  await checkPage("a, a block");
  await browser.press("Escape");
  assert.equal(await state("chunk"), null);
  await browser.press("f", "f");
  assert.equal(await state("chunk.part"), 1);
  await browser.press("Escape");
  const [, , dataLeft, dataTop] = await browser.middleOf("canvas[data-panel='3']");
  const [map] = await browser.run("torcView.panels.data.places");
  await browser.click(dataLeft + map.left + map.w / 2, dataTop + map.top + map.h / 2);
  assert.equal(await browser.run("document.querySelector('.way').hidden"), false);
  await open("a", "chunk=9.2.1.1");
  assert.equal(await state("chunk"), null);

  // A box of dependences is opened, by keys; an operation in it is selected.
  await open("a", "tab=dependences");
  await browser.run("torcView.panels.dependences.canvas.focus()");
  await browser.press("ArrowRight", "ArrowRight", "ArrowDown");
  const chosen = "torcView.panels.dependences.chosen";
  assert.deepEqual(await browser.run(`[${chosen}.phase, ${chosen}.row]`), [1, 1]);
  await checkPage("a, an open box");
  const [, , openLeft, openTop] = await browser.middleOf("canvas[data-panel='opened']");
  const [op, [opX, opY]] = await browser.run("[...torcView.panels.dependences.opened.places][0]");
  await browser.click(openLeft + opX, openTop + opY);
  assert.equal(await state("op"), op);

  // Sorting, passes.
  await open("a", "tab=choice");
  const firstCell = () => text("#choice tbody td");
  const best = await firstCell();
  await browser.run("[...document.querySelectorAll('#choice th button')][0].click()");
  assert.notEqual(await firstCell(), best);
  await open("a", "tab=text");
  await browser.run(
    "[...document.querySelectorAll('.passes button')].find((one) => one.textContent.includes('coalesce')).click()",
  );
  await checkPage("a, a pass");
  assert.ok((await count(".row.added")) > 0 && (await count(".row.removed")) > 0);

  // Faults select their operations.
  await open("fault", "");
  assert.match(await text("#proof"), /^not proved: \d+ fault/);
  await browser.run("document.querySelector('[data-fault]').click()");
  await browser.settle();
  assert.match(await text("#selected"), /^%4 = send/);
  assert.match(await text(".row.chosen.fault"), /%4 = send/);

  for (let kind = 0; kind < Number(kinds); ++kind) {
    await open(`kind${kind}`, "nodes=1");
    await browser.press("f", "Shift+ArrowRight");
    await checkPage(`kind${kind}, followed`);
    await open(`kind${kind}`, "tab=dependences", { width: 390, height: 844 });
  }
  await open("all", "tab=compare&file=2");
  assert.equal(await count("#compared-times tbody tr"), 3 * Number(kinds));
  const stacked = "torcView.panels.compare.timelines";
  assert.equal(
    await browser.run(`${stacked}.bands.length`),
    await browser.run("torcView.schedules.filter(({ data }) => data.prediction.runs[0].events).length"),
  );
  assert.ok((await count("#compared-links tbody tr")) >= 6);
  const span = await browser.run(`${stacked}.view.end`);
  await browser.run(`${stacked}.canvas.focus()`);
  await browser.press("w");
  assert.ok((await browser.run(`${stacked}.view.end - ${stacked}.view.begin`)) < 0.7 * span);
  await browser.press("0");
  assert.equal(await browser.run(`${stacked}.view.end`), span);
  // The wheel zooms with Ctrl around the pointer; without, what is around the timelines scrolls.
  await browser.run("scrollTo(0, 0)");
  const [bandX, bandY] = await browser.middleOf("canvas[data-panel='compare']");
  const bandView = () => browser.run(`[${stacked}.view.begin, ${stacked}.view.end]`);
  const timeAt = () =>
    browser.run(`${stacked}.timeAt(${bandX} - ${stacked}.canvas.getBoundingClientRect().left)`);
  const under = await timeAt();
  await turn(bandX, bandY, kCtrl);
  const [begin, end] = await bandView();
  assert.ok(0 < begin && begin < under && under < end && end - begin < 0.6 * span);
  assert.ok(Math.abs((await timeAt()) - under) < 1e-9 * span);
  const scrolledBy = () => browser.run(`scrollY + ${stacked}.root.scrollTop`);
  const [bandsDown, bandsView] = [await scrolledBy(), await bandView()];
  await turn(bandX, bandY, 0);
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.ok((await scrolledBy()) < bandsDown);
  assert.deepEqual(await bandView(), bandsView);
  await open("all", "tab=compare", { width: 390, height: 844 });
  await open("table", "");
  assert.equal(await text("#table tbody strong"), "2");
  await open("table", "", { width: 390, height: 844, dark: true });
  await open("one", "tab=choice");
  await open("zeros", "");
  await open("lib", "");
  await open("lib", "", { width: 390, height: 844, dark: true });

  // Sizes. Limits are generous: others may be at work.
  const timed = async (name, expression) => {
    const took = await browser.run(
      `(() => { const begin = performance.now(); for (let i = 0; i < 20; ++i) { ${expression}; } return (performance.now() - begin) / 20; })()`,
    );
    console.log(`${name}: ${took.toFixed(1)} ms`);
    return took;
  };
  for (const [file, most] of [
    ["large", 3000],
    ["many", 15000],
  ]) {
    await open(file, "");
    const took = Number(await browser.run("document.documentElement.dataset.loadMs"));
    console.log(`${file}: ${await browser.run("torcView.schedule.count")} operations, opened in ${took} ms`);
    assert.ok(took < most);
    await timed(
      `${file}, a frame of all panels`,
      "torcView.playing = true; torcView.state.time = torcView.run.span * i / 20; torcView.redraw(); torcView.draw(); torcView.playing = false",
    );
    await timed(
      `${file}, a frame of the timeline`,
      "torcView.panels.time.zoom(0.9); torcView.panels.time.draw()",
    );
  }
  await open("turn", "nodes=1");
  assert.ok(
    (await timed(
      "8x8x8, a frame while it turns",
      "torcView.panels.torus.allNodes.turn += 0.02; torcView.panels.torus.draw()",
    )) < 200,
  );
  // It is turned by the pointer, with thin lines until that lets go.
  const [nodesX, nodesY] = await browser.middleOf("canvas[data-panel='2']");
  const allNodes = (key) => browser.run(`torcView.panels.torus.allNodes.${key}`);
  const turned = await allNodes("turn");
  await browser.mouse("mousePressed", nodesX, nodesY);
  await browser.mouse("mouseMoved", nodesX + 50, nodesY);
  await browser.settle();
  assert.ok((await allNodes("turn")) > turned);
  assert.equal(await allNodes("turns"), true);
  await browser.mouse("mouseReleased", nodesX + 50, nodesY);
  await browser.settle();
  assert.equal(await allNodes("turns"), false);
  const frames = await browser.run(
    `new Promise((done) => {
      const nodes = torcView.panels.torus.allNodes;
      nodes.turns = true;
      let count = 0;
      const begin = performance.now();
      const next = () => {
        nodes.turn += 0.02;
        torcView.panels.torus.draw();
        const seconds = (performance.now() - begin) / 1000;
        if (seconds > 2) done(count / seconds);
        else ++count, requestAnimationFrame(next);
      };
      next();
    })`,
  );
  console.log(`8x8x8, while it turns: ${frames.toFixed(0)} frames a second`);
  console.log("pages open");
} finally {
  await browser.close();
}
