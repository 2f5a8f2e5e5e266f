// The events of all stations and of the network in one list, kept in this browser: found by time, place, size, class and
// label; on a map beside it; as files.

import { archive } from "../archive.js";
import { h, setText } from "../dom.js";
import { earthquakes } from "../earthquakes.js";
import { codesOf, saveFile } from "../files.js";
import { fleet } from "../fleet.js";
import { Seismote } from "../page.js";
import { format, preferences } from "../preferences.js";
import { catalogue } from "../pure/catalogue.js";
import { csv } from "../pure/csv.js";
import { helicorder } from "../pure/helicorder.js";
import { catalogueQuakeML } from "../pure/quakeml.js";
import { scales } from "../pure/scales.js";
import { units } from "../pure/units.js";
import { defineView, router } from "../router.js";
import { numbers, text } from "../text.js";
import { certain, intensityChip } from "./event-measures.js";
import { StationMap } from "./map.js";

const words = text.catalogue;
const height = 36;
const spare = 6;
const day = 86400000;
const mostOnMap = 2000;

defineView("#/events", {
  title: () => words.title,
  mount(main) {
    main.className = "catalogue";
    const view = new Catalogue(main);
    Seismote.catalogueView = view;
    return () => view.close();
  },
});

const steps = scales.scales.mmi.steps.slice(1, 9).map(({ name }, i) => [String(i + 2), name]);

class Catalogue {
  #stops = [];
  #due = null;
  #made = new Map();
  #near = null;
  rows = [];
  collecting = false;

