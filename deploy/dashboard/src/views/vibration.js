// Vibration as standards measure it: peak velocity over frequency with the limit's curve, the levels of the last day, and the
// natural modes of the last month. Live, and from what the station has stored.

import { newSurface, plot, themeColors } from "../canvas.js";
import { axisLegend, h, setText } from "../dom.js";
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

defineView("#/station/:id/vibration", {
  title: ({ id }) => `${id}: ${words.title}`,
  mount(main, { id }) {
    const view = new VibrationView(main, id);
    return () => view.stop();
  },
});

// "din4150-3:dwellings:foundation" as "DIN 4150-3: dwellings, foundation"; what the page does not know stays as it is.
function limitName(name) {
  const [table, line = "", place = ""] = name.split(":");
  const rest = [line, place].filter(Boolean).map((one) => words.lines[one] ?? one.replaceAll("-", " ")).join(", ");
  const known = words.tables[table];
  return known ? `${known}${rest && `: ${rest}`}` : name;
}

const marks = (low, high, y) => scales.decades(low, high).map((value) => ({ at: y(value), label: units.digits(value, 1) }));
const boxOf = (width, height) => ({ left: 66, top: 10, right: width - 22, bottom: height - 26 });
const card = (title, canvas, ...more) => h("section", { class: "card" }, h("div", { class: "card-head" }, h("h2", {}, title), axisLegend()),
  canvas, more);
const time = (value) => (Number.isFinite(value) ? value : Date.now());

// Decades around what there is and the limit.
function rangeOf({ intervals, curve }) {
  const peaks = intervals.flatMap((one) => vibration.axes.map((axis) => one[axis].ppv)).filter((ppv) => ppv > 0);
  const all = [...peaks, ...(curve?.points.map((one) => one.value) ?? [])];
  if (all.length === 0) return [0.01, 100];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  return [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high) + 0.05)];
}

// Told apart without colour: a circle, a square, a triangle.
function paintPoint(context, axis, x, y, r) {
  context.beginPath();
  if (axis === "x") context.arc(x, y, r, 0, 2 * Math.PI);
  else if (axis === "y") context.rect(x - r, y - r, 2 * r, 2 * r);
  else {
    context.moveTo(x, y - r);
    context.lineTo(x + r, y + r);
    context.lineTo(x - r, y + r);
  }
  context.fill();
}

