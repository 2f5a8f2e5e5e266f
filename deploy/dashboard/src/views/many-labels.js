// Labels for many events of a station at once: rows are chosen by a box, by arrow keys and Space, or as a range with Shift; a label
// by its button or its letter.

import { announce, h, setText } from "../dom.js";
import { fleet } from "../fleet.js";
import { link } from "../link.js";
import { format } from "../preferences.js";
import { text } from "../text.js";

const words = text.events;
// The letter of each label, the same in every language.
export const letters = {
  __proto__: null, earthquake: "e", footsteps: "f", door: "d", truck: "t", train: "r", furniture: "u", knock: "k", jump: "j", elevator: "l",
  bus: "b", construction: "c", machine: "m", wind: "w", explosion: "x", moved: "v", other: "o",
};

export class ManyLabels {
  // Ids of what is chosen, and the one that was chosen last.
  chosen = new Set();
  last = null;
  isBusy = false;

  /** @param {string} id of the station @param {() => any[]} list the events that are shown @param {() => void} changed */
  constructor(id, list, changed) {
    this.id = id;
    this.list = list;
    this.changed = changed;
    this.all = h("input", { type: "checkbox", "aria-label": words.selectAll, onchange: () => this.chooseAll(this.all.checked) });
    this.head = h("th", { scope: "col" }, this.all);
    this.said = h("p", { class: "strong", role: "status" });
    const button = ([label, name]) => h("button", { type: "button", class: "plain small", onclick: () => this.label(label) },
      name, h("kbd", { "aria-hidden": "true" }, letters[label]?.toUpperCase() ?? ""));
    this.element = h("div", { class: "many-labels", hidden: true, role: "group", "aria-label": text.class.label }, this.said,
      h("div", { class: "label-buttons" }, Object.entries(text.class.labels).map(button)),
        h("p", { class: "quiet small-note" }, words.labelKeys));
  }

  // Whether the station takes labels.
  get isOffered() {
    return fleet.knows(this.id, "label") === true;
  }

  // The cell of an event, with its box; one that is open has none.
  cell(event) {
    if (event.event_type !== "end") return h("td", {});
    const box = h("input", { type: "checkbox", checked: this.chosen.has(event.event_id), dataset: { event: event.event_id },
      "aria-label": words.select(format.moment(event.onset)), onclick: (click) =>
        this.choose(event.event_id, box.checked, click.shiftKey) });
    return h("td", {}, box);
  }

  get ids() {
    return this.list().filter((event) => event.event_type === "end").map((event) => event.event_id);
  }

  choose(id, on, isRange) {
    const { ids } = this;
    const [from, to] = [ids.indexOf(isRange ? this.last ?? id : id), ids.indexOf(id)].sort((a, b) => a - b);
    for (const one of ids.slice(Math.max(0, from), to + 1)) {
      if (on) this.chosen.add(one);
      else this.chosen.delete(one);
    }
    this.last = id;
    this.changed();
  }

  chooseAll(on) {
    this.chosen = new Set(on ? this.ids : []);
    this.changed();
  }

  // What is chosen of what is shown.
  show() {
    const { ids } = this;
    this.chosen = new Set(ids.filter((id) => this.chosen.has(id)));
    this.head.hidden = !this.isOffered;
    this.all.checked = ids.length > 0 && this.chosen.size === ids.length;
    this.all.indeterminate = this.chosen.size > 0 && !this.all.checked;
    this.element.hidden = this.chosen.size === 0 && !this.isBusy;
    if (!this.isBusy && this.chosen.size > 0) setText(this.said, words.labelMany(this.chosen.size));
  }

  // In the table: up and down from box to box, and the letters.
  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const boxes = [...event.currentTarget.querySelectorAll("input[data-event]")];
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const label = Object.keys(letters).find((one) => letters[one] === event.key.toLowerCase());
    if (step) boxes[Math.min(boxes.length - 1, Math.max(0, boxes.indexOf(document.activeElement) + step))]?.focus();
    else if (label && this.chosen.size > 0) this.label(label);
    else return;
    event.preventDefault();
  }

  async label(label) {
    if (this.isBusy) return;
    this.isBusy = true;
    const wanted = [...this.chosen];
    let failed = "";
    let done = 0;
    for (const id of wanted) {
      try {
        await link.command(this.id, "label", { event_id: id, label });
        const event = this.list().find((one) => one.event_id === id);
        if (event) event.label = label;
        this.chosen.delete(id);
        done++;
      } catch (error) {
        failed = error.errors?.[0]?.message ?? error.message;
        if (error.denied || error.offline) break;
      }
    }
    this.isBusy = false;
    this.changed();
    const said = words.labelledMany(done, text.class.labels[label]) + (failed ? ` ${text.class.labelFailed(failed)}` : "");
    this.element.hidden = false;
    setText(this.said, said);
    announce(said);
  }
}
