// Elements, canvases and colors.

/// An element with attributes (functions are event handlers) and children.
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value !== undefined && value !== null && value !== false)
      made.setAttribute(key, value === true ? "" : value);
  }
  made.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return made;
}

/// A panel: a section with a heading and a bar.
export function panel(id, title, attributes = {}, ...bar) {
  return element(
    "section",
    { id, "aria-labelledby": `${id}-title`, ...attributes },
    element("div", { class: "bar" }, element("h2", { id: `${id}-title` }, title), ...bar),
  );
}

/// The cleared context of a canvas, `height` pixels high, in CSS pixels; as wide as in the
/// document, or `wide`.
export function contextOf(canvas, height, wide = 0) {
  const width = wide || canvas.clientWidth || canvas.parentElement?.clientWidth || 600;
  const ratio = globalThis.devicePixelRatio || 1;
  canvas.style.height = `${height}px`;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = '12px system-ui, "DejaVu Sans", sans-serif';
  context.textBaseline = "middle";
  return { context, width, height };
}

let cachedColors = null;
/// The values of the style sheet's variables in the present theme.
export function colors() {
  if (cachedColors) return cachedColors;
  const probe = element("span");
  document.body.append(probe);
  const read = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  cachedColors = { part: [0, 1, 2, 3, 4, 5, 6, 7].map((i) => read(`part${i}`)) };
  for (const name of ["back", "panel", "line", "text", "muted", "accent", "fault", "good", "mark"])
    cachedColors[name] = read(name);
  probe.remove();
  return cachedColors;
}
export function forgetColors() {
  cachedColors = null;
}
export const colorOfPart = (index) => colors().part[index % 8];

/// A box beside the pointer.
export class Tip {
  constructor() {
    this.box = element("div", { class: "tip", hidden: true, "aria-hidden": "true" });
    document.body.append(this.box);
  }
  show(event, lines) {
    this.box.replaceChildren(...lines.map((line) => element("div", {}, line)));
    this.box.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.box;
    this.box.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 4))}px`;
    this.box.style.top = `${event.clientY + 18 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 18}px`;
  }
  hide() {
    this.box.hidden = true;
  }
}
