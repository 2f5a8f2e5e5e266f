// One event of a station: its waveform, its replay, what was measured, and the files to take along.

import { archive } from "../archive.js";
import { h, setText } from "../dom.js";
import { earthquakes } from "../earthquakes.js";
import { codesOf, saveFile } from "../files.js";
import { fleet } from "../fleet.js";
import { link } from "../link.js";
import { Seismote } from "../page.js";
import { mapPlaces } from "../places.js";
import { format, preferences } from "../preferences.js";
import { csv } from "../pure/csv.js";
import { motion } from "../pure/motion.js";
import { quakeML } from "../pure/quakeml.js";
import { units } from "../pure/units.js";
import { waveform } from "../pure/waveform.js";
import { wire } from "../pure/wire.js";
import { defineView, router } from "../router.js";
import { isHeard, runningDuration } from "../running.js";
import { text } from "../text.js";
import { waveforms } from "../waveforms.js";
import { classBadge, eventClass } from "./event-class.js";
import { EventGraphs } from "./event-graphs.js";
import { certain, eventMeasures, intensityChip } from "./event-measures.js";
import { eventNetwork } from "./event-network.js";
import { EventReplay } from "./event-replay.js";
import { stationHead } from "./frame.js";
import { printButton } from "./print.js";
import { psdCard } from "./psd.js";

const words = () => text.event;
const axes = ["x", "y", "z"];
// An open event is asked for as far as it goes, at most so many seconds, and so many times.
const mostOpen = 900;
const mostParts = 6;

defineView("#/station/:id/event/:event", {
  title: ({ id, event }) => words().title(id, event),
  mount(main, { id, event }) {
    const page = new Page(main, id, event);
    return () => page.close();
  },
});

// The onset that an event's id holds, as text; null for another id.
function onsetOf(id) {
  const found = /-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/.exec(id);
  return found ? `${found[1]}-${found[2]}-${found[3]}T${found[4]}:${found[5]}:${found[6]}.${found[7]}Z` : null;
}

class Page {
  // The moment that is chosen, in seconds from the first sample; null before there is one.
  now = null;
  // What is shown of the waveform (describe), null while there is nothing.
  data = null;
  // The station is being asked, or is about to be; how often it was for an open event.
  fetching = false;
  isWaiting = false;
  parts = 0;
  // Whether this user may ask; undefined before that is known.
  mayAsk = undefined;
  asking = false;
  ended = undefined;
  isHeard = false;
  closed = false;
  problem = null;
  progress = 0;
  request = 0;
  patience = 0;

  constructor(main, id, eventId) {
    this.main = main;
    this.id = id;
    this.eventId = eventId;
    this.closers = [
      fleet.on("station", (which, what) => which === id && (what === "event" || what === "config") && this.heard(what)),
      waveforms.on((station, event) => station === id && event === eventId && this.later()),
      fleet.on("station", (which, what) => which === id && what === "info" && this.measures()),
      preferences.on(() => this.measures()),
      // What the network says of it, and what this browser has kept of that.
      earthquakes.on(() => this.network()), archive.on(() => this.network()), mapPlaces.on(() => this.network()),
      link.on("state", (state) => state === "online" && this.older()),
    ];
    main.classList.add("event");
    // For checks, and for those who look behind the page.
    Seismote.eventView = this;
    this.frame();
    this.heard("event");
    this.network();
    archive.ready();
    this.build();
    this.older();
    // Of a station that falls silent nobody knows whether its event goes on.
    this.watching = setInterval(() => !this.ended && this.event && this.isHeard !== isHeard(this.id) && this.measures(), 1000);
  }

  close() {
    this.closed = true;
    if (Seismote.eventView === this) Seismote.eventView = null;
    clearInterval(this.watching);
    cancelAnimationFrame(this.request);
    clearTimeout(this.patience);
    for (const close of this.closers) close();
    this.graphs.stop();
    this.psd.stop();
    this.replay.stop();
    this.head.stop();
  }

  // The newest that the station has said of the event; what its id says, where that is nothing.
  get event() {
    const { entry } = this;
    return entry ? fleet.newestOf(entry) : null;
  }

  get entry() {
    return fleet.stations.get(this.id)?.events.get(this.eventId);
  }

