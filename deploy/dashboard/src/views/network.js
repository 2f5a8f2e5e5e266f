// Earthquakes that the network detector has put together of several stations: the list, and on the map where it was, how
// sure that is, and where its waves are.

import { announce, h } from "../dom.js";
import { earthquakes } from "../earthquakes.js";
import { format, preferences } from "../preferences.js";
import { units } from "../pure/units.js";
import { router } from "../router.js";
import { numbers, text } from "../text.js";
import { followWaves, paintEarthquake, pointsOf } from "./earthquake-map.js";
import { earthquakeFacts, magnitudeText, missingStations, placeText, stateBadge, stationTable } from "./earthquake-facts.js";
import { intensityChip } from "./event-measures.js";

const words = text.network;
const shownRows = 50;
// An earthquake that has just begun is put on the map by itself for so long (s).
const fresh = 240;

const { ended } = earthquakes;
// What there was no earthquake behind, or another one, is not drawn.
const drawn = (id) => (earthquakes.events.has(id) && !["withdrawn", "merged"].includes(ended(earthquakes.events.get(id))) ? id : null);

// networkCard(map) -> { element, stop() }; hidden until there is an event.
export function networkCard(map) {
  const { events } = earthquakes;
  let shown = null;
  let followed = true;
  // Its stations are looked at by choice, so that the map stays in sight.
  const opened = { stations: false, missing: false };
  const body = h("tbody", {});
  const heads = () => [words.origin(format.zone(Date.now())), words.place, words.depth, words.magnitude, words.largest, words.stations,
    words.class, words.version];
  const head = h("tr", {});
  const details = h("div", {});
  const element = h("section", { class: "card network-card", hidden: true, "aria-label": words.title }, h("h2", {}, words.title),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": words.title }, h("table", {}, h("thead", {}, head), body)),
      details);

  function row(event) {
    const id = event.event_id;
    return h("tr", { class: ended(event) ? (drawn(id) ? "" : "gone") : "running" },
      h("td", {}, h("a", { href: router.address("earthquake", id) }, format.dateTime(event.origin_time)), " ", stateBadge(event)),
      h("td", {}, placeText(event)),
      h("td", {}, units.depth(event.depth_km)),
      h("td", {}, magnitudeText(event)),
      h("td", {}, Number.isFinite(event.mmi?.value) ? [intensityChip({ scale: "mmi", value: event.mmi.value }),
        ` ${event.mmi.station ?? ""}`] : "–"),
      h("td", {}, numbers.text(event.stations?.length ?? 0)), h("td", {}, event.class ? text.class.names[event.class] : "–"),
        h("td", {}, Number.isFinite(event.version) ? numbers.text(event.version) : "–"),
      h("td", {}, drawn(id) && h("button", { type: "button", class: "plain small", "aria-pressed": String(shown === id),
        onclick: () => choose(event) }, shown === id ? words.hide : words.show)));
  }

  function show() {
    element.hidden = events.size === 0;
    // Whoever looks at what has become another event looks at that one.
    if (shown !== null && !drawn(shown)) shown = drawn(events.get(shown)?.merged_into);
    head.replaceChildren(...[...heads(), ""].map((word) => (word ? h("th", { scope: "col" }, word) : h("td", {}))));
    body.replaceChildren(...earthquakes.list().slice(0, shownRows).map(row));
    const event = events.get(shown);
    details.replaceChildren(...(event ? [earthquakeFacts(event), missingStations(event, opened),
      stationTable(event, opened)].filter(Boolean) : []));
    map.overlay(event ? (context, projection, colors) => paintEarthquake(context, projection, colors, events.get(shown)) : null);
  }

  // Versions come up to five times a second; the table is made anew at most twice.
  let due = 0;
  let again = false;
  function soon() {
    again = due !== 0;
    if (again) return;
    show();
    due = setTimeout(() => {
      due = 0;
      if (again) soon();
    }, 500);
  }

  function choose(event) {
    followed = false;
    shown = shown === event.event_id ? null : event.event_id;
    show();
    if (shown) map.look(pointsOf(event));
  }

  function changed(id, what) {
    if (what === "note") return;
    const event = events.get(id);
    const running = event && !ended(event) && earthquakes.now() - units.milliseconds(event.origin_time) < fresh * 1000;
    if (running && followed) shown = id;
    if (what === "new" && running) announce(words.title);
    soon();
  }
  for (const event of earthquakes.list().reverse()) changed(event.event_id, "version");
  const stops = [earthquakes.on(changed), preferences.on(show), followWaves(map, () => events.get(shown))];
  return {
    element,
    stop() {
      clearTimeout(due);
      stops.forEach((stop) => stop());
    },
  };
}
