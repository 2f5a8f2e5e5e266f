// A station's card in the overview.

import { acknowledged } from "../acknowledged.js";
import { fillColor, h, setClass, setText } from "../dom.js";
import { fleet } from "../fleet.js";
import { format } from "../preferences.js";
import { scales } from "../pure/scales.js";
import { units } from "../pure/units.js";
import { router } from "../router.js";
import { text } from "../text.js";
import { clockWords } from "./health.js";
import { alertNames, stateBadge, updateBadge } from "./table.js";

const words = text.overview;
const sparkSeconds = 180;

function spark() {
  const line = h("path", { class: "spark-line" });
  const svg = h("svg", { class: "spark", viewBox: "0 0 180 36", preserveAspectRatio: "none", role: "img", "aria-label": words.spark },
    line);
  return {
    svg,
    // Logarithmic, from 0.1 mg to 1 g: quiet and an earthquake are both seen.
    show(history) {
      if (history.length < 2) return line.setAttribute("d", "");
      const end = history.at(-1).time;
      const low = Math.log10(units.g / 1e4);
      const high = Math.log10(units.g);
      let path = "";
      for (const { time, pga } of history) {
        if (end - time > sparkSeconds || !(pga >= 0)) continue;
        const y = 34 - 32 * Math.min(1, Math.max(0, (Math.log10(Math.max(pga, 1e-9)) - low) / (high - low)));
        path += `${path ? "L" : "M"}${(180 - ((end - time) / sparkSeconds) * 180).toFixed(1)} ${y.toFixed(1)}`;
      }
      line.setAttribute("d", path);
    },
  };
}

// stationCard(id) -> { element, show(station) }
export function stationCard(id) {
  const online = h("span", { class: "badge" });
  const about = h("p", { class: "quiet about" });
  const now = h("strong", { class: "step-now" });
  const nowWord = h("span", {}, words.now);
  const nowValue = h("span", { class: "quiet number" });
  const highest = h("span", { class: "chip" });
  const pga = h("span", { class: "number value" });
  const trigger = h("span", { class: "badge" });
  const line = spark();
  const facts = Object.fromEntries(["clock", "heard", "version"].map((name) => [name, h("dd", {})]));
  const alerts = h("span", { class: "badge" });
  const update = updateBadge();
  const element = h("li", { class: "card station-card", dataset: { id } },
    h("div", { class: "card-head" }, h("h2", {}, h("a", { class: "whole", href: router.address("station", id) }, id)), online),
    about,
    h("div", { class: "levels" },
      h("div", { class: "level" }, now, h("span", { class: "quiet" }, nowWord, nowValue)),
      h("div", { class: "level" }, highest, h("span", { class: "quiet", title: words.highestHelp }, words.highest)),
      h("div", { class: "level pga" }, pga, h("span", { class: "quiet" }, words.pga))),
    line.svg,
    h("div", { class: "states" }, trigger, alerts, update.element),
    h("dl", { class: "facts" }, Object.entries(facts).map(([name, cell]) => h("div", {}, h("dt", {}, words[name]), cell))));

  function chip(badge, item) {
    const step = scales.intensity(item);
    setText(badge, step?.name ?? "–");
    fillColor(badge, step?.color, "transparent");
  }

  return {
    element,
    // `one`: its row of rank.js
    show(station, one) {
      const { info } = station;
      online.dataset.state = station.online === true ? "good" : station.online === false ? "bad" : "unknown";
      setText(online, station.online === true ? text.frame.online : station.online === false ? text.frame.offline : text.frame.unknown);
      setText(about, info?.station?.description || [info?.sensor?.driver, info?.sensor?.chip].filter(Boolean).join(", "));
      about.title = about.textContent;
      const { item } = one;
      chip(now, item);
      setText(nowWord, one.state === "offline" || one.state === "silent" ? words.lastValue : words.now);
      setText(nowValue, Number.isFinite(item?.value) ? ` ${units.fixed(item.value, 1)}` : "");
      const most = fleet.highest(station, item);
      chip(highest, most?.item);
      highest.title = most ? text.intensity.highest(highest.textContent, format.clock(most.t)) : "";
      setText(pga, format.acceleration(one.pga));
      stateBadge(trigger, one.state);
      setClass(element, "shaking", one.triggered);
      setClass(element, "away", one.state === "offline" || one.state === "silent");
      line.show(station.history);
      const clock = clockWords(station);
      setText(facts.clock, clock.text);
      facts.clock.dataset.state = clock.state;
      setText(facts.heard, Number.isFinite(one.heard) ? format.ago(one.heard) : "–");
      facts.heard.dataset.state = one.silent ? "warn" : "";
      setText(facts.version, one.version || "–");
      update.show(one);
      alerts.hidden = one.alerts === 0;
      alerts.dataset.state = acknowledged.open(station).some((alert) => alert.severity === "error") ? "bad" : "warn";
      setText(alerts, alertNames(one));
      alerts.title = words.alerts(one.alerts);
    },
  };
}
