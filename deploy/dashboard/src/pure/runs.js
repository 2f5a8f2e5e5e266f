// The runs of one station's program, by the `boot` of its messages. One that speaks again after another one has spoken has
// not ended: several agents have the same name. Knows no clock: times are handed in, in milliseconds.
const most = 4;
// How long after its last message a run is no more; and how often a run has to come back within that time. (What an ended run
// has left may still come once or twice after the next one has begun.)
const silent = 15000;
const fewest = 5;

export class Runs {
  // boot -> when it spoke last, the newest at the end
  #spoken = new Map();
  // The run that is shown while there are several, and until when there are.
  #shown = null;
  #until = -Infinity;
  // When a run came back after another one.
  #returns = [];

  // Notes a message; whether it is of the run that is shown. A message without a run is of any.
  note(boot, now) {
    if (typeof boot !== "string") return true;
    const newest = [...this.#spoken.keys()].at(-1);
    if (newest !== boot && now - this.#spoken.get(boot) < silent) {
      this.#returns = [...this.#returns, now].filter((at) => now - at < silent).slice(-fewest);
      if (this.#returns.length === fewest) {
        this.#shown ??= newest;
        this.#until = now + silent;
      }
    }
    this.#spoken.delete(boot);
    this.#spoken.set(boot, now);
    if (this.#spoken.size > most) this.#spoken.delete(this.#spoken.keys().next().value);
    if (!this.isDouble(now)) {
      this.#shown = null;
      return true;
    }
    if (!(now - this.#spoken.get(this.#shown) < silent)) this.#shown = boot;
    return this.#shown === boot;
  }

  isDouble(now) {
    return now < this.#until;
  }

  // Those that speak, the shown one first.
  list(now) {
    const all = [...this.#spoken].filter(([, at]) => now - at < silent).map(([boot]) => boot);
    return all.sort((a, b) => Number(b === this.#shown) - Number(a === this.#shown));
  }
}
