// Panel 3, data: the blocks of a node, and the share of each sum, at a time.
import { colorOfPart, colors, contextOf, element, panel } from "../drawing/dom.mjs";
import { ChunkFollower, offsetText } from "../core/chunk.mjs";
import { digits, plural, secondsText } from "../core/format.mjs";
import { activityAt } from "../core/activity.mjs";

const kMostMaps = 9,
  kLeastMap = 100,
  kGap = 12,
  kTitle = 18;

/// Depth of color of a share of a sum of `needed` contributions: on a logarithmic scale, as sums
/// double with every step of some algorithms.
export function shadeOf(share, needed) {
  return 0.08 + (0.92 * Math.log1p(share * needed)) / Math.log1p(needed);
}

/// Contents of a node after its writes up to a time: by part, the contributions of every block.
export class Holdings {
  constructor(run, rank) {
    const { schedule } = run;
    const { writes, pairs, reduces, ranks } = schedule.data;
    this.schedule = schedule;
    this.sizes = schedule.axes.map((axis) => axis.size);
    const columns = writes.nodes.find((node) => node.rank === run.ranks[rank]);
    this.writes = [];
    let most = 1;
    columns.operation.forEach((op, i) => {
      const buffer = schedule.data.regions[schedule.operations.dst[op]][0];
      // Blocks of pairs are shown by their source, after their arrival.
      if (pairs && buffer !== 2) return;
      const e = run.eventOf(op, rank);
      if (e < 0 || run.rank[e] !== rank) return;
      most = Math.max(most, columns.contributions[i]);
      this.writes.push({
        time: run.end[e],
        part: columns.part[i],
        value: columns.contributions[i],
        box: columns.box[i].slice(0, 2 * this.sizes.length),
      });
    });
    this.known = new Map();
    this.cells = new Map();
    this.writes.sort((a, b) => a.time - b.time);
    // Chunks are alike: the first of each color and direction.
    const firsts = new Map();
    for (const part of [...new Set(this.writes.map((write) => write.part))].sort((a, b) => a - b)) {
      const key = schedule.data.parts[part].slice(0, 2).join();
      if (!firsts.has(key)) firsts.set(key, part);
    }
    this.parts = [...firsts.values()].slice(0, kMostMaps);
    const isPrefix = schedule.data.collective.endsWith("scan");
    this.needed = reduces ? (isPrefix ? most : ranks) : 1;
    const root = schedule.data.rooted && run.ranks[rank] === 0;
    this.initial = root ? writes.in : writes.in_elsewhere;
    this.at = schedule.coordinatesOfSite(schedule.siteOfRank(run.ranks[rank]));
  }

  /// The blocks of a part at a time: an array with X fastest, of shares of the needed
  /// contributions.
  sharesAt(part, time) {
    return this.heldAt(part, time).shares;
  }
  /// These, their sum, and the sums of the previous map.
  heldAt(part, time) {
    let known = this.known.get(part);
    // Forwards in time it continues from the last state.
    if (!known || time < known.time) {
      const shares = new Float32Array(this.sizes.reduce((all, size) => all * size, 1));
      if (!this.schedule.data.pairs) {
        if (this.initial === "whole") shares.fill(1 / this.needed);
        if (this.initial === "own") shares[this.indexOf(this.at)] = 1 / this.needed;
      }
      known = { shares, next: 0, time, all: shares.reduce((sum, share) => sum + share, 0) };
      this.known.set(part, known);
    }
    for (; known.next < this.writes.length && this.writes[known.next].time <= time; ++known.next) {
      if (this.writes[known.next].part === part) this.fill(known, this.writes[known.next]);
    }
    known.time = time;
    return known;
  }
  indexOf(at) {
    return at.reduceRight((index, coordinate, axis) => index * this.sizes[axis] + coordinate, 0);
  }
  fill(held, { box, value }) {
    const { shares, cells, cellOf } = held;
    const share = Math.fround(value / this.needed);
    const visit = (axis, index) => {
      if (axis < 0) {
        const more = share - shares[index];
        if (more <= 0) return;
        shares[index] = share;
        held.all += more;
        if (cells) cells[cellOf[index]] += more;
        return;
      }
      for (let i = 0; i < box[2 * axis + 1]; ++i)
        visit(axis - 1, index * this.sizes[axis] + ((box[2 * axis] + i) % this.sizes[axis]));
    };
    visit(this.sizes.length - 1, 0);
  }

