// Keys and their actions: zoom, go from event to event, play.

// Milliseconds for playing a whole run.
const kPlayed = 12000;

export class Keys {
  constructor(app) {
    this.app = app;
    addEventListener("keydown", (event) => this.pressed(event));
  }

  pressed(event) {
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing =
      (target instanceof HTMLInputElement && target.type === "search") || target instanceof HTMLSelectElement;
    if (typing) {
      if (event.key === "Escape") target.blur();
      return;
    }
    if (target instanceof HTMLButtonElement && (event.key === " " || event.key === "Enter")) return;
    if (target instanceof HTMLInputElement && event.key.startsWith("Arrow")) return;
    if (target.getAttribute?.("role") === "tab" && event.key.startsWith("Arrow")) {
      const tabs = [...this.app.tabList.children];
      const next =
        tabs[(tabs.indexOf(target) + (event.key === "ArrowRight" ? 1 : tabs.length - 1)) % tabs.length];
      next.focus();
      next.click();
      return;
    }
    const shifted = event.shiftKey && event.key.startsWith("Arrow");
    if (this.press(shifted ? `Shift${event.key}` : event.key)) event.preventDefault();
  }

  /// Executes a key's action; returns whether it has one.
  press(name) {
    const { run, panels } = this.app;
    const key = name.length === 1 ? name.toLowerCase() : name;
    if (key === "/") {
      this.app.search.focus();
      return true;
    }
    if (key === "Escape") {
      this.app.select({ op: null, chunk: null });
      return true;
    }
    if (!run?.hasEvents) return false;
    const { time, data } = panels;
    const actions = {
      w: () => time.zoom(0.6),
      s: () => time.zoom(1 / 0.6),
      a: () => time.pan(-0.2),
      d: () => time.pan(0.2),
      0: () => time.all(),
      n: () => this.walk(1),
      p: () => this.walk(-1),
      " ": () => this.togglePlay(),
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      f: () => data?.follow(),
      ShiftArrowLeft: () => data?.followBeside(-1, 0),
      ShiftArrowRight: () => data?.followBeside(1, 0),
      ShiftArrowUp: () => data?.followBeside(0, 1),
      ShiftArrowDown: () => data?.followBeside(0, -1),
    };
    if (!actions[key]) return false;
    actions[key]();
    return true;
  }

  /// Along the critical path.
  walk(direction) {
    const { run, state } = this.app;
    const path = run.criticalPath;
    const at = path.findIndex(
      (e) =>
        run.operation[e] === state.op &&
        run.rank[e] === state.rank &&
        (run.segment?.[e] ?? 0) === state.segment,
    );
    const next =
      path[
        at < 0
          ? direction > 0
            ? 0
            : path.length - 1
          : Math.max(0, Math.min(path.length - 1, at + direction))
      ];
    state.rank = run.rank[next];
    this.app.select({
      op: run.operation[next],
      segment: run.segment?.[next] ?? 0,
      time: (run.start[next] + run.end[next]) / 2,
      rank: run.rank[next],
    });
    this.app.panels.time.reveal(next);
  }

  /// To the next moment at which a transfer begins or ends.
  step(direction) {
    const { run, state } = this.app;
    let best = direction > 0 ? Infinity : -Infinity;
    for (const e of run.eventsOfRank[state.rank]) {
      for (const moment of [run.begin[e], run.end[e], run.wire_begin[e], run.wire_end[e]]) {
        if (
          direction > 0
            ? moment > state.time + 0.5 && moment < best
            : moment < state.time - 0.5 && moment > best
        )
          best = moment;
      }
    }
    if (Number.isFinite(best)) this.app.select({ time: best });
  }

  togglePlay() {
    const { app } = this;
    app.playing = !app.playing;
    let before = performance.now();
    const frame = (now) => {
      if (!app.playing) return;
      const { run, state } = app;
      state.time += ((now - before) / kPlayed) * run.span;
      before = now;
      if (state.time >= run.span) {
        state.time = run.span;
        app.playing = false;
      }
      app.redraw();
      requestAnimationFrame(frame);
    };
    if (app.playing) {
      if (app.state.time >= app.run.span) app.state.time = 0;
      requestAnimationFrame(frame);
    }
    app.redraw();
  }
}
