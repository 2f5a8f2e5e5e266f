// The live graphs: one for each axis, with raw, filtered, RMS and trigger, in Shake's colours.

import { newSurface, plot, themeColors } from "../canvas.js";
import { announce, h } from "../dom.js";
import { format, preferences } from "../preferences.js";
import { Traces } from "../pure/ring.js";
import { scales } from "../pure/scales.js";
import { units } from "../pure/units.js";
import { text } from "../text.js";
import { unitChoice } from "./frame.js";
import { paintLevels, paintMarks, paintSeams, paintTitle, paintTrigger } from "./graph-painting.js";
import { Ranges } from "./graph-range.js";
import { LevelsNote } from "./levels-note.js";
import { Viewer } from "./viewer.js";

const words = text.station.graphs;
const { axes, signals } = Traces;
const spans = [10.24, 30, 60, 300, 900, 1800, 3600];

// Left and right by dragging with a mouse; by(part) says by how much of the width.
function onDrag(canvas, by) {
  let from = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button === 0 && event.pointerType !== "touch") from = event.clientX;
  });
  canvas.addEventListener("pointermove", (event) => {
    if (from === null || Math.abs(event.clientX - from) < 3) return;
    canvas.setPointerCapture(event.pointerId);
    by((from - event.clientX) / canvas.clientWidth);
    from = event.clientX;
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (from = null));
}