  /// The mean of the blocks along all but two axes, as rows of `down` from the top, of cells of
  /// `across`; on axes that wrap the node is in the middle.
  mapOf(held, across, down) {
    const { shares } = held;
    const [width, height] = [this.sizes[across], down === null ? 1 : this.sizes[down]];
    const key = `${across} ${down}`;
    if (!this.cells.has(key)) this.cells.set(key, this.cellsOf(shares.length, across, down, width, height));
    const cellOf = this.cells.get(key);
    if (held.cellOf !== cellOf) {
      Object.assign(held, { cellOf, cells: new Float64Array(width * height) });
      for (let index = 0; index < shares.length; ++index) held.cells[cellOf[index]] += shares[index];
    }
    const each = shares.length / held.cells.length;
    return Float32Array.from(held.cells, (sum) => sum / each);
  }
  /// The cell of every block.
  cellsOf(count, across, down, width, height) {
    const stride = (axis) => this.sizes.slice(0, axis).reduce((all, size) => all * size, 1);
    const coordinate = (axis, index) => Math.floor(index / stride(axis)) % this.sizes[axis];
    return Uint32Array.from({ length: count }, (_, index) => {
      const row = down === null ? 0 : height - 1 - this.placeOf(down, coordinate(down, index));
      return row * width + this.placeOf(across, coordinate(across, index));
    });
  }
  /// The place of a coordinate on an axis of the map.
  placeOf(axis, coordinate) {
    const size = this.sizes[axis];
    if (this.schedule.axes[axis].kind === "mesh" && size > 2) return coordinate;
    return (((coordinate - this.at[axis] + Math.floor((size - 1) / 2)) % size) + size) % size;
  }
  /// The block at a place of a map, of the node's own coordinates along other axes; null: none.
  blockAt(across, down, [column, row]) {
    const [width, height] = [this.sizes[across], down === null ? 1 : this.sizes[down]];
    if (column < 0 || column >= width || row < 0 || row >= height) return null;
    const coordinate = (axis, place) =>
      Array.from({ length: this.sizes[axis] }, (_, at) => at).find((at) => this.placeOf(axis, at) === place);
    const block = [...this.at];
    block[across] = coordinate(across, column);
    if (down !== null) block[down] = coordinate(down, height - 1 - row);
    return block;
  }
  /// An interval of a box for the node: [start, length] in absolute coordinates.
  resolved([kind, start, length], axis) {
    if (kind === 0) return [0, this.sizes[axis]];
    if (kind === 1) return [start, length];
    if (kind === 2)
      return [(((this.at[axis] + start) % this.sizes[axis]) + this.sizes[axis]) % this.sizes[axis], length];
    return null;
  }
}

export class DataPanel {
  constructor(app) {
    this.app = app;
    this.canvas = element("canvas", {
      tabindex: 0,
      role: "img",
      "aria-label": "Blocks of this node",
      "data-panel": 3,
      click: (event) => this.clicked(event),
    });
    const { axes } = app.schedule;
    const many = axes.map((axis, i) => i).filter((i) => axes[i].size > 1);
    this.pairs = [];
    for (const a of many) for (const b of many) if (a < b) this.pairs.push([a, b]);
    if (this.pairs.length === 0) this.pairs.push([many[0] ?? 0, null]);
    this.choice = 0;
    const list = element(
      "select",
      {
        "aria-label": "Axes",
        change: () => {
          this.choice = list.selectedIndex;
          app.redraw("data");
        },
      },
      this.pairs.map(([a, b]) =>
        element("option", {}, b === null ? axes[a].name : `${axes[a].name} × ${axes[b].name}`),
      ),
    );
    this.root = panel("data", "Data", {}, this.pairs.length > 1 ? element("label", {}, "axes ", list) : null);
    const what = app.schedule.data.pairs
      ? "Blocks that have arrived, by where they are from"
      : "Blocks by their owner";
    this.meaning = `${what}, with the node itself in the middle of rings. Deeper: ${app.schedule.data.reduces ? "more of the sum is here, on a logarithmic scale" : "more of the blocks are here"}; outlined: being sent. Click a block, or press F, to follow it.`;
    this.about = element("p", { class: "legend", style: "display:block" });
    this.way = element("div", { class: "way", "aria-live": "polite", hidden: true });
    this.root.append(this.canvas, this.about, this.way);
  }

