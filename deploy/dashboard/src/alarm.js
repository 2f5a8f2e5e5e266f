// An alarm that is seen and heard: a banner over every view, a sound, a notification of the browser, the title and the icon
// of the tab. Which alarms there are is decided in pure/alarms.js.

import { h, setText } from "./dom.js";
import { earthquakes } from "./earthquakes.js";
import { fleet } from "./fleet.js";
import { pageTitle } from "./pagetitle.js";
import { format, preferences } from "./preferences.js";
import { Alarms, alarms } from "./pure/alarms.js";
import { geo } from "./pure/geo.js";
import { mercalli } from "./pure/mercalli.js";
import { scales } from "./pure/scales.js";
import { units } from "./pure/units.js";
import { router } from "./router.js";
import { isHeard } from "./running.js";
import { sound } from "./sound.js";
import { text } from "./text.js";

const words = text.alarm;
// What the reader has seen is not shown anew to who loads the page again.
const storage = "seismote.seen-alarms";
const book = new Alarms(kept());
const listeners = new Set();
// Since when somebody listens, by a clock that nobody sets (ms).
const opened = performance.now();
let notified = 0;
/** @type {any} */
let banner = null;
let hasChanged = false;
// Stations whose open event is an alarm, while they are not heard.
const unheard = new Set();

function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(storage) ?? "[]");
    return found.filter((one) => Array.isArray(one) && typeof one[0] === "string" && Number.isFinite(one[1]));
  } catch {
    return [];
  }
}

function dismiss(key) {
  book.dismiss(key);
  try {
    localStorage.setItem(storage, JSON.stringify(book.dismissed));
  } catch {
    // For this visit only, then.
  }
}

const rules = () => ({ network: preferences.get("alarmNetwork"), station: preferences.get("alarmStation"),
  intensity: preferences.get("alarmIntensity"), home: homeId() });

// The reader's own station with its place, which the only one is without being chosen; null without one.
const homeId = () => preferences.get("home") || (fleet.stations.size === 1 ? fleet.stations.keys().next().value : "");
function home() {
  const id = homeId();
  const place = placeOf(id);
  return place && { id, latitude: place.latitude, longitude: place.longitude };
}

function placeOf(id) {
  const place = fleet.stations.get(id)?.info?.station;
  return geo.place(place?.latitude, place?.longitude) ? place : null;
}

// The intensity that the reader's station has measured of an event of the network.
function measuredAt(id, event) {
  const own = event.stations?.find((one) => one.id === id)?.event_id;
  const entry = fleet.stations.get(id)?.events.get(own);
  return entry ? mercalli.of(fleet.newestOf(entry)) : NaN;
}

// `age`: how long ago it began, ms; `key`: of what it is; `isNews`: whether its beginning was heard here. What was heard before and
// was no alarm begins now.
const calm = new Set();
const mostCalm = 500;
function hear(key, alarm, age, isNews) {
  if (!alarm) {
    if (calm.size >= mostCalm) calm.clear();
    calm.add(key);
    return;
  }
  const what = calm.delete(key) ? book.hear(alarm, Date.now()) : book.hear(alarm, Date.now(), age,
    isNews ? Infinity : performance.now() - opened);
  if (what === null) return;
  // Versions come several times a second; what is new is shown at once, what has changed with the next tick.
  if (what === "changed") hasChanged = true;
  else show();
  if (what !== "new" && what !== "shown") return;
  if (what === "new") {
    if (preferences.get("sound") === "yes") sound.play(alarm.isFar ?? alarms.isFar(alarm, home(), placeOf(alarm.station)));
    notify(alarm);
  }
  for (const listener of [...listeners]) listener(alarm);
}

function hearNetwork(id) {
  const event = earthquakes.events.get(id);
  if (!event || earthquakes.ended(event) === "unheard") return;
  const at = home();
  hear(`network ${id}`, alarms.ofNetwork(event, rules(), at, at ? measuredAt(at.id, event) : NaN, units.milliseconds),
    earthquakes.now() - units.milliseconds(event.origin_time), earthquakes.isNews(id));
}

// An event of a station. Of one whose station is not heard nobody knows whether it goes on.
function hearStation(id) {
  const known = fleet.stations.get(id);
  unheard.delete(id);
  const entry = known?.events.get(known.current ?? [...known.events.keys()].at(-1));
  if (!entry) return;
  const event = fleet.newestOf(entry);
  const alarm = alarms.ofStation(id, event, rules(), units.milliseconds);
  const isOpen = known.current === event.event_id && !entry.end;
  if (alarm && isOpen && !isHeard(id)) unheard.add(id);
  else if (isOpen || (alarm && entry.end)) hear(`station ${event.event_id}`, alarm, alarm ? 1000 * (fleet.age(id, alarm.origin) || 0) : 0,
    entry.isNews);
  const network = at(id) && [...earthquakes.events.values()].find((one) => !earthquakes.ended(one)
    && one.stations?.some((part) => part.id === id));
  if (network) hearNetwork(network.event_id);
}
const at = (id) => id === homeId();

