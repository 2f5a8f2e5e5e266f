// Levels in steps of two hours, kept in this browser (IndexedDB) for a year and a month: a station has those of its last 31 days.

import { link } from "./link.js";
import { levels } from "./pure/levels.js";
import { wire } from "./pure/wire.js";

const name = "seismote-levels";
// Days since 1970 of a time (seconds), and for how many of them something is kept.
const dayOf = (seconds) => Math.floor(seconds / 86400);
const longest = 400;

const asked = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});
// One store for each broker and root: other brokers have other stations.
const where = () => `${link.urls[0] ?? ""} ${link.root}`;

let store = null;
async function days(mode) {
  store ??= (() => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore("days", { keyPath: ["where", "station", "day"] });
    return asked(request);
  })();
  return (await store).transaction("days", mode).objectStore("days");
}
const range = (station, first, last) => IDBKeyRange.bound([where(), station, first], [where(), station, last]);

export const keptLevels = {
  // Replies of a day each, of the days that touch [from, to) seconds; none where the browser keeps nothing.
  async read(station, from, to) {
    try {
      const found = await asked((await days("readonly")).getAll(range(station, dayOf(from), dayOf(to - 1))));
      return found.map(({ past }) => wire.past(past)).filter(Boolean);
    } catch {
      return [];
    }
  },
  // What a reply has of each day, beside what was kept of that day before.
  async put(station, past) {
    const fresh = levels.days(past);
    if (fresh.size === 0) return;
    try {
      const [first, last] = [Math.min(...fresh.keys()), Math.max(...fresh.keys())];
      const before = await asked((await days("readonly")).getAll(range(station, first, last)));
      const target = await days("readwrite");
      for (const [day, one] of levels.days(past, new Map(before.map((row) => [row.day, row.past])))) target.put({ where: where(), station,
        day, past: one });
      target.delete(range(station, 0, last - longest));
    } catch {
      // No storage: the year ends where the station's memory does.
    }
  },
};
