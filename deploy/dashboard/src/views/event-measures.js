// What was measured of an event: intensities, measures, peaks and detectors as tables.

import { fillColor, h } from "../dom.js";
import { format } from "../preferences.js";
import { mercalli } from "../pure/mercalli.js";
import { scales } from "../pure/scales.js";
import { units } from "../pure/units.js";
import { numbers, text } from "../text.js";

const words = () => text.event;

const scaleName = (item) => text.intensity.relations[item.relation] ?? item.relation ?? item.scale;

function chip(item) {
  const step = scales.intensity(item);
  const name = step?.name ?? units.digits(item.value, 2);
  const isCertain = mercalli.isCertain(item);
  const attributes = isCertain ? {} : { role: "img", "aria-label": words().notCertain(name), title: words().notCertain(name) };
  return fillColor(h("span", { class: "intensity-chip", ...attributes }, isCertain ? name : `${name}?`),
    step?.color ?? item.color ?? "#ffffff");
}

function intensities(list, isAccelerationValid) {
  const w = words();
  return h("table", { class: "event-table" },
    h("thead", {}, h("tr", {}, [w.scale, w.intensity, w.value, w.fromPGA,
      w.fromPGV].map((name, i) => h("th", { scope: "col", class: i > 1 ? "right" : null }, name)))),
    h("tbody", {}, list.map((item) => h("tr", {},
      h("th", { scope: "row" }, scaleName(item)), h("td", {}, chip(item)),
      [units.fixed(item.value, 1), certain(units.fixed(item.from_pga, 1), isAccelerationValid), units.fixed(item.from_pgv, 1)]
        .map((value) => h("td", { class: "right" }, value))))));
}

const q = (value, unit, count = 3) => units.quantity(value, unit, count);

// A value that may stand for less than the whole event says so.
const certain = (value, isValid) => (isValid === false && value !== "–" ? words().notCertain(value) : value);

function rows(event, duration) {
  const w = words().measures;
  const f = format;
  const list = [
    [w.pga, certain(`${f.acceleration(event.pga)} (${q(event.pga_pct_g, "% g")})`, event.acceleration_valid)],
    [w.pgv, certain(f.velocity(event.pgv), event.velocity_valid)],
    [w.pgd, certain(q(event.pgd * 1000, "mm"), event.displacement_valid)],
    [w.duration, duration],
    [w.d5_75, f.duration(event.d5_75_s)],
    [w.d5_95, f.duration(event.d5_95_s)],
    [w.arias, q(event.arias, "m/s")],
    [w.cav, q(event.cav, "m/s")],
    [w.cavStd, q(event.cav_std, "m/s")],
    [w.dominant, q(event.dominant_hz, "Hz")],
  ];
  const { direction, first_motion: first } = event;
  if (direction?.azimuth_deg !== undefined) {
    const incidence = direction.incidence_deg === undefined ? "" : `, ${w.incidence(Math.round(direction.incidence_deg))}`;
    list.push([w.direction, `${Math.round(direction.azimuth_deg)}°${incidence}`]);
    if (direction.rectilinearity !== undefined) list.push([w.rectilinearity, units.digits(direction.rectilinearity, 2)]);
  }
  if (first?.axis) {
    const after = (units.milliseconds(first.t) - units.milliseconds(event.onset)) / 1000;
    const when = Number.isFinite(after) ? `, ${(after < 0 ? w.before : w.after)(units.fixed(Math.abs(after), 2))}` : "";
    list.push([w.firstMotion, `${first.axis.replace("-", "−")}${when}`]);
  }
  if (event.gaps > 0) {
    const missing = event.missing_s > 0 ? ` (${w.missing(q(event.missing_s, "s", 2))})` : "";
    list.push([w.gaps, `${numbers.text(event.gaps)}${missing}`]);
  }
  if (event.config_rev !== undefined) list.push([w.revision, numbers.text(event.config_rev)]);
  return list.filter(([, text]) => text !== "–");
}

function pairs(list) {
  return h("dl", { class: "pairs" }, list.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

function peaks(event) {
  const w = words();
  const f = format;
  const names = ["x", "y", "z", "h", "v3"].filter((name) => event.peaks?.[name]);
  return h("table", { class: "event-table" },
    h("thead", {}, h("tr", {}, [w.component, w.largest, w.at(f.zone(event.onset)), w.largestRMS,
      w.largestRatio].map((name, i) => h("th", { scope: "col", class: i > 0 ? "right" : null }, name)))),
    h("tbody", {}, names.map((name) => h("tr", {},
      h("th", { scope: "row" }, w.components[name]), h("td", { class: "right" },
        certain(f.acceleration(event.peaks[name].value), event.acceleration_valid)),
      h("td", { class: "right" }, f.time(event.peaks[name].t)),
      h("td", { class: "right" }, f.acceleration(event.rms_max?.[name])),
      h("td", { class: "right" }, units.digits(event.sta_lta_max?.[name], 3))))));
}

function detectors(event) {
  const w = words();
  const f = format;
  return h("table", { class: "event-table" },
    h("thead", {}, h("tr", {}, [w.detector, w.signal, w.on(f.zone(event.onset)), w.largest,
      w.threshold].map((name, i) => h("th", { scope: "col", class: i > 1 ? "right" : null }, name)))),
    h("tbody", {}, event.detectors.map((one) => {
      const value = (number) => (one.isRatio ? units.digits(number, 3) : f.acceleration(number));
      return h("tr", {}, h("th", { scope: "row" }, w.detectors[one.name] ?? one.name),
        h("td", {}, [one.signal && (w.components[one.signal] ?? one.signal), one.axes?.join(", "),
          one.direction].filter(Boolean).join(" ")),
        h("td", { class: "right" }, f.time(one.on)), h("td", { class: "right" }, value(one.max)),
          h("td", { class: "right" }, value(one.threshold)));
    })));
}

// The cards of an event's newest message.
export function eventMeasures(event, duration) {
  const w = words();
  const card = (title, ...content) => h("section", { class: "card" }, h("h2", {}, title),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, content));
  return [
    card(w.intensities, intensities(event.intensity ?? [], event.acceleration_valid)),
    card(w.measured, pairs(rows(event, duration))),
    card(w.peaksTitle, peaks(event)),
    event.detectors?.length > 0 && card(w.detectorsTitle, detectors(event)),
  ].filter(Boolean);
}

export { certain, chip as intensityChip };
