import assert from "node:assert";
import { test } from "node:test";
import "./support/load.js";
import { Traces } from "../src/pure/ring.js";
import { Playhead } from "../src/pure/playhead.js";

const begin = Date.parse("2026-01-05T10:20:30.120Z") / 1000;
const time = (seconds) => new Date((begin + seconds) * 1000).toISOString();
// A block of a second at 20 Hz whose raw values are their number since the beginning.
const block = (number, more = {}) => ({
  boot: "a", seq: number, t: time(number), rate_hz: 20, n: 20,
  x: { raw: Array.from({ length: 20 }, (_, i) => number * 20 + i), triggered: Array(20).fill(0) }, ...more,
});

test("blocks one after the other are one trace", () => {
  const traces = new Traces();
  for (let i = 0; i < 3; i++) assert.ok(traces.add(block(i), i));
  assert.strictEqual(traces.end, 60);
  assert.strictEqual(traces.value("x", "raw", 47), 47);
  assert.ok(Math.abs(traces.time(0) - begin) < 1e-3);
  assert.ok(Math.abs(traces.slot(begin + 1.5) - 30) < 1e-2);
  assert.ok(!traces.has("y", "raw"));
});

test("the same block twice is taken once", () => {
  const traces = new Traces();
  traces.add(block(0), 0);
  traces.add(block(1), 1);
  assert.ok(!traces.add(block(1), 1.1));
  assert.ok(!traces.add(block(0), 1.2));
  assert.strictEqual(traces.end, 40);
});

test("a restart and other axes are marked where they begin; what is older than the traces is not", () => {
  const traces = new Traces();
  traces.add(block(0), 0);
  assert.deepStrictEqual(traces.marks, []);
  // (Some seconds are missing: the mark is where samples begin again.)
  traces.add(block(5, { boot: "b", seq: 0 }), 5);
  assert.deepStrictEqual(traces.marks, [{ slot: 100, kind: "restart" }]);
  traces.add(block(6, { boot: "b", seq: 1 }), 6);
  traces.mark("axes");
  assert.deepStrictEqual(traces.marks, [{ slot: 100, kind: "restart" }, { slot: 140, kind: "axes" }]);
  // A restart with another rate: nothing is joined to it, and the trace begins with the mark.
  traces.add(block(9, { boot: "c", seq: 0, rate_hz: 10, n: 10, x: { raw: Array(10).fill(0) } }), 9);
  assert.deepStrictEqual(traces.marks, [{ slot: 0, kind: "restart" }]);
  for (let i = 0; i < 40; i++) traces.mark("axes");
  assert.ok(traces.marks.length <= 16);
});

test("what never came is a hole of its length", () => {
  const traces = new Traces();
  traces.add(block(0), 0);
  traces.add(block(3), 3);
  assert.strictEqual(traces.end, 80);
  assert.ok(Number.isNaN(traces.value("x", "raw", 20)));
  assert.ok(Number.isNaN(traces.value("x", "raw", 59)));
  assert.strictEqual(traces.value("x", "raw", 60), 60);
});

test("a hole is asked for once, filled where nothing came live, and its extremes are those of what is there", () => {
  const traces = new Traces();
  // A rate at which a block, a hole and what comes after lie in one bucket, after the ring has gone round.
  const slow = (i, values) => ({ t: time(i), rate_hz: 1, n: values.length, x: { raw: values } });
  // (The bucket begins with the hole, and holds what is of a lap before behind it.)
  for (let i = 0; i < 9008; i += 4) traces.add(slow(i, [9, 9, 9, 9]), i);
  traces.add(slow(9013, [1]), 9013);
  assert.deepStrictEqual(traces.holes, [{ from: 9008, to: 9013, tries: 0 }]);
  traces.fill("x", "raw", 9006, 9014, (slot) => slot - 9008);
  assert.deepStrictEqual([9007, 9008, 9012, 9013].map((slot) => traces.value("x", "raw", slot)), [9, 0, 4, 1]);
  const out = [0, 0];
  assert.deepStrictEqual([...traces.extremes("x", "raw", 9008, 9014, out)], [0, 4]);
  traces.add(slow(9014, Array(26).fill(2)), 9014);
  assert.deepStrictEqual([...traces.extremes("x", "raw", 9008, 9040, out)], [0, 4]);
  assert.ok(traces.end - traces.first <= traces.capacity);
  // Not more of them than are worth it, the newest.
  for (let i = 1; i < 40; i++) traces.add(slow(9040 + 10 * i, [2, 2]), i);
  assert.ok(traces.holes.length === 16 && traces.holes.at(-1).to === traces.end - 2, JSON.stringify(traces.holes.at(-1)));
});

