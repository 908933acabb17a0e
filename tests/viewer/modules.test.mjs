// The viewer's pure functions.
import assert from "node:assert/strict";
import test from "node:test";

import { diffOf } from "../../viewer/core/diff.mjs";
import { bytesText, countText, digits, plural, reasonText, secondsText } from "../../viewer/core/format.mjs";
import { compressed, placeOf, projected, reachOf } from "../../viewer/core/geometry.mjs";
import { Schedule } from "../../viewer/core/schedule.mjs";
import { graphOf } from "../../viewer/panels/opened.mjs";
import { runsOf } from "../../viewer/panels/rank.mjs";
import { binned, extentOf, gapsOf, lanesOf, lastBegun, panned, ticksOf, zoomed } from "../../viewer/core/scale.mjs";
import { ratioBins } from "../../viewer/panels/measured.mjs";
import { logTicks } from "../../viewer/drawing/chart.mjs";

test("damage is a sentence", () => {
  const damage = (topology) => Object.getOwnPropertyDescriptor(Schedule.prototype, "damageText").get.call({ data: { topology } });
  assert.equal(damage({}), "");
  assert.equal(
    damage({ dead_nodes: [[1, 2]], dead_links: [{ from: [0, 0], axis: "X" }, { from: [3, 1], axis: "Y" }] }),
    "1 dead node (1, 2); 2 dead cables (0, 0) X, (3, 1) Y",
  );
});

test("numbers", () => {
  assert.equal(secondsText(355.23e-6), "355.2 µs");
  assert.equal(secondsText(0), "0");
  assert.equal(secondsText(2.5), "2.5 s");
  assert.equal(secondsText(3e-10), "0.3 ns");
  assert.equal(bytesText(1 << 20), "1M");
  assert.equal(bytesText(1000), "1000");
  assert.equal(bytesText(1536), "1.5K");
  assert.equal(countText(65536), "65,536");
  assert.equal(digits(1 / 3), "0.3333");
  assert.equal(plural(1, "box"), "1 box");
  assert.equal(plural(2, "box"), "2 boxes");
  assert.equal(reasonText("idle for 2.00 us, plus 1 use"), "idle for 2.00 µs, plus 1 use");
});

test("zoom keeps the time under the pointer in its place, and stays inside", () => {
  const view = zoomed({ begin: 0, end: 100 }, 0.5, 25, 100);
  assert.deepEqual(view, { begin: 12.5, end: 62.5 });
  assert.deepEqual(zoomed(view, 10, 50, 100), { begin: 0, end: 100 });
  assert.deepEqual(panned(view, 1000, 100), { begin: 50, end: 100 });
  assert.deepEqual(panned(view, -1000, 100), { begin: 0, end: 50 });
});

