// Welch's spectrum against what is known without it, and against SciPy.
import assert from "node:assert";
import { test } from "node:test";
import "./support/load.js";
import { psd } from "../src/pure/psd.js";

const near = (value, wanted, part) => assert.ok(Math.abs(value / wanted - 1) < part, `${value}, not ${wanted}`);
// A linear congruential generator, so that SciPy was given the same samples.
function noise(count) {
  let state = 12345;
  return Float64Array.from({ length: count }, () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648 - 0.5;
  });
}

test("its integral is the variance of white noise, which is flat", () => {
  const { step, density, segments } = psd.welch(noise(65536), 100);
  assert.strictEqual(segments, 7);
  near(density.reduce((sum, value) => sum + value, 0) * step, 1 / 12, 0.02);
  const mean = (from, to) => density.slice(from, to).reduce((sum, value) => sum + value, 0) / (to - from);
  near(mean(100, 4000), mean(4000, 8000), 0.1);
  near(mean(10, 8190), 1 / 12 / 50, 0.03);
});

test("a sine has its power a²/2 at its frequency, beside an offset", () => {
  const samples = Float64Array.from({ length: 4096 }, (_, i) => 9.81 + 0.02 * Math.sin((2 * Math.PI * 6.25 * i) / 100));
  const { step, density } = psd.welch(samples, 100);
  const power = density.reduce((sum, value) => sum + value, 0) * step;
  near(power, 0.02 ** 2 / 2, 0.001);
  assert.strictEqual(density.indexOf(Math.max(...density)) * step, 6.25);
});

test("the same numbers as scipy.signal.welch(x, 100, 'hann', 256, 128, detrend='constant')", () => {
  const { step, density, segments } = psd.welch(noise(1024), 100);
  assert.deepStrictEqual([step, segments], [100 / 256, 7]);
  SCIPY.forEach(([bin, value]) => near(density[bin], value, 1e-9));
});
const SCIPY = [[0, 0.00045754386336220294], [1, 0.0015303732601035648], [7, 0.002226375313694579], [64, 0.001309278935097895], [127, 0.00144671088339737], [128, 0.0007767025184906973]];

test("peaks: two modes are found, a slope has none; too few samples have no spectrum", () => {
  const drift = noise(16384);
  const samples = drift.map((value, i) => 0.02 * value + 0.05 * Math.sin((2 * Math.PI * 2.5 * i) / 100) + 0.02 * Math.sin((2 * Math.PI * 8.1 * i) / 100));
  const found = psd.peaks(psd.welch(samples, 100), 2).map(({ hz }) => hz);
  assert.ok(Math.abs(found[0] - 2.5) < 0.03 && Math.abs(found[1] - 8.1) < 0.03, String(found));
  assert.deepStrictEqual(psd.peaks({ step: 0.1, density: Float64Array.from({ length: 100 }, (_, i) => 1 / (1 + i)) }), []);
  assert.strictEqual(psd.welch(noise(63), 100), null);
});
