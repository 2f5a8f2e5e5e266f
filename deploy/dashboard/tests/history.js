// What a station has kept: levels, events, files; and the order of many stations.
import assert from "node:assert";
import { test } from "node:test";
import "./support/load.js";
import { wire } from "../src/pure/wire.js";
import { Traces } from "../src/pure/ring.js";
import { pastLevels as past } from "../src/pure/past.js";
import { helicorder } from "../src/pure/helicorder.js";
import { rank } from "../src/pure/rank.js";
import { quakeML } from "../src/pure/quakeml.js";
import { csv } from "../src/pure/csv.js";
import { scales } from "../src/pure/scales.js";
import { spectrogramColumns } from "../src/pure/spectrogram.js";

const begin = Date.parse("2026-01-05T00:00:00Z") / 1000;
const rfc = (seconds) => new Date(seconds * 1000).toISOString();

test("a reply to `history` is read with its gaps, and nothing else of it", () => {
  const read = wire.past({ from: rfc(begin), step_s: 60, x: { min: [1, null, "2"], max: [2, null, 1e999], rms: "no" }, y: [], evil: 1 });
  assert.deepStrictEqual(read, { from: rfc(begin), step_s: 60, x: { min: [1, NaN, NaN], max: [2, NaN, NaN] } });
  assert.strictEqual(wire.past({ from: rfc(begin), step_s: 60, x: { min: Array(5001).fill(0) } }).x.min, undefined);
});

test("pages of `history` become one", () => {
  const page = (at, numbers, next) => wire.past({ from: rfc(begin + at), next, step_s: 1, x: { min: numbers, max: numbers, rms: numbers }, y: {}, z: { min: numbers } });
  const all = past.join(past.join(null, page(0, [1, null], rfc(begin + 2))), page(2, [3]));
  assert.deepStrictEqual([all.from, all.x.max, all.z.min, all.y.min], [rfc(begin), [1, NaN, 3], [1, NaN, 3], []]);
  assert.strictEqual(past.join(null, undefined), null);
});

test("a page of events is read, one that is none is left out", () => {
  const event = { event_type: "end", event_id: "a-20260105T102030000Z", onset: rfc(begin), class: { likely: "earthquake", p: 0.9, t_s: 5, certain: true, evil: 1 }, onsite: null, alarm: true, label: "truck" };
  const { events, next, matches } = wire.events({ events: [event, 5, null], next: 7, matches: 12 });
  assert.deepStrictEqual(events, [{ ...event, class: { likely: "earthquake", p: 0.9, t_s: 5, certain: true } }]);
  assert.strictEqual(next, 7);
  assert.strictEqual(matches, 12);
  assert.deepStrictEqual(wire.event({ class: { p: 1e308, t_s: -1 }, onsite: { pgv_predicted: 1e300, pgv_high: 1e300 } }), { class: {}, onsite: {} });
  assert.strictEqual(wire.event({ class: { likely: "alien" }, label: "<b>" }).label, undefined);
});

test("a day's lines have its extremes, the finer over the coarser, and gaps where nothing is known", () => {
  const day = new helicorder.Day();
  const coarse = { from: rfc(begin), step_s: 60, z: { min: Array(1440).fill(9.7), max: Array(1440).fill(9.9) } };
  coarse.z.min[10] = coarse.z.max[10] = NaN;
  assert.ok(day.put(coarse, "z"));
  assert.ok(!day.put({ from: rfc(begin), step_s: 60 }, "z"));
  assert.ok(day.put({ from: rfc(begin + 3600), step_s: 1, z: { min: [9.5, 9.6], max: [10, 9.8] } }, "z"));
  const out = [0, 0];
  assert.deepStrictEqual(day.extremes(begin + 3600, begin + 3601, out), [9.5, 10]);
  assert.deepStrictEqual(day.extremes(begin, begin + 60, out), [9.7, 9.9]);
  assert.ok(Number.isNaN(day.extremes(begin + 600, begin + 660, out)[0]));
  const { middle, reach } = day.line(begin, begin + 3600, 60);
  assert.ok(Math.abs(middle - 9.8) < 1e-9 && Math.abs(reach - 0.1) < 1e-9);
  const whole = { begin, end: begin + 86400 };
  assert.ok(helicorder.questions(whole, begin + 50000).every(({ from, to, step }) => (to - from) / step <= 5000));
  // Of a day that goes on what is new, with the minute that was not whole; never what is before the day.
  const since = helicorder.questions(whole, begin + 50060, begin + 50000);
  assert.deepStrictEqual(since, [{ from: begin + 49880, to: begin + 50060, step: 60 }, { from: begin + 49880, to: begin + 50060, step: 2 }]);
  assert.strictEqual(helicorder.questions(whole, begin + 60, begin + 10)[0].from, begin);
});

