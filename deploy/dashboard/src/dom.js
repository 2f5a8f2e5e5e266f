// Makes elements, and tells screen readers what changed.

import { scales } from "./pure/scales.js";
import { wire } from "./pure/wire.js";

const svgTags = new Set(["svg", "g", "path", "circle", "line", "rect", "text", "title", "polyline"]);

// h("button", { class: "plain", onclick: fn, "aria-label": "…", disabled: true }, "text", node, [more], null)
// `on…` are listeners, `dataset` is an object, false, null and undefined leave an attribute out, true sets it empty.
// `value` and `checked` are set as properties. Text is always text, never markup. A link leads to a part of this page
// or to what the page itself has made (blob:). There is no `style`: what the page's style sheet does not say is a
// number that was computed here, or a colour, see fillColor.
export function h(tag, attributes, ...children) {
  const element = svgTags.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  append(element, children);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === false || value === null || value === undefined) continue;
    else if (name === "href" && !/^(#|blob:)/.test(value)) continue;
    else if (name === "dataset") Object.assign(element.dataset, value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  return element;
}

function append(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

// Text with names between backquotes, as what goes into h().
export const withCode = (text) => text.split("`").map((part, i) => (i % 2 ? h("code", null, part) : part));

// Puts text into an element only when it is another one: cheap to call each second, and quiet for screen readers.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Fills an element with a colour, its text in black or white above it. What is no #rrggbb is no colour: a style may
// name a picture, which the browser would fetch.
export function fillColor(element, color, otherwise = "") {
  const good = wire.color(color);
  element.style.backgroundColor = good ?? otherwise;
  element.style.color = good ? scales.ink(good) : "";
  return element;
}

export function setClass(element, name, on) {
  if (element.classList.contains(name) !== Boolean(on)) element.classList.toggle(name, Boolean(on));
}

export function announce(text) {
  const element = document.getElementById("announcer");
  // The same text twice is spoken twice only if it differs.
  if (element) element.textContent = element.textContent === text ? text + "\u00a0" : text;
}

// The three axes in their colours.
export const axisLegend = () => h("div", { class: "axis-legend" }, ["x", "y", "z"].map((axis) =>
  h("span", { class: `axis-${axis}` }, h("span", { class: "swatch", "aria-hidden": "true" }), axis)));
