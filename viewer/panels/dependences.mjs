// Panel 5, dependences: the reasons of the order. Operations of a stream in a phase are a box;
// boxes are ordered by phase, to the right, and by stream, downwards, so that no layout has to be
// computed.
import { colorOfPart, colors, contextOf, element, panel } from "../drawing/dom.mjs";
import { plural } from "../core/format.mjs";
import { OpenedBox } from "./opened.mjs";

const kBox = 20,
  kHead = 24,
  kLeft = 86,
  kMostBoxes = 500,
  kMostShown = 60;

/// Boxes of operations with one phase and row, and the number of dependences between them. Rows are
/// streams or, with too many boxes, colors and directions.
export function boxesOf(schedule) {
  const { phase, stream, after } = schedule.operations;
  const byColor = new Set(phase.map((_, op) => `${phase[op]} ${stream[op]}`)).size > kMostBoxes;
  const rowOf = (op) => (byColor ? schedule.colorOf(op) * 2 + schedule.directionOf(op) : stream[op]);
  const boxes = new Map(),
    boxOfOp = [];
  for (let op = 0; op < schedule.count; ++op) {
    const key = `${phase[op]} ${rowOf(op)}`;
    if (!boxes.has(key))
      boxes.set(key, {
        phase: phase[op],
        row: rowOf(op),
        operations: [],
        before: new Map(),
        color: schedule.colorOf(op),
      });
    const box = boxes.get(key);
    boxOfOp[op] = box;
    box.operations.push(op);
  }
  for (let op = 0; op < schedule.count; ++op) {
    for (const other of after[op]) {
      const from = boxOfOp[other],
        to = boxOfOp[op];
      to.before.set(from, (to.before.get(from) ?? 0) + 1);
    }
  }
  return { boxes: [...boxes.values()], boxOfOp, byColor };
}

export class DependencesPanel {
  constructor(app) {
    this.app = app;
    this.root = panel("dependences", "Dependences", { class: "wide" });
    this.canvas = element("canvas", {
      role: "img",
      "aria-label": "Dependences",
      "data-panel": 5,
      tabindex: 0,
      keydown: (event) => this.pressed(event),
      click: (event) => this.clicked(event),
      pointermove: (event) => {
        const box = this.hit(event);
        if (box)
          app.tip.show(event, [
            `phase ${box.phase}, ${this.nameOf(box.row)}: ${plural(box.operations.length, "operation")}`,
            ...[...box.before].map(
              ([from, count]) =>
                `${plural(count, "dependence")} on ${from === box ? "operations of its own" : `phase ${from.phase}, ${this.nameOf(from.row)}`}`,
            ),
          ]);
        else app.tip.hide();
      },
      pointerleave: () => app.tip.hide(),
    });
    this.opened = new OpenedBox(app);
    this.list = element("div", { class: "bar" });
    this.root.append(
      element(
        "p",
        { class: "legend" },
        "Operations of a stream in a phase are a box; lines are dependences between boxes, thicker where they are many. Click a box, or press ← → ↑ ↓ in here, to open it.",
      ),
      element("div", { class: "scroll" }, this.canvas),
      this.opened.root,
      this.list,
    );
    this.graph = boxesOf(app.schedule);
    this.rows = [...new Set(this.graph.boxes.map((box) => box.row))].sort((a, b) => a - b);
    this.phases = [...new Set(this.graph.boxes.map((box) => box.phase))].sort((a, b) => a - b);
    this.chosen = null;
  }

  nameOf(row) {
    const { schedule } = this.app;
    return this.graph.byColor ? `color ${row >> 1} ${row & 1 ? "−" : "+"}` : `stream ${row}`;
  }

