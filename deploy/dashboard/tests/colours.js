// The signals of the graphs: told apart by everybody, and seen on their card.
import assert from "node:assert";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { top } from "./support/load.js";

const style = fs.readFileSync(path.join(top, "style", "base.css"), "utf8");
const themes = style.split("--card:").slice(1).map((part) => {
  const found = (name) => new RegExp(`--${name}: (#[0-9a-f]{6})`).exec(part)?.[1];
  return { card: /#[0-9a-f]{6}/.exec(part)[0], raw: found("raw"), filtered: found("filtered"), rms: found("rms"), trigger: found("trigger") };
}).filter(({ raw }) => raw);

// Machado, Oliveira and Fernandes (2009), severity 1, of linear colours.
const eyes = {
  all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
};
const linear = (color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
const luminance = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;

// CIE 1976 L*a*b* as such an eye sees it.
function seen(color, eye) {
  const [r, g, b] = eye.map((row) => Math.min(1, Math.max(0, row.reduce((sum, part, i) => sum + part * linear(color)[i], 0))));
  const f = (t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const [x, y, z] = [(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047, luminance([r, g, b]), (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883].map(f);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
const distance = (a, b, eye) => Math.hypot(...seen(a, eye).map((value, i) => value - seen(b, eye)[i]));

test("each theme has its signals", () => assert.strictEqual(themes.length, 3));

for (const { card, ...signals } of themes) {
  for (const [eye, matrix] of Object.entries(eyes)) {
    test(`raw and filtered are told apart on ${card}: ${eye}`, () => {
      for (const [a, b] of [["raw", "filtered"], ["raw", "rms"], ["filtered", "rms"]]) {
        const far = distance(signals[a], signals[b], matrix);
        assert.ok(far >= 30, `${a} and ${b}: ${far.toFixed(0)}`);
      }
    });
  }
  test(`signals are seen on ${card}`, () => {
    for (const [name, color] of Object.entries(signals)) {
      const [a, b] = [luminance(linear(color)), luminance(linear(card))];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      assert.ok(ratio >= 3, `${name}: ${ratio.toFixed(1)}`);
    }
  });
}
