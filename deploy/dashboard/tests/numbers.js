import assert from "node:assert";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import "./support/load.js";
import { units } from "../src/pure/units.js";
import { scales } from "../src/pure/scales.js";
import { fft } from "../src/pure/fft.js";
import { geo } from "../src/pure/geo.js";

test("numbers have three digits and their unit", () => {
  assert.strictEqual(units.text(0.0980665, "mg"), "10.0 mg");
  assert.strictEqual(units.text(-9.80665, "%g"), "−100 % g");
  assert.strictEqual(units.text(1.23456, "m/s²"), "1.23 m/s²");
  assert.strictEqual(units.text(1.23456, "gal"), "123 gal");
  assert.strictEqual(units.text(0, "mg"), "0 mg");
  for (const none of [null, undefined, NaN, Infinity, "3"]) assert.strictEqual(units.text(none, "mg"), "–");
  assert.strictEqual(units.digits(-0.0000001), "−1.00 × 10⁻⁷");
  assert.strictEqual(units.digits(2.35e8), "2.35 × 10⁸");
  assert.strictEqual(units.digits(1.7e20, 2), "1.7 × 10²⁰");
  assert.strictEqual(units.digits(170, 2), "170");
  assert.strictEqual(units.digits(123456), "123456");
  assert.strictEqual(units.tick(0.2), "0.2");
  assert.strictEqual(units.tick(-0), "0");
});

test("times keep their fraction and their zone", () => {
  assert.strictEqual(units.milliseconds("2026-01-05T10:20:30.120000001Z") - Date.parse("2026-01-05T10:20:30Z"), 120);
  assert.strictEqual(units.dateTime("2026-01-05T10:20:30.9Z", true), "2026-01-05 10:20:30");
  assert.ok(Number.isNaN(units.milliseconds("10:20")));
  assert.strictEqual(units.dateTime("never"), "–");
});

test("durations are said as people say them", () => {
  const said = { 0.25: "250 ms", 12.34: "12.3 s", 89: "1 min 29 s", 3600: "1 h", 7260: "2 h 1 min", 180000: "2 d 2 h" };
  for (const [seconds, text] of Object.entries(said)) assert.strictEqual(units.duration(Number(seconds)), text);
});

test("a duration is never 60 of something or a thousand of another, and an age is whole", () => {
  assert.deepStrictEqual([0.9994, 0.9996, 59.94, 59.96, 59.6, 3599.6].map((seconds) => units.duration(seconds)), ["999 ms", "1 s", "59.9 s", "1 min", "59.6 s", "1 h"]);
  assert.deepStrictEqual([-3, 0, 0.3, 0.6, 59.6, 61].map((seconds) => units.wholeDuration(seconds)), ["0 s", "0 s", "0 s", "1 s", "1 min", "1 min 1 s"]);
});

test("what is known to a tenth has no more digits, and a depth ten kilometres", () => {
  assert.deepStrictEqual([0.83, 8.04, 42.4, 123.4, 1234].map((km) => units.about(km, "km")), ["0.8 km", "8 km", "42 km", "120 km", "1200 km"]);
  assert.deepStrictEqual([0, 3, 8, 10, 14.9, 28, 117, NaN, undefined].map(units.depth), ["< 10 km", "< 10 km", "≈ 10 km", "≈ 10 km", "≈ 10 km", "≈ 30 km", "≈ 120 km", "–", "–"]);
});

test("slow traces have a spectrum, of as many samples as it takes", () => {
  assert.deepStrictEqual([0.1, 1, 2, 2.5, 20].map(fft.liveCount), [64, 64, 64, 64, 512]);
  for (const rate of [0.1, 1, 2, 20]) assert.strictEqual(fft.spectrum(new Float64Array(fft.liveCount(rate)), rate).amplitudes.length, fft.liveCount(rate) / 2 + 1);
});

test("steps of the scales are the agent's", () => {
  const name = (scale, value, more) => scales.intensity({ scale, value, ...more })?.name;
  assert.deepStrictEqual([-1, 1.49, 1.5, 7.7, 11.6, 14].map((value) => name("mmi", value)), ["I", "I", "II", "VIII", "XII", "XII"]);
  assert.deepStrictEqual([-2, 0.49, 0.5, 4.49, 4.5, 5, 5.5, 6, 6.5, 9].map((value) => name("jma", value)),
    ["0", "0", "1", "4", "5−", "5+", "6−", "6+", "7", "7"]);
  assert.strictEqual(name("jma", 5.2, { grade: "5+" }), "5+");
  assert.strictEqual(name("mmi", null), undefined);
  assert.strictEqual(scales.intensity({ scale: "other", value: 1 }), null);
  // Another scale with Roman numerals has Mercalli's twelve steps.
  assert.strictEqual(name("mcs", 6.8, { roman: "VII" }), "VII");
  let last = -1;
  for (let value = 0.6; value < 12.4; value += 0.1) {
    const at = scales.position({ scale: "mmi", value });
    assert.ok(at > last && at < 1);
    last = at;
  }
});

test("a sine reads its amplitude at its frequency", () => {
  const rate = 20;
  const samples = Float64Array.from({ length: 512 }, (_, i) => 3 + 0.25 * Math.sin((2 * Math.PI * 2.5 * i) / rate));
  const { step, amplitudes } = fft.spectrum(samples, rate);
  const strongest = amplitudes.indexOf(Math.max(...amplitudes));
  assert.ok(Math.abs(strongest * step - 2.5) < 1e-9);
  assert.ok(Math.abs(amplitudes[strongest] - 0.25) < 1e-6);
  assert.ok(amplitudes[200] < 1e-6 && amplitudes[0] < 1e-2);
});

