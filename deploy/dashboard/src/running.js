// Durations of events: of one that is open it runs, wherever it is shown.

import { h, setText } from "./dom.js";
import { fleet } from "./fleet.js";
import { units } from "./pure/units.js";

const running = new WeakMap();

const said = (seconds) => (Number.isFinite(seconds) ? units.duration(seconds) : "–");

// The duration of an event as text, or as an element that keeps it right.
export function runningDuration(id, event, ended) {
  if (ended) return said(event.duration_s);
  const now = () => {
    const seconds = fleet.duration(id, event, false);
    return said(seconds === event.duration_s ? seconds : Math.floor(seconds));
  };
  const element = h("span", { class: "runs number" }, now());
  running.set(element, now);
  return element;
}

// Whether a station that has an open event is heard: of one that is not, nobody knows whether it is over.
export const isHeard = (id) => {
  const known = fleet.stations.get(id);
  return Boolean(known) && known.online !== false && fleet.silence(known) === 0;
};

setInterval(() => {
  for (const element of document.querySelectorAll(".runs")) setText(element, running.get(element)?.() ?? element.textContent);
}, 500);
