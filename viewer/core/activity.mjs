// The activity of a node at a time.
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
