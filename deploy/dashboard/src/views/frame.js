// What is around every view: the bar with the connection and the display settings, the sign-in, and the head of a
// station's pages.

import { dialog } from "../dialogs.js";
import { announce, h, setClass, setText } from "../dom.js";
import { fleet } from "../fleet.js";
import { link } from "../link.js";
import { Seismote } from "../page.js";
import { format, preferences } from "../preferences.js";
import { policy } from "../pure/policy.js";
import { units } from "../pure/units.js";
import { router } from "../router.js";
import { isHeard } from "../running.js";
import { text } from "../text.js";
import { alarmButton } from "./alarm-settings.js";
import { classBadge } from "./event-class.js";
import { tour } from "./tour.js";

const words = text.frame;

function choice(name, label, options) {
  const select = h("select", { onchange: () => preferences.set(name, select.value) },
    options.map(([value, shown]) => h("option", { value }, shown)));
  select.value = preferences.get(name);
  preferences.on((changed, value) => {
    if (changed === name) select.value = value;
  });
  return h("label", { class: "choice" }, h("span", {}, label), select);
}
// A choice of the unit of acceleration that other views can show too.
export const unitChoice = () =>
  choice("unit", words.units, units.all.map((unit) => [unit, units.label(unit)]));

function mark() {
  return h("svg", { viewBox: "0 0 32 20", class: "mark", "aria-hidden": "true", focusable: "false" },
    h("path", { d: "M1 10h6l2-4 3 10 4-15 4 18 3-12 2 3h6", fill: "none", stroke: "currentColor", "stroke-width": "2.2",
      "stroke-linecap": "round", "stroke-linejoin": "round" }));
}

