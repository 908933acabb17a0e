// Panel 2, the torus: what a node does now. Every node does the same, as seen from itself; so one
// node with its arrows stands for all, whatever the size. Small tori can be drawn node by node.
import { colorOfPart, colors, contextOf, element, panel } from "./dom.mjs";
import { bytesText, plural, secondsText } from "./format.mjs";
import { compressed, directionsOf, placeOf, projected, reachOf } from "./geometry.mjs";
import { kKinds, receives, sends } from "./schedule.mjs";

const kHeight = 380, kMostListed = 6, kMostFan = 300, kMostDrawn = 4096;

/// Messages of a rank that are under way at a time: those that it sends and those that reach it,
/// with what share of a link each has; and work.
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
  // A buffered send is over while its data are still on their way.
  for (const e of run.eventsOfRank[rank]) {
    if (sends(schedule.operations.kind[run.operation[e]]) && run.end[e] < time && run.wire_begin[e] <= time && time < run.wire_end[e]) found.sending.push(e);
  }
  return found;
}

export class TorusPanel {
  constructor(app) {
    this.app = app;
    this.canvas = element("canvas", { tabindex: 0, role: "img", "data-panel": 2, style: "touch-action:none" });
    this.list = element("div", { class: "legend", style: "display:block;min-height:7.5em" });
    this.slider = element("input", { type: "range", min: 0, max: 1000, value: 0, "aria-label": "Time", style: "flex:1 1 120px;padding:0", input: () => app.select({ time: this.slider.value / 1000 * app.run.span }) });
    this.play = element("button", { click: () => app.key(" "), "aria-label": "Play or pause (space)", title: "Play or pause (space)" }, "▶");
    this.modeButton = element("button", { click: () => app.select({ nodes: !app.state.nodes }), title: "Every node, or one that stands for all" }, "all nodes");
    this.now = element("output", { style: "min-width:9ch" });
    const step = (key, text, label) => element("button", { click: () => app.key(key), title: label, "aria-label": label }, text);
    this.root = panel("torus", "Torus", {}, this.play, step("ArrowLeft", "‹", "Event before (left arrow)"), step("ArrowRight", "›", "Next event (right arrow)"), this.slider, this.now, this.modeButton);
    this.root.append(this.canvas, this.list);
    this.turn = 0.6;
    this.tilt = 0.45;
    this.wire();
  }

  get mayDrawNodes() { return Boolean(this.app.run.data.events.class_of_site) && this.app.schedule.sites <= kMostDrawn; }

  draw() {
    const { run, state, schedule } = this.app;
    const drawsNodes = state.nodes && this.mayDrawNodes;
    this.modeButton.hidden = !this.mayDrawNodes;
    this.modeButton.setAttribute("aria-pressed", String(drawsNodes));
    this.slider.value = String(Math.round(1000 * state.time / run.span));
    this.slider.setAttribute("aria-valuetext", secondsText(run.seconds(state.time)));
    this.now.textContent = secondsText(run.seconds(state.time));
    this.play.textContent = this.app.playing ? "❚❚" : "▶";
    const now = activityAt(run, state.rank, state.time);
    const { context, width, height } = contextOf(this.canvas, kHeight);
    if (drawsNodes) this.drawNodes(context, width, height);
    else this.drawOne(context, width, height, now);
    this.describe(now, schedule);
  }

  describe(now, schedule) {
    const { run, state, app } = { run: this.app.run, state: this.app.state, app: this.app };
    const messages = (events) => plural(events.reduce((sum, e) => sum + (schedule.peerLoopOf(run.operation[e])?.[2] ?? 1), 0), "message");
    const who = run.ranks.length === 1 && !schedule.data.rooted ? "Every node" : `${schedule.rankText(run.ranks[state.rank])}`;
    const summary = `${who} sends ${messages(now.sending)}, receives ${messages(now.receiving)}, ${plural(now.waiting, "operation")} waiting or starting up${now.working.length > 0 ? `, ${now.working.length} local` : ""}`;
    this.canvas.setAttribute("aria-label", `${summary} at ${secondsText(run.seconds(state.time))}`);
    const rows = [...now.sending, ...now.working].slice(0, kMostListed).map((e) => {
      const op = run.operation[e];
      const size = run.bytes[e] > 0 ? `, ${bytesText(run.bytes[e])}` : "";
      return element("div", {}, element("span", { class: "key", style: `background:${colorOfPart(schedule.colorOf(op))}` }),
        element("button", { style: "border:0;background:none;padding:0;min-height:0;text-align:left", click: () => app.select({ op }) },
          `${schedule.nameOf(op)}: ${kKinds[schedule.operations.kind[op]]} ${schedule.peerText(op)}${size}`));
    });
    const more = now.sending.length + now.working.length - rows.length;
    this.list.replaceChildren(element("div", {}, summary), ...rows, more > 0 ? element("div", {}, `and ${more} more`) : "");
  }

