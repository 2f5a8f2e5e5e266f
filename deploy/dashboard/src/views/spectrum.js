// The spectrum of the newest of the live traces, half a minute where they are fast enough, each axis; and the station's own
// strongest frequency.

import { newSurface, plot, themeColors } from "../canvas.js";
import { h, setText } from "../dom.js";
import { fleet } from "../fleet.js";
import { format, preferences } from "../preferences.js";
import { fft } from "../pure/fft.js";
import { scales } from "../pure/scales.js";
import { units } from "../pure/units.js";
import { text } from "../text.js";

const words = text.station.spectrum;
const axes = ["x", "y", "z"];

export function spectrumCard(traces, station) {
  let spectra = null;
  const canvas = h("canvas", { class: "small-graph", role: "img", "aria-label": words.label });
  const said = h("p", { class: "quiet number" }, words.waiting);
  const window = h("small", { class: "quiet" });
  const surface = newSurface(canvas, paint);

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

  function paint(context, width, height) {
    const colors = themeColors();
    const box = { left: 54, top: 10, right: width - 22, bottom: height - 26 };
    if (!spectra) return;
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
    const x = (hz) => box.left + ((box.right - box.left) * Math.log(hz / lowHz)) / Math.log(highHz / lowHz);
    const y = (value) => box.bottom - ((box.bottom - box.top) * Math.log(Math.max(value * factor, low) / low)) / Math.log(high / low);
    const hertz = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200,
      500].filter((hz) => hz >= lowHz && hz <= highHz);
    plot.frame(context, box, {
      x: { ticks: hertz.map((hz, i) => ({ at: x(hz), label: `${units.tick(hz)}${i === hertz.length - 1 ? " Hz" : ""}` })) },
      y: { ticks: scales.decades(low, high).map((value) => ({ at: y(value / factor), label: units.tick(value) })) },
    });
    plot.clip(context, box, () => {
      const hz = station()?.summary?.spectrum?.dominant_hz;
      if (Number.isFinite(hz) && hz >= lowHz && hz <= highHz) {
        context.strokeStyle = colors.quiet;
        context.setLineDash([4, 4]);
        context.lineWidth = 1;
        context.beginPath();
        context.moveTo(x(hz), box.top);
        context.lineTo(x(hz), box.bottom);
        context.stroke();
        context.setLineDash([]);
      }
      spectra.of.forEach(({ amplitudes: list }, axis) => {
        context.strokeStyle = colors[`axis-${axes[axis]}`];
        context.lineWidth = 1.5;
        context.lineJoin = "round";
        context.beginPath();
        for (let i = first; i < list.length; i++) {
          if (i === first) context.moveTo(x(i * step), y(list[i]));
          else context.lineTo(x(i * step), y(list[i]));
        }
        context.stroke();
      });
    });
    plot.setFont(context, 11);
    context.fillStyle = colors.quiet;
    context.textAlign = "right";
    context.textBaseline = "top";
    context.fillText(units.label(unit), box.right - 4, box.top + 3);
  }

  const stop = fleet.on("station", (id, what) => {
    if (what === "trace" && id === station()?.id) compute();
  });
  return {
    element: h("section", { class: "card" },
      h("div", { class: "card-head" }, h("h2", {}, words.title, " ", window),
        h("div", { class: "axis-legend" },
          axes.map((axis) => h("span", { class: `axis-${axis}` }, h("span", { class: "swatch", "aria-hidden": "true" }), axis)))),
      canvas, said),
    stop() {
      stop();
      surface.stop();
    },
  };
}
