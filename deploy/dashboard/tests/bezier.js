import assert from "node:assert";
import { test } from "node:test";
import "./support/load.js";
import { bezier } from "../src/pure/bezier.js";
import { motion } from "../src/pure/motion.js";

const near = (a, b, tolerance = 1e-12) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`);
const spiral = Array.from({ length: 41 }, (_, i) => ({ x: i * Math.cos(i / 3), y: i * Math.sin(i / 3) }));

test("goes through its points at their times", () => {
  const track = bezier.path(spiral, { start: 5, interval: 0.25 });
  assert.strictEqual(track.pieces.length, 40);
  assert.strictEqual(track.duration, 10);
  spiral.forEach((point, i) => {
    const at = bezier.at(track, 5 + i * 0.25);
    near(at.x, point.x);
    near(at.y, point.y);
  });
});

test("is smooth: tangents agree where pieces meet", () => {
  const track = bezier.path(spiral, { interval: 0.25 });
  for (let i = 1; i < 40; i++) {
    const before = bezier.at(track, i * 0.25 - 1e-9), after = bezier.at(track, i * 0.25 + 1e-9);
    near(before.vx, after.vx, 1e-5);
    near(before.vy, after.vy, 1e-5);
  }
});

test("points along the motion", () => {
  const line = bezier.path([{ x: 0, y: 0 }, { x: 1, y: 1 }, { x: 2, y: 2 }, { x: 3, y: 3 }]);
  near(bezier.at(line, 1.3).angle, Math.PI / 4);
  near(bezier.at(line, 1.5).vx, 1);
  const circle = Array.from({ length: 361 }, (_, i) => ({ x: Math.cos(i * Math.PI / 180), y: Math.sin(i * Math.PI / 180) }));
  const round = bezier.path(circle);
  near(bezier.at(round, 90.4).angle, -Math.PI + 0.4 * Math.PI / 180, 1e-6);
  near(Math.hypot(bezier.at(round, 33.7).x, bezier.at(round, 33.7).y), 1, 1e-8);
  assert.strictEqual(bezier.at(bezier.path([{ x: 1, y: 1 }, { x: 1, y: 1 }]), 0.5).angle, null);
});

test("control points are a sixth of the way between the neighbours", () => {
  const { pieces } = bezier.path([{ x: 0, y: 0 }, { x: 6, y: 0 }, { x: 6, y: 6 }, { x: 0, y: 6 }]);
  assert.deepStrictEqual(pieces[1].control1, { x: 7, y: 1 });
  assert.deepStrictEqual(pieces[1].control2, { x: 7, y: 5 });
});

test("cuts a path at any two times", () => {
  const track = bezier.path(spiral, { interval: 0.25 });
  for (const [from, to] of [[0, 10], [1.1, 1.2], [0.3, 7.77], [2.5, 2.75], [9.9, 12]]) {
    const pieces = bezier.between(track, from, to);
    const first = bezier.at(track, from), last = bezier.at(track, to);
    near(pieces[0].from.x, first.x, 1e-9);
    near(pieces.at(-1).to.y, last.y, 1e-9);
  }
  assert.deepStrictEqual(bezier.between(track, 3, 3), []);
  assert.strictEqual(bezier.at(bezier.path([]), 1), null);
});

test("takes no more knots than are asked for", () => {
  const x = Array.from({ length: 1000 }, (_, i) => i);
  const { points, interval } = bezier.knots(x, x, 100, 20);
  assert.strictEqual(points.length, 200);
  near(interval, 0.05);
  assert.strictEqual(bezier.knots(x, x, 10, 20).points.length, 1000);
});

test("motion: a sine is integrated, an offset is not", () => {
  const rate = 200, hz = 2, n = 60 * rate;
  const samples = Float64Array.from({ length: n }, (_, i) => 9.81 + 0.5 * Math.sin((2 * Math.PI * hz * i) / rate));
  const { acceleration, velocity, displacement } = motion.motion(samples, rate);
  const peak = (list) => list.slice(n - 4 * rate).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const w = 2 * Math.PI * hz;
  near(peak(acceleration), 0.5, 0.005);
  near(peak(velocity), 0.5 / w, 0.01 * 0.5 / w);
  near(peak(displacement), 0.5 / w / w, 0.02 * 0.5 / w / w);
});

test("motion: a gap is bridged and an empty record is none", () => {
  const holed = Float64Array.from([1, NaN, NaN, 2]);
  assert.deepStrictEqual([...motion.withoutGaps(holed)], [1, 1, 1, 2]);
  assert.strictEqual(motion.motion(new Float64Array(0), 100).displacement.length, 0);
});
