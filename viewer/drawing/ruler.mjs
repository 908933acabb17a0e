// Shared by timelines: the ruler above, and the use of links.
import { colors } from "./dom.mjs";
import { kLabel } from "../core/events.mjs";
import { secondsText } from "../core/format.mjs";
import { binned, ticksOf } from "../core/scale.mjs";

/// Its height.
export const kRuler = 22;

/// Times, and lines through all rows; `view` is in units of `unit` seconds.
export function drawRuler(context, view, unit, width, height) {
  const palette = colors();
  context.strokeStyle = palette.line;
  context.fillStyle = palette.muted;
  context.lineWidth = 1;
  context.textAlign = "center";
  for (const tick of ticksOf(view.begin * unit, view.end * unit, (width - kLabel) / 90)) {
    const x = kLabel + ((tick / unit - view.begin) / (view.end - view.begin)) * (width - kLabel);
    context.beginPath();
    context.moveTo(x, kRuler - 4);
    context.lineTo(x, height);
    context.stroke();
    if (x < width - 24)
      context.fillText(secondsText(Number(tick.toPrecision(12))), Math.max(x, kLabel + 12), kRuler / 2 - 1);
  }
}

/// The share of a link that `intervals` use, [begin, end, share], in the row at `y`.
export function drawShares(context, intervals, view, width, y, height, color) {
  const columns = Math.ceil(width - kLabel);
  const some = intervals.filter(([from, to]) => to > view.begin && from < view.end);
  const bins = binned(some, view.begin, view.end, columns);
  context.fillStyle = color;
  context.globalAlpha = 0.75;
  for (let i = 0; i < columns; ++i) {
    const share = Math.min(1, bins[i]);
    if (share > 0) context.fillRect(kLabel + i, y + height * (1 - share), 1, height * share);
  }
  context.globalAlpha = 1;
}

/// A band over the rows from `top` to `bottom`, for segments without events that repeat those drawn
/// beside it. `unit` is the unit of the view, in ticks of the run.
export function drawContinued(context, run, view, unit, width, top, bottom) {
  if (!run.continued) return;
  const { first, count, begin, end } = run.continued;
  const place = (tick) => kLabel + ((tick * unit - view.begin) / (view.end - view.begin)) * (width - kLabel);
  const left = Math.max(kLabel, place(begin)),
    right = Math.min(width, place(end));
  if (right <= left) return;
  const palette = colors();
  context.fillStyle = palette.muted;
  context.globalAlpha = 0.18;
  context.fillRect(left, top, right - left, bottom - top);
  context.globalAlpha = 1;
  context.fillStyle = palette.text;
  context.textAlign = "center";
  const text = `segments ${first} to ${first + count - 1} continue like this`;
  if (context.measureText(text).width < right - left - 8)
    context.fillText(text, (left + right) / 2, (top + bottom) / 2);
}
