// The three axes of an event, one below the other on one axis of time, with its marks.

import { newSurface, plot, themeColors } from "../canvas.js";
import { h } from "../dom.js";
import { format, preferences } from "../preferences.js";
import { units } from "../pure/units.js";
import { text } from "../text.js";

const words = () => text.event;
const axes = ["x", "y", "z"];
const least = 0.5;

// What a signal is measured in, and the factor from SI.
function unitOf(signal) {
  if (signal === "velocity") return { label: "cm/s", factor: 100 };
  if (signal === "displacement") return { label: "cm", factor: 100 };
  const unit = preferences.get("unit");
  return { label: units.label(unit), factor: units.factor(unit) };
}

function paintTitle(context, box, axis, unit, colors) {
  plot.setFont(context, 12);
  context.textAlign = "right";
  context.textBaseline = "top";
  const text = `${words().axisNames[axis]}, ${unit.label}`;
  const width = context.measureText(text).width + 8;
  context.globalAlpha = 0.82;
  context.fillStyle = colors.card;
  context.fillRect(box.right - width - 3, box.top + 2, width, 17);
  context.globalAlpha = 1;
  context.fillStyle = colors[`axis-${axis}`];
  context.fillText(text, box.right - 7, box.top + 4);
}

// A moment as an upright line, with its name where there is one.
function paintMark(context, box, at, color, name) {
  if (at < box.left || at > box.right) return;
  plot.upright(context, at, box, color, 1.5, [5, 4]);
  if (!name) return;
  plot.setFont(context, 11);
  context.fillStyle = color;
  context.textBaseline = "bottom";
  const wide = context.measureText(name).width + 6;
  context.textAlign = at + wide > box.right ? "right" : "left";
  context.fillText(name, at + (at + wide > box.right ? -5 : 5), box.bottom - 3);
}

