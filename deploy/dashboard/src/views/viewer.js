// The reader's own band-pass over the live graphs: it is the viewer's, and changes nothing at the station.

import { h } from "../dom.js";
import { Traces } from "../pure/ring.js";
import { bandpass } from "../pure/bandpass.js";
import { units } from "../pure/units.js";
import { text } from "../text.js";

const words = text.station.graphs;
const { axes } = Traces;

export class Viewer {
  // [lowest, highest] in Hz; null without one.
  band = null;
  // axis -> { first (slot), values }
  #made = new Map();
  #offered = "";

  /** @param {() => void} changed */
  constructor(changed) {
    this.select = h("select", { onchange: () => {
      this.band = bandpass.bands[Number(this.select.value)] ?? null;
      this.#made.clear();
      changed();
    } });
    this.element = h("label", { class: "choice", title: words.viewerHelp }, h("span", {}, words.viewer), this.select);
    this.offer(0);
  }

  // What is drawn in place of raw: "1–4 Hz, of this page alone"
  get name() {
    return this.band ? words.viewerBand(this.said(this.band)) : words.signals.raw;
  }

  /** @param {number[]} band */
  said([low, high]) {
    return `${units.tick(low)}–${units.tick(high)} Hz`;
  }

  // Those bands that traces of a rate have.
  offer(rate) {
    const list = bandpass.bandsOf(rate);
    if (this.#offered === String(list)) return;
    this.#offered = String(list);
    if (this.band && !list.includes(this.band)) this.band = null;
    this.select.replaceChildren(h("option", { value: "" }, words.viewerNone),
      ...list.map((band) => h("option", { value: String(bandpass.bands.indexOf(band)), selected: band === this.band }, this.said(band))));
  }

  // Filters what is shown and three periods before it, of all axes.
  update(source, from) {
    this.offer(source.rate);
    if (!this.band) return;
    const first = Math.max(source.first, Math.floor(from - (3 * source.rate) / this.band[0]));
    for (const axis of axes) {
      const values = Float64Array.from({ length: Math.max(0, source.end - first) }, (_, i) => source.value(axis, "raw", first + i));
      this.#made.set(axis, { first, values: bandpass.filter(values, source.rate, this.band) });
    }
  }

  value(axis, slot) {
    const made = this.#made.get(axis);
    return made?.values[slot - made.first] ?? NaN;
  }

  // As Traces.extremes.
  extremes(axis, from, to, out) {
    const { first = 0, values = [] } = this.#made.get(axis) ?? {};
    let [low, high] = [Infinity, -Infinity];
    for (let i = Math.max(0, from - first); i < Math.min(values.length, to - first); i++) {
      if (values[i] < low) low = values[i];
      if (values[i] > high) high = values[i];
    }
    out[0] = low <= high ? low : NaN;
    out[1] = low <= high ? high : NaN;
    return out;
  }
}