// What a station expects: a message that a broker has kept counts as long as the wave is on its way.
function hearWarning(id) {
  const warning = fleet.stations.get(id)?.warning;
  const one = warning && alarms.ofWarning(id, warning, rules(), units.milliseconds);
  // (Without a time of arrival nobody knows by a kept message how long it is good for.)
  const isOld = one && earthquakes.now() > one.ends;
  if (one && !(one.state === "on" && isOld)) hear(one.key, one, earthquakes.now() - one.origin, false);
}

const roman = (size) => scales.intensity({ scale: "mmi", value: size })?.name ?? "";
const direction = (degrees) => text.compass[Math.round(degrees / 45) % 8];

// What there is to say of an alarm: { title, facts: [text], short }.
function said(one) {
  if (one.kind === "test") return { title: words.test, facts: [words.testHelp], short: words.test };
  if (one.kind === "station") {
    const description = fleet.stations.get(one.station)?.info?.station?.description;
    const size = Number.isFinite(one.size) ? words.intensity(roman(one.size)) : Number.isFinite(one.pga) ? format.acceleration(one.pga)
      : "";
    const told = one.isRough && size ? text.event.notCertain(size) : size;
    const title = (one.isAlarm ? words.ofStation : words.strong)(one.station);
    return { title, facts: [one.isTest ? text.event.test : "", told, description ?? ""].filter(Boolean),
      short: `${one.station} ${roman(one.size)}`.trim() };
  }
  if (one.kind === "warning") {
    const title = one.state === "withdrawn" ? words.warningCancelled(one.station) : one.state === "over" ? words.warningOver(one.station)
      : words.warning(one.station);
    const names = [one.expected, ...(one.range ?? [])].map(roman);
    const strength = one.range && names[1] !== names[2] ? words.expectedRange(names[0], names[1], names[2]) : words.expectedThere(names[0]);
    const away = Number.isFinite(one.distance) ? words.fromThere(units.about(one.distance, "km")) : "";
    return { title, facts: [strength, Number.isFinite(one.magnitude) ? `M ${units.fixed(one.magnitude, 1)}` : "", away].filter(Boolean),
      short: `${words.warning(one.station)}` };
  }
  const magnitude = Number.isFinite(one.magnitude) ? `M ${units.fixed(one.magnitude, 1)}` : "";
  const title = one.state === "withdrawn" ? words.withdrawn : `${words.earthquake} ${magnitude}`.trim();
  const strength = Number.isFinite(one.measured) ? words.here(roman(one.measured)) : Number.isFinite(one.expected)
    ? words.expected(roman(one.expected)) : Number.isFinite(one.largest) ? words.upTo(roman(one.largest), one.station ?? "–") : "";
  const place = !one.isPlaced ? (Number.isFinite(one.azimuth) ? words.towards(direction(one.azimuth)) : words.placeUnknown)
    : Number.isFinite(one.distance) ? words.away(units.about(one.distance, "km"), direction(one.azimuth))
      : `${geo.latitude(Number(one.latitude.toFixed(2)))}, ${geo.longitude(Number(one.longitude.toFixed(2)))}`;
  return { title, facts: [strength, place].filter(Boolean),
    short: `${magnitude || words.earthquake} ${roman(one.measured || one.expected || one.largest)}`.trim() };
}

// How long ago, and when the S wave comes: runs.
function clock(one) {
  if (one.kind === "warning") {
    if (one.state !== "on") return { ago: "", wave: "" };
    const left = (one.s - earthquakes.now()) / 1000;
    return { ago: "", wave: left > 0 ? words.sThere(Math.ceil(left)) : words.sNow };
  }
  const now = one.kind === "network" ? earthquakes.now() : Date.now();
  const age = one.kind === "station" ? fleet.age(one.station, one.origin) : Math.max(0, (now - one.origin) / 1000);
  const ago = one.kind === "test" || !Number.isFinite(age) ? "" : format.since(age);
  if (!Number.isFinite(one.s) || one.state === "withdrawn") return { ago, wave: "" };
  const left = (one.s - now) / 1000;
  return { ago, wave: left > 0 ? words.sIn(Math.ceil(left)) : left > -60 ? words.sPassed : "" };
}

const address = (one) => (one.kind === "network" || (one.kind === "warning" && earthquakes.events.has(one.event))
  ? router.address("earthquake", one.event) : one.kind === "warning" ? router.address("station", one.station) : one.kind === "station"
  ? router.address("station", one.station, "event", one.event) : location.hash || "#/");

