// Earthquakes that the network detector has put together of several stations: the list, and on the map where it was, how
// sure that is, and where its waves are.

import { plot } from "../canvas.js";
import { announce, h } from "../dom.js";
import { fleet } from "../fleet.js";
import { json, link } from "../link.js";
import { format, preferences } from "../preferences.js";
import { geo } from "../pure/geo.js";
import { units } from "../pure/units.js";
import { wire } from "../pure/wire.js";
import { router } from "../router.js";
import { numbers, text } from "../text.js";
import { intensityChip } from "./event-measures.js";

const words = text.network;
// Crustal velocities for a picture; the detector's own table is finer.
const speeds = [["p", 6, "rms"], ["s", 3.5, "raw"]];
const kept = 50;
// Waves that are on their way are drawn for so long.
const seconds = 240;
// Its detector ends an event when nothing new has come for a while (quiet_s): after so long its end was missed.
const patience = 700;

// networkCard(map) -> { element, stop() }; hidden until there is an event.
export function networkCard(map) {
  const events = new Map();
  // Of each the time at which it came, by this browser's clock, or by its own where a broker has kept it.
  const heard = new Map();
  // What the detector says of itself: with no event open, all of before are over.
  let detector = null;
  let shown = null;
  let followed = true;
  // Its stations are looked at by choice, so that the map stays in sight.
  let opened = false;
  const body = h("tbody", {});
  const heads = () => [words.origin(format.zone(Date.now())), words.place, words.depth, words.magnitude, words.largest, words.stations, words.class, words.version];
  const head = h("tr", {});
  const details = h("div", {});
  const element = h("section", { class: "card network-card", hidden: true, "aria-label": words.title }, h("h2", {}, words.title),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": words.title }, h("table", {}, h("thead", {}, head), body)), details);

  const milliseconds = (event) => units.milliseconds(event.t ?? event.origin_time);
  // How an event has ended: "end", "merged", "withdrawn", "unheard" where its end did not come; null while it goes on.
  function ended(event) {
    if (event.withdrawn) return "withdrawn";
    if (event.merged_into) return "merged";
    if (event.event_type === "end") return "end";
    const over = detector?.open_events === 0 && units.milliseconds(detector.t) > milliseconds(event) + 5000;
    return over || Date.now() - (heard.get(event.event_id) ?? 0) > patience * 1000 ? "unheard" : null;
  }
  // What there was no earthquake behind, or another one, is not drawn.
  const drawn = (id) => (events.has(id) && !["withdrawn", "merged"].includes(ended(events.get(id))) ? id : null);

  function take(topic, payload, packet) {
    const event = wire.network(json(payload));
    if (!event || !geo.place(event.latitude, event.longitude)) return;
    const before = events.get(event.event_id);
    // A broker keeps the last one; on a cluster, which keeps nothing, the detector says it again now and then.
    const old = packet?.retain || topic.endsWith("/last");
    if (before && (before.version ?? 0) >= (event.version ?? 0) + (old ? 0 : 1)) return;
    events.set(event.event_id, event);
    heard.set(event.event_id, old ? Math.min(Date.now(), milliseconds(event)) : Date.now());
    if (events.size > kept) {
      const [oldest] = [...events.keys()].sort();
      events.delete(oldest);
      heard.delete(oldest);
    }
    const running = !ended(event) && Date.now() - units.milliseconds(event.origin_time) < seconds * 1000;
    if (running && followed) shown = event.event_id;
    if (!before && running) announce(words.title);
    show();
  }

  function listen(topic, payload) {
    detector = wire.detector(json(payload)) ?? detector;
    look();
  }

  // Shows anew what is over by now; the list stays as it is while nothing is, for the sake of who is in it.
  let states = "";
  const look = () => states !== (states = [...events.values()].map(ended).join()) && show();

  function state(event) {
    const how = ended(event);
    if (how === null) return h("span", { class: "badge", dataset: { state: "bad" } }, words.running);
    if (how === "end") return null;
    const into = events.get(event.merged_into);
    const text = how === "merged" ? words.merged(into ? format.time(into.origin_time) : event.merged_into) : words[how];
    return h("span", { class: "badge", dataset: { state: "unknown" } }, text);
  }

  const list = () => [...events.values()].sort((a, b) => (a.origin_time < b.origin_time ? 1 : -1));

  function show() {
    element.hidden = events.size === 0;
    // Whoever looks at what has become another event looks at that one.
    if (shown !== null && !drawn(shown)) shown = drawn(events.get(shown)?.merged_into);
    head.replaceChildren(...[...heads(), ""].map((word) => (word ? h("th", { scope: "col" }, word) : h("td", {}))));
    body.replaceChildren(...list().map((event) => h("tr", { class: ended(event) ? (drawn(event.event_id) ? "" : "gone") : "running" },
      h("td", {}, format.dateTime(event.origin_time), " ", state(event)),
      h("td", {}, `${geo.latitude(Number(event.latitude.toFixed(2)))}, ${geo.longitude(Number(event.longitude.toFixed(2)))}`),
      h("td", {}, units.quantity(event.depth_km, "km")),
      h("td", {}, magnitude(event)),
      h("td", {}, Number.isFinite(event.mmi?.value) ? [intensityChip({ scale: "mmi", value: event.mmi.value }), ` ${event.mmi.station ?? ""}`] : "–"),
      h("td", {}, numbers.text(event.stations?.length ?? 0)), h("td", {}, event.class ? text.class.names[event.class] : "–"), h("td", {}, Number.isFinite(event.version) ? numbers.text(event.version) : "–"),
      h("td", {}, drawn(event.event_id) && h("button", { type: "button", class: "plain small", "aria-pressed": String(shown === event.event_id), onclick: () => choose(event) }, shown === event.event_id ? words.hide : words.show)))));
    const event = events.get(shown);
    details.replaceChildren(...(event ? about(event) : []));
    map.overlay(event ? (context, projection, colors) => paint(context, projection, colors, events.get(shown)) : null);
  }

  const magnitude = ({ magnitude: one }) => (one ? `${units.fixed(one.value, 1)}${Number.isFinite(one.sigma) ? ` ± ${units.fixed(one.sigma, 1)}` : ""}` : "–");

  function choose(event) {
    followed = false;
    shown = shown === event.event_id ? null : event.event_id;
    show();
    if (!shown) return;
    const places = (event.stations ?? []).map(({ id }) => fleet.stations.get(id)?.info?.station).filter((place) => geo.place(place?.latitude, place?.longitude));
    map.look([event, ...places]);
  }

  function about(event) {
    const { ellipse, stations = [], silent = [] } = event;
    const km = (value) => units.quantity(value, "km");
    const fact = (name, value) => [h("span", { class: "quiet" }, name), " ", value, " "];
    const list = h("details", { open: opened, ontoggle: () => (opened = list.open) }, h("summary", {}, `${words.stations}: ${numbers.text(stations.length)}`),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": words.stations }, h("table", {},
        h("thead", {}, h("tr", {}, [words.station, words.onset(format.zone(event.origin_time)), words.distance, words.residual].map((word) => h("th", { scope: "col" }, word)))),
        h("tbody", {}, [...stations].sort((a, b) => a.distance_km - b.distance_km).slice(0, 30).map((one) => h("tr", {},
          h("td", {}, one.id && h("a", { href: one.event_id ? router.address("station", one.id, "event", one.event_id) : router.address("station", one.id) }, one.id)),
          h("td", {}, format.time(one.onset)), h("td", {}, km(one.distance_km)), h("td", {}, units.quantity(one.residual_s, "s"))))))));
    return [
      h("p", { class: "network-facts" }, fact(words.magnitude, magnitude(event)), Number.isFinite(event.mmi?.value) && fact(words.largest, intensityChip({ scale: "mmi", value: event.mmi.value })),
        Number.isFinite(event.version) && fact(words.version, numbers.text(event.version))),
      Number.isFinite(ellipse?.semi_major_km) && h("p", { class: "quiet small-note" }, words.ellipse(km(2 * ellipse.semi_major_km), km(2 * ellipse.semi_minor_km))),
      h("p", { class: "quiet small-note" }, words.waves),
      silent.length > 0 && h("p", { class: "quiet small-note" }, words.silent(silent.join(", "))),
      list,
    ].filter(Boolean);
  }

  function paint(context, { at, kilometre }, colors, event) {
    if (!event) return;
    const { x, y } = at(event.latitude, event.longitude);
    const age = (Date.now() - units.milliseconds(event.origin_time)) / 1000;
    context.lineWidth = 1.5;
    for (const { id } of event.stations ?? []) {
      const place = fleet.stations.get(id)?.info?.station;
      if (!geo.place(place?.latitude, place?.longitude)) continue;
      const to = at(place.latitude, place.longitude);
      context.strokeStyle = colors.quiet;
      context.globalAlpha = 0.5;
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(to.x, to.y);
      context.stroke();
      context.globalAlpha = 1;
    }
    const { ellipse } = event;
    if (Number.isFinite(ellipse?.semi_major_km) && Number.isFinite(ellipse.semi_minor_km)) {
      context.strokeStyle = context.fillStyle = colors.bad;
      context.beginPath();
      // From north, clockwise; pixels count downwards.
      const turn = (((ellipse.azimuth_deg ?? 0) - 90) * Math.PI) / 180;
      context.ellipse(x, y, Math.max(2, ellipse.semi_major_km * kilometre), Math.max(2, ellipse.semi_minor_km * kilometre), turn, 0, 2 * Math.PI);
      context.globalAlpha = 0.15;
      context.fill();
      context.globalAlpha = 1;
      context.stroke();
    }
    context.fillStyle = colors.bad;
    context.beginPath();
    for (let i = 0; i < 10; i++) {
      const radius = i % 2 ? 4 : 10;
      context.lineTo(x + radius * Math.sin((i * Math.PI) / 5), y - radius * Math.cos((i * Math.PI) / 5));
    }
    context.fill();
    if (age < 0 || age > seconds) return;
    for (const [name, speed, color] of speeds) {
      const far = Math.sqrt(Math.max(0, (speed * age) ** 2 - (event.depth_km ?? 10) ** 2));
      if (far === 0) continue;
      context.strokeStyle = colors[color];
      context.fillStyle = colors.ink;
      context.lineWidth = 2;
      context.beginPath();
      context.arc(x, y, far * kilometre, 0, 2 * Math.PI);
      context.stroke();
      plot.setFont(context, 12);
      context.textAlign = "left";
      context.fillText(words[name], x + far * kilometre * 0.71 + 4, y - far * kilometre * 0.71 - 4);
    }
  }

  const stops = [link.subscribe(`${link.root}/network/event`, take), link.subscribe(`${link.root}/network/event/last`, take), link.subscribe(`${link.root}/network/status`, listen), preferences.on(show)];
  const looking = setInterval(look, 5000);
  const timer = setInterval(() => {
    const event = events.get(shown);
    if (event && !document.hidden && Date.now() - units.milliseconds(event.origin_time) < (seconds + 2) * 1000) map.redraw();
  }, 200);
  return {
    element,
    stop() {
      clearInterval(timer);
      clearInterval(looking);
      stops.forEach((stop) => stop());
    },
  };
}
