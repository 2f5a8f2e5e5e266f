// Several stations on one axis of time, sorted by their distance from the epicentre: the waves that run through the network.

import { newSurface, plot, themeColors } from "../canvas.js";
import { h, setText } from "../dom.js";
import { fleet } from "../fleet.js";
import { Seismote } from "../page.js";
import { geo } from "../pure/geo.js";
import { ground } from "../pure/ground.js";
import { motion } from "../pure/motion.js";
import { scales } from "../pure/scales.js";
import { units } from "../pure/units.js";
import { text } from "../text.js";
import { waveforms } from "../waveforms.js";

const words = text.section;
const most = 16;
const together = 3;

// The stations of an event that can be drawn, the nearest first: [{ id, event, distance }].
function chosen(event) {
  return (event.stations ?? []).filter(({ id, event_id: own }) => id && own).map(({ id, event_id: own, distance_km: said }) => {
    const place = fleet.stations.get(id)?.info?.station;
    return { id, event: own, distance: geo.place(place?.latitude, place?.longitude) ? ground.distance(event, place) : said };
  }).filter(({ distance }) => Number.isFinite(distance)).sort((a, b) => a.distance - b.distance).slice(0, most);
}

// How the section is laid out: { box, x(time), y(distance), pad (pixels a trace has), from, to, near, far }.
function layout(traces, width, height) {
  const box = { left: 62, top: 14, right: width - 16, bottom: height - 30 };
  const [near, far] = [traces[0].distance, traces.at(-1).distance];
  const from = Math.min(0, Math.floor(Math.min(...traces.map(({ start }) => start))));
  const to = Math.min(from + 600, Math.ceil(Math.max(...traces.map(({ start, values, rate }) => start + values.length / rate))));
  const x = (time) => box.left + ((time - from) / (to - from)) * (box.right - box.left);
  const pad = (box.bottom - box.top) / (traces.length + 1);
  const y = (distance) => (far - near < 1e-9 ? (box.top + box.bottom) / 2
    : box.top + pad * 0.8 + ((distance - near) / (far - near)) * (box.bottom - box.top - pad * 1.6));
  return { box, x, y, pad, from, to, near, far };
}

// When P and S are there.
function paintWaves(context, { x, y, near, far }, depth, colors) {
  for (const [wave, color] of [["p", "rms"], ["s", "raw"]]) {
    context.strokeStyle = colors[color];
    context.lineWidth = 1.5;
    context.setLineDash(wave === "p" ? [] : [6, 4]);
    context.beginPath();
    for (let i = 0; i <= 40; i++) {
      const distance = near + ((far - near) * i) / 40;
      context.lineTo(x(ground.arrival(wave, distance, depth)), y(distance));
    }
    context.stroke();
    context.setLineDash([]);
  }
}

// Names, distances and largest values; of stations that are as far away they stand below each other.
function paintNames(context, { box, y }, traces, colors) {
  plot.setFont(context, 12);
  context.textAlign = "right";
  context.textBaseline = "bottom";
  let bottom = -Infinity;
  for (const { id, distance, largest } of [...traces].sort((a, b) => y(a.distance) - y(b.distance))) {
    bottom = Math.max(y(distance) - 3, bottom + 15);
    const said = `${id}, ${units.about(distance, "km")}, ${units.quantity(largest, "m/s²", 2)}`;
    const wide = context.measureText(said).width;
    context.globalAlpha = 0.8;
    context.fillStyle = colors.card;
    context.fillRect(box.right - wide - 8, bottom - 14, wide + 8, 15);
    context.globalAlpha = 1;
    context.fillStyle = colors.ink;
    context.fillText(said, box.right - 4, bottom);
  }
}

