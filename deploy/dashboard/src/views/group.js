// One setting for all stations of a group: what each would say, then on trial with all of them, then kept or gone back.

import { dialog } from "../dialogs.js";
import { h, setText, withCode } from "../dom.js";
import { fleet } from "../fleet.js";
import { link } from "../link.js";
import { Seismote } from "../page.js";
import { form } from "../pure/form.js";
import { wire } from "../pure/wire.js";
import { defineView, router } from "../router.js";
import { stationWords } from "../station-words.js";
import { numbers, text } from "../text.js";
import { settingControls } from "./settings-controls.js";
import { settingsProblem } from "./settings-trial.js";

const words = text.group;
const trial = 120;
// Each station waits up to 5 s of its own choice.
const patience = 12000;

defineView("#/group/:group", {
  title: () => words.title,
  mount(main, { group }) {
    main.className = "settings group";
    const view = new Group(main, group);
    Seismote.groupView = view;
    return () => view.close();
  },
});

class Group {
  // The settings of one station of the group, by its id; the chosen one and what its value is typed into.
  fields = null;
  reference = null;
  field = null;
  control = null;
  // id -> what that station has said
  answers = new Map();
  ends = 0;
  stops = [];
  /** @type {(() => any)[]} */
  closers = [];
  phase = "";
  closed = false;

