// Links of several schedules over one time axis, each schedule a band of rows.
import { colors, contextOf, element } from "../drawing/dom.mjs";
import { eventLines, kLabel, rowsOf } from "../core/events.mjs";
import { secondsText } from "../core/format.mjs";
import { drawContinued, drawRuler, drawShares, kRuler } from "../drawing/ruler.mjs";
import { panned, zoomed } from "../core/scale.mjs";
import { sends } from "../core/schedule.mjs";

const kBandRow = 16,
  kBandHead = 18,
  kBandKeys = { w: 0.6, s: 1 / 0.6, a: -0.2, d: 0.2 };

/// The place in `run.ranks` of the rank that loads links most.
export function busiestRank(run) {
  const { schedule } = run;
  const load = run.eventsOfRank.map((events) =>
    events.reduce((sum, e) => {
      const op = run.operation[e];
      if (!sends(schedule.operations.kind[op])) return sum;
      const hops = schedule.axes.reduce(
        (all, _, axis) => all + schedule.hopsOf(op, axis, 1) + schedule.hopsOf(op, axis, -1),
        0,
      );
      return sum + hops * run.bytes[e];
    }, 0),
  );
  return load.indexOf(Math.max(...load));
}

/// Bands of link rows, with times in seconds: { file, name, rank, run, span, bound, rows }.
export function bandsOf(runs) {
  return runs.map(({ file, name, run }) => {
    const rank = busiestRank(run);
    const rows = rowsOf(run, rank)
      .filter((row) => row.type === "link")
      .map(({ label, intervals }) => ({
        label,
        intervals: intervals.map(([begin, end, share, e]) => [run.seconds(begin), run.seconds(end), share, e]),
      }));
    return { file, name, rank, run, span: run.data.makespan_s, bound: run.data.bound_s, rows };
  });
}

export class StackedTimelines {
  constructor(app) {
    this.app = app;
    this.canvas = element("canvas", {
      tabindex: 0,
      role: "img",
      "aria-label": "Links of all files",
      "data-panel": "compare",
      keydown: (event) => this.pressed(event),
      click: (event) => this.clicked(event),
      pointermove: (event) => {
        const hit = this.hit(event);
        if (hit?.event >= 0) app.tip.show(event, [hit.band.name, ...eventLines(hit.band.run, hit.event)]);
        else app.tip.hide();
      },
      pointerleave: () => app.tip.hide(),
    });
    this.canvas.addEventListener("wheel", (event) => this.turned(event), { passive: false });
    this.root = element("div", { class: "scroll" }, this.canvas);
  }

  /// For runs { file, name, run } with events.
  show(runs) {
    this.bands = bandsOf(runs);
    this.span = Math.max(...this.bands.map((band) => band.span));
    this.view = { begin: 0, end: this.span };
  }

  draw() {
    const height = kRuler + this.bands.reduce((sum, { rows }) => sum + kBandHead + rows.length * kBandRow + 6, 0);
    const { context, width } = contextOf(this.canvas, height);
    const palette = colors();
    const place = (time) =>
      kLabel + ((time - this.view.begin) / (this.view.end - this.view.begin)) * (width - kLabel);
    this.width = width;
    drawRuler(context, this.view, 1, width, height);
    this.places = [];
    let y = kRuler;
    for (const band of this.bands) {
      const { name, rank, run, span, bound, rows } = band;
      context.fillStyle = palette.text;
      context.textAlign = "left";
      const of = run.ranks.length > 1 ? `, ${run.schedule.rankText(run.ranks[rank])}` : "";
      context.fillText(`${name}: ${secondsText(span)}${of}`, 4, y + kBandHead / 2, width - 8);
      y += kBandHead;
      const top = y;
      for (const row of rows) {
        context.fillStyle = palette.muted;
        context.textAlign = "right";
        context.fillText(row.label, kLabel - 6, y + kBandRow / 2);
        drawShares(context, row.intervals, this.view, width, y + 1, kBandRow - 3, palette.part[band.file % 8]);
        this.places.push({ y, band, row });
        y += kBandRow;
      }
      drawContinued(context, run, this.view, run.tick, width, top, y);
      context.lineWidth = 1.5;
      for (const [time, color, dash] of [
        [span, palette.text, []],
        [bound, palette.fault, [4, 3]],
      ]) {
        const x = place(time);
        if (!(time > 0) || x < kLabel || x > width + 1) continue;
        context.strokeStyle = color;
        context.setLineDash(dash);
        context.beginPath();
        context.moveTo(Math.min(x, width - 1), top);
        context.lineTo(Math.min(x, width - 1), y);
        context.stroke();
      }
      context.setLineDash([]);
      y += 6;
    }
    this.canvas.setAttribute(
      "aria-label",
      `Links over time: ${this.bands.map(({ name, span }) => `${name} ${secondsText(span)}`).join(", ")}`,
    );
  }

  timeAt(x) {
    return this.view.begin + ((x - kLabel) / (this.width - kLabel)) * (this.view.end - this.view.begin);
  }
  hit(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const place = this.places?.find((other) => y >= other.y && y < other.y + kBandRow);
    if (!place || x < kLabel) return null;
    const time = this.timeAt(x);
    const found = place.row.intervals.findLast(([begin, end]) => begin <= time && time <= end);
    return { band: place.band, event: found ? found[3] : -1 };
  }
  clicked(event) {
    const hit = this.hit(event);
    if (!hit) return;
    const { band, event: e } = hit;
    if (band.file !== this.app.state.file) this.app.showFile(band.file);
    if (e >= 0) this.app.select({ rank: band.rank, op: band.run.operation[e] });
  }
  pressed(event) {
    const factor = kBandKeys[event.key.toLowerCase()];
    if (event.ctrlKey || event.metaKey || event.altKey || (factor === undefined && event.key !== "0")) return;
    event.stopPropagation();
    event.preventDefault();
    if (event.key === "0") this.view = { begin: 0, end: this.span };
    else if ("wsWS".includes(event.key)) this.zoom(factor, (this.view.begin + this.view.end) / 2);
    else this.pan(factor);
    this.app.redraw("compare");
  }
  /// Pans or zooms; otherwise the page scrolls.
  turned(event) {
    const x = event.clientX - this.canvas.getBoundingClientRect().left;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(event.deltaX / (this.width - kLabel));
    else if (event.ctrlKey || event.metaKey) this.zoom(1.0015 ** event.deltaY, this.timeAt(Math.max(kLabel, x)));
    else return;
    event.preventDefault();
    this.app.redraw("compare");
  }
  zoom(factor, around) {
    this.view = zoomed(this.view, factor, around, this.span);
  }
  pan(share) {
    this.view = panned(this.view, share * (this.view.end - this.view.begin), this.span);
  }
}