test("the transform is that of its definition", () => {
  const real = Float64Array.from({ length: 16 }, (_, i) => Math.cos(i * i)), imaginary = new Float64Array(16);
  const want = Array.from({ length: 16 }, (_, k) => real.reduce((sum, x, i) => sum + x * Math.cos((2 * Math.PI * i * k) / 16), 0));
  fft.transform(real, imaginary);
  want.forEach((value, k) => assert.ok(Math.abs(value - real[k]) < 1e-12));
});

test("round numbers for axes", () => {
  assert.deepStrictEqual([0.3, 1, 1.1, 499, 501].map(scales.niceAbove), [0.5, 1, 2, 500, 1000]);
  assert.deepStrictEqual(scales.ticks(-1, 1, 4), [-1, -0.5, 0, 0.5, 1]);
  assert.deepStrictEqual(scales.decades(0.01, 10), [0.01, 0.1, 1, 10]);
  assert.strictEqual(scales.niceAbove(0), 1);
});

test("stations keep their place to each other, over the date line too", () => {
  const points = [{ latitude: -17, longitude: 179 }, { latitude: -18, longitude: -179.5 }, { latitude: -17.5, longitude: 180 }];
  const projection = geo.project(geo.viewOf(points, 600, 300, 40), 600, 300);
  const places = points.map(({ latitude, longitude }) => projection.at(latitude, longitude));
  assert.ok(places[0].x < places[2].x && places[2].x < places[1].x);
  assert.ok(places[0].y < places[1].y);
  for (const { x, y } of places) assert.ok(x >= 39 && x <= 561 && y >= 39 && y <= 261);
  const { latitude, longitude } = projection.back(places[0].x, places[0].y);
  assert.ok(Math.abs(latitude + 17) < 1e-9 && Math.abs(longitude - 179) < 1e-9);
  assert.ok(projection.scale.kilometres > 0 && projection.scale.pixels > 20);
  assert.strictEqual(geo.viewOf([], 600, 300, 40), null);
  assert.ok(!geo.place(91, 0) && !geo.place(null, 3) && geo.place(0, 0));
});

test("stations that would cover each other are one mark, and none is lost", () => {
  const points = Array.from({ length: 1000 }, (_, i) => ({ id: i, x: (i * 37) % 600, y: (i * 53) % 300 }));
  const found = geo.clusters(points, 24);
  assert.strictEqual(found.reduce((sum, one) => sum + one.members.length, 0), 1000);
  assert.ok(found.length < 400, `${found.length}`);
  assert.deepStrictEqual(geo.clusters([{ x: 1, y: 1 }, { x: 100, y: 1 }], 24).map(({ members }) => members.length), [1, 1]);
  assert.strictEqual(geo.clusters(Array.from({ length: 30 }, () => ({ x: 100, y: 100 })), 24).length, 1);
});

test("labels are whole, and cover neither each other nor a station", () => {
  const points = Array.from({ length: 40 }, (_, i) => ({ x: 20 + (i % 8) * 75, y: 20 + Math.floor(i / 8) * 60, radius: 12, width: 80, height: 16 }));
  const boxes = geo.labels(points, 600, 300).map((spot, i) => spot && { left: spot.x, top: spot.y, right: spot.x + points[i].width, bottom: spot.y + 16 });
  const shown = boxes.filter(Boolean);
  assert.ok(shown.length > 15, `${shown.length}`);
  const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
  shown.forEach((a, i) => {
    assert.ok(a.left >= 0 && a.top >= 0 && a.right <= 600 && a.bottom <= 300);
    for (const b of shown.slice(i + 1)) assert.ok(apart(a, b));
    for (const { x, y } of points) assert.ok(apart(a, { left: x - 12, right: x + 12, top: y - 12, bottom: y + 12 }));
  });
});

test("colours of both themes are readable (WCAG AA)", () => {
  const css = fs.readFileSync(new URL("../style/base.css", import.meta.url), "utf8");
  const blocks = css.match(/\{[^{}]*--page:[^}]*\}/g).map((block) =>
    Object.fromEntries([...block.matchAll(/--([a-z-]+): (#[0-9a-f]{6})/g)].map(([, name, value]) => [name, value])));
  assert.strictEqual(blocks.length, 3);
  assert.deepStrictEqual(blocks[1], blocks[2], "the two dark themes are one");
  const light = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  for (const theme of blocks.slice(0, 2)) {
    const pairs = [["ink", "page"], ["ink", "card"], ["quiet", "page"], ["quiet", "card"], ["quiet", "hover"], ["accent", "card"], ["accent", "page"],
      ["accent-ink", "accent"], ["good", "good-soft"], ["warn", "warn-soft"], ["bad", "bad-soft"], ["warn", "card"], ["bad", "card"], ["card", "bad"]];
    for (const [text, ground] of pairs) assert.ok(contrast(theme[text], theme[ground]) >= 4.5, `${text} on ${ground}: ${contrast(theme[text], theme[ground])}`);
    // Curves: WCAG asks 3 of graphics.
    for (const curve of ["raw", "filtered", "rms", "trigger", "axis-x", "axis-y", "axis-z"]) {
      assert.ok(contrast(theme[curve], theme.card) >= 3, `${curve}: ${contrast(theme[curve], theme.card)}`);
    }
  }
});
