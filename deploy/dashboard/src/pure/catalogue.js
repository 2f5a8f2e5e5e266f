// One list of the events of all stations and of the network: how an entry is made of a message, and which match a filter.
import { ground } from "./ground.js";
import { mercalli } from "./mercalli.js";

const longestList = 20000;

// What is kept of a message: what lists, files and filters need.
const pick = (object, names) => Object.fromEntries(names.filter((name) => object[name] !== undefined).map((name) => [name, object[name]]));
const ofStationNames = ["event_id", "event_type", "onset", "end", "duration_s", "pga", "pgv", "intensity", "class", "label", "confirmed",
  "test", "alarm", "velocity_valid", "acceleration_valid"];
const ofNetworkNames = ["event_id", "event_type", "origin_time", "latitude", "longitude", "depth_km", "magnitude", "mmi", "pga", "ellipse",
  "rms_s", "class", "merged_into", "withdrawn", "version"];

// Of an earthquake the nearest of the events that belong to it.
const mostParts = 60;
const partsOf = (event) => (event.stations ?? []).filter((one) => one.event_id).sort((a, b) =>
  (a.distance_km ?? Infinity) - (b.distance_km ?? Infinity)).slice(0, mostParts).map((one) => one.event_id);

// An entry: { id, station ("" of the network), time (text), at (ms), state, magnitude, mmi, pga, kind, label, latitude, longitude,
// event, parts (ids of stations' events, of the network) }. `state`: "on", "end", "withdrawn", "merged", "unheard".
function ofStation(station, event, isOver, place, milliseconds) {
  return {
    id: event.event_id, station, time: event.onset, at: milliseconds(event.onset),
      state: event.event_type === "end" ? "end" : isOver ? "unheard" : "on",
    magnitude: NaN, mmi: mercalli.told(event).value, uncertain: mercalli.told(event).uncertain,
    pga: event.pga ?? NaN, kind: event.class?.likely ?? "", label: event.label ?? "",
    latitude: place?.latitude ?? NaN, longitude: place?.longitude ?? NaN,
      event: { ...pick(event, ofStationNames), detectors: (event.detectors ?? []).map(({ name }) => ({ name })) },
  };
}

function ofNetwork(event, ended, milliseconds) {
  const place = event.place ? pick(event.place, ["quality", "azimuth_deg"]) : undefined;
  return {
    id: event.event_id, station: "", time: event.origin_time, at: milliseconds(event.origin_time), state: ended ?? "on",
    magnitude: event.magnitude?.value ?? NaN, mmi: event.mmi?.value ?? NaN, pga: event.pga?.value ?? NaN, kind: event.class ?? "",
      label: "",
    latitude: event.latitude, longitude: event.longitude, event: { ...pick(event, ofNetworkNames), ...(place ? { place } : {}),
      count: event.stations?.length ?? event.count ?? 0 },
    parts: partsOf(event),
  };
}

// Those that match, the newest first. `from`, `to` (ms), `whose` ("all", "network", "stations"), `words` (in the station's name or
// the event's id), `mmi` and `magnitude` (least), `kind`, `label`, `near` ({ latitude, longitude, km }), `open` (nobody has seen it).
function filter(list, { from = -Infinity, to = Infinity, whose = "all", words = "", mmi = NaN, magnitude = NaN, kind = "", label = "",
  near = null, open = false } = {}, isSeen = (_) => false) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return list.filter((one) => one.at >= from && one.at < to && (whose === "all" || (whose === "network") === (one.station === "")) &&
    (!Number.isFinite(mmi) || one.mmi >= mmi - 0.5) && (!Number.isFinite(magnitude) || one.magnitude >= magnitude)
      && (kind === "" || one.kind === kind) && (label === "" || one.label === label) &&
    wanted.every((word) => `${one.station} ${one.id}`.toLowerCase().includes(word)) && (!open || !isSeen(one.id)) &&
    (!near || (Number.isFinite(one.latitude) && ground.distance(one, near) <= near.km))).sort((a, b) => b.at - a.at);
}

export const catalogue = { ofStation, ofNetwork, filter, longestList };
