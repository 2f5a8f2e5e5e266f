// Sees in `boot` and `seq` of each station's events which messages have not come, and when they are to be asked for.
const most = 1000;
const mostGaps = 500;
// Runs of one station that are kept in mind: those heard of last.
const mostRuns = 16;
// Seconds from one question to the next; then it is given up.
const pauses = [5, 20, 60];

export class Gaps {
  constructor() {
    // station -> Map of boot -> seq of the run's newest message, the run heard of last at its end: what a former run
    // has left may come amid the messages of the present one
    this.marks = new Map();
    // { id, boot, missing (a set of numbers), asked, next }
    this.open = [];
  }

  // Notes a message; false when it has come before. `now` is in seconds of any clock that does not go back.
  note(id, boot, seq, now) {
    if (typeof boot !== "string" || !Number.isSafeInteger(seq) || seq < 0) return true;
    const runs = this.marks.get(id);
    // Of a new run all messages from the first one on; of a new station none from before.
    const next = runs ? (runs.get(boot) ?? -1) + 1 : seq;
    if (seq < next) {
      const gap = this.open.find((one) => one.id === id && one.boot === boot && one.missing.has(seq));
      gap?.missing.delete(seq);
      this.open = this.open.filter((one) => one.missing.size > 0);
      return Boolean(gap);
    }
    const known = runs ?? new Map();
    known.delete(boot);
    if (known.size === mostRuns) known.delete(known.keys().next().value);
    this.marks.set(id, known.set(boot, seq));
    if (seq > next && this.open.length < mostGaps) {
      const missing = new Set();
      for (let one = Math.max(next, seq - most); one < seq; one++) missing.add(one);
      this.open.push({ id, boot, missing, asked: 0, next: now });
    }
    return true;
  }

  // What is to be asked for now: { id, boot, from, to }.
  due(now) {
    const asking = this.open.filter((gap) => gap.next <= now);
    this.open = this.open.filter((gap) => gap.next > now || gap.asked < pauses.length);
    return asking.filter((gap) => gap.asked < pauses.length).map((gap) => {
      gap.next = now + pauses[gap.asked++];
      return { id: gap.id, boot: gap.boot, from: Math.min(...gap.missing), to: Math.max(...gap.missing) };
    });
  }
}
