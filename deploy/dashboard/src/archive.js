// The list of all events, kept in this browser (IndexedDB): what the page has heard of stations and of the network, and what
// stations have answered. Bounded; the oldest go first.

import { earthquakes } from "./earthquakes.js";
import { fleet } from "./fleet.js";
import { link } from "./link.js";
import { catalogue } from "./pure/catalogue.js";
import { units } from "./pure/units.js";
import { wire } from "./pure/wire.js";

const name = "seismote-events";
const saveAfter = 1000;
const entries = new Map();
const listeners = new Set();
let changed = new Set();
let due = null;
let store = null;
// Resolves when what was kept has been read.
let ready = null;

const key = (one) => `${one.station} ${one.id}`;
const asked = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

// One store for each broker and root: other brokers have other stations.
async function opened() {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore("events", { keyPath: ["where", "station", "id"] });
  return asked(request);
}
const where = () => `${link.urls[0] ?? ""} ${link.root}`;
const range = () => IDBKeyRange.bound([where()], [where(), []]);

async function read() {
  try {
    store = await opened();
    for (const one of await asked(store.transaction("events").objectStore("events").getAll(range()))) {
      if (!entries.has(key(one)) && wire.eventId(one.id) && Number.isFinite(one.at)) entries.set(key(one), one);
    }
  } catch {
    // No storage: for as long as the page is open, then.
    store = null;
  }
  tell();
}

async function save() {
  await archive.ready();
  due = null;
  const now = changed;
  changed = new Set();
  trim();
  if (!store) return;
  try {
    const events = store.transaction("events", "readwrite").objectStore("events");
    for (const one of now) {
      const entry = entries.get(one);
      if (entry) events.put({ where: where(), ...entry });
    }
    for (const { station, id } of dropped.splice(0)) events.delete([where(), station, id]);
  } catch {
    store = null;
  }
}

const dropped = [];
function trim() {
  if (entries.size <= catalogue.longestList) return;
  const old = [...entries.values()].sort((a, b) => a.at - b.at).slice(0, entries.size - catalogue.longestList);
  for (const one of old) {
    entries.delete(key(one));
    dropped.push(one);
  }
}

function tell() {
  for (const listener of [...listeners]) listener();
}

let telling = null;
function put(entry) {
  entries.set(key(entry), entry);
  changed.add(key(entry));
  due ??= setTimeout(save, saveAfter);
  telling ??= setTimeout(() => {
    telling = null;
    tell();
  }, 200);
}

function putStation(id, event, isOver) {
  put(catalogue.ofStation(id, event, isOver, fleet.stations.get(id)?.info?.station, units.milliseconds));
}

export const archive = {
  entries, put,
  ready: () => (ready ??= read()),
  on(fn) {
    listeners.add(fn);
    return () => listeners.delete(fn);
  },
  // What stations keep of a time, into the list: { from, to } as text. progress(done, of); resolves with how many did not answer.
  async collect({ from, to }, progress) {
    const queue = [...fleet.stations.values()].filter(({ id, online }) => online !== false
      && fleet.knows(id, "events") === true).map(({ id }) => id);
    const of = queue.length;
    let [done, failed] = [0, 0];
    await Promise.all(Array.from({ length: 4 }, async () => {
      for (let id = queue.shift(); id; id = queue.shift()) {
        try {
          let after = null;
          for (let page = 0; page < 20; page++) {
            const reply = await link.command(id, "events", { from, to, limit: 100, ...(after === null ? {} : { after }) });
            const { events = [], next = null } = wire.events(reply.result) ?? {};
            for (const event of events) if (wire.isOwn(id, event?.event_id) && event.onset) putStation(id, event, true);
            if (next === null || !(next > (after ?? -1))) break;
            after = next;
          }
        } catch (error) {
          failed++;
          // Whoever may ask nobody need not ask the others.
          if (error.denied) queue.length = 0;
        }
        progress?.(++done, of);
      }
    }));
    return failed;
  },
  start() {
    // Whoever goes away may not come back.
    document.addEventListener("visibilitychange", () => document.hidden && due !== null && (clearTimeout(due), save()));
    earthquakes.on((id, what) => {
      if (what === "note") return tell();
      for (const event of id === null ? earthquakes.events.values()
        : [earthquakes.events.get(id)].filter(Boolean)) put(catalogue.ofNetwork(event, earthquakes.ended(event), units.milliseconds));
    });
    fleet.on("station", (id, what) => {
      if (what !== "event") return;
      for (const [eventId, entry] of [...(fleet.stations.get(id)?.events ?? [])].slice(-3)) {
        const event = fleet.newestOf(entry);
        const before = entries.get(`${id} ${eventId}`);
        if (before?.state === "end" && before.label === (event.label ?? "") && before.event.confirmed === event.confirmed) continue;
        putStation(id, event, Boolean(entry.over));
      }
    });
  },
};