test("ticks are round", () => {
  assert.deepEqual(ticksOf(0, 100, 5), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(logTicks(1, 10, 10), [1, 2, 5, 10]);
  assert.deepEqual(logTicks(1, 8, 10, 2), [1, 2, 4, 8]);
  for (const [low, high] of [[0, 1], [-2, -1], [NaN, NaN], [1, Infinity]])
    assert.deepEqual(logTicks(low, high, 10), []);
  assert.deepEqual(extentOf(new Array(200000).fill(3)), [3, 3]);
});

test("no two intervals of a lane overlap", () => {
  const items = [
    [0, 5],
    [1, 3],
    [3, 4],
    [4, 9],
    [5, 6],
  ];
  const lanes = lanesOf(
    items,
    (item) => item[0],
    (item) => item[1],
    9,
  );
  assert.equal(lanes.length, 2);
  for (const lane of lanes) for (let i = 1; i < lane.length; ++i) assert.ok(lane[i - 1][1] <= lane[i][0]);
  assert.equal(
    lanesOf(
      items,
      (item) => item[0],
      (item) => item[1],
      1,
    ).length,
    1,
  );
  assert.equal(
    lastBegun(items, (item) => item[0], 3.5),
    2,
  );
  assert.equal(
    lastBegun(items, (item) => item[0], -1),
    -1,
  );
});

test("bins hold what intervals cover", () => {
  const bins = binned(
    [
      [0, 10],
      [5, 15, 2],
    ],
    0,
    20,
    4,
  );
  assert.deepEqual([...bins], [1, 3, 2, 0]);
  const all = (binned([[3.3, 17.9]], 0, 20, 7).reduce((sum, share) => sum + share, 0) * 20) / 7;
  assert.ok(Math.abs(all - 14.6) < 1e-9);
});

test("gaps and intervals are all there is", () => {
  assert.deepEqual(
    gapsOf(
      [
        [1, 3],
        [2, 4],
        [6, 7],
      ],
      10,
    ),
    [
      [0, 1],
      [4, 6],
      [7, 10],
    ],
  );
  assert.deepEqual(gapsOf([], 5), [[0, 5]]);
});

test("an axis is as long as its nodes", () => {
  for (const size of [1, 2, 3, 4, 5, 64]) {
    const [below, above] = reachOf(size);
    assert.equal(below + above + 1, size);
  }
  assert.equal(compressed(-2), -2);
  assert.ok(compressed(32) > compressed(31) && compressed(32) < 12);
});

test("nodes have places of their own", () => {
  const axes = [3, 2, 2, 2, 2].map((size) => ({ size }));
  const seen = new Set();
  for (let i = 0; i < 48; ++i) {
    const at = [];
    for (let rest = i, axis = 0; axis < 5; rest = Math.floor(rest / axes[axis++].size))
      at.push(rest % axes[axis].size);
    seen.add(placeOf(at, axes).join());
  }
  assert.equal(seen.size, 48);
  const [x, y, z] = projected([1, 2, 3], 0.7, 0.4);
  assert.ok(Math.abs(x * x + y * y + z * z - 14) < 1e-9);
});

test("a difference gives both texts back", () => {
  const pairs = [
    [
      ["a", "b", "c"],
      ["a", "x", "c"],
    ],
    [[], ["a"]],
    [["a"], []],
    [
      ["a", "b"],
      ["b", "a"],
    ],
    ["abcabba".split(""), "cbabac".split("")],
  ];
  for (const [before, after] of pairs) {
    const rows = diffOf(before, after);
    assert.deepEqual(
      rows.filter(([mark]) => mark !== "+").map(([, line]) => line),
      before,
    );
    assert.deepEqual(
      rows.filter(([mark]) => mark !== "-").map(([, line]) => line),
      after,
    );
  }
  assert.deepEqual(diffOf(["a", "b", "c"], ["a", "x", "c"]), [
    [" ", "a"],
    ["-", "b"],
    ["+", "x"],
    [" ", "c"],
  ]);
});

test("a loop over peers has their shifts, the short way, without the node itself", () => {
  const axes = [
    { size: 4, kind: "torus" },
    { size: 3, kind: "mesh" },
  ];
  const schedule = new Schedule({ topology: { axes }, operations: { kind: [] }, text: "" });
  const loop = [[0, 1], [4, 0], 3];
  assert.deepEqual(schedule.shiftsOfLoop(loop, 9), [[1, 0], [2, 0], [-1, 0]]);
  assert.deepEqual(schedule.shiftsOfLoop([[0, 0], [4, 2], 7], 9).length, 7);
  assert.deepEqual(schedule.shiftsOfLoop(loop, 2), [[1, 0], [2, 0]]);
});

test("the text after a pass is made of pieces, its operations are named anew", () => {
  const pass_texts = [
    ["{", "{\n  %0 = send\n  %0 = recv after %1", ""],
    ["\n}", "\n  for\n    %0 = copy after %2, %-1 of i-1", "\n"],
  ];
  const schedule = new Schedule({ topology: { axes: [] }, operations: { kind: [] }, text: "", pass_texts });
  assert.deepEqual(schedule.linesAfter(0), ["{", "}"]);
  assert.deepEqual(schedule.linesAfter(1), [
    "{",
    "  %0 = send",
    "  %1 = recv after %0",
    "  for",
    "    %2 = copy after %0, %3 of i-1",
  ]);
  assert.deepEqual(schedule.linesAfter(2), ["", ""]);
});

test("runs of elements, written out", () => {
  assert.deepEqual(runsOf([[5, 2]]), [[5, 7]]);
  assert.deepEqual(runsOf([[0, 1, [3, 10]]]), [
    [0, 1],
    [10, 11],
    [20, 21],
  ]);
  assert.deepEqual(
    runsOf([[0, 1, [2, 100], [2, 10]]]).sort((a, b) => a[0] - b[0]),
    [
      [0, 1],
      [10, 11],
      [100, 101],
      [110, 111],
    ],
  );
  assert.deepEqual(runsOf([[0, 1, [4, 10, 2, 40]]]), [
    [0, 1],
    [10, 11],
    [-20, -19],
    [-10, -9],
  ]);
  assert.equal(runsOf([[0, 1, [1000000, 1]]], 10).length, 10);
});

test("ratios fall into twelfths of a factor of two", () => {
  assert.deepEqual(ratioBins([]), []);
  assert.deepEqual(ratioBins([0, -1, Infinity, NaN]), []);
  const ratios = [0.3, 0.99, 1, 1.01, 1.9, 7];
  const bins = ratioBins(ratios);
  for (const [i, { low, high, count }] of bins.entries()) {
    assert.equal(count, ratios.filter((ratio) => low <= ratio && ratio < high).length);
    if (i > 0) assert.ok(Math.abs(bins[i - 1].high - low) < 1e-12);
  }
  assert.equal(
    bins.reduce((sum, { count }) => sum + count, 0),
    ratios.length,
  );
});

test("an open box has what is before and behind it, and no more than is drawn", () => {
  const after = [[], [0], [1], [2], [0, 3]];
  const schedule = { count: after.length, operations: { after } };
  const { nodes, edges, left } = graphOf(schedule, [1, 2]);
  assert.deepEqual(nodes, [0, 1, 2, 3]);
  assert.deepEqual(edges, [
    [0, 1],
    [1, 2],
    [2, 3],
  ].sort());
  assert.equal(left, 0);
  const few = graphOf(schedule, [1, 2], 2);
  assert.deepEqual(few.nodes, [1, 2]);
  assert.deepEqual(few.edges, [[1, 2]]);
  assert.equal(few.left, 2);
});
