// Vibration as standards measure it: peak velocity over frequency with the limit's curve, the levels of the last day, and the
// natural modes of the last month. Live, and from what the station has stored.

import { newSurface, plot, themeColors } from "../canvas.js";
import { h, setText } from "../dom.js";
import { fleet } from "../fleet.js";
import { json, link } from "../link.js";
import { Seismote } from "../page.js";
import { format, preferences } from "../preferences.js";
import { scales } from "../pure/scales.js";
import { units } from "../pure/units.js";
import { vibration } from "../pure/vibration.js";
import { defineView } from "../router.js";
import { text } from "../text.js";
import { stationHead } from "./frame.js";

const words = text.vibration;
const day = 86400000;
const month = 30 * day;
const retry = 15000;
const ticksOfHertz = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

defineView("#/station/:id/vibration", { title: ({ id }) => `${id}: ${words.title}`, mount: (main, { id }) => mount(main, id) });

// "din4150-3:dwellings:foundation" as "DIN 4150-3: dwellings, foundation"; what the page does not know stays as it is.
function limitName(name) {
  const [table, line = "", place = ""] = name.split(":");
  const rest = [line, place].filter(Boolean).map((one) => words.lines[one] ?? one.replaceAll("-", " ")).join(", ");
  const known = words.tables[table];
  return known ? `${known}${rest && `: ${rest}`}` : name;
}

const logarithmic = (low, high, from, to) => (value) =>
  from + ((to - from) * Math.log(Math.min(high, Math.max(low, value)) / low)) / Math.log(high / low);
const marks = (low, high, y) => scales.decades(low, high).map((value) => ({ at: y(value), label: units.digits(value, 1) }));
const boxOf = (width, height) => ({ left: 66, top: 10, right: width - 22, bottom: height - 26 });
const legend = () => h("div", { class: "axis-legend" }, vibration.axes.map((axis) =>
  h("span", { class: `axis-${axis}` }, h("span", { class: "swatch", "aria-hidden": "true" }), axis)));
const card = (title, canvas, ...more) => h("section", { class: "card" }, h("div", { class: "card-head" }, h("h2", {}, title), legend()),
  canvas, more);
const time = (value) => (Number.isFinite(value) ? value : Date.now());

