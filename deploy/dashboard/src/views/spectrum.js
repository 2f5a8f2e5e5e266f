// The spectrum of the newest of the live traces, half a minute where they are fast enough, each axis; and the station's own
// strongest frequency.

import { newSurface, plot, themeColors } from "../canvas.js";
import { axisLegend, h, setText } from "../dom.js";
import { fleet } from "../fleet.js";
import { format, preferences } from "../preferences.js";
import { fft } from "../pure/fft.js";
import { scales } from "../pure/scales.js";
import { units } from "../pure/units.js";
import { text } from "../text.js";

const words = text.station.spectrum;
const axes = ["x", "y", "z"];

function paintSpectra(context, width, height, spectra, dominant) {
  const colors = themeColors();
  const box = { left: 54, top: 10, right: width - 22, bottom: height - 26 };
  const unit = preferences.get("unit");
  const factor = units.factor(unit);
  const { step, amplitudes } = spectra.of[0];
  const highHz = step * (amplitudes.length - 1);
  const lowHz = Math.min(0.1, highHz / 10);
  const first = Math.max(1, Math.ceil(lowHz / step));
  let top = 0;
  for (const { amplitudes: list } of spectra.of) for (let i = first; i < list.length; i++) top = Math.max(top, list[i]);
  const high = 10 ** Math.ceil(Math.log10(Math.max(top * factor, 1e-9)) + 0.05);
  const low = high / 1e4;
  const x = scales.logarithmic(lowHz, highHz, box.left, box.right);
  const y = scales.logarithmic(low, high, box.bottom, box.top);
  plot.frame(context, box, {
    x: { ticks: plot.hertz(lowHz, highHz, x, units.tick) },
    y: { ticks: scales.decades(low, high).map((value) => ({ at: y(value), label: units.tick(value) })) },
  });
  plot.clip(context, box, () => {
    if (dominant >= lowHz && dominant <= highHz) plot.upright(context, x(dominant), box, colors.quiet);
    spectra.of.forEach(({ amplitudes: list }, axis) => {
      context.strokeStyle = colors[`axis-${axes[axis]}`];
      context.lineWidth = 1.5;
      context.lineJoin = "round";
      context.beginPath();
      for (let i = first; i < list.length; i++) context.lineTo(x(i * step), y(list[i] * factor));
      context.stroke();
    });
  });
  plot.setFont(context, 11);
  context.fillStyle = colors.quiet;
  context.textAlign = "right";
  context.textBaseline = "top";
  context.fillText(units.label(unit), box.right - 4, box.top + 3);
}

export function spectrumCard(traces, station) {
  let spectra = null;
  const canvas = h("canvas", { class: "small-graph", role: "img", "aria-label": words.label });
  const said = h("p", { class: "quiet number" }, words.waiting);
  const window = h("small", { class: "quiet" });
  const surface = newSurface(canvas, (context, width, height) => spectra
    && paintSpectra(context, width, height, spectra, station()?.summary?.spectrum?.dominant_hz));

  function compute() {
    const source = traces();
    const known = station();
    if (!source?.end) return setText(said, words.waiting);
    const signal = source.has("x", "filtered") ? "filtered" : "raw";
    // What is not there is no zero: of a part, the spectrum of that part.
    const count = Math.min(...axes.map((axis) => source.unbroken(axis, signal, fft.liveCount(source.rate))));
    const isEnough = count >= fft.fewest;
    spectra = isEnough ? { signal, of: axes.map((axis) => fft.spectrum(source.last(axis, signal, count), source.rate)) } : null;
    setText(window, isEnough ? words.window(units.duration(count / source.rate)) : "");
    canvas.hidden = !isEnough;
    const { dominant_hz: hz, peak } = known?.summary?.spectrum ?? {};
    if (!isEnough) setText(said, words.tooFew(units.wholeDuration(fft.fewest / source.rate), units.wholeDuration(count / source.rate)));
    else setText(said, Number.isFinite(hz) ? words.dominant(units.duration(known.summary.window_s), units.quantity(hz, "Hz"),
      format.acceleration(peak)) : words.none);
    surface.redraw();
  }

  const stop = fleet.on("station", (id, what) => {
    if (what === "trace" && id === station()?.id) compute();
  });
  return {
    element: h("section", { class: "card" },
      h("div", { class: "card-head" }, h("h2", {}, words.title, " ", window), axisLegend()),
      canvas, said),
    stop() {
      stop();
      surface.stop();
    },
  };
}
