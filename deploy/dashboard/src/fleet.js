// What is known of every station, from its retained messages and what comes live.

import { json, link } from "./link.js";
import { cbor } from "./pure/cbor.js";
import { Gaps } from "./pure/gaps.js";
import { Traces } from "./pure/ring.js";
import { LevelHistory } from "./pure/level-history.js";
import { Runs } from "./pure/runs.js";
import { traceFromRecords } from "./pure/tracerecords.js";
import { units } from "./pure/units.js";
import { wire } from "./pure/wire.js";

// Events that are kept of a station, and of all together: of each of a thousand stations some few.
const keptEvents = { ofOne: 200, ofAll: 8000, least: 5 };
const mostStations = 5000;
const mostAlerts = 100;
const fresh = 10000;
// Seconds of levels: of a station whose page is open, and of all (a card shows three minutes).
const mostRemembered = { ofOne: 600, ofMany: 190 };
const stations = new Map();
const listeners = new Set();
const gaps = new Gaps();

const empty = (id) => ({
  id, online: null, info: null, config: null, settings: null, schema: null, summary: null, level: null, health: null, update: null,
  lastEvent: null,
  // What it expects of an earthquake of the network.
  warning: null,
  // The id of the open event, null when there is none, undefined when the station does not say.
  current: undefined,
  // When it spoke last: milliseconds since 1970 by this browser's clock, or by its own where a broker has kept it.
  heard: NaN,
  // Whether that was of this page's own hearing; and the station's own time when that began (ms).
  isLive: false, since: NaN,
  // A time of its own, and when that was by this browser's clock: { t, at }, milliseconds; of a sample, or of the host.
  clock: null,
  // When a level came last, by this browser's clock.
  leveled: NaN,
  alerts: new Map(),
  // Runs that speak (pure/runs.js): more than one at a time are several agents under one name.
  runs: new Runs(),
  // event id -> { onset, update, end, over (without an end), said (when it was told last, ms), judged: [{ t_s, p, likely }] }
  events: new Map(),
  traces: new Traces(),
  history: new LevelHistory(),
  // scale, or relation of another one of that scale -> { item of `intensity`, t }: the highest that this page has seen (higher)
  highest: new Map(),
});

function tell(id, what) {
  for (const listener of [...listeners]) {
    try {
      listener(id, what);
    } catch (error) {
      console.error(error);
    }
  }
}

function station(id) {
  let found = stations.get(id);
  if (!found) {
    found = empty(id);
    stations.set(id, found);
  }
  return found;
}

// The station and the rest of a topic; null for what is no station's.
function address(topic) {
  const rest = topic.slice(link.root.length + 1);
  const slash = rest.indexOf("/");
  const id = rest.slice(0, slash);
  return id === "group" || id === "network" || !wire.stationId(id) ? null : { id, what: rest.slice(slash + 1) };
}

// What a station's message with a retained payload is stored as, and how it is read.
const objects = {
  __proto__: null, "state/info": "info", "state/config": "config", "state/config/schema": "schema",
  "state/health": "health", "state/level": "level", "state/summary": "summary", "state/update": "update",
};

function take(topic, payload, packet) {
  const at = address(topic);
  if (!at) return;
  const { id, what } = at;
  // A station whose retained messages are taken away is forgotten, and makes no card by that.
  if (!stations.has(id) && (payload.length === 0 || stations.size >= mostStations)) return;
  if (what === "state/online") takeOnline(id, payload, packet);
  else if (what.startsWith("state/alert/")) takeAlert(id, what.slice("state/alert/".length), payload);
  else if (objects[what]) takeObject(id, objects[what], payload, packet);
  else if (what === "event/current" && payload.length === 0) closeEvent(id);
  else if (what === "event/warning") takeWarning(id, payload, packet);
  else if (what === "data/history/event/trigger") again(id, wire.event(json(payload)));
  else if (what.startsWith("event/")) event(id, what, wire.event(json(payload)), packet);
}

// The clock of a station goes on with each message; one that was a little longer on its way does not set it back, and one
// that may have lain in the station's outbox for hours (an event, a warning) never does.
function tick(known, t, { ofSample = true, mayBeLate = false } = {}) {
  if (!Number.isFinite(t)) return;
  const at = Date.now();
  const { clock } = known;
  const isExpected = (known.isLive || mayBeLate) && clock && (clock.ofSample || !ofSample);
  const expected = isExpected ? clock.t + at - clock.at : NaN;
  if (mayBeLate && expected > t) return;
  known.clock = { t: expected - t > 0 && expected - t < 3000 ? expected : t, at, ofSample };
}