function mount(main, id) {
  main.className = "station vibration";
  const found = { intervals: [], periods: [], curve: null };
  const head = stationHead(id, "vibration");
  const status = h("p", { class: "quiet", role: "status" });
  const limit = h("p", { class: "quiet small-note" });
  const modesText = h("p", { "aria-live": "polite" });
  const canvases = [["diagram", words.diagramLabel], ["levels", words.levelsLabel], ["modes", words.modesLabel]].map(([name, label]) =>
    h("canvas", { class: `vibration-${name}`, role: "img", "aria-label": label }));
  const surfaces = [paintDiagram, paintLevels, paintModes].map((paint, k) => newSurface(canvases[k], paint));
  const diagrams = [card(words.diagram, canvases[0], limit), card(words.levels, canvases[1])];
  main.append(head.element, status, ...diagrams,
    h("section", { class: "card" }, h("h2", {}, words.modes), canvases[2], modesText));

  const peaks = () => found.intervals.flatMap((one) => vibration.axes.map((axis) => one[axis].ppv)).filter((ppv) => ppv > 0);
  // Decades around what there is and the limit.
  function range() {
    const all = [...peaks(), ...(found.curve?.points.map((one) => one.value) ?? [])];
    if (all.length === 0) return [0.01, 100];
    const [low, high] = [Math.min(...all), Math.max(...all)];
    return [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high) + 0.05)];
  }

  function paintDiagram(context, width, height) {
    const colors = themeColors();
    const box = boxOf(width, height);
    const [low, high] = range();
    const [lowHz, highHz] = [0.5, Math.max(100, ...(found.curve?.points.map((one) => one.hz) ?? []))];
    const x = logarithmic(lowHz, highHz, box.left, box.right);
    const y = logarithmic(low, high, box.bottom, box.top);
    const hertz = ticksOfHertz.filter((hz) => hz >= lowHz && hz <= highHz);
    plot.frame(context, box, { x: { ticks: hertz.map((hz, i) =>
      ({ at: x(hz), label: `${units.tick(hz)}${i === hertz.length - 1 ? " Hz" : ""}` })) }, y: { ticks: marks(low, high, y) },
      unit: "mm/s" });
    plot.clip(context, box, () => {
      found.intervals.forEach((one, index) => vibration.axes.forEach((axis) => {
        const { ppv, frequency } = one[axis];
        if (!(ppv > 0) || !(frequency > 0)) return;
        const newest = index === found.intervals.length - 1;
        context.globalAlpha = newest ? 1 : 0.55;
        context.fillStyle = colors[`axis-${axis}`];
        context.beginPath();
        // Told apart without colour: a circle, a square, a triangle.
        const [cx, cy, r] = [x(frequency), y(ppv), newest ? 5 : 3];
        if (axis === "x") context.arc(cx, cy, r, 0, 2 * Math.PI);
        else if (axis === "y") context.rect(cx - r, cy - r, 2 * r, 2 * r);
        else {
          context.moveTo(cx, cy - r);
          context.lineTo(cx + r, cy + r);
          context.lineTo(cx - r, cy + r);
        }
        context.fill();
      }));
      context.globalAlpha = 1;
      if (!found.curve) return;
      context.strokeStyle = colors.ink;
      context.lineWidth = 2;
      context.beginPath();
      for (const { hz, value } of found.curve.points) context.lineTo(x(hz), y(value));
      context.stroke();
    });
  }

  // When the newest is of which anything is known: of a recording it is not now.
  const newest = () => Math.max(found.intervals.at(-1)?.start ?? -Infinity, fleet.time(fleet.stations.get(id)) || -Infinity);

  function paintLevels(context, width, height) {
    const colors = themeColors();
    const box = boxOf(width, height);
    const [low, high] = range();
    const end = time(newest());
    const x = (at) => box.right - ((end - at) / day) * (box.right - box.left);
    const y = logarithmic(low, high, box.bottom, box.top);
    const apart = 3600000 * (width < 500 ? 6 : 3);
    const hours = [...Array(9).keys()].map((k) => (Math.floor(end / apart) - k) * apart).filter((at) => x(at) >= box.left);
    plot.frame(context, box, { x: { ticks: hours.map((at) => ({ at: x(at), label: units.time(at, format.utc()).slice(0, 5) })),
      name: format.zones(end - day, end) }, y: { ticks: marks(low, high, y) }, unit: "mm/s" });
    plot.clip(context, box, () => vibration.axes.forEach((axis, k) => {
      context.strokeStyle = colors[`axis-${axis}`];
      context.setLineDash([[], [7, 3], [2, 3]][k]);
      context.lineWidth = 1.4;
      context.beginPath();
      let before = null;
      for (const one of found.intervals) {
        if (!(one[axis].ppv > 0)) continue;
        const [from, to, at] = [x(one.start), x(one.start + 1000 * (one.length || 0)), y(one[axis].ppv)];
        if (before === null || one.start - before > 1500 * (one.length || 60)) context.moveTo(from, at);
        context.lineTo(from, at);
        context.lineTo(to, at);
        before = one.start;
      }
      context.stroke();
      context.setLineDash([]);
    }));
  }

  function paintModes(context, width, height) {
    const colors = themeColors();
    const box = boxOf(width, height);
    const all = found.periods.flatMap((one) => one.modes.map((mode) => ({ ...mode, start: one.start })));
    const top = all.reduce((most, mode) => Math.max(most, mode.hz), 1) * 1.2;
    const end = time(found.periods.at(-1)?.start ?? newest()) + 3600000;
    const x = (at) => box.right - ((end - at) / month) * (box.right - box.left);
    const y = (hz) => box.bottom - (hz / top) * (box.bottom - box.top);
    const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20].find((one) => top / one <= 8) ?? 50;
    const weeks = [0, 7, 14, 21, 28].map((k) => end - k * day);
    plot.frame(context, box, { x: { ticks: weeks.map((at) => ({ at: x(at), label: units.date(at, format.utc()).slice(5) })),
      name: format.zones(end - month, end) },
      y: { ticks: [...Array(9).keys()].map((k) => k * step).filter((hz) => hz <= top).map((hz) =>
      ({ at: y(hz), label: units.tick(hz) })) }, unit: "Hz" });
    plot.clip(context, box, () => {
      context.strokeStyle = context.fillStyle = colors.ink;
      context.lineWidth = 1;
      for (const stretch of vibration.stretches(found.periods)) {
        context.beginPath();
        for (const one of stretch) context.lineTo(x(one.start), y(one.hz));
        context.stroke();
      }
      for (const mode of all) context.fillRect(x(mode.start) - 2, y(mode.hz) - 2, 4, 4);
    });
  }

  function shown() {
    for (const surface of surfaces) surface.redraw();
    setText(limit, found.curve ? words.limit(limitName(found.curve.name)) : words.noLimit);
    const last = found.periods.at(-1);
    const named = (mode) => words.mode(units.quantity(mode.hz, "Hz"), units.digits(100 * mode.damping, 2));
    setText(modesText, !last ? words.noModes : last.modes.length === 0 ? words.none(format.moment(last.start))
      : words.modesAre(format.moment(last.start), last.modes.map(named).join(", ")));
    canvases[2].hidden = found.periods.length === 0;
    const asked = fleet.stations.get(id)?.settings?.vibration;
    // Empty diagrams say nothing of a station that measures none.
    for (const one of diagrams) one.hidden = found.intervals.length === 0 && asked?.enabled === false;
    if (found.intervals.length === 0 && asked?.enabled === false) setText(status, words.off);
    else if (found.intervals.length > 0) setText(status, words.newest(format.moment(found.intervals.at(-1).start),
      units.duration(found.intervals.at(-1).length)));
  }

  let closed = false;
  let isAnswered = false;
  let timer = null;
  async function ask() {
    clearTimeout(timer);
    if (closed) return;
    if (link.state !== "online" || fleet.stations.get(id)?.online === false || fleet.knows(id, "history") === false) {
      timer = setTimeout(ask, retry);
      return;
    }
    if (found.intervals.length === 0) setText(status, words.asking);
    const end = time(newest()) + 3600000;
    const stamp = (at) => new Date(at).toISOString();
    try {
      for (const kind of ["vibration", "modes"]) {
        const reach = kind === "vibration" ? day : month;
        let from = end - reach;
        for (let pages = 0; pages < 20 && Number.isFinite(from); pages++) {
          const { result } = await link.command(id, "history", { kind, from: stamp(from), to: stamp(end) }, { timeoutMs: 20000 });
          if (closed) return;
          isAnswered = true;
          if (kind === "vibration") {
            found.intervals = vibration.join(found.intervals, vibration.intervals(result), end - reach - 3600000);
            found.curve = vibration.curve(result);
          } else found.periods = vibration.join(found.periods, vibration.periods(result), end - reach);
          const next = units.milliseconds(result?.next);
          from = next > from ? next : NaN;
        }
      }
      if (found.intervals.length === 0) setText(status, words.nothing);
      shown();
    } catch (error) {
      if (closed) return;
      setText(status, words.failed(error.message));
      if (found.intervals.length === 0) shown();
      timer = setTimeout(ask, retry);
    }
  }

  const stops = [
    link.subscribe(`${link.root}/${id}/data/vibration`, (_, bytes) => {
      const one = vibration.interval(json(bytes));
      if (!one) return;
      found.intervals = vibration.join(found.intervals, [one], one.start - day);
      shown();
    }),
    link.subscribe(`${link.root}/${id}/data/modes`, (_, bytes) => {
      const one = vibration.period(json(bytes));
      if (!one) return;
      found.periods = vibration.join(found.periods, [one], one.start - month);
      shown();
    }),
    link.on("state", (state) => state === "online" && ask()),
    fleet.on("station", (which, what) => {
      if (which !== id) return;
      if (what === "config") shown();
      // A station that was not there when it was asked.
      if (what === "info" && !isAnswered) ask();
    }),
    preferences.on(shown),
  ];
  Seismote.vibration = { found: () => found };
  shown();
  ask();
  return () => {
    closed = true;
    clearTimeout(timer);
    for (const stop of stops) stop();
    for (const surface of surfaces) surface.stop();
    head.stop();
    Seismote.vibration = null;
  };
}
