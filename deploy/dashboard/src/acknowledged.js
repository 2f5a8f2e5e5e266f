// Alerts that the reader has seen: kept in this browser alone. An alert that comes again, later, counts again.
const key = "seismote.acknowledged";
const most = 1000;
const listeners = new Set();
// "station code since" -> when, milliseconds since 1970
let known = new Map();
try {
  known = new Map(JSON.parse(localStorage.getItem(key) ?? "[]").filter((one) => Array.isArray(one) && typeof one[0] === "string"
    && Number.isFinite(one[1])));
} catch {
  // No storage, or not ours.
}

const name = (station, { code, since, t }) => `${station} ${code} ${since ?? t ?? ""}`;

function changed(station) {
  try {
    localStorage.setItem(key, JSON.stringify([...known].slice(-most)));
  } catch {
    // For this visit only, then.
  }
  for (const listener of [...listeners]) listener(station);
}

export const acknowledged = {
  // When, or undefined.
  at: (station, alert) => known.get(name(station, alert)),
  set(station, alert, on) {
    if (on) known.set(name(station, alert), Date.now());
    else known.delete(name(station, alert));
    changed(station);
  },
  // The alerts of a station that are still to be seen.
  open: (station) => [...station.alerts.values()].filter((alert) => !known.has(name(station.id, alert))),
  on(fn) {
    listeners.add(fn);
    return () => listeners.delete(fn);
  },
};
