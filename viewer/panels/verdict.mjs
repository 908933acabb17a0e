// Panel 1, the verdict: correctness, speed, and the limiting resource.
import { element } from "../drawing/dom.mjs";
import { bytesText, countText, digits, plural, secondsText } from "../core/format.mjs";

/// The sentence of a prediction.
export function predictionText(run, machine) {
  const ratio = run.bound_s > 0 ? ` = ${digits(run.makespan_s / run.bound_s)} × the bound` : "";
  const busiest = [...run.links].sort((a, b) => b.busy_s - a.busy_s)[0];
  const link = busiest
    ? `; busiest link ${busiest.link} ${secondsText(busiest.busy_s)}, idle ${secondsText(busiest.idle_s)}`
    : "";
  return `${bytesText(run.bytes)} on ${machine}: ${secondsText(run.makespan_s)}${ratio}${link}`;
}

/// The sentence of a proof.
export function proofText(schedule) {
  const { proof } = schedule.data;
  if (!proof.ok) return `not proved: ${plural(proof.faults.length, "fault")}`;
  return `proved at ${plural(proof.cells, "cell")} of nodes for every count`;
}

export function verdictPanel(app) {
  const { schedule, run } = app;
  const { data } = schedule;
  const { proof, prediction } = data;
  const written = data.written_operations;
  const size = `${plural(written, "operation")}${written === schedule.count ? "" : ` (${countText(schedule.count)} with loops written out)`}`;
  const scratch = proof.ok ? `, scratch ${digits(proof.scratch_share)} of the vector` : "";
  const parts = [
    element(
      "div",
      { class: "verdict" },
      element("h1", {}, `${data.collective} on ${data.shape}`),
      ` · ${plural(data.ranks, "rank")} · ${size}${scratch} · `,
      element("span", { class: proof.ok ? "good" : "bad", id: "proof" }, proofText(schedule)),
    ),
  ];
  if (schedule.damageText)
    parts.push(element("div", { class: "verdict bad", id: "damage" }, schedule.damageText));
  if (prediction.fault) {
    parts.push(element("div", { class: "verdict bad" }, `no prediction: ${prediction.fault}`));
  } else if (run) {
    parts.push(
      element("div", { class: "verdict", id: "prediction" }, predictionText(run.data, prediction.machine)),
    );
  }
  if (proof.faults.length > 0) {
    parts.push(
      element(
        "ul",
        { class: "faults", "aria-label": "Faults" },
        proof.faults.map((fault, number) =>
          element(
            "li",
            {},
            element(
              "button",
              {
                "data-fault": number,
                click: () =>
                  fault.operation !== undefined &&
                  app.select({ op: schedule.firstOfSource.get(fault.operation), tab: "text" }),
              },
              `${fault.operation === undefined ? "" : `line ${schedule.lineOfSource.get(fault.operation) + 1}, %${fault.operation}: `}${fault.rule}: ${fault.message}`,
            ),
          ),
        ),
      ),
    );
  }
  return parts;
}