  frame() {
    const w = words();
    this.head = stationHead(this.id, "event", "event");
    this.onTime = (seconds) => this.time(seconds);
    this.psd = psdCard();
    this.psd.element.hidden = true;
    this.graphs = new EventGraphs({ onTime: this.onTime, onView: (from, to) => this.data && this.psd.show(this.data.shape, from, to) });
    this.replay = new EventReplay({ onTime: this.onTime });
    this.summary = h("div", { class: "event-summary" });
    this.status = h("p", { class: "quiet event-status", role: "status" });
    this.fetchButton = h("button", { type: "button", class: "plain", hidden: true, onclick: () => this.fetch() }, w.fetch);
    this.cards = h("div", { class: "event-cards" });
    this.networkBox = h("div", {});
    const signals = ["acceleration", "velocity", "displacement", "raw"].map((name) => h("option", { value: name }, w.signals[name]));
    const signal = h("select", { "aria-label": w.shown, onchange: () => this.graphs.signal(signal.value) }, signals);
    const button = (name, label, onclick) => h("button", { type: "button", class: "plain", "aria-label": label, title: label, onclick },
      name);
    this.mseed = h("button", { type: "button", class: "plain", disabled: true, onclick: () => this.save("mseed") }, w.mseed);
    this.csv = h("button", { type: "button", class: "plain", disabled: true, onclick: () => this.save("csv") }, w.csv);
    this.quakeml = h("button", { type: "button", class: "plain", disabled: true, onclick: () => this.save("xml") }, w.quakeml);
    this.main.append(this.head.element, this.summary, this.networkBox,
      h("div", { class: "event-main" },
        h("section", { class: "card event-waveform", "aria-labelledby": "event-waveform" },
          h("div", { class: "card-head" }, h("h2", { id: "event-waveform" }, w.waveform),
            h("div", { class: "event-tools" }, signal,
              button("−", w.zoomOut, () => this.graphs.zoom(2)), button("+", w.zoomIn, () => this.graphs.zoom(0.5)),
                button(w.all, w.allLabel, () => this.graphs.all()))),
          this.graphs.element,
          h("p", { class: "unseen", id: "event-keys" }, w.keys),
          h("div", { class: "event-foot" }, this.status, h("div", { class: "event-files" }, this.fetchButton, this.mseed, this.csv,
            this.quakeml, printButton()))),
        h("section", { class: "card event-replay", "aria-labelledby": "event-replay" },
          h("div", { class: "card-head" }, h("h2", { id: "event-replay" }, w.replay)), this.replay.element)),
      this.psd.element, this.cards, h("p", { class: "printed-link" }, location.href));
    this.keys = (event) => {
      if (event.key !== " " || event.target.closest("input, select, textarea, button, a, summary, dialog")) return;
      event.preventDefault();
      this.replay.toggle();
    };
    document.addEventListener("keydown", this.keys);
    this.closers.push(() => document.removeEventListener("keydown", this.keys));
  }

  heard(what) {
    if (what === "event") this.measures();
    const ended = Boolean(this.event?.end || this.entry?.over);
    if (what === "event" && (ended !== this.ended || !this.data)) {
      this.ended = ended;
      this.later();
      if (ended) this.older();
    }
  }

  measures() {
    const w = words();
    const { event } = this;
    const onset = event?.onset ?? onsetOf(this.eventId);
    const f = format;
    const badge = (text, state) => h("span", { class: "badge", dataset: { state } }, text);
    const over = Boolean(event?.end || this.entry?.over);
    this.isHeard = isHeard(this.id);
    const facts = event ? [[w.measures.pga, certain(f.acceleration(event.pga), event.acceleration_valid)],
      [w.measures.pgv, certain(f.velocity(event.pgv), event.velocity_valid)],
      [w.measures.duration, runningDuration(this.id, event, over)]] : [];
    this.quakeml.disabled = !event;
    this.summary.replaceChildren(...[
      h("div", { class: "event-title" }, h("h2", {}, w.heading(f.moment(onset))),
        event && badge(event.end ? w.over : over ? w.endUnknown : this.isHeard ? w.goesOn : text.network.unheard,
          over || !this.isHeard ? "unknown" : "bad"),
        event?.alarm && badge(w.alarm, "bad"), event && classBadge(event), event?.confirmed && badge(w.confirmed, "good"),
        event?.test && badge(w.test, "warn"), event?.clipped && badge(w.clipped, "bad"),
          event?.interrupted && badge(w.interrupted, "warn"), this.neighbours()),
      h("div", { class: "event-facts" },
        (event?.intensity ?? []).map((item) => h("div", { class: "fact" }, intensityChip(item),
          h("span", { class: "quiet" }, text.intensity.relations[item.relation] ?? item.relation))),
        facts.map(([name, value]) => h("div", { class: "fact" }, h("strong", { class: "number" }, value),
          h("span", { class: "quiet" }, name)))),
      h("p", { class: "quiet" }, event ? (event.end ? w.window : w.windowSoFar) : this.asking ? w.asking : w.notKnown),
    ].filter(Boolean));
    this.cards.replaceChildren(...(event ? [...eventClass(this.id, event, this.entry.judged, this.mayAsk, (label) => this.labelled(label)),
      ...eventMeasures(event, runningDuration(this.id, event, over))] : []));
  }