export class LiveGraphs {
  state = { span: spans[0], paused: false, edge: NaN, zoom: 1, same: true, hidden: new Set(), frames: 0 };
  #measured = 0;
  #last = 0;
  #unit = preferences.get("unit");
  #stopUnit = preferences.on((name, value) => {
    if (name === "unit") this.#unit = value;
  });
  #rawName = h("span", {});
  #pause = h("button", { type: "button", class: "plain pause", onclick: () => this.setPaused(!this.state.paused) }, words.pause);
  #span = h("select", { "aria-label": words.span, onchange: () => this.setSpan(Number(this.#span.value)) },
    spans.map((value) => h("option", { value }, units.duration(value))));

  // traces(): the station's samples; load(from, to) brings those of the past, in seconds.
  constructor(traces, load) {
    this.traces = traces;
    this.viewer = new Viewer(() => {
      this.#measured = 0;
      this.#rawName.textContent = this.viewer.name;
    });
    this.#rawName.textContent = this.viewer.name;
    this.ranges = new Ranges(this.viewer);
    // What is read while samples come stays where it is.
    this.levels = new LevelsNote(load, () => this.state.paused || this.setPaused(true), () => (this.#measured = 0));
    this.canvases = Object.fromEntries(axes.map((axis) => {
      const canvas = h("canvas", { class: "graph", tabindex: "0", role: "img", "aria-label": words.graph(axis), dataset: { axis },
        onkeydown: (event) => this.key(event) });
      onDrag(canvas, (part) => this.pan(part * this.state.span));
      return [axis, canvas];
    }));
    this.surfaces = Object.fromEntries(axes.map((axis) => [axis, newSurface(this.canvases[axis],
      (context, width, height) => this.paint(axis, context, width, height))]));
    this.element = this.#element();
  }

  // --- what is drawn ---

  // `time` is what the playhead says; the graphs stand still while they are paused.
  draw(now, time) {
    const { state } = this;
    if (!state.paused || !Number.isFinite(state.edge)) state.edge = time;
    if (now - this.#measured > 0.2 || now < this.#measured) this.measure(now);
    const seconds = Math.min(0.2, Math.max(0, now - this.#last));
    this.#last = now;
    for (const axis of axes) {
      this.ranges.of[axis].step(seconds);
      if (this.surfaces[axis].visible) this.surfaces[axis].redraw();
    }
    state.frames++;
  }

  measure(now) {
    const { state, viewer } = this;
    const source = this.traces();
    if (!source || source.end === 0) return;
    this.#measured = now;
    const count = state.span * source.rate;
    const to = Math.min(source.end, Math.ceil(source.slot(state.edge)) + 1);
    viewer.update(source, Math.max(source.first, Math.floor(to - count)));
    this.ranges.measure(source, to, count, { hidden: state.hidden, isSame: state.same, now, factor: units.factor(this.#unit) });
    this.levels.note(source, to - count, to, this.#hasRaw);
  }

  // Whether raw is shown as it came.
  get #hasRaw() {
    return !this.state.hidden.has("raw") && !this.viewer.band;
  }

  paint(axis, context, width, height) {
    const { state } = this;
    const source = this.traces();
    const box = { left: width < 500 ? 46 : 62, top: 6, right: width - (width < 500 ? 6 : 18), bottom: height - (axis === "z" ? 24 : 8) };
    const colors = themeColors();
    const range = this.ranges.of[axis].shown / state.zoom;
    const scale = (box.bottom - box.top) / 2 / range;
    plot.frame(context, box, {
      x: { ticks: this.#timeTicks(box, axis === "z"),
        name: axis === "z" ? format.zones((state.edge - state.span) * 1000, state.edge * 1000) : "" },
      y: { ticks: this.#ticks(box, range, height) },
    });
    if (source && source.end > 0 && Number.isFinite(state.edge)) {
      const to = source.slot(state.edge);
      const view = { box, to, from: to - state.span * source.rate };
      plot.clip(context, box, () => this.#paintSignals(context, source, axis, view, scale, colors));
    }
    paintTitle(context, box, words.axis(axis.toUpperCase(), units.label(this.#unit)), colors);
  }

  #paintSignals(context, source, axis, view, scale, colors) {
    const { ranges, viewer, state: { hidden } } = this;
    const middle = (view.box.top + view.box.bottom) / 2;
    if (!hidden.has("triggered")) paintTrigger(context, source, axis, view, colors.trigger);
    if (this.#hasRaw) paintLevels(context, source, axis, view, (value) => middle - (value - ranges.means[axis]) * scale, colors.raw);
    for (const [signal, color] of [["raw", colors.raw], ["filtered", colors.filtered], ["rms", colors.rms]]) {
      if (hidden.has(signal) || !source.has(axis, signal)) continue;
      const away = ranges.middle(axis, signal);
      const isViewed = signal === "raw" && viewer.band !== null;
      plot.curve(context, {
        value: (slot) => (isViewed ? viewer.value(axis, slot) : source.value(axis, signal, slot)),
        extremes: (a, b, result) => (isViewed ? viewer.extremes(axis, a, b, result) : source.extremes(axis, signal, a, b, result)),
      }, { ...view, color, width: signal === "rms" ? 1.8 : 1, y: (value) => middle - (value - away) * scale });
    }
    if (this.#hasRaw) paintSeams(context, source, axis, view, colors.ink);
    paintMarks(context, source, view, words.marks, colors.accent);
  }

  #ticks(box, range, height) {
    const factor = units.factor(this.#unit);
    const shown = range * factor;
    const step = scales.niceAbove(shown / (height > 150 ? 2.6 : 1.6));
    const [middle, half] = [(box.top + box.bottom) / 2, (box.bottom - box.top) / 2];
    return scales.multiples(-shown, shown, step > shown * 0.95 ? shown / 2 : step)
      .map((value) => ({ at: middle - (value / shown) * half, label: units.tick(value) }));
  }

  #timeTicks(box, labels) {
    const { edge, span } = this.state;
    if (!Number.isFinite(edge)) return [];
    const width = box.right - box.left;
    const step = scales.timeStep(span, Math.max(2, Math.floor(width / 92)));
    return scales.multiples(edge - span, edge, step).map((time) => ({ at: box.left + ((time - edge + span) / span) * width,
      label: labels ? units.time(time * 1000, preferences.get("time") === "utc") : undefined }));
  }

  // A picture is worth drawing when something has moved by half a pixel.
  rate() {
    return Math.min(60, Math.max(3, (2 * this.canvases.x.clientWidth) / this.state.span));
  }

  // --- what the reader can do ---

  setPaused(paused) {
    this.state.paused = paused;
    this.#pause.textContent = paused ? words.resume : words.pause;
    this.#pause.classList.toggle("on", paused);
    announce(paused ? words.pausedNow : words.resumedNow);
  }

  setSpan(value) {
    this.state.span = value;
    this.#span.value = String(value);
    this.#measured = 0;
  }

  // The next longer span (1) or shorter one (-1).
  wider(by) {
    const index = spans.indexOf(this.state.span) + by;
    if (spans[index]) this.setSpan(spans[index]);
  }

  // 0: as it was.
  zoom(by) {
    this.state.zoom = Math.min(1000, Math.max(0.1, by === 0 ? 1 : this.state.zoom * by));
  }

  pan(seconds) {
    const { state } = this;
    if (!state.paused) this.setPaused(true);
    const source = this.traces();
    if (!source?.end) return;
    const oldest = source.time(source.oldest) + state.span / 8;
    state.edge = Math.max(Math.min(state.edge + seconds, source.endTime), Math.min(oldest, source.endTime));
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const eighth = this.state.span / 8;
    const actions = {
      " ": () => this.setPaused(!this.state.paused),
      "+": () => this.zoom(2), "=": () => this.zoom(2), "-": () => this.zoom(0.5), 0: () => this.zoom(0),
      ArrowLeft: () => this.pan(-eighth), ArrowRight: () => this.pan(eighth),
      "[": () => this.wider(-1), "]": () => this.wider(1),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  toggle(signal) {
    const { hidden } = this.state;
    const button = h("button", { type: "button", class: `signal ${signal}`, "aria-pressed": "true",
      title: words.toggle(words.signals[signal]),
      onclick: () => {
        const hide = !hidden.has(signal);
        if (hide) hidden.add(signal);
        else hidden.delete(signal);
        button.setAttribute("aria-pressed", String(!hide));
        this.#measured = 0;
      } }, h("span", { class: "swatch", "aria-hidden": "true" }), signal === "raw" ? this.#rawName : words.signals[signal]);
    return button;
  }

  #element() {
    const same = h("input", { type: "checkbox", checked: true, onchange: () => {
      this.state.same = same.checked;
      this.#measured = 0;
    } });
    const small = (label, name, by) =>
      h("button", { type: "button", class: "plain small", "aria-label": name, title: name, onclick: () => this.zoom(by) }, label);
    return h("section", { class: "card graphs", "aria-label": words.title },
      h("div", { class: "toolbar" },
        this.#pause,
        h("label", { class: "choice" }, h("span", {}, words.span), this.#span),
        h("span", { class: "together", role: "group", "aria-label": words.zoom },
          small("−", words.zoomOut, 0.5), small(words.auto, words.zoomAuto, 0), small("+", words.zoomIn, 2)),
        unitChoice(), this.viewer.element,
        h("label", { class: "tick" }, same, words.same)),
      h("div", { class: "legend", role: "group", "aria-label": words.legend }, signals.map((signal) => this.toggle(signal))),
      this.levels.element,
      axes.map((axis) => this.canvases[axis]),
      h("p", { class: "quiet keys" }, words.keys));
  }

  stop() {
    this.#stopUnit();
    for (const surface of Object.values(this.surfaces)) surface.stop();
  }
}
