// Which alarms there are: what is heard, by the reader's rules, becomes at most a handful of alarms that come, change, and
// go. Knows no clock, no page and no sound: times are handed in, in milliseconds.
import { ground } from "./ground.js";
import { mercalli } from "./mercalli.js";

const most = 20;
// How long after its last change an alarm stays, ms.
const lasting = { network: 120000, station: 60000, warning: 60000, test: 15000 };
const afterEnd = 30000;
const afterWithdrawal = 10000;
// What is older when it is heard of is shown alone: nobody is woken for it.
const oldest = 180000;
const mostDismissed = 500;

// Of an event of the network. `home`: the reader's place { id, latitude, longitude }, or null. `measured`: the intensity that
// the station there has seen of it, NaN without one. Null where the rules do not want it.
function ofNetwork(event, { network }, home, measured, milliseconds) {
  const here = home ? ground.at(event, home) : null;
  // Beyond the network the direction is known and the distance is not: no arrival and no intensity can be told from it.
  const isPlaced = event.place?.quality === undefined || event.place.quality === "good";
  const expected = here && isPlaced ? here.mmi : NaN;
  const largest = event.mmi?.value ?? NaN;
  if (network === "off" || event.class === "disturbance") return null;
  const size = Number.isFinite(measured) ? measured : here && Number.isFinite(expected) ? expected : largest;
  if (network !== "all" && !(size >= Number(network) - 0.5)) return null;
  return {
    key: `network ${event.event_id}`, kind: "network", event: event.event_id, origin: milliseconds(event.origin_time), size,
    magnitude: event.magnitude?.value ?? NaN, sigma: event.magnitude?.sigma ?? NaN, latitude: event.latitude, longitude: event.longitude,
      isPlaced,
    largest, station: event.mmi?.station ?? null, measured, expected, home: home?.id ?? null, count: event.stations?.length ?? 0,
    distance: isPlaced && here ? here.distance : NaN, azimuth: isPlaced && here ? here.azimuth : event.place?.azimuth_deg ?? NaN,
    s: isPlaced && here ? milliseconds(event.origin_time) + here.s * 1000 : NaN,
    state: event.withdrawn ? "withdrawn" : event.merged_into ? "merged" : event.event_type === "end" ? "over" : "on",
  };
}

// Of an event of a station.
function ofStation(id, event, { station, intensity, home }, milliseconds) {
  const size = mercalli.of(event);
  const isStrong = intensity !== "off" && size >= Number(intensity) - 0.5;
  if (event.test && !event.alarm && !isStrong) return null;
  if (!(station !== "off" && event.alarm === true) && !isStrong) return null;
  if (station === "home" && id !== home && !isStrong) return null;
  return {
    key: `station ${id} ${event.event_id}`, kind: "station", event: event.event_id, origin: milliseconds(event.onset), size, station: id,
    pga: event.pga ?? NaN, isRough: mercalli.isRough(event),
    isAlarm: event.alarm === true, isTest: event.test === true, state: event.event_type === "end" ? "over" : "on",
  };
}

// Of what a station expects of an earthquake of the network. It lasts until S has been there for 10 s, as the station's own does;
// without a time of arrival it is now.
function ofWarning(id, warning, { station, home }, milliseconds) {
  if (station === "off" || (station === "home" && id !== home)) return null;
  const issued = milliseconds(warning.issued);
  const s = warning.s_arrival === undefined ? NaN : milliseconds(warning.s_arrival);
  return {
    key: `warning ${id} ${warning.network_event}`, kind: "warning", event: warning.network_event, station: id, origin: issued,
      size: warning.mmi,
    expected: warning.mmi, range: warning.mmi_range?.length === 2 ? warning.mmi_range : null, distance: warning.distance_km ?? NaN,
      magnitude: warning.magnitude ?? NaN,
    s, ends: Number.isFinite(s) ? s + 10000 : issued + 60000,
    state: warning.state === "passed" ? "over" : warning.state === "coming" && warning.alarm ? "on" : "withdrawn",
  };
}

// Farther than so many kilometres from the reader's station an alarm sounds another way.
const farFrom = 100;

// Whether an alarm is far from the reader's station: `home` and `place` (of the alarm's own station), { latitude, longitude } or
// null. Where nobody knows, it is near, and so is all that the reader's own station says.
function isFar(alarm, home, place) {
  if (alarm.kind === "network") return alarm.distance > farFrom;
  return Boolean(home && place) && alarm.station !== home.id && ground.distance(home, place) > farFrom;
}

const step = (size) => (Number.isFinite(size) ? Math.floor(size + 0.5) : 0);

export class Alarms {
  #list = new Map();
  // key -> the step of intensity at which the reader had seen it
  #dismissed;

  // `dismissed`: what another visit has left of it (see there).
  constructor(dismissed = []) {
    this.#dismissed = new Map(dismissed.slice(-mostDismissed));
  }

  // Pairs of key and step, of what the reader has seen.
  get dismissed() {
    return [...this.#dismissed];
  }

  // Takes an alarm at a time; `age`: how old it was when it was heard, `watched`: for how long somebody had been listening, ms.
  // What has become of it: "new", "shown" (new here alone: it was open before anybody listened, or is too old to wake
  // somebody), "changed", "over" (it is none any more), or null where nothing is to be done.
  hear(alarm, now, age = 0, watched = Infinity) {
    const before = this.#list.get(alarm.key);
    if (alarm.state === "merged") {
      this.#list.delete(alarm.key);
      return before ? "over" : null;
    }
    const wait = alarm.state === "withdrawn" ? afterWithdrawal : alarm.state === "over" ? afterEnd : lasting[alarm.kind];
    if (!before) {
      if (alarm.state !== "on" || this.#dismissed.get(alarm.key) >= step(alarm.size)) return null;
      if (this.#list.size >= most) this.#list.delete(this.list().at(-1).key);
    }
    const until = alarm.kind === "warning" && alarm.state === "on" ? Math.min(now + wait, Math.max(alarm.ends, now + 1000)) : now + wait;
    this.#list.set(alarm.key, { ...alarm, since: before?.since ?? now, until });
    return before ? "changed" : age > oldest || age > watched ? "shown" : "new";
  }

  // Those whose time is over are taken away; returns whether there were any.
  pass(now) {
    const before = this.#list.size;
    for (const [key, { until }] of this.#list) if (until <= now) this.#list.delete(key);
    return this.#list.size < before;
  }

  // The reader has seen one: it comes again only a step of intensity stronger.
  dismiss(key) {
    const one = this.#list.get(key);
    if (!one) return;
    this.#list.delete(key);
    this.#dismissed.set(key, step(one.size));
    if (this.#dismissed.size > mostDismissed) this.#dismissed.delete(this.#dismissed.keys().next().value);
  }

  // The gravest first: what is on its way to a station, then earthquakes of the network before single stations, what is on before
  // what is over, the strongest first.
  list() {
    const rank = ({ kind, state }) => (state === "on" ? 0 : 4) + { warning: 0, network: 1, station: 2, test: 3 }[kind];
    return [...this.#list.values()].sort((a, b) => rank(a) - rank(b) || step(b.size) - step(a.size) || b.since - a.since);
  }
}

export const alarms = { isFar, ofNetwork, ofStation, ofWarning };
