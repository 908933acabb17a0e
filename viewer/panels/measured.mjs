// Panel 10, measured: a run's trace beside the prediction.
import { drawChart, nearest } from "../drawing/chart.mjs";
import { colorOfPart, colors, contextOf, element, panel } from "../drawing/dom.mjs";
import { bytesText, digits, plural, secondsText } from "../core/format.mjs";
import { lanesOf, ticksOf } from "../core/scale.mjs";
import { kKinds, receives, sends } from "../core/schedule.mjs";
import { kLabel } from "../core/events.mjs";

const kNano = 1e-9;

/// For every measured operation: its end, median over ranks, and its predicted end, in seconds; and
/// its delay after its last dependence.
export function comparison(run, trace) {
  const { schedule } = run;
  const rows = new Map();
  trace.operations.operation.forEach((op, i) => {
    const e = run.eventOf(op, 0);
    if (e >= 0)
      rows.set(op, {
        op,
        predicted: run.seconds(run.end[e]),
        measured: trace.operations.end_ns[i][2] * kNano,
        quartiles: trace.operations.end_ns[i].map((value) => value * kNano),
      });
  });
  for (const row of rows.values()) {
    const e = run.eventOf(row.op, 0);
    const partner = run.partner[e];
    const before = [
      ...schedule.operations.after[row.op],
      ...(partner >= 0 ? schedule.operations.after[run.operation[partner]] : []),
    ];
    const late = (other) => (rows.has(other) ? rows.get(other).measured - rows.get(other).predicted : 0);
    row.late = row.measured - row.predicted;
    row.added = row.late - Math.max(0, ...before.map(late));
  }
  return [...rows.values()];
}

/// The number of positive `ratios` in each twelfth of a factor of two, with 1 in the middle of one:
/// { low, high, count } without gaps.
export function ratioBins(ratios) {
  const counts = new Map();
  for (const ratio of ratios) {
    const bin = Math.round(12 * Math.log2(ratio));
    if (Number.isFinite(bin)) counts.set(bin, (counts.get(bin) ?? 0) + 1);
  }
  if (counts.size === 0) return [];
  const [first, last] = [Math.min(...counts.keys()), Math.max(...counts.keys())];
  return Array.from({ length: last - first + 1 }, (_, i) => ({
    low: 2 ** ((first + i - 0.5) / 12),
    high: 2 ** ((first + i + 0.5) / 12),
    count: counts.get(first + i) ?? 0,
  }));
}

export class MeasuredPanel {
  constructor(app) {
    this.app = app;
    const { trace } = app.schedule.data;
    this.shown = 0;
    const list = element(
      "select",
      {
        "aria-label": "Rank",
        change: () => {
          this.shown = list.selectedIndex;
          app.redraw("measured");
        },
      },
      trace.in_full.map((rank) => element("option", {}, `rank ${rank.rank}, ${rank.what}`)),
    );
    this.root = panel("measured", "Measured", { class: "wide" }, element("label", {}, "rank ", list));
    const canvas = (label, number, hover) =>
      element("canvas", {
        role: "img",
        "aria-label": label,
        "data-panel": number,
        pointermove: (event) => {
          const lines = hover(event);
          if (lines) app.tip.show(event, lines);
          else app.tip.hide();
        },
        pointerleave: () => app.tip.hide(),
      });
    this.summary = element("p", {});
    this.about = element("p", { class: "legend" });
    this.bars = canvas("Operations of a rank: measured, filled, over predicted, hollow", 10, (event) =>
      this.barLines(event),
    );
    this.scatter = canvas("Measured against predicted ends of operations", 11, (event) => {
      const row = nearest(this.scatter, event, this.places);
      return row && this.rowLines(row);
    });
    this.rounds = canvas("Time of every round", 12, () => null);
    this.ratios = canvas("Operations by measured over predicted", 13, (event) => {
      const bin = nearest(this.ratios, event, this.ratioPlaces);
      return (
        bin && [`${plural(bin.count, "operation")} at ${digits(bin.low, 3)} to ${digits(bin.high, 3)} × predicted`]
      );
    });
    this.table = element("div", { class: "table" });
    this.root.append(
      this.summary,
      this.bars,
      this.about,
      element("div", { class: "pair" }, this.scatter, this.ratios, this.rounds),
      this.table,
    );
  }

