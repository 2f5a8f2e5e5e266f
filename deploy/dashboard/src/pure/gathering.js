// Parts of a stream that come one by one, handed on together: a thousand small ones a second cost far more than twenty large
// ones. The first after a rest is handed on at once, what follows at most `span` milliseconds later. Times are milliseconds.
export class Gathering {
  #span;
  #parts = [];
  #free = -Infinity;

  constructor(span) {
    this.#span = span;
  }

  // Takes a part (bytes). Returns what is to be handed on now, or null when it waits for `release`.
  take(part, now) {
    if (this.#parts.length === 0 && now >= this.#free) {
      this.#free = now + this.#span;
      return part;
    }
    this.#parts.push(part);
    return null;
  }

  // How long what waits has to wait still: at least 0, or NaN when nothing waits.
  wait(now) {
    return this.#parts.length === 0 ? NaN : Math.max(0, this.#free - now);
  }

  // Everything that waits, in its order; null when there is nothing.
  release(now) {
    if (this.#parts.length === 0) return null;
    this.#free = now + this.#span;
    const parts = this.#parts;
    this.#parts = [];
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}