  /// Follows the block of `part` at the coordinates; null: none.
  choose(part, block) {
    this.app.select({ chunk: { part, block } });
  }
  clicked(event) {
    const { holdings } = this;
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const [across, down] = this.pairs[this.choice];
    for (const { part, left, top, w, h } of this.places) {
      const place = [Math.floor((x - left) / w), Math.floor((y - top) / h)];
      const block = holdings.blockAt(across, down, place);
      if (block) this.choose(part, block);
    }
  }
  /// The block that the selected operation names, or a first one; then its next color.
  follow() {
    const { state, schedule } = this.app;
    const { holdings } = this;
    if (holdings.parts.length === 0) return;
    if (state.chunk) {
      const { parts } = holdings;
      this.choose(parts[(parts.indexOf(state.chunk.part) + 1) % parts.length], state.chunk.block);
      return;
    }
    const { dst, a } = schedule.operations;
    const regions = state.op === null ? [] : [a[state.op], dst[state.op]];
    const pieces = regions.flatMap((region) => schedule.data.regions[region]?.[1] ?? []);
    const [part, , number] = pieces[0] ?? [holdings.parts[0]];
    const box = schedule.data.boxes[schedule.data.block_pairs?.[number]?.[0] ?? number];
    this.choose(
      part,
      holdings.at.map((own, axis) => (box && holdings.resolved(box[axis], axis)?.[0]) ?? own),
    );
  }
  /// The block beside the followed one in the map.
  followBeside(right, up) {
    const { chunk } = this.app.state;
    if (!chunk) return;
    const [across, down] = this.pairs[this.choice];
    const block = [...chunk.block];
    const move = (axis, step) => {
      const size = this.holdings.sizes[axis];
      block[axis] = (block[axis] + step + size) % size;
    };
    move(across, right);
    if (down !== null) move(down, up);
    this.choose(chunk.part, block);
  }

  showWay() {
    const { app } = this;
    const { run, schedule, way, state } = app;
    this.way.hidden = !state.chunk;
    if (this.shownWay === way && this.shownChunk === state.chunk) return;
    this.shownWay = way;
    this.shownChunk = state.chunk;
    if (!state.chunk) return;
    const block = `Block of (${state.chunk.block.join(", ")}), ${schedule.partText(state.chunk.part)}`;
    if (!way) {
      this.way.replaceChildren(
        ChunkFollower.knows(run) ? block : "Blocks are not followed where nodes differ and are more than 4096.",
      );
      return;
    }
    const messages = way.steps.filter((step) => step.work === undefined);
    const time = (e, when) => secondsText(run.seconds(when[e]));
    const button = (e) =>
      element(
        "button",
        { click: () => app.select({ op: run.operation[e], time: app.timeOf(e) }) },
        schedule.nameOf(run.operation[e]),
      );
    const node = (at) => offsetText(schedule, at, way.at);
    const rows = way.steps.map(({ work, send, receive, from, to }) =>
      element(
        "li",
        {},
        work === undefined
          ? [
              button(send),
              ` from ${node(from)} to ${node(to)}, ${time(send, run.begin)} to ${time(receive, run.end)}`,
            ]
          : [button(work), ` at ${node(to)}, ${time(work, run.begin)} to ${time(work, run.end)}`],
      ),
    );
    const text =
      rows.length === 0 && !way.isCut
        ? `${block} is this node's own, or never here.`
        : `${block}: ${plural(messages.length, "message")} as seen from here${schedule.data.reduces ? ", of the contribution that comes last" : ""}${way.isCut ? "; the way is longer than is followed" : ""}.`;
    this.way.replaceChildren(
      element("span", { id: "way" }, text, " "),
      element("button", { click: () => app.select({ chunk: null }) }, "follow nothing"),
      element("ol", {}, rows),
    );
  }

  imageOf(cells, width, height, color, needed) {
    const [red, green, blue] = color.match(/[\d.]+/g).map(Number);
    const image = new ImageData(width, height);
    const { data } = image;
    cells.forEach((share, i) => {
      data[4 * i] = red;
      data[4 * i + 1] = green;
      data[4 * i + 2] = blue;
      if (share > 0) data[4 * i + 3] = 255 * shadeOf(share, needed);
    });
    this.pixels ??= element("canvas");
    Object.assign(this.pixels, { width, height });
    this.pixels.getContext("2d").putImageData(image, 0, 0);
    return this.pixels;
  }

