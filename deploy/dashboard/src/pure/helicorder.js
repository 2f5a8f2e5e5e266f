// A day of levels as lines, one below the other.

import { units } from "./units.js";

// Columns of one axis, of any steps: put() replies, the finer over the coarser.
class Day {
  constructor() {
    this.layers = [];
  }

  // A reply to `history` as wire.past reads it; false when it is empty.
  put(past, axis) {
    const columns = past?.[axis];
    const from = units.milliseconds(past?.from) / 1000;
    const count = Math.min(columns?.min?.length ?? 0, columns?.max?.length ?? 0);
    if (count === 0 || !(past.step_s > 0) || !Number.isFinite(from)) return false;
    this.layers.push({ from, step: past.step_s, count, min: columns.min, max: columns.max });
    this.layers.sort((a, b) => a.step - b.step);
    return columns.min.some((value) => value === value);
  }

  get step() {
    return this.layers.length > 0 ? this.layers[this.layers.length - 1].step : NaN;
  }

  // Smallest and largest of [from, to) seconds into out; NaN where nothing is known.
  extremes(from, to, out) {
    out[0] = out[1] = NaN;
    for (const { from: start, step, count, min, max } of this.layers) {
      let low = Infinity;
      let high = -Infinity;
      const last = Math.min(count, Math.ceil((to - start) / step));
      for (let i = Math.max(0, Math.floor((from - start) / step)); i < last; i++) {
        if (min[i] < low) low = min[i];
        if (max[i] > high) high = max[i];
      }
      if (low <= high) {
        out[0] = low;
        out[1] = high;
        return out;
      }
    }
    return out;
  }

  // The middle of what a line shows, and how far from it most of its columns reach: { middle, reach }.
  line(from, to, step) {
    const out = [0, 0];
    let sum = 0;
    const found = [];
    for (let at = from; at < to; at += step) {
      this.extremes(at, at + step, out);
      if (out[0] !== out[0]) continue;
      sum += (out[0] + out[1]) / 2;
      found.push([out[0], out[1]]);
    }
    if (found.length === 0) return { middle: NaN, reach: NaN };
    const middle = sum / found.length;
    const sizes = found.map(([low, high]) => Math.max(high - middle, middle - low)).sort((a, b) => a - b);
    return { middle, reach: sizes[Math.floor(sizes.length * 0.9)] };
  }
}

// The day that "2026-10-25" names in the reader's zone: { begin, end } in seconds. Where clocks change it has 23 or 25 hours.
function dayOf(name, utc) {
  const [year, month, day] = name.split("-").map(Number);
  const at = (by) => (utc ? Date.UTC(year, month - 1, day + by) : new Date(year, month - 1, day + by).getTime()) / 1000;
  return { begin: at(0), end: at(1) };
}

// How many lines of so many seconds such a day has; the last one may be shorter.
const linesOf = ({ begin, end }, seconds) => Math.ceil((end - begin) / seconds - 1e-9);

// What is asked of a station for a day: steps and spans (seconds), at most `most` steps each: the whole day by minutes, and
// what its ring may still have by finer ones. With `known`, what has come since that time (a minute is whole at its end).
function questions({ begin, end: last }, now, known = NaN, most = 5000) {
  const end = Math.min(last, now);
  const first = Number.isFinite(known) ? Math.max(begin, known - 120) : begin;
  const list = [{ from: first, to: end, step: 60 }];
  const recent = Math.max(first, now - 7200);
  if (recent < end) list.push({ from: recent, to: end, step: (end - recent) / 2 <= most ? 2 : 10 });
  return list;
}

export const helicorder = { Day, questions, dayOf, linesOf };
