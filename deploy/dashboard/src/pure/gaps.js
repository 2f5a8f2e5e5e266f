// Sees in `boot` and `seq` of each station's events which messages have not come, and when they are to be asked for.
(function (Seismote) {
  "use strict";

  const most = 1000;
  const mostGaps = 500;
  // Seconds from one question to the next; then it is given up.
  const pauses = [5, 20, 60];

  Seismote.Gaps = class Gaps {
    constructor() {
      // station -> { boot, seq } of its newest message
      this.marks = new Map();
      // { id, boot, missing (a set of numbers), asked, next }
      this.open = [];
    }

    // Notes a message; false when it has come before. `now` is in seconds of any clock that does not go back.
    note(id, boot, seq, now) {
      if (typeof boot !== "string" || !Number.isSafeInteger(seq) || seq < 0) return true;
      const mark = this.marks.get(id);
      // Of a new run all messages from the first one on.
      const next = mark ? (mark.boot === boot ? mark.seq + 1 : 0) : seq;
      if (seq < next) {
        const gap = this.open.find((one) => one.id === id && one.boot === boot && one.missing.has(seq));
        gap?.missing.delete(seq);
        this.open = this.open.filter((one) => one.missing.size > 0);
        return Boolean(gap);
      }
      this.marks.set(id, { boot, seq });
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
  };
})((globalThis.Seismote = globalThis.Seismote || {}));
