// What a station has kept, put before its live traces and into their holes.

import { Traces } from "./ring.js";
import { units } from "./units.js";

const { axes } = Traces;

// Levels, of the reply to `history`: the smallest and the largest sample of each step, which a graph draws as the band
// between them. Between the two nothing is known, so that they never become samples. (Their RMS is that of unfiltered
// samples, unlike the live one.)
function levels(traces, past) {
  const from = units.milliseconds(past.from) / 1000;
  if (!(past.step_s > 0) || !Number.isFinite(from) || traces.end === 0) return;
  for (const axis of axes) {
    const { min, max } = past[axis] ?? {};
    if (min?.length > 0 && max?.length === min.length) traces.addLevels(axis, { from, step: past.step_s, min, max });
  }
}

// Two replies to `history`, the later one after the earlier.
function join(a, b) {
  if (!a || !b) return a ?? b ?? null;
  const joined = { ...a };
  for (const axis of axes) {
    joined[axis] = Object.fromEntries(["min", "max", "rms"].map((name) =>
      [name, [...(a[axis]?.[name] ?? []), ...(b[axis]?.[name] ?? [])]]));
  }
  return joined;
}

// Samples out of the ring: the mean of those that fall into a slot. Returns the first slot that they fill.
function samples(traces, shape) {
  if (traces.end === 0) return 0;
  const start = Number(shape.start / 1000n) / 1e6;
  const first = Math.ceil(traces.slot(start));
  const last = Math.min(traces.end, Math.ceil(traces.slot(start + shape.count / shape.rate)));
  const ratio = shape.rate / traces.rate;
  // The middle of slot 0's share of samples.
  const offset = (traces.time(0) - start) * shape.rate;
  for (const axis of axes) {
    const values = shape[axis];
    traces.fill(axis, "raw", first, last, (slot) => {
      const middle = offset + slot * ratio;
      const [from, to] = [Math.max(0, Math.round(middle - ratio / 2)),
        Math.min(shape.count, Math.max(Math.round(middle - ratio / 2) + 1, Math.round(middle + ratio / 2)))];
      let sum = 0;
      for (let i = from; i < to; i++) sum += values[i];
      return to > from ? sum / (to - from) : NaN;
    });
  }
  return first;
}

export const pastLevels = { levels, join, samples };
