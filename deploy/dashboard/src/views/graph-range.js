// How far the axes of the live graphs reach, and where their middles are.

import { scales } from "../pure/scales.js";
import { Traces } from "../pure/ring.js";

const { axes, signals } = Traces;
const least = 1e-6;

// The range of an axis, which grows at once, shrinks only after a while, and moves there smoothly.
export class Range {
  constructor() {
    this.goal = this.shown = 0.001;
    this.lowSince = null;
    this.begun = false;
  }

  // `factor`: how many of the shown unit are 1 m/s²; the range is round in that unit.
  want(largest, now, factor) {
    const goal = scales.endAbove(Math.max(largest * 1.05, least) * factor) / factor;
    if (!this.begun && largest > 0) {
      this.goal = this.shown = goal;
      this.begun = true;
    } else if (goal > this.goal) {
      this.goal = goal;
      this.lowSince = null;
    } else if (goal < this.goal) {
      this.lowSince ??= now;
      if (now - this.lowSince > 2.5) {
        this.goal = goal;
        this.lowSince = null;
      }
    } else this.lowSince = null;
  }

  step(seconds) {
    const part = Math.min(1, seconds * 7);
    this.shown *= (this.goal / this.shown) ** part;
    if (Math.abs(this.goal / this.shown - 1) < 0.01) this.shown = this.goal;
    return this.shown;
  }
}

// The ranges of the three axes and the means of their raw signals, which are shown around 0.
export class Ranges {
  of = Object.fromEntries(axes.map((axis) => [axis, new Range()]));
  means = Object.fromEntries(axes.map((axis) => [axis, 0]));
  #out = new Float64Array(2);

  // What stands for a signal: raw may be filtered by the viewer, and then has no mean.
  constructor(viewer) {
    this.viewer = viewer;
  }

  middle(axis, signal) {
    return signal === "raw" && !this.viewer.band ? this.means[axis] : 0;
  }

  // Looks at what is shown: the slots `to - count` to `to`, of signals that are not hidden; `isSame`: one range for all axes.
  measure(source, to, count, { hidden, isSame, now, factor }) {
    const from = Math.max(source.first, Math.floor(to - count));
    const largest = axes.map((axis) => {
      const mean = source.mean(axis, "raw", from, to, Math.max(1, Math.floor((to - from) / 512)));
      this.means[axis] = Number.isNaN(mean) ? middleOfLevels(source, axis, to - count, to) : mean;
      return this.#largest(source, axis, { from, to, begin: to - count, hidden });
    });
    const all = Math.max(...largest);
    axes.forEach((axis, i) => this.of[axis].want(isSame ? all : largest[i], now, factor));
  }

  #largest(source, axis, { from, to, begin, hidden }) {
    const out = this.#out;
    const { band } = this.viewer;
    let most = 0;
    if (!hidden.has("raw") && !band) {
      source.eachLevel(axis, begin, to, (slot, slots, low, high) => {
        most = Math.max(most, high - this.means[axis], this.means[axis] - low);
      });
    }
    for (const signal of signals) {
      if (signal === "triggered" || hidden.has(signal)) continue;
      if (signal === "raw" && band) this.viewer.extremes(axis, from, to, out);
      else source.extremes(axis, signal, from, to, out);
      const middle = this.middle(axis, signal);
      const size = Math.max(Math.abs(out[0] - middle), Math.abs(out[1] - middle));
      if (size > most) most = size;
    }
    return most;
  }
}

function middleOfLevels(source, axis, from, to) {
  let sum = 0;
  let count = 0;
  source.eachLevel(axis, from, to, (slot, slots, low, high) => {
    sum += (low + high) / 2;
    count++;
  });
  return count ? sum / count : 0;
}