  draw() {
    const { schedule, state } = this.app;
    if (state.op !== null && this.selected !== state.op) this.chosen = this.graph.boxOfOp[state.op];
    this.selected = state.op;
    const { context, width } = contextOf(this.canvas, kHead + this.rows.length * (kBox + 12));
    const palette = colors();
    const step = (width - kLeft) / this.phases.length;
    const boxWidth = Math.min(90, step * 0.55);
    this.places = new Map(
      this.graph.boxes.map((box) => [
        box,
        {
          x: kLeft + this.phases.indexOf(box.phase) * step + 4,
          y: kHead + this.rows.indexOf(box.row) * (kBox + 12),
          w: boxWidth,
          h: kBox,
        },
      ]),
    );
    context.fillStyle = palette.muted;
    context.textAlign = "left";
    this.phases.forEach((phase, i) =>
      context.fillText(`phase ${phase}`, kLeft + i * step + 4, kHead / 2, step - 6),
    );
    context.textAlign = "right";
    this.rows.forEach((row, i) =>
      context.fillText(this.nameOf(row), kLeft - 8, kHead + i * (kBox + 12) + kBox / 2, kLeft - 12),
    );
    const most = Math.max(1, ...this.graph.boxes.flatMap((box) => [...box.before.values()]));
    for (const box of this.graph.boxes) {
      for (const [from, count] of box.before) {
        if (from === box) continue;
        const a = this.places.get(from),
          b = this.places.get(box);
        const near = box === this.chosen || from === this.chosen;
        context.strokeStyle = near ? palette.accent : palette.muted;
        context.globalAlpha = near ? 1 : this.chosen ? 0.2 : 0.55;
        context.lineWidth = 0.8 + 3 * Math.sqrt(count / most);
        context.beginPath();
        context.moveTo(a.x + a.w, a.y + a.h / 2);
        context.bezierCurveTo(a.x + a.w + 30, a.y + a.h / 2, b.x - 30, b.y + b.h / 2, b.x, b.y + b.h / 2);
        context.stroke();
      }
    }
    context.globalAlpha = 1;
    context.textAlign = "center";
    for (const [box, { x, y, w, h }] of this.places) {
      context.fillStyle = palette.back;
      context.fillRect(x, y, w, h);
      context.fillStyle = colorOfPart(box.color);
      context.globalAlpha = 0.35;
      context.fillRect(x, y, w, h);
      context.globalAlpha = 1;
      context.strokeStyle = box === this.chosen ? palette.accent : colorOfPart(box.color);
      context.lineWidth = box === this.chosen ? 2.5 : 1;
      context.strokeRect(x, y, w, h);
      context.fillStyle = palette.text;
      context.fillText(String(box.operations.length), x + w / 2, y + h / 2);
    }
    this.canvas.setAttribute(
      "aria-label",
      `${plural(this.graph.boxes.length, "box")} of ${plural(schedule.count, "operation")} in ${plural(this.phases.length, "phase")}`,
    );
    const { chosen } = this;
    this.opened.draw(chosen?.operations ?? null);
    this.list.replaceChildren(
      ...(chosen
        ? [
            `phase ${chosen.phase}, ${this.nameOf(chosen.row)}: `,
            ...chosen.operations.slice(0, kMostShown).map((op) => {
              const after = schedule.operations.after[op];
              return element(
                "button",
                {
                  "aria-pressed": String(op === state.op),
                  click: () => this.app.select({ op }),
                  title: schedule.textOf(op),
                },
                `${schedule.nameOf(op)}${
                  after.length > 0
                    ? ` ← ${after
                        .slice(0, 4)
                        .map((other) => schedule.nameOf(other))
                        .join("; ")}${after.length > 4 ? " …" : ""}`
                    : ""
                }`,
              );
            }),
            chosen.operations.length > kMostShown ? `and ${chosen.operations.length - kMostShown} more` : "",
          ]
        : []),
    );
  }

  hit(event) {
    const bounds = this.canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - bounds.left, event.clientY - bounds.top];
    for (const [box, { x, y, w, h }] of this.places ?? [])
      if (px >= x && px <= x + w && py >= y && py <= y + h) return box;
    return null;
  }
  /// To the box beside the open one: the next phase or row that has one.
  pressed(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step || event.shiftKey) return;
    event.stopPropagation();
    event.preventDefault();
    const { chosen, graph } = this;
    const ahead = ({ phase, row }) =>
      step[0] !== 0
        ? row === chosen.row && (phase - chosen.phase) * step[0] > 0
        : phase === chosen.phase && (row - chosen.row) * step[1] > 0;
    const distance = ({ phase, row }) => Math.abs(phase - chosen.phase) + Math.abs(row - chosen.row);
    this.chosen = chosen
      ? (graph.boxes.filter(ahead).sort((a, b) => distance(a) - distance(b))[0] ?? chosen)
      : graph.boxes[0];
    this.app.redraw("dependences");
  }
  clicked(event) {
    this.chosen = this.hit(event);
    this.app.redraw("dependences");
  }
}
