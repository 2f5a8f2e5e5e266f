// What the network knows of the earthquake that an event of a station belongs to.

import { archive } from "../archive.js";
import { h } from "../dom.js";
import { earthquakes } from "../earthquakes.js";
import { fleet } from "../fleet.js";
import { format } from "../preferences.js";
import { ground } from "../pure/ground.js";
import { router } from "../router.js";
import { numbers, text } from "../text.js";
import { mainFacts, stateBadge } from "./earthquake-facts.js";
import { isPlaced } from "./earthquake-map.js";

const words = text.network;

// The newest that this browser knows of it: { event, count (of its stations) }; null for one that is none of the network's, or was
// withdrawn. Of the network's events those that were heard since the page was opened, and those in the list of all events.
function find(eventId) {
  for (const event of earthquakes.events.values()) {
    if (!event.stations?.some((one) => one.event_id === eventId)) continue;
    const now = earthquakes.become(event.event_id) ?? event;
    if (!now.withdrawn) return { event: now, count: now.stations?.length ?? 0 };
  }
  for (const { station, parts, event } of archive.entries.values()) {
    if (station === "" && parts?.includes(eventId) && !event.withdrawn && !event.merged_into) return { event, count: event.count };
  }
  return null;
}

// As a card for the page of the station's event; null where the network has said nothing of it.
export function eventNetwork(station, eventId) {
  const found = find(eventId);
  if (!found) return null;
  const { event, count } = found;
  const place = fleet.stations.get(station)?.info?.station;
  const isKnown = isPlaced(event) && Number.isFinite(place?.latitude) && Number.isFinite(place?.longitude);
  const distance = event.stations?.find((one) => one.event_id === eventId)?.distance_km ?? (isKnown ? ground.distance(place, event) : NaN);
  const size = h("div", { class: "fact" }, h("strong", { class: "number" }, numbers.text(count)),
    h("span", { class: "quiet" }, words.stations));
  return h("section", { class: "card event-network" }, h("h2", {}, words.ofEvent),
    h("p", {}, h("a", { href: router.address("earthquake", event.event_id) }, text.earthquake.heading(format.moment(event.origin_time))),
      " ", stateBadge(event)),
    h("div", { class: "event-facts" }, mainFacts(event, distance), size));
}
