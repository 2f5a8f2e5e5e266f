// How a station is: its sensor, clock, connection and memory, and what is wrong with it.
(function (Seismote) {
  "use strict";

  const { h, text, fleet, setText, units, preferences } = Seismote;
  const words = text.health;

  // What a station's clock is worth, in a word: { state, text }. Of the overview too.
  Seismote.clockWords = function clockWords(station) {
    const time = station?.health?.time ?? station?.summary?.tq;
    if (!time) return { state: "unknown", text: words.clock.unknown };
    if (time.source === "replay") return { state: "unknown", text: words.clock.replay };
    const error = Number.isFinite(time.error_ms) ? ` ±${units.duration(time.error_ms / 1000)}` : "";
    return time.synced
      ? { state: "good", text: `${words.clock.sources[time.source] ?? time.source}${error}` }
      : { state: "warn", text: words.clock.free };
  };

  // Rows of { name, value(station) -> text or { text, state } }; without a value the row is not shown.
  const number = (value, unit, digits) => (Number.isFinite(value) ? units.quantity(value, unit, digits) : null);
  const rows = {
    sensor: ({ health, info }) => health && { text: words.sensor[health.sensor] ?? health.sensor, state: health.sensor === "ok" ? "good" : health.sensor === "settling" ? "warn" : "bad", more: [info?.sensor?.driver, info?.sensor?.chip].filter(Boolean).join(", ") },
    clock: (station) => Seismote.clockWords(station),
    rate: ({ health, info }) => number(health?.rate_hz ?? info?.sensor?.rate_hz, "Hz", 6),
    rateError: ({ health }) => number(health?.rate_error_ppm, "ppm"),
    gaps: ({ health }) => health && { text: words.gapsOf(health.gaps ?? 0, health.lost_samples ?? 0), state: health.gaps > 0 ? "warn" : undefined },
    clipped: ({ health }) => health?.clipped !== undefined && { text: String(health.clipped), state: health.clipped > 0 ? "warn" : undefined },
    outbox: ({ health }) => health?.outbox && words.outboxOf(health.outbox.messages, units.bytes(health.outbox.bytes)),
    dropped: ({ health }) => {
      const dropped = Object.values(health?.outbox?.dropped ?? {}).reduce((sum, count) => sum + count, 0);
      return dropped > 0 && { text: String(dropped), state: "bad" };
    },
    connects: ({ health }) => health?.mqtt?.connects !== undefined && String(health.mqtt.connects),
    loop: ({ health }) => Number.isFinite(health?.loop_late_ms) && units.duration(health.loop_late_ms / 1000),
    cpu: ({ health }) => number(health?.cpu_pct, "%"),
    memory: ({ health }) => health?.rss_bytes && units.bytes(health.rss_bytes),
    temperature: ({ health }) => number(health?.temperature_c, "°C"),
    uptime: ({ health }) => Number.isFinite(health?.uptime_s) && units.duration(health.uptime_s),
    version: ({ info }) => info?.agent?.version && `${info.agent.version}`,
    place: ({ info }) => Seismote.geo.place(info?.station?.latitude, info?.station?.longitude) &&
      `${Seismote.geo.latitude(info.station.latitude)}, ${Seismote.geo.longitude(info.station.longitude)}`,
  };

  Seismote.healthCard = function healthCard(id, station) {
    const list = h("dl", { class: "pairs" });
    const at = h("p", { class: "quiet" });
    function show() {
      const known = station();
      const parts = [];
      for (const [name, value] of Object.entries(rows)) {
        const said = known && value(known);
        if (!said) continue;
        const { text: shown, state, more } = typeof said === "string" ? { text: said } : said;
        parts.push(h("div", {}, h("dt", {}, words.rows[name]),
          h("dd", {}, state && state !== "unknown" ? h("span", { class: "badge", dataset: { state } }, shown) : shown, more ? h("span", { class: "quiet more" }, more) : null)));
      }
      list.replaceChildren(...parts);
      setText(at, known?.health ? words.at(Seismote.format.dateTime(known.health.t)) : words.none);
    }
    show();
    const stops = [fleet.on("station", (which, what) => which === id && ["health", "info", "online"].includes(what) && show()), preferences.on(show)];
    return {
      element: h("section", { class: "card health" }, h("h2", {}, words.title), list, at),
      stop: () => stops.forEach((stop) => stop()),
    };
  };

  const severities = { error: "bad", warning: "warn", info: "unknown" };

  Seismote.alertsCard = function alertsCard(id, station) {
    const list = h("ul", { class: "alerts" });
    const element = h("section", { class: "card alerts-card", hidden: true, "aria-label": words.alerts }, h("h2", {}, words.alerts), list);
    function show() {
      const alerts = [...(station()?.alerts.values() ?? [])];
      element.hidden = alerts.length === 0;
      list.replaceChildren(...alerts.map((alert) => h("li", {},
        h("span", { class: "badge", dataset: { state: severities[alert.severity] ?? "warn" } }, words.severities[alert.severity] ?? alert.severity),
        h("span", {}, h("strong", {}, alert.message ?? alert.code), h("span", { class: "quiet" }, ` ${alert.code}${alert.since ? `, ${words.since(Seismote.format.dateTime(alert.since))}` : ""}`)))));
    }
    show();
    const stops = [fleet.on("station", (which, what) => which === id && what === "alert" && show()), preferences.on(show)];
    return { element, stop: () => stops.forEach((stop) => stop()) };
  };
})(globalThis.Seismote ??= {});
