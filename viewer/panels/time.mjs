// Panel 4, time: the times of events at a node, and their waits.
import { colorOfPart, colors, contextOf, element, panel } from "../drawing/dom.mjs";
import { eventsOfWay } from "../core/chunk.mjs";
import { eventLines, kBins, kLabel, rowsOf, waitText } from "../core/events.mjs";
import { digits, plural, secondsText } from "../core/format.mjs";
import { drawContinued, drawRuler, drawShares, kRuler } from "../drawing/ruler.mjs";
import { gapsOf, lastBegun, panned, zoomed } from "../core/scale.mjs";

const kLinkRow = 22,
  kStreamRow = 20,
  kMostJoined = 260;

export class TimePanel {
  constructor(app) {
    this.app = app;
    this.canvas = element("canvas", {
      tabindex: 0,
      role: "img",
      "aria-describedby": "time-about",
      "data-panel": 4,
    });
    this.causes = element("div", { class: "causes", role: "img" });
    this.causesText = element("span", { class: "legend" });
    const step = (key, label, text) =>
      element("button", { click: () => app.key(key), title: label, "aria-label": label }, text);
    this.root = panel(
      "time",
      "Time",
      {},
      step("w", "Zoom in (W)", "+"),
      step("s", "Zoom out (S)", "−"),
      step("a", "Earlier (A)", "‹"),
      step("d", "Later (D)", "›"),
      step("0", "All (0)", "all"),
      step("p", "Back along the critical path (P)", "critical ‹"),
      step("n", "On along the critical path (N)", "› critical"),
    );
    this.root.append(
      element("div", { class: "bar" }, this.causes, this.causesText),
      element("div", { class: "scroll" }, this.canvas),
      element(
        "p",
        { class: "legend", id: "time-about" },
        "Links: the mean rate of each of this node's messages, as a share of the link's bandwidth. Hatched: the busiest link is idle. Rows below: pale while an operation waits, full from when it could go on; red: the critical path.",
      ),
    );
    this.view = null;
    this.wire();
  }

  get rows() {
    const { run, state } = this.app;
    if (this.rowsFor !== run || this.rowsRank !== state.rank) {
      this.rowsFor = run;
      this.rowsRank = state.rank;
      this.cachedRows = rowsOf(run, state.rank);
      this.view = { begin: 0, end: run.span };
      this.busiest = this.findBusiest();
      this.showCauses();
    }
    return this.cachedRows;
  }

  findBusiest() {
    const { run } = this.app;
    const links = this.cachedRows.filter((row) => row.type === "link");
    const { continued } = run;
    const gaps = (row) =>
      gapsOf(
        continued
          ? [...row.intervals, [continued.begin, continued.end]].sort((a, b) => a[0] - b[0])
          : row.intervals,
        run.span,
      );
    const idle = (row) => gaps(row).reduce((sum, [a, b]) => sum + b - a, 0);
    const best = links.sort((a, b) => idle(a) - idle(b))[0];
    return best ? { row: best, gaps: gaps(best) } : null;
  }

  showCauses() {
    const { run } = this.app;
    const shares = run.criticalShares();
    const all = Object.values(shares).reduce((sum, share) => sum + share, 0) || 1;
    const fill = {
      wire: "var(--part0)",
      "start-up and waiting": "var(--part1)",
      "local work": "var(--part2)",
    };
    const text = Object.entries(shares)
      .filter(([, share]) => share > 0)
      .map(([name, share]) => `${name} ${digits((100 * share) / all, 3)} %`);
    this.causes.replaceChildren(
      ...Object.entries(shares).map(([name, share]) =>
        element("span", { style: `width:${(100 * share) / all}%;background:${fill[name]}` }),
      ),
    );
    this.causes.setAttribute("aria-label", `Critical path: ${text.join(", ")}`);
    this.causesText.replaceChildren(
      `critical path, ${plural(run.criticalPath.length, "operation")}: `,
      ...Object.entries(shares)
        .filter(([, share]) => share > 0)
        .map(([name], i) =>
          element("span", {}, element("span", { class: "key", style: `background:${fill[name]}` }), text[i]),
        ),
    );
  }

  place(time) {
    return kLabel + ((time - this.view.begin) / (this.view.end - this.view.begin)) * (this.width - kLabel);
  }
  timeAt(x) {
    return this.view.begin + ((x - kLabel) / (this.width - kLabel)) * (this.view.end - this.view.begin);
  }

