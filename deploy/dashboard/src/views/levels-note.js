// Where levels are shown in place of samples, a note below the graphs says so, and offers the samples to those who may ask for them.

import { h, setText } from "../dom.js";
import { Traces } from "../pure/ring.js";
import { units } from "../pure/units.js";
import { text } from "../text.js";

const words = text.station.graphs;
// What is loaded at a time, in seconds: some hundred kilobytes.
const mostLoaded = 900;

export class LevelsNote {
  // { from, to } in seconds: where levels are shown; null without any.
  shown = null;
  #words = h("span", {});
  #problem = h("span", { class: "quiet", role: "status" });
  #button = h("button", { type: "button", class: "plain small", onclick: () => this.load() }, words.load);
  element = h("p", { class: "levels-note", hidden: true }, h("span", { class: "swatch", "aria-hidden": "true" }), this.#words,
    this.#button, this.#problem);

  // bring(from, to) loads the samples; before() and after() are called around it.
  constructor(bring, before, after) {
    this.bring = bring;
    this.before = before;
    this.after = after;
  }

  note(source, from, to, isShown) {
    let [first, last] = [Infinity, -Infinity];
    let step = NaN;
    for (const axis of isShown ? Traces.axes : []) {
      source.eachLevel(axis, from, to, (slot, slots) => {
        first = Math.min(first, slot);
        last = Math.max(last, slot + slots);
        step = slots / source.rate;
      });
    }
    // A step more on either side, so that none is left that is covered by half.
    this.shown = last > first ? { from: source.time(first) - step, to: source.time(last) + step } : null;
    this.element.hidden = !this.shown;
    if (this.shown) setText(this.#words, words.levels(units.duration(step), units.quantity(source.rate, "Hz")));
  }

  async load() {
    if (!this.shown) return;
    const { from, to } = this.shown;
    this.before();
    this.#button.disabled = true;
    setText(this.#problem, words.loading);
    try {
      await this.bring(Math.max(from, to - mostLoaded), to);
      setText(this.#problem, "");
    } catch (error) {
      setText(this.#problem, text.events.loadFailed(error.errors?.[0]?.message ?? error.message));
    }
    this.#button.disabled = false;
    this.after();
  }
}
