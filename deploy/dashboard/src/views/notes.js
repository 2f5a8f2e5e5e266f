// Who has seen an event, and what people noted of it: kept by the broker, so that all who look see it.

import { h, setText } from "../dom.js";
import { earthquakes } from "../earthquakes.js";
import { link } from "../link.js";
import { format, preferences } from "../preferences.js";
import { text } from "../text.js";

const words = text.notes;
const longest = 500;

// notesCard(event id) -> { element, stop() }
export function notesCard(id) {
  const name = h("input", { type: "text", autocomplete: "name", maxlength: 60, value: preferences.get("name") || link.user,
    required: true });
  const note = h("textarea", { rows: 2, maxlength: longest });
  const problem = h("p", { class: "problem", role: "alert" });
  const state = h("p", {});
  const list = h("ul", { class: "notes" });
  const seen = h("button", { type: "button", class: "plain", onclick: () => say({ seen: !earthquakes.note(id).seen }) }, words.seen);
  const add = h("button", { type: "submit", class: "plain" }, words.add);

  async function say(what) {
    const by = name.value.trim();
    if (by === "") {
      setText(problem, words.nameNeeded);
      return name.focus();
    }
    preferences.set("name", by);
    setText(problem, "");
    for (const one of [seen, add]) one.disabled = true;
    try {
      await earthquakes.annotate(id, by, what);
      if (what.text) note.value = "";
    } catch (error) {
      setText(problem, words.failed(error.message));
    }
    for (const one of [seen, add]) one.disabled = false;
  }

  function show() {
    const { seen: by, notes } = earthquakes.note(id);
    state.className = by ? "" : "quiet";
    setText(state, by ? words.seenBy(by.by || "–", format.moment(by.t)) : words.notSeen);
    setText(seen, by ? words.unseen : words.seenNow);
    list.replaceChildren(...notes.map((one) => h("li", {}, h("span", {}, one.text ?? ""), " ",
      h("span", { class: "quiet small-note" }, `${one.by ?? "–"}, ${format.moment(one.t)}`))));
  }
  show();
  const stops = [earthquakes.on((which, what) => which === id && what === "note" && show()), preferences.on(show)];
  const form = h("form", { class: "note-form no-print", onsubmit: (event) => {
    event.preventDefault();
    if (note.value.trim()) say({ text: note.value.trim() });
  } }, h("label", { class: "field" }, words.name, name), h("label", { class: "field" }, words.note, note),
    h("div", { class: "event-tools" }, add, seen), problem);
  return {
    element: h("section", { class: "card notes-card" }, h("h2", {}, words.title), state, list, form,
      h("p", { class: "quiet small-note no-print" }, words.help)),
    stop: () => stops.forEach((stop) => stop()),
  };
}
