// The marks of a map: a station, or several that would cover each other.

import { fillColor, h, setClass, setText } from "../dom.js";
import { scales } from "../pure/scales.js";
import { router } from "../router.js";
import { numbers, text } from "../text.js";

const words = text.map;

// How wide a name is, about.
export const wideOf = (name) => name.length * 6.9 + 10;

// The mark of one station or of several, { members (their ids), dot, element, parts }; spot: where its name goes, if it has room;
// open(members): the reader wants to see them apart.
export function makeMark({ x, y, members }, spot, open) {
  const dot = h("span", { class: "dot-step" });
  const key = members[0].id;
  const made = members.length === 1
    ? h("a", { class: "pin", href: router.address("station", key), dataset: { key } }, dot)
    : h("button", { type: "button", class: "pin cluster", dataset: { key },
      onclick: () => open(members.map(({ id }) => id)) }, dot,
      h("span", { class: "cluster-count" }, numbers.text(members.length)));
  made.style.left = `${x}px`;
  made.style.top = `${y}px`;
  const parts = [];
  if (spot?.line) {
    const [tx, ty] = [spot.x + (spot.x > x ? 0 : wideOf(key)), spot.y + 8];
    const line = h("span", { class: "leader", "aria-hidden": "true" });
    line.style.left = `${x}px`;
    line.style.top = `${y}px`;
    line.style.width = `${Math.hypot(tx - x, ty - y)}px`;
    line.style.transform = `rotate(${Math.atan2(ty - y, tx - x)}rad)`;
    parts.push(line);
  }
  parts.push(made);
  if (spot) {
    const name = h("span", { class: "pin-name", "aria-hidden": "true" }, key);
    name.style.left = `${spot.x}px`;
    name.style.top = `${spot.y}px`;
    parts.push(name);
  }
  return { members: members.map(({ id }) => id), dot, element: made, parts };
}

// Intensity and state into a mark. byId: rows of rank.js; strengths: Mercalli of a map of the shaking, id -> value, or null.
export function colorMark({ members, dot, element }, byId, strengths) {
  const list = members.map((id) => byId.get(id)).filter(Boolean);
  const away = (one) => one.state === "offline" || one.state === "silent";
  const worst = list.filter((one) => !away(one)).reduce((most, one) => (!(most?.intensity >= one.intensity) ? one : most), null);
  const strongest = strengths ? members.reduce((most, id) => (strengths.get(id) > most ? strengths.get(id) : most), -Infinity) : NaN;
  const step = strengths ? scales.intensity({ scale: "mmi", value: strongest }) : worst?.item ? scales.intensity(worst.item) : null;
  const name = step?.name ?? "–";
  setText(dot, name);
  fillColor(dot, step?.color);
  setClass(element, "shaking", list.some((one) => one.triggered));
  setClass(element, "away", list.length > 0 && list.every(away));
  const label = members.length > 1 ? words.cluster(members.length, name)
    : words.pin(members[0], name, text.overview.states[list[0]?.state ?? "unknown"]);
  if (element.title === label) return;
  element.title = label;
  element.setAttribute("aria-label", label);
}
