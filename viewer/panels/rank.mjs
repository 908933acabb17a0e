// Panel 8, rank: the bytes that an operation of one rank reads and writes, and its peers.
import { colors, contextOf, element, panel } from "../drawing/dom.mjs";
import { countText, plural } from "../core/format.mjs";

const kStrip = 26,
  kMostRuns = 20000,
  kMostRows = 400;

/// The runs [begin, end] of a region's extents, loops unrolled, `most` of them at most.
export function runsOf(extents, most = kMostRuns) {
  const runs = [];
  for (const [offset, length, ...loops] of extents) {
    let starts = [offset];
    for (const [repeat, stride, turn, back] of [...loops].reverse()) {
      const next = [];
      for (const start of starts) {
        for (let i = 0; i < repeat && next.length < most; ++i)
          next.push(start + i * stride - (turn !== undefined && i >= turn ? back : 0));
      }
      starts = next;
    }
    for (const start of starts) if (runs.length < most) runs.push([start, start + length]);
  }
  return runs;
}

export class RankPanel {
  constructor(app) {
    this.app = app;
    const { programs } = app.schedule.data;
    this.shown = 0;
    this.chosen = 0;
    const list = element(
      "select",
      {
        "aria-label": "Rank",
        change: () => {
          this.shown = list.selectedIndex;
          this.chosen = 0;
          this.fill();
          app.redraw("rank");
        },
      },
      programs.map(({ program }) => element("option", {}, app.schedule.rankText(program.rank))),
    );
    this.root = panel("rank", "Rank", { class: "wide" }, element("label", {}, "rank ", list));
    this.canvas = element("canvas", { role: "img", "aria-label": "Memory of the rank", "data-panel": 8 });
    this.about = element(
      "p",
      { class: "legend" },
      "Blue: what the chosen operation reads; orange: what it writes. Offsets are elements.",
    );
    this.table = element("div", { class: "table", style: "max-height:420px;overflow:auto" });
    this.root.append(this.canvas, this.about, this.table);
    this.fill();
  }

  get program() {
    return this.app.schedule.data.programs[this.shown].program;
  }

  fill() {
    const { program } = this;
    const region = (of) => (of ? `${of.buffer}, ${plural(runsOf(of.extents).length, "run")}` : "");
    const size = (of) =>
      of ? countText(runsOf(of.extents).reduce((sum, [begin, end]) => sum + end - begin, 0)) : "";
    const rows = program.operations.slice(0, kMostRows).map((operation, i) =>
      element(
        "tr",
        { class: i === this.chosen ? "best" : "" },
        element(
          "td",
          {},
          element(
            "button",
            {
              "aria-pressed": String(i === this.chosen),
              click: () => {
                this.chosen = i;
                this.fill();
                const op = this.app.schedule.firstOfSource.get(operation.source);
                this.app.select({ op });
              },
            },
            `#${i} %${operation.source}`,
          ),
        ),
        element("td", { class: "left", style: "min-width:0" }, operation.kind),
        element("td", {}, operation.peer === undefined ? "" : String(operation.peer)),
        element("td", {}, operation.tag === undefined ? "" : String(operation.tag)),
        element("td", {}, size(operation.dst ?? operation.a)),
        element("td", { class: "left", style: "min-width:0" }, region(operation.a)),
        element("td", { class: "left", style: "min-width:0" }, region(operation.dst)),
        element(
          "td",
          {},
          operation.after
            .slice(0, 6)
            .map((other) => `#${other}`)
            .join(" "),
        ),
      ),
    );
    this.table.replaceChildren(
      element(
        "table",
        {},
        element(
          "caption",
          {},
          `${plural(program.operations.length, "operation")} for ${plural(this.app.schedule.data.programs[this.shown].count, "element")}${program.operations.length > kMostRows ? `; the first ${kMostRows}` : ""}`,
        ),
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            ["operation", "kind", "peer", "tag", "elements", "reads", "writes", "after"].map((name) =>
              element("th", { scope: "col" }, name),
            ),
          ),
        ),
        element("tbody", {}, rows),
      ),
    );
  }

  draw() {
    const { program } = this;
    const buffers = [
      ["in", program.in_elements],
      ["out", program.out_elements],
      ["scratch", program.scratch_elements],
    ].filter(([, size]) => size > 0);
    const { context, width } = contextOf(this.canvas, buffers.length * kStrip + 4);
    const palette = colors();
    const most = Math.max(...buffers.map(([, size]) => size));
    const room = width - 150;
    const chosen = program.operations[this.chosen];
    buffers.forEach(([name, size], row) => {
      const y = row * kStrip + 4;
      context.textAlign = "right";
      context.fillStyle = palette.muted;
      context.fillText(name, 62, y + kStrip / 2 - 2);
      context.textAlign = "left";
      context.fillText(countText(size), 76 + (room * size) / most, y + kStrip / 2 - 2);
      context.strokeStyle = palette.line;
      context.strokeRect(70.5, y + 0.5, (room * size) / most, kStrip - 7);
      const mark = (region, color, top, height) => {
        if (region?.buffer !== name) return;
        context.fillStyle = color;
        for (const [begin, end] of runsOf(region.extents))
          context.fillRect(
            70 + (room * begin) / most,
            y + top,
            Math.max(0.8, (room * (end - begin)) / most),
            height,
          );
      };
      if (chosen) {
        mark(chosen.a, palette.part[0], 1, 8);
        if (chosen.b && chosen.b.buffer === name) mark(chosen.b, palette.part[5], 1, 8);
        mark(chosen.dst, palette.part[1], 10, 8);
      }
    });
    this.canvas.setAttribute(
      "aria-label",
      chosen
        ? `Memory of the rank with what operation ${this.chosen}, ${chosen.kind}, reads and writes`
        : "Memory of the rank",
    );
  }
}
