// The events that a station keeps: asked for by time, intensity and class, and taken along as files.

import { h, setText } from "../dom.js";
import { codesOf, saveFile } from "../files.js";
import { fleet } from "../fleet.js";
import { link } from "../link.js";
import { Seismote } from "../page.js";
import { format, preferences } from "../preferences.js";
import { csv } from "../pure/csv.js";
import { helicorder } from "../pure/helicorder.js";
import { quakeML } from "../pure/quakeml.js";
import { scales } from "../pure/scales.js";
import { units } from "../pure/units.js";
import { waveform } from "../pure/waveform.js";
import { wire } from "../pure/wire.js";
import { defineView, router } from "../router.js";
import { isHeard, runningDuration } from "../running.js";
import { text } from "../text.js";
import { waveforms } from "../waveforms.js";
import { classBadge } from "./event-class.js";
import { certain, intensityChip } from "./event-measures.js";
import { stationHead } from "./frame.js";
import { ManyLabels } from "./many-labels.js";

const words = text.events;
const page = 50;

const day = 86400000;

defineView("#/station/:id/events", {
  title: ({ id }) => `${id}: ${words.title}`,
  mount(main, { id }) {
    main.className = "station station-events";
    const view = new Events(id);
    main.append(view.head.element, view.element);
    view.ask(false);
    Seismote.eventsView = view;
    return () => view.close();
  },
});

class Events {
  list = [];
  // Where the next page begins, null at the end; how many match in all; how often it was asked.
  next = null;
  matches = null;
  asked = 0;
  // The reader has said what is wanted; else the list opens where the newest events are, and `moved` says so.
  chosen = false;
  moved = "";
  incomplete = false;
  // What the station does not list is what this page has seen.
  local = false;
  // Whether the station has come since it was asked last.
  cameLater = false;

