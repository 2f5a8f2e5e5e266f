// Live traces of several stations on one axis of time, by their names or by their distance from a place.

import { animate, newSurface, plot, themeColors } from "../canvas.js";
import { h, setText } from "../dom.js";
import { earthquakes } from "../earthquakes.js";
import { fleet } from "../fleet.js";
import { Seismote } from "../page.js";
import { format, preferences } from "../preferences.js";
import { ground } from "../pure/ground.js";
import { scales } from "../pure/scales.js";
import { units } from "../pure/units.js";
import { definePanel } from "../registry.js";
import { defineView, router } from "../router.js";
import { ownWords, text } from "../text.js";
import { paintMarks } from "../views/graph-painting.js";

const words = ownWords("traces", {
  title: "Traces of several stations",
  about: "Each trace is scaled to itself; the number beside it is its largest swing. Up to {0} stations, those that are online.",
  axis: "Axis",
  span: "Span",
  order: "Order",
  byName: "By name",
  byDistance: "By distance from {0}",
  home: "my station",
  quake: "the newest earthquake",
  none: "No station is online.",
  noTraces: "no traces",
  largest: "± {0}",
  label: "{0}: live trace of the last {1}",
});
const most = 12;
const spans = [30, 60, 120, 300, 600];
// What has come is shown so long after its newest sample (s), so that all have come as far as that.
const behind = 2;

defineView("#/traces", {
  title: () => words.title,
  mount(main) {
    main.className = "traces";
    const view = new TracesView(main);
    Seismote.tracesView = view;
    return () => view.close();
  },
});
definePanel({ place: "overview", label: words.title, address: "#/traces" });

// Where distances are counted from: the newest earthquake whose place is known, else the reader's own station.
function origin() {
  const quake = earthquakes.list().find((one) => !one.withdrawn && !one.merged_into && (one.place?.quality ?? "good") === "good");
  const own = fleet.stations.get(preferences.get("home"))?.info?.station;
  if (quake) return { name: words.quake, latitude: quake.latitude, longitude: quake.longitude };
  return Number.isFinite(own?.latitude) ? { name: words.home, latitude: own.latitude, longitude: own.longitude } : null;
}

// A station's row: { id, element, watch (ends the subscription), paint }.
class Row {
  constructor(view, id) {
    this.view = view;
    this.id = id;
    this.away = h("small", {});
    this.largest = h("small", { class: "number" });
    this.canvas = h("canvas", { role: "img" });
    this.surface = newSurface(this.canvas, (context, width, height) => this.paint(context, width, height));
    const name = h("div", { class: "traces-name" }, h("a", { href: router.address("station", id) }, id), this.away, this.largest);
    this.element = h("li", {}, name, this.canvas);
    this.stop = fleet.watchTraces(id);
  }

  close() {
    this.stop();
    this.surface.stop();
    this.element.remove();
  }

  paint(context, width, height) {
    const { axis, span, edge, isLast } = this.view.look(this);
    const colors = themeColors();
    const box = { left: 2, top: 2, right: width - 2, bottom: height - (isLast ? 22 : 2) };
    const every = scales.timeStep(span, Math.max(2, Math.floor(width / 92)));
    const ticks = [];
    for (let time = Math.ceil((edge - span) / every) * every; time <= edge; time += every) {
      const at = box.right - ((edge - time) / span) * (box.right - box.left);
      ticks.push({ at, label: isLast ? units.time(time * 1000, format.utc()) : undefined });
    }
    plot.frame(context, box, { x: { ticks, name: isLast ? format.zones((edge - span) * 1000, edge * 1000) : "" } });
    const { traces } = fleet.stations.get(this.id) ?? {};
    const signal = traces?.has(axis, "filtered") ? "filtered" : "raw";
    if (!traces?.end || !traces.has(axis, signal)) return setText(this.largest, words.noTraces);
    const to = traces.slot(edge);
    const from = to - span * traces.rate;
    const out = traces.extremes(axis, signal, Math.floor(from), Math.ceil(to), [0, 0]);
    const middle = signal === "raw" ? traces.mean(axis, "raw", Math.floor(from), Math.ceil(to), 4) : 0;
    const swing = Math.max(out[1] - middle, middle - out[0]);
    setText(this.largest, swing >= 0 ? words.largest(format.acceleration(swing)) : words.noTraces);
    if (!(swing > 0)) return;
    const centre = (box.top + box.bottom) / 2;
    const y = (value) => centre - ((value - middle) / swing) * ((box.bottom - box.top) / 2 - 1);
    plot.clip(context, box, () => {
      plot.curve(context, {
        value: (slot) => traces.value(axis, signal, slot),
        extremes: (a, b, result) => traces.extremes(axis, signal, a, b, result),
      }, { box, from, to, y, color: colors[`axis-${axis}`] });
      paintMarks(context, traces, { box, from, to }, text.station.graphs.marks, colors.accent);
    });
  }
}

