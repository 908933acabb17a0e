// The page: unpacks the data, arranges the panels, keeps the selection, in the fragment too.
import { element, forgetColors, panel, Tip } from "./drawing/dom.mjs";
import { bytesText } from "./core/format.mjs";
import { Run, Schedule } from "./core/schedule.mjs";
import { ChunkFollower, followChunk } from "./core/chunk.mjs";
import { verdictPanel } from "./panels/verdict.mjs";
import { eventLines } from "./core/events.mjs";
import { Keys } from "./keys.mjs";
import { TimePanel } from "./panels/time.mjs";
import { LinksPanel } from "./panels/links.mjs";
import { TextPanel } from "./panels/text.mjs";
import { TorusPanel } from "./panels/torus.mjs";
import { DataPanel } from "./panels/data.mjs";
import { ChoicePanel } from "./panels/choice.mjs";
import { MeasuredPanel } from "./panels/measured.mjs";
import { ComparePanel } from "./panels/compare.mjs";
import { DependencesPanel } from "./panels/dependences.mjs";
import { RankPanel } from "./panels/rank.mjs";
import { LibraryPanel } from "./panels/library.mjs";
import { TablePanel } from "./panels/table.mjs";

const kHelp = [
  ["W S", "zoom"],
  ["A D", "earlier, later"],
  ["0", "all"],
  ["← →", "event before, next"],
  ["N P", "along the critical path"],
  ["space", "play"],
  ["/", "search"],
  ["F", "follow a block; its next color"],
  ["Shift ← → ↑ ↓", "the block beside it"],
  ["Esc", "select nothing"],
];

async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

class App {
  constructor(data) {
    this.data = data;
    this.schedules = (data.schedules ?? []).map((schedule) => new Schedule(schedule));
    this.runs = new Map();
    this.state = { file: 0, size: 0, rank: 0, op: null, segment: 0, time: null, tab: null, nodes: false, chunk: null };
    this.tip = new Tip();
    this.playing = false;
    this.dirty = new Set();
    this.keys = new Keys(this);
    this.readFragment();
    this.build();
    addEventListener("hashchange", () => {
      if (!this.writing) {
        this.readFragment();
        this.rebuild();
      }
    });
    new ResizeObserver(() => this.redraw()).observe(document.getElementById("panels"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      forgetColors();
      this.redraw();
    });
  }

  get schedule() {
    return this.schedules[this.state.file];
  }
  /// The selected run; null: there is none.
  get run() {
    return this.runOf(this.schedule, this.schedule?.data.prediction.runs[this.state.size]);
  }
  runOf(schedule, data) {
    if (!data) return null;
    if (!this.runs.has(data)) this.runs.set(data, new Run(schedule, data));
    return this.runs.get(data);
  }

