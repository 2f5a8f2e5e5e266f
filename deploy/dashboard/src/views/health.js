// How a station is: its sensor, clock, connection and memory, and what is wrong with it.

import { acknowledged } from "../acknowledged.js";
import { h, setText, withCode } from "../dom.js";
import { fleet } from "../fleet.js";
import { format, preferences } from "../preferences.js";
import { geo } from "../pure/geo.js";
import { rank } from "../pure/rank.js";
import { units } from "../pure/units.js";
import { defineView } from "../router.js";
import { stationWords } from "../station-words.js";
import { numbers, text } from "../text.js";
import { stationHead } from "./frame.js";

const words = text.health;

// What a station's clock is worth, in a word: { state, text }. Of the overview too.
export function clockWords(station) {
  const time = station?.health?.time ?? station?.summary?.tq;
  if (!time) {
    const synced = station?.level?.synced;
    if (synced === undefined) return { state: "unknown", text: words.clock.unknown };
    return synced ? { state: "good", text: text.overview.synced } : { state: "warn", text: text.overview.unsynced };
  }
  if (time.source === "replay") return { state: "unknown", text: words.clock.replay };
  const error = Number.isFinite(time.error_ms) ? ` ±${units.duration(time.error_ms / 1000)}` : "";
  return time.synced
    ? { state: "good", text: `${words.clock.sources[time.source] ?? time.source}${error}` }
    : { state: "warn", text: words.clock.free };
}

// Rows of { name, value(station) -> text or { text, state } }; without a value the row is not shown.
const number = (value, unit, digits) => (Number.isFinite(value) ? units.quantity(value, unit, digits) : null);
const rows = {
  sensor: ({ health, info }) => health && { text: words.sensor[health.sensor] ?? health.sensor,
    state: health.sensor === "ok" ? "good" : health.sensor === "settling" ? "warn" : "bad",
    more: [info?.sensor?.driver, info?.sensor?.chip].filter(Boolean).join(", ") },
  clock: (station) => clockWords(station),
  rate: ({ health, info }) => number(health?.rate_hz ?? info?.sensor?.rate_hz, "Hz", 6),
  rateError: ({ health }) => number(health?.rate_error_ppm, "ppm"),
  gaps: ({ health }) => health && { text: !health.gaps ? words.noGaps : words.gapsOf(health.gaps, health.lost_samples ?? 0),
    state: health.gaps > 0 ? "warn" : undefined },
  clipped: ({ health }) => health?.clipped !== undefined && { text: numbers.text(health.clipped),
    state: health.clipped > 0 ? "warn" : undefined },
  outbox: ({ health }) => health?.outbox && (health.outbox.messages > 0
    ? words.outboxOf(health.outbox.messages, units.bytes(health.outbox.bytes)) : words.outboxEmpty),
  dropped: ({ health }) => {
    const dropped = Object.values(health?.outbox?.dropped ?? {}).reduce((sum, count) => sum + count, 0);
    return dropped > 0 && { text: numbers.text(dropped), state: "bad" };
  },
  connects: ({ health }) => health?.mqtt?.connects !== undefined && numbers.text(health.mqtt.connects),
  loop: ({ health }) => Number.isFinite(health?.loop_late_ms) && units.duration(health.loop_late_ms / 1000),
  cpu: ({ health }) => number(health?.cpu_pct, "%"),
  memory: ({ health }) => health?.rss_bytes && units.bytes(health.rss_bytes),
  temperature: ({ health }) => number(health?.temperature_c, "°C"),
  uptime: ({ health }) => Number.isFinite(health?.uptime_s) && units.duration(health.uptime_s),
};
const identity = {
  version: ({ info }) => info?.agent?.version && { text: info.agent.version, more: info.agent.build },
  update: ({ update }) => update && {
    text: text.overview.updates[rank.updates[update.phase] ?? "updated"],
      state: { running: "warn", trial: "warn", returned: "bad" }[rank.updates[update.phase]],
    more: [update.version, update.reason, update.since && format.moment(update.since)].filter(Boolean).join(" · "),
  },
  code: ({ info }) => [info?.station?.network, info?.station?.code, info?.station?.location].filter(Boolean).join("."),
  groups: ({ info }) => (info?.station?.groups ?? []).join(", "),
  heard: (station) => Number.isFinite(station.heard) && format.moment(station.heard),
  commands: ({ info }) => (info?.capabilities?.verbs ?? []).join(", "),
  place: ({ info }) => geo.place(info?.station?.latitude, info?.station?.longitude) &&
    `${geo.latitude(info.station.latitude)}, ${geo.longitude(info.station.longitude)}`,
};