  draw() {
    const { run, state, schedule } = this.app;
    if (this.holdsRun !== run || this.holdsRank !== state.rank) {
      this.holdings = new Holdings(run, state.rank);
      this.holdsRun = run;
      this.holdsRank = state.rank;
    }
    const { holdings } = this;
    this.canvas.hidden = holdings.parts.length === 0;
    this.showWay();
    this.about.textContent = this.canvas.hidden ? "This rank writes nothing." : this.meaning;
    if (this.canvas.hidden) return;
    const [across, down] = this.pairs[this.choice];
    const room = (this.canvas.clientWidth || 400) + kGap;
    const columns = Math.min(holdings.parts.length, room > 6 * (kLeastMap + kGap) ? 6 : 3);
    const side = Math.min(190, room / columns - kGap);
    const aspect =
      down === null ? 0.15 : Math.min(1.4, Math.max(0.3, holdings.sizes[down] / holdings.sizes[across]));
    const rowHeight = side * aspect + kTitle + 6;
    const { context } = contextOf(
      this.canvas,
      Math.max(40, Math.ceil(holdings.parts.length / columns) * rowHeight),
    );
    const palette = colors();
    const sending = activityAt(run, state.rank, state.time).sending.map((e) => run.operation[e]);
    const texts = [];
    this.places = [];
    holdings.parts.forEach((part, number) => {
      const left = (number % columns) * (side + kGap),
        top = Math.floor(number / columns) * rowHeight + kTitle;
      const held = holdings.heldAt(part, state.time);
      const cells = holdings.mapOf(held, across, down);
      const [width, height] = [holdings.sizes[across], down === null ? 1 : holdings.sizes[down]];
      const [w, h] = [side / width, (side * aspect) / height];
      this.places.push({ part, left, top, w, h });
      const all = held.all / held.shares.length;
      const [color, direction] = schedule.data.parts[part];
      context.textAlign = "left";
      context.fillStyle = palette.muted;
      const directions = schedule.data.parts.some((other) => other[1] > 0);
      context.fillText(
        `c${color}${directions ? (direction ? "−" : "+") : ""}  ${digits(100 * all, 3)} %`,
        left,
        top - kTitle / 2,
      );
      texts.push(`${schedule.partText(part)} ${digits(100 * all, 3)} %`);
      const gap = w > 5 ? 0.6 : 0;
      // A pixel for each cell, enlarged.
      context.imageSmoothingEnabled = false;
      context.drawImage(
        this.imageOf(cells, width, height, colorOfPart(color), holdings.needed),
        left,
        top,
        side,
        side * aspect,
      );
      if (gap > 0) {
        context.fillStyle = palette.panel;
        for (let i = 1; i < width; ++i) context.fillRect(left + i * w - gap, top, gap, side * aspect);
        for (let i = 1; i < height; ++i) context.fillRect(left, top + i * h - gap, side, gap);
      }
      context.strokeStyle = palette.line;
      context.lineWidth = 1;
      context.strokeRect(left + 0.5, top + 0.5, side - 1, side * aspect - 1);
      context.strokeStyle = palette.text;
      const outline = (first, length, second, other) => {
        for (let i = 0; i < Math.min(length, 64); ++i)
          for (let j = 0; j < Math.min(other, 64); ++j) {
            const x = holdings.placeOf(across, (first + i) % width),
              y = down === null ? 0 : height - 1 - holdings.placeOf(down, (second + j) % height);
            context.strokeRect(left + x * w, top + y * h, Math.max(1.5, w - gap), Math.max(1.5, h - gap));
          }
      };
      context.lineWidth = 1.4;
      if (!schedule.data.pairs) {
        for (const op of sending) {
          for (const [first, parts, box] of schedule.data.regions[schedule.operations.a[op]]?.[1] ?? []) {
            if (part < first || part >= first + parts) continue;
            const a = holdings.resolved(schedule.data.boxes[box][across], across);
            const b = down === null ? [0, 1] : holdings.resolved(schedule.data.boxes[box][down], down);
            if (!a || !b) continue;
            // A whole line is one box.
            if (a[1] === width || b[1] === height) {
              const x = a[1] === width ? 0 : holdings.placeOf(across, a[0]),
                y = b[1] === height ? 0 : height - b[1] - holdings.placeOf(down ?? across, b[0]);
              context.strokeRect(
                left + x * w,
                top + Math.max(0, y) * h,
                Math.max(1.5, a[1] * w - gap),
                Math.max(1.5, b[1] * h - gap),
              );
            } else outline(a[0], a[1], b[0], b[1]);
          }
        }
      }
      if (state.chunk?.part === part) {
        const { block } = state.chunk;
        const x = holdings.placeOf(across, block[across]),
          y = down === null ? 0 : height - 1 - holdings.placeOf(down, block[down]);
        context.strokeStyle = palette.good;
        context.lineWidth = 3;
        context.strokeRect(left + x * w, top + y * h, Math.max(4, w - gap), Math.max(4, h - gap));
      }
      const [ox, oy] = [
        holdings.placeOf(across, holdings.at[across]),
        down === null ? 0 : height - 1 - holdings.placeOf(down, holdings.at[down]),
      ];
      context.fillStyle = palette.text;
      context.beginPath();
      context.arc(left + (ox + 0.5) * w, top + (oy + 0.5) * h, 2, 0, 7);
      context.fill();
    });
    this.canvas.setAttribute("aria-label", `Share of the result at this node: ${texts.join(", ")}`);
  }
}
