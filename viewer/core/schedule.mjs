// A schedule and a run of it, with the queries of the panels. Operations are counted with loops
// unrolled; their sources are those of the text.

import { plural } from "./format.mjs";

export const kKinds = ["send", "recv", "recv_reduce", "reduce", "copy", "notify", "await"];
export const kWaits = ["nothing", "dependence", "peer", "core", "interface", "port"];
const kSends = new Set([0, 5]),
  kReceives = new Set([1, 2, 6]);
export const sends = (kind) => kSends.has(kind);
export const receives = (kind) => kReceives.has(kind);

export class Schedule {
  constructor(data) {
    this.data = data;
    this.axes = data.topology.axes;
    this.operations = data.operations;
    this.count = this.operations.kind.length;
    this.lines = data.text.split("\n");
    this.lineOfSource = new Map();
    this.sourceOfLine = new Map();
    this.lines.forEach((line, number) => {
      const match = /^\s*%(\d+) = /.exec(line);
      if (!match) return;
      this.lineOfSource.set(Number(match[1]), number);
      this.sourceOfLine.set(number, Number(match[1]));
    });
    this.firstOfSource = new Map();
    for (let op = 0; op < this.count; ++op) {
      if (!this.firstOfSource.has(this.sourceOf(op))) this.firstOfSource.set(this.sourceOf(op), op);
    }
  }

  /// The lines after a pass. Its text is in pieces, shared with other passes, and gives the offset
  /// of operation numbers in a line.
  linesAfter(pass) {
    let own = -1;
    const text = this.data.pass_texts.map((pieces) => pieces[pass]).join("");
    return text.split("\n").map((line) => {
      if (/^ *%/.test(line)) ++own;
      return line.replace(/%(-?\d+)/g, (_, before) => `%${own - before}`);
    });
  }
  sourceOf(op) {
    return this.operations.source ? this.operations.source[op] : op;
  }
  /// "%12", or "%12, i = 3" in a loop.
  nameOf(op) {
    const counters = this.operations.counters?.[op] ?? [];
    return [`%${this.sourceOf(op)}`, ...counters.map((at, level) => `${"ijkl"[level]} = ${at}`)].join(", ");
  }
  textOf(op) {
    return (this.lines[this.lineOfSource.get(this.sourceOf(op))] ?? "").trim();
  }
  /// The part of its stream; null: any.
  partOf(op) {
    const part = this.data.streams[this.operations.stream[op]][0];
    return part < 0 ? null : part;
  }
  colorOf(op) {
    return this.data.parts[this.partOf(op) ?? 0]?.[0] ?? 0;
  }
  directionOf(op) {
    return this.data.parts[this.partOf(op) ?? 0]?.[1] ?? 0;
  }

