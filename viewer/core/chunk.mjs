// The path of one block of one part through the torus: the messages and sums that brought it to its
// final place, and for a sum also its later path.
import { kKinds, receives, sends } from "./schedule.mjs";

const kIn = 1,
  kOut = 2,
  kMostSteps = 5000,
  kMostTime = 2000; // ms; the page waits
const [kRecv, kRecvReduce, kReduce, kCopy] = ["recv", "recv_reduce", "reduce", "copy"].map((name) => kKinds.indexOf(name));

/// Looks up in a run's events, for nodes by their coordinates, writes and sends of a block:
/// coordinates of its owner, of pairs those of the source and then of the destination.
export class ChunkFollower {
  constructor(run, part, block, mostTime = kMostTime) {
    this.run = run;
    this.last = performance.now() + mostTime;
    this.isCut = false;
    this.schedule = run.schedule;
    this.part = part;
    this.block = block;
    this.byClass = run.ranks.map(() => null);
  }

  /// The index of the simulated node that represents a node; -1: unknown.
  classOf(at) {
    const { run, schedule } = this;
    return run.ranks.length === 1 ? 0 : (run.data.events.class_of_site?.[schedule.siteOf(at)] ?? -1);
  }
  /// Whether simulated nodes represent all nodes.
  static knows(run) {
    return run.ranks.length === 1 || Boolean(run.data.events.class_of_site);
  }

  /// Events of a class that name the part in their writes and their sends, by their ends.
  eventsOf(node) {
    const { run, schedule } = this;
    if (this.byClass[node]) return this.byClass[node];
    const names = (region) =>
      schedule.data.regions[region]?.[1].some(
        ([first, parts]) => first <= this.part && this.part < first + parts,
      );
    const { kind, dst, a } = schedule.operations;
    const op = (e) => run.operation[e];
    // Local work may take no time: then operations keep their order.
    const events = [...run.eventsOfRank[node]].sort(
      (one, other) => run.end[one] - run.end[other] || run.start[one] - run.start[other] || op(one) - op(other),
    );
    this.byClass[node] = {
      writes: events.filter((e) => !sends(kind[op(e)]) && names(dst[op(e)])),
      sends: events.filter((e) => sends(kind[op(e)]) && names(a[op(e)])),
    };
    return this.byClass[node];
  }

  /// Whether a path of this many steps may continue: it is within the limits of length and time.
  goesOn(steps) {
    this.isCut ||= steps.length >= kMostSteps || performance.now() >= this.last;
    return !this.isCut;
  }

  /// The shift from the sender to the receiver by which an operation of the node `at` names the
  /// block in `region`, or zeros without a peer; null: it does not name it.
  shiftNaming(op, region, at) {
    const { schedule, part, block } = this;
    const { axes, data } = schedule;
    const loop = schedule.peerLoopOf(op);
    const sign = receives(schedule.operations.kind[op]) ? -1 : 1;
    const fixed = (data.shifts[schedule.operations.peer[op]] ?? axes.map(() => 0)).map((step) => sign * step);
    const inside = ([kind, start, length], axis, coordinate, shift) => {
      if (kind === 0) return true;
      const { size } = axes[axis];
      const from = { 1: 0, 2: at[axis], 6: at[axis] + shift, 7: at[axis] - shift }[kind];
      return from !== undefined && (((coordinate - from - start) % size) + size) % size < length;
    };
    for (const [first, parts, box] of data.regions[region]?.[1] ?? []) {
      if (part < first || part >= first + parts) continue;
      const boxes = data.block_pairs ? data.block_pairs[box] : [box];
      const shifts = axes.map((_, axis) => {
        const [begin, count] = loop ? [loop[0][axis], Math.max(1, loop[1][axis])] : [fixed[axis], 1];
        for (let shift = begin; shift < begin + count; ++shift) {
          if (
            boxes.every((number, i) =>
              inside(data.boxes[number][axis], axis, block[i * axes.length + axis], shift),
            )
          )
            return loop && loop[1][axis] === 0 ? 0 : shift;
        }
        return null;
      });
      if (!shifts.includes(null)) return shifts;
    }
    return null;
  }
  moved(at, shift, sign) {
    return at.map((coordinate, axis) => {
      const { size } = this.schedule.axes[axis];
      return (((coordinate + sign * shift[axis]) % size) + size) % size;
    });
  }

  /// The last write of the block at a node that has ended by `time`, into `buffer` (0: any), and
  /// before the write `next`, if one is given.
  lastWrite(at, buffer, time, next = null) {
    const { run, schedule } = this;
    const node = this.classOf(at);
    if (node < 0) return null;
    const { writes } = this.eventsOf(node);
    const end = next === null ? writes.length : writes.indexOf(next);
    const found = writes.findLast((e, i) => {
      const region = schedule.operations.dst[run.operation[e]];
      if (i >= end || run.end[e] > time + 1 || (buffer && schedule.data.regions[region][0] !== buffer)) return false;
      return this.shiftNaming(run.operation[e], region, at) !== null;
    });
    return found ?? null;
  }

