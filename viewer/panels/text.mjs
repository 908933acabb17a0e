// Panel 7, text and passes: the text of the program, and the change by each pass.
import { element, panel } from "../drawing/dom.mjs";
import { diffOf } from "../core/diff.mjs";
import { digits, plural, secondsText } from "../core/format.mjs";

const kLine = 18;
const kWords =
  /(\/\/.*$)|(%\d+)|\b(send|recv|recv_reduce|reduce|copy|notify|await|to|from|after|when|for|in|of|schedule|phase|stream|frame|color|topology|collective|producer|slots|slot|promise)\b/g;

/// A line with its words marked.
function marked(line) {
  const out = [];
  let end = 0;
  for (const match of line.matchAll(kWords)) {
    out.push(
      line.slice(end, match.index),
      element("span", { class: match[1] ? "muted" : match[2] ? "good" : "word" }, match[0]),
    );
    end = match.index + match[0].length;
  }
  return [...out, line.slice(end)];
}

/// Lines of any number; the document has only the visible ones.
class Lines {
  constructor(label, onClick) {
    this.inner = element("div", { style: "position:relative" });
    this.root = element(
      "div",
      { class: "lines mono", tabindex: 0, role: "region", "aria-label": label, scroll: () => this.fill() },
      this.inner,
    );
    this.onClick = onClick;
    this.rows = [];
  }
  /// `rows`: { text, classes, number }.
  set(rows) {
    this.rows = rows;
    this.inner.style.height = `${rows.length * kLine + 8}px`;
    this.inner.style.width = `${Math.max(20, ...rows.map((row) => row.text.length)) + 8}ch`;
    this.fill();
  }
  fill() {
    const first = Math.max(0, Math.floor(this.root.scrollTop / kLine) - 5);
    const last = Math.min(this.rows.length, first + Math.ceil((this.root.clientHeight || 440) / kLine) + 10);
    const made = [];
    for (let i = first; i < last; ++i) {
      const row = this.rows[i];
      made.push(
        element(
          "div",
          { class: `row ${row.classes ?? ""}`, style: `top:${i * kLine}px`, click: () => this.onClick(i) },
          element("span", { class: "number", "aria-hidden": "true" }, row.number ?? ""),
          marked(row.text),
        ),
      );
    }
    this.inner.replaceChildren(...made);
  }
  reveal(i) {
    const top = i * kLine;
    if (top < this.root.scrollTop || top > this.root.scrollTop + this.root.clientHeight - kLine)
      this.root.scrollTop = Math.max(0, top - 160);
  }
}

export class TextPanel {
  constructor(app) {
    this.app = app;
    this.root = panel("text", "Text", { class: "wide" });
    this.lines = new Lines("Text of the schedule", (i) => this.clicked(i));
    this.passes = element("ul", { class: "passes", "aria-label": "Passes" });
    this.shown = null; // number of a pass; null: the file's own text
  }

  clicked(i) {
    const { app } = this;
    const { schedule } = app;
    if (this.shown !== null) return;
    const source = schedule.sourceOfLine.get(i);
    if (source !== undefined) app.select({ op: schedule.firstOfSource.get(source) });
  }

  draw() {
    const { schedule, state } = this.app;
    const passes = schedule.data.passes ?? [];
    if (this.drawnFor !== schedule) {
      this.drawnFor = schedule;
      this.shown = null;
      this.root.replaceChildren(
        this.root.firstChild,
        passes.length > 0
          ? element("div", { class: "split" }, this.passes, this.lines.root)
          : this.lines.root,
      );
      this.showPasses(passes);
      this.opShown = undefined;
    }
    if (this.shown !== null || this.opShown === state.op) return;
    const faults = new Set(
      schedule.data.proof.faults.map((fault) => fault.operation).filter((op) => op !== undefined),
    );
    const chosen = state.op === null ? null : schedule.lineOfSource.get(schedule.sourceOf(state.op));
    this.lines.set(
      schedule.lines.map((text, i) => {
        const source = schedule.sourceOfLine.get(i);
        return {
          text,
          number: String(i + 1),
          classes: `${source === undefined ? "" : "op"} ${i === chosen ? "chosen" : ""} ${faults.has(source) ? "fault" : ""}`,
        };
      }),
    );
    this.opShown = state.op;
    if (chosen !== null && chosen !== undefined) this.lines.reveal(chosen);
    this.lines.fill();
  }

  showPasses(passes) {
    const choose = (number) => {
      this.shown = number;
      this.showPasses(passes);
      this.opShown = undefined;
      if (number === null) this.draw();
      else this.showDiff(passes, number);
    };
    const button = (number, text, changed) =>
      element(
        "li",
        {},
        element(
          "button",
          {
            "aria-pressed": String(this.shown === number),
            class: changed ? "" : "same",
            click: () => choose(number),
          },
          text,
        ),
      );
    this.passes.replaceChildren(
      button(null, "the file", true),
      ...passes.map((pass, number) => {
        const notes = [
          ...(number === 0 ? [] : [pass.changed ? secondsText(pass.seconds) : "no change"]),
          ...(pass.statistics ?? []).map(([value, name]) => `${digits(value)} ${name}`),
        ];
        return button(
          number,
          `${number === 0 ? "" : `${number}. `}${pass.name}${notes.length > 0 ? ` (${notes.join("; ")})` : ""}`,
          pass.changed,
        );
      }),
    );
  }

  showDiff(passes, number) {
    const { schedule } = this.app;
    const before = number === 0 ? [] : schedule.linesAfter(number - 1);
    const after = schedule.linesAfter(number);
    const rows = number === 0 ? after.map((line) => [" ", line]) : diffOf(before, after);
    const kClasses = { " ": "", "+": "added", "-": "removed" };
    this.lines.set(rows.map(([mark, text]) => ({ text, number: mark.trim(), classes: kClasses[mark] })));
    const first = rows.findIndex(([mark]) => mark !== " ");
    this.lines.root.scrollTop = Math.max(0, first * kLine - 80);
    this.lines.root.setAttribute(
      "aria-label",
      `After ${passes[number].name}: ${plural(rows.filter(([mark]) => mark === "+").length, "line")} added`,
    );
    this.lines.fill();
  }
}
