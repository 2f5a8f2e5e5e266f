// Numbers, units and times as text.

import { numbers, text } from "../text.js";

const g = 9.80665;
// How many of the unit are 1 m/s².
const accelerations = {
  "m/s²": { factor: 1, label: "m/s²" },
  mg: { factor: 1000 / g, label: "mg" },
  "%g": { factor: 100 / g, label: "% g" },
  gal: { factor: 100, label: "gal" },
};
const missing = "–";
// As the reader's language writes it: a decimal comma, perhaps, and a minus that is one.
const local = (text) => {
  const { decimal } = numbers ?? {};
  return (decimal && decimal !== "." ? text.replace(".", decimal) : text).replace("-", "−");
};

const raised = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
// To that many significant digits; what is very large or small as a power of ten, "2.35 × 10⁸"; no "-0".
function digits(value, count = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return missing;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-5) {
    const [factor, power] = value.toExponential(Math.max(0, count - 1)).split("e");
    return `${local(factor)} × 10${[...String(Number(power))].map((digit) => raised[digit]).join("")}`;
  }
  const decimals = Math.min(7, Math.max(0, count - 1 - Math.floor(Math.log10(size))));
  const text = value.toFixed(decimals);
  return local(Number(text) === 0 ? text.replace("-", "") : text);
}

// With so many digits behind the point.
const fixed = (value, places) => (Number.isFinite(value) ? local(value.toFixed(places)) : missing);

// A number of a graph's axis, which is round: without zeros behind it.
function tick(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) return digits(value, 1);
  return local(String(Number(value.toPrecision(6))));
}

const factor = (unit) => (accelerations[unit] ?? accelerations["m/s²"]).factor;
const label = (unit) => (accelerations[unit] ?? accelerations["m/s²"]).label;
const number = (value, unit) => (Number.isFinite(value) ? digits(value * factor(unit)) : missing);

const two = (value) => String(value).padStart(2, "0");

// The parts of a time in UTC or in this browser's zone; null for what is no time. Nanoseconds are cut.
function parts(time, utc) {
  const date = time instanceof Date ? time : new Date(typeof time === "string" ? milliseconds(time) : time);
  if (Number.isNaN(date.getTime())) return null;
  return utc
    ? [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()]
    : [date.getFullYear(), date.getMonth() + 1, date.getDate(), date.getHours(), date.getMinutes(), date.getSeconds()];
}

// Milliseconds since 1970 of an RFC 3339 time, with the fraction that it has; NaN for what is none.
function milliseconds(text) {
  const found = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/.exec(String(text));
  if (!found) return NaN;
  return Date.parse(found[1] + found[3]) + (found[2] ? Number("0" + found[2]) * 1000 : 0);
}

export const units = {
  g,
  all: Object.keys(accelerations),
  factor,
  label,
  digits,
  fixed,
  tick,
  number,
  milliseconds,
  text: (value, unit) => (Number.isFinite(value) ? `${number(value, unit)} ${label(unit)}` : missing),
  quantity: (value, unit, count = 3) => (Number.isFinite(value) ? `${digits(value, count)} ${unit}` : missing),
  // What is known to a tenth at best, such as a distance from an epicentre: "8 km", "42 km", "120 km".
  about: (value, unit) => (Number.isFinite(value) ? `${tick(Number(value.toPrecision(Math.abs(value) < 10 ? 1 : 2)))} ${unit}` : missing),
  // A depth (km), which is known to some 10 km.
  depth: (value) => (!Number.isFinite(value) ? missing : value < 5 ? `< ${tick(10)} km` : `≈ ${tick(10 * Math.round(value / 10))} km`),
  // "12:03:59"
  time(time, utc = true) {
    const p = parts(time, utc);
    return p ? `${two(p[3])}:${two(p[4])}:${two(p[5])}` : missing;
  },
  // The zone of this browser at a time, as a difference from UTC: "UTC+2", "UTC−3:30".
  zone(time = Date.now()) {
    const minutes = -new Date(Number.isFinite(time) ? time : Date.now()).getTimezoneOffset();
    const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
    return minutes === 0 ? "UTC+0" : `UTC${minutes < 0 ? "−" : "+"}${hours}${rest ? `:${two(rest)}` : ""}`;
  },
  // "2026-01-05"
  date(time, utc = true) {
    const p = parts(time, utc);
    return p ? `${p[0]}-${two(p[1])}-${two(p[2])}` : missing;
  },
  // "2026-01-05 12:03:59"
  dateTime(time, utc = true) {
    const p = parts(time, utc);
    return p ? `${p[0]}-${two(p[1])}-${two(p[2])} ${two(p[3])}:${two(p[4])}:${two(p[5])}` : missing;
  },
  // Seconds as "850 ms", "12.5 s", "4 min 5 s", "3 h 12 min", "5 d 3 h"
  duration(seconds) {
    const { time } = text;
    if (!Number.isFinite(seconds)) return missing;
    if (seconds < 0) return "−" + units.duration(-seconds);
    if (seconds < 0.9995) return time.ms(String(Math.round(seconds * 1000)));
    if (seconds < 59.95) return time.s(local(String(Math.round(seconds * 10) / 10)));
    const whole = Math.round(seconds);
    const pair = (big, bigName, small, smallName) => (small ? time.pair(bigName(big), smallName(small)) : bigName(big));
    if (whole < 3600) return pair(Math.floor(whole / 60), time.min, whole % 60, time.s);
    if (whole < 86400) return pair(Math.floor(whole / 3600), time.h, Math.floor((whole % 3600) / 60), time.min);
    return pair(Math.floor(whole / 86400), time.d, Math.floor((whole % 86400) / 3600), time.h);
  },
  // The same in whole seconds, none of them negative.
  wholeDuration: (seconds) => (seconds < 0.5 ? text.time.s("0") : units.duration(Math.round(seconds))),
  // Bytes as "12.3 MB"
  bytes(count) {
    if (!Number.isFinite(count)) return missing;
    const names = ["B", "kB", "MB", "GB", "TB"];
    let step = 0;
    while (count >= 1000 && step < names.length - 1) {
      count /= 1000;
      step++;
    }
    return `${digits(count)} ${names[step]}`;
  },
};
