// STA/LTA over the last minutes, from the summaries, with the thresholds at which an event begins and ends.

import { newSurface, plot, themeColors } from "../canvas.js";
import { h, setText } from "../dom.js";
import { fleet } from "../fleet.js";
import { format } from "../preferences.js";
import { scales } from "../pure/scales.js";
import { units } from "../pure/units.js";
import { text } from "../text.js";

const words = text.station.ratio;
const minutes = 5;
const lines = { __proto__: null, x: "axis-x", y: "axis-y", z: "axis-z" };

// The thresholds as broken lines with their names and numbers.
function paintThresholds(context, box, y, on, end, colors) {
  plot.setFont(context, 11);
  context.textAlign = "left";
  context.lineWidth = 1;
  for (const [value, word, color] of [[on, words.begins, colors.trigger], [end, words.ends, colors.quiet]]) {
    if (!(value > 0)) continue;
    const line = Math.round(y(value)) + 0.5;
    context.strokeStyle = context.fillStyle = color;
    context.setLineDash([5, 4]);
    context.beginPath();
    context.moveTo(box.left, line);
    context.lineTo(box.right, line);
    context.stroke();
    context.setLineDash([]);
    context.textBaseline = value === on ? "bottom" : "top";
    context.fillText(`${word} ${units.digits(value, 3)}`, box.left + 6, line + (value === on ? -3 : 4));
  }
}

// The ground while it was triggered, and a line for each ratio.
function paintRatios(context, box, history, names, begin, x, y, colors) {
  let before = NaN;
  for (const { time, triggered } of history) {
    const since = before;
    before = time;
    if (!triggered || Number.isNaN(since) || time < begin) continue;
    context.fillStyle = colors.trigger;
    context.globalAlpha = 0.13;
    const from = x(Math.max(begin, since));
    context.fillRect(from, box.top, x(time) - from, box.bottom - box.top);
    context.globalAlpha = 1;
  }
  for (const name of names) {
    context.strokeStyle = colors[lines[name] ?? "accent"];
    context.lineWidth = 1.8;
    context.lineJoin = "round";
    context.beginPath();
    let pen = false;
    for (const { time, ratios } of history) {
      if (!(ratios?.[name] >= 0)) pen = false;
      else {
        if (pen) context.lineTo(x(time), y(ratios[name]));
        else context.moveTo(x(time), y(ratios[name]));
        pen = true;
      }
    }
    context.stroke();
  }
}

function paintHistory(context, width, height, { history, names, on, end }) {
  const colors = themeColors();
  const box = { left: 54, top: 10, right: width - 22, bottom: height - 26 };
  const now = history.at(-1).time;
  const begin = now - minutes * 60;
  let top = 10;
  for (const { ratios } of history) for (const name of names) if (ratios?.[name] > top) top = ratios[name];
  const low = 0.1;
  // An earthquake after deep quiet has ratios of millions, which tell no more than a thousand.
  const high = 10 ** Math.ceil(Math.log10(Math.min(Math.max(top, (on ?? 1) * 2), Math.max(1000, (on ?? 1) * 10))) - 1e-9);
  const x = (time) => box.left + ((box.right - box.left) * (time - begin)) / (now - begin);
  const y = scales.logarithmic(low, high, box.bottom, box.top);
  const every = scales.timeStep(minutes * 60, Math.max(2, Math.floor(width / 90)));
  const ticks = scales.multiples(begin, now, every)
    .map((time) => ({ at: x(time), label: units.time(time * 1000, format.utc()).slice(0, 5) }));
  const decades = scales.decades(low, high);
  const skip = Math.ceil(decades.length / 6);
  plot.frame(context, box, { x: { ticks, name: format.zones(begin * 1000, now * 1000) },
    y: { ticks: decades.map((value, i) => ({ at: y(value), label: i % skip ? undefined : units.tick(value) })) } });
  plot.clip(context, box, () => paintRatios(context, box, history, names, begin, x, y, colors));
  paintThresholds(context, box, y, on, end, colors);
}

export function ratioCard(station) {
  const canvas = h("canvas", { class: "small-graph", role: "img", "aria-label": words.label });
  const said = h("p", { class: "quiet number" });
  const off = h("p", { class: "quiet" }, words.off);
  const surface = newSurface(canvas, paint);
  const settings = () => station()?.settings?.detection?.sta_lta;

  function paint(context, width, height) {
    const history = station()?.history;
    const { on, off: end } = settings() ?? {};
    if (history?.length > 0) {
      paintHistory(context, width, height, { history, names: Object.keys(station()?.summary?.sta_lta ?? {}), on, end });
    }
  }

  function show() {
    const known = station();
    const enabled = settings()?.enabled !== false;
    off.hidden = enabled;
    canvas.hidden = said.hidden = !enabled;
    if (!enabled) return;
    const ratios = Object.entries(known?.summary?.sta_lta ?? {});
    setText(said, ratios.map(([name, value]) => `${name} ${units.digits(value, 3)}`).join(" · ") || words.none);
    surface.redraw();
  }
  const stop = fleet.on("station", (id, what) => {
    if (id === station()?.id && (what === "summary" || what === "config")) show();
  });
  show();
  return {
    element: h("section", { class: "card" }, h("h2", {}, words.title, " ", h("small", { class: "quiet" }, words.window)), canvas, said,
      off),
    stop() {
      stop();
      surface.stop();
    },
  };
}
