// Levels of an hour to a year: spans, questions, columns, and what this browser keeps.
import assert from "node:assert";
import { test } from "node:test";
import "./support/load.js";
import { wire } from "../src/pure/wire.js";
import { levels } from "../src/pure/levels.js";

const at = (text) => Date.parse(text);
const rfc = (seconds) => new Date(seconds * 1000).toISOString();
const shown = ({ begin, end }) => [rfc(begin), rfc(end)].map((text) => text.replace(":00.000Z", "Z"));

test("spans are those of the calendar, weeks from Monday, also beyond the ends of months and years", () => {
  const time = at("2026-11-26T14:35:20.5Z");
  assert.deepStrictEqual(shown(levels.around("hour", time, true)), ["2026-11-26T14:00Z", "2026-11-26T15:00Z"]);
  assert.deepStrictEqual(shown(levels.around("day", time, true)), ["2026-11-26T00:00Z", "2026-11-27T00:00Z"]);
  assert.deepStrictEqual(shown(levels.around("week", time, true)), ["2026-11-23T00:00Z", "2026-11-30T00:00Z"]);
  assert.deepStrictEqual(shown(levels.around("week", at("2026-11-29T23:59:59Z"), true)), ["2026-11-23T00:00Z", "2026-11-30T00:00Z"]);
  assert.deepStrictEqual(shown(levels.around("month", time, true, 1)), ["2026-12-01T00:00Z", "2027-01-01T00:00Z"]);
  assert.deepStrictEqual(shown(levels.around("month", at("2026-03-31T12:00:00Z"), true, -1)), ["2026-02-01T00:00Z", "2026-03-01T00:00Z"]);
  assert.deepStrictEqual(shown(levels.around("year", time, true, -1)), ["2025-01-01T00:00Z", "2026-01-01T00:00Z"]);
});

