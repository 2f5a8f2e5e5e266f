// The time that is shown at the right edge of the graphs. Blocks come once a second and late by this or that; the
// playhead stays about a block behind them and moves steadily, at the speed at which the blocks' own time moves.
export class Playhead {
  constructor() {
    this.reset();
  }

  reset() {
    this.position = NaN;
    this.speed = 1;
    this.seen = [];
    this.last = null;
    this.at = NaN;
    this.margin = 0;
  }

  // A block came: `at` seconds of a steady clock, `time` its end, `block` its length in seconds.
  arrived({ at, time, block }) {
    if (this.last && time > this.last.time) {
      const late = Math.max(0, this.expected(at) - time);
      this.margin = Math.max(this.margin * 0.995, Math.min(late, 2 * block));
    }
    // The speed over the last blocks together: each for itself comes earlier or later.
    this.seen.push({ at, time });
    if (this.seen.length > 24) this.seen.shift();
    const [first] = this.seen;
    if (this.seen.length > 3 && at > first.at) this.speed = Math.min(100, Math.max(0.01, (time - first.time) / (at - first.at)));
    this.last = { at, time, block };
    if (!(Math.abs(this.position - this.target(at)) < 3 * block + 2)) {
      this.position = this.target(at);
      this.at = at;
    }
  }

  expected(at) {
    return this.last.time + (at - this.last.at) * this.speed;
  }

  target(at) {
    return this.expected(at) - this.last.block * 1.1 - this.margin;
  }

  // The time shown at `at`. Never beyond the last sample that came; stands still when nothing comes.
  time(at) {
    if (!this.last) return NaN;
    const step = Math.max(0, at - this.at);
    this.at = at;
    const ahead = this.position + step * this.speed;
    // A fifth of the difference is made up for in a second: unseen, and steady.
    const error = Math.min(Math.max(this.target(at) - ahead, -this.last.block), this.last.block);
    const next = ahead + error * Math.min(1, step * 0.6);
    this.position = Math.max(this.position, Math.min(next, this.last.time));
    return this.position;
  }
}