test("where levels and samples meet there is a seam, on either side of a hole, and none among samples", () => {
  const traces = new Traces();
  for (let i = 0; i < 10; i++) traces.add(block(i), i);
  assert.deepStrictEqual(traces.seams("x", -1000, 200), []);
  traces.addLevels("x", { from: begin - 60, step: 2, min: Array(30).fill(-9), max: Array(30).fill(9) });
  const near = (list, wanted) => assert.deepStrictEqual(list.map((slot) => Math.round(slot)), wanted);
  near(traces.seams("x", -1000, 200), [0]);
  traces.fill("x", "raw", -400, 0, () => 0);
  near(traces.seams("x", -2000, 200), [-400]);
  // A hole of a minute, with levels of its own.
  for (let i = 70; i < 75; i++) traces.add(block(i), i);
  assert.deepStrictEqual(traces.holes, [{ from: 200, to: 1400, tries: 0 }]);
  traces.addLevels("x", { from: begin + 10, step: 2, min: Array(30).fill(-9), max: Array(30).fill(9) });
  near(traces.seams("x", -2000, 1500), [-400, 200, 1400]);
  near(traces.seams("x", 0, 1000), [200]);
  traces.fill("x", "raw", 200, 1400, () => 1);
  near(traces.seams("x", -2000, 1500), [-400]);
});

test("a recording that begins again, or another rate, begins a new trace", () => {
  const traces = new Traces();
  for (let i = 10; i < 13; i++) traces.add(block(i), i);
  const { generation } = traces;
  assert.ok(traces.add(block(13, { t: time(0) }), 13));
  assert.strictEqual(traces.end, 20);
  assert.ok(traces.generation > generation);
  traces.add(block(14, { t: time(1), rate_hz: 50 }), 14);
  assert.strictEqual(traces.rate, 50);
  assert.strictEqual(traces.end, 20);
});

test("hostile blocks change nothing", () => {
  const traces = new Traces();
  traces.add(block(0), 0);
  for (const bad of [{ t: "yesterday" }, { rate_hz: 0 }, { rate_hz: "20" }, { n: -1 }, { n: 1e9 }, { t: null }]) {
    assert.ok(!traces.add({ ...block(1), ...bad }, 1), JSON.stringify(bad));
  }
  traces.add(block(1, { x: { raw: ["a", null, Infinity] } }), 1);
  assert.ok(Number.isNaN(traces.value("x", "raw", 21)));
});

test("extremes by sixteens are those of each sample, also after the ring has gone round", () => {
  const traces = new Traces();
  const all = [];
  for (let i = 0; i < 4000; i++) {
    const raw = Array.from({ length: 20 }, (_, k) => Math.fround(Math.sin(i * 7.3 + k * 1.7) * (1 + (i % 13))));
    all.push(...raw);
    traces.add(block(i, { x: { raw } }), i);
  }
  assert.ok(traces.first > 0);
  const out = [0, 0];
  for (const [from, to] of [[traces.first + 3, traces.first + 900], [79000, 79007], [78990, 79990], [70016, 79984]]) {
    traces.extremes("x", "raw", from, to, out);
    assert.strictEqual(out[0], Math.min(...all.slice(from, to)));
    assert.strictEqual(out[1], Math.max(...all.slice(from, to)));
  }
  traces.extremes("x", "raw", 0, 10, out);
  assert.ok(Number.isNaN(out[0]), "of what is gone");
});

// What a page sees with blocks of a second that come late by up to a third of a second.
function watch({ speed = 1, seconds = 60, late = (i) => ((i * 13) % 33) / 100 }) {
  const playhead = new Playhead();
  const arrivals = Array.from({ length: seconds }, (_, i) => ({ at: i / speed + late(i) / speed, time: 1000 + i, block: 1 }));
  const positions = [];
  let newest = null;
  for (let at = 0.5; at < seconds / speed - 1; at += 1 / 30) {
    while (arrivals.length && arrivals[0].at <= at) {
      newest = arrivals.shift();
      playhead.arrived(newest);
    }
    positions.push({ at, position: playhead.time(at), newest: newest?.time });
  }
  return positions;
}

for (const speed of [1, 4]) {
  test(`the playhead moves steadily behind blocks that come unsteadily, at ${speed} times real time`, () => {
    const settled = watch({ speed }).filter(({ at }) => at > 20 / speed);
    for (let i = 1; i < settled.length; i++) {
      const moved = settled[i].position - settled[i - 1].position;
      assert.ok(moved > 0.5 * speed / 30 && moved < 1.6 * speed / 30, `${moved * 30} of ${speed} at ${settled[i].at}`);
      assert.ok(settled[i].position <= settled[i].newest);
      assert.ok(settled[i].newest - settled[i].position < 3, "not far behind");
    }
  });
}

test("without blocks the playhead stands at the last of them", () => {
  const playhead = new Playhead();
  assert.ok(Number.isNaN(playhead.time(0)));
  for (let i = 0; i < 20; i++) {
    playhead.arrived({ at: i, time: 500 + i, block: 1 });
    playhead.time(i + 0.5);
  }
  for (let at = 20; at < 40; at += 0.03) assert.ok(playhead.time(at) <= 519);
  assert.strictEqual(playhead.time(41), 519);
  // And goes on with the next ones.
  playhead.arrived({ at: 60, time: 560, block: 1 });
  assert.ok(playhead.time(60.01) > 557);
});