  /// From the sender to the receiver, one number per axis, the short way around on rings; null for
  /// a loop over peers, and without a peer.
  shiftOf(op) {
    const peer = this.operations.peer[op];
    if (peer < 0 || peer >= this.data.shifts.length) return null;
    const sign = receives(this.operations.kind[op]) ? -1 : 1;
    return this.data.shifts[peer].map((step, axis) => this.shortWay(sign * step, axis));
  }
  shortWay(step, axis) {
    const { size, kind } = this.axes[axis];
    if (kind === "mesh" && size > 2) return step;
    if (Math.abs(step) * 2 <= size) return step;
    return step > 0 ? step - size : step + size;
  }
  /// The loop over peers of an operation; null: it has none.
  peerLoopOf(op) {
    const loop = this.operations.peer[op] - this.data.shifts.length;
    return loop >= 0 ? this.data.peer_loops[loop] : null;
  }
  /// The shifts of a loop over peers, without the node itself; `most` at most.
  shiftsOfLoop([first, count], most) {
    let shifts = [[]];
    for (let axis = 0; axis < first.length; ++axis) {
      const steps = Array.from({ length: Math.max(1, count[axis]) }, (_, i) =>
        count[axis] > 0 ? this.shortWay(first[axis] + i, axis) : 0,
      );
      shifts = shifts.flatMap((shift) => steps.map((step) => [...shift, step])).slice(0, most + 1);
    }
    return shifts.filter((shift) => shift.some((step) => step !== 0)).slice(0, most);
  }
  /// Links of an axis and sign that a message of `op` crosses; of a loop over peers on average.
  hopsOf(op, axis, sign) {
    const shift = this.shiftOf(op);
    if (shift) return Math.max(0, sign * shift[axis]);
    const loop = this.peerLoopOf(op);
    if (!loop) return 0;
    const [first, count, size] = loop;
    let hops = 0;
    for (let i = 0; i < count[axis]; ++i) hops += Math.max(0, sign * this.shortWay(first[axis] + i, axis));
    return (
      (hops * count.reduce((all, along, other) => (other === axis ? all : all * Math.max(1, along)), 1)) /
      size
    );
  }
  /// "X+1 Y-2": its destination or source.
  peerText(op) {
    const kind = this.operations.kind[op];
    const loop = this.peerLoopOf(op);
    if (loop) return `${receives(kind) ? "from" : "to"} ${loop[2]} peers`;
    const shift = this.shiftOf(op);
    if (!shift) return "";
    const sign = receives(kind) ? -1 : 1;
    const text = shift
      .map((step, axis) =>
        step === 0 ? "" : `${this.axes[axis].name}${sign * step > 0 ? "+" : ""}${sign * step}`,
      )
      .filter(Boolean)
      .join(" ");
    return (receives(kind) ? "from " : "to ") + text;
  }
  /// Coordinates of a rank, by its order; with dead nodes, of a site.
  coordinatesOfSite(site) {
    const at = this.axes.map(() => 0);
    for (const name of this.data.topology.order) {
      const axis = this.axes.findIndex((other) => other.name === name);
      at[axis] = site % this.axes[axis].size;
      site = Math.floor(site / this.axes[axis].size);
    }
    return at;
  }
  siteOf(at) {
    let site = 0,
      stride = 1;
    for (const name of this.data.topology.order) {
      const axis = this.axes.findIndex((other) => other.name === name);
      site += at[axis] * stride;
      stride *= this.axes[axis].size;
    }
    return site;
  }
  get sites() {
    return this.axes.reduce((all, axis) => all * axis.size, 1);
  }
  /// "dead node (1, 2); dead cable (0, 0) X"; empty: the torus is whole.
  get damageText() {
    const { dead_nodes = [], dead_links = [] } = this.data.topology;
    const listed = (name, places) =>
      places.length === 0
        ? []
        : [
            `${plural(places.length, name)} ${places.slice(0, 8).join(", ")}${places.length > 8 ? ", …" : ""}`,
          ];
    return [
      ...listed("dead node", dead_nodes.map((at) => `(${at.join(", ")})`)),
      ...listed("dead cable", dead_links.map(({ from, axis }) => `(${from.join(", ")}) ${axis}`)),
    ].join("; ");
  }
  /// The sites of ranks: dead nodes have none.
  deadSites() {
    return new Set((this.data.topology.dead_nodes ?? []).map((at) => this.siteOf(at)));
  }
  siteOfRank(rank) {
    const dead = [...this.deadSites()].sort((a, b) => a - b);
    let site = rank;
    for (const other of dead) if (other <= site) ++site;
    return site;
  }
  /// "rank 5 (1, 1, 0)".
  rankText(rank) {
    return `rank ${rank} (${this.coordinatesOfSite(this.siteOfRank(rank)).join(", ")})`;
  }
  /// "color 0 +, chunk 1".
  partText(part) {
    if (part === null) return "any part";
    const [color, direction, chunk] = this.data.parts[part];
    const chunks = this.data.parts.some((other) => other[2] > 0);
    const directions = this.data.parts.some((other) => other[1] > 0);
    return `color ${color}${directions ? (direction ? " −" : " +") : ""}${chunks ? `, chunk ${chunk}` : ""}`;
  }
}

