// All stations: as cards, as a table, on a map; what is wrong first; and the events of all.

import { acknowledged } from "../acknowledged.js";
import { announce, h, setText } from "../dom.js";
import { fleet } from "../fleet.js";
import { link } from "../link.js";
import { Seismote } from "../page.js";
import { preferences } from "../preferences.js";
import { rank } from "../pure/rank.js";
import { panelsOf } from "../registry.js";
import { defineView, router } from "../router.js";
import { stationWords } from "../station-words.js";
import { text } from "../text.js";
import { stationCard } from "./card.js";
import { eventList } from "./eventlist.js";
import { StationMap } from "./map.js";
import { networkCard } from "./network.js";
import { stationTable } from "./table.js";

const words = text.overview;
const cardsUpTo = 40;
const mostCards = 200;
// A station's last event is 2 kB: of a thousand stations they are asked for by a button.
const lastEventsUpTo = 150;
const few = 3;
const narrow = matchMedia("(max-width: 640px)");

const rowOf = (known) => {
  const item = fleet.leading(known);
  return { ...rank.row(known, { now: fleet.now(known), silence: fleet.silence(known), alerts: acknowledged.open(known), item,
    highest: fleet.highest(known, item), isDouble: known.runs.isDouble(Date.now()) }), item };
};
export { rowOf as stationRow };

defineView("#/", {
  mount(main) {
    main.className = "overview";
    const view = new Overview(main);
    Seismote.overview = view;
    return () => view.close();
  },
});

class Overview {
  // id -> card
  cards = new Map();
  // What is chosen: a name of rank.counts, a group, a version.
  only = "all";
  group = "";
  version = "";
  kind = "";
  // All rows of rank.js, and those that are shown.
  rows = [];
  shown = [];
  request = 0;
  stopLast = null;
  isAfter = null;
  // What the choices show now.
  groupKey = null;
  versionKey = null;
  kindKey = null;

  constructor(main) {
    this.main = main;
    this.counts = h("div", { class: "counts", role: "group", "aria-label": words.filters });
    this.buttons = Object.fromEntries(rank.counts.map((name) => [name,
      h("button", { type: "button", class: `plain small count ${name}`, "aria-pressed": String(name === "all"), hidden: true,
      onclick: () => this.choose(this.only === name ? "all" : name) })]));
    this.counts.append(...Object.values(this.buttons));
    this.find = h("input", { type: "search", placeholder: words.find, "aria-label": words.find, oninput: () => this.show(),
      // What is found last by many presses of Tab is opened from here.
      onkeydown: ({ key }) => key === "Enter" && this.open() });
    this.groups = h("select", { onchange: () => {
      this.group = this.groups.value;
      this.show();
    } }, h("option", { value: "" }, words.allGroups));
    this.groupChoice = h("label", { class: "choice", hidden: true }, h("span", {}, words.groups), this.groups);
    this.versions = h("select", { onchange: () => {
      this.version = this.versions.value;
      this.show();
    } });
    this.kinds = h("select", { onchange: () => {
      this.kind = this.kinds.value;
      this.show();
    } });
    this.kindChoice = h("label", { class: "choice", hidden: true }, h("span", {}, words.alertsColumn), this.kinds);
    this.versionChoice = h("label", { class: "choice", hidden: true }, h("span", {}, words.version), this.versions);
    this.allEvents = h("a", { class: "button small", href: "#/events" }, text.catalogue.title);
    this.groupSettings = h("a", { class: "button small", href: router.address("group", "all") }, text.group.open);
    this.order = h("select", { onchange: () => preferences.set("order", this.order.value) },
      [["problems", words.problemsFirst], ["station", words.byName]].map(([value, name]) => h("option", { value }, name)));
    this.order.value = preferences.get("order");
    this.orderChoice = h("label", { class: "choice" }, h("span", {}, words.order), this.order);
    this.views = Object.fromEntries(["cards", "table", "map"].map((name) =>
      [name, h("button", { type: "button", class: "plain small", onclick: () => preferences.set("view", name) }, words.views[name])]));
    this.grid = h("ul", { class: "cards" });
    this.none = h("p", { class: "quiet waiting-note" });
    this.askButton = h("button", { type: "button", class: "plain", hidden: true, onclick: () => this.askAll() }, words.ask);
    this.map = new StationMap();
    this.events = eventList();
    this.last = h("div", { class: "last-events", hidden: true }, h("p", { class: "quiet small-note" }, text.events.lastHelp),
      h("button", { type: "button", class: "plain small", onclick: () => this.loadLast(true) }, text.events.last));
    this.events.element.append(this.last);
    this.table = stationTable({ onSort: () => this.show() });
    this.network = networkCard(this.map);
    this.upper = h("div", { class: "upper" }, this.map.element, this.events.element);
    this.window = h("p", { class: "quiet small-note", hidden: true }, words.window);
    main.append(
      h("div", { class: "overview-head" }, h("h1", {}, words.title), this.counts),
      this.tools = h("div", { class: "overview-tools", hidden: true }, this.find, this.groupChoice, this.kindChoice,
        this.versionChoice, this.orderChoice,
        h("span", { class: "together", role: "group", "aria-label": words.view }, Object.values(this.views)), this.allEvents,
        panelsOf("overview").map(({ label, address }) => h("a", { class: "button small", href: address }, label)), this.groupSettings),
      this.none, this.askButton, this.upper, this.network.element, this.grid, this.table.element, this.window);
    this.stops = [
      fleet.watchLevels(),
      fleet.on("station", (id, what) => {
        if (what === "trace") return;
        this.soon();
      }),
      preferences.on(() => this.show()), acknowledged.on(() => this.show()), link.on("state", () => this.soon()),
    ];
    this.timer = setInterval(() => this.soon(), 1000);
    this.show();
  }

