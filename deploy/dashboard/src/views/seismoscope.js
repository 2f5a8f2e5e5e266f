// The motion in the horizontal plane, on a polar grid: where the ground is being pushed, and where it was a moment ago.

import { newSurface, plot, themeColors } from "../canvas.js";
import { h, setText } from "../dom.js";
import { fleet } from "../fleet.js";
import { format, preferences } from "../preferences.js";
import { scales } from "../pure/scales.js";
import { units } from "../pure/units.js";
import { text } from "../text.js";
import { Range } from "./graph-range.js";

const words = text.station.scope;
const trail = 3;
const parts = 3;

// A value between samples, on a smooth path through its neighbours.
function between(source, axis, signal, slot) {
  const i = Math.floor(slot);
  const u = slot - i;
  const b = source.value(axis, signal, i);
  const c = source.value(axis, signal, i + 1);
  if (b !== b || c !== c) return b;
  const before = source.value(axis, signal, i - 1);
  const after = source.value(axis, signal, i + 2);
  const a = before === before ? before : b;
  const d = after === after ? after : c;
  return b + 0.5 * u * (c - a + u * (2 * a - 5 * b + 4 * c - d + u * (3 * (b - c) + d - a)));
}

const signalOf = (source) => (source.has("x", "filtered") ? "filtered" : "raw");

// Circles of round numbers and twelve directions; { step, rings, reach } of the circles, in the shown unit.
function paintGrid(context, centre, radius, reach, colors) {
  const step = scales.niceAbove(reach / 4.2);
  const rings = Math.max(1, Math.floor(reach / step + 1e-9));
  context.lineWidth = 1;
  context.strokeStyle = colors.grid;
  for (let i = 1; i <= rings; i++) {
    context.beginPath();
    context.arc(centre.x, centre.y, (radius * i * step) / reach, 0, 2 * Math.PI);
    context.stroke();
  }
  context.beginPath();
  for (let i = 0; i < 12; i++) {
    const angle = (i * Math.PI) / 6;
    context.moveTo(centre.x, centre.y);
    context.lineTo(centre.x + radius * Math.cos(angle), centre.y + radius * Math.sin(angle));
  }
  context.stroke();
  context.strokeStyle = colors.quiet;
  context.beginPath();
  context.arc(centre.x, centre.y, radius, 0, 2 * Math.PI);
  context.stroke();
  return { step, rings, reach };
}

// Names of the circles, over the trail and on the card's colour, along the 45° line where little else is.
function paintNumbers(context, centre, radius, { step, rings, reach }, unit, colors) {
  plot.setFont(context, 11);
  context.textAlign = "left";
  context.textBaseline = "middle";
  for (let i = 1; i <= rings; i++) {
    if (rings > 3 && i % 2 === 1 && i !== rings) continue;
    const name = units.tick(i * step) + (i === rings ? ` ${units.label(unit)}` : "");
    const away = ((radius * i * step) / reach) * Math.SQRT1_2;
    const at = { x: centre.x + away, y: centre.y - away };
    context.fillStyle = colors.card;
    context.globalAlpha = 0.75;
    context.fillRect(at.x - 1, at.y - 8, context.measureText(name).width + 4, 15);
    context.globalAlpha = 1;
    context.fillStyle = colors.quiet;
    context.fillText(name, at.x + 1, at.y);
  }
}

// The names of the axes, and north where it is known: `north` is the bearing of +y, north is that much to the left of it.
function paintLetters(context, centre, radius, north, colors) {
  plot.setFont(context, 12);
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillStyle = colors.quiet;
  context.fillText("+x", centre.x + radius + 12, centre.y);
  context.fillText("+y", centre.x, centre.y - radius - 11);
  if (!Number.isFinite(north)) return;
  const angle = -Math.PI / 2 - (north * Math.PI) / 180;
  const at = (r) => ({ x: centre.x + r * Math.cos(angle), y: centre.y + r * Math.sin(angle) });
  context.fillStyle = colors.bad;
  const tip = at(radius - 2);
  const base = at(radius - 12);
  const side = { x: -Math.sin(angle) * 5, y: Math.cos(angle) * 5 };
  context.beginPath();
  context.moveTo(tip.x, tip.y);
  context.lineTo(base.x + side.x, base.y + side.y);
  context.lineTo(base.x - side.x, base.y - side.y);
  context.fill();
  const letter = at(radius - 20);
  context.fillText("N", letter.x, letter.y);
}

