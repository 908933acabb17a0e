// A library: shapes by collectives, each cell the sizes from left to right, colored by the ratio of
// the predicted time to the bound.
import { colors, contextOf, element, panel } from "../drawing/dom.mjs";
import { bytesText, digits, plural, reasonText, secondsText } from "../core/format.mjs";
import { extentOf } from "../core/scale.mjs";

const kCell = 26,
  kTop = 22,
  kName = 130;

/// "64K to 1M", "from 64K on".
export function rangeText({ lowest, highest }) {
  if (highest === 0) return "calls without a size: ordered sums, counts that differ";
  return highest === null
    ? `from ${bytesText(lowest)} on`
    : lowest === highest
      ? bytesText(lowest)
      : `${bytesText(lowest)} to ${bytesText(highest)}`;
}

export class LibraryPanel {
  constructor(app) {
    this.app = app;
    const { library } = app.data;
    this.root = panel("library", "Library", { class: "wide" });
    const files = new Set(library.shapes.flatMap((shape) => shape.entries.map((entry) => entry.file)));
    this.root.append(
      element(
        "p",
        {},
        `${library.path}: ${plural(library.shapes.length, "shape")}, ${plural(files.size, "schedule")} for ${library.machine}${library.tuned_on ? `; tuned on ${library.tuned_on}` : ""}.`,
      ),
    );
    this.collectives = [
      ...new Set(library.shapes.flatMap((shape) => shape.entries.map((entry) => entry.collective))),
    ];
    const sizes = library.shapes
      .flatMap((shape) => shape.entries.flatMap((entry) => [entry.lowest, entry.to]))
      .filter((size) => size > 0);
    [this.low, this.high] = extentOf(sizes).map(Math.log2);
    this.canvas = element("canvas", {
      role: "img",
      tabindex: 0,
      "data-panel": 13,
      "aria-label": `Ranges of ${plural(library.shapes.length, "shape")} and ${plural(this.collectives.length, "collective")}; the table below has them as text`,
      pointermove: (event) => {
        const hit = this.hit(event);
        if (hit?.entry)
          app.tip.show(event, [
            `${hit.shape.shape} ${hit.entry.collective}, ${rangeText(hit.entry)}`,
            hit.entry.file,
            this.timesOf(hit.entry),
          ]);
        else app.tip.hide();
      },
      pointerleave: () => app.tip.hide(),
      click: (event) => {
        const hit = this.hit(event);
        if (hit) this.choose(library.shapes.indexOf(hit.shape));
      },
    });
    this.canvas.style.minWidth = `${kName + 70 * this.collectives.length}px`;
    this.legend = element(
      "p",
      { class: "legend" },
      "Each cell: sizes from left to right, on a logarithmic scale; pale: at the bound, deep: four times it or more. Lines: where another schedule takes over.",
    );
    const list = element(
      "select",
      { "aria-label": "Shape", change: () => this.choose(list.selectedIndex) },
      library.shapes.map((shape) => element("option", {}, shape.shape)),
    );
    this.list = list;
    this.table = element("div", { class: "table" });
    this.root.append(
      element("div", { class: "table" }, this.canvas),
      this.legend,
      element("label", {}, "shape ", list),
      this.table,
    );
    this.choose(0);
  }

  /// The name of a schedule; a link to its page, if `torc view --schedules` wrote it.
  linkOf(file) {
    const { pages } = this.app.data.library;
    const name = element("code", {}, file);
    const page = `${pages}/${file.replace(/\.torc$/, "")}.html`;
    return pages && file.endsWith(".torc") ? element("a", { href: page }, name) : name;
  }
  ratioOf(seconds, bound) {
    return bound > 0 ? seconds / bound : null;
  }
  timesOf(entry) {
    const end = (seconds, bound) =>
      `${secondsText(seconds)}${bound > 0 ? ` = ${digits(seconds / bound, 3)} × the bound` : ""}`;
    return `${end(entry.lowest_s, entry.lowest_bound_s)} to ${end(entry.highest_s, entry.highest_bound_s)}`;
  }

