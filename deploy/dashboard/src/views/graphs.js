// The live graphs: one for each axis, with raw, filtered, RMS and trigger, in Shake's colours.

import { newSurface, plot, themeColors } from "../canvas.js";
import { announce, h, setText } from "../dom.js";
import { format, preferences } from "../preferences.js";
import { Traces } from "../pure/ring.js";
import { scales } from "../pure/scales.js";
import { units } from "../pure/units.js";
import { text } from "../text.js";
import { unitChoice } from "./frame.js";
import { Viewer } from "./viewer.js";

const words = text.station.graphs;
const { axes, signals } = Traces;
const spans = [10.24, 30, 60, 300, 900, 1800, 3600];
const least = 1e-6;

// The range of an axis, which grows at once, shrinks only after a while, and moves there smoothly.
class Range {
  constructor() {
    this.goal = this.shown = 0.001;
    this.lowSince = null;
    this.begun = false;
  }

  // `factor`: how many of the shown unit are 1 m/s²; the range is round in that unit.
  want(largest, now, factor) {
    const goal = scales.endAbove(Math.max(largest * 1.05, least) * factor) / factor;
    if (!this.begun && largest > 0) {
      this.goal = this.shown = goal;
      this.begun = true;
    } else if (goal > this.goal) {
      this.goal = goal;
      this.lowSince = null;
    } else if (goal < this.goal) {
      this.lowSince ??= now;
      if (now - this.lowSince > 2.5) {
        this.goal = goal;
        this.lowSince = null;
      }
    } else this.lowSince = null;
  }

  step(seconds) {
    const part = Math.min(1, seconds * 7);
    this.shown *= (this.goal / this.shown) ** part;
    if (Math.abs(this.goal / this.shown - 1) < 0.01) this.shown = this.goal;
    return this.shown;
  }
}
export { Range };

// A pink ground while the axis is triggered, and its 0 or 1 as a line near the lower edge.
const reach = new Float64Array(2);
function paintTrigger(context, source, axis, { box, from, to }, color) {
  if (!source.has(axis, "triggered")) return;
  const scale = (box.right - box.left) / (to - from);
  const group = Math.max(1, Math.ceil(1 / scale));
  const on = box.bottom - Math.min(26, (box.bottom - box.top) * 0.2);
  context.strokeStyle = context.fillStyle = color;
  context.lineWidth = 1.6;
  context.beginPath();
  let pen = false;
  let begun = null;
  const fill = (until) => {
    if (begun === null) return;
    context.globalAlpha = 0.13;
    context.fillRect(begun, box.top, until - begun, box.bottom - box.top);
    context.globalAlpha = 1;
    begun = null;
  };
  for (let slot = Math.floor(from / group) * group; slot <= to + group; slot += group) {
    source.extremes(axis, "triggered", slot, slot + group, reach);
    const px = box.left + (slot - from) * scale;
    if (reach[1] !== reach[1]) {
      fill(px);
      pen = false;
      continue;
    }
    const y = reach[1] > 0.5 ? on : box.bottom - 2;
    if (reach[1] > 0.5) begun ??= px;
    else fill(px);
    if (pen) context.lineTo(px, y);
    else context.moveTo(px, y);
    context.lineTo(px + group * scale, y);
    pen = true;
  }
  fill(box.right);
  context.stroke();
}

// What load() takes at a time, in seconds: some hundred kilobytes.
const mostLoaded = 900;

