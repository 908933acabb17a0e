// The picture of one node that stands for all: axes as rings and lines around it, its messages as
// arrows.
import { colorOfPart, colors } from "./dom.mjs";
import { compressed, directionsOf, reachOf } from "../core/geometry.mjs";

const kMostFan = 300,
  kMostSpread = 26;

export class OneNodePicture {
  constructor(app) {
    this.app = app;
  }

  draw(context, width, height, now) {
    const { schedule, run } = this.app;
    const palette = colors();
    const axes = schedule.axes;
    const directions = directionsOf(axes.length);
    const middle = [width / 2, height / 2];
    const longest = Math.max(...axes.map((axis) => compressed(reachOf(axis.size)[1])));
    // Messages along several axes reach further than any of them: along X, Y and Z twice as far.
    const most = Math.max(
      1,
      ...schedule.data.shifts.map((shift) => shift.filter((step) => step !== 0).length),
      ...(this.app.way?.steps.map(({ to }) => to.filter((at, axis) => at !== this.app.way.at[axis]).length) ?? []),
      ...schedule.data.peer_loops.map(([, count]) => count.filter((steps) => steps > 1).length),
    );
    const along = most === 3 ? 2 : most;
    const room = axes.map((axis, i) => {
      const [dx, dy] = directions[i];
      const fit = Math.min(
        Math.abs(dx) > 0.01 ? (width / 2 - 52) / Math.abs(dx) / along : 1e9,
        Math.abs(dy) > 0.01 ? (height / 2 - 26) / Math.abs(dy) / along : 1e9,
      );
      const reach = compressed(reachOf(axis.size)[1]);
      return reach === 0 ? 0 : (fit * (0.5 + (0.5 * reach) / longest)) / reach;
    });
    const vector = (axis, distance) => {
      const at = compressed(distance) * room[axis];
      return [directions[axis][0] * at, directions[axis][1] * at];
    };
    const place = (shift) =>
      shift.reduce(([x, y], step, axis) => {
        const [dx, dy] = vector(axis, step);
        return [x + dx, y + dy];
      }, middle);
    axes.forEach((axis, i) => {
      if (axis.size < 2) return;
      const ring = axis.kind !== "mesh";
      const [below, above] = reachOf(axis.size);
      const low = place(axes.map((_, other) => (other === i ? -below : 0))),
        high = place(axes.map((_, other) => (other === i ? above : 0)));
      context.strokeStyle = palette.line;
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(...low);
      context.lineTo(...high);
      context.stroke();
      if (ring && axis.size > 2) {
        const [nx, ny] = [-directions[i][1], directions[i][0]];
        context.setLineDash([3, 4]);
        context.beginPath();
        context.moveTo(...high);
        const bend = 26 + 10 * i;
        context.bezierCurveTo(
          high[0] + nx * bend,
          high[1] + ny * bend,
          low[0] + nx * bend,
          low[1] + ny * bend,
          ...low,
        );
        context.stroke();
        context.setLineDash([]);
      }
      context.fillStyle = palette.muted;
      for (let distance = -below; distance <= above; ++distance) {
        const far = Math.abs(distance);
        if (
          distance === 0 ||
          (far > 8 && (far & (far - 1)) !== 0 && distance !== -below && distance !== above)
        )
          continue;
        const [x, y] = place(axes.map((_, other) => (other === i ? distance : 0)));
        context.beginPath();
        context.arc(x, y, 2.5, 0, 7);
        context.fill();
      }
      context.textAlign = "center";
      const label = place(axes.map((_, other) => (other === i ? above : 0)));
      context.fillStyle = palette.text;
      const text = `${axis.name}+${above}`;
      const off = 8 + context.measureText(text).width / 2;
      context.fillText(text, label[0] + directions[i][0] * off, label[1] + directions[i][1] * 14);
    });
    const path = (shift, from) => {
      // Along one axis after the other, X first.
      const points = [from];
      shift.forEach((step, axis) => {
        if (step === 0) return;
        const [dx, dy] = vector(axis, step);
        const [x, y] = points.at(-1);
        points.push([x + dx, y + dy]);
      });
      return points;
    };
    // Arrows in one direction are side by side, closer if they are many.
    const keyOf = (e, arriving) => `${arriving} ${schedule.shiftOf(run.operation[e])}`;
    const all = new Map(),
      drawn = new Map();
    const add = (counts, key) => counts.set(key, (counts.get(key) ?? 0) + 1).get(key);
    for (const e of now.receiving) add(all, keyOf(e, true));
    for (const e of now.sending) add(all, keyOf(e, false));
    const arrow = (e, arriving) => {
      const op = run.operation[e];
      const loop = schedule.peerLoopOf(op);
      context.strokeStyle = context.fillStyle = colorOfPart(schedule.colorOf(op));
      if (loop) return this.drawFan(context, loop, place, arriving);
      const shift = schedule.shiftOf(op);
      if (!shift) return undefined;
      const key = keyOf(e, arriving);
      const number = add(drawn, key) - 1;
      const send = run.sendOf(e);
      const seconds = (run.wire_end[send] - run.wire_begin[send]) * run.tick;
      const axis = shift.findIndex((step) => step !== 0);
      const share = Math.min(
        1,
        run.bytes[send] / seconds / (schedule.data.prediction.link_bandwidth[axis] ?? Infinity),
      );
      const start = arriving ? place(shift.map((step) => -step)) : middle;
      const points = path(shift, start);
      const [from, to] = [points[0], points.at(-1)];
      const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
      const off = (2 + Math.min(5, kMostSpread / all.get(key)) * number + (arriving ? 0 : 2)) * (arriving ? -1 : 1);
      const [ox, oy] = [(-(to[1] - from[1]) / length) * off, ((to[0] - from[0]) / length) * off];
      context.globalAlpha = arriving ? 0.4 : 1;
      context.lineWidth = 1.5 + 3.5 * share;
      this.drawArrow(
        context,
        points.map(([x, y]) => [x + ox, y + oy]),
      );
      context.globalAlpha = 1;
      return undefined;
    };
    for (const e of now.receiving) arrow(e, true);
    for (const e of now.sending) arrow(e, false);
    this.drawWay(context, place);
    context.fillStyle = palette.text;
    context.beginPath();
    context.arc(...middle, 6, 0, 7);
    context.fill();
    if (now.working.length > 0) {
      context.strokeStyle = palette.accent;
      context.lineWidth = 2;
      context.beginPath();
      context.arc(...middle, 10, 0, 7);
      context.stroke();
    }
  }