  readFragment() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const number = (key, most) => {
      const value = Number(wanted.get(key) ?? NaN);
      return Number.isInteger(value) && value >= 0 && value < most ? value : null;
    };
    const { state } = this;
    state.file = number("file", this.schedules.length) ?? state.file;
    const sizes = this.schedule?.data.prediction.runs ?? [];
    if (wanted.has("size"))
      state.size = Math.max(
        0,
        sizes.findIndex((run) => String(run.bytes) === wanted.get("size")),
      );
    const { run } = this;
    state.op = number("op", this.schedule?.count ?? 0);
    state.tab = wanted.get("tab") ?? state.tab;
    // Damage is seen on all nodes alone.
    state.nodes = wanted.has("nodes") ? wanted.get("nodes") === "1" : Boolean(this.schedule?.damageText);
    state.chunk = this.chunkOf(wanted.get("chunk") ?? "");
    if (wanted.get("theme")) document.documentElement.dataset.theme = wanted.get("theme");
    if (!run?.hasEvents) return;
    state.rank = Math.max(0, run.ranks.indexOf(Number(wanted.get("rank") ?? run.ranks[0])));
    const seconds = Number(wanted.get("t") ?? NaN);
    if (seconds >= 0) state.time = Math.min(run.span, seconds / run.tick);
    else if (state.op !== null) state.time = this.timeOf(run.eventOf(state.op, state.rank));
  }

  /// A part and the coordinates of a block's owner, "0.1.2.3"; null: it is none of this schedule.
  chunkOf(text) {
    const { axes, data } = this.schedule ?? { axes: [], data: {} };
    if (!/^\d+(\.\d+)+$/.test(text)) return null;
    const [part, ...block] = text.split(".").map(Number);
    const fits = block.length === axes.length && block.every((at, axis) => at < axes[axis].size);
    return fits && part < data.parts.length ? { part, block } : null;
  }

  /// The path of the followed block; null: none is followed, or nodes are not known one by one.
  get way() {
    const { run, state } = this;
    if (!state.chunk || !run?.hasEvents || !this.schedule.data.writes || !ChunkFollower.knows(run)) return null;
    const key = `${state.rank} ${state.chunk.part} ${state.chunk.block}`;
    if (this.wayRun !== run || this.wayKey !== key) {
      this.wayRun = run;
      this.wayKey = key;
      this.foundWay = followChunk(run, state.rank, state.chunk.part, this.namedBlock());
    }
    return this.foundWay;
  }
  /// The followed block in the notation of operations: of pairs the source and the node itself.
  namedBlock() {
    const { schedule, run, state } = this;
    const { block } = state.chunk;
    return schedule.data.pairs
      ? [...block, ...schedule.coordinatesOfSite(schedule.siteOfRank(run.ranks[state.rank]))]
      : block;
  }

  /// The middle of an event: of the message on the wire, if it is one.
  timeOf(e) {
    const { run } = this;
    if (e < 0) return null;
    const send = run.sendOf(e);
    const wire = send >= 0 && run.wire_end[send] > run.wire_begin[send];
    return wire ? (run.wire_begin[send] + run.wire_end[send]) / 2 : (run.start[e] + run.end[e]) / 2;
  }

  writeFragment() {
    const { state, run } = this;
    const parts = new URLSearchParams();
    if (state.file > 0) parts.set("file", state.file);
    if (state.size > 0) parts.set("size", run.data.bytes);
    if (run?.hasEvents && state.rank > 0) parts.set("rank", run.ranks[state.rank]);
    if (state.op !== null) parts.set("op", state.op);
    if (run?.hasEvents) parts.set("t", Number(run.seconds(state.time).toPrecision(6)));
    if (state.tab) parts.set("tab", state.tab);
    if (state.nodes !== Boolean(this.schedule?.damageText)) parts.set("nodes", state.nodes ? 1 : 0);
    if (state.chunk) parts.set("chunk", [state.chunk.part, ...state.chunk.block].join("."));
    const { theme } = document.documentElement.dataset;
    if (theme) parts.set("theme", theme);
    this.writing = true;
    try {
      history.replaceState(null, "", `#${parts}`);
    } catch {
      /* some browsers refuse this for files */
    }
    this.writing = false;
  }

  // Layout.

  build() {
    this.panels = {};
    const head = document.getElementById("head"),
      main = document.getElementById("panels");
    this.verdict = element("div", { "aria-live": "polite" });
    this.bar = element("div", { class: "bar" });
    head.replaceChildren(this.verdict, this.bar);
    if (!this.schedule) {
      const { library, table } = this.data;
      this.verdict.append(element("h1", {}, library ? `Library ${library.path}` : table.file));
      this.bar.append(element("button", { click: () => this.toggleTheme() }, "light / dark"));
    }
    this.detail = element("div", { class: "detail", "aria-live": "polite" });
    main.replaceChildren();
    this.rebuild();
  }

  rebuild() {
    const main = document.getElementById("panels");
    const { schedule, run, state } = this;
    if (!schedule) {
      this.panels = this.data.library ? { library: new LibraryPanel(this) } : { table: new TablePanel(this) };
      main.replaceChildren(...Object.values(this.panels).map((shown) => shown.root));
      this.redraw();
      return;
    }
    if (run?.hasEvents && (state.time === null || state.time > run.span)) state.time = this.firstTime(run);
    this.panels = {};
    this.tabPanels = {};
    main.replaceChildren();
    if (run?.hasEvents) {
      this.panels.torus = new TorusPanel(this);
      this.panels.time = new TimePanel(this);
      if (schedule.data.writes) this.panels.data = new DataPanel(this);
    }
    const detail = panel("selection", "Selected operation");
    detail.append(this.detail);
    const column = (...names) =>
      element(
        "div",
        { class: "column" },
        names.map((name) => this.panels[name]?.root),
      );
    if (run?.hasEvents) {
      const left = column("torus");
      left.append(detail);
      main.append(left, column("time", "data"));
    } else {
      detail.className = "wide";
      main.append(detail);
    }
    this.tabs(main);
    this.verdict.replaceChildren(...verdictPanel(this));
    this.showBar();
    this.redraw();
  }

  /// A busy moment: the middle of the first message that carries data.
  firstTime(run) {
    const message = run.criticalPath.find((e) => run.bytes[run.sendOf(e)] > 0);
    return message === undefined ? 0 : this.timeOf(message);
  }

  tabs(main) {
    const made = { text: () => new TextPanel(this) };
    if (this.schedule.data.proof.phases.length > 0) made.links = () => new LinksPanel(this);
    const { data } = this.schedule;
    if (data.choices) made.choice = () => new ChoicePanel(this);
    if (data.trace && this.run?.hasEvents) made.measured = () => new MeasuredPanel(this);
    if (this.schedules.length > 1 && this.schedules.some((other) => other.data.prediction.runs.length > 0))
      made.compare = () => new ComparePanel(this);
    if (data.programs) made.rank = () => new RankPanel(this);
    if (data.operations.after.some((before) => before.length > 0))
      made.dependences = () => new DependencesPanel(this);
    const names = {
      compare: "Compared",
      measured: "Measured",
      choice: "Choice",
      links: "Links",
      dependences: "Dependences",
      rank: "Rank",
      text: data.passes ? "Text and passes" : "Text",
    };
    const order = Object.keys(names).filter((name) => made[name]);
    const { state } = this;
    if (!made[state.tab]) state.tab = this.schedule.data.proof.ok ? order[0] : "text";
    this.tabList = element(
      "div",
      { class: "tabs wide", role: "tablist", "aria-label": "More" },
      order.map((name) =>
        element(
          "button",
          {
            role: "tab",
            id: `tab-${name}`,
            "aria-controls": name,
            "aria-selected": String(name === state.tab),
            click: () => this.select({ tab: name }),
          },
          names[name],
        ),
      ),
    );
    main.append(this.tabList);
    for (const name of order) {
      const made_panel = made[name]();
      made_panel.root.setAttribute("role", "tabpanel");
      made_panel.root.hidden = name !== state.tab;
      this.panels[name] = this.tabPanels[name] = made_panel;
      main.append(made_panel.root);
    }
  }

  showBar() {
    const { schedule, run, state } = this;
    const parts = [];
    const choice = (label, options, chosen, change) => {
      const list = element(
        "select",
        { "aria-label": label, change: () => change(list.selectedIndex) },
        options.map((text, i) => element("option", { selected: i === chosen }, text)),
      );
      parts.push(element("label", {}, `${label} `, list));
    };
    if (this.schedules.length > 1)
      choice(
        "file",
        this.schedules.map((other) => other.data.file),
        state.file,
        (file) => this.showFile(file),
      );
    const { runs } = schedule.data.prediction;
    if (runs.length > 1)
      choice(
        "size",
        runs.map((other) => bytesText(other.bytes)),
        state.size,
        (size) => {
          Object.assign(state, { size, rank: 0, time: null });
          this.rebuild();
        },
      );
    if (run?.hasEvents && run.ranks.length > 1 && run.ranks.length <= 5000)
      choice(
        "rank",
        run.ranks.map((rank) => schedule.rankText(rank)),
        state.rank,
        (rank) => this.select({ rank }),
      );
    this.search = element("input", {
      type: "search",
      placeholder: "find %12, or text ( / )",
      "aria-label": "Find an operation",
      keydown: (event) => {
        if (event.key === "Enter") this.find(this.search.value);
      },
    });
    parts.push(this.search, element("button", { click: () => this.toggleTheme() }, "light / dark"));
    parts.push(
      element(
        "details",
        { class: "legend", style: "display:block" },
        element("summary", {}, "keys"),
        kHelp.map(([keys, what]) =>
          element("span", { style: "margin-right:10px" }, element("kbd", {}, keys), ` ${what}`),
        ),
      ),
    );
    this.bar.replaceChildren(...parts);
  }

  showFile(file) {
    Object.assign(this.state, { file, size: 0, rank: 0, op: null, time: null, chunk: null });
    this.rebuild();
  }

  toggleTheme() {
    const dark = document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    forgetColors();
    this.writeFragment();
    this.redraw();
  }

  /// Executes a key's action, as if pressed.
  key(name) {
    return this.keys.press(name);
  }

  // Selection.

  select(change) {
    const { state, run } = this;
    Object.assign(state, change);
    if (change.op !== undefined && change.segment === undefined) state.segment = 0;
    if (change.op !== undefined && change.op !== null && run?.hasEvents && change.time === undefined) {
      const e = run.eventOf(state.op, state.rank, state.segment);
      if (e >= 0) {
        state.time = this.timeOf(e);
        state.rank = run.rank[e];
        this.panels.time.reveal(e);
      }
    }
    if (change.rank !== undefined) this.showBar();
    if (change.tab) {
      for (const [name, shown] of Object.entries(this.tabPanels)) shown.root.hidden = name !== state.tab;
      for (const tab of this.tabList.children)
        tab.setAttribute("aria-selected", String(tab.id === `tab-${state.tab}`));
    }
    this.redraw();
  }

  showDetail() {
    const { schedule, run, state } = this;
    if (state.op === null) {
      this.detail.replaceChildren(
        element(
          "p",
          { class: "note" },
          "None. Click one in the timeline, the text or a fault, or press N to walk along the critical path.",
        ),
      );
      return;
    }
    const after = schedule.operations.after[state.op];
    const link = (op) => [element("button", { click: () => this.select({ op }) }, schedule.nameOf(op)), " "];
    const e = run?.hasEvents ? run.eventOf(state.op, state.rank, state.segment) : -1;
    const counters = schedule.operations.counters?.[state.op] ?? [];
    const lines = [
      element(
        "div",
        {},
        element("code", { id: "selected" }, schedule.textOf(state.op)),
        counters.length > 0
          ? ` in the iteration ${counters.map((at, level) => `${"ijkl"[level]} = ${at}`).join(", ")}`
          : "",
      ),
    ];
    if (e >= 0) lines.push(element("div", {}, eventLines(run, e).slice(1).join(" · ")));
    else
      lines.push(
        element(
          "div",
          { class: "muted" },
          `phase ${schedule.operations.phase[state.op]}, ${schedule.partText(schedule.partOf(state.op))}${run?.hasEvents ? "; this rank does not execute it" : ""}`,
        ),
      );
    const links = [];
    if (after.length > 0)
      links.push(
        "after ",
        ...after.slice(0, 12).map(link),
        after.length > 12 ? `and ${after.length - 12} more ` : "",
      );
    if (e >= 0 && run.partner[e] >= 0) links.push(" other end ", ...link(run.operation[run.partner[e]]));
    if (e >= 0 && run.cause[e] >= 0) links.push(" waited for ", ...link(run.operation[run.cause[e]]));
    lines.push(element("div", { style: "margin-top:4px" }, links));
    this.detail.replaceChildren(...lines);
  }

  find(text) {
    const { schedule, state } = this;
    const wanted = text.trim();
    if (!wanted) return;
    const number = /^%?(\d+)$/.exec(wanted);
    const matches = (op) =>
      number ? schedule.sourceOf(op) === Number(number[1]) : schedule.textOf(op).includes(wanted);
    const begin = state.op === null ? 0 : state.op + 1;
    for (let i = 0; i < schedule.count; ++i) {
      const op = (begin + i) % schedule.count;
      if (!matches(op)) continue;
      this.select({ op });
      return;
    }
    this.detail.replaceChildren(element("p", { class: "bad" }, `nothing found for ${wanted}`));
  }

  // Drawing.

  /// Of one panel, or of all, before the next frame.
  redraw(name) {
    this.dirty.add(name ?? "all");
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  draw() {
    const all = this.dirty.has("all");
    const dirty = this.dirty;
    this.dirty = new Set();
    for (const [name, shown] of Object.entries(this.panels)) {
      if ((all || dirty.has(name)) && !shown.root.hidden) shown.draw();
    }
    if (!all || !this.schedule) return;
    if (this.playing) return;
    this.showDetail();
    this.writeFragment();
  }
}

const page = document.documentElement;
let errors = 0;
page.dataset.errors = "0";
const failed = (text) => {
  page.dataset.errors = String(++errors);
  page.dataset.error = text;
  document.getElementById("head").append(element("p", { class: "bad" }, `This page has failed: ${text}`));
};
addEventListener("error", (event) => failed(event.message));
addEventListener("unhandledrejection", (event) => failed(String(event.reason)));

/// Keys that the fragment asks to press, for tests: `keys=n,n,w`.
function pressKeys(app) {
  for (const key of (new URLSearchParams(location.hash.slice(1)).get("keys") ?? "")
    .split(",")
    .filter(Boolean))
    app.key(key);
}

async function start() {
  const begin = performance.now();
  const data = await unpacked(document.getElementById("data").textContent);
  const app = new App(data);
  globalThis.torcView = app;
  pressKeys(app);
  app.draw();
  page.dataset.ops = String(app.schedule?.count ?? 0);
  page.dataset.loadMs = (performance.now() - begin).toFixed(0);
  page.dataset.ready = "";
}
start();