  constructor(id) {
    this.id = id;
    this.head = stationHead(id, "events");
    const utc = format.utc();
    const zone = format.zone(Date.now());
    const field = (label, input) => h("label", { class: "field" }, label, input);
    this.from = h("input", { type: "date", value: units.date(Date.now() - 30 * day, utc) });
    this.to = h("input", { type: "date", value: units.date(Date.now(), utc) });
    const steps = scales.scales.mmi.steps;
    this.minimum = h("select", {}, h("option", { value: "" }, words.any),
      steps.slice(1, 10).map((step) => h("option", { value: String(step.from) }, step.name)));
    this.kind = h("select", {}, h("option", { value: "" }, words.any),
      Object.entries(text.class.names).map(([value, name]) => h("option", { value }, name)));
    this.button = h("button", { type: "submit", class: "primary" }, words.ask);
    this.status = h("p", { class: "quiet", role: "status" });
    this.body = h("tbody", {});
    const heads = () => [words.onset(zone), words.intensity, words.pga, words.pgv, words.duration, text.class.column, words.detectors,
      words.waveform];
    this.labels = new ManyLabels(id, () => this.list, () => this.show());
    this.onset = h("th", { scope: "col" }, heads()[0]);
    this.heads = h("tr", {}, this.labels.head, this.onset, heads().slice(1).map((word) => h("th", { scope: "col" }, word)));
    this.table = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": words.title, hidden: true,
      onkeydown: (event) => this.labels.key(event) },
      h("table", { class: "events" }, h("thead", {}, this.heads), this.body));
    this.more = h("button", { type: "button", class: "plain", hidden: true, onclick: () => this.ask(true) }, words.more);
    const save = (kind, name) => h("button", { type: "button", class: "plain small", disabled: true, onclick: () => this.save(kind) },
      name);
    this.files = [save("csv", text.event.csv), save("xml", text.event.quakeml)];
    this.element = h("section", { class: "card" },
      h("form", { class: "event-filter", "aria-label": words.filter, onsubmit: (event) => {
        event.preventDefault();
        this.chosen = true;
        this.moved = "";
        this.ask(false);
      } }, field(words.from, this.from), field(words.to, this.to), field(words.minimum, this.minimum), field(text.class.column, this.kind),
        this.button,
      h("span", { class: "quiet small-note" }, words.zoneHelp(zone))),
      h("div", { class: "event-foot" }, this.status, h("div", { class: "event-files", role: "group", "aria-label": words.download },
        h("span", { class: "quiet" }, words.download), this.files)),
      this.labels.element, this.table, this.more);
    // Of a station that falls silent nobody knows whether its event goes on.
    const looking = setInterval(() => this.isHeard !== isHeard(id) && this.list.some((event) => event.event_type !== "end") && this.show(),
      1000);
    this.stops = [
      () => clearInterval(looking),
      link.on("state", (state) => state === "online" && this.ask(false)),
      fleet.on("station", (which, what) => which === id && ((what === "event" && this.heard())
        || (what === "info" && this.arrived()))),
      preferences.on(() => {
        setText(this.onset, words.onset(format.zone(Date.now())));
        this.show();
      }),
    ];
  }

  // The station says who it is.
  arrived() {
    this.cameLater = true;
    if (this.local) this.ask(false);
  }

  close() {
    this.closed = true;
    for (const stop of this.stops) stop();
    this.head.stop();
  }

  // The chosen days in the reader's zone, as RFC 3339.
  days() {
    const time = (value, edge) => {
      if (!/^\d{4}-\d\d-\d\d$/.test(value)) return undefined;
      const of = helicorder.dayOf(value, format.utc());
      return new Date(1000 * of[edge]).toISOString();
    };
    return { from: time(this.from.value, "begin"), to: time(this.to.value, "end") };
  }

  async ask(more) {
    const asked = ++this.asked;
    const here = () => !this.closed && asked === this.asked;
    if (link.state !== "online") return;
    this.cameLater = false;
    this.button.disabled = this.more.disabled = true;
    setText(this.status, words.asking);
    /** @type {any} */
    const query = { ...this.days(), limit: page };
    if (this.minimum.value) query.min_mmi = Number(this.minimum.value);
    if (this.kind.value) query.class = this.kind.value;
    if (more && this.next) query.after = this.next;
    try {
      if (fleet.knows(this.id, "events") === false) throw Object.assign(new Error(""), { old: true });
      let reply = await link.command(this.id, "events", query);
      let found = wire.events(reply.result);
      if (found?.events?.length === 0 && !this.chosen) {
        // (An open event is not among those that are kept: it may be the first of a recording.)
        const newest = wire.events((await link.command(this.id, "events", { limit: 1 })).result)?.events?.[0]
          ?? fleet.newestEvents(this.id)[0]?.event;
        if (!here()) return;
        if (newest?.onset) {
          reply = await link.command(this.id, "events", { ...query, ...this.moveTo(newest.onset) });
          found = wire.events(reply.result);
        }
      }
      if (!here()) return;
      const fresh = (found?.events ?? []).filter((event) => wire.isOwn(this.id, event.event_id) && event.onset);
      for (const event of fresh) fleet.learn(this.id, event);
      this.local = false;
      this.list = more ? [...this.list, ...fresh] : fresh;
      if (!more) this.putNewest();
      this.next = found?.next ?? null;
      this.matches = found?.matches ?? this.list.length;
      this.incomplete = reply.incomplete === true || (more && this.incomplete === true);
      const summary = this.list.length === 0 ? words.nothing
        : `${words.found(Math.max(this.matches, this.list.length), this.list.length)} ${this.moved}`.trim();
      setText(this.status, this.incomplete ? `${summary} ${text.link.incomplete}` : summary);
    } catch (error) {
      if (!here()) return;
      // The station has come after it was asked: it is asked again.
      if (this.cameLater && error.timeout) return this.ask(more);
      this.local = true;
      this.next = null;
      this.list = this.seen(query);
      const newest = fleet.newestEvents(this.id)[0]?.event;
      if (this.list.length === 0 && newest && !this.chosen) this.list = this.seen(this.moveTo(newest.onset));
      const old = error.old || error.errors?.some((one) => ["unknown_key", "unavailable", "syntax"].includes(one.code)
        && (one.path ?? "") === "");
      setText(this.status, `${old ? words.keepsNone : words.failed(error.message)} ${this.moved}`.trim());
    }
    this.button.disabled = this.more.disabled = false;
    this.show();
  }

  // The days up to that of the newest event, where it is not one of the last: of a recording, or of a station that has been
  // away for long. Says so.
  moveTo(onset) {
    const utc = format.utc();
    const at = units.milliseconds(onset);
    this.from.value = units.date(at - 30 * day, utc);
    this.to.value = units.date(at, utc);
    this.moved = this.to.value === units.date(Date.now(), utc) ? "" : words.newest(this.to.value);
    return this.days();
  }

  // What this page has seen itself, by the same filter.
  seen({ from, to, min_mmi: least = undefined, class: kind = "" }) {
    const after = (event) => (!from || event.onset >= from) && (!to || event.onset < to);
    const mmi = (event) => event.intensity?.find((item) => item.scale === "mmi")?.value ?? -1;
    return fleet.newestEvents(this.id).map(({ event }) => event)
      .filter((event) => after(event) && (least === undefined || mmi(event) >= least) && (!kind || event.class?.likely === kind));
  }

  // An event while the list is open: at its head, if it is one of today.
  heard() {
    const newest = fleet.newestEvents(this.id)[0]?.event;
    // A day has begun, or a station that was away for long is back.
    if (!this.chosen && newest?.onset >= this.days().to) {
      this.moveTo(newest.onset);
      return this.ask(false);
    }
    if (this.local && this.list.length === 0 && !this.chosen) this.ask(false);
    else if (this.local) this.list = this.seen(this.days());
    else {
      const known = new Map(fleet.newestEvents(this.id).map(({ id, event }) => [id, event]));
      this.list = this.list.map((event) => known.get(event.event_id) ?? event);
      this.putNewest();
    }
    this.show();
  }

  // The open event is not among those that a station keeps: it stands at the head, if it is one of these days.
  putNewest() {
    const [newest] = this.seen(this.days());
    if (newest && this.asked > 0 && !(newest.onset <= this.list[0]?.onset) && !this.minimum.value
      && !this.kind.value) this.list.unshift(newest);
  }

  row(event) {
    const f = format;
    const button = h("button", { type: "button", class: "plain small", "aria-label": words.waveformOf(f.moment(event.onset)),
      disabled: event.event_type !== "end",
      onclick: () => this.waveform(event, button) }, text.event.mseed);
    const goesOn = event.event_type !== "end";
    const { isHeard } = this;
    return h("tr", { class: goesOn && isHeard ? "running" : "" }, this.labels.isOffered && this.labels.cell(event),
      h("td", {}, h("a", { href: router.address("station", this.id, "event", event.event_id) }, f.dateTime(event.onset)),
        event.test ? h("span", { class: "badge" }, words.test) : null,
          goesOn && h("span", { class: "badge", dataset: { state: isHeard ? "bad" : "unknown" } },
          isHeard ? words.running : text.network.unheard)),
      h("td", {}, h("span", { class: "chips" }, (event.intensity ?? []).map(intensityChip))),
      h("td", {}, certain(f.acceleration(event.pga), event.acceleration_valid)),
        h("td", {}, certain(f.velocity(event.pgv), event.velocity_valid)),
        h("td", {}, runningDuration(this.id, event, event.event_type === "end")),
      h("td", {}, classBadge(event) ?? "–"),
      h("td", { class: "quiet" }, [...new Set((event.detectors ?? []).map((one) => words.names[one.name] ?? one.name))].join(", ")),
      h("td", {}, button));
  }

  show() {
    this.table.hidden = this.list.length === 0;
    this.isHeard = isHeard(this.id);
    this.labels.show();
    // The focus stays where it was.
    const focused = this.body.contains(document.activeElement) ? document.activeElement.getAttribute("data-event") : null;
    this.body.replaceChildren(...this.list.map((event) => this.row(event)));
    if (focused) /** @type {HTMLElement} */ (this.body.querySelector(`input[data-event="${CSS.escape(focused)}"]`))?.focus();
    this.more.hidden = !this.next;
    for (const button of this.files) button.disabled = this.list.length === 0;
  }

  async waveform(event, button) {
    button.disabled = true;
    setText(this.status, words.loading);
    try {
      const kept = fleet.knows(this.id, "event") === true ? (await waveforms.kept(this.id, event.event_id)).assembler : null;
      const ns = waveform.parseTime;
      const assembler = kept?.bytes > 0 ? kept : await waveforms.snapshot(this.id, ns(event.onset) - 10000000000n, ns(event.end));
      if (assembler.bytes === 0) throw new Error(text.event.notInRing);
      saveFile(`${event.event_id}.mseed`, assembler.file());
      setText(this.status, "");
    } catch (error) {
      setText(this.status, words.loadFailed(error.errors?.[0]?.message ?? error.message));
    }
    button.disabled = false;
  }

  save(kind) {
    const name = `${this.id}-events.${kind}`;
    saveFile(name, kind === "csv" ? csv.events(this.list) : quakeML(this.list, codesOf(this.id)));
  }
}
