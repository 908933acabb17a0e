// The picture of all nodes of a small torus, rotated by the pointer.
import { colorOfPart, colors } from "./dom.mjs";
import { activityAt, holdingsOf, linksWithTraffic } from "../core/activity.mjs";
import { placeOf, projected } from "../core/geometry.mjs";

export class AllNodesPicture {
  constructor(app) {
    this.app = app;
    this.turn = 0.6;
    this.tilt = 0.45;
    /// While it rotates: lines are thin, and have no tips, which halves the time to draw.
    this.turns = false;
  }

  draw(context, width, height) {
    const { schedule, run, state } = this.app;
    const palette = colors();
    if (this.layoutOf !== schedule) {
      this.layoutOf = schedule;
      this.sites = Array.from({ length: schedule.sites }, (_, site) => schedule.coordinatesOfSite(site));
      this.places = this.sites.map((at) => placeOf(at, schedule.axes));
      this.radius = Math.max(1.5, ...this.places.map(([x, y, z]) => Math.hypot(x, y, z)));
      // From a site along an axis, - then +.
      this.links = this.sites.map((_, site) =>
        schedule.axes.map((_, axis) => [-1, 1].map((sign) => this.linkOf(site, axis, sign))),
      );
      this.dead = this.deadLinks(schedule);
    }
    if (this.runOfLinks !== run) {
      this.runOfLinks = run;
      this.used = linksWithTraffic(run);
      this.holdings = holdingsOf(run);
    }
    const classes = run.data.events.class_of_site;
    const scale = (Math.min(width, height) / 2 - 18) / this.radius;
    const at = this.places.map((place) => {
      const [x, y] = projected(place, this.turn, this.tilt);
      return [width / 2 + x * scale, height / 2 + y * scale];
    });
    this.drawn = at;
    const link = (site, axis, sign) => this.links[site][axis][sign > 0 ? 1 : 0];
    const { dead } = this;
    context.strokeStyle = palette.line;
    context.lineWidth = 1;
    // Cables that carry data in a direction at least, then dotted the others.
    for (const carries of [true, false]) {
      context.setLineDash(carries ? [] : [1, 4]);
      context.beginPath();
      this.sites.forEach((_, site) =>
        schedule.axes.forEach((axis, i) => {
          if (axis.size < 2) return;
          const { to, wraps } = link(site, i, 1);
          if (wraps || (dead.size > 0 && dead.has(`${site} ${i}`))) return;
          const { used } = this;
          if ((!used || used.has(`${site} ${i} 1`) || used.has(`${to} ${i} -1`)) !== carries) return;
          context.moveTo(...at[site]);
          context.lineTo(...at[to]);
        }),
      );
      context.stroke();
    }
    context.setLineDash([]);
    // Messages, of each color in one path.
    const active = run.ranks.map((_, rank) =>
      activityAt(run, rank, state.time)
        .sending.map((e) => run.operation[e])
        .filter((op) => schedule.shiftOf(op)),
    );
    // Along one axis after the other, X first, `side` pixels beside the links.
    const trace = (from, shift, side) => {
      shift.forEach((step, axis) => {
        for (let i = 0; i < Math.abs(step); ++i) {
          const { to, wraps } = link(from, axis, Math.sign(step));
          let [x0, y0] = at[from],
            [x1, y1] = at[to];
          if (wraps) {
            // Out of the picture, in the direction of the step.
            const inner = link(from, axis, -Math.sign(step)).to;
            [x1, y1] = [x0 + (x0 - at[inner][0]) * 0.45, y0 + (y0 - at[inner][1]) * 0.45];
          }
          const length = Math.hypot(x1 - x0, y1 - y0) || 1;
          const [ox, oy] = [(-(y1 - y0) / length) * side, ((x1 - x0) / length) * side];
          [x0, y0, x1, y1] = [x0 + ox, y0 + oy, x0 + (x1 - x0) * 0.86 + ox, y0 + (y1 - y0) * 0.86 + oy];
          context.moveTo(x0, y0);
          context.lineTo(x1, y1);
          if (scale > 14 && !this.turns) {
            const angle = Math.atan2(y1 - y0, x1 - x0);
            context.lineTo(x1 - 5 * Math.cos(angle - 0.5), y1 - 5 * Math.sin(angle - 0.5));
          }
          from = to;
        }
      });
    };
    const byColor = new Map();
    classes.forEach((rank, site) => {
      for (const op of active[rank] ?? []) {
        const color = schedule.colorOf(op) % 8;
        if (!byColor.has(color)) byColor.set(color, []);
        byColor.get(color).push([site, schedule.shiftOf(op), schedule.directionOf(op)]);
      }
    });
    const thick = this.turns ? 1 : Math.max(1, Math.min(3, scale / 12));
    for (const [color, messages] of byColor) {
      context.strokeStyle = colorOfPart(color);
      context.lineWidth = thick;
      context.beginPath();
      for (const [site, shift, direction] of messages)
        trace(site, shift, ((color % 3) - 1) * 2 + (direction ? 1 : -1) * 1.5);
      context.stroke();
    }
    this.drawLoops(context, at);
    const { way } = this.app;
    context.strokeStyle = palette.good;
    for (const { work, send, receive, from, to } of way?.steps ?? []) {
      if (work !== undefined) continue;
      const goes = run.wire_begin[send] <= state.time && state.time < run.end[receive];
      context.lineWidth = goes ? 2.5 * thick : 1.3 * thick;
      context.beginPath();
      trace(
        schedule.siteOf(from),
        to.map((one, axis) => schedule.shortWay(one - from[axis], axis)),
        0,
      );
      context.stroke();
    }
    const radius = Math.max(1.5, Math.min(6, scale / 8));
    at.forEach(([x, y], site) => {
      context.beginPath();
      context.arc(x, y, radius, 0, 7);
      if (classes[site] < 0) {
        context.strokeStyle = palette.fault;
        context.lineWidth = 1.5;
        context.stroke();
        return;
      }
      const isChosen = classes[site] === state.rank && run.ranks.length > 1;
      context.fillStyle = palette.back;
      context.fill();
      context.strokeStyle = context.fillStyle = isChosen ? palette.accent : palette.text;
      context.lineWidth = 1;
      context.stroke();
      // The share of its data that it holds: a sector from the top.
      const share = this.holdings(classes[site], state.time);
      context.beginPath();
      context.moveTo(x, y);
      context.arc(x, y, radius, -Math.PI / 2, 2 * Math.PI * (share - 0.25));
      context.fill();
    });
    context.strokeStyle = palette.fault;
    context.lineWidth = 2;
    for (const key of dead) {
      const [site, axis] = key.split(" ").map(Number);
      const { to, wraps } = link(site, axis, 1);
      const inner = link(site, axis, -1).to;
      const [x, y] = wraps
        ? [at[site][0] + (at[site][0] - at[inner][0]) * 0.3, at[site][1] + (at[site][1] - at[inner][1]) * 0.3]
        : [(at[site][0] + at[to][0]) / 2, (at[site][1] + at[to][1]) / 2];
      context.beginPath();
      context.moveTo(x - 5, y - 5);
      context.lineTo(x + 5, y + 5);
      context.moveTo(x + 5, y - 5);
      context.lineTo(x - 5, y + 5);
      context.stroke();
    }
    if (this.sites.length > 128) return;
    context.fillStyle = palette.muted;
    context.font = '10px system-ui, "DejaVu Sans", sans-serif';
    context.textAlign = "left";
    let rank = 0;
    at.forEach(([x, y], site) => {
      if (classes[site] >= 0) context.fillText(String(rank++), x + radius + 1, y - radius - 1);
    });
  }

