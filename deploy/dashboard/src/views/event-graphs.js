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

// eventGraphs({ onTime(seconds), onView(from, to) of what is shown, in seconds }): { element, set(data), time(seconds),
// signal(name), stop() }. data: { shape, motions, onset and end (samples from the first, may be null), peaks: { x: sample, … } },
// seconds count from the first sample.
export function eventGraphs({ onTime, onView }) {
  let data = null;
  let signal = "acceleration";
  let now = 0;
  let view = null;
  let drag = null;
  const canvas = h("canvas", { class: "event-canvas", tabindex: "0", role: "img", "aria-describedby": "event-keys" });
  const surface = newSurface(canvas, draw);

  const duration = () => (data ? (data.shape.count - 1) / data.shape.rate : 1);
  const range = () => view ?? { from: 0, to: duration() };
  const layout = (width, height) => ({ left: 52, right: width - 8, top: 6, bottom: height - 24, each: (height - 30) / 3 });

  function values(axis) {
    return signal === "raw" ? data.shape[axis] : data.motions[axis][signal];
  }

  // The largest value that is shown on any axis, so that the three can be compared; gravity is not.
  function limits(axis, from, to) {
    const { rate } = data.shape;
    const out = [0, 0];
    if (signal === "raw") {
      plot.array(values(axis)).extremes(Math.floor(from * rate), Math.ceil(to * rate), out);
      const middle = (out[0] + out[1]) / 2;
      const half = Math.max((out[1] - out[0]) * 0.55, 1e-6);
      return [middle - half, middle + half];
    }
    let most = 1e-9;
    for (const one of axes) {
      plot.array(values(one)).extremes(Math.floor(from * rate), Math.ceil(to * rate), out);
      if (out[0] === out[0]) most = Math.max(most, -out[0], out[1]);
    }
    return [-most * 1.08, most * 1.08];
  }

  function draw(context, width, height) {
    const colors = themeColors();
    const { left, right, top, each } = layout(width, height);
    const { from, to } = range();
    const px = (seconds) => left + ((seconds - from) / (to - from)) * (right - left);
    if (!data) return;
    const { rate } = data.shape;
    const onset = data.onset === null ? 0 : data.onset / rate;
    const unit = unitOf(signal);
    axes.forEach((axis, i) => {
      const box = { left, right, top: top + i * each, bottom: top + (i + 1) * each - 8 };
      const [low, high] = limits(axis, from, to);
      const y = (value) => box.bottom - ((value - low) / (high - low)) * (box.bottom - box.top);
      const yTicks = ticks(low * unit.factor, high * unit.factor, 4).map((at) => ({ at: y(at / unit.factor), label: short(at) }));
      const xTicks = ticks(from - onset, to - onset, Math.max(3, Math.floor((right - left) / 90)))
        .map((at) => ({ at: px(at + onset), label: i === 2 ? short(at) : undefined }));
      plot.frame(context, box, { x: { ticks: xTicks, name: i === 2 ? data.about : "" }, y: { ticks: yTicks } });
      plot.clip(context, box, () => {
        plot.curve(context, plot.array(values(axis)), { box, from: from * rate, to: to * rate, y, color: colors[`axis-${axis}`],
          width: 1.25 });
      });
      if (data.onset !== null) mark(context, box, px(onset), colors.trigger, i === 0 ? words().onset : "");
      if (data.end !== null) mark(context, box, px(data.end / rate), colors.quiet, i === 0 ? words().end : "");
      peak(context, box, axis, px, y, unit, colors);
      title(context, box, axis, unit, colors);
    });
    if (now >= from && now <= to) {
      context.fillStyle = colors.accent;
      context.fillRect(px(now) - 0.75, top, 1.5, each * 3 - 8);
    }
    if (drag?.moved) {
      context.globalAlpha = 0.16;
      context.fillStyle = colors.accent;
      context.fillRect(Math.min(drag.from, drag.to), top, Math.abs(drag.to - drag.from), each * 3 - 8);
      context.globalAlpha = 1;
    }
  }

  function title(context, box, axis, unit, colors) {
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

  function mark(context, box, at, color, name) {
    if (at < box.left || at > box.right) return;
    context.strokeStyle = color;
    context.lineWidth = 1.5;
    context.setLineDash([5, 4]);
    context.beginPath();
    context.moveTo(at, box.top);
    context.lineTo(at, box.bottom);
    context.stroke();
    context.setLineDash([]);
    if (!name) return;
    plot.setFont(context, 11);
    context.fillStyle = color;
    context.textBaseline = "bottom";
    const wide = context.measureText(name).width + 6;
    context.textAlign = at + wide > box.right ? "right" : "left";
    context.fillText(name, at + (at + wide > box.right ? -5 : 5), box.bottom - 3);
  }

  // Where the agent says that the largest acceleration was.
  function peak(context, box, axis, px, y, unit, colors) {
    const at = data.peaks[axis];
    if (!at || (signal !== "acceleration" && signal !== "raw")) return;
    const value = values(axis)[at.sample];
    const x = px(at.sample / data.shape.rate);
    if (!Number.isFinite(value) || x < box.left || x > box.right) return;
    context.strokeStyle = colors.ink;
    context.fillStyle = colors.card;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x, y(value), 4.5, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
    plot.setFont(context, 12);
    context.fillStyle = colors.ink;
    context.textBaseline = "middle";
    const text = format.acceleration(at.value);
    const after = x + 12 + context.measureText(text).width < box.right;
    context.textAlign = after ? "left" : "right";
    context.lineWidth = 4;
    context.strokeStyle = colors.card;
    context.lineJoin = "round";
    const line = Math.min(Math.max(y(value), box.top + 9), box.bottom - 9);
    context.strokeText(text, x + (after ? 10 : -10), line);
    context.fillText(text, x + (after ? 10 : -10), line);
  }

  // MARK: Zoom and choosing a moment

  function zoom(factor, about = now) {
    const { from, to } = range();
    const length = Math.min(duration(), Math.max(least, (to - from) * factor));
    const centre = about >= from && about <= to ? about : (from + to) / 2;
    const start = centre - ((centre - from) / (to - from)) * length;
    look(start, start + length);
  }

  function look(from, to) {
    const length = Math.min(to - from, duration());
    const start = Math.min(Math.max(0, from), duration() - length);
    view = length >= duration() - 1e-9 ? null : { from: start, to: start + length };
    looked();
  }

  // What is shown is another part: said once it stays so for a moment.
  let saying = null;
  function looked() {
    surface.redraw();
    clearTimeout(saying);
    saying = setTimeout(() => data && onView?.(range().from, range().to), 150);
  }

  const all = () => {
    view = null;
    looked();
  };

  function secondsAt(event) {
    const bounds = canvas.getBoundingClientRect();
    const { left, right } = layout(bounds.width, bounds.height);
    const { from, to } = range();
    const part = (event.clientX - bounds.left - left) / (right - left);
    return from + Math.min(1, Math.max(0, part)) * (to - from);
  }

  canvas.addEventListener("pointerdown", (event) => {
    if (!data || event.button !== 0) return;
    const at = event.clientX - canvas.getBoundingClientRect().left;
    drag = { from: at, to: at, start: secondsAt(event), moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return;
    drag.to = event.clientX - canvas.getBoundingClientRect().left;
    drag.moved = drag.moved || Math.abs(drag.to - drag.from) > 6;
    surface.redraw();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const { start, moved } = drag;
    drag = null;
    const stop = secondsAt(event);
    if (moved && Math.abs(stop - start) >= least / 4) look(Math.min(start, stop), Math.max(start, stop, Math.min(start, stop) + least));
    else onTime(stop);
    surface.redraw();
  });
  canvas.addEventListener("pointercancel", () => {
    drag = null;
    surface.redraw();
  });
  canvas.addEventListener("dblclick", all);
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey || !data) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, secondsAt(event));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    if (!data || event.ctrlKey || event.metaKey || event.altKey) return;
    const { from, to } = range();
    const step = (to - from) / 50;
    const keys = {
      ArrowLeft: () => (event.shiftKey ? look(from - step * 5, to - step * 5) : onTime(now - step)),
      ArrowRight: () => (event.shiftKey ? look(from + step * 5, to + step * 5) : onTime(now + step)),
      Home: () => onTime(0), End: () => onTime(duration()), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: all,
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });

  const stopPreferences = preferences.on(() => surface.redraw());
  return {
    element: canvas,
    zoom, all,
    set(next) {
      data = next;
      canvas.setAttribute("aria-label", data ? words().graphsLabel(Math.round(duration())) : words().noWaveform);
      looked();
    },
    time(seconds) {
      now = seconds;
      const { from, to } = range();
      // What is played stays in sight.
      if (view && (now > to || now < from)) look(now - (to - from) * 0.1, now + (to - from) * 0.9);
      surface.redraw();
    },
    signal(name) {
      signal = name;
      surface.redraw();
    },
    stop() {
      clearTimeout(saying);
      surface.stop();
      stopPreferences();
    },
  };
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
