// Events of a run as rows of a timeline, and in words.
import { bytesText, secondsText } from "./format.mjs";
import { binned, lanesOf } from "./scale.mjs";
import { kKinds, kWaits, receives, sends } from "./schedule.mjs";

/// Width of labels of rows, in pixels.
export const kLabel = 92;
/// For a whole run.
export const kBins = 2048;
const kMostLanes = 6;

/// The rows of a rank: its sends on each link, then the work of each color and direction.
export function rowsOf(run, rank) {
  const { schedule } = run;
  const events = [...run.eventsOfRank[rank]].sort((a, b) => run.begin[a] - run.begin[b]);
  const rows = [];
  const bandwidth = schedule.data.prediction.link_bandwidth;
  bandwidth.forEach((capacity, axis) => {
    for (const sign of [1, -1]) {
      const intervals = [];
      for (const e of events) {
        if (!sends(schedule.operations.kind[run.operation[e]])) continue;
        const hops = schedule.hopsOf(run.operation[e], axis, sign);
        const length = run.wire_end[e] - run.wire_begin[e];
        if (hops > 0 && length > 0)
          intervals.push([
            run.wire_begin[e],
            run.wire_end[e],
            (hops * run.bytes[e]) / (length * run.tick) / capacity,
            e,
          ]);
      }
      intervals.sort((a, b) => a[0] - b[0]);
      if (intervals.length > 0)
        rows.push({
          type: "link",
          label: `link ${schedule.axes[axis].name}${sign > 0 ? "+" : "−"}`,
          axis,
          sign,
          intervals,
          bins: binned(intervals, 0, run.span, kBins),
        });
    }
  });
  const streams = new Map();
  for (const e of events) {
    const op = run.operation[e],
      kind = schedule.operations.kind[op];
    const part = schedule.partOf(op);
    const [color, direction] = part === null ? [null, 0] : schedule.data.parts[part];
    const type = sends(kind) ? 0 : receives(kind) ? 1 : 2;
    const key = `${color} ${direction} ${type}`;
    if (!streams.has(key)) {
      const directions = schedule.data.parts.some((other) => other[1] > 0);
      const name = color === null ? "" : `c${color}${directions ? (direction ? "−" : "+") : ""} `;
      streams.set(key, {
        type: "stream",
        label: `${name}${["sends", "receives", "work"][type]}`,
        color: color ?? 7,
        laneOf: new Map(),
        order: (color ?? 999) * 10 + direction * 3 + type,
        events: [],
      });
    }
    streams.get(key).events.push(e);
  }
  for (const row of [...streams.values()].sort((a, b) => a.order - b.order)) {
    row.lanes = lanesOf(
      row.events,
      (e) => run.begin[e],
      (e) => run.end[e],
      kMostLanes,
    );
    row.lanes.forEach((lane, number) => lane.forEach((e) => row.laneOf.set(e, number)));
    row.bins = binned(
      row.events.map((e) => [run.begin[e], run.end[e]]),
      0,
      run.span,
      kBins,
    );
    rows.push(row);
  }
  return rows;
}

/// The cause of an event's wait, in words.
export function waitText(run, e) {
  const { schedule } = run;
  const what = kWaits[run.waited_for[e]];
  const cause = run.cause[e];
  if (what === "nothing" || cause < 0) return "ready from the beginning";
  const name = schedule.nameOf(run.operation[cause]);
  const where = run.rank[cause] === run.rank[e] ? "" : ` on ${schedule.rankText(run.ranks[run.rank[cause]])}`;
  return {
    dependence: `waited for ${name}${where}, which it depends on`,
    peer: `waited for ${name}${where}, which its message's other end depends on`,
    core: `waited for its core, busy with ${name}${where}`,
    interface: `waited for the node's interface, busy with ${name}${where}`,
    port: `waited for a port, in use by ${name}${where}`,
  }[what];
}

/// Lines about an event.
export function eventLines(run, e) {
  const { schedule } = run;
  const op = run.operation[e],
    kind = schedule.operations.kind[op];
  const size = run.bytes[e] > 0 ? `, ${bytesText(run.bytes[e])}` : "";
  const lines = [
    `${schedule.nameOf(op)}: ${kKinds[kind]} ${schedule.peerText(op)}${size}`.trim(),
    `${secondsText(run.seconds(run.begin[e]))} to ${secondsText(run.seconds(run.end[e]))} (${secondsText(run.seconds(run.end[e] - run.begin[e]))}), phase ${schedule.operations.phase[op]}, ${schedule.partText(schedule.partOf(op))}`,
    waitText(run, e),
  ];
  const send = run.sendOf(e);
  if (send >= 0 && run.wire_end[send] > run.wire_begin[send])
    lines.push(
      `on the links from ${secondsText(run.seconds(run.wire_begin[send]))} to ${secondsText(run.seconds(run.wire_end[send]))}`,
    );
  return lines;
}