// liveGraphs(id, traces(), load(from, to)) -> { element, draw(now, time), edge(), state, stop() }
export function liveGraphs(id, traces, load) {
  const state = { span: spans[0], paused: false, edge: NaN, zoom: 1, same: true, hidden: new Set(), frames: 0 };
  const ranges = Object.fromEntries(axes.map((axis) => [axis, new Range()]));
  const offsets = Object.fromEntries(axes.map((axis) => [axis, 0]));
  const out = new Float64Array(2);
  let measured = 0;
  let last = 0;
  let unit = preferences.get("unit");
  const factor = () => units.factor(unit);

  const surfaces = {};
  const canvases = Object.fromEntries(axes.map((axis) => {
    const canvas = h("canvas", { class: "graph", tabindex: "0", role: "img", "aria-label": words.graph(axis), dataset: { axis } });
    canvas.addEventListener("keydown", key);
    drag(canvas);
    return [axis, canvas];
  }));
  for (const axis of axes) surfaces[axis] = newSurface(canvases[axis], (context, width, height) => paint(axis, context, width, height));

  const offset = (axis, signal) => (signal === "raw" && !viewer.band ? offsets[axis] : 0);
  // What stands for a signal: raw may be filtered by the viewer.
  const viewer = new Viewer(() => {
    measured = 0;
    rawName.textContent = viewer.name;
  });
  const rawName = h("span", {}, viewer.name);
  const isViewed = (signal) => signal === "raw" && viewer.band !== null;

  function measure(now) {
    const source = traces();
    if (!source || source.end === 0) return;
    measured = now;
    const to = Math.min(source.end, Math.ceil(source.slot(state.edge)) + 1);
    const from = Math.max(source.first, Math.floor(to - state.span * source.rate));
    viewer.update(source, from);
    let all = 0;
    const largest = {};
    for (const axis of axes) {
      offsets[axis] = source.mean(axis, "raw", from, to, Math.max(1, Math.floor((to - from) / 512)));
      if (Number.isNaN(offsets[axis])) offsets[axis] = middleOfLevels(source, axis, to - state.span * source.rate, to);
      largest[axis] = 0;
      if (!state.hidden.has("raw") && !viewer.band) {
        source.eachLevel(axis, to - state.span * source.rate, to, (slot, slots, low, high) => {
          largest[axis] = Math.max(largest[axis], high - offsets[axis], offsets[axis] - low);
        });
      }
      for (const signal of signals) {
        if (signal === "triggered" || state.hidden.has(signal)) continue;
        if (isViewed(signal)) viewer.extremes(axis, from, to, out);
        else source.extremes(axis, signal, from, to, out);
        const away = offset(axis, signal);
        const size = Math.max(Math.abs(out[0] - away), Math.abs(out[1] - away));
        if (size > largest[axis]) largest[axis] = size;
      }
      all = Math.max(all, largest[axis]);
    }
    noteLevels(source, to - state.span * source.rate, to);
    for (const axis of axes) ranges[axis].want(state.same ? all : largest[axis], now, factor());
  }

  function middleOfLevels(source, axis, from, to) {
    let sum = 0;
    let count = 0;
    source.eachLevel(axis, from, to, (slot, slots, low, high) => {
      sum += (low + high) / 2;
      count++;
    });
    return count ? sum / count : 0;
  }

  // Where levels are shown, the legend says so, and offers the samples to those who may ask for them.
  let levelsShown = null;
  function noteLevels(source, from, to) {
    let [first, last] = [Infinity, -Infinity];
    let step = NaN;
    if (!state.hidden.has("raw") && !viewer.band) {
      for (const axis of axes) {
        source.eachLevel(axis, from, to, (slot, slots) => {
          first = Math.min(first, slot);
          last = Math.max(last, slot + slots);
          step = slots / source.rate;
        });
      }
    }
    // A step more on either side, so that none is left that is covered by half.
    levelsShown = last > first ? { from: source.time(first) - step, to: source.time(last) + step } : null;
    levelsNote.hidden = !levelsShown;
    if (levelsShown) setText(levelsWords, words.levels(units.duration(step), units.quantity(source.rate, "Hz")));
  }

  async function loadSamples() {
    if (!levelsShown) return;
    // What is read while they come stays where it is.
    if (!state.paused) setPaused(true);
    loadButton.disabled = true;
    setText(levelsProblem, words.loading);
    try {
      await load(Math.max(levelsShown.from, levelsShown.to - mostLoaded), levelsShown.to);
      setText(levelsProblem, "");
    } catch (error) {
      setText(levelsProblem, text.events.loadFailed(error.errors?.[0]?.message ?? error.message));
    }
    loadButton.disabled = false;
    measured = 0;
  }

  // The band between the smallest and the largest of each step, with an end where samples begin.
  function paintLevels(context, source, axis, { box, from, to }, y, color) {
    const scale = (box.right - box.left) / (to - from);
    context.fillStyle = color;
    context.globalAlpha = 0.42;
    context.beginPath();
    source.eachLevel(axis, from, to, (slot, slots, low, high) => {
      const [left, right] = [box.left + (slot - from) * scale, box.left + (slot + slots - from) * scale];
      const top = y(high);
      context.rect(left, top, right - left, Math.max(1, y(low) - top));
    });
    context.fill();
    context.globalAlpha = 1;
  }

  // Where the band and the samples meet, two kinds of values stand beside each other.
  function paintSeams(context, source, axis, { box, from, to }, color) {
    context.strokeStyle = color;
    context.lineWidth = 1;
    context.setLineDash([3, 3]);
    context.beginPath();
    for (const slot of source.seams(axis, from, to)) {
      const x = Math.round(box.left + ((slot - from) * (box.right - box.left)) / (to - from)) + 0.5;
      context.moveTo(x, box.top);
      context.lineTo(x, box.bottom);
    }
    context.stroke();
    context.setLineDash([]);
  }

  function paint(axis, context, width, height) {
    const source = traces();
    const bottom = axis === "z" ? 24 : 8;
    const box = { left: width < 500 ? 46 : 62, top: 6, right: width - (width < 500 ? 6 : 18), bottom: height - bottom };
    const colors = themeColors();
    const middle = (box.top + box.bottom) / 2;
    const range = ranges[axis].shown / state.zoom;
    const scale = (box.bottom - box.top) / 2 / range;
    const shown = range * factor();
    const step = scales.niceAbove(shown / (height > 150 ? 2.6 : 1.6));
    const yTicks = scales.multiples(-shown, shown, step > shown * 0.95 ? shown / 2 : step)
      .map((value) => ({ at: middle - (value / factor()) * scale, label: units.tick(value) }));
    plot.frame(context, box, { x: { ticks: timeTicks(box, axis === "z"),
      name: axis === "z" ? format.zones((state.edge - state.span) * 1000, state.edge * 1000) : "" }, y: { ticks: yTicks } });
    if (source && source.end > 0 && Number.isFinite(state.edge)) {
      const to = source.slot(state.edge);
      const view = { box, to, from: to - state.span * source.rate };
      plot.clip(context, box, () => {
        if (!state.hidden.has("triggered")) paintTrigger(context, source, axis, view, colors.trigger);
        if (!state.hidden.has("raw") && !viewer.band) paintLevels(context, source, axis, view,
          (value) => middle - (value - offsets[axis]) * scale,
          colors.raw);
        for (const [signal, color] of [["raw", colors.raw], ["filtered", colors.filtered], ["rms", colors.rms]]) {
          if (state.hidden.has(signal) || !source.has(axis, signal)) continue;
          const away = offset(axis, signal);
          plot.curve(context, {
            value: (slot) => (isViewed(signal) ? viewer.value(axis, slot) : source.value(axis, signal, slot)),
            extremes: (a, b, result) => (isViewed(signal) ? viewer.extremes(axis, a, b, result)
              : source.extremes(axis, signal, a, b, result)),
          }, { ...view, color, width: signal === "rms" ? 1.8 : 1, y: (value) => middle - (value - away) * scale });
        }
        if (!state.hidden.has("raw") && !viewer.band) paintSeams(context, source, axis, view, colors.ink);
      });
    }
    plot.setFont(context, 13);
    context.textAlign = "left";
    context.textBaseline = "top";
    const title = words.axis(axis.toUpperCase(), units.label(unit));
    context.fillStyle = colors.card;
    context.globalAlpha = 0.8;
    context.fillRect(box.left + 4, box.top + 2, context.measureText(title).width + 10, 19);
    context.globalAlpha = 1;
    context.fillStyle = colors.ink;
    context.fillText(title, box.left + 9, box.top + 5);
  }

  function timeTicks(box, labels) {
    if (!Number.isFinite(state.edge)) return [];
    const width = box.right - box.left;
    const step = scales.timeStep(state.span, Math.max(2, Math.floor(width / 92)));
    const begin = state.edge - state.span;
    const list = [];
    for (let time = Math.ceil(begin / step) * step; time <= state.edge; time += step) {
      list.push({ at: box.left + ((time - begin) / state.span) * width,
        label: labels ? units.time(time * 1000, preferences.get("time") === "utc") : undefined });
    }
    return list;
  }

  // `time` is what the playhead says; the graphs stand still while they are paused.
  function draw(now, time) {
    if (!state.paused || !Number.isFinite(state.edge)) state.edge = time;
    if (now - measured > 0.2 || now < measured) measure(now);
    const seconds = Math.min(0.2, Math.max(0, now - last));
    last = now;
    for (const axis of axes) {
      ranges[axis].step(seconds);
      if (surfaces[axis].visible) surfaces[axis].redraw();
    }
    state.frames++;
  }

  // A picture is worth drawing when something has moved by half a pixel.
  const rate = () => Math.min(60, Math.max(3, (2 * canvases.x.clientWidth) / state.span));

  // --- what the reader can do ---

  const pause = h("button", { type: "button", class: "plain pause", onclick: () => setPaused(!state.paused) }, words.pause);
  function setPaused(paused) {
    state.paused = paused;
    pause.textContent = paused ? words.resume : words.pause;
    pause.classList.toggle("on", paused);
    announce(paused ? words.pausedNow : words.resumedNow);
  }
  const span = h("select", { "aria-label": words.span, onchange: () => setSpan(Number(span.value)) },
    spans.map((value) => h("option", { value }, units.duration(value))));
  function setSpan(value) {
    state.span = value;
    span.value = String(value);
    measured = 0;
  }
  function wider(by) {
    const index = spans.indexOf(state.span) + by;
    if (spans[index]) setSpan(spans[index]);
  }
  function zoom(by) {
    state.zoom = Math.min(1000, Math.max(0.1, by === 0 ? 1 : state.zoom * by));
  }
  function pan(seconds) {
    if (!state.paused) setPaused(true);
    const source = traces();
    if (!source?.end) return;
    const oldest = source.time(source.oldest) + state.span / 8;
    state.edge = Math.max(Math.min(state.edge + seconds, source.endTime), Math.min(oldest, source.endTime));
  }
  function key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const actions = {
      " ": () => setPaused(!state.paused), "+": () => zoom(2), "=": () => zoom(2), "-": () => zoom(0.5), 0: () => zoom(0),
      ArrowLeft: () => pan(-state.span / 8), ArrowRight: () => pan(state.span / 8),
      "[": () => wider(-1), "]": () => wider(1),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }
  function drag(canvas) {
    let from = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button === 0 && event.pointerType !== "touch") from = event.clientX;
    });
    canvas.addEventListener("pointermove", (event) => {
      if (from === null || Math.abs(event.clientX - from) < 3) return;
      canvas.setPointerCapture(event.pointerId);
      pan(((from - event.clientX) / canvas.clientWidth) * state.span);
      from = event.clientX;
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (from = null));
  }

  const toggle = (signal) => {
    const button = h("button", { type: "button", class: `signal ${signal}`, "aria-pressed": "true",
      title: words.toggle(words.signals[signal]),
      onclick() {
        const hide = !state.hidden.has(signal);
        if (hide) state.hidden.add(signal);
        else state.hidden.delete(signal);
        button.setAttribute("aria-pressed", String(!hide));
        measured = 0;
      } }, h("span", { class: "swatch", "aria-hidden": "true" }), signal === "raw" ? rawName : words.signals[signal]);
    return button;
  };
  const same = h("input", { type: "checkbox", checked: true, onchange: () => {
    state.same = same.checked;
    measured = 0;
  } });
  const small = (label, name, action) =>
    h("button", { type: "button", class: "plain small", "aria-label": name, title: name, onclick: action }, label);
  const levelsWords = h("span", {});
  const levelsProblem = h("span", { class: "quiet", role: "status" });
  const loadButton = h("button", { type: "button", class: "plain small", onclick: loadSamples }, words.load);
  const levelsNote = h("p", { class: "levels-note", hidden: true }, h("span", { class: "swatch", "aria-hidden": "true" }), levelsWords,
    loadButton, levelsProblem);
  const element = h("section", { class: "card graphs", "aria-label": words.title },
    h("div", { class: "toolbar" },
      pause,
      h("label", { class: "choice" }, h("span", {}, words.span), span),
      h("span", { class: "together", role: "group", "aria-label": words.zoom },
        small("−", words.zoomOut, () => zoom(0.5)), small(words.auto, words.zoomAuto, () => zoom(0)),
          small("+", words.zoomIn, () => zoom(2))),
      unitChoice(), viewer.element,
      h("label", { class: "tick" }, same, words.same)),
    h("div", { class: "legend", role: "group", "aria-label": words.legend }, signals.map(toggle)), levelsNote,
    axes.map((axis) => canvases[axis]),
    h("p", { class: "quiet keys" }, words.keys));

  const stopUnit = preferences.on((name, value) => {
    if (name === "unit") unit = value;
  });
  return {
    element, draw, rate, state, viewer,
    stop() {
      stopUnit();
      for (const surface of Object.values(surfaces)) surface.stop();
    },
  };
}
