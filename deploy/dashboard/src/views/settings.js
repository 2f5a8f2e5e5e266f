// The settings of one station: a form from its own schema, looked at by the station itself while one types.

import { dialog } from "../dialogs.js";
import { announce, h, setText, withCode } from "../dom.js";
import { fleet } from "../fleet.js";
import { link } from "../link.js";
import { Seismote } from "../page.js";
import { preferences } from "../preferences.js";
import { form } from "../pure/form.js";
import { wire } from "../pure/wire.js";
import { defineView } from "../router.js";
import { stationWords } from "../station-words.js";
import { text } from "../text.js";
import { stationHead } from "./frame.js";
import { SettingsChoice } from "./settings-choice.js";
import { settingControls } from "./settings-controls.js";
import { SettingsHistory } from "./settings-history.js";
import { settingRows } from "./settings-rows.js";
import { SettingsTrial, settingsProblem, settingsSource, wouldDo } from "./settings-trial.js";

const words = () => text.settings;
const checkAfter = 500;
// Reasons that stand beside the button; all of them are at their settings.
const mostReasons = 2;

defineView("#/station/:id/settings", {
  title: ({ id }) => words().title(id),
  mount(main, { id }) {
    const page = new Page(main, id);
    Seismote.settingsView = page;
    return () => page.close();
  },
});

class Page extends SettingsChoice {
  constructor(main, id) {
    super();
    this.id = id;
    this.main = main;
    this.verdict = null;
    this.details = null;
    this.closers = [fleet.on("station", (which, what) => which === id && this.heard(what)), fleet.watchSchema(id),
      link.on("state", () => this.connected())];
    main.classList.add("settings");
    this.frame();
    this.build();
    this.connected();
    this.guard = (event) => {
      if (this.edits.size > 0) event.preventDefault();
    };
    addEventListener("beforeunload", this.guard);
    this.closers.push(() => removeEventListener("beforeunload", this.guard));
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    for (const close of this.closers) close();
    this.trial.close();
  }

  get station() {
    return fleet.stations.get(this.id);
  }

  async connected() {
    if (link.state !== "online") return this.refresh();
    const allowed = await link.rights(this.id);
    if (this.closed || link.state !== "online") return;
    this.allowed = allowed;
    if (allowed) await this.getDetails();
    this.refresh();
  }

  async getDetails() {
    try {
      this.details = wire.details((await link.command(this.id, "config-get")).result) ?? null;
    } catch {
      this.details = null;
    }
    if (this.closed) return;
    this.history.show(this.details);
  }

  heard(what) {
    if (what === "schema" && !this.rows) this.build();
    else if (what === "config") {
      if (!this.rows) this.build();
      for (const row of this.rows ?? []) row.show();
      if (this.allowed) this.getDetails().then(() => this.refresh());
      this.later();
      this.refresh();
    } else if (what === "alert" || what === "online") this.refresh();
  }

  // MARK: What there is

  frame() {
    const s = words();
    this.banner = h("div", { class: "settings-banner", role: "status" });
    this.trial = new SettingsTrial(this);
    this.history = new SettingsHistory(this);
    this.search = h("input", { type: "search", id: "settings-search", placeholder: s.search, "aria-label": s.search,
      oninput: () => this.filter() });
    this.found = h("span", { class: "settings-found", role: "status" });
    this.level = h("select", { onchange: () => preferences.set("advanced", this.level.value) },
      [["no", s.basic], ["yes", s.advanced]].map(([value, name]) => h("option", { value }, name)));
    this.level.value = preferences.get("advanced");
    this.closers.push(preferences.on((name) => name === "advanced" && this.filter()));
    this.hidden = h("p", { class: "quiet settings-hidden" });
    this.presets = h("select", { "aria-describedby": "settings-preset-help", onchange: () => this.preset(this.presets.value) },
      h("option", { value: "" }, s.presetChoose),
      Object.keys(Seismote.presets ?? {}).map((name) => h("option", { value: name }, s.presets[name] ?? name)));
    this.tools = h("div", { class: "event-filter settings-tools" }, h("label", { class: "field" }, s.level, this.level),
      h("label", { class: "field" }, s.preset, this.presets), h("p", { class: "quiet small-note", id: "settings-preset-help" },
      s.presetHelp));
    this.nav = h("nav", { class: "settings-groups", "aria-label": s.groups });
    this.list = h("form", { class: "settings-list", novalidate: true, onsubmit: (event) => {
      event.preventDefault();
      this.apply();
    } });
    this.says = h("div", { class: "settings-says", role: "status", "aria-live": "polite" });
    this.applyButton = h("button", { type: "button", class: "primary", onclick: () => this.apply() }, s.apply);
    this.discardButton = h("button", { type: "button", class: "plain", onclick: () => this.discard() }, s.discard);
    this.whereButton = h("button", { type: "button", class: "plain", onclick: () => this.toFirstProblem() }, s.where);
    this.bar = h("div", { class: "settings-bar", hidden: true }, this.says,
      h("div", { class: "actions" }, this.whereButton, this.discardButton, this.applyButton));
    this.revision = h("span", { class: "settings-revision" });
    this.head = stationHead(this.id, "settings");
    this.closers.push(() => this.head.stop());
    this.main.append(this.head.element, this.trial.element, this.banner,
      this.tools, h("div", { class: "settings-find" }, this.search, this.found, this.revision),
      h("div", { class: "settings-body" }, this.nav, h("div", { class: "settings-main" }, this.list, this.hidden, this.history.element)),
      this.bar);
  }