  /// The site at the other end of a link, and whether that is around the end of the axis.
  linkOf(site, axis, sign) {
    const { schedule } = this.app;
    const { size } = schedule.axes[axis];
    const next = [...this.sites[site]];
    next[axis] += sign;
    const wraps = next[axis] < 0 || next[axis] >= size;
    next[axis] = (next[axis] + size) % size;
    return { to: schedule.siteOf(next), wraps };
  }

  /// Whether a living node has a living link to another one.
  isLink(site, axis, sign) {
    const { schedule, run } = this.app;
    const { size, kind } = schedule.axes[axis];
    const classes = run.data.events.class_of_site;
    const { to, wraps } = this.links[site][axis][sign > 0 ? 1 : 0];
    if (size < 2 || (wraps && (kind === "mesh" || size === 2))) return false;
    return classes[site] >= 0 && classes[to] >= 0 && !this.dead.has(`${sign > 0 ? site : to} ${axis}`);
  }

  /// Messages of loops over peers, straight, of one node: those of all would hide each other.
  drawLoops(context, at) {
    const { schedule, run, state } = this.app;
    const rank = run.ranks[state.rank];
    const from = schedule.siteOfRank(rank);
    const loops = activityAt(run, state.rank, state.time)
      .sending.map((e) => [run.operation[e], schedule.peerLoopOf(run.operation[e])])
      .filter(([, loop]) => loop);
    for (const [op, loop] of loops) {
      context.strokeStyle = colorOfPart(schedule.colorOf(op));
      context.lineWidth = 1;
      context.beginPath();
      for (const shift of schedule.shiftsOfLoop(loop, at.length)) {
        const to = this.sites[from].map((one, axis) => {
          const { size } = schedule.axes[axis];
          return (one + shift[axis] + size) % size;
        });
        context.moveTo(...at[from]);
        context.lineTo(...at[schedule.siteOf(to)]);
      }
      context.stroke();
    }
    if (loops.length === 0) return;
    context.fillStyle = colors().muted;
    context.textAlign = "left";
    context.fillText(`lines: what ${schedule.rankText(rank)} sends`, 4, 10);
  }

  /// "site axis" of every dead link, from its lower end.
  deadLinks(schedule) {
    return new Set(
      (schedule.data.topology.dead_links ?? []).map(({ from, axis }) => {
        const at = schedule.axes.map((_, i) => from[i] ?? 0);
        return `${schedule.siteOf(at)} ${schedule.axes.findIndex((other) => other.name === axis)}`;
      }),
    );
  }

  /// The site of the node at a place of the canvas; -1: there is none.
  siteAt(x, y) {
    let best = -1,
      least = 14;
    this.drawn?.forEach(([nx, ny], site) => {
      const distance = Math.hypot(nx - x, ny - y);
      if (distance < least) [best, least] = [site, distance];
    });
    return best;
  }
}
