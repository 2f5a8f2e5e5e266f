// Applying a change: what would happen, the trial with its way back, and what is said when it went back.

import { dialog } from "../dialogs.js";
import { announce, h } from "../dom.js";
import { fleet } from "../fleet.js";
import { link } from "../link.js";
import { Seismote } from "../page.js";
import { units } from "../pure/units.js";
import { wire } from "../pure/wire.js";
import { text } from "../text.js";
import { settingControls } from "./settings-controls.js";

const words = () => text.settings;

// One error of a reply, or of what was typed.
export function settingsProblem({ code, error, message, allowed, nearest, part }) {
  const s = words();
  if (code === "typed") {
    const about = part ? `${part}: ` : "";
    if (error === "unit") return about + s.allowedUnits(allowed.join(", "));
    if (error === "limits") return about + s.allowed(allowed);
    if (error === "length") return about + s.numbersNeeded(allowed[0]);
    return about + s.typed[error];
  }
  return [message, allowed && s.allowed(allowed), nearest && s.nearest(nearest)].filter(Boolean).join(" ");
}

// What a change would do, as the station's dry run says.
export function wouldDo({ changed = [], live = [], restart_stream: stream = [], needs_restart: restart = [] } = {}) {
  const s = words();
  if (changed.length === 0) return s.nothing;
  const parts = [[live, s.wouldLive], [stream, s.wouldStream], [restart, s.wouldRestart]].filter(([list]) =>
    list.length > 0).map(([list, said]) => said(list.length));
  return s.would(changed.length, parts.join(", "));
}

// Who asks, as the station writes it down: in English, for whoever reads it there.
export const settingsSource = (user) => (user ? `${Seismote.english.settings.source}, ${user}` : Seismote.english.settings.source);

function changesTable(changes) {
  const { shown } = settingControls;
  const s = words();
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": s.changes },
    h("table", { class: "settings-changes" },
      h("thead", null, h("tr", null, [s.setting, s.before, s.after].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", null, changes.map(({ field, before, after }) => h("tr", null,
        h("th", { scope: "row" }, field.key), h("td", null, shown(field, before)), h("td", null, shown(field, after)))))));
}

// Trials that somebody here may end: "station revision" -> { station, rev, until (ms) }. Whoever leaves the page gives the
// way out of them away, so the browser asks before.
const open = new Map();
const isOpen = ({ station, rev, until }) => {
  const config = fleet.stations.get(station)?.config;
  return Date.now() < until && (!config || config.pending?.rev === rev);
};
addEventListener("beforeunload", (event) => {
  if ([...open.values()].some(isOpen)) event.preventDefault();
});

class SettingsTrial {
  constructor(page) {
    this.page = page;
    this.element = h("div", { class: "settings-trial card", role: "alert", hidden: true });
    // Of a change that was made here: when its time is over, by our own clock.
    this.ends = null;
    this.timer = null;
  }

  close() {
    clearInterval(this.timer);
  }

  // Asks whether these changes are meant, and sends them. True when they have been made.
  async propose({ changes, result, all = false, send, title = "" }) {
    const s = words();
    const must = changes.some(({ field }) => field.group === "mqtt");
    const trial = h("input", { type: "checkbox", id: "settings-trial", checked: true, disabled: must, autofocus: !must });
    const seconds = h("input", { type: "number", id: "settings-trial-s", min: "5", max: "3600", value: "60", class: "short" });
    const answer = await dialog({
      title: title || (all ? s.applyAll : s.applyTitle),
      className: "wide settings-dialog",
      content: [
        all && h("p", { class: "strong" }, s.allSure),
        changes.length > 0 ? changesTable(changes) : h("p", null, s.nothing),
        h("p", null, wouldDo(result)),
        h("p", { class: "settings-confirm" }, trial, h("label", { for: "settings-trial" }, s.trial), " ", seconds,
          h("label", { for: "settings-trial-s" }, s.trialSeconds)),
        h("p", { class: "setting-help" }, must ? s.trialMust : s.trialHelp),
      ],
      actions: [{ label: s.cancel, value: false }, { label: all ? s.applyToAll : s.applyNow, value: true, primary: true }],
    });
    if (!answer) return false;
    const confirm_s = Math.min(3600, Math.max(1, Math.round(Number(seconds.value) || 60)));
    try {
      const reply = await send(trial.checked ? { confirm_s } : {});
      const pending = wire.proposal(reply.result)?.pending;
      if (pending) this.ends = { rev: pending.rev, at: performance.now() + confirm_s * 1000 };
      announce(s.applied(reply.rev));
      this.page.refresh();
      return true;
    } catch (error) {
      await this.sayProblem(error);
      return false;
    }
  }