// A card of rows that are made anew when `on` this comes.
function card(title, table, station, on, foot) {
  const list = h("dl", { class: "pairs" });
  const at = h("p", { class: "quiet" });
  function show() {
    const known = station();
    const parts = [];
    for (const [name, value] of Object.entries(table)) {
      const said = known && value(known);
      if (!said) continue;
      const { text: shown, state = undefined, more = undefined } = typeof said === "string" ? { text: said } : said;
      parts.push(h("div", {}, h("dt", {}, words.rows[name]),
        h("dd", {}, state && state !== "unknown" ? h("span", { class: "badge", dataset: { state } }, shown) : shown,
          more ? h("span", { class: "quiet more" }, more) : null)));
    }
    list.replaceChildren(...parts);
    setText(at, foot(known));
  }
  show();
  const stops = [fleet.on("station", (which, what) => which === station()?.id && on.includes(what) && show()), preferences.on(show)];
  return { element: h("section", { class: "card health" }, h("h2", {}, title), list, at), stop: () => stops.forEach((stop) => stop()) };
}

const severities = { __proto__: null, error: "bad", warning: "warn", info: "unknown" };

// The alerts of a station; always there when `whole`, else only while there are some to be seen.
export function alertsCard(id, station, whole = false) {
  const list = h("ul", { class: "alerts" });
  const none = h("p", { class: "quiet" }, words.noAlerts);
  const help = h("p", { class: "quiet small-note" }, words.acknowledgeHelp);
  const element = h("section", { class: "card alerts-card", hidden: true, "aria-label": words.alerts }, h("h2", {}, words.alerts), list,
    none, help);
  function row(alert) {
    const seen = acknowledged.at(id, alert);
    const since = alert.since ? `, ${words.since(format.moment(alert.since))}` : "";
    return h("li", { class: seen === undefined ? "" : "seen" },
      h("span", { class: "badge", dataset: { state: seen === undefined ? severities[alert.severity] ?? "warn" : "unknown" } },
        words.severities[alert.severity] ?? alert.severity),
      h("span", { class: "alert-text" }, h("strong", {}, stationWords.alert(alert.code) ?? alert.message ?? alert.code),
        h("span", { class: "quiet" }, stationWords.alert(alert.code) && alert.message ? ` ${alert.message}` : "", ` ${alert.code}${since}`,
        seen === undefined ? "" : ` · ${words.acknowledged(format.moment(seen))}`),
        whole && stationWords.remedy(alert.code) ? h("p", { class: "remedy" }, `${words.toFix} `,
          withCode(stationWords.remedy(alert.code))) : null),
      h("button", { type: "button", class: "plain small", onclick: () => acknowledged.set(id, alert, seen === undefined) },
        seen === undefined ? words.acknowledge : words.undo));
  }
  function show() {
    const known = station();
    const alerts = [...(known?.alerts.values() ?? [])];
    element.hidden = !whole && (known ? acknowledged.open(known).length === 0 : true);
    none.hidden = alerts.length > 0;
    help.hidden = alerts.length === 0 || !whole;
    element.classList.toggle("calm", !known || acknowledged.open(known).length === 0);
    list.replaceChildren(...alerts.map(row));
  }
  show();
  const stops = [fleet.on("station", (which, what) => which === id && what === "alert" && show()), preferences.on(show),
    acknowledged.on(show)];
  return { element, stop: () => stops.forEach((stop) => stop()) };
}

defineView("#/station/:id/health", {
  title: ({ id }) => `${id}: ${words.title}`,
  mount(main, { id }) {
    main.className = "station";
    const station = () => fleet.stations.get(id);
    const parts = [
      stationHead(id, "health"), alertsCard(id, station, true),
      card(words.title, rows, station, ["health", "info", "online"], (known) =>
        (known?.health ? words.at(format.moment(known.health.t)) : words.none)),
      card(words.identity, identity, station, ["info", "health", "update"], () => ""),
    ];
    main.append(...parts.map((part) => part.element));
    return () => parts.forEach((part) => part.stop());
  },
});
