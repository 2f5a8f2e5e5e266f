// What the reader has chosen: unit of acceleration, kind of time, theme, language, how stations are shown, the spectrogram's axis
// of frequency; kept in this browser. load.js reads the language, too.

import { units } from "./pure/units.js";
import { text } from "./text.js";

const key = "seismote.preferences";
const defaults = {
  unit: "mg", time: "utc", theme: "auto", language: "auto", view: "auto", order: "problems", advanced: "no", frequency: "linear",
  // Alarms: of the network "off", "all" or from which intensity; of stations "off", "all" or "home"; of an intensity "off" or from
  // which one; the station that is the reader's own; whether they are heard and brought to the desktop.
  alarmNetwork: "all", alarmStation: "all", alarmIntensity: "off", home: "", sound: "no", notify: "no", name: "",
};
const listeners = new Set();
let values = { ...defaults };
try {
  values = { ...defaults, ...JSON.parse(localStorage.getItem(key) ?? "{}") };
} catch {
  // No storage, or not ours: the defaults.
}

function applyTheme() {
  const root = document.documentElement;
  if (values.theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = values.theme;
}

export const preferences = {
  get: (name) => values[name],
  set(name, value) {
    if (values[name] === value) return;
    values[name] = value;
    try {
      localStorage.setItem(key, JSON.stringify(values));
    } catch {
      // For this visit only, then.
    }
    if (name === "theme") applyTheme();
    for (const listener of [...listeners]) listener(name, value);
  },
  // Calls fn(name, value) after each change; returns what ends that.
  on(fn) {
    listeners.add(fn);
    return () => listeners.delete(fn);
  },
};

applyTheme();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const listener of [...listeners]) listener("theme", values.theme);
});

// Numbers and times as text, in the chosen unit and time.
const utc = () => values.time === "utc";
// The zone that times are shown in, at a time.
const zone = (time) => (utc() ? "UTC" : units.zone(typeof time === "string" ? units.milliseconds(time) : time));
// That of a span, both where it begins and ends with another one: "UTC+2 → UTC+1".
const zones = (from, to) => [...new Set([zone(from), zone(to)])].join(" → ");
export const format = {
  // m/s² as "12.3 mg"
  acceleration: (value, unit = values.unit) => units.text(value, unit),
  // m/s² as "12.3" and "mg"
  accelerationParts: (value, unit = values.unit) => ({ number: units.number(value, unit), unit: units.label(unit) }),
  velocity: (value) => units.quantity(value * 100, "cm/s"),
  quantity: units.quantity,
  utc, zone, zones,
  // Where the zone stands beside, in the head of a table or on an axis.
  time: (text) => units.time(text, utc()),
  // (The zone that stands there is today's: of half of the year it is another one, which is said.)
  dateTime: (text) => `${units.dateTime(text, utc())}${zone(text) === zone(Date.now()) ? "" : ` ${zone(text)}`}`,
  date: (time) => units.date(time, utc()),
  // Where it does not: "2026-01-05 12:03:59 UTC"
  moment: (text) => `${units.dateTime(text, utc())} ${zone(text)}`,
  clock: (text) => `${units.time(text, utc())} ${zone(text)}`,
  duration: units.duration,
  // Milliseconds since 1970 as "14 s ago"
  ago: (milliseconds) => (Number.isFinite(milliseconds) ? format.since((Date.now() - milliseconds) / 1000) : text.noTime),
  // So many seconds, in whole ones: "14 s ago"
  since: (seconds) => text.ago(units.wholeDuration(seconds)),
};
