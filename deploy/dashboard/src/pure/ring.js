// The live traces of one station: rings of samples with the smallest and largest of each sixteen beside them, so that an
// hour is drawn as fast as ten seconds.

import { units } from "./units.js";

const axes = ["x", "y", "z"];
const signals = ["raw", "filtered", "rms", "triggered"];
const bucket = 16;
const longest = 3600;
// Samples of a ring at most, whatever the rate: 12 rings of 1.6 MB.
const limit = 400000;
const mostHoles = 16;

class Ring {
  constructor(capacity) {
    this.capacity = capacity;
    this.values = new Float32Array(capacity).fill(NaN);
    this.low = new Float32Array(capacity / bucket).fill(NaN);
    this.high = new Float32Array(capacity / bucket).fill(NaN);
  }

  // The ring keeps `capacity` slots one after the other. The first sample that came live has number 0; what a station has
  // kept from before that has negative numbers.
  at(slot) {
    const at = slot % this.capacity;
    return at < 0 ? at + this.capacity : at;
  }

  put(slot, value) {
    const at = this.at(slot);
    const group = (at / bucket) | 0;
    this.values[at] = value;
    if (at % bucket === 0) this.low[group] = this.high[group] = value;
    else {
      // Comparisons with NaN are false: a bucket that began in a gap takes the first value.
      if (!(this.low[group] <= value) && value === value) this.low[group] = value;
      if (!(this.high[group] >= value) && value === value) this.high[group] = value;
    }
  }

  get(slot) {
    return this.values[this.at(slot)];
  }

  // Slots that come later than those after them: their buckets are made anew, of what is before `end`.
  fill(from, to, end, value) {
    const touched = new Set();
    for (let slot = from; slot < to; slot++) {
      const found = value(slot);
      if (found !== found) continue;
      const at = this.at(slot);
      this.values[at] = found;
      touched.add(slot - (at % bucket));
    }
    for (const first of touched) {
      const at = this.at(first);
      const some = this.values.subarray(at, at + Math.min(bucket, end - first)).filter((one) => one === one);
      this.low[at / bucket] = Math.min(...some);
      this.high[at / bucket] = Math.max(...some);
    }
  }
}

export class Traces {
  constructor() {
    // Rises whenever what was there is not to be joined to what comes.
    this.generation = 0;
    this.clear();
  }

  clear() {
    this.rate = 0;
    this.end = 0;
    this.first = 0;
    this.endTime = NaN;
    this.rings = new Map();
    // axis -> levels of raw of what did not come live: [{ from (seconds since 1970), step (seconds), min, max }]. They are no samples.
    this.levels = new Map();
    // Slots that did not come: [{ from, to, tries (how often they were asked for) }], of those that are to be asked for.
    this.holes = [];
    // From which slot on something is another one: [{ slot, kind: "restart" (of the station) or "axes" (where they point) }].
    this.marks = [];
    // Rises with all that comes later than what is after it.
    this.filled = 0;
    this.boot = null;
    this.seq = -1;
    this.arrival = null;
    this.generation = this.generation + 1;
  }

  // Takes a block of data/trace; `arrived` in seconds of any steady clock. Whether it brought anything new.
  add(block, arrived) {
    const start = units.milliseconds(block.t) / 1000;
    const { rate_hz: rate, n, boot, seq } = block;
    if (!Number.isFinite(start) || !Number.isFinite(rate) || rate < 1e-3 || rate > 1e5
      || !(Number.isInteger(n) && n > 0 && n <= 100000)) return false;
    const again = boot === this.boot && seq <= this.seq;
    const isRestarted = this.boot !== null && boot !== this.boot;
    if (again && this.end > 0 && start < this.endTime - 0.5 / rate) return false;
    if (this.end > 0) {
      const ahead = (start - this.endTime) * this.rate;
      const changed = Math.abs(rate / this.rate - 1) > 0.01;
      if (changed || ahead < -2 || ahead > this.capacity) this.clear();
      else if (ahead >= 2) this.leave(Math.round(ahead));
    }
    if (this.end === 0) this.capacity = Math.ceil(Math.min(limit, Math.max(4096, rate * longest * 1.02)) / bucket) * bucket;
    this.rate = rate;
    if (isRestarted) this.mark("restart");
    for (const axis of axes) {
      for (const signal of signals) {
        const values = block[axis]?.[signal];
        if (!values && !this.has(axis, signal)) continue;
        const ring = this.ring(axis, signal);
        for (let i = 0; i < n; i++) ring.put(this.end + i, Number.isFinite(values?.[i]) ? values[i] : NaN);
      }
    }
    this.end += n;
    this.first = Math.max(this.first, this.end - this.capacity + bucket);
    this.endTime = start + n / rate;
    this.boot = boot;
    this.seq = seq;
    this.arrival = { at: arrived, time: this.endTime, block: n / rate };
    return true;
  }

  ring(axis, signal) {
    const name = `${axis}.${signal}`;
    let ring = this.rings.get(name);
    if (!ring) {
      ring = new Ring(this.capacity);
      this.rings.set(name, ring);
    }
    return ring;
  }

  // Puts samples that a station has kept before the first live one and into holes: value(slot) for the slots [from, to), as far
  // as there is room for them. Where it is NaN, and where a sample has come live, what is there stays.
  fill(axis, signal, from, to, value) {
    if (this.end === 0) return;
    from = Math.max(Math.floor(from), this.end - this.capacity + bucket);
    const ring = this.ring(axis, signal);
    ring.fill(from, Math.min(to, this.end), this.end, (slot) => (slot >= 0 && ring.get(slot) === ring.get(slot) ? NaN : value(slot)));
    if (from < to) this.first = Math.min(this.first, from);
    this.filled++;
  }