  constructor(main, group) {
    this.main = main;
    this.group = group;
    const groups = [...new Set(["all", group, ...[...fleet.stations.values()].flatMap((known) => known.info?.station?.groups
      ?? [])])].sort();
    const choice = h("select", { onchange: () => (location.hash = router.address("group", choice.value)) },
      groups.map((name) => h("option", { value: name, selected: name === group }, name === "all" ? words.all : name)));
    this.about = h("span", { class: "quiet" });
    this.search = h("input", { type: "search", placeholder: words.choose, "aria-label": words.choose, oninput: () => this.list() });
    this.picks = h("select", { size: "8", "aria-label": words.setting, class: "group-picks", onchange: () => this.pick(this.picks.value) });
    this.note = h("p", { class: "quiet small-note" }, words.waiting);
    this.help = h("p", { class: "setting-help" });
    this.value = h("div", { class: "setting-control" });
    this.problem = h("p", { class: "problem", role: "alert" });
    this.dryButton = h("button", { type: "submit", class: "plain", disabled: true }, words.dry);
    this.applyButton = h("button", { type: "button", class: "primary", hidden: true, onclick: () => this.apply() });
    this.keepButton = h("button", { type: "button", class: "primary", hidden: true,
      onclick: () => this.settle("config-confirm", {}, words.kept) }, words.keep);
    this.backButton = h("button", { type: "button", class: "plain", hidden: true,
      onclick: () => this.settle("config-rollback", {}, words.wentBack) }, words.goBack);
    this.status = h("p", { class: "strong", role: "status" });
    this.body = h("tbody", {});
    this.table = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": words.answer, hidden: true }, h("table", {},
      h("thead", {}, h("tr", {}, [words.station, words.now, words.answer].map((name) => h("th", { scope: "col" }, name)))), this.body));
    main.append(
      h("nav", { class: "crumbs", "aria-label": text.frame.where }, h("a", { href: "#/" }, text.frame.stations),
        h("span", { "aria-hidden": "true" }, "/")),
      h("h1", {}, words.title),
      h("form", { class: "card group-form", onsubmit: (event) => {
        event.preventDefault();
        this.dry();
      } },
      h("div", { class: "event-filter" }, h("label", { class: "field" }, words.group, choice), this.about),
      h("div", { class: "group-choose" }, h("div", { class: "field" }, this.search, this.picks, this.note),
        h("div", { class: "field" }, this.help, h("span", { class: "quiet" }, words.value), this.value, this.problem,
        h("div", { class: "actions" }, this.dryButton)))),
      h("section", { class: "card group-answer", "aria-label": words.answer }, this.status,
        h("div", { class: "actions" }, this.applyButton, this.keepButton, this.backButton), this.table));
    this.closers = [fleet.on("station", (id, what) => {
      if (what === "schema" && id === this.reference) this.build();
      if (what === "info" || what === "online") this.members();
    })];
    this.timer = setInterval(() => this.tick(), 500);
    // The way out of a trial is here alone.
    const guard = (event) => {
      if (this.phase === "trial") event.preventDefault();
    };
    addEventListener("beforeunload", guard);
    this.closers.push(() => removeEventListener("beforeunload", guard));
    this.members();
  }

  close() {
    this.closed = true;
    clearInterval(this.timer);
    for (const stop of [...this.closers, ...this.stops]) stop();
  }

  get ids() {
    return [...fleet.stations.values()].filter((known) => this.group === "all"
      || known.info?.station?.groups?.includes(this.group)).map((known) => known.id).sort();
  }

  get online() {
    return this.ids.filter((id) => fleet.stations.get(id).online === true);
  }

  members() {
    setText(this.about, words.members(this.ids.length, numbers.text(this.online.length)));
    if (this.reference) return;
    this.reference = this.online[0] ?? null;
    setText(this.note, this.reference ? words.waiting : words.none);
    if (this.reference) this.closers.push(fleet.watchSchema(this.reference), fleet.watchStation(this.reference));
  }

  build() {
    const { schema } = fleet.stations.get(this.reference) ?? {};
    const tree = schema?.schema ?? schema;
    if (this.fields || !tree?.properties) return;
    try {
      this.fields = stationWords.fields(form.fields(tree)).filter((field) => field.remote && !field.secret
        && !["station", "mqtt"].includes(field.group) && !/^axes\.[xyz]\./.test(field.key));
    } catch (error) {
      return setText(this.note, text.settings.noSchema(error.message));
    }
    setText(this.note, words.reference(this.reference));
    this.list();
  }

  list() {
    const found = form.search(this.fields ?? [], this.search.value);
    this.picks.replaceChildren(...found.map((field) => h("option", { value: field.key, selected: field === this.field },
      `${field.title || field.name} (${field.key})`)));
  }

  pick(key) {
    this.field = this.fields.find((field) => field.key === key);
    this.control = settingControls.make(this.field, { id: "group-value", describedBy: "group-help", changed: () => this.typed() });
    this.control.set(this.valueOf(this.reference) ?? this.field.default ?? null);
    this.value.replaceChildren(this.control.element);
    this.help.replaceChildren(...withCode(this.field.help));
    this.typed();
  }

  valueOf(id) {
    const { config } = fleet.stations.get(id)?.config ?? {};
    return form.valueAt(config, (this.field.key.startsWith("axes.all.") ? this.field.key.replace(".all.", ".x.")
      : this.field.key).split("."));
  }

  typed() {
    const read = this.control.read();
    this.read = read.error || read.unchanged ? null : read;
    setText(this.problem, read.error ? settingsProblem({ code: "typed", ...read }) : "");
    this.dryButton.disabled = !this.read || this.ends > 0;
    this.applyButton.hidden = true;
  }

  patch() {
    return form.patch(new Map([[this.field.key, this.read.value]]));
  }

  // Sends to all, and shows what each says: read(reply) gives { state, text }.
  send(verb, payload, read) {
    this.answers = new Map();
    this.stops.splice(0).forEach((stop) => stop());
    this.asked = Date.now();
    this.waiting = this.online.length;
    this.stops.push(link.groupCommand(this.group, verb, payload, (id, reply) => {
      this.answers.set(id, { ...read(reply, id), reply });
      this.show();
    }));
    this.show();
  }

  refusal = (reply) => ({ state: "bad", good: false, text: reply.errors.map(settingsProblem).join(" ") || words.refused });

  dry() {
    if (!this.read || link.state !== "online") return;
    this.phase = "dry";
    this.send("config", { set: this.patch(), dry_run: true, confirm_s: trial }, (reply) => {
      if (reply.phase !== "done") return this.refusal(reply);
      const { changed = [] } = wire.proposal(reply.result) ?? {};
      return changed.length > 0 ? { state: "good", good: true, text: words.would } : { state: "unknown", same: true, text: words.same };
    });
  }

  count(name) {
    return [...this.answers.values()].filter((answer) => answer[name]).length;
  }

  async apply() {
    const refusing = this.answers.size - this.count("good") - this.count("same");
    const sure = await dialog({
      title: words.sure(this.group === "all" ? words.all : this.group), className: "wide settings-dialog",
      content: [
        h("p", { class: "strong" },
          `${this.field.title || this.field.name} (${this.field.key}): ${settingControls.shown(this.field, this.read.value)}`),
        h("p", {}, words.sureText(trial)), refusing > 0 && h("p", { class: "problem" }, words.refusing(refusing)),
      ],
      actions: [{ label: words.cancel, value: false }, { label: words.applyNow, value: true, primary: true }],
    });
    if (!sure || this.closed) return;
    this.phase = "trial";
    this.ends = Date.now() + trial * 1000;
    this.send("config", { set: this.patch(), confirm_s: trial, source: text.settings.source }, (reply) =>
      (reply.phase === "done" ? { state: "good", good: true, text: words.took } : this.refusal(reply)));
  }

  settle(verb, payload, said) {
    this.phase = "settled";
    this.ends = 0;
    const took = [...this.answers].filter(([, answer]) => answer.good).length;
    this.said = () => said(numbers.text(this.count("good")), numbers.text(took));
    const done = verb === "config-confirm" ? text.settings.kept : text.settings.goBack;
    this.send(verb, payload, (reply) => (reply.phase === "done" ? { state: "good", good: true, text: done } : this.refusal(reply)));
  }

  tick() {
    if (this.ends > 0 && Date.now() > this.ends) {
      this.ends = 0;
      this.phase = "over";
    }
    this.show();
  }

  show() {
    if (!this.phase) return;
    const { answers, online } = this;
    const all = answers.size >= this.waiting || Date.now() - this.asked > patience;
    const n = numbers.text;
    setText(this.status, this.phase === "over" ? words.over
      : this.phase === "settled" ? this.said()
        : this.phase === "trial" ? words.onTrial(n(this.count("good")), n(answers.size), n(Math.ceil((this.ends - Date.now()) / 1000)))
          : all ? "" : words.asking(n(answers.size), n(this.waiting)));
    const good = this.count("good");
    this.applyButton.hidden = !(this.phase === "dry" && all && good > 0);
    setText(this.applyButton, words.apply(good));
    this.keepButton.hidden = this.backButton.hidden = this.phase !== "trial";
    this.dryButton.disabled = !this.read || this.phase === "trial";
    this.table.hidden = false;
    const rows = [...new Set([...online, ...answers.keys()])].sort().map((id) => {
      const answer = answers.get(id);
      return [id, this.field ? settingControls.shown(this.field, this.valueOf(id)) : "",
        answer ?? (all ? { state: "warn", text: words.silent } : { state: "unknown", text: "…" })];
    });
    const key = JSON.stringify(rows.map(([id, now, { state, text: said }]) => [id, now, state, said]));
    if (key === this.key) return;
    this.key = key;
    this.body.replaceChildren(...rows.map(([id, now, { state, text: said }]) => h("tr", {},
      h("th", { scope: "row" }, h("a", { href: router.address("station", id) }, id)),
        h("td", {}, fleet.stations.get(id)?.config ? now : "–"),
      h("td", { class: "wrap" }, h("span", { class: "badge wrap", dataset: { state } }, said)))));
  }
}