  build() {
    const { schema, config } = this.station ?? {};
    const tree = schema?.schema ?? schema;
    if (!tree?.properties || !config?.config) {
      this.list.replaceChildren(h("p", { class: "quiet" }, words().waiting));
      return;
    }
    // What a station calls its schema can be anything.
    try {
      this.make(tree);
    } catch (error) {
      this.rows = this.groups = this.links = undefined;
      this.nav.replaceChildren();
      this.list.replaceChildren(h("p", { class: "problem", role: "alert" }, words().noSchema(error.message)));
    }
    this.refresh();
  }

  make(tree) {
    this.fields = stationWords.fields(form.fields(tree));
    this.headings = stationWords.headings(form.headings(tree));
    this.rows = settingRows.rows(this.fields, {
      axis: () => this.axisName,
      current: (key) => form.valueAt(this.station?.config?.config, key.split(".")),
      edited: (key) => this.edits.get(key) ?? null,
      origin: (key, field) => this.origin(key, field),
      note: (key, read) => this.note(key, read),
      undo: (key) => this.undo(key),
      reset: (key) => this.change(key, { value: null }),
    });
    this.sections();
    for (const row of this.rows) row.show();
    this.filter();
  }

  sections() {
    const groups = new Map();
    for (const row of this.rows) {
      const { group } = row.field;
      if (!groups.has(group)) groups.set(group, new Map());
      const section = (settingRows.isAxisField(row.field) ? row.field.section.slice(1) : row.field.section).join(".");
      const parts = groups.get(group);
      parts.set(section, [...(parts.get(section) ?? []), row]);
    }
    const title = (key) => this.headings[key]?.title ?? key;
    const helpOf = (key) => this.headings[key]?.help && h("p", { class: "setting-help" }, withCode(this.headings[key].help));
    this.links = new Map();
    this.groups = [...groups].map(([group, parts]) => {
      const inner = [...parts].map(([section, rows]) => h("div", { class: "settings-section" },
        section && h("h3", null, title(group === "axes" ? `axes.all.${section}` : `${group}.${section}`)),
        section && helpOf(`${group}.${section}`),
        rows.map((row) => row.element)));
      const button = h("button", { type: "button", class: "settings-link", onclick: () => this.go(group) }, title(group),
        h("span", { class: "count" }));
      this.links.set(group, button);
      return { group, rows: [...parts.values()].flat(), element: h("fieldset", { class: "settings-group card", id: `settings-${group}` },
        h("legend", null, h("h2", null, title(group))), helpOf(group),
        group === "axes" && this.axisChoice(), inner) };
    });
    this.nav.replaceChildren(...this.links.values());
    this.list.replaceChildren(...this.groups.map((group) => group.element));
  }

