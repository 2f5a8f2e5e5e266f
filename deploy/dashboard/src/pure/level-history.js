// The last minutes of a station's levels. Of a thousand stations an object for each second took 10 MB after three minutes; these
// columns take 2.
export class LevelHistory {
  // Seconds since 1970; m/s²; whether it was triggered.
  #time = new Float64Array(32);
  #pga = new Float32Array(32);
  #triggered = new Uint8Array(32);
  // Ratios of STA to LTA by their names, of an open station alone: undefined where a second has none.
  #ratios = null;
  length = 0;

  // Adds a level behind the others; the oldest goes when there are more than `most`.
  push({ time, pga, ratios, triggered }, most) {
    this.#drop(this.length + 1 - most);
    if (this.length === this.#time.length) this.#grow(Math.min(2 * this.length, Math.max(most, this.length + 1)));
    const i = this.length++;
    this.#time[i] = time;
    this.#pga[i] = pga ?? NaN;
    this.#triggered[i] = triggered ? 1 : 0;
    if (this.#ratios) this.#ratios.push(undefined);
    if (ratios) this.addRatios(ratios);
  }

  // The ratios of the newest level.
  addRatios(ratios) {
    this.#ratios ??= new Array(this.length).fill(undefined);
    this.#ratios[this.length - 1] = ratios;
  }

  clear() {
    this.length = 0;
    this.#ratios = null;
  }

  // { time, pga, ratios, triggered } of a place, from the end if it is below 0; undefined where there is none.
  at(place) {
    const i = place < 0 ? this.length + place : place;
    if (!(i >= 0 && i < this.length)) return undefined;
    return { time: this.#time[i], pga: this.#pga[i], ratios: this.#ratios?.[i], triggered: this.#triggered[i] === 1 };
  }

  *[Symbol.iterator]() {
    for (let i = 0; i < this.length; i++) yield this.at(i);
  }

  #drop(count) {
    if (count <= 0) return;
    for (const column of [this.#time, this.#pga, this.#triggered]) column.copyWithin(0, count, this.length);
    this.#ratios?.splice(0, count);
    this.length -= count;
  }

  #grow(size) {
    const larger = (column) => {
      const next = new column.constructor(size);
      next.set(column);
      return next;
    };
    this.#time = larger(this.#time);
    this.#pga = larger(this.#pga);
    this.#triggered = larger(this.#triggered);
  }
}