// The motion of the last seconds before a time, and where the ground is now; `away`: the means of the axes.
function paintTrail(context, centre, scale, { source, time, away }, colors) {
  if (!source?.end || !Number.isFinite(time)) return;
  const signal = signalOf(source);
  const end = Math.min(source.slot(time), source.end - 1);
  const point = (slot) => ({
    x: centre.x + (between(source, "x", signal, slot) - away.x) * scale,
    y: centre.y - (between(source, "y", signal, slot) - away.y) * scale,
  });
  const count = Math.round(trail * source.rate * parts);
  const pieces = 12;
  context.strokeStyle = colors.filtered;
  context.lineCap = context.lineJoin = "round";
  // A dozen strokes of rising strength: a fading trail for the price of a dozen.
  for (let piece = 0; piece < pieces; piece++) {
    const from = Math.floor((count * piece) / pieces);
    const to = Math.floor((count * (piece + 1)) / pieces);
    context.globalAlpha = 0.04 + 0.8 * (piece / (pieces - 1)) ** 1.7;
    context.lineWidth = piece < pieces - 4 ? 1 : 2;
    context.beginPath();
    let pen = false;
    for (let i = from; i <= to; i++) {
      const { x, y } = point(end - (count - i) / parts);
      if (x !== x || y !== y) pen = false;
      else {
        if (pen) context.lineTo(x, y);
        else context.moveTo(x, y);
        pen = true;
      }
    }
    context.stroke();
  }
  context.globalAlpha = 1;
  const ball = point(end);
  if (ball.x !== ball.x || ball.y !== ball.y) return;
  context.fillStyle = colors.raw;
  context.strokeStyle = colors.card;
  context.lineWidth = 2;
  context.beginPath();
  context.arc(ball.x, ball.y, 6.5, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
}

// seismoscopeCard(traces(), station()) -> { element, draw(now, time), stop() }
export function seismoscopeCard(traces, station) {
  const range = new Range();
  const out = new Float64Array(2);
  let time = NaN;
  let measured = 0;
  let last = 0;
  const away = { x: 0, y: 0 };
  const canvas = h("canvas", { class: "scope", role: "img", "aria-label": words.label });
  const now = h("p", { class: "quiet number" });
  const towards = h("p", { class: "quiet number" });
  const window = h("p", { class: "quiet small-note number" });
  const surface = newSurface(canvas, paint);

  function measure(at) {
    const source = traces();
    if (!source?.end) return;
    measured = at;
    const signal = signalOf(source);
    const to = Math.min(source.end, Math.ceil(source.slot(time)) + 1);
    const from = to - Math.ceil(2 * trail * source.rate);
    let largest = 0;
    for (const axis of ["x", "y"]) {
      away[axis] = signal === "raw" ? source.mean(axis, "raw", from, to) || 0 : 0;
      source.extremes(axis, signal, from, to, out);
      largest = Math.max(largest, out[1] - away[axis] || 0, away[axis] - out[0] || 0);
    }
    range.want(largest * 1.1, at, units.factor(preferences.get("unit")));
  }

  function paint(context, width, height) {
    const colors = themeColors();
    const centre = { x: width / 2, y: height / 2 };
    const radius = Math.min(width, height) / 2 - 22;
    if (radius < 20) return;
    const unit = preferences.get("unit");
    const grid = paintGrid(context, centre, radius, range.shown * units.factor(unit), colors);
    paintLetters(context, centre, radius, station()?.config?.config?.sensor?.mounting?.north_deg, colors);
    paintTrail(context, centre, radius / range.shown, { source: traces(), time, away }, colors);
    paintNumbers(context, centre, radius, grid, unit, colors);
  }

  const stopNow = fleet.on("station", (id, what) => {
    const known = station();
    if (what !== "summary" || id !== known?.id) return;
    const { direction, h: horizontal, window_s: seconds } = known.summary;
    const [peak, azimuth] = [format.acceleration(horizontal?.peak), direction?.azimuth_deg];
    setText(now, words.now(peak));
    // (The peak itself may be towards elsewhere.)
    setText(towards, Number.isFinite(azimuth) ? words.polarised(Math.round(azimuth)) : "");
    setText(window, Number.isFinite(seconds) ? words.window(units.duration(seconds)) : "");
  });

  return {
    element: h("section", { class: "card scope-card" }, h("h2", {}, words.title), canvas, now, towards, window),
    draw(at, shown) {
      time = shown;
      if (at - measured > 0.2 || at < measured) measure(at);
      range.step(Math.min(0.2, Math.max(0, at - last)));
      last = at;
      if (surface.visible) surface.redraw();
    },
    stop() {
      surface.stop();
      stopNow();
    },
  };
}