function bar() {
  const state = h("button", { type: "button", class: "connection", onclick: () => (link.state === "refused" ? signIn() : showLink()) });
  const word = h("span", {});
  state.append(h("span", { class: "dot", "aria-hidden": "true" }), word);
  const show = () => {
    state.dataset.state = link.state;
    const wait = Math.max(1, Math.ceil((link.retryAt - Date.now()) / 1000));
    setText(word, text.link.states[link.state] + (link.state === "waiting" ? `, ${text.link.again(wait)}` : ""));
  };
  setInterval(() => link.state === "waiting" && show(), 1000);
  let was = "idle";
  link.on("state", (now) => {
    show();
    if (now === "refused") signIn();
    if (now === "wrong") showLink();
    if (now === "waiting" && was === "online") announce(text.link.lost);
    if (now === "online") announce(text.link.back);
    document.body.dataset.link = now;
    was = now;
  });
  show();
  const menu = h("details", { class: "menu" }, h("summary", {}, words.display),
    h("div", { class: "panel" },
      unitChoice(),
      choice("time", words.times, [["utc", text.utc], ["local", words.local(units.zone())]]),
      choice("theme", words.theme, Object.entries(words.themes)),
      choice("language", words.language, [["auto", words.languageAuto], ...Object.entries(Seismote.languageNames)]),
      h("button", { type: "button", class: "plain", onclick: () => {
        menu.open = false;
        tour();
      } }, text.tour.title)));
  // All texts are made anew.
  preferences.on((name) => name === "language" && location.reload());
  addEventListener("click", (event) => {
    if (menu.open && !menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  document.getElementById("bar").replaceChildren(
    h("a", { class: "brand", href: "#/", "aria-label": words.home }, mark(), h("span", {}, text.title)), h("span", { class: "space" }),
      alarmButton(), state, menu);
}

// What is shown while the broker is away is old, and says how old. Values become grey by the style sheet.
function banner() {
  const element = document.getElementById("banner");
  let lost = NaN;
  const show = () => {
    const away = link.state !== "online";
    if (!away) lost = NaN;
    else if (!Number.isFinite(lost)) lost = Date.now();
    // A moment without a connection is the beginning of every visit.
    element.hidden = !away || (Number.isNaN(link.newest) && Date.now() - lost < 3000) || link.state === "refused";
    const said = Number.isFinite(link.newest) ? words.stale(format.ago(link.newest)) : words.staleNever;
    setText(element, element.hidden ? "" : said);
    document.body.classList.toggle("stale", away && Number.isFinite(link.newest));
  };
  link.on("state", show);
  setInterval(show, 1000);
  show();
}

function showLink() {
  return dialog({
    title: words.connection,
    content: [
      h("p", {}, link.state === "wrong" ? text.link.wrong(link.url) : text.link.states[link.state], link.user ? ` (${link.user})` : ""),
      h("p", { class: "quiet" }, text.link.details(link.url, link.root, link.version === 5 ? "5" : "3.1.1")),
    ],
    actions: [{ label: text.link.otherUser, value: "user" }, { label: text.close, value: null, primary: true }],
  }).then((answer) => answer === "user" && signIn());
}

// The hosts and ports of brokers that the page did not come from: a link to this page may name any.
function elsewhere() {
  const hosts = link.urls.map((url) => policy.origin(url)?.replace(/^wss?:\/\//, "") ?? "");
  return hosts.filter((host) => host !== "" && host !== location.host).join(", ");
}

let asking = false;
async function signIn() {
  if (asking) return;
  asking = true;
  const user = h("input", { type: "text", autocomplete: "username", value: link.user, required: true, name: "user" });
  const password = h("input", { type: "password", autocomplete: "current-password", name: "password" });
  const keep = h("input", { type: "checkbox", checked: true });
  const answer = await dialog({
    title: text.link.signIn,
    className: "sign-in",
    content: [
      h("p", { role: "alert" }, link.state === "refused" ? (link.user ? text.link.denied : text.link.needed) : ""),
      elsewhere() && h("p", { class: "strong elsewhere" }, text.link.elsewhere(elsewhere())),
      h("label", { class: "field" }, text.link.user, user),
      h("label", { class: "field" }, text.link.password, password),
      h("label", { class: "tick" }, keep, text.link.keep),
    ],
    actions: [{ label: text.link.cancel, value: null }, { label: text.link.signIn, value: true, primary: true }],
  });
  asking = false;
  if (answer) link.connect({ user: user.value, password: password.value, keep: keep.checked });
}

// The head of a station's pages: its name, whether it is online, when it was heard, and where else there is to go.
// `active` is one of the tabs, `also` another tab that is only there while it is open. { element, stop() }
export function stationHead(id, active, also) {
  const state = h("span", { class: "badge" });
  const heard = h("span", { class: "quiet heard" });
  // The open event, on every page of the station: that it goes on, an alarm, what it is taken for.
  const open = h("a", { class: "open-event", hidden: true }, text.event.goesOn);
  const about = h("p", { class: "quiet about" });
  const nobody = h("p", { class: "note", role: "alert", hidden: true }, words.noStation(id));
  const double = h("p", { class: "note", role: "alert", hidden: true });
  const tab = (name, ...parts) =>
    h("a", { href: router.address("station", id, ...parts), "aria-current": name === active ? "page" : null }, words.tabs[name]);
  let tabs = null;
  // Tabs that do not fit show that there are more.
  const more = () => setClass(tabs, "more", tabs.scrollLeft + tabs.clientWidth < tabs.scrollWidth - 4);
  const element = h("div", { class: "station-head" },
    h("nav", { class: "crumbs", "aria-label": words.where }, h("a", { href: "#/" }, words.stations),
      h("span", { "aria-hidden": "true" }, "/")),
    h("div", { class: "title" }, h("h1", {}, id), state, open, heard),
    about,
    tabs = h("nav", { class: "tabs", "aria-label": words.pages(id), onscroll: () => more() }, tab("live"),
      ["events", "history", "vibration", "settings", "health"].map((name) => tab(name, name)),
      also ? h("a", { href: location.hash, "aria-current": "page" }, words.tabs[also]) : null),
    nobody, double);
  const showOpen = () => {
    const { current, events } = fleet.stations.get(id) ?? {};
    const entry = events?.get(current);
    const event = entry?.update ?? entry?.onset;
    open.hidden = !event;
    if (!event) return;
    const badge = (what, state) => h("span", { class: "badge", dataset: { state } }, what);
    open.href = router.address("station", id, "event", current);
    const heard = isHeard(id);
    open.replaceChildren(...[badge(`${words.tabs.event}: ${heard ? text.event.goesOn : text.network.unheard}`, heard ? "bad" : "unknown"),
      heard && event.alarm && badge(text.event.alarm, "bad"),
      classBadge(event)].filter(Boolean));
  };
  const show = () => {
    showOpen();
    const station = fleet.stations.get(id);
    const online = station?.online;
    state.dataset.state = online === true ? "good" : online === false ? "bad" : "unknown";
    setText(state, online === true ? words.online : online === false ? words.offline : words.unknown);
    setText(heard, station && Number.isFinite(station.heard) ? words.heard(format.ago(station.heard)) : "");
    const { description, network, code } = station?.info?.station ?? {};
    setText(about, [description, network && code ? `${network}.${code}` : null].filter(Boolean).join(" · "));
    nobody.hidden = !fleet.isUnknown(id);
    double.hidden = !station?.runs.isDouble(Date.now());
    if (!double.hidden) setText(double, words.double(id, station.runs.list(Date.now()).map((boot) => boot.slice(0, 8)).join(", ")));
    // Old values are grey.
    document.getElementById("main").classList.toggle("stale", Boolean(station && (online === false || fleet.silence(station) > 0)));
  };
  const fitting = new ResizeObserver(more);
  fitting.observe(tabs);
  show();
  const timer = setInterval(show, 1000);
  const stopWatching = fleet.watchStation(id);
  const stop = fleet.on("station", (which, what) => {
    if (which === id && (what === "online" || what === "info" || what === "event")) show();
  });
  return {
    element,
    stop() {
      clearInterval(timer);
      fitting.disconnect();
      stopWatching();
      stop();
    },
  };
}

export const frame = { bar, banner, signIn };
