// What is known of an earthquake of the network, as text and tables.

import { h } from "../dom.js";
import { earthquakes } from "../earthquakes.js";
import { mapPlaces } from "../places.js";
import { format } from "../preferences.js";
import { geo } from "../pure/geo.js";
import { places } from "../pure/places.js";
import { units } from "../pure/units.js";
import { router } from "../router.js";
import { numbers, text } from "../text.js";
import { isPlaced } from "./earthquake-map.js";
import { intensityChip } from "./event-measures.js";

const words = text.network;
const mostRows = 30;
const km = (value) => units.about(value, "km");
const compass = (degrees) => text.compass[Math.round((((degrees % 360) + 360) % 360) / 45) % 8];

export const magnitudeText = ({ magnitude: one }) =>
  (one ? `${units.fixed(one.value, 1)}${Number.isFinite(one.sigma) ? ` ± ${units.fixed(one.sigma, 1)}` : ""}` : "–");

// "35.8° N, 117.6° W", or the direction alone where no more is known.
export function placeText(event) {
  const { quality, azimuth_deg: azimuth } = event.place ?? {};
  if (quality === "outside" && Number.isFinite(azimuth)) return words.outsideTo(compass(azimuth));
  const place = `${geo.latitude(Number(event.latitude.toFixed(2)))}, ${geo.longitude(Number(event.longitude.toFixed(2)))}`;
  return quality === "poor" || quality === "ambiguous" ? `${place} (${words.quality[quality]})` : place;
}

// "12 km NE of Ridgecrest"; "" where the place is not known that well, or the names of places are not here yet (mapPlaces.on).
function nearText(event) {
  if (["outside", "poor", "ambiguous"].includes(event.place?.quality)) return "";
  const near = places.nearest(mapPlaces.list(), event);
  return near ? words.near(km(near.km), compass(near.azimuth), near.name) : "";
}

// The figures above all others: magnitude, place, distance where one is given (km), depth, largest intensity.
export function mainFacts(event, distance = NaN) {
  const fact = (value, name) => h("div", { class: "fact" }, value, h("span", { class: "quiet" }, name));
  const number = (value, name) => fact(h("strong", { class: "number" }, value), name);
  return [
    number(event.magnitude ? `M ${magnitudeText(event)}` : text.earthquake.noMagnitude, words.magnitude),
      number(placeText(event), nearText(event) || words.place),
    isPlaced(event) && Number.isFinite(distance) && number(km(distance), words.distance),
      isPlaced(event) && number(units.depth(event.depth_km), words.depth),
    Number.isFinite(event.mmi?.value) && fact(intensityChip({ scale: "mmi", value: event.mmi.value }),
      `${words.largest}: ${event.mmi.station ?? "–"}`),
  ].filter(Boolean);
}

// How it goes on or has ended, as a badge; null for one that has simply ended.
export function stateBadge(event) {
  const how = earthquakes.ended(event);
  if (how === null) return h("span", { class: "badge", dataset: { state: "bad" } }, words.running);
  if (how === "end") return null;
  const into = earthquakes.events.get(event.merged_into);
  const said = how === "merged" ? words.merged(into ? format.time(into.origin_time) : event.merged_into) : words[how];
  return h("span", { class: "badge", dataset: { state: "unknown" } }, said);
}

// Sentences: magnitude and strongest place on a phone, how well the place is known, what is drawn.
export function earthquakeFacts(event) {
  const { ellipse, place } = event;
  const fact = (name, value) => [h("span", { class: "quiet" }, name), " ", value, " "];
  const small = (said) => h("p", { class: "quiet small-note" }, said);
  return h("div", {},
    h("p", { class: "network-facts" }, fact(words.magnitude, magnitudeText(event)),
      Number.isFinite(event.mmi?.value) && fact(words.largest, intensityChip({ scale: "mmi", value: event.mmi.value })),
      Number.isFinite(event.version) && fact(words.version, numbers.text(event.version))),
    event.disputed && h("p", { class: "note" }, event.disputed_because === "lone_operator" ? words.disputedLone : words.disputed),
    place?.quality === "outside" && h("p", { class: "note" }, words.outside(Number.isFinite(place.azimuth_deg) ? compass(place.azimuth_deg)
      : "–")),
    place?.quality === "ambiguous" && h("p", { class: "note" }, words.ambiguous(1 + (place.others?.length ?? 0))),
    place?.quality === "poor" && h("p", { class: "note" }, words.poor),
    place?.region?.length > 0 ? small(words.region(km(place.extent_km)))
      : Number.isFinite(ellipse?.semi_major_km) && small(words.ellipse(km(2 * ellipse.semi_major_km), km(2 * ellipse.semi_minor_km))),
    !(place?.quality === "outside" || place?.quality === "poor") && small(words.waves));
}

// Stations that should have noticed it: how many, their names to be opened. `opened` remembers that.
export function missingStations({ silent = [] }, opened) {
  if (silent.length === 0) return null;
  const list = h("details", { class: "missing", open: opened.missing, ontoggle: () => (opened.missing = list.open) },
    h("summary", {}, words.missing(silent.length)),
    h("p", { class: "quiet small-note" }, silent.map((id, i) => [i > 0 ? ", " : "", h("a", { href: router.address("station", id) }, id)])));
  return list;
}

// The stations whose onsets belong to it, the nearest first. `strength(id)`: Mercalli, where that is known.
export function stationTable({ stations = [], origin_time: origin }, opened, strength = null) {
  const list = h("details", { open: opened.stations, ontoggle: () => (opened.stations = list.open) },
    h("summary", {}, `${words.stations}: ${numbers.text(stations.length)}`),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": words.stations }, h("table", {},
      h("thead", {}, h("tr", {}, [words.station, words.onset(format.zone(origin)), words.distance, words.residual,
        strength && words.strength].filter(Boolean).map((word) => h("th", { scope: "col" }, word)))),
      h("tbody", {}, [...stations].sort((a, b) => a.distance_km - b.distance_km).slice(0, mostRows).map((one) => h("tr", {},
        h("td", {}, one.id && h("a", { href: one.event_id ? router.address("station", one.id, "event", one.event_id)
          : router.address("station", one.id) }, one.id)),
        h("td", {}, format.time(one.onset), one.phase ? ` ${one.phase}` : ""), h("td", {}, km(one.distance_km)),
          h("td", {}, units.quantity(one.residual_s, "s")),
        strength && h("td", {}, Number.isFinite(strength(one.id)) ? intensityChip({ scale: "mmi", value: strength(one.id) }) : "–")))))));
  return list;
}
