// Messages of events that have not come.
import assert from "node:assert";
import { test } from "node:test";
import "./support/load.js";
import { Gaps } from "../src/pure/gaps.js";

test("what is missing is asked for until it comes, and no more when it has", () => {
  const gaps = new Gaps();
  assert.ok(gaps.note("a", "1", 7, 0));
  assert.deepStrictEqual(gaps.due(0), []);
  assert.ok(gaps.note("a", "1", 11, 1));
  assert.deepStrictEqual(gaps.due(1), [{ id: "a", boot: "1", from: 8, to: 10 }]);
  assert.deepStrictEqual(gaps.due(5.9), []);
  assert.ok(gaps.note("a", "1", 9, 2));
  assert.ok(!gaps.note("a", "1", 9, 2));
  assert.ok(gaps.note("a", "1", 8, 2));
  assert.deepStrictEqual(gaps.due(6), [{ id: "a", boot: "1", from: 10, to: 10 }]);
  assert.ok(gaps.note("a", "1", 10, 7));
  assert.deepStrictEqual(gaps.due(100), []);
});

test("of a new run all messages from the first one on are wanted; of a new station none from before", () => {
  const gaps = new Gaps();
  gaps.note("a", "1", 3, 0);
  gaps.note("a", "2", 2, 0);
  assert.deepStrictEqual(gaps.due(0), [{ id: "a", boot: "2", from: 0, to: 1 }]);
});

test("it gives up, and keeps bounds", () => {
  const gaps = new Gaps();
  gaps.note("a", "1", 0, 0);
  gaps.note("a", "1", 5000, 0);
  assert.deepStrictEqual(gaps.due(0), [{ id: "a", boot: "1", from: 4000, to: 4999 }]);
  assert.strictEqual(gaps.due(10).length, 1);
  assert.strictEqual(gaps.due(40).length, 1);
  assert.strictEqual(gaps.due(1000).length, 0);
  assert.strictEqual(gaps.open.length, 0);
  for (const [boot, seq] of [[5, 1], ["1", -1], ["1", 1.5], ["1", 1e300], [undefined, undefined]]) assert.ok(gaps.note("a", boot, seq, 0));
  assert.strictEqual(gaps.open.length, 0);
});

// Runs of a station, each whole but for what is lost, in any order that keeps each run's own.
function interleaved(seed, lose) {
  let state = seed + 1;
  const below = (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const runs = Array.from({ length: 2 + below(6) }, (_, k) => ({ boot: `run ${k}`, seq: 0, end: 2 + below(40) }));
  const messages = [];
  const lost = [];
  while (runs.length) {
    const run = runs[below(runs.length)];
    if (lose && run.seq > 0 && run.seq < run.end - 1 && below(5) === 0) lost.push(`${run.boot} ${run.seq}`);
    else messages.push([run.boot, run.seq]);
    if (++run.seq === run.end) runs.splice(runs.indexOf(run), 1);
  }
  return { messages, lost };
}

test("runs that come amid each other open no gap, and hide none", () => {
  for (let seed = 0; seed < 500; seed++) {
    for (const lose of [false, true]) {
      const gaps = new Gaps();
      const { messages, lost } = interleaved(seed, lose);
      for (const [boot, seq] of messages) assert.ok(gaps.note("a", boot, seq, 0), `seed ${seed}`);
      const open = gaps.open.flatMap(({ boot, missing }) => [...missing].map((seq) => `${boot} ${seq}`));
      assert.deepStrictEqual(open.sort(), lost.sort(), `seed ${seed}`);
    }
  }
});
