// A judge's or a paper's table: times over sizes, a line for each timed implementation.
import { drawChart, nearest } from "../drawing/chart.mjs";
import { colors, element, panel } from "../drawing/dom.mjs";
import { bytesText, digits, secondsText } from "../core/format.mjs";

/// The roles of a table's columns: texts, which make groups of rows; the horizontal axis of the
/// picture; the bound; all others, which are drawn.
export function rolesOf({ columns, rows }) {
  const isText = (i) => rows.some((row) => typeof row[i] === "string");
  const all = columns.map((_, i) => i);
  const texts = all.filter(isText);
  const numbers = all.filter((i) => !isText(i) && rows.some((row) => row[i] !== null));
  const named = numbers.find((i) => columns[i] === "bytes");
  const along = named ?? numbers[0] ?? null;
  const bound = numbers.find((i) => columns[i] === "bound") ?? null;
  return {
    texts,
    along,
    bound,
    lines: numbers.filter((i) => i !== along && i !== bound),
    timed: named !== undefined,
  };
}

export class TablePanel {
  constructor(app) {
    this.app = app;
    this.table = app.data.table;
    this.roles = rolesOf(this.table);
    const { texts, bound } = this.roles;
    this.groups = [...new Set(this.table.rows.map((row) => texts.map((i) => row[i]).join(" ")))];
    this.group = this.groups[0];
    this.relative = bound !== null;
    const redraw = () => {
      this.fill();
      app.redraw("table");
    };
    const list = element(
      "select",
      { "aria-label": "Rows", change: () => ((this.group = this.groups[list.selectedIndex]), redraw()) },
      this.groups.map((name) => element("option", {}, name)),
    );
    const over = element(
      "button",
      {
        "aria-pressed": String(this.relative),
        click: () => {
          this.relative = !this.relative;
          over.setAttribute("aria-pressed", String(this.relative));
          redraw();
        },
      },
      "over the bound",
    );
    this.root = panel(
      "table",
      "Table",
      { class: "wide" },
      this.groups.length > 1 ? element("label", {}, "rows ", list) : null,
      bound === null ? null : over,
    );
    this.canvas = element("canvas", {
      role: "img",
      "aria-label": "Lines of the table",
      "data-panel": 14,
      pointermove: (event) => {
        const thing = nearest(this.canvas, event, this.places);
        if (thing) app.tip.show(event, [thing]);
        else app.tip.hide();
      },
      pointerleave: () => app.tip.hide(),
    });
    this.legend = element("div", { class: "legend" });
    this.cells = element("div", { class: "table" });
    this.root.append(this.canvas, this.legend, this.cells);
    this.fill();
  }

  /// Those of the group that have a place in the picture.
  get rows() {
    const { texts, along } = this.roles;
    return this.table.rows.filter(
      (row) => texts.map((i) => row[i]).join(" ") === this.group && row[along] !== null,
    );
  }
  textOf(value) {
    if (value === null) return "–";
    return this.relative ? digits(value, 3) : this.roles.timed ? secondsText(value) : digits(value);
  }
  valueOf(row, i) {
    const { bound } = this.roles;
    return row[i] === null || !this.relative ? row[i] : row[i] / row[bound];
  }

  fill() {
    const { columns } = this.table;
    const { along, bound, lines, timed } = this.roles;
    const shown = [...(bound === null || this.relative ? [] : [bound]), ...lines];
    const sizeText = timed ? bytesText : (value) => digits(value);
    this.legend.replaceChildren(
      ...lines.map((i, n) =>
        element(
          "span",
          {},
          element("span", { class: "key", style: `background:var(--part${n % 8})` }),
          columns[i],
        ),
      ),
    );
    this.cells.replaceChildren(
      element(
        "table",
        {},
        element(
          "caption",
          {},
          `${this.table.file}${this.relative ? ": times over the bound" : ""}; the least of a row is heavy`,
        ),
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            [along, ...shown].map((i) => element("th", { scope: "col" }, columns[i])),
          ),
        ),
        element(
          "tbody",
          {},
          this.rows.map((row) => {
            const least = Math.min(...lines.map((i) => row[i] ?? Infinity));
            return element(
              "tr",
              {},
              element("td", {}, sizeText(row[along])),
              shown.map((i) =>
                element(
                  "td",
                  {},
                  row[i] === least && i !== bound
                    ? element("strong", {}, this.textOf(this.valueOf(row, i)))
                    : this.textOf(this.valueOf(row, i)),
                ),
              ),
            );
          }),
        ),
      ),
    );
  }

  draw() {
    const { columns } = this.table;
    const { along, bound, lines, timed } = this.roles;
    const palette = colors();
    const sizeText = timed ? bytesText : (value) => digits(value);
    const series = lines.map((i, n) => ({
      points: this.rows
        .filter((row) => row[i] !== null)
        .map((row) => [
          row[along],
          this.valueOf(row, i),
          `${columns[i]}, ${sizeText(row[along])}: ${this.textOf(this.valueOf(row, i))}`,
        ]),
      color: palette.part[n % 8],
      line: 1.5,
      dot: 2.5,
    }));
    if (bound !== null)
      series.push({
        points: this.rows.map((row) => [row[along], this.valueOf(row, bound)]),
        color: palette.fault,
        line: 1.5,
        dot: 0,
        dash: [5, 4],
      });
    this.places = drawChart(
      this.canvas,
      320,
      series,
      { log: true, base: timed ? 2 : 10, text: sizeText, title: columns[along] },
      {
        log: true,
        text: (value) => this.textOf(value),
        title: `${this.group}${bound === null ? "" : "; dashed: the bound"}`,
      },
    );
  }
}