  rowLines(row) {
    const { schedule } = this.app;
    return [
      `${schedule.nameOf(row.op)}: ${kKinds[schedule.operations.kind[row.op]]} ${schedule.peerText(row.op)}`,
      `ended at ${secondsText(row.measured)} (median; quartiles ${secondsText(row.quartiles[1])} to ${secondsText(row.quartiles[3])}), predicted ${secondsText(row.predicted)}`,
    ];
  }

  draw() {
    const { run, schedule } = this.app;
    const { trace } = schedule.data;
    if (this.drawnFor !== run) {
      this.drawnFor = run;
      this.rowsOfRun = comparison(run, trace);
      this.showSummary(run, trace);
    }
    const palette = colors();
    this.drawBars(run, trace);
    const rows = this.rowsOfRun;
    const byColor = new Map();
    for (const row of rows) {
      const color = schedule.colorOf(row.op);
      if (!byColor.has(color)) byColor.set(color, []);
      byColor.get(color).push([row.predicted, row.measured, row]);
    }
    const most = Math.max(...rows.map((row) => Math.max(row.predicted)), 0);
    this.places = drawChart(
      this.scatter,
      260,
      [
        {
          points: [
            [0, 0],
            [most, most],
          ],
          color: palette.muted,
          line: 1,
          dot: 0,
          dash: [5, 4],
        },
        ...[...byColor].map(([color, points]) => ({ points, color: colorOfPart(color), dot: 2.5 })),
      ],
      { text: (value) => secondsText(Number(value.toPrecision(6))), title: "predicted end of an operation" },
      {
        text: (value) => secondsText(Number(value.toPrecision(6))),
        title: "measured end, median over ranks; dashed: as predicted",
      },
    );
    const bins = ratioBins(rows.map((row) => row.measured / row.predicted));
    const edges = bins.flatMap(({ low, high, count }) => [
      [low, count],
      [high, count],
    ]);
    const tallest = Math.max(1, ...bins.map((bin) => bin.count));
    const ends = edges.length > 0 ? [[edges[0][0], 0], ...edges, [edges.at(-1)[0], 0]] : [];
    this.ratioPlaces = drawChart(
      this.ratios,
      260,
      [
        { points: ends, color: palette.part[0], line: 1.5, dot: 0, filled: true },
        { points: bins.map((bin) => [Math.sqrt(bin.low * bin.high), bin.count, bin]), color: palette.part[0], dot: 0 },
        {
          points: [
            [1, 0],
            [1, tallest],
          ],
          color: palette.muted,
          line: 1,
          dot: 0,
          dash: [5, 4],
        },
      ],
      { text: (value) => digits(value, 3), title: "measured over predicted end of an operation", log: true },
      { text: (value) => digits(value), title: "operations; dashed: as predicted" },
    );
    drawChart(
      this.rounds,
      260,
      [
        {
          points: trace.rounds_ns.map((value, i) => [i + 1, value * kNano]),
          color: palette.part[0],
          dot: 2.5,
        },
        {
          points: [
            [1, run.data.makespan_s],
            [trace.rounds_ns.length, run.data.makespan_s],
          ],
          color: palette.fault,
          line: 1.5,
          dot: 0,
          dash: [5, 4],
        },
      ],
      { text: (value) => digits(value), title: "round" },
      {
        text: (value) => secondsText(Number(value.toPrecision(6))),
        title: "time of a round; dashed: predicted",
      },
    );
  }

