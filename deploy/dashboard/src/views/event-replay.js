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

// replay({ onTime(seconds) }): { element, set(data), time(seconds), toggle(), stop() }; `data` as for the graphs.
export function eventReplay({ onTime }) {
  let data = null;
  let signal = "displacement";
  let track = null;
  let reach = 1;
  let strongest = 1;
  let now = 0;
  let playing = false;
  let speed = 1;
  let trail = 3;
  let points = false;
  let ghost = null;
  let endAnimation = null;
  const w = words();

  const canvas = h("canvas", { class: "replay-canvas", role: "img", "aria-label": w.replayLabel });
  const surface = newSurface(canvas, draw);
  const play = h("button", { type: "button", class: "primary replay-play", onclick: () => toggle() }, w.play);
  const slider = h("input", { type: "range", min: "0", max: "1", step: "0.01", value: "0", "aria-label": w.time,
    oninput: () => onTime(Number(slider.value)) });
  const option = (value, name) => h("option", { value: String(value) }, name);
  const speedChoice = h("select", { onchange: () => (speed = Number(speedChoice.value)) }, speeds.map((one) => option(one, w.times(one))));
  const trailChoice = h("select", { onchange: () => {
    trail = Number(trailChoice.value);
    surface.redraw();
  } }, trails.map((one) => option(one, one === Infinity ? w.whole : format.duration(one))));
  const signalChoice = h("select", { onchange: () => {
    signal = signalChoice.value;
    prepare();
  } }, Object.keys(knots).map((one) => option(one, w.signals[one])));
  speedChoice.value = "1";
  trailChoice.value = "3";
  signalChoice.value = signal;
  const pointsChoice = h("input", { type: "checkbox", onchange: () => {
    points = pointsChoice.checked;
    surface.redraw();
  } });
  const read = { time: h("dd", {}), acceleration: h("dd", {}), velocity: h("dd", {}), heading: h("dd", {}) };
  const choice = (name, control) => h("label", { class: "field" }, name, control);
  const element = h("div", { class: "replay" }, canvas,
    h("div", { class: "replay-drive" }, play, slider),
    h("dl", { class: "replay-read" }, Object.entries(read).map(([name, cell]) => h("div", {}, h("dt", {}, w.read[name]), cell))),
    h("div", { class: "replay-choices" }, choice(w.path, signalChoice), choice(w.speed, speedChoice), choice(w.trail, trailChoice),
      h("label", { class: "tick" }, pointsChoice, w.controlPoints)));

  const duration = () => (data ? (data.shape.count - 1) / data.shape.rate : 0);
  const at = (values, seconds) => values[Math.min(values.length - 1, Math.max(0, Math.round(seconds * data.shape.rate)))];
  const sizeAt = (seconds) => 9 + 19 * Math.sqrt(strength(seconds) / strongest);
  const strength = (seconds) => Math.hypot(at(data.motions.x.acceleration, seconds), at(data.motions.y.acceleration, seconds));

  function prepare() {
    ghost = null;
    track = null;
    if (!data) return surface.redraw();
    const { rate } = data.shape;
    const [x, y] = [data.motions.x[signal], data.motions.y[signal]];
    const { points: found, interval } = bezier.knots(x, y, rate, knots[signal]);
    track = bezier.path(found, { interval });
    reach = 1e-9;
    for (let i = 0; i < x.length; i++) reach = Math.max(reach, x[i] * x[i] + y[i] * y[i]);
    reach = Math.sqrt(reach) * 1.08;
    strongest = 1e-9;
    const [ax, ay] = [data.motions.x.acceleration, data.motions.y.acceleration];
    for (let i = 0; i < ax.length; i++) strongest = Math.max(strongest, ax[i] * ax[i] + ay[i] * ay[i]);
    strongest = Math.sqrt(strongest);
    slider.max = String(duration());
    surface.redraw();
    tell();
  }

  function scaleUnit() {
    if (signal === "velocity") return { label: "cm/s", factor: 100 };
    if (signal === "displacement") return reach < 1e-3 ? { label: "µm", factor: 1e6 } : reach < 0.01 ? { label: "mm", factor: 1e3 }
      : { label: "cm", factor: 100 };
    const unit = preferences.get("unit");
    return { label: units.label(unit), factor: units.factor(unit) };
  }

  function draw(context, width, height) {
    const colors = themeColors();
    const [cx, cy] = [width / 2, height / 2];
    const radius = Math.min(width, height) / 2 - 16;
    grid(context, cx, cy, radius, colors);
    if (!track) return;
    const scale = radius / reach;
    const place = (p) => [cx + p.x * scale, cy - p.y * scale];
    drawGhost(context, width, height, place, colors);
    drawTrail(context, place, colors);
    if (points) drawPoints(context, place, colors);
    drawMarker(context, place, colors);
  }

  function grid(context, cx, cy, radius, colors) {
    const unit = scaleUnit();
    plot.setFont(context, 11);
    context.strokeStyle = colors.grid;
    context.lineWidth = 1;
    const steps = track ? eventTicks(0, reach * unit.factor, 3).filter((one) => one > 0) : [];
    context.beginPath();
    context.arc(cx, cy, radius, 0, 2 * Math.PI);
    for (const one of steps) {
      const r = (one / unit.factor / reach) * radius;
      context.moveTo(cx + r, cy);
      context.arc(cx, cy, r, 0, 2 * Math.PI);
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
    for (const one of steps) {
      const r = (one / unit.factor / reach) * radius;
      context.fillText(`${Number(one.toPrecision(3))} ${unit.label}`, cx + r * Math.SQRT1_2 + 3, cy - r * Math.SQRT1_2 - 2);
    }
    context.fillStyle = colors.ink;
    plot.setFont(context, 13);
    context.textAlign = "center";
    context.textBaseline = "middle";
    const names = data?.aligned === false ? words().sides : words().directions;
    names.forEach((name, i) => {
      const angle = (i * Math.PI) / 2;
      context.fillText(name, cx + (radius + 9) * Math.sin(angle), cy - (radius + 9) * Math.cos(angle));
    });
  }

  function stroke(context, pieces, place) {
    context.beginPath();
    if (pieces.length > 0) context.moveTo(...place(pieces[0].from));
    for (const { control1, control2, to } of pieces) context.bezierCurveTo(...place(control1), ...place(control2), ...place(to));
    context.stroke();
  }

  // The whole path, faint; drawn once for a size and theme.
  function drawGhost(context, width, height, place, colors) {
    const ratio = devicePixelRatio || 1;
    const name = `${width} ${height} ${ratio} ${colors.quiet}`;
    if (ghost?.name !== name) {
      const picture = document.createElement("canvas");
      [picture.width, picture.height] = [Math.round(width * ratio), Math.round(height * ratio)];
      const inner = picture.getContext("2d");
      inner.scale(ratio, ratio);
      inner.strokeStyle = colors.quiet;
      inner.lineWidth = 1;
      inner.globalAlpha = 0.35;
      inner.lineJoin = "round";
      // In parts, so that the faintness adds up where the motion came again.
      for (let i = 0; i < track.pieces.length; i += 40) stroke(inner, track.pieces.slice(i, i + 40), place);
      ghost = { name, picture };
    }
    context.drawImage(ghost.picture, 0, 0, width, height);
  }

  function drawTrail(context, place, colors) {
    const from = trail === Infinity ? 0 : Math.max(0, now - trail);
    const parts = trail === Infinity ? 1 : 24;
    context.strokeStyle = colors.filtered;
    context.lineCap = "round";
    context.lineJoin = "round";
    for (let i = 0; i < parts; i++) {
      context.globalAlpha = parts === 1 ? 0.8 : ((i + 1) / parts) ** 1.4;
      context.lineWidth = parts === 1 ? 1.5 : 1 + 2 * ((i + 1) / parts);
      stroke(context, bezier.between(track, from + ((now - from) * i) / parts, from + ((now - from) * (i + 1)) / parts), place);
    }
    context.globalAlpha = 1;
  }

  // Knots as squares and control points as circles, with their handles, of the last second and the next half.
  function drawPoints(context, place, colors) {
    const { pieces, interval } = track;
    const first = Math.max(0, Math.floor((now - 1) / interval));
    const last = Math.min(pieces.length - 1, Math.floor((now + 0.5) / interval));
    context.lineWidth = 1;
    for (let i = first; i <= last; i++) {
      const { from, control1, control2, to } = pieces[i];
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

  function drawMarker(context, place, colors) {
    const where = bezier.at(track, now);
    if (!where) return;
    const [x, y] = place(where);
    const size = sizeAt(now);
    context.save();
    context.translate(x, y);
    context.rotate(-(where.angle ?? Math.PI / 2));
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

  // "NE 42°": where the marker moves to, from the north of the station.
  function heading(angle) {
    if (angle === null || angle === undefined) return "–";
    const bearing = (((90 - (angle * 180) / Math.PI) % 360) + 360) % 360;
    const name = data.aligned === false ? "" : words().bearings[Math.round(bearing / (360 / compass)) % compass];
    return `${name} ${Math.round(bearing) % 360}°`.trim();
  }

  function tell() {
    if (!track) return;
    const onset = data.onset === null ? 0 : data.onset / data.shape.rate;
    const seconds = now - onset;
    const text = `${seconds < 0 ? "−" : "+"}${Math.abs(seconds).toFixed(1)} s`;
    setText(read.time, text);
    setText(read.acceleration, format.acceleration(strength(now)));
    setText(read.velocity, format.velocity(Math.hypot(at(data.motions.x.velocity, now), at(data.motions.y.velocity, now))));
    setText(read.heading, heading(bezier.at(track, now)?.angle));
    slider.value = String(now);
    slider.setAttribute("aria-valuetext", text);
  }

  function toggle(on = !playing) {
    if (!data || on === playing) return;
    playing = on;
    setText(play, on ? w.pause : w.play);
    endAnimation?.();
    endAnimation = null;
    if (!on) return;
    if (now >= duration() - 1e-6) onTime(0);
    let last = null;
    endAnimation = animate((clock) => {
      const step = last === null ? 0 : Math.min(0.25, clock - last);
      last = clock;
      const next = Math.min(duration(), now + step * speed);
      onTime(next);
      if (next >= duration()) toggle(false);
    }, 60);
  }

  const stopPreferences = preferences.on(() => {
    surface.redraw();
    tell();
  });
  return {
    element, toggle,
    set(next) {
      data = next;
      play.disabled = slider.disabled = !data;
      prepare();
    },
    time(seconds) {
      now = seconds;
      surface.redraw();
      tell();
    },
    // For checks: what is drawn at this moment.
    state: () => ({ now, playing, speed, size: data ? sizeAt(now) : 0, marker: track && bezier.at(track, now),
      pieces: track?.pieces.length ?? 0 }),
    stop() {
      toggle(false);
      surface.stop();
      stopPreferences();
    },
  };
}
