// The power spectral density of the part of a waveform that is shown: three axes, both scales logarithmic, the clearest peaks
// marked.

import { newSurface, plot, themeColors } from "../canvas.js";
import { axisLegend, h, setText } from "../dom.js";
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

function paintDensities(context, width, height, found) {
  const colors = themeColors();
  const factor = units.factor(preferences.get("unit")) ** 2;
  const box = { left: 66, top: 10, right: width - 22, bottom: height - 26 };
  const { step, density } = found.of[0];
  const [lowHz, highHz] = [step, step * (density.length - 1)];
  const top = found.of.reduce((most, one) => one.density.slice(1).reduce((high, value) => Math.max(high, value), most), 0);
  const high = 10 ** Math.ceil(Math.log10(Math.max(top * factor, 1e-30)) + 0.05);
  const low = high / 10 ** decadesShown;
  const x = scales.logarithmic(lowHz, highHz, box.left, box.right);
  const y = scales.logarithmic(low, high, box.bottom, box.top);
  // As many numbers as there is room for.
  const skip = Math.ceil((14 * decadesShown) / (box.bottom - box.top));
  plot.frame(context, box, {
    x: { ticks: plot.hertz(lowHz, highHz, x, units.tick) },
    y: { ticks: scales.decades(low, high).map((value, i) => ({ at: y(value), label: i % skip ? undefined : units.digits(value, 1) })) },
    unit: words.unit(units.label(preferences.get("unit"))),
  });
  plot.clip(context, box, () => {
    found.of.forEach((one, axis) => {
      context.strokeStyle = colors[`axis-${axes[axis]}`];
      context.setLineDash([[], [7, 3], [2, 3]][axis]);
      context.lineWidth = 1.6;
      context.beginPath();
      for (let i = 1; i < one.density.length; i++) context.lineTo(x(i * step), y(one.density[i] * factor));
      context.stroke();
    });
    context.setLineDash([]);
    for (const { hz } of found.peaks) plot.upright(context, x(hz), { ...box, top: box.top + 16 }, colors.quiet);
  });
  namePeaks(context, found.peaks, x, box, colors);
}

// The frequencies of the peaks, those for which there is room.
function namePeaks(context, peaks, x, box, colors) {
  plot.setFont(context, 11);
  context.fillStyle = colors.ink;
  context.textAlign = "center";
  context.textBaseline = "top";
  let taken = -Infinity;
  for (const { hz } of [...peaks].sort((a, b) => a.hz - b.hz)) {
    if (x(hz) - taken < 46) continue;
    taken = x(hz);
    context.fillText(`${units.digits(hz, 3)} Hz`, Math.min(box.right - 22, x(hz)), box.top + 3);
  }
}

// What is common to all axes, or strong on one, of the samples from first to last; null of too few.
function densitiesOf(shape, first, last) {
  const parts = axes.map((axis) => psd.welch(motion.withoutGaps(shape[axis].slice(first, last)), shape.rate));
  if (parts.includes(null)) return null;
  const [{ step, density }, y, z] = parts;
  const sum = density.map((value, i) => value + y.density[i] + z.density[i]);
  return { of: parts, from: first, to: last, peaks: psd.peaks({ step, density: sum }) };
}

// psdCard() -> { element, show(shape, from, to), stop() }: from and to in seconds from the first sample.
export function psdCard() {
  let found = null;
  const canvas = h("canvas", { class: "psd-graph", role: "img", "aria-label": words.label });
  const about = h("p", { class: "quiet small-note", role: "status" });
  const modes = h("p", { class: "number" });
  const surface = newSurface(canvas, (context, width, height) => found && paintDensities(context, width, height, found));
  const stopPreferences = preferences.on(() => surface.redraw());
  Seismote.psd = { found: () => found };
  return {
    element: h("section", { class: "card psd-card" }, h("div", { class: "card-head" }, h("h2", {}, words.title), axisLegend()), canvas,
      modes, about),
    show(shape, from, to) {
      const [first, last] = [from, to].map((at) => Math.min(shape.count, Math.max(0, Math.round(at * shape.rate))));
      found = densitiesOf(shape, first, last);
      if (found) {
        const { segments, step } = found.of[0];
        setText(about, words.about(units.duration((last - first) / shape.rate), segments, units.quantity(step, "Hz")));
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
