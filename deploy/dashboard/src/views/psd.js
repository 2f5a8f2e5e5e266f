// The power spectral density of the part of a waveform that is shown: three axes, both scales logarithmic, the clearest peaks
// marked.

import { newSurface, plot, themeColors } from "../canvas.js";
import { h, setText } from "../dom.js";
import { Seismote } from "../page.js";
import { preferences } from "../preferences.js";
import { motion } from "../pure/motion.js";
import { psd } from "../pure/psd.js";
import { scales } from "../pure/scales.js";
import { units } from "../pure/units.js";
import { text } from "../text.js";

const words = text.psd;
const axes = ["x", "y", "z"];
const decadesShown = 6;

// psdCard() -> { element, show(shape, from, to), stop() }: from and to in seconds from the first sample.
export function psdCard() {
  let found = null;
  const canvas = h("canvas", { class: "psd-graph", role: "img", "aria-label": words.label });
  const about = h("p", { class: "quiet small-note", role: "status" });
  const modes = h("p", { class: "number" });
  const surface = newSurface(canvas, paint);

  function paint(context, width, height) {
    if (!found) return;
    const colors = themeColors();
    const factor = units.factor(preferences.get("unit")) ** 2;
    const box = { left: 66, top: 10, right: width - 22, bottom: height - 26 };
    const { step, density } = found.of[0];
    const [lowHz, highHz] = [step, step * (density.length - 1)];
    const top = found.of.reduce((most, one) => one.density.slice(1).reduce((high, value) => Math.max(high, value), most), 0);
    const high = 10 ** Math.ceil(Math.log10(Math.max(top * factor, 1e-30)) + 0.05);
    const low = high / 10 ** decadesShown;
    const x = (hz) => box.left + ((box.right - box.left) * Math.log(hz / lowHz)) / Math.log(highHz / lowHz);
    const y = (value) => box.bottom - ((box.bottom - box.top) * Math.log(Math.max(value * factor, low) / low)) / Math.log(high / low);
    const hertz = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].filter((hz) => hz >= lowHz && hz <= highHz);
    plot.frame(context, box, {
      x: { ticks: hertz.map((hz, i) => ({ at: x(hz), label: `${units.tick(hz)}${i === hertz.length - 1 ? " Hz" : ""}` })) },
      y: { ticks: scales.decades(low, high).map((value) => ({ at: y(value / factor), label: units.digits(value, 1) })) },
      unit: words.unit(units.label(preferences.get("unit"))),
    });
    plot.clip(context, box, () => {
      found.of.forEach((one, axis) => {
        context.strokeStyle = colors[`axis-${axes[axis]}`];
        context.setLineDash([[], [7, 3], [2, 3]][axis]);
        context.lineWidth = 1.6;
        context.beginPath();
        for (let i = 1; i < one.density.length; i++) context.lineTo(x(i * step), y(one.density[i]));
        context.stroke();
      });
      context.setLineDash([4, 4]);
      context.strokeStyle = colors.quiet;
      context.lineWidth = 1;
      for (const { hz } of found.peaks) {
        context.beginPath();
        context.moveTo(x(hz), box.top + 16);
        context.lineTo(x(hz), box.bottom);
        context.stroke();
      }
      context.setLineDash([]);
    });
    plot.setFont(context, 11);
    context.fillStyle = colors.ink;
    context.textAlign = "center";
    context.textBaseline = "top";
    let taken = -Infinity;
    for (const { hz } of [...found.peaks].sort((a, b) => a.hz - b.hz)) {
      if (x(hz) - taken < 46) continue;
      taken = x(hz);
      context.fillText(`${units.digits(hz, 3)} Hz`, Math.min(box.right - 22, x(hz)), box.top + 3);
    }
  }

  const stopPreferences = preferences.on(() => surface.redraw());
  Seismote.psd = { found: () => found };
  return {
    element: h("section", { class: "card psd-card" }, h("div", { class: "card-head" }, h("h2", {}, words.title),
      h("div", { class: "axis-legend" },
        axes.map((axis) => h("span", { class: `axis-${axis}` }, h("span", { class: "swatch", "aria-hidden": "true" }), axis)))), canvas,
        modes, about),
    show(shape, from, to) {
      const [first, last] = [from, to].map((at) => Math.min(shape.count, Math.max(0, Math.round(at * shape.rate))));
      const parts = axes.map((axis) => psd.welch(motion.withoutGaps(shape[axis].slice(first, last)), shape.rate));
      found = parts.includes(null) ? null : { of: parts, from: first, to: last, peaks: [] };
      if (found) {
        // What is common to all axes, or strong on one.
        found.peaks = psd.peaks({ step: parts[0].step, density: parts[0].density.map((value, i) =>
          value + parts[1].density[i] + parts[2].density[i]) });
        setText(about, words.about(units.duration((last - first) / shape.rate), parts[0].segments, units.quantity(parts[0].step, "Hz")));
        setText(modes, found.peaks.length > 0 ? words.peaks(found.peaks.map(({ hz }) => units.quantity(hz, "Hz")).join(", "))
          : words.noPeaks);
      } else {
        setText(about, words.tooShort);
        setText(modes, "");
      }
      canvas.hidden = !found;
      surface.redraw();
    },
    stop() {
      surface.stop();
      stopPreferences();
    },
  };
}