// Peak velocities over frequency, with the limit's curve.
function paintDiagram(context, width, height, found) {
  const colors = themeColors();
  const box = boxOf(width, height);
  const [low, high] = rangeOf(found);
  const [lowHz, highHz] = [0.5, Math.max(100, ...(found.curve?.points.map((one) => one.hz) ?? []))];
  const x = scales.logarithmic(lowHz, highHz, box.left, box.right);
  const y = scales.logarithmic(low, high, box.bottom, box.top);
  plot.frame(context, box, { x: { ticks: plot.hertz(lowHz, highHz, x, units.tick) }, y: { ticks: marks(low, high, y) }, unit: "mm/s" });
  plot.clip(context, box, () => {
    found.intervals.forEach((one, index) => vibration.axes.forEach((axis) => {
      const { ppv, frequency } = one[axis];
      if (!(ppv > 0) || !(frequency > 0)) return;
      const newest = index === found.intervals.length - 1;
      context.globalAlpha = newest ? 1 : 0.55;
      context.fillStyle = colors[`axis-${axis}`];
      paintPoint(context, axis, x(frequency), y(ppv), newest ? 5 : 3);
    }));
    // Smaller ones that are nearer to a limit than the largest.
    found.intervals.forEach((one, index) => one.cycles.forEach(({ axis, ppv, frequency }) => {
      const newest = index === found.intervals.length - 1;
      context.globalAlpha = newest ? 1 : 0.55;
      context.fillStyle = colors[`axis-${axis}`];
      paintPoint(context, axis, x(frequency), y(ppv), newest ? 3.5 : 2);
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

// The peak of each interval of the day before `end`.
function paintLevels(context, width, height, found, end) {
  const colors = themeColors();
  const box = boxOf(width, height);
  const [low, high] = rangeOf(found);
  const x = (at) => box.right - ((end - at) / day) * (box.right - box.left);
  const y = scales.logarithmic(low, high, box.bottom, box.top);
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

// Natural frequencies of the month before `end`.
function paintModes(context, width, height, periods, end) {
  const colors = themeColors();
  const box = boxOf(width, height);
  const all = periods.flatMap((one) => one.modes.map((mode) => ({ ...mode, start: one.start })));
  const top = all.reduce((most, mode) => Math.max(most, mode.hz), 1) * 1.2;
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
    for (const stretch of vibration.stretches(periods)) {
      context.beginPath();
      for (const one of stretch) context.lineTo(x(one.start), y(one.hz));
      context.stroke();
    }
    for (const mode of all) context.fillRect(x(mode.start) - 2, y(mode.hz) - 2, 4, 4);
  });
}

class VibrationView {
  found = { intervals: [], periods: [], curve: null };
  #isClosed = false;
  #isAnswered = false;
  #timer = null;
  #status = h("p", { class: "quiet", role: "status" });
  #limit = h("p", { class: "quiet small-note" });
  #modes = h("p", { "aria-live": "polite" });

  constructor(main, id) {
    this.id = id;
    main.className = "station vibration";
    const { found } = this;
    this.head = stationHead(id, "vibration");
    const canvases = [["diagram", words.diagramLabel], ["levels", words.levelsLabel], ["modes", words.modesLabel]].map(([name, label]) =>
      h("canvas", { class: `vibration-${name}`, role: "img", "aria-label": label }));
    this.modesCanvas = canvases[2];
    this.surfaces = [
      newSurface(canvases[0], (context, width, height) => paintDiagram(context, width, height, found)),
      newSurface(canvases[1], (context, width, height) => paintLevels(context, width, height, found, time(this.#newest))),
      newSurface(canvases[2], (context, width, height) => paintModes(context, width, height, found.periods,
        time(found.periods.at(-1)?.start ?? this.#newest) + 3600000)),
    ];
    this.diagrams = [card(words.diagram, canvases[0], this.#limit), card(words.levels, canvases[1])];
    main.append(this.head.element, this.#status, ...this.diagrams,
      h("section", { class: "card" }, h("h2", {}, words.modes), canvases[2], this.#modes));
    this.stops = this.#listen();
    Seismote.vibration = { found: () => found };
    this.show();
    this.ask();
  }

  #listen() {
    const { id, found } = this;
    return [
      link.subscribe(`${link.root}/${id}/data/vibration`, (_, bytes) => {
        const one = vibration.interval(json(bytes));
        if (!one) return;
        found.intervals = vibration.join(found.intervals, [one], one.start - day);
        this.show();
      }),
      link.subscribe(`${link.root}/${id}/data/modes`, (_, bytes) => {
        const one = vibration.period(json(bytes));
        if (!one) return;
        found.periods = vibration.join(found.periods, [one], one.start - month);
        this.show();
      }),
      link.on("state", (state) => state === "online" && this.ask()),
      fleet.on("station", (which, what) => {
        if (which !== id) return;
        if (what === "config") this.show();
        // A station that was not there when it was asked.
        if (what === "info" && !this.#isAnswered) this.ask();
      }),
      preferences.on(() => this.show()),
    ];
  }

  // When the newest is of which anything is known: of a recording it is not now.
  get #newest() {
    return Math.max(this.found.intervals.at(-1)?.start ?? -Infinity, fleet.time(fleet.stations.get(this.id)) || -Infinity);
  }

  show() {
    const { intervals, periods, curve } = this.found;
    for (const surface of this.surfaces) surface.redraw();
    setText(this.#limit, curve ? words.limit(limitName(curve.name)) : words.noLimit);
    const last = periods.at(-1);
    const named = (mode) => words.mode(units.quantity(mode.hz, "Hz"), units.digits(100 * mode.damping, 2));
    setText(this.#modes, !last ? words.noModes : last.modes.length === 0 ? words.none(format.moment(last.start))
      : words.modesAre(format.moment(last.start), last.modes.map(named).join(", ")));
    this.modesCanvas.hidden = periods.length === 0;
    // Empty diagrams say nothing of a station that measures none.
    const isOff = intervals.length === 0 && fleet.stations.get(this.id)?.settings?.vibration?.enabled === false;
    for (const one of this.diagrams) one.hidden = isOff;
    const newest = intervals.at(-1);
    if (isOff) setText(this.#status, words.off);
    else if (newest) setText(this.#status, words.newest(format.moment(newest.start), units.duration(newest.length)));
  }

  async ask() {
    const { id, found } = this;
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    if (link.state !== "online" || fleet.stations.get(id)?.online === false || fleet.knows(id, "history") === false) {
      this.#timer = setTimeout(() => this.ask(), retry);
      return;
    }
    if (found.intervals.length === 0) setText(this.#status, words.asking);
    const end = time(this.#newest) + 3600000;
    try {
      for (const kind of ["vibration", "modes"]) await this.#askFor(kind, end);
      if (this.#isClosed) return;
      if (found.intervals.length === 0) setText(this.#status, words.nothing);
      this.show();
    } catch (error) {
      if (this.#isClosed) return;
      setText(this.#status, words.failed(error.message));
      if (found.intervals.length === 0) this.show();
      this.#timer = setTimeout(() => this.ask(), retry);
    }
  }

  // What the station has stored, in as many replies as it takes.
  async #askFor(kind, end) {
    const { id, found } = this;
    const begin = end - (kind === "vibration" ? day : month);
    const stamp = (at) => new Date(at).toISOString();
    let from = begin;
    for (let pages = 0; pages < 20 && Number.isFinite(from) && !this.#isClosed; pages++) {
      const { result } = await link.command(id, "history", { kind, from: stamp(from), to: stamp(end) }, { timeoutMs: 20000 });
      if (this.#isClosed) return;
      this.#isAnswered = true;
      if (kind === "vibration") {
        found.intervals = vibration.join(found.intervals, vibration.intervals(result), begin - 3600000);
        found.curve = vibration.curve(result);
      } else found.periods = vibration.join(found.periods, vibration.periods(result), begin);
      const next = units.milliseconds(result?.next);
      from = next > from ? next : NaN;
    }
  }

  stop() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const stop of this.stops) stop();
    for (const surface of this.surfaces) surface.stop();
    this.head.stop();
    Seismote.vibration = null;
  }
}