  /// The messages of the followed block, from place to place; active ones are thick.
  drawWay(context, place) {
    const { way, schedule, run, state } = this.app;
    if (!way) return;
    context.strokeStyle = context.fillStyle = colors().good;
    const offset = (at) => at.map((one, axis) => schedule.shortWay(one - way.at[axis], axis));
    for (const { work, send, receive, from, to } of way.steps) {
      if (work !== undefined) continue;
      context.lineWidth = run.wire_begin[send] <= state.time && state.time < run.end[receive] ? 5 : 1.8;
      const [a, b] = [offset(from), offset(to)];
      const shift = to.map((one, axis) => schedule.shortWay(one - from[axis], axis));
      // Across the end of a ring in the drawing.
      context.setLineDash(a.some((one, axis) => one + shift[axis] !== b[axis]) ? [2, 5] : []);
      this.drawArrow(context, [place(a), place(b)]);
    }
    context.setLineDash([]);
  }

  drawFan(context, loop, place, arriving) {
    const { schedule } = this.app;
    const [, , size] = loop;
    const shifts = schedule.shiftsOfLoop(loop, kMostFan);
    context.globalAlpha = arriving ? 0.15 : 0.5;
    context.lineWidth = 1;
    const sign = arriving ? -1 : 1;
    for (const shift of shifts) {
      context.beginPath();
      context.moveTo(...place(shift.map(() => 0)));
      context.lineTo(...place(shift.map((step) => sign * step)));
      context.stroke();
    }
    context.globalAlpha = 1;
    if (arriving || size <= kMostFan) return;
    const [x, y] = place(shifts.at(-1));
    context.fillText(`${kMostFan} of ${size} peers`, x, y - 8);
  }

  drawArrow(context, points) {
    context.beginPath();
    context.moveTo(...points[0]);
    for (const point of points.slice(1)) context.lineTo(...point);
    context.stroke();
    const [to, before] = [points.at(-1), points.at(-2)];
    const angle = Math.atan2(to[1] - before[1], to[0] - before[0]);
    const size = 5 + context.lineWidth;
    context.beginPath();
    context.moveTo(...to);
    for (const side of [-1, 1])
      context.lineTo(
        to[0] - size * Math.cos(angle + side * 0.45),
        to[1] - size * Math.sin(angle + side * 0.45),
      );
    context.fill();
  }
}