  // Samples that never came.
  leave(count) {
    this.holes.push({ from: this.end, to: this.end + count, tries: 0 });
    if (this.holes.length > mostHoles) this.holes.shift();
    for (let i = 0; i < count; i++) for (const ring of this.rings.values()) ring.put(this.end + i, NaN);
    this.end += count;
  }

  // What comes from now on is of another run, or of axes that point elsewhere.
  mark(kind) {
    this.marks = [...this.marks, { slot: this.end, kind }].slice(-mostHoles);
  }

  // Puts levels { from, step, min, max } beside those that are there.
  addLevels(axis, levels) {
    this.levels.set(axis, [...(this.levels.get(axis) ?? []), levels].slice(-mostHoles));
  }

  // Seconds since 1970 of a slot, and the (fractional) slot of such a time.
  time(slot) {
    return this.endTime - (this.end - slot) / this.rate;
  }

  slot(time) {
    return this.end - (this.endTime - time) * this.rate;
  }

  has(axis, signal) {
    return this.rings.has(`${axis}.${signal}`);
  }

  value(axis, signal, slot) {
    const ring = this.rings.get(`${axis}.${signal}`);
    return ring && slot >= this.first && slot < this.end ? ring.get(slot) : NaN;
  }

  // Smallest and largest of the slots [from, to) into out[0] and out[1]; NaN when there are none.
  extremes(axis, signal, from, to, out) {
    out[0] = out[1] = NaN;
    const ring = this.rings.get(`${axis}.${signal}`);
    from = Math.max(this.first, from);
    to = Math.min(this.end, to);
    if (!ring || from >= to) return out;
    let low = Infinity;
    let high = -Infinity;
    for (let slot = from; slot < to;) {
      const at = ring.at(slot);
      if (at % bucket === 0 && slot + bucket <= to) {
        const group = at / bucket;
        if (ring.low[group] < low) low = ring.low[group];
        if (ring.high[group] > high) high = ring.high[group];
        slot += bucket;
      } else {
        const value = ring.values[at];
        if (value < low) low = value;
        if (value > high) high = value;
        slot++;
      }
    }
    if (low <= high) {
      out[0] = low;
      out[1] = high;
    }
    return out;
  }

  // Where levels, but not all samples, are known of the slots [from, to): fn(first slot, slots, smallest, largest) for
  // each step.
  eachLevel(axis, from, to, fn) {
    if (this.end === 0) return;
    for (const levels of this.levels.get(axis) ?? []) {
      const size = levels.step * this.rate;
      const begin = this.slot(levels.from);
      const last = Math.min(levels.min.length, Math.ceil((to - begin) / size));
      for (let i = Math.max(0, Math.floor((from - begin) / size)); i < last; i++) {
        const slot = begin + i * size;
        if (!(levels.min[i] <= levels.max[i]) || (this.isKnown(axis, Math.ceil(slot))
          && this.isKnown(axis, Math.ceil(slot + size) - 1))) continue;
        fn(slot, size, levels.min[i], levels.max[i]);
      }
    }
  }

  isKnown(axis, slot) {
    const value = this.value(axis, "raw", slot);
    return value === value;
  }

  // The slots in [from, to) at which levels and samples meet: those are extremes of all samples of the station, these are of
  // the traces' rate, so that the same ground looks calmer.
  seams(axis, from, to) {
    const runs = [];
    this.eachLevel(axis, from, to, (slot, slots) => {
      const run = runs.at(-1);
      if (run && Math.abs(slot - run.to) < 0.5) run.to = slot + slots;
      else runs.push({ from: slot, to: slot + slots });
    });
    return runs.flatMap((run) => [
      ...(this.isKnown(axis, Math.floor(run.from) - 1) ? [run.from] : []),
      ...(this.isKnown(axis, Math.ceil(run.to) + 1) ? [run.to] : []),
    ]).filter((slot) => slot >= from && slot < to);
  }

  // The first slot of which anything is known: a sample or a level.
  get oldest() {
    return Math.min(this.first, ...[...this.levels.values()].flat().map(({ from }) => this.slot(from)));
  }

  // How many of the newest samples follow each other without a gap; no more than `most`.
  unbroken(axis, signal, most) {
    let count = 0;
    for (let value; count < most && (value = this.value(axis, signal, this.end - 1 - count)) === value; ) count++;
    return count;
  }

  // Mean of the slots [from, to), of every `step`th; NaN when there are none.
  mean(axis, signal, from, to, step = 1) {
    let sum = 0;
    let count = 0;
    const ring = this.rings.get(`${axis}.${signal}`);
    if (!ring) return NaN;
    for (let slot = Math.max(this.first, from); slot < Math.min(this.end, to); slot += step) {
      const value = ring.get(slot);
      if (value === value) {
        sum += value;
        count++;
      }
    }
    return count ? sum / count : NaN;
  }

  // The last `count` samples, oldest first, into an array; what never came is 0.
  last(axis, signal, count, until = this.end) {
    const out = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      const value = this.value(axis, signal, until - count + i);
      out[i] = value === value ? value : 0;
    }
    return out;
  }
}
Traces.axes = axes;
Traces.signals = signals;
