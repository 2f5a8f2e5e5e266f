// Intervals of vibration and modes, as a station tells them, or somebody who is none.
import assert from "node:assert";
import { test } from "node:test";
import "./support/load.js";
import { vibration } from "../src/pure/vibration.js";

const axis = (ppv, frequency) => ({ ppv, frequency_hz: frequency });
const reply = {
  kind: "vibration", n: 2, from: "2026-01-05T10:20:00Z", interval_s: 60, start_s: [0, 120],
  limit: { name: "bs7385-2:dwellings", hz: [4, 15, 40], value: [15, 20, 50] },
  x: axis([1, 2], [10, null]), y: axis([0.5, 0.25], [20, 30]), z: axis([0, 1], [5, 6]),
};
const begin = Date.parse("2026-01-05T10:20:00Z");

test("intervals and the curve of a reply", () => {
  const [first, second] = vibration.intervals(reply);
  assert.deepStrictEqual([first.start, second.start, first.length], [begin, begin + 120000, 60]);
  assert.deepStrictEqual([first.x, second.x, second.y], [{ ppv: 1, frequency: 10 }, { ppv: 2, frequency: NaN }, { ppv: 0.25, frequency: 30 }]);
  assert.deepStrictEqual(vibration.curve(reply), { name: "bs7385-2:dwellings", points: [{ hz: 4, value: 15 }, { hz: 15, value: 20 }, { hz: 40, value: 50 }] });
});

test("half cycles that decide on a limit, of a reply and of a message", () => {
  const columns = { interval: [1, 1, 0, 7, "x", 0], axis: [0, 3, 2, 1, 1, 1], value: [1.5, 9, 0.25, 1, 1, -1], frequency_hz: [3, 4, 8, 1, 1, 5], peak_s: [1, 2, 3, 4, 5, 6] };
  const [first, second] = vibration.intervals({ ...reply, half_cycles: columns });
  assert.deepStrictEqual([first.cycles, second.cycles], [[{ axis: "z", ppv: 0.25, frequency: 8 }], [{ axis: "x", ppv: 1.5, frequency: 3 }]]);
  const one = vibration.interval({ start: reply.from, half_cycles: [{ axis: "y", value: 2, frequency_hz: 6 }, { axis: "vector", value: 3, frequency_hz: 6 }, { axis: "x", value: 2, frequency_hz: null }, null, 5] });
  assert.deepStrictEqual(one.cycles, [{ axis: "y", ppv: 2, frequency: 6 }]);
  for (const bad of [null, 5, {}, { interval: [0], axis: "0" }, { interval: [{}, -1, 0.5], axis: [0, 0, 0], value: [1, 1, 1], frequency_hz: [1, 1, 1] }]) {
    assert.deepStrictEqual(vibration.intervals({ ...reply, half_cycles: bad }).map((each) => each.cycles), [[], []]);
    assert.deepStrictEqual(vibration.interval({ start: reply.from, half_cycles: bad }).cycles, []);
  }
  const many = vibration.interval({ start: reply.from, half_cycles: Array.from({ length: 999 }, () => ({ axis: "x", value: 1, frequency_hz: 1 })) });
  assert.strictEqual(many.cycles.length, 10);
});

test("what is no number is left out, and lists are bounded", () => {
  for (const value of [null, "x", {}, [], { ...reply, n: 1e9, start_s: ["1", {}] }, { ...reply, from: 7 }, { ...reply, start_s: 5 }]) {
    assert.deepStrictEqual(vibration.intervals(value), []);
  }
  const [first] = vibration.intervals({ ...reply, x: axis(["1", -1], [{}, -5]), y: 3, interval_s: "60" });
  assert.deepStrictEqual([first.x.ppv, first.y.ppv, first.x.frequency, first.length], [NaN, NaN, NaN, NaN]);
  const many = Array.from({ length: 9000 }, (_, i) => i);
  assert.strictEqual(vibration.intervals({ ...reply, n: 9000, start_s: many }).length, 2000);
  for (const limit of [undefined, {}, { name: 5, hz: [1, 2], value: [1, 2] }, { name: "a", hz: [1, -2], value: [1, 1] }, { name: "a", hz: 3, value: 4 }]) {
    assert.strictEqual(vibration.curve({ limit }), null);
  }
  assert.strictEqual(vibration.interval({ start: "no" }), null);
  assert.strictEqual(vibration.period({ start: reply.from, modes: 5 }), null);
  assert.deepStrictEqual(vibration.period({ start: reply.from, modes: [{ frequency_hz: -1 }, null, { frequency_hz: 2, x: "1" }] }).modes.map(({ hz, shape }) => [hz, shape]), [[2, [NaN, NaN, NaN]]]);
  assert.deepStrictEqual(vibration.periods({ periods: "x" }), []);
});

test("what comes again counts once, the later one, and what is old goes", () => {
  const list = vibration.intervals(reply);
  const one = vibration.interval({ start: "2026-01-05T10:22:00Z", interval_s: 60, x: axis(9, 12) });
  const joined = vibration.join(list, [one], begin + 1);
  assert.deepStrictEqual(joined.map(({ start, x }) => [start, x.ppv]), [[begin + 120000, 9]]);
});

test("a mode is one line while it is found in one period after the other", () => {
  const at = (hour, ...modes) => vibration.period({ start: new Date(begin + 3600000 * hour).toISOString(), modes: modes.map(([id, hz]) => ({ id, frequency_hz: hz })) });
  const list = [at(0, [1, 2], [2, 3]), at(1, [1, 2.1], [null, 9]), at(2, [2, 3.2], [1, 2.2]), at(7, [1, 2.3]), at(8, [1, 2.4], ["1", 5])];
  const lines = vibration.stretches(list).map((one) => one.map(({ start, hz }) => [(start - begin) / 3600000, hz]));
  assert.deepStrictEqual(lines, [[[0, 2], [1, 2.1], [2, 2.2]], [[0, 3]], [[2, 3.2]], [[7, 2.3], [8, 2.4]]]);
  assert.deepStrictEqual(vibration.stretches([]), []);
});
