// The events that a station keeps: asked for by time, intensity and class, and taken along as files.
(function (Seismote) {
  "use strict";

  const { h, text, fleet, link, wire, waveforms, setText, units } = Seismote;
  const words = text.events;
  const page = 50;

  const day = 86400000;

  Seismote.view("#/station/:id/events", {
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
    constructor(id) {
      Object.assign(this, { id, list: [], next: null, matches: null, asked: 0 });
      this.head = Seismote.stationHead(id, "events");
      const utc = Seismote.format.utc();
      const zone = Seismote.format.zone(Date.now());
      const field = (label, input) => h("label", { class: "field" }, label, input);
      this.from = h("input", { type: "date", value: units.date(Date.now() - 30 * day, utc) });
      this.to = h("input", { type: "date", value: units.date(Date.now(), utc) });
      const steps = Seismote.scales.scales.mmi.steps;
      this.minimum = h("select", {}, h("option", { value: "" }, words.any), steps.slice(1, 10).map((step) => h("option", { value: String(step.from) }, step.name)));
      this.kind = h("select", {}, h("option", { value: "" }, words.any), Object.entries(text.class.names).map(([value, name]) => h("option", { value }, name)));
      this.button = h("button", { type: "submit", class: "primary" }, words.ask);
      this.status = h("p", { class: "quiet", role: "status" });
      this.body = h("tbody", {});
      const heads = () => [words.onset(zone), words.intensity, words.pga, words.pgv, words.duration, text.class.column, words.detectors, words.waveform];
      this.heads = h("tr", {}, heads().map((word) => h("th", { scope: "col" }, word)));
      this.table = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": words.title, hidden: true }, h("table", { class: "events" }, h("thead", {}, this.heads), this.body));
      this.more = h("button", { type: "button", class: "plain", hidden: true, onclick: () => this.ask(true) }, words.more);
      const save = (kind, name) => h("button", { type: "button", class: "plain small", disabled: true, onclick: () => this.save(kind) }, name);
      this.files = [save("csv", text.event.csv), save("xml", text.event.quakeml)];
      this.element = h("section", { class: "card" },
        h("form", { class: "event-filter", "aria-label": words.filter, onsubmit: (event) => {
          event.preventDefault();
          this.ask(false);
        } }, field(words.from, this.from), field(words.to, this.to), field(words.minimum, this.minimum), field(text.class.column, this.kind), this.button,
        h("span", { class: "quiet small-note" }, words.zoneHelp(zone))),
        h("div", { class: "event-foot" }, this.status, h("div", { class: "event-files", role: "group", "aria-label": words.download }, h("span", { class: "quiet" }, words.download), this.files)),
        this.table, this.more);
      this.stops = [
        link.on("state", (state) => state === "online" && this.ask(false)),
        fleet.on("station", (which, what) => which === id && ((what === "event" && this.heard()) || (what === "info" && this.local && this.ask(false)))),
        Seismote.preferences.on(() => {
          this.heads.firstChild.textContent = words.onset(Seismote.format.zone(Date.now()));
          this.show();
        }),
      ];
    }

    close() {
      this.closed = true;
      for (const stop of this.stops) stop();
      this.head.stop();
    }

    // The chosen days in the reader's zone, as RFC 3339.
    days() {
      const time = (value, plus) => {
        if (!/^\d{4}-\d\d-\d\d$/.test(value)) return undefined;
        const at = Seismote.format.utc() ? Date.parse(`${value}T00:00:00Z`) : new Date(`${value}T00:00:00`).getTime();
        return new Date(at + plus).toISOString();
      };
      return { from: time(this.from.value, 0), to: time(this.to.value, day) };
    }

    async ask(more) {
      const asked = ++this.asked;
      const here = () => !this.closed && asked === this.asked;
      if (link.state !== "online") return;
      this.button.disabled = this.more.disabled = true;
      setText(this.status, words.asking);
      const query = { ...this.days(), limit: page };
      if (this.minimum.value) query.min_mmi = Number(this.minimum.value);
      if (this.kind.value) query.class = this.kind.value;
      if (more && this.next) query.after = this.next;
      try {
        if (fleet.knows(this.id, "events") === false) throw Object.assign(new Error(""), { old: true });
        const reply = await link.command(this.id, "events", query);
        const found = wire.events(reply.result);
        if (!here()) return;
        const fresh = (found?.events ?? []).filter((event) => event.event_id && event.onset);
        for (const event of fresh) fleet.learn(this.id, event);
        this.local = false;
        this.list = more ? [...this.list, ...fresh] : fresh;
        this.next = found?.next ?? null;
        this.matches = found?.matches ?? this.list.length;
        this.incomplete = reply.incomplete === true || (more && this.incomplete === true);
        const summary = this.list.length === 0 ? words.nothing : words.found(this.matches, this.list.length);
        setText(this.status, this.incomplete ? `${summary} ${text.link.incomplete}` : summary);
      } catch (error) {
        if (!here()) return;
        this.local = true;
        this.next = null;
        this.list = this.seen(query);
        const old = error.old || error.errors?.some((one) => ["unknown_key", "unavailable", "syntax"].includes(one.code) && (one.path ?? "") === "");
        setText(this.status, old ? words.keepsNone : words.failed(error.message));
      }
      this.button.disabled = this.more.disabled = false;
      this.show();
    }

    // What this page has seen itself, by the same filter.
    seen({ from, to, min_mmi: least, class: kind }) {
      const after = (event) => (!from || event.onset >= from) && (!to || event.onset < to);
      const mmi = (event) => event.intensity?.find((item) => item.scale === "mmi")?.value ?? -1;
      return fleet.newestEvents(this.id).map(({ event }) => event)
        .filter((event) => after(event) && (least === undefined || mmi(event) >= least) && (!kind || event.class?.likely === kind));
    }

    // An event while the list is open: at its head, if it is one of today.
    heard() {
      if (this.local) this.list = this.seen(this.days());
      else {
        const known = new Map(fleet.newestEvents(this.id).map(({ id, event }) => [id, event]));
        this.list = this.list.map((event) => known.get(event.event_id) ?? event);
        const newest = fleet.newestEvents(this.id)[0]?.event;
        if (newest && this.asked > 0 && (this.list.length === 0 || newest.onset > this.list[0].onset) && !this.minimum.value && !this.kind.value) this.list.unshift(newest);
      }
      this.show();
    }

    row(event) {
      const f = Seismote.format;
      const button = h("button", { type: "button", class: "plain small", "aria-label": words.waveformOf(f.moment(event.onset)), disabled: event.event_type !== "end",
        onclick: () => this.waveform(event, button) }, text.event.mseed);
      return h("tr", { class: event.event_type === "end" ? "" : "running" },
        h("td", {}, h("a", { href: Seismote.router.address("station", this.id, "event", event.event_id) }, f.dateTime(event.onset)),
          event.test ? h("span", { class: "badge" }, words.test) : null, event.event_type === "end" ? null : h("span", { class: "badge", dataset: { state: "bad" } }, words.running)),
        h("td", {}, h("span", { class: "chips" }, (event.intensity ?? []).map(Seismote.intensityChip))),
        h("td", {}, f.acceleration(event.pga)), h("td", {}, f.velocity(event.pgv)), h("td", {}, Number.isFinite(event.duration_s) ? units.duration(event.duration_s) : "–"),
        h("td", {}, Seismote.classBadge(event) ?? "–"),
        h("td", { class: "quiet" }, [...new Set((event.detectors ?? []).map((one) => words.names[one.name] ?? one.name))].join(", ")),
        h("td", {}, button));
    }

    show() {
      this.table.hidden = this.list.length === 0;
      this.body.replaceChildren(...this.list.map((event) => this.row(event)));
      this.more.hidden = !this.next;
      for (const button of this.files) button.disabled = this.list.length === 0;
    }

    async waveform(event, button) {
      button.disabled = true;
      setText(this.status, words.loading);
      try {
        const kept = fleet.knows(this.id, "event") === true ? (await waveforms.kept(this.id, event.event_id)).assembler : null;
        const ns = Seismote.waveform.parseTime;
        const assembler = kept?.bytes > 0 ? kept : await waveforms.snapshot(this.id, ns(event.onset) - 10000000000n, ns(event.end));
        if (assembler.bytes === 0) throw new Error(text.event.notInRing);
        Seismote.save(`${event.event_id}.mseed`, assembler.file());
        setText(this.status, "");
      } catch (error) {
        setText(this.status, words.loadFailed(error.errors?.[0]?.message ?? error.message));
      }
      button.disabled = false;
    }

    save(kind) {
      const name = `${this.id}-events.${kind}`;
      Seismote.save(name, kind === "csv" ? Seismote.csv.events(this.list) : Seismote.quakeML(this.list, Seismote.codesOf(this.id)));
    }
  }
})(globalThis.Seismote ??= {});