test("in the reader's zone a day on which clocks change has its own length, and an hour is an hour", () => {
  const zone = process.env.TZ;
  process.env.TZ = "Europe/Berlin";
  try {
    const { begin, end } = levels.around("day", at("2026-10-25T12:00:00Z"), false);
    assert.strictEqual((end - begin) / 3600, 25);
    assert.deepStrictEqual(shown(levels.around("hour", at("2026-10-25T01:30:00Z"), false)), ["2026-10-25T01:00Z", "2026-10-25T02:00Z"]);
    process.env.TZ = "Asia/Kathmandu";
    assert.deepStrictEqual(shown(levels.around("hour", at("2026-10-25T01:30:00Z"), false)), ["2026-10-25T01:15Z", "2026-10-25T02:15Z"]);
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

test("a station is asked for no more than it keeps, than there was, and than one reply holds", () => {
  const now = at("2026-11-26T14:35:20Z") / 1000;
  const ask = (span, by = 0) => levels.question(span, levels.around(span, now * 1000, true, by), now);
  for (const span of Object.keys(levels.spans)) {
    const { from, to, step } = ask(span);
    assert.ok((to - from) / step <= 5000 && to === now && from % step === 0, span);
  }
  assert.strictEqual(rfc(ask("year").from), "2026-10-26T14:00:00.000Z");
  assert.strictEqual(ask("year", -1), null);
  assert.strictEqual(ask("month", -2), null);
  assert.strictEqual(ask("hour", 1), null);
  assert.strictEqual(rfc(ask("month", -1).from), "2026-10-26T14:30:00.000Z");
});

test("a column has the largest swing of its steps and the RMS of all; the finer counts, and what is missing is missing", () => {
  const one = new levels.Levels();
  assert.ok(one.put({ from: rfc(0), step_s: 60, z: { min: [9.7, 9.8, NaN], max: [9.9, 9.84, NaN], rms: [0.03, 0.04, NaN] } }, "z"));
  assert.ok(!one.put({ from: rfc(0), step_s: 60, z: { min: [NaN], max: [NaN] } }, "z"));
  assert.ok(!one.put({ from: rfc(0), step_s: 60 }, "z"));
  const { swing, rms, at: when, step } = one.over(0, 120);
  assert.ok(Math.abs(swing - 0.1) < 1e-12 && Math.abs(rms - Math.sqrt((0.03 ** 2 + 0.04 ** 2) / 2)) < 1e-12 && when === 0 && step === 60, JSON.stringify({ swing, rms, when }));
  assert.ok(Math.abs(one.over(61, 62).swing - 0.02) < 1e-12);
  assert.strictEqual(one.over(120, 180), null);
  assert.strictEqual(one.over(-60, 0), null);
  one.put({ from: rfc(60), step_s: 2, z: { min: [9.8], max: [10.8], rms: [0.5] } }, "z");
  assert.ok(Math.abs(one.over(60, 62).swing - 0.5) < 1e-12);
  const all = one.range(0, 180, 3);
  assert.ok(Math.abs(all.high - 0.5) < 1e-12 && all.at === 60 && all.step === 60 && all.low === 0.03 && Math.abs(all.rms - Math.sqrt((0.03 ** 2 + 0.5 ** 2) / 2)) < 1e-12, JSON.stringify(all));
  // Days that were kept are a reply each.
  const kept = new levels.Levels();
  for (const [n, size] of [1, 3, 2].entries()) kept.put({ from: rfc(n * 7200), step_s: 7200, x: { min: [-size], max: [size], rms: [size] } }, "x");
  assert.deepStrictEqual([kept.over(0, 21600).swing, kept.over(0, 21600).at, kept.range(0, 21600, 1).high], [3, 7200, 3]);
  assert.strictEqual(new levels.Levels().range(0, 60), null);
});

test("the axis of time has dates and hours where there is room for them", () => {
  const labels = (span, room) => levels.ticks(span, levels.around(span, at("2026-02-11T05:00:00Z"), true), true, room).map(({ label }) => label);
  assert.deepStrictEqual(labels("hour", 7), ["05:00", "05:10", "05:20", "05:30", "05:40", "05:50", "06:00"]);
  assert.deepStrictEqual(labels("day", 5), ["00:00", "06:00", "12:00", "18:00", "00:00"]);
  assert.deepStrictEqual(labels("week", 8), ["02-09", "02-10", "02-11", "02-12", "02-13", "02-14", "02-15"]);
  assert.deepStrictEqual(labels("month", 6), ["02-01", "02-06", "02-11", "02-16", "02-21", "02-26"]);
  assert.deepStrictEqual(labels("year", 4), ["2026-01", "2026-04", "2026-07", "2026-10"]);
});

test("days are kept in steps of two hours, and what was known of them before stays", () => {
  const from = at("2026-11-25T20:00:00Z") / 1000;
  const reply = (values) => wire.past({ from: rfc(from), step_s: 7200, ...Object.fromEntries(["x", "y", "z"].map((axis) => [axis, { min: values.map((value) => value && -value), max: values, rms: values }])) });
  const first = levels.days(reply([1, 2, 3]));
  assert.deepStrictEqual([...first.keys()].map((n) => rfc(n * 86400).slice(0, 10)), ["2026-11-25", "2026-11-26"]);
  const second = levels.days(reply([null, 5, 6]), first);
  const [day, next] = second.values();
  assert.deepStrictEqual(day.x.max.slice(9), [NaN, 1, 5]);
  assert.deepStrictEqual(next.z.min.slice(0, 2), [-6, NaN]);
  assert.strictEqual(day.y.rms.length, 12);
  // It is read as what it is, and nothing of another step is kept.
  assert.deepStrictEqual(wire.past(JSON.parse(JSON.stringify(day))).x, day.x);
  assert.strictEqual(levels.days({ ...reply([1]), step_s: 60 }).size, 0);
  const [head, ...rows] = levels.rows([...second.values()], { begin: from + 7200, end: from + 86400 });
  assert.strictEqual(head.length, 11);
  assert.deepStrictEqual(rows.map(([time, step, , max]) => [time, step, max]), [["2026-11-25T22:00:00.000Z", 7200, 5], ["2026-11-26T00:00:00.000Z", 7200, 6]]);
});