  /// The message that a receive of the node `at` gets: its sender, and the events of both ends.
  messageInto(e, at) {
    const { run, schedule } = this;
    const op = run.operation[e];
    const shift = this.shiftNaming(op, schedule.operations.dst[op], at);
    const from = this.moved(at, shift, -1);
    const node = this.classOf(from);
    if (node < 0) return null;
    const fits = (send) => {
      const named = this.shiftNaming(
        run.operation[send],
        schedule.operations.a[run.operation[send]],
        from,
      );
      return named !== null && this.moved(from, named, 1).join() === at.join();
    };
    const { partner } = run;
    // Nodes of one class may receive from nodes of several.
    const own = partner[e] < 0 ? -1 : run.eventOf(run.operation[partner[e]], node);
    const { sends: all } = this.eventsOf(node);
    const send =
      own >= 0 && run.rank[own] === node && fits(own)
        ? own
        : all.findLast((other) => run.wire_begin[other] <= run.end[e] && fits(other));
    return send === undefined ? null : { send, receive: e, from, to: at };
  }

  /// The path of the block to the node `at` by `time`: steps from the first to the last, messages {
  /// send, receive, from, to } and local work { work, from, to }.
  wayTo(at, buffer, time) {
    const { run, schedule } = this;
    const steps = [];
    for (let e = this.lastWrite(at, buffer, time); e !== null && this.goesOn(steps); ) {
      const kind = schedule.operations.kind[run.operation[e]];
      const region = schedule.data.regions[schedule.operations.a[run.operation[e]]];
      if (receives(kind)) {
        const message = this.messageInto(e, at);
        if (!message) break;
        steps.push(message);
        at = message.from;
        const source = schedule.data.regions[schedule.operations.a[run.operation[message.send]]][0];
        e = source === kIn ? null : this.lastWrite(at, source, run.start[message.send]);
      } else {
        steps.push({ work: e, from: at, to: at });
        const isCopy = kind === kCopy;
        e = isCopy && region[0] === kIn ? null : this.lastWrite(at, isCopy ? region[0] : 0, run.start[e], e);
      }
    }
    return steps.reverse();
  }

  /// The later path of a sum from the node `at`, from `time` on: messages that are added to others.
  wayOn(at, time) {
    const { run, schedule } = this;
    const { kind } = schedule.operations;
    const steps = [];
    const taken = new Set();
    while (this.goesOn(steps)) {
      const node = this.classOf(at);
      if (node < 0) break;
      let next = null;
      for (const send of this.eventsOf(node).sends) {
        if (run.start[send] + 1 < time || taken.has(`${send} ${at}`)) continue;
        if (!this.goesOn(steps)) break;
        const shift = this.shiftNaming(run.operation[send], schedule.operations.a[run.operation[send]], at);
        if (!shift) continue;
        const to = this.moved(at, shift, 1);
        const receiver = this.classOf(to);
        if (receiver < 0) continue;
        const own = run.partner[send] < 0 ? -1 : run.eventOf(run.operation[run.partner[send]], receiver);
        if (own < 0 || run.rank[own] !== receiver) continue;
        const work =
          kind[run.operation[own]] === kRecv
            ? this.eventsOf(receiver).writes.find(
                (e) =>
                  kind[run.operation[e]] === kReduce &&
                  run.start[e] + 1 >= run.end[own] &&
                  this.shiftNaming(run.operation[e], schedule.operations.dst[run.operation[e]], to),
              )
            : undefined;
        if (kind[run.operation[own]] !== kRecvReduce && work === undefined) continue;
        next = { send, receive: own, from: at, to, work };
        break;
      }
      if (!next) break;
      taken.add(`${next.send} ${at}`);
      const { work, ...message } = next;
      steps.push(message);
      if (work !== undefined) steps.push({ work, from: next.to, to: next.to });
      at = next.to;
      time = run.end[work ?? next.receive];
    }
    return steps;
  }
}

/// The path of a block of `part`, relative to the simulated node `rank`: the origin of the node's
/// final data (of a sum the contribution that arrived last), and the later path of its sum.
/// `isCut`: it exceeds the limit.
export function followChunk(run, rank, part, block, mostTime = kMostTime) {
  const { schedule } = run;
  const at = schedule.coordinatesOfSite(schedule.siteOfRank(run.ranks[rank]));
  const follower = new ChunkFollower(run, part, block, mostTime);
  const came = follower.wayTo(at, follower.lastWrite(at, kOut, Infinity) === null ? 0 : kOut, Infinity);
  const last = came.at(-1);
  const on = schedule.data.reduces
    ? follower.wayOn(at, last ? run.end[last.work ?? last.receive] : 0)
    : [];
  return { part, block, at, steps: [...came, ...on], isCut: follower.isCut };
}

/// The position of a node relative to another, "X+1 Y−2"; "here": the same.
export function offsetText(schedule, at, from) {
  const text = at
    .map((coordinate, axis) => {
      const step = schedule.shortWay(coordinate - from[axis], axis);
      return step === 0 ? "" : `${schedule.axes[axis].name}${step > 0 ? "+" : "−"}${Math.abs(step)}`;
    })
    .filter(Boolean)
    .join(" ");
  return text || "here";
}

/// The events of a path, in order.
export function eventsOfWay(way) {
  return way.steps.flatMap((step) => (step.work === undefined ? [step.send, step.receive] : [step.work]));
}
