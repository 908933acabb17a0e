// Panel 2, the torus: the activity of a node now. All nodes do the same relative to themselves; so
// one node with its arrows stands for all, for any size. Small tori can be drawn node by node.
import { colorOfPart, contextOf, element, panel } from "../drawing/dom.mjs";
import { bytesText, plural, secondsText } from "../core/format.mjs";
import { activityAt } from "../core/activity.mjs";
import { AllNodesPicture } from "../drawing/all_nodes.mjs";
import { OneNodePicture } from "../drawing/one_node.mjs";
import { kKinds } from "../core/schedule.mjs";

const kHeight = 380,
  kMostListed = 6,
  kMostDrawn = 4096;

export class TorusPanel {
  constructor(app) {
    this.app = app;
    this.canvas = element("canvas", {
      tabindex: 0,
      role: "img",
      "data-panel": 2,
      style: "touch-action:none",
    });
    this.list = element("div", { class: "legend", style: "display:block;min-height:7.5em" });
    this.slider = element("input", {
      type: "range",
      min: 0,
      max: 1000,
      value: 0,
      "aria-label": "Time",
      style: "flex:1 1 120px;padding:0",
      input: () => app.select({ time: (this.slider.value / 1000) * app.run.span }),
    });
    this.play = element(
      "button",
      { click: () => app.key(" "), "aria-label": "Play or pause (space)", title: "Play or pause (space)" },
      "▶",
    );
    this.modeButton = element(
      "button",
      {
        click: () => app.select({ nodes: !app.state.nodes }),
        title: "Every node, or one that stands for all",
      },
      "all nodes",
    );
    this.now = element("output", { style: "min-width:9ch" });
    const step = (key, text, label) =>
      element("button", { click: () => app.key(key), title: label, "aria-label": label }, text);
    this.root = panel(
      "torus",
      "Torus",
      {},
      this.play,
      step("ArrowLeft", "‹", "Event before (left arrow)"),
      step("ArrowRight", "›", "Next event (right arrow)"),
      this.slider,
      this.now,
      this.modeButton,
    );
    this.root.append(this.canvas, this.list);
    this.oneNode = new OneNodePicture(app);
    this.allNodes = new AllNodesPicture(app);
    this.wire();
  }

  get mayDrawNodes() {
    return Boolean(this.app.run.data.events.class_of_site) && this.app.schedule.sites <= kMostDrawn;
  }

  draw() {
    const { run, state, schedule } = this.app;
    const drawsNodes = state.nodes && this.mayDrawNodes;
    this.modeButton.hidden = !this.mayDrawNodes;
    this.modeButton.setAttribute("aria-pressed", String(drawsNodes));
    this.slider.value = String(Math.round((1000 * state.time) / run.span));
    this.slider.setAttribute("aria-valuetext", secondsText(run.seconds(state.time)));
    this.now.textContent = secondsText(run.seconds(state.time));
    this.play.textContent = this.app.playing ? "❚❚" : "▶";
    const now = activityAt(run, state.rank, state.time);
    const { context, width, height } = contextOf(this.canvas, kHeight);
    if (drawsNodes) this.allNodes.draw(context, width, height);
    else this.oneNode.draw(context, width, height, now);
    this.describe(now, schedule);
  }

  describe(now, schedule) {
    const { app } = this;
    const { run, state } = app;
    const messages = (events) =>
      plural(
        events.reduce((sum, e) => sum + (schedule.peerLoopOf(run.operation[e])?.[2] ?? 1), 0),
        "message",
      );
    const who =
      run.ranks.length === 1 && !schedule.data.rooted
        ? "Every node"
        : `${schedule.rankText(run.ranks[state.rank])}`;
    const summary = `${who} sends ${messages(now.sending)}, receives ${messages(now.receiving)}, ${plural(now.waiting, "operation")} waiting or starting up${now.working.length > 0 ? `, ${now.working.length} local` : ""}`;
    this.canvas.setAttribute("aria-label", `${summary} at ${secondsText(run.seconds(state.time))}`);
    const listed = [...now.sending, ...now.working, ...(now.sending.length > 0 ? [] : now.receiving)];
    const rows = listed.slice(0, kMostListed).map((e) => {
      const op = run.operation[e];
      const size = run.bytes[e] > 0 ? `, ${bytesText(run.bytes[e])}` : "";
      return element(
        "div",
        {},
        element("span", { class: "key", style: `background:${colorOfPart(schedule.colorOf(op))}` }),
        element(
          "button",
          {
            style: "border:0;background:none;padding:0;min-height:0;text-align:left",
            click: () => app.select({ op }),
          },
          `${schedule.nameOf(op)}: ${kKinds[schedule.operations.kind[op]]} ${schedule.peerText(op)}${size}`,
        ),
      );
    });
    const more = listed.length - rows.length;
    const drawsNodes = state.nodes && this.mayDrawNodes;
    const idle = drawsNodes && this.allNodes.used ? this.idleText() : "";
    this.list.replaceChildren(
      element("div", {}, summary),
      drawsNodes ? element("div", {}, `A node is as full as its share of what it receives.${idle}`) : "",
      ...rows,
      more > 0 ? element("div", {}, `and ${more} more`) : "",
    );
  }

  /// " Dotted: 12 of 96 links carry nothing."
  idleText() {
    const { schedule } = this.app;
    const { links } = this.allNodes;
    const all = links.flatMap((axes, site) =>
      axes.flatMap((_, axis) =>
        [-1, 1].filter((sign) => this.allNodes.isLink(site, axis, sign)).map((sign) => `${site} ${axis} ${sign}`),
      ),
    );
    const idle = all.filter((key) => !this.allNodes.used.has(key)).length;
    return idle > 0 ? ` ${idle} of ${plural(all.length, "link")} carry nothing; dotted: cables without traffic.` : "";
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
      if (Math.hypot(dx, dy) > 3) drag.moved = this.allNodes.turns = true;
      this.allNodes.turn += dx * 0.008;
      this.allNodes.tilt = Math.max(-1.5, Math.min(1.5, this.allNodes.tilt + dy * 0.008));
      Object.assign(drag, { x: event.clientX, y: event.clientY });
      this.app.redraw("torus");
    });
    this.canvas.addEventListener("lostpointercapture", () => {
      drag = null;
      if (!this.allNodes.turns) return;
      this.allNodes.turns = false;
      this.app.redraw("torus");
    });
    this.canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved && this.app.state.nodes) {
        const box = this.canvas.getBoundingClientRect();
        const best = this.allNodes.siteAt(event.clientX - box.left, event.clientY - box.top);
        const rank = best < 0 ? -1 : this.app.run.data.events.class_of_site[best];
        if (rank >= 0) this.app.select({ rank });
      }
      drag = null;
    });
  }
}