  // One node.

  drawOne(context, width, height, now) {
    const { schedule, run } = this.app;
    const palette = colors();
    const axes = schedule.axes;
    const directions = directionsOf(axes.length);
    const middle = [width / 2, height / 2];
    const longest = Math.max(...axes.map((axis) => compressed(reachOf(axis.size)[1])));
    // Messages along several axes reach further than any of them.
    const along = Math.max(1, ...schedule.data.shifts.map((shift) => shift.filter((step) => step !== 0).length),
      ...schedule.data.peer_loops.map(([, count]) => count.filter((steps) => steps > 1).length));
    const room = axes.map((axis, i) => {
      const [dx, dy] = directions[i];
      const fit = Math.min(Math.abs(dx) > 0.01 ? (width / 2 - 44) / Math.abs(dx) / along : 1e9, Math.abs(dy) > 0.01 ? (height / 2 - 26) / Math.abs(dy) / along : 1e9);
      const reach = compressed(reachOf(axis.size)[1]);
      return reach === 0 ? 0 : fit * (0.5 + 0.5 * reach / longest) / reach;
    });
    const vector = (axis, distance) => {
      const at = compressed(distance) * room[axis];
      return [directions[axis][0] * at, directions[axis][1] * at];
    };
    const place = (shift) => shift.reduce(([x, y], step, axis) => {
      const [dx, dy] = vector(axis, step);
      return [x + dx, y + dy];
    }, middle);
    axes.forEach((axis, i) => {
      if (axis.size < 2) return;
      const ring = axis.kind !== "mesh";
      const [below, above] = reachOf(axis.size);
      const low = place(axes.map((_, other) => other === i ? -below : 0)), high = place(axes.map((_, other) => other === i ? above : 0));
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
        context.bezierCurveTo(high[0] + nx * bend, high[1] + ny * bend, low[0] + nx * bend, low[1] + ny * bend, ...low);
        context.stroke();
        context.setLineDash([]);
      }
      context.fillStyle = palette.muted;
      for (let distance = -below; distance <= above; ++distance) {
        const far = Math.abs(distance);
        if (distance === 0 || (far > 8 && (far & (far - 1)) !== 0 && distance !== -below && distance !== above)) continue;
        const [x, y] = place(axes.map((_, other) => other === i ? distance : 0));
        context.beginPath();
        context.arc(x, y, 2.5, 0, 7);
        context.fill();
      }
      context.textAlign = "center";
      const label = place(axes.map((_, other) => other === i ? above : 0));
      context.fillStyle = palette.text;
      context.fillText(`${axis.name}+${above}`, label[0] + directions[i][0] * 20, label[1] + directions[i][1] * 14);
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
    const beside = new Map();
    const arrow = (e, arriving) => {
      const op = run.operation[e];
      const loop = schedule.peerLoopOf(op);
      context.strokeStyle = context.fillStyle = colorOfPart(schedule.colorOf(op));
      if (loop) return this.drawFan(context, op, loop, place, arriving);
      const shift = schedule.shiftOf(op);
      if (!shift) return undefined;
      const key = `${arriving} ${shift}`;
      const number = beside.get(key) ?? 0;
      beside.set(key, number + 1);
      const send = run.sendOf(e);
      const seconds = (run.wire_end[send] - run.wire_begin[send]) * run.tick;
      const axis = shift.findIndex((step) => step !== 0);
      const share = Math.min(1, run.bytes[send] / seconds / (schedule.data.prediction.link_bandwidth[axis] ?? Infinity));
      const start = arriving ? place(shift.map((step) => -step)) : middle;
      const points = path(shift, start);
      const [from, to] = [points[0], points.at(-1)];
      const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
      const off = (2 + 5 * number + (arriving ? 0 : 2)) * (arriving ? -1 : 1);
      const [ox, oy] = [-(to[1] - from[1]) / length * off, (to[0] - from[0]) / length * off];
      context.globalAlpha = arriving ? 0.4 : 1;
      context.lineWidth = 1.5 + 3.5 * share;
      this.drawArrow(context, points.map(([x, y]) => [x + ox, y + oy]));
      context.globalAlpha = 1;
      return undefined;
    };
    for (const e of now.receiving) arrow(e, true);
    for (const e of now.sending) arrow(e, false);
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

  drawFan(context, op, [first, count, size], place, arriving) {
    const { schedule } = this.app;
    const shifts = [[]];
    for (let axis = 0; axis < first.length; ++axis) {
      const steps = Array.from({ length: Math.max(1, count[axis]) }, (_, i) => count[axis] > 0 ? schedule.shortWay(first[axis] + i, axis) : 0);
      const next = [];
      for (const shift of shifts) for (const step of steps) if (next.length < kMostFan) next.push([...shift, step]);
      shifts.splice(0, shifts.length, ...next);
    }
    context.globalAlpha = arriving ? 0.15 : 0.5;
    context.lineWidth = 1;
    const sign = arriving ? -1 : 1;
    for (const shift of shifts) {
      if (shift.every((step) => step === 0)) continue;
      context.beginPath();
      context.moveTo(...place(shift.map(() => 0)));
      context.lineTo(...place(shift.map((step) => sign * step)));
      context.stroke();
    }
    context.globalAlpha = 1;
    if (arriving) return;
    const [x, y] = place(shifts.at(-1));
    context.fillText(`${size} peers${size > kMostFan ? `, ${kMostFan} drawn` : ""}`, x, y - 8);
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
    for (const side of [-1, 1]) context.lineTo(to[0] - size * Math.cos(angle + side * 0.45), to[1] - size * Math.sin(angle + side * 0.45));
    context.fill();
  }

  // All nodes.

  drawNodes(context, width, height) {
    const { schedule, run, state } = this.app;
    const palette = colors();
    if (this.layoutOf !== schedule) {
      this.layoutOf = schedule;
      this.sites = Array.from({ length: schedule.sites }, (_, site) => schedule.coordinatesOfSite(site));
      this.places = this.sites.map((at) => placeOf(at, schedule.axes));
      this.radius = Math.max(1.5, ...this.places.map(([x, y, z]) => Math.hypot(x, y, z)));
    }
    const classes = run.data.events.class_of_site;
    const scale = (Math.min(width, height) / 2 - 18) / this.radius;
    const at = this.places.map((place) => {
      const [x, y] = projected(place, this.turn, this.tilt);
      return [width / 2 + x * scale, height / 2 + y * scale];
    });
    this.drawn = at;
    const link = (site, axis, sign) => {
      const next = [...this.sites[site]];
      next[axis] += sign;
      const { size } = schedule.axes[axis];
      const wraps = next[axis] < 0 || next[axis] >= size;
      next[axis] = (next[axis] + size) % size;
      return { to: schedule.siteOf(next), wraps };
    };
    const dead = this.deadLinks(schedule);
    context.strokeStyle = palette.line;
    context.lineWidth = 1;
    context.beginPath();
    this.sites.forEach((_, site) => schedule.axes.forEach((axis, i) => {
      if (axis.size < 2) return;
      const { to, wraps } = link(site, i, 1);
      if (wraps && (axis.kind === "mesh" || axis.size === 2)) return;
      if (wraps || dead.has(`${site} ${i}`)) return;
      context.moveTo(...at[site]);
      context.lineTo(...at[to]);
    }));
    context.stroke();
    // Messages, of each color in one path.
    const active = run.ranks.map((_, rank) => activityAt(run, rank, state.time).sending.map((e) => run.operation[e]).filter((op) => schedule.shiftOf(op)));
    const byColor = new Map();
    classes.forEach((rank, site) => {
      for (const op of active[rank] ?? []) {
        const color = schedule.colorOf(op) % 8;
        if (!byColor.has(color)) byColor.set(color, []);
        byColor.get(color).push([site, schedule.shiftOf(op), schedule.directionOf(op)]);
      }
    });
    const thick = Math.max(1, Math.min(3, scale / 12));
    for (const [color, messages] of byColor) {
      context.strokeStyle = colorOfPart(color);
      context.lineWidth = thick;
      context.beginPath();
      for (const [site, shift, direction] of messages) {
        let from = site;
        const side = (color % 3 - 1) * 2 + (direction ? 1 : -1) * 1.5;
        shift.forEach((step, axis) => {
          for (let i = 0; i < Math.abs(step); ++i) {
            const { to, wraps } = link(from, axis, Math.sign(step));
            let [x0, y0] = at[from], [x1, y1] = at[to];
            if (wraps) {
              // Out of the picture, the way that a step would go.
              const inner = link(from, axis, -Math.sign(step)).to;
              [x1, y1] = [x0 + (x0 - at[inner][0]) * 0.45, y0 + (y0 - at[inner][1]) * 0.45];
            }
            const length = Math.hypot(x1 - x0, y1 - y0) || 1;
            const [ox, oy] = [-(y1 - y0) / length * side, (x1 - x0) / length * side];
            [x0, y0, x1, y1] = [x0 + ox, y0 + oy, x0 + (x1 - x0) * 0.86 + ox, y0 + (y1 - y0) * 0.86 + oy];
            context.moveTo(x0, y0);
            context.lineTo(x1, y1);
            if (scale > 14) {
              const angle = Math.atan2(y1 - y0, x1 - x0);
              context.lineTo(x1 - 5 * Math.cos(angle - 0.5), y1 - 5 * Math.sin(angle - 0.5));
            }
            from = to;
          }
        });
      }
      context.stroke();
    }
    const radius = Math.max(1.2, Math.min(5, scale / 9));
    at.forEach(([x, y], site) => {
      context.beginPath();
      context.arc(x, y, radius, 0, 7);
      if (classes[site] < 0) {
        context.strokeStyle = palette.fault;
        context.lineWidth = 1.5;
        context.stroke();
        return;
      }
      context.fillStyle = classes[site] === state.rank && run.ranks.length > 1 ? palette.accent : palette.text;
      context.fill();
    });
    context.strokeStyle = palette.fault;
    context.lineWidth = 2;
    for (const key of dead) {
      const [site, axis] = key.split(" ").map(Number);
      const { to, wraps } = link(site, axis, 1);
      const inner = link(site, axis, -1).to;
      const [x, y] = wraps ? [at[site][0] + (at[site][0] - at[inner][0]) * 0.3, at[site][1] + (at[site][1] - at[inner][1]) * 0.3]
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

  /// "site axis" of every dead link, from its lower end.
  deadLinks(schedule) {
    return new Set((schedule.data.topology.dead_links ?? []).map(({ from, axis }) => {
      const at = schedule.axes.map((_, i) => from[i] ?? 0);
      return `${schedule.siteOf(at)} ${schedule.axes.findIndex((other) => other.name === axis)}`;
    }));
  }

  wire() {
    let drag = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      drag = { x: event.clientX, y: event.clientY, moved: false };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!drag || !this.app.state.nodes) return;
      const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
      if (Math.hypot(dx, dy) > 3) drag.moved = true;
      this.turn += dx * 0.008;
      this.tilt = Math.max(-1.5, Math.min(1.5, this.tilt + dy * 0.008));
      Object.assign(drag, { x: event.clientX, y: event.clientY });
      this.app.redraw("torus");
    });
    this.canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved && this.app.state.nodes && this.drawn) {
        const box = this.canvas.getBoundingClientRect();
        const [x, y] = [event.clientX - box.left, event.clientY - box.top];
        let best = -1, least = 14;
        this.drawn.forEach(([nx, ny], site) => {
          const distance = Math.hypot(nx - x, ny - y);
          if (distance < least) [best, least] = [site, distance];
        });
        const rank = best < 0 ? -1 : this.app.run.data.events.class_of_site[best];
        if (rank >= 0) this.app.select({ rank });
      }
      drag = null;
    });
  }
}