  close() {
    clearTimeout(this.request);
    clearInterval(this.timer);
    for (const stop of this.stops) stop();
    this.stopLast?.();
    for (const part of [this.map, this.events, this.table, this.network]) part?.stop();
  }

  // Whatever came since the last picture is shown in one go: of a thousand stations, which speak once a second each, once a second.
  soon() {
    this.request ||= setTimeout(() => {
      this.request = 0;
      this.show();
    }, this.rows.length > 200 ? 1000 : 150);
  }

  choose(name) {
    this.only = name;
    this.show();
  }

  open() {
    this.show();
    const [first] = this.find.value === "" ? [] : rank.sort(this.shown, preferences.get("order"));
    if (first) location.hash = router.address("station", first.id);
  }

  loadLast(wanted) {
    if (this.stopLast || !wanted) return;
    this.stopLast = fleet.watchLastEvents();
    this.last.hidden = true;
  }

  async askAll() {
    this.askButton.disabled = true;
    setText(this.none, words.asked);
    link.groupCommand("all", "rebirth", {}, () => {});
  }

  get view() {
    const wanted = preferences.get("view");
    return words.views[wanted] ? wanted : this.rows.length > (narrow.matches ? few : cardsUpTo) ? "table" : "cards";
  }

  show() {
    const all = [...fleet.stations.values()].map(rowOf);
    this.rows = all;
    this.showCounts(all);
    this.showGroups(all);
    this.showVersions(all);
    this.showKinds(all);
    const shown = rank.filter(all, {
      only: this.only, group: this.group, version: this.version, kind: this.kind, words: this.find.value,
    });
    const { view } = this;
    this.shown = shown;
    for (const [name, button] of Object.entries(this.views)) button.setAttribute("aria-pressed", String(name === view));
    this.grid.hidden = view !== "cards";
    this.table.element.hidden = view !== "table" || shown.length === 0;
    this.main.classList.toggle("map-only", view === "map");
    // A single station on a map says nothing; a few, and all on a phone, come before the map and the events.
    this.map.element.classList.toggle("lonely", all.length === 1 && view !== "map" && !this.map.state().isOverlaid);
    this.place(view !== "map" && (all.length <= few || all.length > cardsUpTo || narrow.matches));
    this.events.element.hidden = all.length === 0;
    this.window.hidden = all.length === 0;
    this.tools.hidden = all.length === 0;
    this.orderChoice.hidden = view === "map" || (view === "table" && !narrow.matches);
    if (view === "cards") this.showCards(rank.sort(shown, preferences.get("order")).slice(0, mostCards));
    if (view === "table") {
      // (Rows of a phone have no heads.)
      const { order, way } = narrow.matches ? { order: preferences.get("order"), way: 1 } : this.table.sorting();
      this.table.show(rank.sort(shown, order, way));
    }
    this.map.show(shown);
    this.loadLast(all.length > 0 && all.length <= lastEventsUpTo && Date.now() - link.since > 1500);
    this.last.hidden = Boolean(this.stopLast) || all.length <= lastEventsUpTo;
    this.last.firstChild.hidden = this.events.empty();
    this.say(all.length, shown.length);
  }