  choose(number) {
    const shape = this.app.data.library.shapes[number];
    this.list.selectedIndex = number;
    const table = (title, entries) =>
      element(
        "table",
        {},
        element("caption", {}, title),
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            ["collective", "sizes", "time of the first and last"].map((name) =>
              element("th", { scope: "col" }, name),
            ),
            element("th", { scope: "col", class: "left" }, "schedule, and why"),
          ),
        ),
        element(
          "tbody",
          {},
          entries.map((entry) =>
            element(
              "tr",
              {},
              element("td", {}, entry.collective),
              element("td", {}, rangeText(entry)),
              element("td", {}, this.timesOf(entry)),
              element(
                "td",
                { class: "left" },
                this.linkOf(entry.file),
                entry.reason ? ` ${reasonText(entry.reason)}` : "",
              ),
            ),
          ),
        ),
      );
    this.table.replaceChildren(
      element("p", { class: "legend" }, `serves ${shape.sub_tori.join(", ")}`),
      table(`Predicted, ${shape.shape}`, shape.entries),
      ...(shape.tuned.length > 0 ? [table(`Measured, ${shape.shape}: goes before`, shape.tuned)] : []),
    );
    this.app.redraw("library");
  }

  place(size, left, width) {
    return (
      left +
      Math.min(1, Math.max(0, (Math.log2(Math.max(1, size)) - this.low) / (this.high - this.low || 1))) *
        width
    );
  }

  draw() {
    const { shapes } = this.app.data.library;
    const { context, width } = contextOf(this.canvas, kTop + shapes.length * kCell);
    const palette = colors();
    const cell = (width - kName) / this.collectives.length;
    this.cellWidth = cell;
    context.fillStyle = palette.muted;
    context.textAlign = "left";
    this.collectives.forEach((name, i) => context.fillText(name, kName + i * cell, kTop / 2, cell - 8));
    shapes.forEach((shape, row) => {
      const top = kTop + row * kCell;
      context.textAlign = "right";
      context.fillStyle = palette.text;
      context.fillText(shape.shape, kName - 8, top + kCell / 2, kName - 12);
      for (const entry of shape.entries) {
        const left = kName + this.collectives.indexOf(entry.collective) * cell;
        const [begin, end] = [this.place(entry.lowest, left, cell - 8), this.place(entry.to, left, cell - 8)];
        const shade = (seconds, bound) =>
          Math.min(1, Math.max(0, Math.log2(this.ratioOf(seconds, bound) ?? 1) / 2));
        const fill = context.createLinearGradient(begin, 0, Math.max(begin + 1, end), 0);
        const mixed = (share) =>
          `color-mix(in srgb, ${palette.part[1]} ${Math.round(10 + 90 * share)}%, ${palette.back})`;
        try {
          fill.addColorStop(0, mixed(shade(entry.lowest_s, entry.lowest_bound_s)));
          fill.addColorStop(1, mixed(shade(entry.highest_s, entry.highest_bound_s)));
          context.fillStyle = fill;
        } catch {
          context.fillStyle = palette.part[1];
        }
        context.fillRect(begin, top + 3, Math.max(1.5, end - begin), kCell - 6);
        context.fillStyle = palette.text;
        context.fillRect(begin, top + 3, 1, kCell - 6);
      }
    });
  }

  hit(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const shape = this.app.data.library.shapes[Math.floor((y - kTop) / kCell)];
    const column = Math.floor((x - kName) / this.cellWidth);
    if (!shape || column < 0) return null;
    const left = kName + column * this.cellWidth;
    const entry = shape.entries.find(
      (other) =>
        other.collective === this.collectives[column] &&
        x >= this.place(other.lowest, left, this.cellWidth - 8) - 1 &&
        x <= this.place(other.to, left, this.cellWidth - 8) + 1,
    );
    return { shape, entry };
  }
}
