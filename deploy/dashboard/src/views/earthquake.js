// An earthquake of the network on a page of its own: the map of its shaking first, with the epicentre and its waves above the
// stations; what is known; who has seen it and what they noted; several stations on one axis of time; to be printed.

import { h, setText } from "../dom.js";
import { earthquakes } from "../earthquakes.js";
import { saveFile } from "../files.js";
import { fleet } from "../fleet.js";
import { link } from "../link.js";
import { Seismote } from "../page.js";
import { format, preferences } from "../preferences.js";
import { mercalli } from "../pure/mercalli.js";
import { networkQuakeML } from "../pure/quakeml.js";
import { scales } from "../pure/scales.js";
import { units } from "../pure/units.js";
import { wire } from "../pure/wire.js";
import { defineView } from "../router.js";
import { text } from "../text.js";
import { earthquakeFacts, mainFacts, missingStations, stateBadge, stationTable } from "./earthquake-facts.js";
import { followWaves, paintEarthquake, placedStations, pointsOf } from "./earthquake-map.js";
import { StationMap } from "./map.js";
import { notesCard } from "./notes.js";
import { recordSection } from "./record-section.js";
import { printButton } from "./print.js";

const words = text.earthquake;
// Levels are listened to while it shakes, and the last events of so many stations are asked for.
const shaking = 300;
const mostLast = 200;
// Stations that are asked for their event.
const mostAsked = 20;

defineView("#/earthquake/:event", {
  title: () => words.title,
  mount(main, { event: id }) {
    main.className = "earthquake";
    const view = new Earthquake(main, id);
    Seismote.earthquakeView = view;
    return () => view.close();
  },
});

class Earthquake {
  #strengths = new Map();
  #stops = [];
  #lasts = new Map();
  #asked = new Set();
  #asking = null;
  #opened = { stations: false, missing: false };
  #due = null;
  #levels = null;
  #looked = "";
  #section = null;

