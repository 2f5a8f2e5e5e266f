// Numbers of a station as tables: magnitude and components with their extremes, the measures of the last window.

import { announce, h, setText } from "../dom.js";
import { fleet } from "../fleet.js";
import { link } from "../link.js";
import { format, preferences } from "../preferences.js";
import { units } from "../pure/units.js";
import { isHeard } from "../running.js";
import { text } from "../text.js";

const words = text.station;

// The components now, smallest and largest since they were reset. { element, draw(time), stop() }
export function extremesCard(id, traces, station) {
  const rows = ["magnitude", "x", "y", "z"];
  const cells = Object.fromEntries(rows.map((row) =>
    [row, { now: h("td", { class: "right" }), min: h("td", { class: "right" }), max: h("td", { class: "right" }) }]));
  const unit = h("span", {});
  const since = h("p", { class: "quiet" });
  const problem = h("p", { class: "problem", role: "alert" });
  const reset = h("button", { type: "button", class: "plain", disabled: true, title: words.extremes.asking, onclick: ask },
    words.extremes.reset);
  let drawn = 0;

  async function ask() {
    reset.disabled = true;
    setText(problem, "");
    try {
      await link.command(id, "reset-extremes");
      announce(words.extremes.done);
    } catch (error) {
      setText(problem, error.message);
    }
    reset.disabled = false;
  }

  // Only those who may send commands are offered one.
  function rights() {
    if (link.state !== "online") return;
    link.rights(id).then((may) => {
      reset.disabled = !may;
      reset.title = may ? "" : words.extremes.mayNot;
    });
  }

  function show() {
    const known = station()?.summary?.extremes;
    for (const row of rows) {
      setText(cells[row].min, format.accelerationParts(known?.[row]?.min).number);
      setText(cells[row].max, format.accelerationParts(known?.[row]?.max).number);
    }
    setText(unit, format.accelerationParts(0).unit);
    setText(since, known?.x?.since ? words.extremes.since(format.moment(known.x.since)) : "");
  }

  function draw(now, time) {
    if (now - drawn < 0.2) return;
    drawn = now;
    const source = traces();
    if (!source?.end || !Number.isFinite(time)) return;
    const slot = Math.min(source.end - 1, Math.floor(source.slot(time)));
    let sum = 0;
    for (const axis of ["x", "y", "z"]) {
      const value = source.value(axis, "raw", slot);
      sum += value * value;
      setText(cells[axis].now, format.accelerationParts(value).number);
    }
    setText(cells.magnitude.now, format.accelerationParts(Math.sqrt(sum)).number);
  }

  show();
  if (station()?.online !== false) rights();
  const stops = [
    fleet.on("station", (which, what) => {
      if (which !== id) return;
      if (what === "summary") show();
      if (what === "online" && station()?.online) rights();
    }),
    preferences.on(show),
  ];
  return {
    draw,
    element: h("section", { class: "card" },
      h("div", { class: "card-head" }, h("h2", {}, words.extremes.title, " ", h("small", { class: "quiet" }, unit)), reset),
      h("table", {},
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, h("span", { class: "unseen" }, words.extremes.component)),
          [words.extremes.now, words.extremes.min, words.extremes.max].map((word) => h("th", { scope: "col", class: "right" }, word)))),
        h("tbody", {}, rows.map((row) => h("tr", {}, h("th", { scope: "row" }, words.extremes.rows[row]), Object.values(cells[row]))))),
      since, problem),
    stop: () => stops.forEach((stop) => stop()),
  };
}

const compass = (degrees) => text.compass[Math.round((((degrees % 360) + 360) % 360) / 45) % 8];

// What the summary says of the last window.
export function measuresCard(id, station) {
  const names = ["pga", "pgv", "pgd", "rms", "dominant", "direction"];
  const cells = Object.fromEntries(names.map((name) =>
    [name, { value: h("span", { class: "value" }), more: h("span", { class: "quiet" }) }]));
  const window = h("span", { class: "quiet" });
  const state = h("span", { class: "badge trigger-state" });
  const why = h("p", { class: "quiet" });

  function show() {
    const summary = station()?.summary;
    if (!summary) return;
    const put = (name, value, more = "") => {
      setText(cells[name].value, value);
      setText(cells[name].more, more);
    };
    put("pga", format.acceleration(summary.pga), preferences.get("unit") === "%g" ? "" : units.quantity(summary.pga_pct_g, "% g"));
    put("pgv", format.velocity(summary.pgv));
    put("pgd", units.quantity(summary.pgd * 1000, "mm"));
    put("rms", format.acceleration(summary.h?.rms));
    put("dominant", units.quantity(summary.spectrum?.dominant_hz, "Hz"));
    const azimuth = summary.direction?.azimuth_deg;
    put("direction", Number.isFinite(azimuth) ? `${Math.round(azimuth)}° ${compass(azimuth)}` : "–",
      summary.direction?.axis ? words.measures.largestOn(summary.direction.axis.replace("-", "−")) : "");
    setText(window, summary.window_s ? words.measures.window(units.duration(summary.window_s)) : "");
    triggerBadge(state, station());
    setText(why, summary.valid !== false ? "" : summary.reason ? words.measures.settling(summary.reason) : words.measures.settlingOnly);
  }
  show();
  const stops = [
    fleet.on("station", (which, what) => which === id && (what === "summary" || what === "online") && show()),
    preferences.on(show),
  ];
  const looking = setInterval(() => triggerBadge(state, station()), 1000);
  return {
    element: h("section", { class: "card measures" },
      h("div", { class: "card-head" }, h("h2", {}, words.measures.title, " ", window), state),
      h("dl", { class: "tiles" }, names.map((name) => h("div", {}, h("dt", {}, words.measures[name]),
        h("dd", {}, cells[name].value, cells[name].more)))),
      why),
    stop() {
      clearInterval(looking);
      stops.forEach((stop) => stop());
    },
  };
}

// The trigger's state into a badge, of cards and of the station's page.
export function triggerBadge(badge, station) {
  const summary = fleet.now(station);
  // What it did when it was heard last it does not do now.
  const state = !summary || !isHeard(station.id) ? "unknown" : summary.valid === false ? "warn" : summary.triggered ? "bad" : "good";
  badge.dataset.state = state;
  setText(badge, words.trigger[state]);
}
