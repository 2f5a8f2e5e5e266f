// A guided tour in ten steps for whoever sees a seismograph for the first time: a panel that leads from view to view and shows
// what it speaks of.

import { announce, h, setText } from "../dom.js";
import { fleet } from "../fleet.js";
import { preferences } from "../preferences.js";
import { router } from "../router.js";
import { text } from "../text.js";

const words = text.tour;
const patience = 4000;

// The station that is shown: the reader's own, else one that is online.
function station() {
  const own = preferences.get("home");
  const online = [...fleet.stations.values()].filter((known) => known.online === true).map(({ id }) => id).sort();
  return online.includes(own) ? own : online[0] ?? [...fleet.stations.keys()].sort()[0];
}
const of = (...parts) => () => {
  const id = station();
  return id ? router.address("station", id, ...parts) : "#/";
};

// Of each step the view, and what is shown there; its words are in the languages.
/** @type {[string, () => string, string][]} */
const steps = [
  ["stations", () => "#/", ".station-card, .stations-scroll, main"],
  ["axes", of(), ".graphs"],
  ["signals", of(), ".legend"],
  ["jump", of(), ".graphs"],
  ["ratio", of(), ".three"],
  ["intensity", of(), ".intensity-card"],
  ["frequency", of(), "canvas.spectrogram"],
  ["day", of("history"), "main canvas, main"],
  ["waves", of("events"), ".events, main table, main"],
  ["network", () => "#/events", ".catalogue-main, main"],
];

/** @type {any} */
let panel = null;
let at = 0;
let marked = null;
let looking = 0;
let waiting = null;

function mark(element) {
  marked?.classList.remove("toured");
  marked = element;
  marked?.classList.add("toured");
  marked?.scrollIntoView({ block: "center", behavior: "instant" });
}

// What a step speaks of may come a little later than its view.
function find(selector, until) {
  clearTimeout(looking);
  const element = selector.split(", ").map((one) => document.querySelector(one)).find((one) => one?.checkVisibility());
  if (element && !(element.id === "main" && Date.now() < until)) return mark(element);
  if (Date.now() < until) looking = setTimeout(() => find(selector, until), 100);
}

function show() {
  const [name, where, selector] = steps[at];
  mark(null);
  const address = where();
  setText(panel.title, words.steps[name].title);
  setText(panel.text, words.steps[name].text);
  setText(panel.count, words.count(at + 1, steps.length));
  panel.back.disabled = at === 0;
  setText(panel.next, at === steps.length - 1 ? words.end : words.next);
  announce(`${words.steps[name].title} ${words.steps[name].text}`);
  if ((location.hash || "#/") === address) return find(selector, Date.now() + patience);
  // What it shows is there when the view is.
  waiting = selector;
  location.hash = address;
}

function go(by) {
  at += by;
  if (at >= steps.length) return end();
  show();
}

function end() {
  clearTimeout(looking);
  mark(null);
  panel?.element.remove();
  panel = null;
}

// A view takes the focus when it is opened; the tour keeps it, so that Enter goes on.
document.addEventListener("seismote-view", () => {
  if (!panel) return;
  panel.next.focus({ preventScroll: true });
  if (waiting) find(waiting, Date.now() + patience);
  waiting = null;
});

export function tour() {
  end();
  at = 0;
  const button = (label, onclick, kind = "plain") => h("button", { type: "button", class: kind, onclick }, label);
  panel = { title: h("h2", {}), text: h("p", {}), count: h("span", { class: "quiet" }), back: button(words.back, () => go(-1)),
    next: button(words.next, () => go(1), "primary") };
  panel.element = h("section", { class: "card tour no-print", role: "dialog", "aria-label": words.title,
    onkeydown: (event) => event.key === "Escape" && end() },
    panel.title, panel.text, h("div", { class: "tour-foot" }, panel.count, h("span", { class: "space" }), button(words.stop, end),
      panel.back, panel.next));
  document.body.append(panel.element);
  show();
  panel.next.focus();
}