function paintSection(context, width, height, traces, depth) {
  const colors = themeColors();
  const laid = layout(traces, width, height);
  const { box, x, y, pad, from, to, near, far } = laid;
  plot.frame(context, box, {
    x: { ticks: scales.multiples(from, to, scales.timeStep(to - from, 8)).map((time) => ({ at: x(time), label: `${units.tick(time)} s` })),
      name: words.sinceOrigin },
    y: { ticks: scales.ticks(near, far, 6).map((distance) => ({ at: y(distance), label: units.tick(distance) })) },
    unit: "km",
  });
  plot.clip(context, box, () => {
    paintWaves(context, laid, depth, colors);
    for (const { distance, start, rate, values, largest } of traces) {
      const middle = y(distance);
      const size = Math.max(10, pad * 0.9) / (largest || 1);
      plot.curve(context, plot.array(values), { box: { ...box, left: x(start), right: x(start + values.length / rate) }, from: 0,
        to: values.length, y: (value) => middle - value * size * 0.5, color: colors.filtered, width: 1 });
    }
  });
  paintNames(context, laid, traces, colors);
}

// What a station keeps of its event; what came live, if it keeps none.
async function waveformOf({ id, event: own }) {
  const live = waveforms.get(id, own)?.assembler;
  if (fleet.knows(id, "event") !== true) return live;
  return (await waveforms.kept(id, own)).assembler;
}

// One trace { id, distance, start (s after the origin), rate, values (less their mean), largest }; throws without samples.
async function traceOf(one, axis, origin) {
  const { lastEvent } = fleet.stations.get(one.id) ?? {};
  const shape = (await waveformOf(one))?.waveform({ unitPerCount: lastEvent?.waveform?.unit_per_count });
  const samples = shape?.[axis];
  if (!samples) throw new Error(words.none);
  const values = motion.withoutOffset(motion.withoutGaps(samples), 0);
  return { ...one, start: (Number(shape.start / 1000n) / 1000 - origin) / 1000, rate: shape.rate, values,
    largest: values.reduce((high, value) => Math.max(high, Math.abs(value)), 0) };
}

// recordSection(event()) -> { element, stop() }
export function recordSection(event) {
  let traces = [];
  let stopped = false;
  const canvas = h("canvas", { class: "record-section", role: "img", "aria-label": words.label });
  const status = h("p", { class: "quiet small-note", role: "status" });
  const button = h("button", { type: "button", class: "plain no-print", onclick: load }, words.load);
  const axis = h("select", { "aria-label": words.axis, onchange: load, class: "no-print" },
    ["z", "x", "y"].map((name) => h("option", { value: name }, text.event.axisNames[name])));
  const element = h("section", { class: "card section-card" }, h("div", { class: "card-head" }, h("h2", {}, words.title),
    h("div", { class: "event-tools" }, axis, button)), canvas, status,
    h("p", { class: "quiet small-note" }, words.help));
  canvas.hidden = true;
  const surface = newSurface(canvas, (context, width, height) => {
    const about = event();
    if (traces.length > 0 && about) paintSection(context, width, height, traces, about.depth_km ?? 10);
  });

  async function load() {
    const about = event();
    const list = about ? chosen(about) : [];
    if (list.length === 0) return setText(status, words.none);
    button.disabled = true;
    const origin = units.milliseconds(about.origin_time);
    const found = [];
    let done = 0;
    let missed = 0;
    const queue = [...list];
    await Promise.all(Array.from({ length: together }, async () => {
      for (let one = queue.shift(); one && !stopped; one = queue.shift()) {
        try {
          found.push(await traceOf(one, axis.value, origin));
        } catch {
          missed++;
        }
        setText(status, words.loading(++done, list.length));
      }
    }));
    if (stopped) return;
    traces = found.sort((a, b) => a.distance - b.distance);
    canvas.hidden = traces.length === 0;
    button.disabled = false;
    setText(status, traces.length === 0 ? words.none : missed > 0 ? words.missed(missed) : "");
    surface.redraw();
  }

  Seismote.section = { traces: () => traces };
  return {
    element,
    stop() {
      stopped = true;
      surface.stop();
    },
  };
}