  draw() {
    const { run, state } = this.app;
    const rows = this.rows;
    const links = rows.filter((row) => row.type === "link").length;
    const height = kRuler + links * kLinkRow + (rows.length - links) * kStreamRow + 6;
    const { context, width } = contextOf(this.canvas, height);
    // All but the line of the present moment changes seldom.
    const key = JSON.stringify([
      this.view,
      width,
      height,
      this.canvas.width,
      state.op,
      state.segment,
      state.rank,
      state.chunk,
      colors().text,
    ]);
    if (this.paintedFor !== rows || this.paintedKey !== key) {
      this.width = width;
      this.paint(rows, height);
      this.paintedFor = rows;
      this.paintedKey = key;
    }
    context.drawImage(this.picture, 0, 0, width, height);
    const x = this.place(state.time);
    if (x < kLabel) return;
    context.strokeStyle = colors().accent;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, height);
    context.stroke();
  }

  /// Rows, critical path and selection, on a canvas of their own.
  paint(rows, height) {
    const { run, state } = this.app;
    const { width } = this;
    this.picture ??= element("canvas");
    const { context } = contextOf(this.picture, height, width);
    this.canvas.setAttribute(
      "aria-label",
      `Timeline of ${run.schedule.rankText(run.ranks[state.rank])}: ${plural(rows.length, "row")}, ${secondsText(run.seconds(run.span))}`,
    );
    const palette = colors();
    drawRuler(context, this.view, run.tick, width, height);
    this.places = [];
    let y = kRuler;
    for (const row of rows) {
      const rowHeight = row.type === "link" ? kLinkRow : kStreamRow;
      this.places.push({ row, y, height: rowHeight });
      context.fillStyle = palette.muted;
      context.textAlign = "right";
      context.fillText(row.label, kLabel - 6, y + rowHeight / 2);
      context.save();
      context.beginPath();
      context.rect(kLabel, y, width - kLabel, rowHeight);
      context.clip();
      if (row.type === "link") this.drawLink(context, row, y + 2, rowHeight - 4, palette);
      else this.drawStream(context, row, y + 2, rowHeight - 4, palette);
      context.restore();
      y += rowHeight;
    }
    drawContinued(context, run, this.view, 1, width, kRuler, y);
    this.drawCritical(context, palette);
    this.drawWay(context, palette);
    this.drawSelection(context, palette);
  }

  drawLink(context, row, y, height, palette) {
    const { begin, end } = this.view;
    const { run } = this.app;
    drawShares(context, row.intervals, this.view, this.width, y, height, palette.muted);
    if (this.busiest?.row !== row) return;
    context.strokeStyle = palette.fault;
    context.lineWidth = 1;
    for (const [from, to] of this.busiest.gaps) {
      if (to <= begin || from >= end || to - from < run.span * 1e-6) continue;
      const left = Math.max(kLabel, this.place(from)),
        right = Math.min(this.width, this.place(to));
      if (right - left < 2) continue;
      context.save();
      context.beginPath();
      context.rect(left, y, right - left, height);
      context.clip();
      context.globalAlpha = 0.55;
      context.beginPath();
      for (let at = left - height; at < right; at += 6) {
        context.moveTo(at, y + height);
        context.lineTo(at + height, y);
      }
      context.stroke();
      context.restore();
    }
  }

  drawStream(context, row, y, height, palette) {
    const { run } = this.app;
    const { begin, end } = this.view;
    const laneHeight = height / row.lanes.length;
    context.fillStyle = row.color === 7 ? palette.muted : colorOfPart(row.color);
    const length = end - begin;
    const pixels = this.width - kLabel;
    if ((row.events.length * length) / run.span > pixels) {
      // With more than one per pixel: their number at a time.
      const most = Math.max(1, row.lanes.length);
      const first = (begin / run.span) * kBins,
        last = (end / run.span) * kBins;
      for (let i = Math.floor(first); i < last; ++i) {
        const share = Math.min(1, row.bins[i] / most);
        const x = this.place((i * run.span) / kBins);
        context.globalAlpha = 0.2 + 0.6 * share;
        context.fillRect(
          x,
          y + height * (1 - share),
          this.place(((i + 1) * run.span) / kBins) - x + 0.5,
          height * share,
        );
      }
      context.globalAlpha = 1;
      return;
    }
    row.lanes.forEach((lane, number) => {
      const top = y + number * laneHeight;
      for (
        let i = Math.max(
          0,
          lastBegun(lane, (e) => run.begin[e], begin),
        );
        i < lane.length && run.begin[lane[i]] < end;
        ++i
      ) {
        const e = lane[i];
        const left = this.place(run.begin[e]),
          right = this.place(run.end[e]);
        const going = Math.min(right, Math.max(left, this.place(run.start[e])));
        const gap = laneHeight > 4 && right - left > 3 ? 0.75 : 0;
        context.globalAlpha = 0.25;
        context.fillRect(left, top, going - left, laneHeight - gap);
        context.globalAlpha = 0.85;
        context.fillRect(going, top, Math.max(0.7, right - going - gap), laneHeight - gap);
      }
    });
    context.globalAlpha = 1;
  }

  /// The place of an event in the drawing; null: not on this rank's rows.
  boxOf(e) {
    for (const { row, y, height } of this.places) {
      if (row.type !== "stream") continue;
      const lane = row.laneOf.get(e);
      if (lane === undefined) continue;
      const laneHeight = (height - 4) / row.lanes.length;
      return {
        left: this.place(this.app.run.begin[e]),
        right: this.place(this.app.run.end[e]),
        top: y + 2 + lane * laneHeight,
        height: laneHeight,
      };
    }
    return null;
  }

  drawCritical(context, palette) {
    const { run } = this.app;
    const path = run.critical.filter(([, start, end]) => end >= this.view.begin && start <= this.view.end);
    if (path.length > 1500) return;
    this.clip(context);
    context.strokeStyle = palette.fault;
    context.lineWidth = path.length < kMostJoined ? 1.5 : 0.7;
    let before = null;
    for (const [e, start] of path) {
      const box = this.boxOf(e);
      if (!box) {
        before = null;
        continue;
      }
      const left = Math.max(box.left, this.place(start));
      context.strokeRect(left, box.top, Math.max(1, box.right - left), box.height);
      const middle = box.top + box.height / 2;
      if (before && path.length < kMostJoined) {
        context.globalAlpha = 0.7;
        context.beginPath();
        context.moveTo(before.right, before.top + before.height / 2);
        context.lineTo(left, middle);
        context.stroke();
        context.globalAlpha = 1;
      }
      before = box;
    }
    context.restore();
  }

  /// The events that carry the followed block, as far as they belong to this rank or its class.
  drawWay(context, palette) {
    const { run, state, way } = this.app;
    if (!way) return;
    const boxes = eventsOfWay(way)
      .filter((e) => run.rank[e] === state.rank)
      .map((e) => {
        const box = this.boxOf(e);
        return box && { ...box, left: Math.max(box.left, this.place(run.start[e])) };
      })
      .filter((box) => box && box.right >= kLabel && box.left <= this.width);
    this.clip(context);
    context.strokeStyle = palette.good;
    context.fillStyle = palette.good;
    context.lineWidth = 1.5;
    boxes.forEach(({ left, right, top, height }, i) => {
      context.fillRect(left, top, Math.max(2, right - left), height);
      if (i === 0) return;
      const before = boxes[i - 1];
      context.beginPath();
      context.moveTo(Math.min(before.right, left), before.top + before.height / 2);
      context.lineTo(left, top + height / 2);
      context.stroke();
    });
    context.restore();
  }

  /** Until `restore`, nothing is drawn on the labels. */
  clip(context) {
    context.save();
    context.beginPath();
    context.rect(kLabel, 0, this.width - kLabel, 1e5);
    context.clip();
  }

  drawSelection(context, palette) {
    const { run, state, schedule } = this.app;
    if (state.op === null) return;
    const e = run.eventOf(state.op, state.rank, state.segment);
    const box = e >= 0 && run.rank[e] === state.rank ? this.boxOf(e) : null;
    if (!box) return;
    this.clip(context);
    context.strokeStyle = palette.accent;
    context.fillStyle = palette.accent;
    context.lineWidth = 1;
    const arrow = (from, to) => {
      context.beginPath();
      context.moveTo(from.right, from.top + from.height / 2);
      context.lineTo(to.left, to.top + to.height / 2);
      context.stroke();
      context.beginPath();
      context.arc(to.left, to.top + to.height / 2, 2.5, 0, 7);
      context.fill();
    };
    for (const before of schedule.operations.after[state.op]) {
      const other = run.eventOf(before, state.rank, state.segment);
      const from = other >= 0 ? this.boxOf(other) : null;
      if (from) arrow(from, box);
    }
    const partner = run.partner[e];
    if (partner >= 0 && run.rank[partner] === state.rank) {
      const other = this.boxOf(partner);
      if (other) {
        context.setLineDash([4, 3]);
        if (run.sendOf(e) === e) arrow({ ...box, right: box.left }, { ...other, left: other.right });
        else arrow({ ...other, right: other.left }, { ...box, left: box.right });
        context.setLineDash([]);
      }
    }
    context.lineWidth = 2.5;
    context.strokeRect(box.left - 1, box.top - 1, Math.max(3, box.right - box.left + 2), box.height + 2);
    context.restore();
  }

  /// The event, gap or link at a place of the canvas.
  hit(x, y) {
    const place = this.places?.find((other) => y >= other.y && y < other.y + other.height);
    if (!place || x < kLabel) return null;
    const { run } = this.app;
    const time = this.timeAt(x),
      slack = ((this.view.end - this.view.begin) / (this.width - kLabel)) * 1.5;
    if (place.row.type === "link") {
      const gap =
        this.busiest?.row === place.row && this.busiest.gaps.find(([from, to]) => time >= from && time < to);
      const message = place.row.intervals.findLast(
        ([from, to]) => from <= time + slack && to >= time - slack,
      );
      return { gap: gap || null, row: place.row, event: gap || !message ? -1 : message[3], time };
    }
    const lane = Math.min(
      place.row.lanes.length - 1,
      Math.max(0, Math.floor((y - place.y - 2) / ((place.height - 4) / place.row.lanes.length))),
    );
    const items = place.row.lanes[lane];
    const i = lastBegun(items, (e) => run.begin[e], time + slack);
    return {
      gap: null,
      row: place.row,
      event: i >= 0 && run.end[items[i]] >= time - slack ? items[i] : -1,
      time,
    };
  }

  gapLines(gap, row) {
    const { run } = this.app;
    const next = row.intervals.find(([from]) => from >= gap[1] - 0.5);
    const lines = [`${row.label} idle for ${secondsText(run.seconds(gap[1] - gap[0]))}`];
    lines.push(
      next
        ? `then ${run.schedule.nameOf(run.operation[next[3]])}: ${waitText(run, next[3])}`
        : "nothing more to send",
    );
    return lines;
  }

  wire() {
    const { canvas, app } = this;
    let drag = null;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => {
      const [x, y] = at(event);
      drag = { x, y, moved: false, ruler: y < kRuler };
      canvas.setPointerCapture(event.pointerId);
      if (drag.ruler) app.select({ time: this.timeAt(x) });
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = at(event);
      if (drag) {
        if (drag.ruler) return app.select({ time: Math.max(0, Math.min(app.run.span, this.timeAt(x))) });
        if (Math.abs(x - drag.x) > 3) drag.moved = true;
        if (drag.moved) {
          this.pan(-(x - drag.x) / (this.width - kLabel));
          drag.x = x;
        }
        return undefined;
      }
      const hit = this.hit(x, y);
      if (hit?.gap) app.tip.show(event, this.gapLines(hit.gap, hit.row));
      else if (hit && hit.event >= 0) app.tip.show(event, eventLines(app.run, hit.event));
      else app.tip.hide();
      return undefined;
    });
    canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved && !drag.ruler) {
        const [x, y] = at(event);
        const hit = this.hit(x, y);
        if (hit)
          app.select(
            hit.event >= 0
              ? {
                  op: app.run.operation[hit.event],
                  segment: app.run.segment?.[hit.event] ?? 0,
                  time: hit.time,
                }
              : { time: hit.time },
          );
      }
      drag = null;
    });
    canvas.addEventListener("pointerleave", () => app.tip.hide());
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(event.deltaX / (this.width - kLabel));
        else if (event.ctrlKey || event.metaKey)
          this.zoom(1.0015 ** event.deltaY, this.timeAt(Math.max(kLabel, at(event)[0])));
        else return; // the page scrolls on
        event.preventDefault();
      },
      { passive: false },
    );
  }

  zoom(factor, around = this.app.state.time) {
    void this.rows; // they set the view
    const inside = around >= this.view.begin && around <= this.view.end;
    this.view = zoomed(
      this.view,
      factor,
      inside ? around : (this.view.begin + this.view.end) / 2,
      this.app.run.span,
    );
    this.app.redraw("time");
  }
  pan(share) {
    void this.rows;
    this.view = panned(this.view, share * (this.view.end - this.view.begin), this.app.run.span);
    this.app.redraw("time");
  }
  all() {
    this.view = { begin: 0, end: this.app.run.span };
    this.app.redraw("time");
  }
  /// Brings an event into sight.
  reveal(e) {
    const { run } = this.app;
    void this.rows;
    const length = this.view.end - this.view.begin;
    if (run.begin[e] >= this.view.begin && run.end[e] <= this.view.end) return;
    this.view = panned({ begin: 0, end: length }, run.begin[e] - length / 3, run.span);
  }
}
