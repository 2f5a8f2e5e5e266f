// Drawing on canvas: sharp at any device pixel ratio, in the colours of the theme, fast for many samples.

import { preferences } from "./preferences.js";
import { scales } from "./pure/scales.js";

const names = ["ink", "quiet", "line", "grid", "card", "raw", "filtered", "rms", "trigger", "accent", "bad", "axis-x", "axis-y", "axis-z"];
let known = null;

// The theme's colours by name, as canvas takes them.
export function themeColors() {
  if (!known) {
    const style = getComputedStyle(document.documentElement);
    known = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  }
  return known;
}
preferences.on((name) => {
  if (name === "theme") known = null;
});

// On paper the page has another width, and is light. Browsers lay it out for that without telling observers, so that what was
// drawn would be squeezed, and marks would lie beside their places: the root gets the class `paper` just before, which has
// the layout of paper, and everything is measured at once. (This listener comes first.)
const root = document.documentElement;
let screenTheme;
function onPaper(is) {
  if (root.classList.contains("paper") === is) return;
  root.classList.toggle("paper", is);
  if (is) {
    screenTheme = root.dataset.theme;
    root.dataset.theme = "light";
  } else if (screenTheme === undefined) delete root.dataset.theme;
  else root.dataset.theme = screenTheme;
  known = null;
}
addEventListener("beforeprint", () => onPaper(true));
addEventListener("afterprint", () => onPaper(false));

// paper(listener): called with true just before the page is laid out for paper, and with false when it is on the screen again.
// Returns a function that ends it.
export function paper(listener) {
  const [before, after] = [() => listener(true), () => listener(false)];
  addEventListener("beforeprint", before);
  addEventListener("afterprint", after);
  return () => {
    removeEventListener("beforeprint", before);
    removeEventListener("afterprint", after);
  };
}

// newSurface(canvas, draw): keeps the canvas as sharp as the screen, and calls draw(context, width, height) in CSS pixels
// when its size or the theme changes, and for paper. { redraw(), measure(), stop(), visible }
export function newSurface(canvas, draw) {
  const context = canvas.getContext("2d");
  const made = { redraw, measure, stop, visible: true };
  let width = 0;
  let height = 0;
  function redraw() {
    if (width === 0 || height === 0) return;
    const ratio = devicePixelRatio || 1;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    draw(context, width, height);
  }
  function measure() {
    ({ clientWidth: width, clientHeight: height } = canvas);
    redraw();
  }
  const observer = new ResizeObserver(measure);
  observer.observe(canvas);
  const stopPaper = paper(measure);
  // `visible` is for those who draw often: nobody looks at what is scrolled away.
  const seen = new IntersectionObserver((entries) => {
    made.visible = entries[entries.length - 1].isIntersecting;
    if (made.visible) redraw();
  });
  seen.observe(canvas);
  const stopTheme = preferences.on(() => redraw());
  function stop() {
    observer.disconnect();
    seen.disconnect();
    stopTheme();
    stopPaper();
  }
  return made;
}

const font = (size) => `${size}px ${getComputedStyle(document.body).fontFamily}`;
const fonts = new Map();
function setFont(context, size) {
  if (!fonts.has(size)) fonts.set(size, font(size));
  context.font = fonts.get(size);
}

// Grid lines and numbers. box: {left, top, right, bottom}. x and y: { ticks: [{ at (pixels), label }] }; `unit` is shown at
// the top, x.name (what is counted there, or the zone of the times) before the first number.
/** @param {CanvasRenderingContext2D} context @param {any} box @param {{ x?: any, y?: any, unit?: string }} axes */
function frame(context, box, { x, y, unit }) {
  const colors = themeColors();
  setFont(context, 11);
  context.lineWidth = 1;
  context.strokeStyle = colors.grid;
  context.fillStyle = colors.quiet;
  context.beginPath();
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const { at, label } of y?.ticks ?? []) {
    const line = Math.round(at) + 0.5;
    context.moveTo(box.left, line);
    context.lineTo(box.right, line);
    if (label !== undefined) context.fillText(label, box.left - 6, Math.min(Math.max(at, box.top + 5), box.bottom - 4));
  }
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const { at, label } of x?.ticks ?? []) {
    const line = Math.round(at) + 0.5;
    context.moveTo(line, box.top);
    context.lineTo(line, box.bottom);
    if (label !== undefined) context.fillText(label, at, box.bottom + 5);
  }
  context.stroke();
  if (x?.name) {
    context.textAlign = "left";
    const width = context.measureText(x.name).width + 8;
    context.fillStyle = colors.card;
    context.fillRect(0, box.bottom + 3, width, 15);
    context.fillStyle = colors.quiet;
    context.fillText(x.name, 4, box.bottom + 5);
  }
  if (unit) {
    context.textAlign = "left";
    context.fillText(unit, box.left + 4, box.top + 3);
  }
}