test("a day on which clocks change has the lines of its own length, and is asked for to its end", () => {
  const zone = process.env.TZ;
  process.env.TZ = "Europe/Berlin";
  try {
    for (const [name, hours] of [["2026-10-25", 25], ["2026-03-29", 23], ["2026-11-26", 24]]) {
      const day = helicorder.dayOf(name, false);
      assert.deepStrictEqual([3600, 1800, 900].map((line) => helicorder.linesOf(day, line)), [hours, 2 * hours, 4 * hours], name);
      assert.strictEqual(helicorder.questions(day, day.end + 1e6)[0].to - day.begin, hours * 3600);
      assert.strictEqual(new Date(day.begin * 1000).getHours(), 0);
    }
    assert.strictEqual(helicorder.linesOf(helicorder.dayOf("2026-10-25", true), 3600), 24, "UTC has no summer");
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

test("what was kept stands before the live traces, and these go on over it", () => {
  const traces = new Traces();
  const block = (t) => ({ t: rfc(t), rate_hz: 20, n: 20, x: { raw: Array(20).fill(5) } });
  traces.add(block(begin), 0);
  past.samples(traces, { start: BigInt(begin - 2) * 1000000000n, rate: 100, count: 200, x: Float64Array.from({ length: 200 }, (_, i) => i), y: new Float64Array(200), z: new Float64Array(200) });
  assert.ok(Math.abs(traces.value("x", "raw", -1) - 195) <= 3, `${traces.value("x", "raw", -1)}`);
  assert.strictEqual(traces.value("x", "raw", 0), 5);
  const out = new Float64Array(2);
  assert.ok(traces.extremes("x", "raw", -30, -14, out)[0] > 45 && out[1] < 140, `${out}`);
  // Samples of before, later: these stay, and nothing is known in between.
  past.samples(traces, { start: BigInt(begin - 20) * 1000000000n, rate: 100, count: 500, x: new Float64Array(500).fill(7), y: new Float64Array(500), z: new Float64Array(500) });
  assert.ok(traces.value("x", "raw", -1) > 190 && traces.value("x", "raw", -39) < 10);
  assert.deepStrictEqual([-399, -302, -200].map((slot) => traces.value("x", "raw", slot)), [7, 7, NaN]);
  assert.deepStrictEqual([...traces.extremes("x", "raw", -400, -41, out)], [7, 7]);
  assert.strictEqual(traces.unbroken("x", "raw", 1000), 60);
  assert.strictEqual(traces.unbroken("x", "raw", 30), 30);
  for (let i = 1; i < 4000; i++) traces.add(block(begin + i), i);
  assert.ok(traces.first > 0 && traces.end - traces.first <= traces.capacity);
  assert.deepStrictEqual([...traces.extremes("x", "raw", traces.first, traces.end, out)], [5, 5]);
});

test("levels are what lies between two values, and never samples", () => {
  const traces = new Traces();
  past.levels(traces, { from: rfc(begin - 60), step_s: 2, x: { min: [-1], max: [1] } });
  assert.strictEqual(traces.levels.size, 0, "before the first sample there is nothing to put them before");
  traces.add({ t: rfc(begin), rate_hz: 20, n: 20, x: { raw: Array(20).fill(5) }, y: { raw: Array(20).fill(5) } }, 0);
  const min = Array.from({ length: 30 }, (_, i) => -i);
  const max = Array.from({ length: 30 }, (_, i) => i);
  min[3] = max[3] = NaN;
  past.levels(traces, { from: rfc(begin - 60), step_s: 2, x: { min, max, rms: Array(30).fill(0.5) }, y: { min, max: [1] } });
  assert.deepStrictEqual([...traces.levels.keys()], ["x"], "columns of different lengths are none");
  assert.strictEqual(traces.first, 0);
  assert.ok([-1, -500, -1200].every((slot) => Number.isNaN(traces.value("x", "raw", slot))));
  assert.ok(Math.abs(traces.oldest + 1200) < 0.01);
  const found = () => {
    const list = [];
    traces.eachLevel("x", -2000, 20, (slot, slots, low, high) => list.push([Math.round(slot), Math.round(slots), low, high]));
    return list;
  };
  assert.deepStrictEqual(found().slice(0, 4).map(([slot, slots, low, high]) => [slot, slots, low + 0, high]), [[-1200, 40, 0, 0], [-1160, 40, -1, 1], [-1120, 40, -2, 2], [-1040, 40, -4, 4]]);
  assert.strictEqual(found().length, 29);
  // Samples stand in their place.
  past.samples(traces, { start: BigInt(begin - 20) * 1000000000n, rate: 100, count: 2000, x: new Float64Array(2000), y: new Float64Array(2000), z: new Float64Array(2000) });
  assert.strictEqual(found().length, 19);
  // Of another run nothing is left.
  traces.add({ t: rfc(begin - 5000), boot: "b", rate_hz: 20, n: 20, x: { raw: Array(20).fill(5) } }, 1);
  assert.strictEqual(traces.levels.size, 0);
});

test("a spectrogram's columns read the sine that is in them, and are computed once", () => {
  const columns = new spectrogramColumns.Columns();
  let asked = 0;
  const wave = (slot) => (asked++, slot < 0 ? NaN : 0.3 * Math.sin((2 * Math.PI * 2.5 * slot) / 20));
  const size = spectrogramColumns.sizeFor(20);
  const column = columns.column("x", 0, size, 20, wave);
  const at = column.indexOf(Math.max(...column));
  assert.ok(Math.abs((at * 20) / size - 2.5) < 0.1 && Math.abs(column[at] - 0.3) < 0.01);
  assert.strictEqual(columns.column("x", 0, size, 20, wave), column);
  assert.strictEqual(asked, size);
  assert.strictEqual(columns.column("x", -5, size, 20, wave), null);
});

test("the logarithmic axis of a spectrogram shows each bin once above its lower end, each frequency where it is", () => {
  const { frequencies, place, largest } = spectrogramColumns;
  for (const [bins, step] of [[65, 20 / 128], [513, 100 / 1024], [33, 2 / 64]]) {
    const axis = frequencies(bins, step, true);
    const shown = new Set(axis.rows.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => from + i)));
    assert.deepStrictEqual([...shown].sort((a, b) => a - b), Array.from({ length: bins - 1 }, (_, i) => i + 1), "every bin but the mean");
    assert.ok(axis.rows.every(([from, to], row) => from <= to && (row === 0 || to <= axis.rows[row - 1][1])), "from the highest down");
    // A line of one bin lies where the axis has its frequency, within a row and half a bin.
    for (const bin of [1, 2, 7, bins >> 1, bins - 1]) {
      const column = Array.from({ length: bins }, (_, i) => (i === bin ? 1 : 0));
      const lit = axis.rows.flatMap((row, i) => (largest(column, row) === 1 ? [1 - (i + 0.5) / axis.rows.length] : []));
      const at = place(axis, bin * step);
      const [low, high] = [place(axis, Math.max(bin - 0.5, 1) * step), place(axis, Math.min(bin + 0.5, bins - 1) * step)];
      assert.ok(lit.length > 0 && lit.every((one) => one > low - 0.006 && one < high + 0.006), `${bin} of ${bins}: ${lit} around ${at}`);
    }
    assert.strictEqual(place(axis, axis.high), 1);
    assert.strictEqual(place(axis, axis.low), 0);
  }
  // The linear one is as it was: a row a bin.
  assert.deepStrictEqual(frequencies(3, 5, false), { low: 0, high: 10, rows: [[2, 2], [1, 1], [0, 0]] });
  assert.deepStrictEqual(scales.logarithmicTicks(0.15625, 10), [0.2, 0.5, 1, 2, 5, 10]);
});

const event = { event_id: "attic-20260105T102030000Z", event_type: "end", onset: "2026-01-05T10:20:30Z", end: "2026-01-05T10:20:50Z", duration_s: 20, pga: 0.5, pgv: 0.02,
  intensity: [{ scale: "mmi", relation: "worden12", value: 4.5 }], class: { likely: "earthquake", p: 0.93 }, detectors: [{ name: "sta_lta" }] };

test("events as CSV have units in their heads, as QuakeML their amplitudes, and no markup out of what a station sends", () => {
  const [head, row] = csv.events([event]).trim().split("\r\n");
  assert.ok(head.startsWith("event_id,onset_utc,end_utc,duration_s,pga_m_s2,pgv_m_s,mmi"));
  assert.strictEqual(row, "attic-20260105T102030000Z,2026-01-05T10:20:30Z,2026-01-05T10:20:50Z,20,0.5,0.02,4.5,,earthquake,0.93,,sta_lta,false,true,true");
  const text = quakeML([event, { ...event, label: "truck" }], { id: "attic", network: '"><evil>', code: "ATT" });
  assert.ok(text.includes("<type>earthquake</type><typeCertainty>suspected</typeCertainty>") && text.includes("<type>other event</type><typeCertainty>known</typeCertainty>"));
  assert.ok(text.includes("<unit>m/(s*s)</unit>") && !text.includes("<evil>") && !text.includes("not certain"));
  // What a gap leaves open is not written down as a measure.
  const torn = wire.event({ ...event, gaps: 1, velocity_valid: false });
  assert.ok(csv.events([torn]).trim().endsWith(",false,false,true"));
  const said = quakeML([torn], { id: "attic" });
  assert.ok(said.includes("intensity mmi 4.5 (worden12), not certain") && said.includes("peak velocity not certain"));
  assert.ok(!said.includes("peak acceleration not certain"));
  // An acceleration that may be off says so, and with it the intensities that it enters; no others.
  const off = wire.event({ ...event, gaps: 1, acceleration_valid: false, intensity: [...event.intensity, { scale: "mmi", relation: "gutenberg_richter", value: 5 }] });
  assert.ok(csv.events([off]).trim().endsWith(",false,true,false"));
  const rough = quakeML([off], { id: "attic" });
  assert.ok(rough.includes("intensity mmi 4.5 (worden12)<") && rough.includes("intensity mmi 5 (gutenberg_richter), not certain"), rough);
  assert.ok(rough.includes("peak acceleration not certain") && !rough.includes("peak velocity not certain"));
});

test("a waveform as CSV says when it began and in which units", () => {
  const text = csv.waveform({ start: 1767608430500000000n, rate: 100, count: 1, unit: 1e-6, x: [1], y: [2], z: [3] }, ["station: a\nb"]);
  assert.deepStrictEqual(text.trim().split("\n"), ["# station: a b", "# start: 2026-01-05T10:20:30.500000000Z (UTC, t = 0)", "# rate: 100 Hz",
    "# units: t in s, x, y, z in m/s^2 as recorded, with gravity", "t,x,y,z", "0,1,2,3"]);
});

test("of many stations those with problems come first, and numbers that are missing last", () => {
  const known = (id, more) => ({ id, online: true, info: { station: { groups: id < "c" ? ["school"] : [] } }, level: { synced: true }, highest: new Map(), heard: 0, ...more });
  const row = (one, more) => rank.row(one, { now: { pga: 0.1, valid: true }, silence: 0, alerts: [], item: { value: 2 }, highest: { item: { value: 3 }, t: "" }, ...more });
  const rows = [
    row(known("a")), row(known("b", { online: false })), row(known("c"), { now: { triggered: true, pga: 3 } }), row(known("d"), { alerts: [{ severity: "error" }], item: undefined }),
    row(known("e", { level: { synced: false } })), row(known("f"), { silence: 20000 }), row(known("g"), { isDouble: true, highest: undefined }),
  ];
  assert.deepStrictEqual(rank.sort(rows, "problems").map(({ id }) => id), ["c", "d", "g", "b", "f", "e", "a"]);
  assert.deepStrictEqual([rows[0].highest, rows[6].highest, rank.sort(rows, "highest", -1).at(-1).id], [3, NaN, "g"]);
  assert.deepStrictEqual(rank.count(rows), { all: 7, online: 6, shaking: 1, alerts: 1, offline: 1, silent: 1, clock: 1, updating: 0, returned: 0 });
  assert.deepStrictEqual(rank.filter(rows, { only: "shaking" }).map(({ id }) => id), ["c"]);
  const alerts = [["x", "y"], ["y"], []].map((codes, i) => row(known(`k${i}`), { alerts: codes.map((code) => ({ code, severity: "warning" })) }));
  assert.deepStrictEqual(rank.kinds(alerts), [["y", 2], ["x", 1]]);
  assert.deepStrictEqual(rank.filter(alerts, { kind: "x" }).map(({ id }) => id), ["k0"]);
  assert.deepStrictEqual(rank.filter(rows, { group: "school" }).map(({ id }) => id), ["a", "b"]);
  for (const way of [1, -1]) assert.strictEqual(rank.sort(rows, "intensity", way).at(-1).id, "d");
});