const isRecording = (known) => known.info?.sensor?.driver === "replay" || known.summary?.tq?.source === "replay";

// Levels, summaries and events have the time of a sample; other messages that of the host, which is not that of a recording.
function heard(known, packet, t, { ofSample = false, mayBeLate = false } = {}) {
  const said = units.milliseconds(t);
  const counts = ofSample || !isRecording(known);
  if (!packet?.retain) {
    if (counts) tick(known, said, { ofSample, mayBeLate });
    if (!(known.since <= known.clock?.t)) known.since = known.clock?.t ?? NaN;
    known.isLive = true;
    known.heard = Date.now();
    // Whatever the broker has kept, or hands over late: the last will of a connection that another one has replaced.
    if (known.online !== true) {
      known.online = true;
      tell(known.id, "online");
    }
  } else if (isRecording(known)) {
    // Of a message that the broker has kept it is the only time; but when it was heard, that of a recording does not say.
    if (!known.isLive) known.heard = NaN;
  } else if (said <= Date.now() + 60000 && !(known.heard >= said)) known.heard = said;
  if (!packet?.retain || known.isLive || !counts || !Number.isFinite(said)) return;
  const isBetter = isRecording(known) && !known.clock?.ofSample;
  if (isBetter || !(known.clock?.t >= said)) known.clock = { t: said, at: isRecording(known) ? Date.now() : Math.min(said, Date.now()),
    ofSample };
}

function takeWarning(id, payload, packet) {
  const warning = payload.length === 0 ? null : wire.warning(json(payload));
  if (payload.length > 0 && !warning) return;
  const known = station(id);
  if (warning) heard(known, packet, warning.issued, { mayBeLate: true });
  known.warning = warning;
  tell(id, "warning");
}

function takeOnline(id, payload, packet) {
  if (payload.length === 0) {
    stations.delete(id);
    return tell(id, "online");
  }
  const known = station(id);
  known.online = new TextDecoder().decode(payload) === "online";
  // That it is offline is the broker's word.
  if (known.online) heard(known, packet);
  tell(id, "online");
}

function takeAlert(id, code, payload) {
  const alert = payload.length === 0 ? null : wire.alert(json(payload));
  const { alerts } = station(id);
  if (alert && wire.code(code) && (alerts.has(code) || alerts.size < mostAlerts)) alerts.set(code, { ...alert, code });
  else if (!alerts.delete(code)) return;
  tell(id, "alert");
}

// Whether a live message is to be shown: of several agents under one name one alone.
function ofOne(known, boot) {
  const before = known.runs.isDouble(Date.now());
  const isShown = known.runs.note(boot, Date.now());
  if (before !== known.runs.isDouble(Date.now())) tell(known.id, "online");
  return isShown;
}

const older = (before, now) => before && before.boot === now.boot && now.seq < before.seq;

function takeObject(id, what, payload, packet) {
  const object = wire[what](json(payload));
  if (!object) return;
  const known = station(id);
  if ((what === "summary" || what === "level") && older(known[what], object)) return;
  if (!packet?.retain && !ofOne(known, object.boot)) return;
  known[what] = object;
  heard(known, packet, object.t, { ofSample: what === "level" || what === "summary" });
  // A new run goes on with no event of the run before.
  const open = known.events.get(known.current);
  if (open && !packet?.retain && object.boot && newestOf(open).boot && object.boot !== newestOf(open).boot) closeEvent(id);
  if (what === "config") takeSettings(known, object);
  if (what === "level") {
    if (!packet?.retain) known.leveled = Date.now();
    remember(known, object, intensityOf(known), !packet?.retain);
  }
  if (what === "summary") remember(known, object, object.intensity, !packet?.retain);
  tell(id, what);
}

// Where the sensor's axes point is in the settings, and changes while the station runs.
function takeSettings(known, { config }) {
  const pointing = JSON.stringify(config?.sensor?.mounting ?? null);
  if (known.settings && known.pointing !== pointing) known.traces.mark("axes");
  known.pointing = pointing;
  known.settings = wire.used(config) ?? null;
}

// A level as the items that a summary has.
function intensityOf({ level, summary }) {
  const same = (scale) => summary?.intensity?.find((item) => item.scale === scale)?.relation;
  const list = [];
  if (level?.mmi !== undefined) list.push({ scale: "mmi", relation: same("mmi") ?? "mmi", value: level.mmi });
  if (level?.jma !== undefined) list.push({ scale: "jma", relation: "jma", value: level.jma });
  return list;
}