const out = new Float64Array(2);

// One curve; a width of 1 is by far the cheapest where there is no graphics chip. source: { value(slot), extremes(from, to, out) },
// of slots; `from` to `to` (may be fractions) are drawn from box.left to box.right; y(value) gives pixels. Where a pixel has
// several samples, it shows their smallest and largest, in groups that stay the same while the picture moves.
function curve(context, source, { box, from, to, y, color, width = 1 }) {
  const scale = (box.right - box.left) / (to - from);
  const group = Math.max(1, Math.ceil(1 / scale));
  context.strokeStyle = color;
  context.lineWidth = width;
  context.lineJoin = "bevel";
  context.beginPath();
  let pen = false;
  if (scale >= 0.7) {
    const last = Math.ceil(to);
    for (let slot = Math.floor(from); slot <= last; slot++) {
      const value = source.value(slot);
      if (value !== value) pen = false;
      else {
        const px = box.left + (slot - from) * scale;
        if (pen) context.lineTo(px, y(value));
        else context.moveTo(px, y(value));
        pen = true;
      }
    }
  } else {
    for (let slot = Math.floor(from / group) * group; slot <= to; slot += group) {
      source.extremes(slot, slot + group, out);
      if (out[0] !== out[0]) {
        pen = false;
        continue;
      }
      const px = box.left + (slot + group / 2 - from) * scale;
      if (pen) context.lineTo(px, y(out[1]));
      else context.moveTo(px, y(out[1]));
      context.lineTo(px, y(out[0]));
      pen = true;
    }
  }
  context.stroke();
}

// The same of a plain array of samples.
const array = (values) => ({
  value: (slot) => (slot >= 0 && slot < values.length ? values[slot] : NaN),
  extremes(from, to, result) {
    let low = Infinity;
    let high = -Infinity;
    for (let i = Math.max(0, from); i < Math.min(values.length, to); i++) {
      if (values[i] < low) low = values[i];
      if (values[i] > high) high = values[i];
    }
    result[0] = low <= high ? low : NaN;
    result[1] = low <= high ? high : NaN;
    return result;
  },
});

function clip(context, box, draw) {
  context.save();
  context.beginPath();
  context.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  context.clip();
  draw();
  context.restore();
}

// Numbers of a logarithmic axis of frequency: { at, label }, the last with its unit.
function hertz(low, high, x, tick) {
  const list = scales.logarithmicTicks(low, high);
  return list.map((hz, i) => ({ at: x(hz), label: `${tick(hz)}${i === list.length - 1 ? " Hz" : ""}` }));
}

// An upright broken line.
function upright(context, x, box, color, width = 1, dash = [4, 4]) {
  context.strokeStyle = color;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(x, box.top);
  context.lineTo(x, box.bottom);
  context.stroke();
  context.setLineDash([]);
}

export const plot = { frame, curve, array, clip, hertz, setFont, upright };

// Calls fn(seconds) for each picture while the page is seen, about so many times a second. In between not even a frame is
// asked for: where there is no graphics chip, each one costs, whether something is drawn or not. Returns what ends it.
export function animate(fn, perSecond = 21) {
  let request = 0;
  let timer = 0;
  let due = 0;
  function tick(now) {
    due = Math.max(due + 1000 / perSecond, now);
    fn(now / 1000);
    // A frame comes at most 17 ms after it was asked for.
    timer = setTimeout(ask, Math.max(0, due - performance.now() - 9));
  }
  function ask() {
    request = requestAnimationFrame(tick);
  }
  ask();
  return () => {
    clearTimeout(timer);
    cancelAnimationFrame(request);
  };
}
