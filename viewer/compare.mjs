// Several schedules beside each other.
import { element, panel } from "./dom.mjs";
import { bytesText, countText, digits, secondsText } from "./format.mjs";

export class ComparePanel {
  constructor(app) {
    this.app = app;
    this.root = panel("compare", "Compared", { class: "wide" });
    this.table = element("div", { class: "table" });
    this.root.append(this.table);
    this.fill();
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
  draw() {}
}