  // Each axis on its own, or all of them at once.
  axisChoice() {
    const option = (axis) => h("label", { class: "choice" },
      h("input", { type: "radio", name: "settings-axis", value: axis, checked: axis === this.axisName, onchange: () => {
        this.axisName = axis;
        for (const row of this.rows) if (settingRows.isAxisField(row.field)) row.show();
        this.refresh();
      } }), h("span", null, axis === "all" ? words().allAxes : words().oneAxis(axis)));
    return h("div", { class: "choices", role: "radiogroup", "aria-label": words().axes }, ["all", ...settingRows.axisNames].map(option));
  }

  go(group) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const target = document.getElementById(`settings-${group}`);
    target.scrollIntoView({ behavior: still ? "auto" : "smooth", block: "start" });
    /** @type {HTMLElement} */ (target.querySelector("input, select, textarea"))?.focus({ preventScroll: true });
  }

  // Where a value comes from, and why it cannot be changed here, if it cannot.
  origin(key, field) {
    const keys = key.startsWith("axes.all.") ? settingRows.axisNames.map((axis) => key.replace(".all.", `.${axis}.`)) : [key];
    const sources = this.station?.config?.sources ?? {};
    const named = (list) => keys.some((one) => form.isNamed(list, one));
    const where = named(sources.command_line) ? "commandLine" : named(sources.overlay) ? "overlay" : named(sources.file) ? "file"
      : "default";
    const locked = !field.remote ? "board" : where === "commandLine" ? "commandLine" : named(this.details?.locked)
      || form.isNamed(this.details?.locked, key) ? "file" : null;
    return { where, locked };
  }

  // MARK: Changes

  note(key, read) {
    if (read.unchanged) return this.undo(key);
    if (read.error) {
      this.mistakes.set(key, { code: "typed", ...read });
      this.edits.set(key, { value: undefined });
      return this.later();
    }
    const keys = key.startsWith("axes.all.") ? settingRows.axisNames.map((axis) => key.replace(".all.", `.${axis}.`)) : [key];
    const as = (one) => settingControls.sameValue(form.valueAt(this.station?.config?.config, one.split(".")), read.value);
    this.mistakes.delete(key);
    if (keys.every(as)) this.edits.delete(key);
    else this.edits.set(key, { value: read.value });
    this.later();
  }

  change(key, edit) {
    this.mistakes.delete(key);
    if (edit) this.edits.set(key, edit);
    else this.edits.delete(key);
    for (const row of this.rows) if (row.key() === key) row.show();
    this.later();
  }

  undo(key) {
    this.change(key, null);
  }

  discard() {
    const keys = [...this.edits.keys()];
    this.edits.clear();
    this.mistakes.clear();
    for (const row of this.rows) if (keys.includes(row.key())) row.show();
    this.later();
  }

  patch() {
    return form.patch([...this.edits].filter(([, { value }]) => value !== undefined).map(([key, { value }]) => [key, value]));
  }

  // Asks the station what it would say, when nothing has been typed for a moment.
  later() {
    clearTimeout(this.timer);
    this.verdict = null;
    this.refresh();
    if (this.edits.size > 0 && this.allowed) this.timer = setTimeout(() => this.check(), checkAfter);
  }

  async check() {
    const asked = (this.asked = {});
    let verdict;
    try {
      const reply = await link.command(this.id, "config", { set: this.patch(), dry_run: true, confirm_s: 60 });
      verdict = { result: wire.proposal(reply.result) ?? {}, rev: reply.rev, errors: [] };
    } catch (error) {
      verdict = { errors: error.errors?.length ? error.errors : [{ code: "unavailable", path: "", message: error.message }] };
    }
    if (this.closed || asked !== this.asked || this.edits.size === 0) return null;
    this.verdict = verdict;
    this.refresh();
    return verdict;
  }

  async apply() {
    clearTimeout(this.timer);
    if (this.edits.size === 0 || !this.allowed) return;
    if (this.mistakes.size > 0) return this.toFirstProblem();
    const verdict = await this.check();
    if (!verdict) return;
    if (verdict.errors.length > 0) return this.toFirstProblem();
    const changes = form.diff(this.fields, this.station.config.config, verdict.result.config);
    const all = [...this.edits.keys()].some((key) => key.startsWith("axes.all."));
    const done = await this.trial.propose({
      changes, result: verdict.result, all,
      send: (confirm) => link.command(this.id, "config", { set: this.patch(), if_rev: verdict.rev, source: settingsSource(link.user),
        ...confirm }),
    });
    if (!done || this.closed) return;
    this.edits.clear();
    this.mistakes.clear();
    for (const row of this.rows) row.show();
    this.later();
  }

  toFirstProblem() {
    const row = this.rows.find((one) => one.element.classList.contains("wrong"));
    row?.element.scrollIntoView({ block: "center" });
    row?.control.input.focus({ preventScroll: true });
  }

  // MARK: What is to be seen

  refresh() {
    const s = words();
    const writable = this.allowed === true && link.state === "online" && this.station?.online !== false;
    const { fields, others } = form.errorsByField(this.fields ?? [], this.verdict?.errors);
    const count = new Map();
    for (const row of this.rows ?? []) {
      const key = row.key();
      const mistake = this.mistakes.get(key);
      // An error that is said of all axes, or of one of them.
      const own = fields.get(key) ?? (key.startsWith("axes.all.")
        ? settingRows.axisNames.flatMap((axis) => fields.get(key.replace(".all.", `.${axis}.`)) ?? [])
        : fields.get(key.replace(/^axes\.[xyz]\./, "axes.all.")) ?? []);
      row.mark({ writable, errors: mistake ? [mistake] : own });
      if (mistake || own.length > 0) count.set(row.field.group, "!");
    }
    for (const key of this.edits.keys()) {
      const group = key.split(".")[0];
      if (count.get(group) !== "!") count.set(group, (count.get(group) ?? 0) + 1);
    }
    for (const [group, button] of this.links ?? []) {
      setText(button.querySelector(".count"), String(count.get(group) ?? ""));
      button.classList.toggle("wrong", count.get(group) === "!");
    }
    const { config } = this.station ?? {};
    setText(this.revision, !config ? "" : config.rev === 0 ? s.revisionFile : s.revision(config.rev));
    this.trial.show(config, this.station?.alerts.get("config_reverted"));
    this.showBanner(writable, config);
    this.showSays(others);
  }

  showBanner(writable, config) {
    const s = words();
    const parts = [];
    if (link.state === "online" && this.station?.online === false) parts.push(s.offline);
    else if (link.state === "online" && this.allowed === false) parts.push(s.readOnly);
    if (config?.needs_restart?.length > 0) {
      parts.push(s.waitsForRestart(config.needs_restart.join(", ")), writable
        && h("button", { type: "button", class: "plain small", onclick: () => this.restart() }, s.restart));
    }
    const now = parts.map((part) => part?.textContent ?? part).join();
    if (this.bannerNow === now) return;
    this.bannerNow = now;
    this.banner.replaceChildren(...parts.filter(Boolean).map((part) => (typeof part === "string" ? h("p", null, part) : part)));
  }

  async restart() {
    const s = words();
    const sure = await dialog({ title: s.restart, content: h("p", null, s.restartSure), actions: [
      { label: s.cancel, value: false }, { label: s.restart, value: true, primary: true }] });
    if (sure) link.command(this.id, "restart").catch((error) => announce(error.message));
  }

  showSays(others) {
    const s = words();
    const { verdict, mistakes, edits } = this;
    this.bar.hidden = edits.size === 0;
    this.main.classList.toggle("has-edits", edits.size > 0);
    this.applyButton.disabled = !this.allowed || mistakes.size > 0 || verdict?.errors.length > 0;
    this.whereButton.hidden = !this.rows?.some((row) => row.element.classList.contains("wrong"));
    let says;
    // Why, too: the setting itself may be far from what is seen.
    const wrong = (this.rows ?? []).filter((row) => row.problem() !== "").slice(0, mostReasons);
    const why = [...wrong.map((row) => `${row.name}: ${row.problem()}`), ...others.map(settingsProblem)];
    if (mistakes.size > 0) says = [s.mistakes(mistakes.size), ...why].join(" ");
    else if (!verdict) says = s.checking(edits.size);
    else if (verdict.errors.length > 0) says = [s.refused(verdict.errors.length), ...why].join(" ");
    else says = wouldDo(verdict.result);
    setText(this.says, edits.size === 0 ? "" : says);
    this.says.className = `settings-says ${mistakes.size > 0 || verdict?.errors.length > 0 ? "wrong" : verdict ? "fine" : ""}`;
  }
}
