// The activity of a node at a time, the share of its data that has arrived, and links without
// traffic.
import { lastBegun } from "./scale.mjs";
import { receives, sends } from "./schedule.mjs";

/// Active messages of a rank at a time, sent and received, with their shares of links; and local
/// work.
export function activityAt(run, rank, time) {
  const { schedule } = run;
  const found = { sending: [], receiving: [], working: [], waiting: 0 };
  for (const e of run.eventsOfRank[rank]) {
    if (run.begin[e] > time || run.end[e] < time) continue;
    const kind = schedule.operations.kind[run.operation[e]];
    const send = run.sendOf(e);
    if (send < 0) {
      if (!sends(kind) && !receives(kind)) found.working.push(e);
      continue;
    }
    const onWire = run.wire_begin[send] <= time && time < run.wire_end[send];
    if (!onWire) ++found.waiting;
    else if (send === e) found.sending.push(e);
    else found.receiving.push(e);
  }
  // A buffered send is complete while its data are still in transit.
  for (const e of run.eventsOfRank[rank]) {
    if (
      sends(schedule.operations.kind[run.operation[e]]) &&
      run.end[e] < time &&
      run.wire_begin[e] <= time &&
      time < run.wire_end[e]
    )
      found.sending.push(e);
  }
  return found;
}

/// The share of all bytes that a node receives that has arrived: a rank's function of the time. Nodes
/// that receive nothing, as the root of a broadcast, have all.
export function holdingsOf(run) {
  const { schedule } = run;
  const arrivals = run.eventsOfRank.map((events) =>
    events
      .filter((e) => receives(schedule.operations.kind[run.operation[e]]) && run.bytes[e] > 0)
      .sort((a, b) => run.end[a] - run.end[b]),
  );
  const sums = arrivals.map((events) => {
    let sum = 0;
    return events.map((e) => (sum += run.bytes[e]));
  });
  return (rank, time) => {
    const sum = sums[rank];
    if (sum.length === 0) return 1;
    const last = lastBegun(arrivals[rank], (e) => run.end[e], time);
    return last < 0 ? 0 : sum[last] / sum.at(-1);
  };
}

/// Links that carry data, as "site axis sign", of the classes of nodes `class_of_site`: a message
/// travels along one axis after the other. Null: loops over peers use too many to tell.
export function linksWithTraffic(run) {
  const { schedule } = run;
  const used = new Set();
  const shifts = run.eventsOfRank.map((events) => {
    const all = events
      .filter((e) => sends(schedule.operations.kind[run.operation[e]]) && run.bytes[e] > 0)
      .map((e) => schedule.shiftOf(run.operation[e]));
    return all.includes(null) ? null : [...new Map(all.map((shift) => [shift.join(), shift])).values()];
  });
  if (shifts.includes(null)) return null;
  run.data.events.class_of_site.forEach((rank, site) => {
    for (const shift of shifts[rank] ?? []) {
      const at = schedule.coordinatesOfSite(site);
      shift.forEach((step, axis) => {
        const { size } = schedule.axes[axis];
        for (let i = 0; i < Math.abs(step); ++i) {
          // Two nodes have one cable, inside.
          const sign = size === 2 ? 1 - 2 * at[axis] : Math.sign(step);
          used.add(`${schedule.siteOf(at)} ${axis} ${sign}`);
          at[axis] = (at[axis] + Math.sign(step) + size) % size;
        }
      });
    }
  });
  return used;
}