function show() {
  hasChanged = false;
  const list = book.list();
  const [first] = list;
  const element = banner.element;
  const before = element.hidden;
  element.hidden = !first;
  document.body.classList.toggle("alarmed", Boolean(first));
  if (!first) {
    sound.stop();
    pageTitle.alarm("");
    return;
  }
  const { title, facts, short } = said(first);
  element.dataset.kind = first.state === "on" ? first.kind : "over";
  // Only what is new is spoken.
  setText(banner.title, title);
  setText(banner.facts, facts.join(" · "));
  setText(banner.more, list.length > 1 ? words.more(list.length - 1) : "");
  const step = scales.intensity({ scale: "mmi", value: [first.measured, first.expected, first.size].find(Number.isFinite) });
  banner.chip.hidden = !step;
  if (step) {
    setText(banner.chip, step.name);
    banner.chip.style.backgroundColor = step.color;
    banner.chip.style.color = scales.ink(step.color);
  }
  banner.link.hidden = first.kind === "test";
  banner.link.href = address(first);
  pageTitle.alarm(short);
  tick();
  if (before) raise();
}

// Above a dialog that is open, too, and to be pressed there, where the browser can.
function raise() {
  const dialog = [...document.querySelectorAll("dialog[open]")].at(-1);
  if (dialog && banner.element.parentNode !== dialog) dialog.append(banner.element);
  else if (!dialog && banner.element.parentNode !== document.body) document.querySelector(".skip").after(banner.element);
  if (banner.element.hidden) return;
  for (const method of ["hidePopover", "showPopover"]) {
    try {
      banner.element[method]?.();
    } catch {
      // It stands where it is, then.
    }
  }
}

function tick() {
  const [first] = book.list();
  if (!first) return;
  const { ago, wave } = clock(first);
  setText(banner.ago, ago);
  setText(banner.wave, wave);
  banner.silence.hidden = !sound.isPlaying();
}

function notify(one) {
  if (preferences.get("notify") !== "yes" || globalThis.Notification?.permission !== "granted") return;
  const { title, facts } = said(one);
  try {
    const note = new Notification(title, { body: [...facts, clock(one).wave].filter(Boolean).join("\n"), tag: one.key,
      requireInteraction: one.kind !== "test", silent: preferences.get("sound") === "yes" });
    notified++;
    note.onclick = () => {
      globalThis.focus();
      location.hash = address(one);
      note.close();
    };
  } catch {
    // Browsers of phones let none be made but by a service worker, which needs a content type that mosquitto does not send.
  }
}

export const alarm = {
  start() {
    const button = (label, onclick, kind = "plain") => h("button", { type: "button", class: `${kind} small`, onclick }, label);
    banner = {
      chip: h("span", { class: "intensity-chip", "aria-hidden": "true" }),
      title: h("strong", { class: "alarm-title" }), facts: h("span", { class: "alarm-facts" }), more: h("span", { class: "alarm-more" }),
      ago: h("span", { class: "number" }), wave: h("strong", { class: "number alarm-wave" }),
      link: h("a", { class: "button small", href: "#/" }, words.look),
      silence: button(words.silence, () => {
        sound.stop();
        tick();
      }),
      seen: button(words.seen, () => {
        dismiss(book.list()[0]?.key);
        show();
      }, "primary"),
    };
    banner.element = document.getElementById("alarm");
    banner.element.replaceChildren(
      banner.chip,
      h("div", { class: "alarm-text" }, h("div", { role: "alert" }, banner.title, " ", banner.facts),
        h("div", { class: "alarm-clock", "aria-live": "off" }, banner.wave, " ", banner.ago, " ", banner.more)),
      h("div", { class: "alarm-buttons" }, banner.link, banner.silence, banner.seen));
    // What stands below is moved down, not covered.
    new ResizeObserver(() => document.body.style.setProperty("--alarm",
      banner.element.hidden ? "0px" : `${banner.element.offsetHeight}px`)).observe(banner.element);
    document.addEventListener("seismote-dialog", raise);
    earthquakes.on((id, what) => id !== null && (what === "new" || what === "version") && hearNetwork(id));
    fleet.on("station", (id, what) => (what === "event" ? hearStation(id) : what === "warning" && hearWarning(id)));
    setInterval(() => {
      for (const id of unheard) if (isHeard(id)) hearStation(id);
      if (book.pass(Date.now()) || hasChanged) show();
      else tick();
    }, 250);
    preferences.on((name) => name === "sound" && preferences.get("sound") !== "yes" && sound.stop());
    sound.wake(() => preferences.get("sound") === "yes");
  },
  test(isFar = false) {
    hear("test", { key: `test ${Date.now()}`, kind: "test", origin: Date.now(), size: NaN, state: "on", isFar }, 0, true);
  },
  list: () => book.list(),
  address,
  on(fn) {
    listeners.add(fn);
    return () => listeners.delete(fn);
  },
  // Asks the person, who has just clicked, for leave to notify. Resolves with whether there is it.
  async askToNotify() {
    if (!globalThis.isSecureContext || !globalThis.Notification) return false;
    return (await Notification.requestPermission()) === "granted";
  },
  mayNotify: () => (!globalThis.isSecureContext || !globalThis.Notification ? "never" : Notification.permission),
  state: () => ({ alarms: book.list().map(({ key }) => key), notified, sound: sound.state(), playing: sound.isPlaying() }),
};
