// Earthquakes that the network's detector has put together of several stations, whatever is shown: the newest version of
// each, what has become of it, and what people have noted of events.

import { json, link } from "./link.js";
import { geo } from "./pure/geo.js";
import { units } from "./pure/units.js";
import { wire } from "./pure/wire.js";

const kept = 200;
const mostNotes = 2000;
// The detector ends an event when nothing new has come for a while (quiet_s): after so long its end was missed (s).
const patience = 700;

const events = new Map();
// Of each the time at which it came, by this browser's clock, or by its own where a broker has kept it.
const heard = new Map();
// Those whose beginning came while the page was open.
const news = new Set();
const listeners = new Set();
// event id -> { seen: { by, t } or undefined, notes: [{ by, t, text }] }
const notes = new Map();
// What the detector says of itself: with no event open, all of before are over.
let detector = null;
// How far the detector's clock is before this browser's, ms; NaN before anything came live.
let ahead = NaN;

const said = (event) => units.milliseconds(event.t ?? event.origin_time);

function tell(id, what) {
  for (const listener of [...listeners]) {
    try {
      listener(id, what);
    } catch (error) {
      console.error(error);
    }
  }
}

// How an event has ended: "end", "merged", "withdrawn", "unheard" where its end did not come; null while it goes on.
function ended(event) {
  if (event.withdrawn) return "withdrawn";
  if (event.merged_into) return "merged";
  if (event.event_type === "end") return "end";
  const over = detector?.open_events === 0 && units.milliseconds(detector.t) > said(event) + 5000;
  return over || Date.now() - (heard.get(event.event_id) ?? 0) > patience * 1000 ? "unheard" : null;
}

function take(topic, payload, packet) {
  const event = wire.network(json(payload));
  if (!event || !geo.place(event.latitude, event.longitude)) return;
  const before = events.get(event.event_id);
  // A broker keeps the last one; on a cluster, which keeps nothing, the detector says it again now and then.
  const old = packet?.retain || topic.endsWith("/last");
  if (before && (before.version ?? 0) >= (event.version ?? 0) + (old ? 0 : 1)) return;
  events.set(event.event_id, event);
  if (!before && !old && event.event_type === "onset") news.add(event.event_id);
  heard.set(event.event_id, old ? Math.min(Date.now(), said(event)) : Date.now());
  if (!old) ahead = Math.max(Number.isFinite(ahead) ? ahead - 5 : -Infinity, said(event) - Date.now());
  if (events.size > kept) {
    const [oldest] = [...events.keys()].sort();
    events.delete(oldest);
    heard.delete(oldest);
    news.delete(oldest);
  }
  tell(event.event_id, before ? "version" : "new");
}

// Shows anew what is over by now.
let states = "";
function look() {
  const now = [...events.values()].map(ended).join();
  if (states !== now) tell(null, "state");
  states = now;
}

function listen(topic, payload) {
  detector = wire.detector(json(payload)) ?? detector;
  look();
}

function takeNote(topic, payload) {
  const id = wire.eventId(topic.slice(topic.lastIndexOf("/") + 1));
  if (!id) return;
  const note = payload.length === 0 ? null : wire.note(json(payload));
  if (note) notes.set(id, { notes: [], ...note });
  else notes.delete(id);
  if (notes.size > mostNotes) notes.delete(notes.keys().next().value);
  tell(id, "note");
}

export const earthquakes = {
  events, ended,
  isNews: (id) => news.has(id),
  // { seen, notes } of an event of a station or of the network.
  note: (id) => notes.get(id) ?? { notes: [] },
  // Says for all who look that somebody has seen an event (`seen`), or what he notes of it. Resolves when the broker has it.
  annotate(id, by, { seen, text }) {
    const before = earthquakes.note(id);
    const t = new Date().toISOString();
    const note = {
      v: 1, event_id: id, t, ...(seen === false ? {} : seen ? { seen: { by, t } } : before.seen ? { seen: before.seen } : {}),
      notes: [...before.notes, ...(text ? [{ by, t, text }] : [])].slice(-20),
    };
    return link.keep(`network/note/${id}`, note);
  },
  list: () => [...events.values()].sort((a, b) => (a.origin_time < b.origin_time ? 1 : -1)),
  // Milliseconds since 1970 by the clock of the detector: that of this browser may be wrong.
  now: () => Date.now() + (Number.isFinite(ahead) ? ahead : 0),
  // What an event has become: itself, or the one that its onsets belong to.
  become(id) {
    for (let i = 0; i < 5 && events.get(id)?.merged_into; i++) id = events.get(id).merged_into;
    return events.get(id) ?? null;
  },
  on(fn) {
    listeners.add(fn);
    return () => listeners.delete(fn);
  },
  start() {
    link.subscribe(`${link.root}/network/event`, take);
    // Each version comes on both topics: what the broker has kept is wanted once.
    link.subscribe(`${link.root}/network/event/last`, take, { first: true });
    link.subscribe(`${link.root}/network/status`, listen);
    link.subscribe(`${link.root}/network/note/+`, takeNote, { calm: true });
    setInterval(look, 5000);
  },
};
