// Several schedules side by side.
import { element, panel } from "../drawing/dom.mjs";
import { bytesText, countText, digits, secondsText } from "../core/format.mjs";
import { barOf, linkOrder } from "./links.mjs";
import { StackedTimelines } from "./stacked.mjs";

export class ComparePanel {
  constructor(app) {
    this.app = app;
    this.root = panel("compare", "Compared", { class: "wide" });
    this.table = element("div", { class: "table", id: "compared-times" });
    this.timelines = new StackedTimelines(app);
    this.about = element("p", { class: "legend" });
    this.links = element("div", { class: "table" });
    this.root.append(this.table, this.about, this.timelines.root, this.links);
    this.fill();
    this.fillLinks();
  }

  /// Totals of links side by side, each with its bound.
  fillLinks() {
    const schedules = this.app.schedules.filter(({ data }) => data.proof.total);
    if (schedules.length < 2) return;
    const names = schedules.flatMap((schedule) =>
      Object.keys(schedule.data.proof.total).sort(linkOrder(schedule)),
    );
    const values = schedules.flatMap(({ data: { proof } }) => [
      proof.bound?.[1] ?? 0,
      ...Object.values(proof.total).map(([, value]) => value),
    ]);
    const most = Math.max(1e-300, ...values);
    const cells = ({ data: { proof } }, name) => {
      const total = proof.total[name];
      if (!total) return [element("td", {}), element("td", {}, "–")];
      const bound = proof.bound?.[1] ?? null;
      return [
        element("td", { style: "min-width:90px" }, barOf(total[1], bound, most)),
        element("td", {}, `${digits(total[1])}${bound ? ` = ${digits(total[1] / bound, 3)} ×` : ""}`),
      ];
    };
    this.links.replaceChildren(
      element(
        "table",
        { id: "compared-links" },
        element(
          "caption",
          {},
          "Shares of the vector on the busiest link of an axis and direction, and how many times the least possible (line) that is",
        ),
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            element("th", { scope: "col" }, "link"),
            schedules.map(({ data }) => element("th", { scope: "col", colspan: 2 }, data.file)),
          ),
        ),
        element(
          "tbody",
          {},
          [...new Set(names)].map((name) =>
            element(
              "tr",
              {},
              element("td", {}, name),
              schedules.map((schedule) => cells(schedule, name)),
            ),
          ),
        ),
      ),
    );
  }

  fill() {
    const { schedules } = this.app;
    const sizes = [...new Set(schedules.flatMap(({ data }) => data.prediction.runs.map((run) => run.bytes)))];
    const tables = sizes.map((bytes) => {
      const rows = schedules
        .map(({ data }, file) => ({
          data,
          file,
          run: data.prediction.runs.find((run) => run.bytes === bytes),
        }))
        .filter(({ run }) => run);
      const most = Math.max(...rows.map(({ run }) => run.makespan_s));
      const least = Math.min(...rows.map(({ run }) => run.makespan_s));
      return element(
        "table",
        {},
        element("caption", {}, `${bytesText(bytes)} on ${rows[0].data.prediction.machine}; line: the bound`),
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            [
              "file",
              "",
              "predicted",
              "× bound",
              "× fastest",
              "busiest link",
              "messages",
              "steps",
              "operations",
            ].map((name) => element("th", { scope: "col" }, name)),
          ),
        ),
        element(
          "tbody",
          {},
          rows.map(({ data, file, run }) => {
            const busiest = Math.max(0, ...run.links.map((use) => use.busy_s));
            const bound = (100 * run.bound_s) / most;
            const bar = element("div", {
              "aria-hidden": "true",
              style: `height:12px;width:min(300px,40vw);background:linear-gradient(90deg, transparent calc(${bound}% - 2px), var(--fault) 0, var(--fault) ${bound}%, transparent 0), linear-gradient(90deg, var(--part0) ${(100 * run.makespan_s) / most}%, transparent 0)`,
            });
            return element(
              "tr",
              { class: run.makespan_s === least ? "best" : "" },
              element("td", {}, element("button", { click: () => this.app.showFile(file) }, data.file)),
              element("td", {}, bar),
              element("td", {}, secondsText(run.makespan_s)),
              element("td", {}, run.bound_s > 0 ? digits(run.makespan_s / run.bound_s) : "–"),
              element("td", {}, digits(run.makespan_s / least)),
              element("td", {}, secondsText(busiest)),
              element("td", {}, countText(run.messages)),
              element("td", {}, countText(run.steps)),
              element("td", {}, countText(data.written_operations)),
            );
          }),
        ),
      );
    });
    this.table.replaceChildren(...tables);
  }

  draw() {
    const { app } = this;
    const bytes = app.run?.data.bytes;
    if (this.shownBytes !== bytes) {
      this.shownBytes = bytes;
      const runs = app.schedules.flatMap((schedule, file) => {
        const run = app.runOf(
          schedule,
          schedule.data.prediction.runs.find((other) => other.bytes === bytes),
        );
        return run?.hasEvents ? [{ file, name: schedule.data.file, run }] : [];
      });
      this.hasTimelines = runs.length > 0;
      if (this.hasTimelines) this.timelines.show(runs);
      this.about.textContent = this.hasTimelines
        ? `Links of the busiest node of each file, ${bytesText(bytes)}, over one time axis; dashed: the bound. The wheel zooms with Ctrl, so do W, S, A, D and 0 where this has the focus; a click shows the file.`
        : "";
      this.timelines.root.hidden = !this.hasTimelines;
    }
    if (this.hasTimelines) this.timelines.draw();
  }
}