  constructor(main, id) {
    this.id = id;
    this.map = new StationMap();
    this.head = h("div", { class: "event-title" });
    this.facts = h("div", { class: "event-facts" });
    this.about = h("div", {});
    this.tables = h("section", { class: "card" });
    this.legend = h("div", { class: "shake-legend", role: "img", "aria-label": words.legend },
      scales.scales.mmi.steps.slice(0, 10).map(({ name, color }) => {
      const one = h("span", {}, name);
      one.style.backgroundColor = color;
      one.style.color = scales.ink(color);
      return one;
    }));
    this.none = h("p", { class: "quiet waiting-note" }, words.none);
    this.notes = notesCard(id);
    this.sectionBox = h("div", {});
    const file = h("button", { type: "button", class: "plain", onclick: () => this.event
      && saveFile(`${id}.xml`, networkQuakeML([this.event])) }, text.event.quakeml);
    this.main = h("div", { class: "earthquake-main" }, this.head, this.facts,
      h("div", { class: "event-tools no-print" }, printButton(), file),
      this.map.element, this.legend, this.about, this.sectionBox, this.tables, this.notes.element,
        h("p", { class: "printed-link" }, location.href));
    main.append(h("nav", { class: "crumbs", "aria-label": text.frame.where }, h("a", { href: "#/" }, text.frame.stations), " / ",
      h("a", { href: "#/events" }, text.catalogue.title)), this.none, this.main);
    this.#stops = [
      earthquakes.on((which, what) => what === "note" || this.#later()),
      fleet.on("station", (station, what) => this.#heard(station, what)),
      preferences.on(() => this.#later()),
    ];
    this.#stops.push(followWaves(this.map, () => this.event));
    this.show();
  }

  // What the earthquake has become, if it turned out to be part of another one.
  get event() {
    return earthquakes.become(this.id);
  }

  // Mercalli at a station: of its event, else the largest level since the origin; NaN where nothing is known.
  strength(station) {
    return this.#strengths.get(station) ?? NaN;
  }

  close() {
    clearTimeout(this.#due);
    this.#levels?.();
    for (const stop of [...this.#stops, ...this.#lasts.values()]) stop();
    this.#section?.stop();
    clearTimeout(this.#asking);
    this.notes.stop();
    this.map.stop();
  }

  #later() {
    this.#due ??= setTimeout(() => {
      this.#due = null;
      this.show();
    }, 200);
  }

  #heard(station, what) {
    const { event } = this;
    if (!event) return;
    if (what === "level") {
      const { level } = fleet.stations.get(station);
      const since = units.milliseconds(level.t) - units.milliseconds(event.origin_time);
      if (!(since > 0 && since < shaking * 1000 && level.mmi > (this.#strengths.get(station) ?? 1.5))) return;
      this.#strengths.set(station, level.mmi);
      this.#later();
    } else if (what === "event" || what === "info") this.#later();
  }

  // The intensities that the stations' own events say.
  #gather(event) {
    for (const { id, event_id: own } of event.stations ?? []) {
      const entry = fleet.stations.get(id)?.events.get(own);
      const mmi = entry && mercalli.of(fleet.newestOf(entry));
      if (mmi > (this.#strengths.get(id) ?? -Infinity)) this.#strengths.set(id, mmi);
      // What a station keeps of its last event, which may be this one.
      if (!entry && id && own && !this.#lasts.has(id) && this.#lasts.size < mostLast) this.#lasts.set(id,
        link.subscribe(`${link.root}/${id}/event/last`, fleet.take));
    }
  }

  // Stations whose last event is a later one are asked for this one. Whoever may not ask sees no intensity there.
  async #ask() {
    const missing = (this.event?.stations ?? []).filter(({ id, event_id: own }) => id && own && !this.#asked.has(id)
      && !this.#strengths.has(id) && fleet.stations.get(id)?.online !== false);
    for (const { id, event_id: own, onset } of missing.slice(0, mostAsked)) {
      this.#asked.add(id);
      const at = units.milliseconds(onset);
      if (!Number.isFinite(at)) continue;
      const stamp = (time) => new Date(time).toISOString();
      try {
        const { result } = await link.command(id, "events", { from: stamp(at - 2000), to: stamp(at + 2000), limit: 5 },
          { timeoutMs: 10000 });
        const found = wire.events(result)?.events?.find((one) => one.event_id === own);
        const mmi = found ? mercalli.of(found) : NaN;
        if (mmi > (this.#strengths.get(id) ?? -Infinity)) {
          this.#strengths.set(id, mmi);
          this.#later();
        }
      } catch {
        // (It is shown without.)
      }
    }
  }

  show() {
    const { event } = this;
    this.none.hidden = Boolean(event);
    this.main.hidden = !event;
    if (!event) return;
    this.#gather(event);
    const age = (earthquakes.now() - units.milliseconds(event.origin_time)) / 1000;
    if (age < shaking) this.#levels ??= fleet.watchLevels();
    else {
      this.#levels?.();
      this.#levels = null;
    }
    this.head.replaceChildren(...[h("h1", {}, words.heading(format.moment(event.origin_time))), stateBadge(event)].filter(Boolean));
    this.facts.replaceChildren(...mainFacts(event));
    this.about.replaceChildren(...[earthquakeFacts(event), missingStations(event, this.#opened)].filter(Boolean));
    this.tables.replaceChildren(stationTable(event, this.#opened, (id) => this.strength(id)));
    this.#section ??= this.#makeSection(event);
    this.#asking ??= setTimeout(() => this.#ask(), 2000);
    const known = [...fleet.stations.values()].map(({ id }) => ({ id, state: "good", item: null, intensity: NaN, triggered: false }));
    this.map.show(known);
    this.map.shake(this.#strengths);
    this.map.overlay((context, projection, colors) => paintEarthquake(context, projection, colors, this.event));
    // Looked at anew when the place is another one or there are many more stations, until the reader moves the map.
    const points = pointsOf(event);
    const many = Math.floor(2 * Math.log2(placedStations(event) + 1));
    const where = [event.event_id, event.place?.quality, event.latitude.toFixed(1), event.longitude.toFixed(1), many].join(" ");
    if (where !== this.#looked && points.length > 0 && !this.map.state().isMoved) {
      this.#looked = where;
      this.map.look(points);
    }
    setText(this.none, words.none);
  }

  #makeSection(event) {
    const made = recordSection(() => this.event);
    this.sectionBox.replaceChildren(made.element);
    return event ? made : null;
  }
}
