// The last minutes of a station's levels, in columns.
import assert from "node:assert";
import { test } from "node:test";
import { LevelHistory } from "../src/pure/level-history.js";

test("levels come back as they were put in, the oldest go", () => {
  const history = new LevelHistory();
  assert.strictEqual(history.at(-1), undefined);
  const put = [];
  for (let i = 0; i < 700; i++) {
    const one = { time: 1.7e9 + i, pga: i / 64, triggered: i % 3 === 0, ratios: i % 5 === 0 && i > 20 ? { z: i } : undefined };
    history.push(one, i < 400 ? 190 : 600);
    put.push(one);
    const most = i < 400 ? 190 : 600;
    if (i % 37 === 0) assert.deepStrictEqual([...history], put.slice(-Math.min(most, history.length)));
    // What was thrown away before more was wanted does not come back.
    assert.strictEqual(history.length, Math.min(i + 1, i < 400 ? 190 : Math.min(600, 190 + i - 399)));
  }
  assert.deepStrictEqual(history.at(-1), put.at(-1));
  assert.deepStrictEqual(history.at(0), put.at(-history.length));
  assert.strictEqual(history.at(history.length), undefined);
});

test("ratios come after their level, in a second message; fewer are kept of a station that is closed again", () => {
  const history = new LevelHistory();
  for (let i = 0; i < 10; i++) history.push({ time: i, pga: 1, triggered: false }, 600);
  history.addRatios({ x: 2 });
  assert.deepStrictEqual(history.at(-1).ratios, { x: 2 });
  assert.strictEqual(history.at(-2).ratios, undefined);
  history.push({ time: 10, pga: 1, triggered: false }, 4);
  assert.deepStrictEqual([...history].map(({ time, ratios }) => [time, ratios?.x]), [[7, undefined], [8, undefined], [9, 2], [10, undefined]]);
});

test("a recording that begins anew has nothing of before; a level without a value has none", () => {
  const history = new LevelHistory();
  history.push({ time: 5, pga: 1, ratios: { x: 1 }, triggered: true }, 190);
  history.clear();
  assert.deepStrictEqual([...history], []);
  history.push({ time: 1 }, 190);
  assert.deepStrictEqual([...history], [{ time: 1, pga: NaN, ratios: undefined, triggered: false }]);
});
