// The difference of two texts, line by line.

const kMostCells = 4e6;

/// Rows [mark, line]: " " in both, "-" in the first alone, "+" in the second alone. Long differing
/// parts are replaced as a whole.
export function diffOf(before, after) {
  let begin = 0;
  while (begin < before.length && begin < after.length && before[begin] === after[begin]) ++begin;
  let end = 0;
  while (
    end < before.length - begin &&
    end < after.length - begin &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    ++end;
  const a = before.slice(begin, before.length - end),
    b = after.slice(begin, after.length - end);
  return [
    ...before.slice(0, begin).map((line) => [" ", line]),
    ...middleOf(a, b),
    ...before.slice(before.length - end).map((line) => [" ", line]),
  ];
}

function middleOf(a, b) {
  const replaced = () => [...a.map((line) => ["-", line]), ...b.map((line) => ["+", line])];
  if (a.length * b.length > kMostCells) return replaced();
  // The longest common subsequence from each place on.
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; --i) {
    for (let j = b.length - 1; j >= 0; --j) {
      longest[i * width + j] =
        a[i] === b[j]
          ? longest[(i + 1) * width + j + 1] + 1
          : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  const rows = [];
  let i = 0,
    j = 0;
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      rows.push([" ", a[i]]);
      (++i, ++j);
    } else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) rows.push(["-", a[i++]]);
    else rows.push(["+", b[j++]]);
  }
  return [...rows, ...a.slice(i).map((line) => ["-", line]), ...b.slice(j).map((line) => ["+", line])];
}
