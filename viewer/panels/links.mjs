// Panel 6, links: the load of each phase on the links of every axis and direction.
import { element, panel } from "../drawing/dom.mjs";
import { bytesText, digits, secondsText } from "../core/format.mjs";

export class LinksPanel {
  constructor(app) {
    this.app = app;
    this.root = panel("links", "Links", { class: "wide" });
    this.table = element("div", { class: "table" });
    this.root.append(this.table);
  }

  draw() {
    const { schedule, run } = this.app;
    if (this.drawnFor === schedule && this.drawnRun === run) return;
    this.drawnFor = schedule;
    this.drawnRun = run;
    const { proof } = schedule.data;
    const names = [...new Set(proof.phases.flatMap((phase) => Object.keys(phase.loads)))].sort(
      linkOrder(schedule),
    );
    const largest = Math.max(
      1e-300,
      ...proof.phases.flatMap((phase) => Object.values(phase.loads).map(([, value]) => value)),
    );
    const cell = (load, most) =>
      load
        ? element(
            "td",
            {
              class: "heat",
              style: `--share:${Math.round((60 * load[1]) / most)}%`,
              title: digits(load[1], 6),
            },
            load[0] ?? digits(load[1], 5),
          )
        : element("td", {}, "–");
    const rows = proof.phases.map((phase) =>
      element(
        "tr",
        {},
        element("td", {}, `phase ${phase.phase}`),
        names.map((name) => cell(phase.loads[name], largest)),
      ),
    );
    const total = proof.total ?? {};
    const most = Math.max(1e-300, proof.bound?.[1] ?? 0, ...Object.values(total).map(([, value]) => value));
    const tables = [
      element(
        "table",
        {},
        element(
          "caption",
          {},
          "Shares of the vector that the busiest link of an axis and direction carries, phase by phase",
        ),
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            element("th", { scope: "col" }, "phase"),
            names.map((name) => element("th", { scope: "col" }, name)),
          ),
        ),
        element(
          "tbody",
          {},
          rows,
          proof.total
            ? element(
                "tr",
                { class: "best" },
                element("td", {}, "total"),
                names.map((name) => cell(total[name], most)),
              )
            : null,
        ),
      ),
    ];
    if (proof.total) {
      const bound = proof.bound;
      const bars = names
        .filter((name) => total[name])
        .map((name) =>
          element(
            "tr",
            {},
            element("td", {}, name),
            element(
              "td",
              { class: "left", style: "min-width:min(420px,34vw)" },
              barOf(total[name][1], bound?.[1] ?? null, most),
            ),
            element(
              "td",
              {},
              `${digits(total[name][1], 5)}${bound ? ` = ${digits(total[name][1] / bound[1])} × the line` : ""}`,
            ),
          ),
        );
      tables.push(
        element(
          "table",
          {},
          element(
            "caption",
            {},
            bound ? `Totals beside the least that the busiest link can carry, ${bound[0]} (line)` : "Totals",
          ),
          element("tbody", {}, bars),
        ),
      );
    }
    if (run) {
      tables.push(
        element(
          "table",
          {},
          element(
            "caption",
            {},
            `Predicted for ${bytesText(run.data.bytes)}: ${secondsText(run.data.makespan_s)}. Nothing takes less than ${secondsText(run.data.bandwidth_bound_s)} for the links, ${secondsText(run.data.compute_bound_s)} for the sums, ${secondsText(run.data.latency_bound_s)} for the distance`,
          ),
          element(
            "thead",
            {},
            element(
              "tr",
              {},
              ["link", "bytes", "busy", "idle"].map((name) => element("th", { scope: "col" }, name)),
            ),
          ),
          element(
            "tbody",
            {},
            run.data.links.map((use) =>
              element(
                "tr",
                { "data-link": use.link },
                element("td", {}, use.link),
                element("td", {}, bytesText(use.bytes)),
                element("td", {}, secondsText(use.busy_s)),
                element("td", {}, secondsText(use.idle_s)),
              ),
            ),
          ),
        ),
      );
    }
    this.table.replaceChildren(...tables);
  }
}

/// Puts names of links, "X+", in the order of axes.
export function linkOrder(schedule) {
  const place = (name) =>
    schedule.axes.findIndex((axis) => axis.name === name[0]) * 2 + (name[1] === "+" ? 0 : 1);
  return (a, b) => place(a) - place(b);
}

/// A bar of `value`, with an optional line at `bound`; `most` is as wide as the cell.
export function barOf(value, bound, most) {
  const line =
    bound === null
      ? ""
      : `linear-gradient(90deg, transparent calc(${(100 * bound) / most}% - 2px), var(--fault) 0, var(--fault) ${(100 * bound) / most}%, transparent 0), `;
  return element("div", {
    "aria-hidden": "true",
    style: `height:12px;background:${line}linear-gradient(90deg, var(--part0) ${(100 * value) / most}%, transparent 0)`,
  });
}