  sayProblem(error) {
    const s = words();
    const list = error.errors?.length ? error.errors.map((one) => h("p", null, settingsProblem(one))) : h("p", null, error.message);
    return dialog({ title: s.failed, content: list, actions: [{ label: s.close, value: true, primary: true }] });
  }

  show(config, reverted) {
    const pending = config?.pending ?? null;
    // Rights are known later than the trial, when the page is opened in the middle of it.
    const { allowed } = this.page;
    const now = pending ? `pending ${pending.rev} ${allowed}` : reverted ? `reverted ${reverted.t} ${reverted.message}` : "";
    if (now === this.now) return;
    this.now = now;
    clearInterval(this.timer);
    this.element.hidden = now === "";
    this.element.classList.toggle("pending", pending !== null);
    if (pending) this.showPending(pending);
    else if (reverted) this.element.replaceChildren(h("p", { class: "went-back" }, words().wentBack(reverted.message ?? "")));
    else {
      this.ends = null;
      this.element.replaceChildren();
    }
  }

  showPending(pending) {
    const s = words();
    // Of a trial that was not begun here the deadline is by the station's clock, which is not always this browser's.
    const remaining = () => {
      if (this.ends?.rev === pending.rev) return this.ends.at - performance.now();
      const known = fleet.stations.get(this.page.id);
      const now = known?.isLive && known.info?.sensor?.driver !== "replay" ? fleet.time(known) : Date.now();
      return units.milliseconds(pending.deadline) - now;
    };
    const left = h("strong", { class: "settings-left", role: "timer", "aria-live": "off" });
    const bar = h("progress", { class: "settings-progress", max: "1", value: 1, "aria-hidden": "true" });
    const whole = Math.max(1, remaining());
    const { id: station, allowed } = this.page;
    if (allowed) open.set(`${station} ${pending.rev}`, { station, rev: pending.rev, until: Date.now() + whole });
    const tick = () => {
      const ms = Math.max(0, remaining());
      left.textContent = s.left(Math.ceil(ms / 1000));
      bar.value = Math.min(1, ms / whole);
    };
    tick();
    this.timer = setInterval(tick, 250);
    const said = [h("p", null, s.onTrial(pending.rev), " ", left), bar];
    if (!allowed) return this.element.replaceChildren(...said, h("p", { class: "setting-help" },
      allowed === null ? text.station.extremes.asking : s.trialOfOthers));
    this.element.replaceChildren(...said,
      h("div", { class: "actions" },
        h("button", { type: "button", class: "plain", onclick: () => this.send("config-rollback", { source: settingsSource(link.user) }) },
          s.goBackNow),
        h("button", { type: "button", class: "primary", onclick: () => this.send("config-confirm", { rev: pending.rev }) }, s.keep)));
  }

  async send(verb, payload) {
    try {
      const reply = await link.command(this.page.id, verb, payload);
      announce(verb === "config-confirm" ? words().kept : words().applied(reply.rev));
    } catch (error) {
      this.sayProblem(error);
    }
  }
}

export { SettingsTrial };
