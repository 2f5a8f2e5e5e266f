// Levels of a station over an hour, a day, a week, a month or a year: how far they went, and their RMS.

import { units } from "./units.js";

const axes = ["x", "y", "z"];
const day = 86400;
// How long a station keeps the levels of its minutes (seconds).
const reach = 31 * day;
// What is kept in this browser beyond that: steps of two hours, twelve a day.
const keptStep = 7200;

// Each span: what one step is (seconds; those of whole minutes are made of the minutes that a station keeps), and the span
// that a place in it opens.
const spans = {
  __proto__: null,
  hour: { step: 2, finer: null }, day: { step: 60, finer: "hour" }, week: { step: 300, finer: "day" }, month: { step: 1800, finer: "day" },
  year: { step: keptStep, finer: "month" },
};

// The span around a time (milliseconds since 1970) in the reader's zone, `by` spans later: { begin, end } in seconds. Weeks
// begin on Monday.
function around(span, time, utc, by = 0) {
  const date = new Date(time);
  const [year, month, dayOfMonth] = utc ? [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
    : [date.getFullYear(), date.getMonth(), date.getDate()];
  const at = (y, m, d) => (utc ? Date.UTC(y, m, d) : new Date(y, m, d).getTime()) / 1000;
  if (span === "hour") {
    // Counted from the time itself: an hour of a clock that is set back is there twice, under one name.
    const begin = Math.floor(time / 1000) - (utc ? date.getUTCMinutes() : date.getMinutes()) * 60 - date.getUTCSeconds() + by * 3600;
    return { begin, end: begin + 3600 };
  }
  const weekday = ((utc ? date.getUTCDay() : date.getDay()) + 6) % 7;
  const edges = {
    __proto__: null,
    day: (n) => at(year, month, dayOfMonth + n), week: (n) => at(year, month, dayOfMonth - weekday + 7 * n),
      month: (n) => at(year, month + n, 1), year: (n) => at(year + n, 0, 1),
  };
  return { begin: edges[span](by), end: edges[span](by + 1) };
}

// What a station is asked for a span: { from, to, step } in seconds; null where it keeps nothing of it any more. `now` is its present.
function question(span, { begin, end }, now) {
  const { step } = spans[span];
  const from = Math.max(begin, Math.floor((now - reach) / step) * step);
  const to = Math.min(end, now);
  return to > from ? { from, to, step } : null;
}

// Lines of the time axis: { at (seconds), label } of a span, as many as there is room for.
function ticks(span, { begin, end }, utc, room) {
  const list = [];
  const put = (at, label) => at >= begin && at <= end && list.push({ at, label });
  const clock = (at) => units.time(at * 1000, utc).slice(0, 5);
  const date = (at) => units.date(at * 1000, utc);
  if (span === "hour" || span === "day") {
    const every = (span === "hour" ? [300, 600, 900, 1800] : [3600, 7200, 10800, 21600]).find((step) => (end - begin) / step <= room)
      ?? end - begin;
    for (let at = begin; at <= end; at += every) put(at, clock(at));
  } else if (span === "year") {
    const every = [1, 2, 3, 6].find((step) => 12 / step <= room) ?? 12;
    for (let n = 0; n < 12; n += every) {
      const { begin: at } = around("month", (begin + 15 * day) * 1000, utc, n);
      put(at, date(at).slice(0, 7));
    }
  } else {
    const days = Math.round((end - begin) / day);
    const every = [1, 2, 5, 10].find((step) => days / step <= room) ?? days;
    for (let n = 0; n < days; n += every) {
      const { begin: at } = around("day", (begin + day / 2) * 1000, utc, n);
      put(at, date(at).slice(5));
    }
  }
  return list;
}

// Columns of one axis from replies to `history` as wire.past reads them; the finer before the coarser.
class Levels {
  #layers = [];

  // False when there is nothing in it.
  put(past, axis) {
    const { min, max, rms } = past?.[axis] ?? {};
    const from = units.milliseconds(past?.from) / 1000;
    const count = Math.min(min?.length ?? 0, max?.length ?? 0);
    if (count === 0 || !(past.step_s > 0) || !Number.isFinite(from)) return false;
    this.#layers.push({ from, step: past.step_s, count, min, max, rms });
    this.#layers.sort((a, b) => a.step - b.step);
    return min.some((value, i) => value <= max[i]);
  }

  // Of the steps that begin before `to` and end after `from` (seconds), of the finest length of which there are any: { swing:
  // half of the largest difference within a step, rms: of all of them, at: where that swing was, step }; null where nothing is known.
  over(from, to) {
    let [swing, at, square, of, found] = [-1, NaN, 0, 0, NaN];
    for (const { from: start, step, count, min, max, rms } of this.#layers) {
      if (step > found) break;
      const last = Math.min(count, Math.ceil((to - start) / step));
      for (let i = Math.max(0, Math.floor((from - start) / step)); i < last; i++) {
        const half = (max[i] - min[i]) / 2;
        if (!(half >= 0)) continue;
        found = step;
        if (half > swing) [swing, at] = [half, start + i * step];
        if (rms?.[i] >= 0) {
          square += rms[i] ** 2;
          of += 1;
        }
      }
    }
    return swing >= 0 ? { swing, at, rms: of > 0 ? Math.sqrt(square / of) : NaN, step: found } : null;
  }

  // What is between two times: { low, high: the ends for a logarithmic axis, at: where the largest swing was, rms, step }; null
  // where nothing is known.
  range(from, to, parts = 600) {
    let [low, high, at, step, square, of] = [Infinity, 0, NaN, NaN, 0, 0];
    for (let i = 0; i < parts; i++) {
      const one = this.over(from + ((to - from) * i) / parts, from + ((to - from) * (i + 1)) / parts);
      if (!one) continue;
      step = step > one.step ? step : one.step;
      if (!(high > one.swing)) [high, at] = [one.swing, one.at];
      for (const value of [one.swing, one.rms]) if (value > 0) low = Math.min(low, value);
      if (one.rms >= 0) {
        square += one.rms ** 2;
        of += 1;
      }
    }
    return Number.isFinite(at) ? { low: Math.max(Math.min(low, high), high / 1e6), high, at, step,
      rms: of > 0 ? Math.sqrt(square / of) : NaN } : null;
  }
}

// What a browser keeps of a reply in steps of two hours: for each day (since 1970, UTC) that it has something of, a reply of
// twelve steps. Values that were kept before stay where the new ones have none.
function days(past, before = new Map()) {
  const start = units.milliseconds(past?.from) / 1000;
  const made = new Map();
  if (past?.step_s !== keptStep || !Number.isFinite(start) || start % keptStep !== 0) return made;
  const count = Math.max(0, ...axes.map((axis) => past[axis]?.min?.length ?? 0));
  for (let i = 0; i < count; i++) {
    const at = start + i * keptStep;
    const which = Math.floor(at / day);
    const slot = (at - which * day) / keptStep;
    if (!axes.some((axis) => Number.isFinite(past[axis]?.min?.[i]))) continue;
    if (!made.has(which)) {
      const old = before.get(which);
      made.set(which, { from: new Date(which * day * 1000).toISOString(), step_s: keptStep,
        ...Object.fromEntries(axes.map((axis) =>
          [axis, Object.fromEntries(["min", "max", "rms"].map((name) =>
          [name, Array.from({ length: day / keptStep }, (_, n) => old?.[axis]?.[name]?.[n] ?? NaN)]))])) });
    }
    for (const axis of axes) for (const name of ["min", "max",
      "rms"]) if (Number.isFinite(past[axis]?.[name]?.[i])) made.get(which)[axis][name][slot] = past[axis][name][i];
  }
  return made;
}

// Rows of a file: the columns of all axes, one row for each step of [begin, end) that a reply has.
function rows(replies, { begin, end }) {
  const list = [["time_utc", "step_s", ...axes.flatMap((axis) => ["min", "max", "rms"].map((name) => `${axis}_${name}_m_s2`))]];
  for (const past of replies) {
    const start = units.milliseconds(past.from) / 1000;
    const count = Math.max(0, ...axes.map((axis) => past[axis]?.min?.length ?? 0));
    for (let i = 0; i < count; i++) {
      const at = start + i * past.step_s;
      if (at < begin || at >= end || !axes.some((axis) => Number.isFinite(past[axis]?.min?.[i]))) continue;
      list.push([new Date(at * 1000).toISOString(), past.step_s, ...axes.flatMap((axis) =>
        ["min", "max", "rms"].map((name) => past[axis]?.[name]?.[i] ?? NaN))]);
    }
  }
  return list;
}

export const levels = { spans, around, question, ticks, Levels, days, rows, keptStep, reach };