/// The columns of events with integer times and places, as in view.schema.json.
function columnsOf(events, kinds) {
  const columns = {};
  for (const key of ["operation", "rank", "begin", "end", "start", "bytes", "wire_begin", "wire_end", "waited_for"])
    columns[key] = Float64Array.from(events[key]);
  for (const key of ["begun_by", "partner", "cause"])
    columns[key] = Float64Array.from(events[key], (steps, e) => (steps === 0 ? -1 : e + steps));
  const { operation, begin, begun_by, end, start, partner, wire_begin, wire_end, cause } = columns;
  const isArrival = (e) => receives(kinds[operation[e]]) && partner[e] >= 0;
  let above = 0;
  for (let e = 0; e < end.length; ++e) if (!isArrival(e)) above = end[e] += above;
  for (let e = 0; e < end.length; ++e) if (isArrival(e)) end[e] += end[partner[e]];
  for (let e = 0; e < end.length; ++e) {
    if (begun_by[e] >= 0) begin[e] = end[begun_by[e]];
    start[e] += cause[e] >= 0 ? end[cause[e]] : begin[e];
    if (!sends(kinds[operation[e]])) continue;
    wire_begin[e] += start[e];
    wire_end[e] = end[e] - wire_end[e];
  }
  return columns;
}

export class Run {
  constructor(schedule, data) {
    this.schedule = schedule;
    this.data = data;
    const events = data.events;
    this.hasEvents = Boolean(events);
    if (!events) return;
    this.tick = events.tick_s;
    this.count = events.operation.length;
    this.ranks = events.ranks;
    Object.assign(this, columnsOf(events, schedule.operations.kind));
    this.segment = events.segment ?? null;
    // Segments without events: { first, count, begin, end }.
    this.continued = events.continued ?? null;
    this.span = 0;
    for (const end of this.end) this.span = Math.max(this.span, end);
    this.eventsOfRank = this.ranks.map(() => []);
    this.eventsOfOperation = new Map();
    for (let e = 0; e < this.count; ++e) {
      this.eventsOfRank[this.rank[e]].push(e);
      const op = this.operation[e];
      if (!this.eventsOfOperation.has(op)) this.eventsOfOperation.set(op, []);
      this.eventsOfOperation.get(op).push(e);
    }
    // From the first event to the last, each waiting for the one before.
    this.critical = events.critical;
    this.criticalPath = events.critical.map(([e]) => e);
  }

  /// The event of an operation on a rank, or on any if it has none.
  eventOf(op, rank, segment = 0) {
    const events = this.eventsOfOperation.get(op) ?? [];
    const own = events.filter((e) => this.rank[e] === rank);
    return own.find((e) => (this.segment?.[e] ?? 0) === segment) ?? own[0] ?? events[0] ?? -1;
  }
  seconds(ticks) {
    return ticks * this.tick;
  }
  sendOf(e) {
    const kind = this.schedule.operations.kind[this.operation[e]];
    return sends(kind) ? e : receives(kind) ? this.partner[e] : -1;
  }

  /// Ticks of the critical path by their use.
  criticalShares() {
    const shares = { wire: 0, "start-up and waiting": 0, "local work": 0 };
    let done = 0;
    for (const [e, start, end] of this.critical) {
      const begin = Math.max(done, start);
      done = Math.max(done, end);
      const send = this.sendOf(e);
      if (send < 0) {
        shares["local work"] += Math.max(0, end - begin);
        continue;
      }
      const wire = Math.max(0, Math.min(end, this.wire_end[send]) - Math.max(begin, this.wire_begin[send]));
      const work = send === e ? 0 : Math.max(0, end - Math.max(begin, this.wire_end[send]));
      shares.wire += wire;
      shares["local work"] += work;
      shares["start-up and waiting"] += Math.max(0, end - begin - wire - work);
    }
    return shares;
  }
}
