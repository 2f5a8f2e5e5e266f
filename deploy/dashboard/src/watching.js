// Subscribes to what is shown, and to no more: a station's numbers, traces and settings while its pages are open, the
// levels of all in the overview. A page in the background hears no levels.

import { fleet } from "./fleet.js";
import { link } from "./link.js";
import { units } from "./pure/units.js";
import { waveforms } from "./waveforms.js";

const watched = new Map();
// How long a station may be online without a level before its summary is taken instead: an older program.
const patience = 2500;
const mostSummaries = 200;

// Subscribes while anybody watches; returns what ends it.
function watch(filter, fn) {
  const entry = watched.get(filter) ?? { count: 0, stop: null };
  if (entry.count++ === 0) entry.stop = link.subscribe(filter, fn, { qos: filter.endsWith("/state/summary") ? 0 : 1 });
  watched.set(filter, entry);
  return once(() => {
    if (--entry.count > 0) return;
    entry.stop();
    watched.delete(filter);
  });
}

function once(fn) {
  let done = false;
  return () => {
    if (!done) fn();
    done = true;
  };
}

const all = (stops) => once(() => stops.forEach((stop) => stop()));

fleet.watchTraces = (id) => watch(`${link.root}/${id}/data/trace`, fleet.trace);
// 42 KB.
fleet.watchSchema = (id) => watch(`${link.root}/${id}/state/config/schema`, fleet.take);
fleet.watchStation = (id) => all([
  ...["state/summary", "state/health", "state/config", "event/current",
    "event/last"].map((what) => watch(`${link.root}/${id}/${what}`, fleet.take)),
  waveforms.watch(id),
]);
fleet.watchLastEvents = () => link.subscribe(`${link.root}/+/event/last`, fleet.take, { calm: true });

fleet.watchLevels = function watchLevels() {
  let stop = null;
  const summaries = new Map();
  const begin = () => (stop ??= link.subscribe(`${link.root}/+/state/level`, fleet.take, { qos: 0, calm: true }));
  const end = () => {
    stop?.();
    stop = null;
    for (const drop of summaries.values()) drop();
    summaries.clear();
  };
  const shown = () => (document.hidden ? end() : begin());
  const look = setInterval(() => {
    if (!stop || !(Date.now() - link.since > patience)) return;
    for (const [id, known] of fleet.stations) {
      const wanted = known.online === true && known.info && !known.level && summaries.size < mostSummaries;
      if (wanted && !summaries.has(id)) summaries.set(id, watch(`${link.root}/${id}/state/summary`, fleet.take));
    }
  }, 1000);
  shown();
  document.addEventListener("visibilitychange", shown);
  return once(() => {
    clearInterval(look);
    document.removeEventListener("visibilitychange", shown);
    end();
  });
};

// Whether there is no such station, as far as the broker says: a second after it was asked for what it keeps.
fleet.isUnknown = (id) => {
  const known = fleet.stations.get(id);
  return link.state === "online" && Date.now() - link.since > 1000 && !(known
    && (known.online !== null || known.info || known.summary || known.level));
};
const silent = 10000;
// A station that was heard before the connection was lost has so long to be heard again.
const settling = 1500;

// How old is what is known of a station that is online and does not speak, in milliseconds; 0 while it speaks. What the
// broker has kept says at once how old it is; where it does not, the station is listened to first.
fleet.silence = (known) => {
  if (known.online === false) return 0;
  const listening = Date.now() - link.since;
  const age = Date.now() - known.heard;
  if (age <= silent) return 0;
  if (!(age > silent)) return listening > silent ? listening : 0;
  const isTold = Boolean(known.level ?? known.summary);
  return listening > (known.isLive ? settling : isTold ? 0 : silent) ? age : 0;
};

// The time of a station, in milliseconds since 1970: of its newest message, and on from there while it speaks; that of a
// recording is the recording's. NaN before anything is known.
fleet.time = (known) => {
  const { clock } = known ?? {};
  if (!clock) return NaN;
  return clock.t + (known.online !== false && fleet.silence(known) === 0 ? Date.now() - clock.at : 0);
};

// How long ago a time of a station was (milliseconds since 1970, as the station says it), in seconds by its own clock, which
// goes on whether the station is heard or not; NaN where that clock was set meanwhile.
fleet.age = (id, time) => {
  const { clock } = fleet.stations.get(id) ?? {};
  const age = ((clock ? clock.t + Date.now() - clock.at : Date.now()) - time) / 1000;
  return age > -5 && age < 86400 ? Math.max(0, age) : NaN;
};

// How long an event has lasted, in seconds: as its station says it, and of an open one until now.
fleet.duration = (id, event, ended) => {
  const known = fleet.stations.get(id);
  const said = event?.duration_s;
  if (ended || !known || known.online === false || fleet.silence(known) > 0) return said;
  const runs = (fleet.time(known) - units.milliseconds(event.onset)) / 1000;
  // (A clock that was set meanwhile says nothing of it.)
  return runs >= 0 && runs < 86400 ? Math.max(runs, said ?? 0) : said;
};