// The largest acceleration as the agent says it, at (x, y).
function paintPeak(context, box, x, y, said, colors) {
  context.strokeStyle = colors.ink;
  context.fillStyle = colors.card;
  context.lineWidth = 2;
  context.beginPath();
  context.arc(x, y, 4.5, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
  plot.setFont(context, 12);
  context.fillStyle = colors.ink;
  context.textBaseline = "middle";
  const after = x + 12 + context.measureText(said).width < box.right;
  context.textAlign = after ? "left" : "right";
  context.lineWidth = 4;
  context.strokeStyle = colors.card;
  context.lineJoin = "round";
  const line = Math.min(Math.max(y, box.top + 9), box.bottom - 9);
  context.strokeText(said, x + (after ? 10 : -10), line);
  context.fillText(said, x + (after ? 10 : -10), line);
}

const layout = (width, height) => ({ left: 52, right: width - 8, top: 6, bottom: height - 24, each: (height - 30) / 3 });

// set(data): { shape, motions, onset and end (samples from the first, may be null), peaks: { x: sample, … } }; seconds count from
// the first sample.
export class EventGraphs {
  element = h("canvas", { class: "event-canvas", tabindex: "0", role: "img", "aria-describedby": "event-keys" });
  #data = null;
  #signal = "acceleration";
  #now = 0;
  // What is shown: { from, to } in seconds; null: all of it.
  #view = null;
  #drag = null;
  #saying = null;
  #surface = newSurface(this.element, (context, width, height) => this.#draw(context, width, height));
  #stopPreferences = preferences.on(() => this.#surface.redraw());

  // onTime(seconds): a moment is chosen; onView(from, to): another part is shown, in seconds.
  constructor({ onTime, onView = null }) {
    this.onTime = onTime;
    this.onView = onView;
    this.#listen();
  }

  get #duration() {
    const shape = this.#data?.shape;
    return shape ? (shape.count - 1) / shape.rate : 1;
  }

  get #range() {
    return this.#view ?? { from: 0, to: this.#duration };
  }

  #values(axis) {
    return this.#signal === "raw" ? this.#data.shape[axis] : this.#data.motions[axis][this.#signal];
  }

  // The largest value that is shown on any axis, so that the three can be compared; gravity is not.
  #limits(axis, from, to) {
    const { rate } = this.#data.shape;
    const out = [0, 0];
    if (this.#signal === "raw") {
      plot.array(this.#values(axis)).extremes(Math.floor(from * rate), Math.ceil(to * rate), out);
      const middle = (out[0] + out[1]) / 2;
      const half = Math.max((out[1] - out[0]) * 0.55, 1e-6);
      return [middle - half, middle + half];
    }
    let most = 1e-9;
    for (const one of axes) {
      plot.array(this.#values(one)).extremes(Math.floor(from * rate), Math.ceil(to * rate), out);
      if (out[0] === out[0]) most = Math.max(most, -out[0], out[1]);
    }
    return [-most * 1.08, most * 1.08];
  }

  #draw(context, width, height) {
    if (!this.#data) return;
    const colors = themeColors();
    const { left, right, top, each } = layout(width, height);
    const { from, to } = this.#range;
    const px = (seconds) => left + ((seconds - from) / (to - from)) * (right - left);
    axes.forEach((axis, i) => {
      this.#drawAxis(context, axis, { left, right, top: top + i * each, bottom: top + (i + 1) * each - 8 }, px, colors);
    });
    const now = this.#now;
    if (now >= from && now <= to) {
      context.fillStyle = colors.accent;
      context.fillRect(px(now) - 0.75, top, 1.5, each * 3 - 8);
    }
    const drag = this.#drag;
    if (drag?.moved) {
      context.globalAlpha = 0.16;
      context.fillStyle = colors.accent;
      context.fillRect(Math.min(drag.from, drag.to), top, Math.abs(drag.to - drag.from), each * 3 - 8);
      context.globalAlpha = 1;
    }
  }

  #drawAxis(context, axis, box, px, colors) {
    const { shape: { rate }, onset, end, about } = this.#data;
    const { from, to } = this.#range;
    const zero = onset === null ? 0 : onset / rate;
    const unit = unitOf(this.#signal);
    const [low, high] = this.#limits(axis, from, to);
    const y = (value) => box.bottom - ((value - low) / (high - low)) * (box.bottom - box.top);
    const [isFirst, isLast] = [axis === axes[0], axis === axes.at(-1)];
    const yTicks = ticks(low * unit.factor, high * unit.factor, 4).map((at) => ({ at: y(at / unit.factor), label: short(at) }));
    const xTicks = ticks(from - zero, to - zero, Math.max(3, Math.floor((box.right - box.left) / 90)))
      .map((at) => ({ at: px(at + zero), label: isLast ? short(at) : undefined }));
    plot.frame(context, box, { x: { ticks: xTicks, name: isLast ? about : "" }, y: { ticks: yTicks } });
    plot.clip(context, box, () => {
      plot.curve(context, plot.array(this.#values(axis)), { box, from: from * rate, to: to * rate, y, color: colors[`axis-${axis}`],
        width: 1.25 });
    });
    if (onset !== null) paintMark(context, box, px(zero), colors.trigger, isFirst ? words().onset : "");
    if (end !== null) paintMark(context, box, px(end / rate), colors.quiet, isFirst ? words().end : "");
    this.#drawPeak(context, axis, box, px, y, colors);
    paintTitle(context, box, axis, unit, colors);
  }

  // Where the agent says that the largest acceleration was.
  #drawPeak(context, axis, box, px, y, colors) {
    const peak = this.#data.peaks[axis];
    if (!peak || (this.#signal !== "acceleration" && this.#signal !== "raw")) return;
    const value = this.#values(axis)[peak.sample];
    const x = px(peak.sample / this.#data.shape.rate);
    if (!Number.isFinite(value) || x < box.left || x > box.right) return;
    paintPeak(context, box, x, y(value), format.acceleration(peak.value), colors);
  }

  // MARK: Zoom and choosing a moment

  zoom(factor, about = this.#now) {
    const { from, to } = this.#range;
    const length = Math.min(this.#duration, Math.max(least, (to - from) * factor));
    const centre = about >= from && about <= to ? about : (from + to) / 2;
    const start = centre - ((centre - from) / (to - from)) * length;
    this.#look(start, start + length);
  }

  all() {
    this.#view = null;
    this.#looked();
  }

  #look(from, to) {
    const length = Math.min(to - from, this.#duration);
    const start = Math.min(Math.max(0, from), this.#duration - length);
    this.#view = length >= this.#duration - 1e-9 ? null : { from: start, to: start + length };
    this.#looked();
  }

  // What is shown is another part: said once it stays so for a moment.
  #looked() {
    this.#surface.redraw();
    clearTimeout(this.#saying);
    this.#saying = setTimeout(() => this.#data && this.onView?.(this.#range.from, this.#range.to), 150);
  }

  #secondsAt(event) {
    const bounds = this.element.getBoundingClientRect();
    const { left, right } = layout(bounds.width, bounds.height);
    const { from, to } = this.#range;
    const part = (event.clientX - bounds.left - left) / (right - left);
    return from + Math.min(1, Math.max(0, part)) * (to - from);
  }

  #listen() {
    const canvas = this.element;
    const across = (event) => event.clientX - canvas.getBoundingClientRect().left;
    canvas.addEventListener("pointerdown", (event) => {
      if (!this.#data || event.button !== 0) return;
      this.#drag = { from: across(event), to: across(event), start: this.#secondsAt(event), moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const drag = this.#drag;
      if (!drag) return;
      drag.to = across(event);
      drag.moved = drag.moved || Math.abs(drag.to - drag.from) > 6;
      this.#surface.redraw();
    });
    canvas.addEventListener("pointerup", (event) => this.#drop(event));
    canvas.addEventListener("pointercancel", () => {
      this.#drag = null;
      this.#surface.redraw();
    });
    canvas.addEventListener("dblclick", () => this.all());
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey || !this.#data) return;
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.#secondsAt(event));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.#key(event));
  }

  // A stretch has been drawn, or a moment pointed at.
  #drop(event) {
    if (!this.#drag) return;
    const { start, moved } = this.#drag;
    this.#drag = null;
    const stop = this.#secondsAt(event);
    const first = Math.min(start, stop);
    if (moved && Math.abs(stop - start) >= least / 4) this.#look(first, Math.max(start, stop, first + least));
    else this.onTime(stop);
    this.#surface.redraw();
  }

  #key(event) {
    if (!this.#data || event.ctrlKey || event.metaKey || event.altKey) return;
    const { from, to } = this.#range;
    const step = (to - from) / 50;
    const move = (by) => (event.shiftKey ? this.#look(from + by * 5, to + by * 5) : this.onTime(this.#now + by));
    const keys = {
      ArrowLeft: () => move(-step), ArrowRight: () => move(step), Home: () => this.onTime(0), End: () => this.onTime(this.#duration),
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), 0: () => this.all(),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }

  // MARK: What it is told

  set(data) {
    this.#data = data;
    this.element.setAttribute("aria-label", data ? words().graphsLabel(Math.round(this.#duration)) : words().noWaveform);
    this.#looked();
  }

  time(seconds) {
    this.#now = seconds;
    const { from, to } = this.#range;
    // What is played stays in sight.
    if (this.#view && (seconds > to || seconds < from)) this.#look(seconds - (to - from) * 0.1, seconds + (to - from) * 0.9);
    this.#surface.redraw();
  }

  signal(name) {
    this.#signal = name;
    this.#surface.redraw();
  }

  stop() {
    clearTimeout(this.#saying);
    this.#surface.stop();
    this.#stopPreferences();
  }
}

// Round numbers between two limits, about `count` of them.
function ticks(low, high, count) {
  const rough = (high - low) / count;
  if (!(rough > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((one) => one * power >= rough) * power;
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) found.push(Math.abs(at) < step * 1e-6 ? 0 : at);
  return found;
}

function short(value) {
  return units.tick(Number(value.toPrecision(6)));
}

export { ticks as eventTicks };
