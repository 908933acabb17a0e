// Operations of a box of dependences one by one, with their neighbours: by the time of readiness,
// to the right, and by stream, downwards.
import { colorOfPart, colors, contextOf, element } from "../drawing/dom.mjs";
import { eventLines } from "../core/events.mjs";
import { plural, secondsText } from "../core/format.mjs";
import { lanesOf } from "../core/scale.mjs";

const kMostNodes = 500,
  kMostLanesOfStream = 4,
  kLane = 13,
  kDot = 4.5,
  kMargin = 86;

/// At most `most` operations: those of a box first, then their dependences, then their dependants;
/// and the dependences among these, [from, to].
export function graphOf(schedule, operations, most = kMostNodes) {
  const { after } = schedule.operations;
  const own = new Set(operations);
  const behind = [];
  for (let op = 0; op < schedule.count; ++op)
    if (!own.has(op) && after[op].some((before) => own.has(before))) behind.push(op);
  const all = [...new Set([...operations, ...operations.flatMap((op) => after[op]), ...behind])];
  const nodes = new Set(all.slice(0, most));
  const edges = [...nodes].flatMap((op) =>
    after[op].filter((before) => nodes.has(before)).map((before) => [before, op]),
  );
  return { nodes: [...nodes].sort((a, b) => a - b), own, edges, left: all.length - nodes.size };
}

export class OpenedBox {
  constructor(app) {
    this.app = app;
    this.canvas = element("canvas", {
      role: "img",
      "aria-label": "Operations of the box",
      "data-panel": "opened",
      click: (event) => {
        const op = this.hit(event);
        if (op !== undefined) app.select({ op });
      },
      pointermove: (event) => {
        const op = this.hit(event);
        const e = op === undefined || !app.run?.hasEvents ? -1 : app.run.eventOf(op, app.state.rank);
        if (op === undefined) app.tip.hide();
        else app.tip.show(event, e < 0 ? [app.schedule.textOf(op)] : eventLines(app.run, e));
      },
      pointerleave: () => app.tip.hide(),
    });
    this.about = element("p", { class: "legend" });
    this.root = element("div", {}, this.about, element("div", { class: "scroll" }, this.canvas));
  }

  /// The operations of a box; null: none is open.
  draw(operations) {
    const { app } = this;
    const { schedule, run, state } = app;
    this.root.hidden = !operations;
    if (!operations) return;
    if (this.shown !== operations) {
      this.shown = operations;
      this.graph = graphOf(schedule, operations);
    }
    const { nodes, own, edges, left } = this.graph;
    const timed = Boolean(run?.hasEvents);
    const begin = new Map(
      nodes.map((op, i) => {
        const e = timed ? run.eventOf(op, state.rank) : -1;
        return [op, e < 0 ? (timed ? 0 : i) : run.start[e]];
      }),
    );
    const [from, to] = [Math.min(...begin.values()), Math.max(...begin.values())];
    this.about.textContent = `${plural(nodes.length, "operation")}, the box's own filled${left > 0 ? `, and ${left} more` : ""}: rows are streams, ${timed ? `from left to right when each could go on, ${secondsText(run.seconds(from))} to ${secondsText(run.seconds(to))}` : "from left to right as in the text"}. A click selects one.`;
    const width = this.canvas.clientWidth || this.canvas.parentElement.clientWidth || 600;
    const across = (op) => kMargin + ((begin.get(op) - from) / (to - from || 1)) * (width - kMargin - 12);
    const { stream } = schedule.operations;
    const streams = [...new Set(nodes.map((op) => stream[op]))].sort((a, b) => a - b);
    this.places = new Map();
    const labels = [];
    let y = 6;
    for (const number of streams) {
      const row = nodes.filter((op) => stream[op] === number).sort((a, b) => across(a) - across(b));
      const lanes = lanesOf(row, across, (op) => across(op) + 2 * kDot + 1, kMostLanesOfStream);
      labels.push([number, y + (lanes.length * kLane) / 2]);
      lanes.forEach((lane, i) =>
        lane.forEach((op) => this.places.set(op, [across(op), y + (i + 0.5) * kLane])),
      );
      y += lanes.length * kLane + 8;
    }
    const { context } = contextOf(this.canvas, y);
    const palette = colors();
    context.fillStyle = palette.muted;
    context.textAlign = "right";
    for (const [number, middle] of labels) context.fillText(`stream ${number}`, kMargin - 12, middle);
    for (const [before, op] of edges) {
      const [[x0, y0], [x1, y1]] = [this.places.get(before), this.places.get(op)];
      const near = before === state.op || op === state.op;
      context.strokeStyle = near ? palette.accent : palette.muted;
      context.globalAlpha = near ? 1 : edges.length > 300 ? 0.2 : 0.5;
      context.lineWidth = near ? 1.8 : 0.9;
      context.beginPath();
      context.moveTo(x0 + kDot, y0);
      context.lineTo(x1 - kDot, y1);
      context.stroke();
    }
    context.globalAlpha = 1;
    for (const [op, [x, middle]] of this.places) {
      const color = colorOfPart(schedule.colorOf(op));
      context.fillStyle = own.has(op) ? color : palette.panel;
      context.strokeStyle = op === state.op ? palette.accent : color;
      context.lineWidth = op === state.op ? 3 : 1.3;
      context.beginPath();
      context.arc(x, middle, kDot, 0, 7);
      context.fill();
      context.stroke();
    }
    this.canvas.setAttribute(
      "aria-label",
      `${plural(nodes.length, "operation")} and ${plural(edges.length, "dependence")} of the open box`,
    );
  }

  hit(event) {
    const box = this.canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    let best;
    let least = 9;
    for (const [op, [x, y]] of this.places ?? []) {
      const distance = Math.hypot(x - px, y - py);
      if (distance < least) [best, least] = [op, distance];
    }
    return best;
  }
}