  // Map, events and earthquakes after the stations, or before them.
  place(isAfter) {
    if (this.isAfter === isAfter) return;
    this.isAfter = isAfter;
    const before = isAfter ? this.window.nextSibling : this.grid;
    for (const part of [this.upper, this.network.element]) this.main.insertBefore(part, before);
  }

  showCounts(rows) {
    const counted = rank.count(rows);
    if (this.only !== "all" && counted[this.only] === 0) this.only = "all";
    for (const [name, button] of Object.entries(this.buttons)) {
      button.hidden = rows.length === 0 || (name !== "all" && name !== "online" && counted[name] === 0);
      setText(button, words.count[name](counted[name]));
      button.setAttribute("aria-pressed", String(this.only === name));
    }
  }

  showGroups(rows) {
    const names = [...new Set(rows.flatMap((one) => one.groups))].filter((name) => name !== "all").sort();
    const key = names.join();
    this.groupChoice.hidden = names.length === 0;
    if (key === this.groupKey) return;
    this.groupKey = key;
    this.groups.replaceChildren(...["", ...names].map((name) => h("option", { value: name, selected: name === this.group },
      name || words.allGroups)));
  }

  // Why stations have alerts: each kind with its number of stations.
  showKinds(rows) {
    const found = rank.kinds(rows);
    if (!found.some(([code]) => code === this.kind)) this.kind = "";
    this.kindChoice.hidden = found.length === 0;
    const key = JSON.stringify(found);
    if (key === this.kindKey) return;
    this.kindKey = key;
    this.kinds.replaceChildren(h("option", { value: "", selected: this.kind === "" }, words.allKinds),
      ...found.map(([code, count]) => h("option", { value: code, selected: code === this.kind },
        words.versionOf(stationWords.alertName(code), count))));
  }

  // Who runs what: each version with its number of stations. One that nobody has any more is no choice.
  showVersions(rows) {
    const found = rank.versions(rows);
    if (!found.some(([version]) => version === this.version)) this.version = "";
    this.versionChoice.hidden = found.length < 2;
    const key = JSON.stringify(found);
    if (key === this.versionKey) return;
    this.versionKey = key;
    this.versions.replaceChildren(h("option", { value: "", selected: this.version === "" }, words.allVersions),
      ...found.map(([version, count]) => h("option", { value: version, selected: version === this.version },
        words.versionOf(version, count))));
  }

  showCards(rows) {
    const wanted = new Set();
    let before = null;
    for (const one of rows) {
      wanted.add(one.id);
      let card = this.cards.get(one.id);
      if (!card) this.cards.set(one.id, (card = stationCard(one.id)));
      card.show(fleet.stations.get(one.id), one);
      const next = before ? before.nextSibling : this.grid.firstChild;
      // A card that has the focus is not moved away from under it.
      if (next !== card.element && !(card.element.parentNode
        && card.element.contains(document.activeElement))) this.grid.insertBefore(card.element, next);
      before = card.element;
    }
    for (const [id, card] of this.cards) {
      if (wanted.has(id)) continue;
      card.element.remove();
      this.cards.delete(id);
    }
  }

  say(all, shown) {
    this.none.hidden = all > 0 && shown > 0;
    this.askButton.hidden = all > 0 || link.state !== "online";
    if (this.askButton.disabled && all === 0 && link.state === "online") return;
    setText(this.none, all > 0 ? words.nothingFound
      : link.state === "online" ? words.none : link.state === "refused" ? words.signIn : link.state === "wrong" ? text.link.wrong(link.url)
        : words.waiting);
  }
}

// Shaking is said to those who do not see the page, whatever they look at: the first station at once, those of the next seconds
// together. Nobody listens to a thousand names.
const together = 3000;
let others = null;
document.addEventListener("seismote-onset", ({ detail }) => {
  if (others) return others.push(detail.id);
  announce(words.onset(detail.id));
  others = [];
  const end = () => {
    const found = others;
    others = found.length > 0 ? [] : null;
    if (others) setTimeout(end, together);
    if (found.length > 0) announce(found.length === 1 ? words.onset(found[0]) : words.onsets(found.length));
  };
  setTimeout(end, together);
});