  network() {
    this.networkBox.replaceChildren(...[eventNetwork(this.id, this.eventId)].filter(Boolean));
  }

  labelled(label) {
    const { entry } = this;
    if (entry?.end) entry.end = { ...entry.end, label };
    this.measures();
  }

  // The events before and after this one, of those that are known here.
  neighbours() {
    const w = words();
    const list = fleet.newestEvents(this.id);
    const at = list.findIndex(({ id }) => id === this.eventId);
    const to = (entry, name) => entry && h("a", { class: "button small", href: router.address("station", this.id, "event", entry.id) },
      name);
    return at < 0 ? null : h("nav", { class: "event-neighbours", "aria-label": w.others }, to(list[at + 1], w.earlier),
      to(list[at - 1], w.later));
  }

  // MARK: The waveform

  later() {
    if (this.request) return;
    this.request = requestAnimationFrame(() => {
      this.request = 0;
      if (!this.closed) this.build();
    });
  }

  // What there is of the waveform: what came live if that is whole, else what was fetched, else what came live.
  get source() {
    const kept = waveforms.get(this.id, this.eventId);
    if (!kept) return null;
    const judged = waveforms.judge(kept.assembler, this.event?.waveform);
    if (kept.fetched && judged.right !== true) return kept.isPart ? { assembler: kept.fetched.with(kept.assembler), judged }
      : { assembler: kept.fetched, fetched: true };
    return kept.assembler.bytes > 0 ? { assembler: kept.assembler, judged } : null;
  }

  // Whether the event goes on, as far as is known.
  get isOpen() {
    return Boolean(this.event && !this.event.end && !this.entry.over);
  }

  build() {
    const { source, event } = this;
    const shape = source?.assembler.waveform({ unitPerCount: event?.waveform?.unit_per_count ?? this.lastUnit() });
    // Seconds count from the first sample, which may be another one now.
    const moved = shape && this.data ? Number(this.data.shape.start - shape.start) / 1e9 : 0;
    this.data = shape ? this.describe(shape) : null;
    this.psd.element.hidden = !this.data;
    this.graphs.set(this.data);
    this.replay.set(this.data);
    if (this.data && this.now === null) this.time((this.data.onset ?? 0) / shape.rate);
    else if (moved !== 0) this.time(this.now + moved);
    if (this.lacks) this.older();
    this.mseed.disabled = this.csv.disabled = !shape;
    this.say(source);
  }

  lastUnit() {
    return fleet.stations.get(this.id)?.lastEvent?.waveform?.unit_per_count;
  }

  describe(shape) {
    const { event } = this;
    const sample = (text) => {
      const time = waveform.parseTime(text);
      if (time === null) return null;
      return Math.round((Number(time - shape.start) / 1e9) * shape.rate);
    };
    const onset = sample(event?.onset ?? onsetOf(this.eventId));
    const quiet = Math.max(0, Math.min(onset ?? 0, shape.count) - Math.round(shape.rate));
    const motions = Object.fromEntries(axes.map((axis) => [axis, motion.motion(shape[axis], shape.rate, { quiet })]));
    const peaks = {};
    for (const axis of axes) {
      const found = event?.peaks?.[axis];
      const at = sample(found?.t);
      if (at !== null && at >= 0 && at < shape.count) peaks[axis] = { sample: at, value: found.value };
    }
    const about = onset === null ? words().fromStart(format.moment(Number(shape.start / 1000000n))) : words().fromOnset;
    const north = fleet.stations.get(this.id)?.settings?.sensor?.mounting?.north_deg ?? 0;
    return { about, shape, motions, onset, end: sample(event?.end), peaks,
      aligned: !shape.sources.x || shape.sources.x.endsWith("E") || north === 0 };
  }

  say(source) {
    const w = words();
    const { event } = this;
    let text;
    if (this.fetching) text = w.fetching(this.progress ? units.bytes(this.progress) : "");
    else if (this.problem) text = this.problem;
    else if (!source) text = event && !event.end && !this.entry.over ? w.waiting : w.none;
    else if (source.fetched) text = w.fetched(units.bytes(source.assembler.bytes));
    else if (source.judged.right) text = w.complete(source.judged.messages, units.bytes(source.judged.bytes));
    else if (source.judged.whole) text = w.partly(units.bytes(source.judged.bytes), units.bytes(source.judged.whole));
    else text = w.coming(source.judged.messages, units.bytes(source.judged.bytes));
    const gaps = this.data?.shape.gaps.length ?? 0;
    setText(this.status, gaps > 0 ? `${text} ${w.gaps(gaps)}` : text);
    const whole = source && (source.fetched || source.judged.right);
    this.fetchButton.hidden = Boolean(whole) || this.fetching || (event !== null && !event.end && !this.entry.over) || !this.mayAsk;
  }