function remember(known, { t, pga, sta_lta: ratios, triggered, valid }, intensity, isLive) {
  const time = units.milliseconds(t) / 1000;
  const { history } = known;
  if (!Number.isFinite(time)) return;
  const last = history.at(-1);
  // Level and summary say the same of a second.
  if (last && Math.abs(time - last.time) < 0.5) {
    if (ratios) history.addRatios(ratios);
  } else {
    // A recording that is played again begins anew.
    if (last && time < last.time) history.clear();
    history.push({ time, pga, ratios, triggered }, known.summary ? mostRemembered.ofOne : mostRemembered.ofMany);
  }
  // (What a broker hands out of the last seconds is of now.)
  if (valid !== false && (isLive || Math.abs(Date.now() - time * 1000) < fresh)) higher(known, intensity, () => t);
}

// The highest of each relation since the page was opened, and of the event that was open then, with its time: of a window the
// end of that, of an event when its acceleration was largest. A level does not say its relation: it is the first of its
// scale, as in summaries and events, so that this one goes by the name of the scale.
function higher(known, intensity, timeOf) {
  for (const [key, item] of keyed(intensity)) {
    const before = known.highest.get(key);
    if (!before && known.highest.size >= 16) continue;
    if (!Number.isFinite(item.value) || item.uncertain) continue;
    if (!(before && before.item.value >= item.value)) known.highest.set(key, { item, t: timeOf(item) });
  }
}

function keyed(intensity = []) {
  const scales = new Set();
  return intensity.map((item) => {
    const isFirst = !scales.has(item.scale);
    scales.add(item.scale);
    return [isFirst ? item.scale : item.relation, item];
  });
}

// When what an event says was reached: the peak of the horizontals, by which intensities are told.
/** @param {{ peaks?: any, t?: string, onset?: string }} event */
function peakTime({ peaks = {}, t, onset }) {
  const horizontal = [peaks.x, peaks.y].filter((one) => one?.t).sort((a, b) => (b.value ?? 0) - (a.value ?? 0))[0];
  return horizontal?.t ?? peaks.h?.t ?? peaks.v3?.t ?? t ?? onset;
}

const newestOf = (entry) => entry.end ?? entry.update ?? entry.onset;

function event(id, what, object, packet) {
  if (!wire.isOwn(id, object?.event_id) || !object.event_type || !object.onset) return;
  if (what === "event/trigger") gaps.note(id, object.boot, object.seq, performance.now() / 1000);
  const known = station(id);
  heard(known, packet, packet?.kept ? undefined : object.t, { ofSample: true, mayBeLate: true });
  const fresh = !known.events.has(object.event_id);
  const entry = known.events.get(object.event_id) ?? { judged: [] };
  if (entry.end && object.event_type !== "end") return;
  // Each message of an open event comes on both topics; what is asked for later is none of the present.
  if (what === "event/current" || (what === "event/trigger" && object.event_type !== "end")) known.current = object.event_id;
  entry.said = Date.now();
  // Its beginning came while the page was open.
  if (fresh && !packet?.retain && object.event_type === "onset") entry.isNews = true;
  // The open event as a broker has kept it, which another message has told already.
  if (!fresh && what === "event/current" && entry[object.event_type]?.seq >= object.seq) return;
  entry[object.event_type] = object;
  const judged = object.class;
  if (judged?.p !== undefined && !entry.judged.some((one) => one.t_s === judged.t_s) && entry.judged.length < 64) entry.judged.push(judged);
  known.events.set(object.event_id, entry);
  const most = Math.max(keptEvents.least, Math.min(keptEvents.ofOne, keptEvents.ofAll / stations.size));
  while (known.events.size > most) known.events.delete(known.events.keys().next().value);
  if (object.event_type === "end") {
    // Its end says all that the messages before it have said.
    if (entry.onset) entry.onset = { seq: entry.onset.seq };
    delete entry.update;
    if (known.current === object.event_id) known.current = null;
    if (!(known.lastEvent?.onset > object.onset)) known.lastEvent = object;
  }
  // (What a station keeps of former events is none of the present; of one that was missed meanwhile it is.)
  const isPresent = !packet?.retain || what === "event/current" || (what === "event/kept"
    && units.milliseconds(object.onset) > known.since);
  if (!object.test && isPresent) higher(known, object.intensity, () => peakTime(object));
  tell(id, "event");
  if (what === "event/trigger" && object.event_type === "onset") {
    document.dispatchEvent(new CustomEvent("seismote-onset", { detail: { id, event: object } }));
  }
}