class TracesView {
  /** @type {Map<string, Row>} */
  rows = new Map();
  // The right end of all axes, in seconds; the station that is last.
  edge = NaN;
  last = "";

  constructor(main) {
    const choose = (label, options) => {
      const select = h("select", { onchange: () => this.show() }, options.map(([value, name]) => h("option", { value }, name)));
      return [select, h("label", { class: "choice" }, h("span", {}, label), select)];
    };
    const [axis, axisField] = choose(words.axis, ["z", "x", "y"].map((one) => [one, text.event.axisNames[one]]));
    const [span, spanField] = choose(words.span, spans.map((one) => [String(one), units.duration(one)]));
    const [order, orderField] = choose(words.order, [["name", words.byName], ["distance", ""]]);
    this.axis = axis;
    this.span = span;
    this.order = order;
    this.list = h("ul", { class: "traces-rows" });
    this.none = h("p", { class: "quiet", hidden: true }, words.none);
    main.append(h("nav", { class: "crumbs", "aria-label": text.frame.where }, h("a", { href: "#/" }, text.frame.stations)),
      h("h1", {}, words.title),
      h("section", { class: "card" }, h("div", { class: "toolbar" }, axisField, spanField, orderField), this.none, this.list,
        h("p", { class: "quiet small-note" }, words.about(most))));
    this.stops = [
      fleet.on("station", (id, what) => (what === "online" || what === "info") && this.show()), earthquakes.on(() => this.show()),
      preferences.on(() => this.show()),
      animate(() => this.draw(), 10),
    ];
    this.show();
  }

  close() {
    for (const stop of this.stops) stop();
    for (const row of this.rows.values()) row.close();
  }

  look(row) {
    return { axis: this.axis.value, span: Number(this.span.value), edge: this.edge, isLast: row.id === this.last };
  }

  // Which stations, in which order.
  show() {
    const from = origin();
    const [, byDistance] = this.order.options;
    byDistance.disabled = !from;
    setText(byDistance, words.byDistance(from?.name ?? "–"));
    const far = (known) => {
      const { latitude, longitude } = known.info?.station ?? {};
      return from && Number.isFinite(latitude) && Number.isFinite(longitude) ? ground.distance(from, { latitude, longitude }) : Infinity;
    };
    const online = [...fleet.stations.values()].filter((known) => known.online === true);
    const isFar = from && this.order.value === "distance";
    online.sort((a, b) => (isFar ? far(a) - far(b) : 0) || (a.id < b.id ? -1 : 1));
    const wanted = online.slice(0, most);
    this.none.hidden = wanted.length > 0;
    this.last = wanted.at(-1)?.id ?? "";
    for (const [id, row] of this.rows) {
      if (wanted.some((known) => known.id === id)) continue;
      row.close();
      this.rows.delete(id);
    }
    wanted.forEach((known, i) => {
      if (!this.rows.has(known.id)) this.rows.set(known.id, new Row(this, known.id));
      const row = this.rows.get(known.id);
      setText(row.away, Number.isFinite(far(known)) ? units.about(far(known), "km") : "");
      row.canvas.setAttribute("aria-label", words.label(known.id, units.duration(Number(this.span.value))));
      if (this.list.children[i] !== row.element) this.list.insertBefore(row.element, this.list.children[i] ?? null);
    });
  }

  // All axes end where the newest samples of those that speak now have been for a moment.
  draw() {
    const ends = [...this.rows.keys()].map((id) => fleet.stations.get(id)?.traces).filter((traces) => traces?.arrival)
      .map(({ arrival }) => arrival.time + Math.min(3, performance.now() / 1000 - arrival.at));
    const newest = Math.max(...ends) - behind;
    if (!Number.isFinite(newest)) return;
    this.edge = this.edge > newest + 5 || !(this.edge > newest - 5) ? newest : Math.max(this.edge, newest);
    for (const { surface } of this.rows.values()) if (surface.visible) surface.redraw();
  }
}