  // Whether something is missing of an open event: it was opened after the onset, or the connection was away.
  get lacks() {
    return this.isOpen && (!this.data || this.data.onset < 0 || this.data.shape.gaps.length > 0);
  }

  // Asks the station for what is not here of an event, when that is allowed. What has just been measured may still be on its
  // way.
  async older() {
    if (link.state !== "online" || this.fetching || this.isWaiting) return;
    if (this.isOpen && !this.lacks) return;
    this.isWaiting = true;
    if (this.mayAsk === undefined) {
      this.asking = !this.event;
      this.measures();
      this.mayAsk = await link.rights(this.id);
      if (this.closed) return;
      if (this.mayAsk && !this.event) await this.learn();
      if (this.closed) return;
      this.asking = false;
      this.measures();
    }
    this.patience = setTimeout(() => {
      const { source } = this;
      this.isWaiting = false;
      if (this.closed || (this.isOpen ? !this.lacks || ++this.parts > mostParts : source
        && (source.fetched || source.judged.right))) return;
      if (this.mayAsk && !this.problem) this.fetch();
      else this.say(source);
    }, 2000);
  }

  // What the station keeps of an event that nothing here knows of.
  async learn() {
    if (fleet.knows(this.id, "event") === false) return;
    try {
      const { result } = await link.command(this.id, "event", { event_id: this.eventId });
      fleet.learn(this.id, wire.kept(result)?.event);
    } catch {
      // Then the samples alone, if the ring has them.
    }
  }

  async fetch() {
    if (this.fetching) return;
    this.fetching = true;
    this.problem = null;
    this.say(this.source);
    const progress = (bytes) => {
      this.progress = bytes;
      this.say(this.source);
    };
    const { isOpen } = this;
    try {
      const assembler = (isOpen ? null : await this.fetchKept(progress)) ?? (await this.fetchRing(progress));
      if (assembler?.bytes > 0) waveforms.put(this.id, this.eventId, assembler, isOpen);
      else if (!isOpen) this.problem = words().notInRing;
    } catch (error) {
      // (What comes live is shown all the same; an open event is asked for again.)
      if (!isOpen) this.problem = words().notFetched(error.errors?.[0]?.message ?? error.message);
    }
    this.fetching = false;
    if (this.closed) return;
    this.build();
    if (isOpen && !this.isOpen) this.older();
  }

  // The records as they were sent, of a station that keeps them; null where they are not to be had.
  async fetchKept(progress) {
    if (fleet.knows(this.id, "event") !== true) return null;
    try {
      const { assembler } = await waveforms.kept(this.id, this.eventId, progress);
      return assembler.bytes > 0 ? assembler : null;
    } catch (error) {
      if (error.errors?.length > 0) return null;
      throw error;
    }
  }

  async fetchRing(progress) {
    const onset = waveform.parseTime(this.event?.onset ?? onsetOf(this.eventId));
    if (onset === null) return null;
    const settings = fleet.stations.get(this.id)?.settings?.detection?.event ?? {};
    const seconds = (value) => BigInt(Math.round(value * 1e9));
    const from = onset - seconds(settings.pre_event_s ?? 10);
    const now = fleet.time(fleet.stations.get(this.id)) / 1000;
    const open = this.isOpen && Number.isFinite(now) ? Math.min(mostOpen, now - units.milliseconds(this.event.onset) / 1000) : 120;
    const end = waveform.parseTime(this.event?.end) ?? onset + seconds(Math.max(1, open));
    return waveforms.snapshot(this.id, from, end, progress);
  }

  // MARK: Time and files

  time(seconds) {
    if (!this.data) return;
    const { count, rate } = this.data.shape;
    this.now = Math.min((count - 1) / rate, Math.max(0, seconds));
    this.graphs.time(this.now);
    this.replay.time(this.now);
  }

  save(kind) {
    const { source, id, event, eventId } = this;
    if (kind === "xml") return event && saveFile(`${eventId}.xml`, quakeML([event], codesOf(id)));
    if (!source || !this.data) return;
    const content = kind === "csv" ? csv.waveform(this.data.shape, [`station: ${id}`, `event: ${eventId}`]) : source.assembler.file();
    saveFile(`${eventId}.${kind}`, content);
  }
}

export { onsetOf };
