// Time scales, lanes and levels of detail.

/// Zooms the interval by `factor` with `at` fixed; stays within 0 and `span`.
export function zoomed(view, factor, at, span) {
  const length = Math.min(span, Math.max(span * 1e-6, (view.end - view.begin) * factor));
  const share = (at - view.begin) / (view.end - view.begin);
  return within(at - share * length, length, span);
}

export function panned(view, distance, span) {
  return within(view.begin + distance, view.end - view.begin, span);
}

function within(begin, length, span) {
  const first = Math.min(Math.max(0, begin), span - length);
  return { begin: first, end: first + length };
}

/// Round values of an axis, `count` of them or fewer.
export function ticksOf(begin, end, count) {
  const rough = (end - begin) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough);
  const ticks = [];
  for (let i = Math.ceil(begin / step); i * step <= end; ++i) ticks.push(i * step);
  return ticks;
}

/// Minimum and maximum of `values`, which may exceed the limit of a call's arguments; of none
/// [Infinity, -Infinity].
export function extentOf(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}

/// Distributes intervals over lanes without overlaps. `items` are in order of `begin`; returns
/// lists of items. An interval without a lane among `most` goes into the one that is free first.
export function lanesOf(items, begin, end, most) {
  const lanes = [],
    free = [];
  for (const item of items) {
    let lane = free.findIndex((time) => time <= begin(item));
    if (lane < 0 && lanes.length < most) {
      lane = lanes.length;
      lanes.push([]);
      free.push(0);
    }
    if (lane < 0) lane = free.indexOf(Math.min(...free));
    lanes[lane].push(item);
    free[lane] = Math.max(free[lane], end(item));
  }
  return lanes;
}

/// The last item that begins at `time` or before; -1: none. `items` are in order of `begin`.
export function lastBegun(items, begin, time) {
  let low = 0,
    high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (begin(items[middle]) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/// Coverage of each of `count` bins between `from` and `to` by the weighted intervals; with weight
/// 1, the covered share of the bin.
export function binned(intervals, from, to, count) {
  const bins = new Float64Array(count);
  const width = (to - from) / count;
  for (const [begin, end, weight = 1] of intervals) {
    const first = Math.max(0, (begin - from) / width),
      last = Math.min(count, (end - from) / width);
    for (let bin = Math.floor(first); bin < last; ++bin)
      bins[bin] += weight * (Math.min(last, bin + 1) - Math.max(first, bin));
  }
  return bins;
}

/// The intervals between 0 and `span` in which none of `intervals`, in order of their begins, is.
export function gapsOf(intervals, span) {
  const gaps = [];
  let end = 0;
  for (const [begin, last] of intervals) {
    if (begin > end) gaps.push([end, begin]);
    end = Math.max(end, last);
  }
  if (end < span) gaps.push([end, span]);
  return gaps;
}
