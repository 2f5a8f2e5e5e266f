// The last revisions of a station's settings, and the way back to them.

import { h } from "../dom.js";
import { link } from "../link.js";
import { format } from "../preferences.js";
import { form } from "../pure/form.js";
import { wire } from "../pure/wire.js";
import { text } from "../text.js";
import { settingsSource } from "./settings-trial.js";

const words = () => text.settings;

class SettingsHistory {
  constructor(page) {
    this.page = page;
    this.element = h("section", { class: "settings-history card", "aria-label": text.settings.history });
  }

  // `details`: the result of config-get, null where it could not be had.
  show(details) {
    const s = words();
    if (!details) return this.element.replaceChildren();
    const revisions = [...(details.revisions ?? [])].reverse();
    const rows = revisions.map((revision) => h("tr", { class: revision.rev === details.rev ? "current" : "" },
      h("th", { scope: "row" }, String(revision.rev)),
      h("td", null, !revision.t || revision.t.startsWith("1970") || revision.rev === 0 ? s.fromFile : format.dateTime(revision.t)),
      h("td", null, revision.source ?? ""),
      h("td", { class: "keys" }, this.changes(revision)),
      h("td", null, revision.rev === details.rev
        ? h("span", { class: "badge" }, s.inForce)
        : h("button", { type: "button", class: "plain small", "aria-label": s.goBackTo(revision.rev),
          onclick: () => this.goBack("config-rollback", { to_rev: revision.rev }, s.goBackTo(revision.rev)) }, s.goBack))));
    this.element.replaceChildren(...[
      h("h2", {}, s.history),
      h("p", { class: "setting-help" }, s.historyHelp),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": s.history }, h("table", null,
        h("thead", null, h("tr", null, [s.revisionColumn, s.time(format.zone(Date.now())), s.by,
          s.changed].map((name) => h("th", { scope: "col" }, name)),
          h("td"))),
        h("tbody", null, rows))),
      (details.sources?.overlay ?? []).length > 0
        && h("button", { type: "button", class: "danger", onclick: () => this.goBack("config-reset", {}, s.resetAll) }, s.resetAll),
    ].filter(Boolean));
  }

  changes({ changed }) {
    const keys = changed ?? [];
    return keys.length > 4 ? `${keys.slice(0, 4).join(", ")} ${words().more(keys.length - 4)}` : keys.join(", ");
  }

  // First what it would do, then with the same question as every change.
  async goBack(verb, payload, title) {
    const { page } = this;
    try {
      const { result: said, rev } = await link.command(page.id, verb, { ...payload, dry_run: true, confirm_s: 60 });
      const result = wire.proposal(said) ?? {};
      const changes = form.diff(page.fields, page.station.config.config, result.config);
      await page.trial.propose({
        changes, result, title,
        send: (confirm) => link.command(page.id, verb, { ...payload, if_rev: rev, source: settingsSource(link.user), ...confirm }),
      });
    } catch (error) {
      page.trial.sayProblem(error);
    }
  }
}

export { SettingsHistory };
