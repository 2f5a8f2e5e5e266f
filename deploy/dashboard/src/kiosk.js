// For a screen in a hall: one view after the other, without what is there to be clicked; an alarm comes first, and its view
// stays while it is there. ?kiosk, or ?kiosk=15 for another pause in seconds. Whoever touches it has it for a minute.

import { alarm } from "./alarm.js";
import { fleet } from "./fleet.js";
import { preferences } from "./preferences.js";
import { router } from "./router.js";

const fewest = 5;
const usual = 20;
const longest = 600;
const patience = 60000;
const mostStations = 6;

// Seconds of a view; null where the page is none of a hall.
function pauseOf(search) {
  const query = new URLSearchParams(search);
  if (!query.has("kiosk")) return null;
  const wanted = Number(query.get("kiosk"));
  return wanted > 0 ? Math.min(longest, Math.max(fewest, wanted)) : usual;
}

// The views in their order: all stations, all events, and the traces of those that matter most: the reader's own, and what is
// online, by name.
function views() {
  const own = preferences.get("home");
  const online = [...fleet.stations.values()].filter(({ online }) => online === true).map(({ id }) => id).sort();
  const chosen = [...new Set([...online.filter((id) => id === own), ...online])].slice(0, mostStations);
  return ["#/", "#/events", ...chosen.map((id) => router.address("station", id))];
}

function begin(pause) {
  let due = Date.now() + pause * 1000;
  let touched = -Infinity;
  let followed = null;
  document.body.classList.add("kiosk");
  for (const kind of ["pointerdown", "keydown", "wheel"]) addEventListener(kind, () => (touched = Date.now()),
    { passive: true, capture: true });
  // The screen stays on, where the browser can do that (https or localhost only).
  const { wakeLock } = /** @type {any} */ (navigator);
  const wake = () => !document.hidden && wakeLock?.request("screen").catch(() => {});
  wake();
  document.addEventListener("visibilitychange", wake);
  alarm.on((one) => {
    if (one.kind === "test" || Date.now() - touched < patience) return;
    followed = one.key;
    location.hash = alarm.address(one);
  });
  setInterval(() => {
    const now = Date.now();
    if (now - touched < patience || alarm.list().some(({ key }) => key === followed)) {
      due = now + pause * 1000;
      return;
    }
    followed = null;
    if (now < due) return;
    due = now + pause * 1000;
    const list = views();
    location.hash = list[(list.indexOf(location.hash || "#/") + 1) % list.length];
  }, 250);
}

export const kiosk = {
  pauseOf,
  start() {
    const pause = pauseOf(location.search);
    if (pause !== null) begin(pause);
  },
};
