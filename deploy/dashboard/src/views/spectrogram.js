// The spectrogram of one axis beside the live graphs: up to half the rate of the traces, with the scale of its colours.

import { newSurface, plot } from "../canvas.js";
import { h, setText } from "../dom.js";
import { format, preferences } from "../preferences.js";
import { scales } from "../pure/scales.js";
import { spectrogramColumns } from "../pure/spectrogram.js";
import { units } from "../pure/units.js";
import { text } from "../text.js";

const { Columns, color, sizeFor, frequencies, place, largest } = spectrogramColumns;
const words = text.station.spectrogram;
const most = 240;
const decades = 4;

// The columns of the newest samples, drawn on a canvas that is not seen: a pixel for each column and row.
class Sheet {
  columns = new Columns();
  canvas = document.createElement("canvas");
  generation = -1;

  // The piece of each column begins at a whole multiple of the step, so that it stays what it is while time goes on.
  // Null without a single column.
  fill(source, { axis, signal, isLogarithmic }, edge, span) {
    if (this.generation !== source.generation) this.columns.forget();
    this.generation = source.generation;
    const { rate } = source;
    const size = sizeFor(rate);
    const whole = Math.max(span, 30);
    const step = Math.max(1, Math.ceil((whole * rate) / most));
    const end = Math.floor(source.slot(edge));
    const last = Math.floor((end - size / 2) / step) * step;
    const count = Math.ceil((whole * rate) / step);
    const key = `${axis} ${signal} ${step} ${source.generation}`;
    const list = Array.from({ length: count }, (_, i) => {
      const slot = last - (count - 1 - i) * step;
      return slot < source.first || slot + size > source.end ? null
        : this.columns.column(key, slot, size, rate, (at) => source.value(axis, signal, at));
    });
    if (!list.some(Boolean)) return null;
    return { list, step, slot: last + size / 2, rate, axis: frequencies(size / 2 + 1, rate / size, isLogarithmic), top: topOf(list) };
  }

  render({ list, axis: { rows }, top }) {
    const { canvas } = this;
    [canvas.width, canvas.height] = [list.length, rows.length];
    const context = canvas.getContext("2d");
    const image = context.createImageData(list.length, rows.length);
    const floor = Math.log10(top) - decades;
    list.forEach((column, x) => {
      if (!column) return;
      rows.forEach((row, y) => {
        const part = (Math.log10(Math.max(largest(column, row), 1e-30)) - floor) / decades;
        image.data.set([...color(part), 255], (y * list.length + x) * 4);
      });
    });
    context.putImageData(image, 0, 0);
  }
}

// The power of ten above all amplitudes but the means.
function topOf(list) {
  let most = 1e-7;
  for (const column of list) if (column) most = Math.max(most, largest(column, [1, column.length - 1]));
  return 10 ** Math.ceil(Math.log10(most) - 1e-9);
}

// The picture of a sheet between its axes.
function paintSheet(context, width, height, source, sheet, filled) {
  const box = { left: width < 500 ? 46 : 62, top: 6, right: width - (width < 500 ? 6 : 18), bottom: height - 24 };
  if (!filled || !source?.end) return plot.frame(context, box, {});
  const { rate, step, slot, list, axis } = filled;
  const seconds = (list.length * step) / rate;
  const end = source.time(slot + step / 2);
  const x = (time) => box.right - ((end - time) / seconds) * (box.right - box.left);
  const every = scales.timeStep(seconds, Math.max(2, Math.floor((box.right - box.left) / 92)));
  const times = scales.multiples(end - seconds, end, every);
  const hertz = axis.low > 0 ? scales.logarithmicTicks(axis.low, axis.high) : scales.ticks(0, axis.high, 4);
  context.imageSmoothingEnabled = false;
  context.drawImage(sheet.canvas, box.left, box.top, box.right - box.left, box.bottom - box.top);
  return plot.frame(context, box, {
    x: { ticks: times.map((time) => ({ at: x(time), label: units.time(time * 1000, format.utc()) })),
      name: format.zones((end - seconds) * 1000, end * 1000) },
    y: { ticks: hertz.map((hz, i) => ({ at: box.bottom - place(axis, hz) * (box.bottom - box.top),
      label: `${units.tick(hz)}${i === 0 ? " Hz" : ""}` })) },
  });
}

