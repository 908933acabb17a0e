// Formats of numbers.

/// "355.2 µs": four digits.
export function secondsText(seconds) {
  const steps = [
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "µs"],
    [1e-9, "ns"],
  ];
  if (seconds === 0) return "0";
  const [unit, name] = steps.find(([size]) => Math.abs(seconds) >= size) ?? steps[3];
  return `${digits(seconds / unit)} ${name}`;
}

/// Four digits, with an exponent only if needed.
export function digits(value, count = 4) {
  return String(Number(value.toPrecision(count)));
}

/// "64K", "1.5M", "1000": powers of 1024.
export function bytesText(bytes) {
  for (const [power, name] of [
    [40, "T"],
    [30, "G"],
    [20, "M"],
    [10, "K"],
  ]) {
    const size = 2 ** power;
    if (bytes >= size) return `${digits(bytes / size)}${name}`;
  }
  return digits(bytes);
}

/// "65,536".
export function countText(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/// ASCII text of torc, "2.00 us", in the page's notation.
export function reasonText(text) {
  return text.replace(/(\d) us\b/g, "$1 µs");
}

/// "1 node", "3 nodes", "2 boxes".
export function plural(count, noun) {
  return `${countText(count)} ${noun}${count === 1 ? "" : noun.endsWith("x") ? "es" : "s"}`;
}
