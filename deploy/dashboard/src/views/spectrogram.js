// The spectrogram of one axis beside the live graphs: 0 to half the rate of the traces, with the scale of its colours.

import { newSurface, plot } from "../canvas.js";
import { h, setText } from "../dom.js";
import { format, preferences } from "../preferences.js";
import { scales } from "../pure/scales.js";
import { spectrogramColumns } from "../pure/spectrogram.js";
import { units } from "../pure/units.js";
import { text } from "../text.js";

const { Columns, color, sizeFor } = spectrogramColumns;
const words = text.station.spectrogram;
const most = 240;
const decades = 4;

// spectrogramCard(traces(), span()) -> { element, draw(time), stop() }; span() in seconds.
export function spectrogramCard(traces, span) {
  const columns = new Columns();
  // What a station has kept is unfiltered, and so there at once.
  let signal = "raw";
  let axis = "z";
  let edge = NaN;
  let drawn = "";
  let top = NaN;
  let generation = -1;
  const sheet = document.createElement("canvas");
  const canvas = h("canvas", { class: "spectrogram", role: "img" });
  const surface = newSurface(canvas, paint);
  const low = h("span", { class: "number" });
  const high = h("span", { class: "number" });
  const bar = h("canvas", { class: "color-bar", width: "256", height: "1", "aria-hidden": "true" });
  const legend = h("div", { class: "color-legend", role: "img", hidden: true, "aria-label": words.legend("–", "–") }, low, bar, high);
  const said = h("p", { class: "quiet" });
  const scale = bar.getContext("2d");
  for (let i = 0; i < 256; i++) {
    scale.fillStyle = `rgb(${color(i / 255).join(" ")})`;
    scale.fillRect(i, 0, 1, 1);
  }
  const choice = (name, options, chosen, set) => h("label", { class: "choice" }, h("span", {}, name),
    h("select", { value: chosen, onchange: (event) => {
      set(event.target.value);
      drawn = "";
      draw(edge);
    } }, options.map(([value, label]) => h("option", { value }, label))));

  // The piece of each column begins at a whole multiple of the step, so that it stays what it is while time goes on.
  function fill(source) {
    const { rate } = source;
    const size = sizeFor(rate);
    const whole = Math.max(span(), 30);
    const step = Math.max(1, Math.ceil((whole * rate) / most));
    const end = Math.floor(source.slot(edge));
    const last = Math.floor((end - size / 2) / step) * step;
    const count = Math.ceil((whole * rate) / step);
    const key = `${axis} ${signal} ${step} ${source.generation}`;
    const list = [];
    let largest = 0;
    for (let i = count - 1; i >= 0; i--) {
      const slot = last - i * step;
      const found = slot < source.first || slot + size > source.end ? null
        : columns.column(key, slot, size, rate, (at) => source.value(axis, signal, at));
      list.push(found);
      if (found) for (let k = 1; k < found.length; k++) if (found[k] > largest) largest = found[k];
    }
    return { list, largest, bins: size / 2 + 1, step, slot: last + size / 2, rate };
  }

  function render({ list, bins }) {
    sheet.width = list.length;
    sheet.height = bins;
    const context = sheet.getContext("2d");
    const image = context.createImageData(list.length, bins);
    const floor = Math.log10(top) - decades;
    list.forEach((column, x) => {
      if (!column) return;
      for (let k = 0; k < bins; k++) {
        const [r, g, b] = color((Math.log10(Math.max(column[k], 1e-30)) - floor) / decades);
        const at = ((bins - 1 - k) * list.length + x) * 4;
        image.data[at] = r;
        image.data[at + 1] = g;
        image.data[at + 2] = b;
        image.data[at + 3] = 255;
      }
    });
    context.putImageData(image, 0, 0);
  }

  let filled = null;
  function paint(context, width, height) {
    const box = { left: width < 500 ? 46 : 62, top: 6, right: width - (width < 500 ? 6 : 18), bottom: height - 24 };
    const source = traces();
    if (!filled || !source?.end) return plot.frame(context, box, {});
    const { rate, step, slot, list } = filled;
    const whole = list.length * step;
    const seconds = whole / rate;
    const end = source.time(slot + step / 2);
    const x = (time) => box.right - ((end - time) / seconds) * (box.right - box.left);
    const every = scales.timeStep(seconds, Math.max(2, Math.floor((box.right - box.left) / 92)));
    const ticks = [];
    for (let time = Math.ceil((end - seconds) / every) * every; time <= end; time += every) ticks.push({ at: x(time),
      label: units.time(time * 1000, format.utc()) });
    const nyquist = rate / 2;
    context.imageSmoothingEnabled = false;
    context.drawImage(sheet, box.left, box.top, box.right - box.left, box.bottom - box.top);
    plot.frame(context, box, {
      x: { ticks, name: format.zones((end - seconds) * 1000, end * 1000) },
      y: { ticks: scales.ticks(0, nyquist,
        4).map((hz) => ({ at: box.bottom - (hz / nyquist) * (box.bottom - box.top),
        label: `${units.tick(hz)}${hz === 0 ? " Hz" : ""}` })) },
    });
  }

  function draw(time) {
    edge = time;
    const source = traces();
    if (!source?.end || !Number.isFinite(time)) return setText(said, words.none);
    if (!source.has(axis, signal)) {
      filled = null;
      legend.hidden = true;
      surface.redraw();
      return setText(said, words.none);
    }
    if (generation !== source.generation) columns.forget();
    generation = source.generation;
    const now = `${Math.floor(time * 2)} ${axis} ${signal} ${span()} ${source.filled}`;
    if (now === drawn || !surface.visible) return;
    drawn = now;
    filled = fill(source);
    // Without a column there is nothing that the colours could be a scale of.
    const isEmpty = !filled.list.some(Boolean);
    legend.hidden = isEmpty;
    if (isEmpty) {
      filled = null;
      surface.redraw();
      return setText(said, words.tooFew(units.wholeDuration(sizeFor(source.rate) / source.rate)));
    }
    top = 10 ** Math.ceil(Math.log10(Math.max(filled.largest, 1e-7)) - 1e-9);
    render(filled);
    const { acceleration } = format;
    setText(low, acceleration(top / 10 ** decades));
    setText(high, acceleration(top));
    legend.setAttribute("aria-label", words.legend(low.textContent, high.textContent));
    const hertz = units.quantity(source.rate / 2, "Hz");
    setText(said, words.nyquist(hertz));
    canvas.setAttribute("aria-label", words.label(axis, hertz));
    surface.redraw();
  }
  canvas.setAttribute("aria-label", words.label(axis, ""));

  const stop = preferences.on(() => (drawn = ""));
  return {
    draw,
    element: h("section", { class: "card spectrogram-card" },
      h("div", { class: "card-head" }, h("h2", {}, words.title),
        h("div", { class: "together-choices" },
          choice(words.signal, [["raw", words.raw], ["filtered", words.filtered]], signal, (value) => (signal = value)),
          choice(words.axis, ["x", "y", "z"].map((one) => [one, one]), axis, (value) => (axis = value)))),
      canvas, h("div", { class: "spectrogram-foot" }, said, legend)),
    stop() {
      stop();
      surface.stop();
    },
  };
}
