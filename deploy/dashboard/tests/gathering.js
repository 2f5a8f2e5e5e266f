import assert from "node:assert/strict";
import test from "node:test";
import { Gathering } from "../src/pure/gathering.js";

const bytes = (...values) => Uint8Array.from(values);

test("The first after a rest is handed on at once, the next ones together and in their order", () => {
  const gathering = new Gathering(25);
  assert.deepEqual(gathering.take(bytes(1), 1000), bytes(1));
  assert.ok(Number.isNaN(gathering.wait(1000)));
  assert.equal(gathering.take(bytes(2, 3), 1001), null);
  assert.equal(gathering.take(bytes(4), 1010), null);
  assert.equal(gathering.wait(1010), 15);
  assert.equal(gathering.wait(1030), 0);
  assert.deepEqual(gathering.release(1030), bytes(2, 3, 4));
  assert.equal(gathering.release(1030), null);
  // Not yet a rest: 25 ms from what was handed on last.
  assert.equal(gathering.take(bytes(5), 1054), null);
  assert.equal(gathering.wait(1054), 1);
  assert.deepEqual(gathering.release(1055), bytes(5));
  assert.deepEqual(gathering.take(bytes(6), 1080), bytes(6));
});

test("What waits is not overtaken, however late it is released", () => {
  const gathering = new Gathering(25);
  gathering.take(bytes(1), 0);
  gathering.take(bytes(2), 1);
  assert.equal(gathering.take(bytes(3), 500), null);
  assert.deepEqual(gathering.release(500), bytes(2, 3));
});

test("Nothing is lost or changed whatever the cuts and pauses", () => {
  const gathering = new Gathering(25);
  const [sent, got] = [[], []];
  let [now, seed] = [0, 7];
  const next = (below) => (seed = (seed * 48271) % 2147483647) % below;
  for (let i = 0; i < 5000; i++) {
    const part = Uint8Array.from({ length: next(5) }, () => next(256));
    sent.push(...part);
    now += next(20);
    got.push(...(gathering.take(part, now) ?? []));
    if (gathering.wait(now) === 0 || next(9) === 0) got.push(...(gathering.release(now) ?? []));
  }
  got.push(...(gathering.release(now) ?? []));
  assert.deepEqual(got, sent);
});