// The scale of the colours: { element, show(top) }; without a top there is nothing that they could be a scale of.
function colorLegend() {
  const low = h("span", { class: "number" });
  const high = h("span", { class: "number" });
  const bar = h("canvas", { class: "color-bar", width: "256", height: "1", "aria-hidden": "true" });
  const element = h("div", { class: "color-legend", role: "img", hidden: true, "aria-label": words.legend("–", "–") }, low, bar, high);
  const scale = bar.getContext("2d");
  for (let i = 0; i < 256; i++) {
    scale.fillStyle = `rgb(${color(i / 255).join(" ")})`;
    scale.fillRect(i, 0, 1, 1);
  }
  return {
    element,
    show(top) {
      element.hidden = top === null;
      if (top === null) return;
      setText(low, format.acceleration(top / 10 ** decades));
      setText(high, format.acceleration(top));
      element.setAttribute("aria-label", words.legend(low.textContent, high.textContent));
    },
  };
}

// spectrogramCard(traces(), span()) -> { element, draw(time), stop() }; span() in seconds.
export function spectrogramCard(traces, span) {
  // What a station has kept is unfiltered, and so there at once.
  const chosen = { signal: "raw", axis: "z", isLogarithmic: preferences.get("frequency") === "logarithmic" };
  const sheet = new Sheet();
  const legend = colorLegend();
  const canvas = h("canvas", { class: "spectrogram", role: "img" });
  const said = h("p", { class: "quiet" });
  let filled = null;
  let edge = NaN;
  let drawn = "";
  const surface = newSurface(canvas, (context, width, height) => paintSheet(context, width, height, traces(), sheet, filled));

  const choice = (name, options, value, set) => h("label", { class: "choice" }, h("span", {}, name),
    h("select", { value, onchange: (event) => {
      set(event.target.value);
      drawn = "";
      draw(edge);
    } }, options.map(([one, label]) => h("option", { value: one }, label))));
  const choices = h("div", { class: "together-choices" },
    choice(words.signal, [["raw", words.raw], ["filtered", words.filtered]], chosen.signal, (value) => (chosen.signal = value)),
    choice(words.axis, ["x", "y", "z"].map((one) => [one, one]), chosen.axis, (value) => (chosen.axis = value)),
    choice(words.frequency, [["linear", words.linear], ["logarithmic", words.logarithmic]], preferences.get("frequency"), (value) => {
      chosen.isLogarithmic = value === "logarithmic";
      preferences.set("frequency", value);
    }));

  function empty(why) {
    filled = null;
    legend.show(null);
    surface.redraw();
    setText(said, why);
  }

  function draw(time) {
    edge = time;
    const source = traces();
    if (!source?.end || !Number.isFinite(time)) return setText(said, words.none);
    if (!source.has(chosen.axis, chosen.signal)) return empty(words.none);
    const now = `${Math.floor(time * 2)} ${Object.values(chosen)} ${span()} ${source.filled}`;
    if (now === drawn || !surface.visible) return;
    drawn = now;
    filled = sheet.fill(source, chosen, edge, span());
    if (!filled) return empty(words.tooFew(units.wholeDuration(sizeFor(source.rate) / source.rate)));
    sheet.render(filled);
    legend.show(filled.top);
    const { low, high } = filled.axis;
    const [from, to] = [low > 0 ? units.quantity(low, "Hz") : "0", units.quantity(high, "Hz")];
    setText(said, words.nyquist(from, to));
    canvas.setAttribute("aria-label", words.label(chosen.axis, from, to));
    surface.redraw();
  }
  canvas.setAttribute("aria-label", words.label(chosen.axis, "0", ""));

  const stop = preferences.on(() => (drawn = ""));
  return {
    draw,
    element: h("section", { class: "card spectrogram-card" }, h("div", { class: "card-head" }, h("h2", {}, words.title), choices), canvas,
      h("div", { class: "spectrogram-foot" }, said, legend.element)),
    stop() {
      stop();
      surface.stop();
    },
  };
}