// A message that was missed, or that somebody else has missed.
function again(id, object) {
  if (!wire.isOwn(id, object?.event_id) || !gaps.marks.has(id) || !gaps.note(id, object.boot, object.seq, performance.now() / 1000)) return;
  if (!(stations.get(id)?.events.get(object.event_id)?.[object.event_type]?.seq > object.seq)) event(id, "event/kept", object,
    { retain: true });
}

// What has not come is asked for, of stations that can send it again. Whoever may not ask goes without.
function repair() {
  if (link.state !== "online") return;
  for (const { id, boot, from, to } of gaps.due(performance.now() / 1000)) {
    if (fleet.knows(id, "resend") !== true) continue;
    link.tell(id, "resend", { stream: "event/trigger", boot, from_seq: from, to_seq: to });
  }
}

// An event whose end came while there was no connection: no longer among those that the broker has kept.
let lookedAt = NaN;
function closeMissed() {
  if (lookedAt === link.since || !link.isToldOnce(currents())) return;
  lookedAt = link.since;
  for (const { id, current, events } of stations.values()) if (events.get(current)?.said < link.since) closeEvent(id);
}
const currents = () => `${link.root}/+/event/current`;

// The open event is over; its end comes by itself, or was missed.
function closeEvent(id) {
  const known = station(id);
  const entry = known.events.get(known.current);
  known.current = null;
  if (entry && !entry.end) entry.over = true;
  tell(id, "event");
}

function trace(topic, payload, packet) {
  const at = address(topic);
  if (!at || payload.length === 0) return;
  const type = packet?.properties?.contentType;
  const first = payload[0];
  const block = wire.trace(first === 0x7b ? json(payload)
    : first === 0xbf ? cbor(payload) : traceFromRecords(payload));
  if (!block) return;
  const known = station(at.id);
  heard(known, packet);
  if (!ofOne(known, block.boot)) return;
  if (!known.traces.add(block, performance.now() / 1000)) return;
  tick(known, known.traces.endTime * 1000);
  tell(at.id, "trace");
}

export const fleet = {
  stations,
  take, trace, intensityOf,
  on(kind, fn) {
    listeners.add(fn);
    return () => listeners.delete(fn);
  },
  // The item of `intensity` that stands for a station: the first of its scales.
  leading: (known) => known.summary?.intensity?.[0] && !(known.leveled > units.milliseconds(known.summary.t) + 5000)
    ? known.summary.intensity[0] : intensityOf(known)[0] ?? known.summary?.intensity?.[0],
  // { item, t } of the highest of a station by the scale and relation of an item; undefined while there is none.
  highest(known, item) {
    const [key] = keyed(known.summary?.intensity).find(([, one]) => one.relation === item?.relation) ?? [item?.scale];
    return known.highest.get(key);
  },
  // The newest that is known each second: level or summary.
  now: (known) => (known?.level && !(known.summary?.seq >= 0 && units.milliseconds(known.summary.t) > units.milliseconds(known.level.t))
    ? known.level : known?.summary ?? known?.level ?? null),
  // What a station keeps of an event, into what is known of it.
  learn(id, object) {
    if (stations.has(id)) event(id, "event/kept", object, { retain: true, kept: true });
  },
  // What is shown as the current event of a station: the newest, ended or not.
  newestEvents(id) {
    const list = [];
    for (const known of id === undefined ? stations.values() : [stations.get(id)].filter(Boolean)) {
      for (const [eventId, entry] of known.events) {
        list.push({ station: known.id, id: eventId, ended: Boolean(entry.end || entry.over), event: newestOf(entry) });
      }
    }
    return list.sort((a, b) => (a.event.onset < b.event.onset ? 1 : a.event.onset > b.event.onset ? -1 : 0));
  },
  newestOf,
  // Whether a station has a verb; null when it has not said.
  knows: (id, verb) => stations.get(id)?.info?.capabilities?.verbs?.includes(verb) ?? null,
  // What is heard whatever is shown: who is there, what is wrong, what shakes.
  start() {
    const hear = (what, options) => link.subscribe(`${link.root}/+/${what}`, take, options);
    hear("state/online");
    for (const what of ["event/trigger", "event/warning", "data/history/event/trigger", "state/alert/+"]) hear(what);
    // What is open when the page comes; after that the same comes on `event/trigger`.
    link.subscribe(currents(), take, { first: true });
    setInterval(() => {
      repair();
      closeMissed();
    }, 1000);
    for (const what of ["state/info", "state/update"]) hear(what, { calm: true });
  },
};
