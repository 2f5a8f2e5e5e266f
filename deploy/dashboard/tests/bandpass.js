// The viewer's band-pass.
import assert from "node:assert";
import { test } from "node:test";
import "./support/load.js";
import { bandpass } from "../src/pure/bandpass.js";

const rate = 100;
const sine = (hz, count = 4000, offset = 9.81) => Float64Array.from({ length: count }, (_, i) => offset + Math.sin((2 * Math.PI * hz * i) / rate));
const reach = (values) => Math.max(...values.slice(-1000).map(Math.abs));

test("a sine passes within the band, at a corner by 3 dB, and by 12 dB an octave less beyond; gravity does not", () => {
  const gain = (hz) => reach(bandpass.filter(sine(hz), rate, [1, 4]));
  assert.ok(Math.abs(gain(2) - 0.94) < 0.03, `${gain(2)}`);
  for (const [hz, wanted] of [[1, Math.SQRT1_2], [4, Math.SQRT1_2], [0.25, 1 / 16], [16, 1 / 16]]) assert.ok(Math.abs(gain(hz) / wanted - 1) < 0.2, `${hz} Hz: ${gain(hz)}`);
  assert.ok(reach(bandpass.filter(new Float64Array(4000).fill(9.81), rate, [0.1, 1])) === 0);
});

test("it is causal, whatever is cut off behind, and begins anew behind a gap", () => {
  const all = sine(3);
  const whole = bandpass.filter(all, rate, [1, 4]);
  assert.deepStrictEqual(bandpass.filter(all.slice(0, 1234), rate, [1, 4]), whole.slice(0, 1234));
  const gap = Float64Array.from(all);
  gap[2000] = NaN;
  const found = bandpass.filter(gap, rate, [1, 4]);
  assert.ok(Number.isNaN(found[2000]));
  assert.deepStrictEqual(found.slice(0, 2000), whole.slice(0, 2000));
  assert.deepStrictEqual(found.slice(2001), bandpass.filter(all.slice(2001), rate, [1, 4]));
});

test("no band is offered that the rate has not", () => {
  assert.deepStrictEqual([1, 20, 100, 0].map((one) => bandpass.bandsOf(one).length), [0, 4, 6, 0]);
});
