// The replay of an event: the motion in the horizontal plane as a smooth Bézier path, and a marker that moves along it as
// the ground did, turned to where it goes and as large as the acceleration is strong.

import { animate, newSurface, plot, themeColors } from "../canvas.js";
import { h, setText } from "../dom.js";
import { format, preferences } from "../preferences.js";
import { bezier } from "../pure/bezier.js";
import { units } from "../pure/units.js";
import { text } from "../text.js";
import { eventTicks } from "./event-graphs.js";

const words = () => text.event;
const speeds = [0.1, 0.25, 0.5, 1, 2, 5, 10];
const trails = [1, 3, 10, Infinity];
// Points of the path in a second: as many as the motion is rough.
const knots = { displacement: 10, velocity: 25, acceleration: 100 };
const compass = 16;

// The ground of the picture: circles with their numbers, directions with their names.
function paintGrid(context, { cx, cy, radius }, steps, names, colors) {
  plot.setFont(context, 11);
  context.strokeStyle = colors.grid;
  context.lineWidth = 1;
  context.beginPath();
  context.arc(cx, cy, radius, 0, 2 * Math.PI);
  for (const { part } of steps) {
    context.moveTo(cx + part * radius, cy);
    context.arc(cx, cy, part * radius, 0, 2 * Math.PI);
  }
  for (let i = 0; i < 8; i++) {
    const angle = (i * Math.PI) / 4;
    context.moveTo(cx, cy);
    context.lineTo(cx + radius * Math.cos(angle), cy + radius * Math.sin(angle));
  }
  context.stroke();
  context.fillStyle = colors.quiet;
  context.textAlign = "left";
  context.textBaseline = "bottom";
  for (const { part, label } of steps) {
    const away = part * radius * Math.SQRT1_2;
    // Whole, where the picture is small, too.
    context.fillText(label, Math.min(cx + away + 3, 2 * cx - context.measureText(label).width), cy - away - 2);
  }
  context.fillStyle = colors.ink;
  plot.setFont(context, 13);
  context.textAlign = "center";
  context.textBaseline = "middle";
  names.forEach((name, i) => {
    const angle = (i * Math.PI) / 2;
    context.fillText(name, cx + (radius + 9) * Math.sin(angle), cy - (radius + 9) * Math.cos(angle));
  });
}

function strokePath(context, pieces, place) {
  context.beginPath();
  if (pieces.length > 0) context.moveTo(...place(pieces[0].from));
  for (const { control1, control2, to } of pieces) context.bezierCurveTo(...place(control1), ...place(control2), ...place(to));
  context.stroke();
}

