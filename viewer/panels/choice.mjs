// Panel 9, choice: the candidates, and the reason of the choice.
import { drawChart, nearest } from "../drawing/chart.mjs";
import { colors, element, panel } from "../drawing/dom.mjs";
import { bytesText, countText, digits, plural, reasonText, secondsText } from "../core/format.mjs";

const kColumns = [
  ["predicted_s", "predicted", secondsText],
  ["ratio", "× bound", (value) => digits(value)],
  ["busy_s", "busiest link", secondsText],
  ["steps", "steps", countText],
  ["messages", "messages", countText],
  ["operations", "operations", countText],
  ["name", "candidate", (text) => text],
];

export class ChoicePanel {
  constructor(app) {
    this.app = app;
    this.size = 0;
    this.order = ["predicted_s", 1];
    this.filter = "";
    const { choices } = app.schedule.data;
    const list = element(
      "select",
      {
        "aria-label": "Size",
        change: () => {
          this.size = list.selectedIndex;
          this.fill();
          app.redraw("choice");
        },
      },
      choices.map((choice) => element("option", {}, bytesText(choice.bytes))),
    );
    const filter = element("input", {
      type: "search",
      placeholder: "filter",
      "aria-label": "Filter candidates",
      input: () => {
        this.filter = filter.value;
        this.fill();
      },
    });
    this.root = panel(
      "choice",
      "Choice",
      { class: "wide" },
      choices.length > 1 ? element("label", {}, "size ", list) : null,
      filter,
    );
    this.canvas = element("canvas", {
      role: "img",
      "aria-label": "Candidates by messages and time",
      "data-panel": 9,
      pointermove: (event) => {
        const row = nearest(this.canvas, event, this.places);
        if (row)
          app.tip.show(event, [
            row.name,
            `${secondsText(row.predicted_s)}, ${plural(row.messages, "message")}`,
          ]);
        else app.tip.hide();
      },
      pointerleave: () => app.tip.hide(),
    });
    this.reason = element("p", {});
    this.table = element("div", { class: "table", style: "max-height:420px;overflow:auto" });
    this.others = element("details", { class: "legend", style: "display:block" });
    this.legend = element("div", { class: "legend" });
    this.root.append(this.reason, this.canvas, this.legend, this.table, this.others);
    this.fill();
  }

  get choice() {
    return this.app.schedule.data.choices[this.size];
  }
  get rows() {
    const { bound_s: bound } = this.choice;
    return this.choice.candidates
      .filter((row) => row.refusal === undefined)
      .map((row) => ({ ...row, ratio: bound > 0 ? row.predicted_s / bound : 1 }));
  }

  fill() {
    const { choice } = this;
    const best = choice.candidates[0];
    this.reason.replaceChildren(
      element("strong", {}, `Chosen for ${bytesText(choice.bytes)}: ${best.name}`),
      `; ${reasonText(choice.reason)}.`,
    );
    const [key, direction] = this.order;
    const rows = this.rows
      .filter((row) => row.name.includes(this.filter))
      .sort((a, b) => direction * (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0));
    const head = kColumns.map(([column, title]) =>
      element(
        "th",
        {
          scope: "col",
          class: column === "name" ? "left" : "",
          "aria-sort": column === key ? (direction > 0 ? "ascending" : "descending") : "none",
        },
        element(
          "button",
          {
            click: () => {
              this.order = [column, column === key ? -direction : 1];
              this.fill();
            },
          },
          `${title}${column === key ? (direction > 0 ? " ▲" : " ▼") : ""}`,
        ),
      ),
    );
    this.table.replaceChildren(
      element(
        "table",
        {},
        element("thead", {}, element("tr", {}, head)),
        element(
          "tbody",
          {},
          rows.map((row) =>
            element(
              "tr",
              { class: row.name === best.name ? "best" : "" },
              kColumns.map(([column, , text]) =>
                element(
                  "td",
                  { class: column === "name" ? "left" : "" },
                  column === "name"
                    ? `${row.name}${row.how ? ` (${row.how})` : ""}${row.is_of_file ? " ← this file" : ""}`
                    : text(row[column]),
                ),
              ),
            ),
          ),
        ),
      ),
    );
    const refused = choice.candidates.filter((row) => row.refusal !== undefined);
    const left = [
      ...refused.map((row) => `${row.name}: ${row.refusal}`),
      ...choice.left_out.map((row) => `${row.what}: ${reasonText(row.reason)}`),
    ];
    this.others.hidden = left.length === 0;
    this.others.replaceChildren(
      element("summary", {}, `${plural(left.length, "thing")} not tried or not possible`),
      ...left.map((text) => element("div", {}, text)),
    );
  }

  draw() {
    const { choices } = this.app.schedule.data;
    const palette = colors();
    if (choices.length === 1) {
      const { rows } = this;
      const best = this.choice.candidates[0];
      const messages = rows.map((row) => row.messages);
      this.places = drawChart(
        this.canvas,
        260,
        [
          {
            points: [
              [Math.min(...messages), this.choice.bound_s],
              [Math.max(...messages), this.choice.bound_s],
            ],
            color: palette.fault,
            line: 1.5,
            dot: 0,
            dash: [5, 4],
          },
          {
            points: rows
              .filter((row) => row.name !== best.name)
              .map((row) => [row.messages, row.predicted_s, row]),
            color: palette.part[0],
            hollow: true,
          },
          { points: [[best.messages, best.predicted_s, { ...best }]], color: palette.part[1], dot: 6 },
        ],
        { log: true, text: (value) => digits(value), title: "messages of a node" },
        { log: true, text: secondsText, title: "predicted; dashed: the bound; full: chosen" },
      );
      this.canvas.setAttribute(
        "aria-label",
        `${plural(rows.length, "candidate")}, from ${secondsText(best.predicted_s)}; the bound is ${secondsText(this.choice.bound_s)}`,
      );
      return;
    }
    // A line for every candidate with more than one size; the chosen ones, heavy.
    const byName = new Map();
    for (const choice of choices)
      for (const row of choice.candidates) {
        if (row.refusal !== undefined) continue;
        if (!byName.has(row.algorithm)) byName.set(row.algorithm, new Map());
        const line = byName.get(row.algorithm),
          known = line.get(choice.bytes);
        if (!known || row.predicted_s < known[1])
          line.set(choice.bytes, [choice.bytes, row.predicted_s, row]);
      }
    this.legend.replaceChildren(
      ...[...byName.keys()].map((name, i) =>
        element("span", {}, element("span", { class: "key", style: `background:var(--part${i % 8})` }), name),
      ),
    );
    const series = [...byName.values()].map((line, i) => ({
      points: [...line.values()],
      color: palette.part[i % 8],
      line: 1,
      dot: 2.5,
    }));
    series.push({
      points: choices.map((choice) => [choice.bytes, choice.candidates[0].predicted_s]),
      color: palette.text,
      line: 2.5,
      dot: 0,
    });
    series.push({
      points: choices.map((choice) => [choice.bytes, choice.bound_s]),
      color: palette.fault,
      line: 1.5,
      dot: 0,
      dash: [5, 4],
    });
    this.places = drawChart(
      this.canvas,
      300,
      series,
      { log: true, base: 2, text: bytesText, title: "size" },
      {
        log: true,
        text: secondsText,
        title: "predicted: the best of each algorithm; heavy: chosen; dashed: the bound",
      },
    );
    this.canvas.setAttribute(
      "aria-label",
      `Predicted times of ${plural(byName.size, "algorithm")} for ${plural(choices.length, "size")}`,
    );
  }
}