  constructor(main) {
    const choose = (label, options, attributes = {}) => {
      const select = h("select", { onchange: () => this.#later(), ...attributes },
        options.map(([value, said]) => h("option", { value }, said)));
      return [select, h("label", { class: "field" }, label, select)];
    };
    const date = (label) => {
      const input = h("input", { type: "date", onchange: () => this.#later() });
      return [input, h("label", { class: "field" }, label, input)];
    };
    const [from, fromField] = date(text.events.from);
    const [to, toField] = date(text.events.to);
    const [whose, whoseField] = choose(words.whose, [["all", words.all], ["network", words.ofNetwork], ["stations", words.ofStations]]);
    const [mmi, mmiField] = choose(text.events.minimum, [["", text.events.any], ...steps]);
    const [magnitude, magnitudeField] = choose(words.magnitude, [["", text.events.any],
      ...[2, 3, 4, 5, 6, 7].map((value) => [String(value), `M ${value}`])]);
    const [kind, kindField] = choose(text.class.column, [["", text.events.any], ...Object.entries(text.class.names)]);
    const [label, labelField] = choose(words.label, [["", text.events.any], ...Object.entries(text.class.labels)]);
    const [place, placeField] = choose(words.place, [["", text.events.any], ["here", words.onMap],
      ...[10, 50, 200].map((km) => [String(km), words.aroundHome(km)])]);
    const [open, openField] = choose(words.seen, [["", text.events.any], ["open", words.notSeen]]);
    this.find = h("input", { type: "search", "aria-label": words.find, placeholder: words.find, oninput: () => this.#later() });
    this.main = main;
    // What is chosen.
    this.from = from;
    this.to = to;
    this.whose = whose;
    this.mmi = mmi;
    this.magnitude = magnitude;
    this.kind = kind;
    this.label = label;
    this.place = place;
    this.open = open;
    this.status = h("p", { class: "quiet", role: "status" });
    const button = (name, onclick, kind = "plain") => h("button", { type: "button", class: kind, onclick }, name);
    this.collectButton = button(words.collect, () => this.#collect());
    this.map = new StationMap();
    this.above = h("tr", { "aria-hidden": "true", class: "room" }, h("td", { colspan: 9 }));
    this.below = h("tr", { "aria-hidden": "true", class: "room" }, h("td", { colspan: 9 }));
    this.body = h("tbody", {}, this.above, this.below);
    this.timeHead = h("th", { scope: "col" });
    this.scroll = h("div", { class: "card catalogue-scroll", tabindex: "0", role: "region", "aria-label": words.title,
      onscroll: () => this.#fill() }, h("table", {},
      h("thead", {}, h("tr", {}, this.timeHead, [words.who, words.magnitude, text.events.intensity, text.events.pga, text.network.place,
        text.class.column, words.label, words.seen].map((word) => h("th", { scope: "col" }, word)))), this.body));
    main.append(h("nav", { class: "crumbs", "aria-label": text.frame.where }, h("a", { href: "#/" }, text.frame.stations)),
      h("h1", {}, words.title),
      h("section", { class: "card catalogue-filter no-print", "aria-label": text.events.filter }, this.find, fromField, toField,
        whoseField, mmiField, magnitudeField, kindField, labelField, placeField, openField),
      h("div", { class: "catalogue-foot" }, this.status, h("div", { class: "event-tools no-print" }, this.collectButton,
        button(text.event.csv, () => saveFile("events.csv", csv.catalogue(this.rows, earthquakes.note))),
          button(text.event.quakeml, () => this.#quakeML()))),
      h("div", { class: "catalogue-main" }, this.scroll, this.map.element),
      h("p", { class: "quiet small-note" }, words.help(numbers.text(catalogue.longestList))));
    this.#stops = [archive.on(() => this.#later()), preferences.on(() => this.#later()),
      fleet.on("station", (id, what) => what === "info" && this.#later())];
    const observer = new ResizeObserver(() => this.#fill());
    observer.observe(this.scroll);
    this.#stops.push(() => observer.disconnect());
    archive.ready().then(() => this.show());
    this.show();
  }

  close() {
    clearTimeout(this.#due);
    for (const stop of this.#stops) stop();
    this.map.stop();
  }

  #later() {
    this.#due ??= setTimeout(() => {
      this.#due = null;
      this.show();
    }, 150);
  }

  // Days are those of the zone that times are shown in.
  #dayOf(input, after) {
    const { begin, end } = helicorder.dayOf(input.value, format.utc());
    const at = 1000 * (after ? end : begin);
    return Number.isFinite(at) ? at : after ? Infinity : -Infinity;
  }

  #nearOf() {
    if (this.place.value === "here") return this.#near;
    const place = fleet.stations.get(preferences.get("home"))?.info?.station;
    return this.place.value && Number.isFinite(place?.latitude) ? { latitude: place.latitude, longitude: place.longitude,
      km: Number(this.place.value) } : null;
  }

  show() {
    if (this.place.value === "here" && !this.#near) this.#near = this.map.centre();
    if (this.place.value !== "here") this.#near = null;
    const isSeen = (id) => Boolean(earthquakes.note(id).seen);
    this.rows = catalogue.filter([...archive.entries.values()], {
      from: this.#dayOf(this.from, 0), to: this.#dayOf(this.to, 1), whose: this.whose.value, words: this.find.value,
        mmi: Number(this.mmi.value || NaN), magnitude: Number(this.magnitude.value || NaN),
      kind: this.kind.value, label: this.label.value, near: this.#nearOf(), open: this.open.value === "open",
    }, isSeen);
    setText(this.timeHead, words.time(format.zone(Date.now())));
    if (!this.collecting) setText(this.status, words.found(this.rows.length, archive.entries.size));
    for (const { element } of this.#made.values()) element.remove();
    this.#made.clear();
    this.#fill();
    this.map.show([...fleet.stations.values()].map(({ id }) => ({ id, state: "good", item: null, intensity: NaN, triggered: false })));
    this.map.overlay((context, projection, colors) => this.#paint(context, projection, colors));
  }

  #row(one) {
    const network = one.station === "";
    const { seen } = earthquakes.note(one.id);
    const state = { on: text.network.running, withdrawn: words.withdrawn, merged: words.merged, unheard: text.network.unheard }[one.state];
    return h("tr", { class: one.state === "on" ? "running" : "" },
      h("td", {}, h("a", { href: network ? router.address("earthquake", one.id)
        : router.address("station", one.station, "event", one.id) }, format.dateTime(one.time)),
        one.event.test ? h("span", { class: "badge" }, text.events.test) : null,
        state ? h("span", { class: "badge", dataset: { state: one.state === "on" ? "bad" : "unknown" } }, state) : null),
      h("td", {}, network ? h("strong", {}, words.network(one.event.count ?? 0))
        : h("a", { href: router.address("station", one.station) }, one.station)),
      h("td", {}, Number.isFinite(one.magnitude) ? units.fixed(one.magnitude, 1) : "–"),
      h("td", {}, Number.isFinite(one.mmi) ? intensityChip({ scale: "mmi", value: one.mmi, uncertain: one.uncertain }) : "–"),
      h("td", {}, certain(format.acceleration(one.pga), one.event.acceleration_valid)),
      h("td", {}, network ? `${units.fixed(one.latitude, 2)}, ${units.fixed(one.longitude, 2)}` : "–"),
      h("td", {}, text.class.names[one.kind] ?? "–"), h("td", {}, one.label ? text.class.labels[one.label] ?? one.label : "–"),
      h("td", {}, seen ? seen.by || "✓" : "–"));
  }

  #fill() {
    const room = this.scroll.clientHeight || 600;
    const from = Math.max(0, Math.floor(this.scroll.scrollTop / height) - spare);
    const to = Math.min(this.rows.length, Math.ceil((this.scroll.scrollTop + room) / height) + spare);
    const wanted = new Set();
    let before = this.above;
    for (let i = from; i < to; i++) {
      const one = this.rows[i];
      const key = `${one.station} ${one.id}`;
      wanted.add(key);
      let made = this.#made.get(key);
      if (!made) this.#made.set(key, (made = { element: this.#row(one) }));
      if (before.nextSibling !== made.element) before.after(made.element);
      before = made.element;
    }
    for (const [key, { element }] of this.#made) {
      if (wanted.has(key)) continue;
      element.remove();
      this.#made.delete(key);
    }
    this.above.firstChild.height = from * height;
    this.below.firstChild.height = (this.rows.length - to) * height;
    this.above.hidden = from === 0;
    this.below.hidden = to === this.rows.length;
  }

  // Epicentres as circles by their magnitude, events of stations as small squares, in the colours of their intensity.
  #paint(context, { at }, colors) {
    const shown = this.rows.slice(0, mostOnMap).filter(({ latitude, longitude }) => Number.isFinite(latitude)
      && Number.isFinite(longitude));
    context.strokeStyle = colors.ink;
    context.lineWidth = 1;
    for (const one of shown.reverse()) {
      const { x, y } = at(one.latitude, one.longitude);
      context.fillStyle = scales.intensity({ scale: "mmi", value: one.mmi })?.color ?? colors.quiet;
      context.beginPath();
      if (one.station === "") context.arc(x, y, Number.isFinite(one.magnitude) ? Math.max(4, one.magnitude * 2.2) : 5, 0, 2 * Math.PI);
      else context.rect(x - 3, y - 3, 6, 6);
      context.globalAlpha = 0.8;
      context.fill();
      context.globalAlpha = 1;
      context.stroke();
    }
  }

  // What the stations keep of the days that are chosen; of the last 30 where none are.
  async #collect() {
    this.collectButton.disabled = true;
    this.collecting = true;
    const iso = (at) => new Date(at).toISOString();
    const from = this.#dayOf(this.from, 0);
    const to = this.#dayOf(this.to, 1);
    const failed = await archive.collect({ from: iso(Number.isFinite(from) ? from : Date.now() - 30 * day),
      to: iso(Number.isFinite(to) ? to : Date.now() + day) },
      (done, of) => setText(this.status, words.collecting(done, of)));
    this.collecting = false;
    this.collectButton.disabled = false;
    this.show();
    if (failed > 0) setText(this.status, `${words.found(this.rows.length, archive.entries.size)} ${words.notAnswered(failed)}`);
  }

  #quakeML() {
    saveFile("events.xml", catalogueQuakeML(this.rows.map((one) =>
      ({ station: one.station ? codesOf(one.station) : null, event: one.event }))));
  }
}