// Knots as squares and control points as circles, with their handles.
function paintPoints(context, pieces, place, colors) {
  context.lineWidth = 1;
  for (const { from, control1, control2, to } of pieces) {
    context.strokeStyle = colors.trigger;
    context.beginPath();
    context.moveTo(...place(from));
    context.lineTo(...place(control1));
    context.moveTo(...place(control2));
    context.lineTo(...place(to));
    context.stroke();
    context.fillStyle = colors.card;
    for (const point of [control1, control2]) {
      context.beginPath();
      context.arc(...place(point), 3, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    }
    context.fillStyle = colors.ink;
    const [x, y] = place(from);
    context.fillRect(x - 2.5, y - 2.5, 5, 5);
  }
}

function paintMarker(context, [x, y], angle, size, colors) {
  context.save();
  context.translate(x, y);
  context.rotate(-angle);
  context.beginPath();
  context.moveTo(size, 0);
  context.lineTo(-size * 0.7, size * 0.62);
  context.lineTo(-size * 0.32, 0);
  context.lineTo(-size * 0.7, -size * 0.62);
  context.closePath();
  context.fillStyle = colors.raw;
  context.strokeStyle = colors.card;
  context.lineWidth = 2;
  context.lineJoin = "round";
  context.stroke();
  context.fill();
  context.restore();
}

// The largest of the vectors of two components.
function longest(x, y) {
  let most = 1e-18;
  for (let i = 0; i < x.length; i++) most = Math.max(most, x[i] * x[i] + y[i] * y[i]);
  return Math.sqrt(most);
}

// { element, set(data), time(seconds), toggle(), state(), stop() }; `data` as for the graphs.
export class EventReplay {
  #data = null;
  #signal = "displacement";
  #track = null;
  #reach = 1;
  #strongest = 1;
  #now = 0;
  #playing = false;
  #speed = 1;
  #trail = 3;
  #points = false;
  #ghost = null;
  #endAnimation = null;
  #canvas = h("canvas", { class: "replay-canvas", role: "img", "aria-label": words().replayLabel });
  #surface = newSurface(this.#canvas, (context, width, height) => this.#draw(context, width, height));
  #play = h("button", { type: "button", class: "primary replay-play", onclick: () => this.toggle() }, words().play);
  #slider = h("input", { type: "range", min: "0", max: "1", step: "0.01", value: "0", "aria-label": words().time,
    oninput: () => this.onTime(Number(this.#slider.value)) });
  #read = { time: h("dd", {}), acceleration: h("dd", {}), velocity: h("dd", {}), heading: h("dd", {}) };
  #stopPreferences = preferences.on(() => {
    this.#surface.redraw();
    this.#tell();
  });

  // onTime(seconds): another moment is shown.
  constructor({ onTime }) {
    this.onTime = onTime;
    const w = words();
    this.element = h("div", { class: "replay" }, this.#canvas,
      h("div", { class: "replay-drive" }, this.#play, this.#slider),
      h("dl", { class: "replay-read" },
        Object.entries(this.#read).map(([name, cell]) => h("div", {}, h("dt", {}, w.read[name]), cell))),
      this.#choices());
  }

  #choices() {
    const w = words();
    const choice = (name, value, options, set) => {
      const select = h("select", { onchange: () => {
        set(select.value);
        this.#surface.redraw();
      } }, options.map(([one, label]) => h("option", { value: String(one) }, label)));
      select.value = value;
      return h("label", { class: "field" }, name, select);
    };
    const points = h("input", { type: "checkbox", onchange: () => {
      this.#points = points.checked;
      this.#surface.redraw();
    } });
    return h("div", { class: "replay-choices" },
      choice(w.path, this.#signal, Object.keys(knots).map((one) => [one, w.signals[one]]), (value) => {
        this.#signal = value;
        this.#prepare();
      }),
      choice(w.speed, "1", speeds.map((one) => [one, w.times(one)]), (value) => (this.#speed = Number(value))),
      choice(w.trail, "3", trails.map((one) => [one, one === Infinity ? w.whole : format.duration(one)]),
        (value) => (this.#trail = Number(value))),
      h("label", { class: "tick" }, points, w.controlPoints));
  }

  get #duration() {
    const shape = this.#data?.shape;
    return shape ? (shape.count - 1) / shape.rate : 0;
  }

  #at(values, seconds) {
    return values[Math.min(values.length - 1, Math.max(0, Math.round(seconds * this.#data.shape.rate)))];
  }

  // The length of the horizontal vector of a motion.
  #size(motion, seconds) {
    const { x, y } = this.#data.motions;
    return Math.hypot(this.#at(x[motion], seconds), this.#at(y[motion], seconds));
  }

  get #markerSize() {
    return 9 + 19 * Math.sqrt(this.#size("acceleration", this.#now) / this.#strongest);
  }

  #prepare() {
    this.#ghost = this.#track = null;
    if (!this.#data) return this.#surface.redraw();
    const { shape, motions } = this.#data;
    const [x, y] = [motions.x[this.#signal], motions.y[this.#signal]];
    const { points, interval } = bezier.knots(x, y, shape.rate, knots[this.#signal]);
    this.#track = bezier.path(points, { interval });
    this.#reach = longest(x, y) * 1.08;
    this.#strongest = longest(motions.x.acceleration, motions.y.acceleration);
    this.#slider.max = String(this.#duration);
    this.#surface.redraw();
    this.#tell();
  }

  get #scaleUnit() {
    if (this.#signal === "velocity") return { label: "cm/s", factor: 100 };
    if (this.#signal === "displacement") {
      return this.#reach < 1e-3 ? { label: "µm", factor: 1e6 } : this.#reach < 0.01 ? { label: "mm", factor: 1e3 }
        : { label: "cm", factor: 100 };
    }
    const unit = preferences.get("unit");
    return { label: units.label(unit), factor: units.factor(unit) };
  }

  // MARK: What is drawn

  #draw(context, width, height) {
    const colors = themeColors();
    const [cx, cy] = [width / 2, height / 2];
    const radius = Math.min(width, height) / 2 - 16;
    const { label, factor } = this.#scaleUnit;
    const steps = this.#track ? eventTicks(0, this.#reach * factor, 3).filter((one) => one > 0)
      .map((one) => ({ part: one / factor / this.#reach, label: `${Number(one.toPrecision(3))} ${label}` })) : [];
    paintGrid(context, { cx, cy, radius }, steps, this.#data?.aligned === false ? words().sides : words().directions, colors);
    if (!this.#track) return;
    const scale = radius / this.#reach;
    /** @returns {[number, number]} */
    const place = (p) => [cx + p.x * scale, cy - p.y * scale];
    this.#drawGhost(context, width, height, place, colors);
    this.#drawTrail(context, place, colors);
    // Those of the last second and the next half.
    const { pieces, interval } = this.#track;
    const [first, last] = [this.#now - 1, this.#now + 0.5].map((time) => Math.max(0, Math.floor(time / interval)));
    if (this.#points) paintPoints(context, pieces.slice(first, last + 1), place, colors);
    const where = bezier.at(this.#track, this.#now);
    if (where) paintMarker(context, place(where), where.angle ?? Math.PI / 2, this.#markerSize, colors);
  }

  // The whole path, faint; drawn once for a size and theme.
  #drawGhost(context, width, height, place, colors) {
    const ratio = devicePixelRatio || 1;
    const name = `${width} ${height} ${ratio} ${colors.quiet}`;
    if (this.#ghost?.name !== name) {
      const picture = document.createElement("canvas");
      [picture.width, picture.height] = [Math.round(width * ratio), Math.round(height * ratio)];
      const inner = picture.getContext("2d");
      inner.scale(ratio, ratio);
      inner.strokeStyle = colors.quiet;
      inner.lineWidth = 1;
      inner.globalAlpha = 0.35;
      inner.lineJoin = "round";
      // In parts, so that the faintness adds up where the motion came again.
      const { pieces } = this.#track;
      for (let i = 0; i < pieces.length; i += 40) strokePath(inner, pieces.slice(i, i + 40), place);
      this.#ghost = { name, picture };
    }
    context.drawImage(this.#ghost.picture, 0, 0, width, height);
  }

  #drawTrail(context, place, colors) {
    const isWhole = this.#trail === Infinity;
    const now = this.#now;
    const from = isWhole ? 0 : Math.max(0, now - this.#trail);
    const parts = isWhole ? 1 : 24;
    context.strokeStyle = colors.filtered;
    context.lineCap = "round";
    context.lineJoin = "round";
    for (let i = 0; i < parts; i++) {
      context.globalAlpha = isWhole ? 0.8 : ((i + 1) / parts) ** 1.4;
      context.lineWidth = isWhole ? 1.5 : 1 + 2 * ((i + 1) / parts);
      const [begin, end] = [from + ((now - from) * i) / parts, from + ((now - from) * (i + 1)) / parts];
      strokePath(context, bezier.between(this.#track, begin, end), place);
    }
    context.globalAlpha = 1;
  }

  // MARK: What is said

  // "NE 42°": where the marker moves to, from the north of the station.
  #heading(angle) {
    if (angle === null || angle === undefined) return "–";
    const bearing = (((90 - (angle * 180) / Math.PI) % 360) + 360) % 360;
    const name = this.#data.aligned === false ? "" : words().bearings[Math.round(bearing / (360 / compass)) % compass];
    return `${name} ${Math.round(bearing) % 360}°`.trim();
  }

  #tell() {
    if (!this.#track) return;
    const { onset, shape } = this.#data;
    const now = this.#now;
    const seconds = now - (onset === null ? 0 : onset / shape.rate);
    const text = `${seconds < 0 ? "−" : "+"}${Math.abs(seconds).toFixed(1)} s`;
    setText(this.#read.time, text);
    setText(this.#read.acceleration, format.acceleration(this.#size("acceleration", now)));
    setText(this.#read.velocity, format.velocity(this.#size("velocity", now)));
    setText(this.#read.heading, this.#heading(bezier.at(this.#track, now)?.angle));
    this.#slider.value = String(now);
    this.#slider.setAttribute("aria-valuetext", text);
  }

  // MARK: What it is told

  toggle(on = !this.#playing) {
    if (!this.#data || on === this.#playing) return;
    this.#playing = on;
    setText(this.#play, on ? words().pause : words().play);
    this.#endAnimation?.();
    this.#endAnimation = null;
    if (!on) return;
    if (this.#now >= this.#duration - 1e-6) this.onTime(0);
    let last = null;
    this.#endAnimation = animate((clock) => {
      const step = last === null ? 0 : Math.min(0.25, clock - last);
      last = clock;
      const next = Math.min(this.#duration, this.#now + step * this.#speed);
      this.onTime(next);
      if (next >= this.#duration) this.toggle(false);
    }, 60);
  }

  set(data) {
    this.#data = data;
    this.#play.disabled = this.#slider.disabled = !data;
    this.#prepare();
  }

  time(seconds) {
    this.#now = seconds;
    this.#surface.redraw();
    this.#tell();
  }

  // For checks: what is drawn at this moment.
  state() {
    return { now: this.#now, playing: this.#playing, speed: this.#speed, size: this.#data ? this.#markerSize : 0,
      marker: this.#track && bezier.at(this.#track, this.#now), pieces: this.#track?.pieces.length ?? 0 };
  }

  stop() {
    this.toggle(false);
    this.#surface.stop();
    this.#stopPreferences();
  }
}