  showSummary(run, trace) {
    const { schedule } = this.app;
    const median = trace.rounds_ns[trace.round] * kNano;
    const begins = trace.ranks.begin_ns,
      ends = trace.ranks.end_ns;
    const spread = (values) => (Math.max(...values) - Math.min(...values)) * kNano;
    this.summary.replaceChildren(
      `${trace.file}: ${plural(begins.length, "rank")}, ${plural(trace.rounds_ns.length, "round")} of ${bytesText(trace.bytes)}. The median round took ${secondsText(median)}, ${digits(median / run.data.makespan_s)} × the ${secondsText(run.data.makespan_s)} predicted for ${bytesText(run.data.bytes)}. Ranks began within ${secondsText(spread(begins))} and ended within ${secondsText(spread(ends))}.`,
    );
    const worst = [...this.rowsOfRun]
      .sort((a, b) => b.added - a.added)
      .slice(0, 3)
      .filter((row) => row.added > 0);
    this.table.replaceChildren(
      element(
        "table",
        {},
        element("caption", {}, "Operations that add most to the lateness of what they wait for"),
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            ["operation", "predicted end", "measured end", "added"].map((name) =>
              element("th", { scope: "col" }, name),
            ),
          ),
        ),
        element(
          "tbody",
          {},
          worst.map((row) =>
            element(
              "tr",
              {},
              element(
                "td",
                {},
                element("button", { click: () => this.app.select({ op: row.op }) }, schedule.nameOf(row.op)),
              ),
              element("td", {}, secondsText(row.predicted)),
              element("td", {}, secondsText(row.measured)),
              element("td", {}, secondsText(row.added)),
            ),
          ),
        ),
      ),
    );
  }

  drawBars(run, trace) {
    const { schedule } = this.app;
    const shown = trace.in_full[this.shown];
    const rows = new Map();
    shown.operation.forEach((op, i) => {
      const kind = schedule.operations.kind[op],
        part = schedule.partOf(op);
      const type = sends(kind) ? 0 : receives(kind) ? 1 : 2;
      const [color, direction] = part === null ? [7, 0] : schedule.data.parts[part];
      const key = color * 10 + direction * 3 + type;
      if (!rows.has(key))
        rows.set(key, {
          key,
          color,
          label: `c${color}${direction ? "−" : "+"} ${["sends", "receives", "work"][type]}`,
          bars: [],
        });
      rows.get(key).bars.push({ op, begin: shown.begin_ns[i] * kNano, end: shown.end_ns[i] * kNano });
    });
    const list = [...rows.values()].sort((a, b) => a.key - b.key);
    // If the two are far apart, each has its own scale.
    const ratio = (Math.max(...shown.end_ns) * kNano) / run.data.makespan_s;
    const stretch = ratio > 3 || ratio < 1 / 3 ? ratio : 1;
    this.about.textContent = `Filled: measured, of one rank in the round of median time. Hollow, below: predicted${stretch === 1 ? "" : `, drawn ${digits(stretch, 3)} times as long as it is`}.`;
    const span = Math.max(stretch * run.data.makespan_s, ...shown.end_ns.map((value) => value * kNano));
    const height = 24 + list.length * 26;
    const { context, width } = contextOf(this.bars, height);
    const palette = colors();
    const place = (time) => kLabel + (time / span) * (width - kLabel - 8);
    context.fillStyle = palette.muted;
    context.strokeStyle = palette.line;
    context.textAlign = "center";
    for (const tick of ticksOf(0, span, (width - kLabel) / 90)) {
      context.beginPath();
      context.moveTo(place(tick), 18);
      context.lineTo(place(tick), height);
      context.stroke();
      context.fillText(secondsText(Number(tick.toPrecision(6))), Math.max(kLabel + 12, place(tick)), 9);
    }
    this.barPlaces = [];
    list.forEach((row, number) => {
      const top = 24 + number * 26;
      context.textAlign = "right";
      context.fillStyle = palette.muted;
      context.fillText(row.label, kLabel - 6, top + 12);
      const color = row.color === 7 ? palette.muted : colorOfPart(row.color);
      context.fillStyle = context.strokeStyle = color;
      context.lineWidth = 1;
      const lanes = lanesOf(
        row.bars,
        (bar) => bar.begin,
        (bar) => bar.end,
        4,
      );
      lanes.forEach((lane, i) =>
        lane.forEach((bar) => {
          const [x, y, w, h] = [
            place(bar.begin),
            top + (i * 13) / lanes.length,
            Math.max(1, place(bar.end) - place(bar.begin) - 0.6),
            13 / lanes.length - 0.5,
          ];
          context.globalAlpha = 0.85;
          context.fillRect(x, y, w, h);
          this.barPlaces.push({ x, y, w, h, bar });
        }),
      );
      context.globalAlpha = 0.9;
      for (const { op } of row.bars) {
        const e = run.eventOf(op, 0);
        if (e < 0) continue;
        const x = place(stretch * run.seconds(run.begin[e])),
          end = place(stretch * run.seconds(run.end[e]));
        context.strokeRect(x + 0.5, top + 15, Math.max(1, end - x - 1), 6);
      }
      context.globalAlpha = 1;
    });
  }

  barLines(event) {
    const box = this.bars.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const found = this.barPlaces?.find(
      (place) => x >= place.x - 1 && x <= place.x + place.w + 1 && y >= place.y && y <= place.y + place.h,
    );
    if (!found) return null;
    const { op, begin, end } = found.bar;
    const row = this.rowsOfRun.find((other) => other.op === op);
    return [
      `${this.app.schedule.nameOf(op)}: measured ${secondsText(begin)} to ${secondsText(end)}`,
      ...(row ? this.rowLines(row).slice(1) : []),
    ];
  }
}
