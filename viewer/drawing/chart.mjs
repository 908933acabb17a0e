// Charts of points and lines on two axes.
import { colors, contextOf } from "./dom.mjs";
import { extentOf, ticksOf } from "../core/scale.mjs";

/// Round values of a logarithmic axis: 1, 2 and 5 in each decade, as many as fit; or powers of two.
/// None if the ends are not positive.
export function logTicks(low, high, count, base = 10) {
  if (!(low > 0 && high < Infinity)) return [];
  const ticks = [];
  const steps = base === 2 ? [1] : [1, 2, 5];
  for (let power = Math.floor(Math.log(low) / Math.log(base)); base ** power <= high * 1.001; ++power) {
    for (const step of steps) {
      const value = step * base ** power;
      if (value >= low * 0.999 && value <= high * 1.001) ticks.push(value);
    }
  }
  const every = Math.ceil(ticks.length / Math.max(2, count));
  return ticks.filter((_, i) => i % every === 0);
}

/// Draws `series`: { points: [[x, y, thing]...], color, line, dot, hollow, dash, filled }, and returns the
/// places of the points: [x, y, thing]. Axes: { log, base, text, title }.
export function drawChart(canvas, height, series, xAxis, yAxis) {
  const { context, width } = contextOf(canvas, height);
  const palette = colors();
  const area = { left: 66, right: width - 12, top: 20, bottom: height - 34 };
  const scaleOf = (axis, place, from, to, count) => {
    const values = series
      .flatMap(({ points }) => points.map((point) => point[place]))
      .filter((value) => Number.isFinite(value) && (!axis.log || value > 0));
    let [low, high] = extentOf(values);
    if (values.length === 0) [low, high] = axis.log ? [1, 10] : [0, 1];
    if (axis.log) [low, high] = [low / 1.1, high * 1.1];
    else [low, high] = [Math.min(0, low), high * 1.05 || 1];
    const map = axis.log ? Math.log : (value) => value;
    const at = (value) => from + ((map(value) - map(low)) / (map(high) - map(low))) * (to - from);
    return { at, ticks: axis.log ? logTicks(low, high, count, axis.base) : ticksOf(low, high, count) };
  };
  const x = scaleOf(xAxis, 0, area.left, area.right, (area.right - area.left) / 80);
  const y = scaleOf(yAxis, 1, area.bottom, area.top, (area.bottom - area.top) / 34);
  context.lineWidth = 1;
  context.strokeStyle = palette.line;
  context.fillStyle = palette.muted;
  context.textAlign = "center";
  for (const tick of x.ticks) {
    context.beginPath();
    context.moveTo(x.at(tick), area.top);
    context.lineTo(x.at(tick), area.bottom);
    context.stroke();
    context.fillText(xAxis.text(tick), x.at(tick), area.bottom + 11);
  }
  context.fillText(xAxis.title, (area.left + area.right) / 2, height - 8);
  context.textAlign = "right";
  for (const tick of y.ticks) {
    context.beginPath();
    context.moveTo(area.left, y.at(tick));
    context.lineTo(area.right, y.at(tick));
    context.stroke();
    context.fillText(yAxis.text(tick), area.left - 6, y.at(tick));
  }
  context.textAlign = "left";
  context.fillText(yAxis.title, 4, 8);
  const places = [];
  for (const { points, color, line, dot = 3.5, hollow, dash, filled } of series) {
    context.strokeStyle = context.fillStyle = color;
    const known = points.filter(
      ([px, py]) =>
        Number.isFinite(px) && Number.isFinite(py) && (!yAxis.log || py > 0) && (!xAxis.log || px > 0),
    );
    if (line) {
      context.lineWidth = line;
      context.setLineDash(dash ?? []);
      context.beginPath();
      known.forEach(([px, py], i) =>
        i === 0 ? context.moveTo(x.at(px), y.at(py)) : context.lineTo(x.at(px), y.at(py)),
      );
      context.stroke();
      context.setLineDash([]);
      if (filled) {
        context.globalAlpha = 0.35;
        context.fill();
        context.globalAlpha = 1;
      }
    }
    for (const [px, py, thing] of known) {
      if (dot > 0) {
        context.beginPath();
        context.arc(x.at(px), y.at(py), dot, 0, 7);
        if (hollow) context.stroke();
        else context.fill();
      }
      if (thing !== undefined) places.push([x.at(px), y.at(py), thing]);
    }
  }
  return places;
}

/// The thing nearest to the pointer, within a few pixels; undefined: none.
export function nearest(canvas, event, places) {
  const box = canvas.getBoundingClientRect();
  let best,
    least = 12;
  for (const [x, y, thing] of places ?? []) {
    const distance = Math.hypot(x - (event.clientX - box.left), y - (event.clientY - box.top));
    if (distance < least) [best, least] = [thing, distance];
  }
  return best;
}
