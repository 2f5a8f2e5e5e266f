// What the station takes an event for, and what it expects of its first seconds; what one station cannot know; and what
// people say that it was.

import { h, setText } from "../dom.js";
import { fleet } from "../fleet.js";
import { link } from "../link.js";
import { format } from "../preferences.js";
import { classified, percent } from "../pure/classified.js";
import { scales } from "../pure/scales.js";
import { units } from "../pure/units.js";
import { numbers, text } from "../text.js";

const words = text.class;
const seconds = 5;

// What an event is taken for, as a badge. Null where the station says nothing of it.
/** @param {{ class?: any, label?: string, alarm?: boolean }} event */
export function classBadge(event = {}) {
  const said = classified(event, words, numbers);
  if (!said) return null;
  const state = event.alarm ? "bad" : (event.label ?? event.class.likely) === "earthquake" ? "warn" : "unknown";
  return h("span", { class: "badge class-badge", dataset: { state } }, said);
}

function chart(judged) {
  const y = (p) => 86 - p * 76;
  const points = [...judged].sort((a, b) => a.t_s - b.t_s).filter((one) => Number.isFinite(one.p) && Number.isFinite(one.t_s));
  const end = Math.max(seconds, Math.ceil(points.at(-1)?.t_s ?? 0));
  const x = (t) => 30 + (t / end) * 260;
  const line = points.map((one, i) => `${i ? "L" : "M"}${x(one.t_s).toFixed(1)} ${y(one.p).toFixed(1)}`).join("");
  return h("svg", { viewBox: "0 0 300 106", class: "class-chart", role: "img", "aria-label": words.graph },
    h("rect", { x: 30, y: y(0.8), width: 260, height: y(0.2) - y(0.8), class: "unsure" }),
    [0, 0.2, 0.5, 0.8, 1].map((p) => [h("line", { x1: 30, x2: 290, y1: y(p), y2: y(p) }),
      h("text", { x: 26, y: y(p) + 3, "text-anchor": "end" }, numbers.percent(p))]),
    scales.ticks(0, end, 6).map((t) => h("text", { x: x(t), y: 102, "text-anchor": "middle" }, `${t} s`)),
    h("path", { d: line, class: "class-line" }),
      points.map((one) => h("circle", { cx: x(one.t_s).toFixed(1), cy: y(one.p).toFixed(1), r: 3 })));
}

function classCard(event, judged) {
  const one = event.class;
  if (!one?.likely) return null;
  // The class follows the probability: it may have been an earthquake before.
  const isBack = one.likely !== "earthquake" && judged.some((other) => other.likely === "earthquake");
  return h("section", { class: "card class-card" }, h("h2", {}, words.title),
    h("p", {}, classBadge({ class: one, alarm: event.alarm }), one.certain ? ` ${words.certain}` : "",
      event.confirmed ? ` · ${text.event.confirmed}` : ""),
    isBack && h("p", { class: "strong" }, words.back),
    Number.isFinite(one.p) && Number.isFinite(one.t_s) && h("p", { class: "quiet" },
      words.probability(percent(one.p, numbers), units.duration(one.t_s))),
    judged.length > 0 && chart(judged),
    one.moved && h("p", { class: "strong" }, words.moved),
    h("p", { class: "quiet small-note" }, words.limits));
}

function onsiteCard(event) {
  const one = event.onsite;
  if (one === undefined) return null;
  const title = h("h2", {}, words.onsite);
  if (one === null || !Number.isFinite(one.pgv_predicted)) return h("section", { class: "card" }, title,
    h("p", { class: "quiet" }, words.onsiteNone));
  const known = [one.pgv_low, one.pgv_high].every(Number.isFinite);
  const f = format;
  return h("section", { class: "card onsite-card" }, title,
    h("p", { class: "strong" }, words.predicted(f.velocity(one.pgv_predicted), known ? f.velocity(one.pgv_low) : "–",
      known ? f.velocity(one.pgv_high) : "–", units.digits(one.mmi_predicted, 2))),
    one.saturated && h("p", { class: "strong" }, words.saturated),
    Number.isFinite(one.level) && words.levels[one.level] && h("p", {}, words.levels[one.level]),
    h("p", { class: "quiet" }, words.onsiteAt(one.t_s ?? 2)),
    h("p", { class: "quiet small-note" }, words.onsiteLimits));
}

// People say what it was: a button each, for those who may send commands to a station that takes labels.
function labelCard(id, event, mayAsk, done) {
  if (fleet.knows(id, "label") !== true) return null;
  const problem = h("p", { class: "problem", role: "alert" });
  const buttons = Object.entries(words.labels).map(([label, name]) =>
    h("button", { type: "button", class: "plain small", disabled: !mayAsk, "aria-pressed": String(event.label === label),
    async onclick() {
      setText(problem, "");
      try {
        await link.command(id, "label", { event_id: event.event_id, label });
        done(label);
      } catch (error) {
        setText(problem, words.labelFailed(error.errors?.[0]?.message ?? error.message));
      }
    } }, name));
  return h("section", { class: "card label-card" }, h("h2", {}, words.label),
    h("p", { class: "quiet" }, event.label ? words.labelled(words.labels[event.label] ?? event.label) : words.noLabel),
    h("div", { class: "label-buttons", role: "group", "aria-label": words.label }, buttons), problem,
      h("p", { class: "quiet small-note" }, words.labelHelp));
}

// The cards of an event; `judged` are its probabilities so far.
export const eventClass = (id, event, judged, mayAsk, done) =>
  [classCard(event, judged), onsiteCard(event), event.end ? labelCard(id, event, mayAsk, done) : null].filter(Boolean);
