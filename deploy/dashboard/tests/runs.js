// Several agents under one name.
import assert from "node:assert";
import { test } from "node:test";
import "./support/load.js";
import { Runs } from "../src/pure/runs.js";

test("two agents under one name are told by their turns, one of them is shown until it is silent", () => {
  const runs = new Runs();
  const shown = [];
  for (let at = 0; at < 20000; at += 500) if (runs.note(at % 1000 ? "b" : "a", at)) shown.push(at % 1000 ? "b" : "a");
  assert.ok(runs.isDouble(20000));
  assert.deepStrictEqual([...new Set(shown.slice(6))].length, 1, shown.join(""));
  assert.strictEqual(runs.list(20000)[0], shown.at(-1));
  assert.deepStrictEqual(runs.list(20000).sort(), ["a", "b"]);
  // The shown one ends: the other is shown, and is alone after a while.
  const other = shown.at(-1) === "a" ? "b" : "a";
  assert.ok(!runs.note(other, 21000));
  for (let at = 22000; at < 36000; at += 1000) runs.note(other, at);
  assert.ok(runs.note(other, 36000));
  assert.ok(!runs.isDouble(36000));
});

test("an agent that begins anew is one, whatever its former run has left; so is one that says no run", () => {
  const runs = new Runs();
  for (let at = 0; at < 10000; at += 1000) assert.ok(runs.note("a", at));
  assert.ok(runs.note("b", 12000) && runs.note("a", 12010) && runs.note("b", 12020) && runs.note("a", 12030));
  for (let at = 13000; at < 60000; at += 1000) assert.ok(runs.note("b", at) && runs.note(undefined, at));
  assert.ok(!runs.isDouble(13000));
  // Restarts for ever are no second agent.
  for (let i = 0; i < 100; i++) assert.ok(runs.note(`run ${i}`, 60000 + 2000 * i));
  assert.ok(runs.list(260000).length <= 4);
});
