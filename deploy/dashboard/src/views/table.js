// Many stations in little room: a table that is sorted by its heads. Only the rows that are seen are made.

import { fillColor, h, setClass, setText } from "../dom.js";
import { format } from "../preferences.js";
import { scales } from "../pure/scales.js";
import { router } from "../router.js";
import { stationWords } from "../station-words.js";
import { text } from "../text.js";

const words = text.overview;
const height = 34;
const spare = 6;

const columns = [
  ["problems", words.state], ["station", words.station], ["intensity", words.intensity, words.now],
    ["highest", words.highest, words.highestHelp], ["pga", words.pga],
  ["clock", words.clock], ["alerts", words.alertsColumn], ["heard", words.heard], ["version", words.version],
    ["groups", words.groupsColumn],
];
const tones = { __proto__: null, shaking: "bad", error: "bad", double: "bad", offline: "bad", silent: "warn", warning: "warn",
  clock: "warn", settling: "warn", unknown: "unknown", good: "good" };
const numeric = new Set(["intensity", "highest", "pga", "heard"]);
// On a phone a row has two lines (style/pages.css).
const narrow = matchMedia("(max-width: 640px)");
const rowHeight = () => (narrow.matches ? 60 : height);

// Of which kinds its alerts are: "Clock unsynced, Storage full".
export const alertNames = ({ kinds }) => kinds.map(stationWords.alertName).join(", ") || "–";

export const stateBadge = (badge, state) => {
  badge.dataset.state = tones[state];
  setText(badge, words.states[state]);
};

// An update, as a badge: running, on trial, gone back, refused. Why stands beside it, and all of it in its title.
const updateTones = { __proto__: null, running: "warn", trial: "warn", returned: "bad", refused: "unknown" };
export function updateBadge() {
  const badge = h("span", { class: "badge" });
  const why = h("span", { class: "quiet why" });
  const element = h("span", { class: "update-state", hidden: true }, badge, " ", why);
  return {
    element,
    // `one`: its row of rank.js
    show({ update, wanted, reason }) {
      element.hidden = update === "";
      if (update === "") return;
      badge.dataset.state = updateTones[update];
      setText(badge, words.updates[update]);
      setText(why, reason || wanted);
      element.title = words.updateOf(wanted || "–", words.updates[update], reason || "–");
    },
  };
}

function chip(badge, value, known) {
  const step = scales.intensity({ scale: known?.scale ?? "mmi", value });
  setText(badge, step?.name ?? "–");
  fillColor(badge, step?.color, "transparent");
}

// A row of a station, and what is written into it.
function row(id) {
  const cells = Object.fromEntries(columns.map(([name]) =>
    [name, h("td", { role: "cell", class: `c-${name}${numeric.has(name) ? " right" : ""}` })]));
  const badge = h("span", { class: "badge" });
  const about = h("span", { class: "quiet" });
  const chips = { intensity: h("span", { class: "chip" }), highest: h("span", { class: "chip" }) };
  cells.problems.append(badge);
  cells.station.append(h("a", { href: router.address("station", id) }, id), " ", about);
  cells.intensity.append(chips.intensity);
  cells.highest.append(chips.highest);
  const version = h("span", {});
  const update = updateBadge();
  cells.version.append(version, " ", update.element);
  return { element: h("tr", { role: "row" }, Object.values(cells)), cells, badge, about, chips, version, update };
}

function write({ element: line, cells, badge, about, chips, version, update }, one) {
  stateBadge(badge, one.state);
  setText(about, one.description);
  chip(chips.intensity, one.intensity, one.item);
  chip(chips.highest, one.highest, one.item);
  setText(cells.pga, format.acceleration(one.pga));
  setText(cells.clock, one.synced === undefined ? "–" : one.synced ? words.synced : words.unsynced);
  setText(cells.alerts, alertNames(one));
  cells.alerts.title = one.kinds.length > 0 ? cells.alerts.textContent : "";
  setText(cells.heard, Number.isFinite(one.heard) ? format.ago(one.heard) : "–");
  setText(version, one.version || "–");
  update.show(one);
  setText(cells.groups, one.groups.join(", "));
  setClass(line, "away", one.state === "offline" || one.state === "silent");
}

// stationTable({ onSort(order, way) }) -> { element, show(rows), order, stop() }
export function stationTable({ onSort }) {
  let order = "problems";
  let way = 1;
  let rows = [];
  const made = new Map();
  const above = h("tr", { "aria-hidden": "true", class: "room" }, h("td", { colspan: columns.length }));
  const below = h("tr", { "aria-hidden": "true", class: "room" }, h("td", { colspan: columns.length }));
  const body = h("tbody", {}, above, below);
  const heads = columns.map(([name, label, help]) => h("th", { scope: "col", class: numeric.has(name) ? "right" : null, title: help },
    h("button", { type: "button", class: "sort", onclick: () => sortBy(name) }, label)));
  const whole = h("table", { class: "stations", role: "table" }, h("thead", {}, h("tr", {}, heads)), body);
  const element = h("div", { class: "card stations-scroll", tabindex: "0", role: "region", "aria-label": words.title,
    onscroll: () => fill() }, whole);

  function sortBy(name) {
    way = name === order ? -way : numeric.has(name) ? -1 : 1;
    order = name;
    mark();
    element.scrollTop = 0;
    onSort(order, way);
  }
  function mark() {
    columns.forEach(([name], i) => heads[i].setAttribute("aria-sort", name !== order ? "none" : way > 0 ? "ascending" : "descending"));
  }
  mark();

  function fill() {
    const height = rowHeight();
    const room = element.clientHeight || 600;
    const from = Math.max(0, Math.floor(element.scrollTop / height) - spare);
    const to = Math.min(rows.length, Math.ceil((element.scrollTop + room) / height) + spare);
    const wanted = new Set();
    let before = above;
    for (let i = from; i < to; i++) {
      const one = rows[i];
      wanted.add(one.id);
      let line = made.get(one.id);
      if (!line) made.set(one.id, (line = row(one.id)));
      write(line, one);
      line.element.setAttribute("aria-rowindex", String(i + 2));
      if (before.nextSibling !== line.element) before.after(line.element);
      before = line.element;
    }
    for (const [id, line] of made) {
      if (wanted.has(id)) continue;
      line.element.remove();
      made.delete(id);
    }
    above.firstChild.height = from * height;
    below.firstChild.height = (rows.length - to) * height;
    above.hidden = from === 0;
    below.hidden = to === rows.length;
    whole.setAttribute("aria-rowcount", String(rows.length + 1));
  }

  const observer = new ResizeObserver(fill);
  observer.observe(element);
  return {
    element,
    sorting: () => ({ order, way }),
    show(list) {
      rows = list;
      fill();
    },
    stop: () => observer.disconnect(),
  };
}
