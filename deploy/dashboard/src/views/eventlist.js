// Events, the newest first: of one station, or of all.

import { h, setText } from "../dom.js";
import { fleet } from "../fleet.js";
import { format, preferences } from "../preferences.js";
import { router } from "../router.js";
import { isHeard, runningDuration } from "../running.js";
import { text } from "../text.js";
import { classBadge } from "./event-class.js";
import { certain, intensityChip } from "./event-measures.js";

const words = text.events;
const most = 50;

const headsOf = (id) => [words.onset(format.zone(Date.now())), id === undefined ? words.station : null, words.intensity, words.pga,
  id === undefined ? null : words.pgv, words.duration, text.class.column, id === undefined ? null : words.detectors].filter(Boolean);

// `id`: the station whose list it is; undefined: of all.
function row({ station, id: eventId, ended, event }, id) {
  return h("tr", { class: ended || !isHeard(station) ? "" : "running" },
    h("td", {}, h("a", { href: router.address("station", station, "event", eventId) }, format.dateTime(event.onset)),
      event.test ? h("span", { class: "badge" }, words.test) : null,
      event.confirmed ? h("span", { class: "badge", dataset: { state: "good" }, role: "img", "aria-label": text.event.confirmed,
        title: text.event.confirmed }, "✓") : null,
      ended ? null : isHeard(station) ? h("span", { class: "badge", dataset: { state: "bad" } }, words.running)
        : h("span", { class: "badge", dataset: { state: "unknown" } }, text.network.unheard)),
    // (By the keyboard one stop for each row: the event's page leads on to the station.)
    id === undefined ? h("td", {}, h("a", { href: router.address("station", station), tabindex: "-1" }, station)) : null,
    h("td", {}, h("span", { class: "chips" }, (event.intensity ?? []).map(intensityChip))),
    h("td", {}, certain(format.acceleration(event.pga), event.acceleration_valid)),
    id === undefined ? null : h("td", {}, certain(format.velocity(event.pgv), event.velocity_valid)),
    h("td", {}, runningDuration(station, event, ended)),
    h("td", {}, classBadge(event) ?? "–"),
    id === undefined ? null : h("td", { class: "quiet" },
      [...new Set((event.detectors ?? []).map((detector) => words.names[detector.name] ?? detector.name))].join(", ")));
}

// A station that shakes while the message of its event was missed: it was sent before this page was opened, and the
// station keeps none that says which event is open.
function shaking(events, id) {
  const open = new Set(events.filter((one) => !one.ended).map((one) => one.station));
  return [...fleet.stations.values()].filter((known) => (id === undefined || known.id === id) && known.online !== false
    && fleet.silence(known) === 0 && fleet.now(known)?.triggered === true && !open.has(known.id));
}

// Its row.
const missed = (known, id) => h("tr", { class: "running" },
  h("td", {}, h("span", { class: "badge", dataset: { state: "bad" } }, words.shakingNow), " ",
    h("span", { class: "quiet" }, words.notHeard)),
  id === undefined ? h("td", {}, h("a", { href: router.address("station", known.id) }, known.id)) : null,
  h("td", {}, h("span", { class: "chips" }, [fleet.leading(known)].filter(Boolean).map(intensityChip))),
  h("td", {}, format.acceleration(fleet.now(known).pga)), h("td", { colspan: id === undefined ? 2 : 4 }));

// eventList(id or undefined) -> { element, stop() }
export function eventList(id) {
  const body = h("tbody", {});
  const onset = () => element.querySelector("thead th") && setText(element.querySelector("thead th"), words.onset(format.zone(Date.now())));
  const table = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": words.title },
    h("table", { class: "events" }, h("thead", {}, h("tr", {}, headsOf(id).map((word) => h("th", { scope: "col" }, word)))), body));
  const none = h("p", { class: "quiet" }, words.none);

  let due = null;
  let was = "";
  function show() {
    due = null;
    const all = fleet.newestEvents(id);
    const open = shaking(all, id).slice(0, most);
    const events = all.slice(0, most);
    setText(none, words.noneYet);
    none.hidden = events.length + open.length > 0;
    table.hidden = !none.hidden;
    onset();
    // The focus stays where it was.
    const focused = document.activeElement?.closest?.("td") ? document.activeElement.getAttribute("href") : null;
    body.replaceChildren(...open.map((known) => missed(known, id)), ...events.map((one) => row(one, id)));
    if (focused) body.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  }
  // Levels come each second: only that other stations shake, or are not heard any more, makes the list anew.
  function level() {
    const all = fleet.newestEvents(id);
    const lost = all.slice(0, most).filter((one) => !one.ended && !isHeard(one.station));
    const now = `${shaking(all, id).map((known) => known.id).join()} ${lost.map((one) => one.station).join()}`;
    if (now !== was) soon();
    was = now;
  }
  // Many stations begin at once: once for all of them. A list of a thousand stations is made anew once a second.
  const soon = () => (due ??= setTimeout(show, fleet.stations.size > 200 ? 1000 : 150));
  const element = h("section", { class: "card events-card" }, h("h2", {}, words.title), table, none);
  show();
  const timer = setInterval(level, 1000);
  const stops = [fleet.on("station", (which, what) => what === "event" && (id === undefined || which === id) && soon()),
    preferences.on(soon)];
  return {
    element,
    empty: () => table.hidden,
    stop() {
      clearTimeout(due);
      clearInterval(timer);
      stops.forEach((stop) => stop());
    },
  };
}
