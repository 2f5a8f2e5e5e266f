// Scales of intensity, their steps and colours; and axes of graphs.

import { wire } from "./wire.js";

const numerals = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];
const grades = ["0", "1", "2", "3", "4", "5−", "5+", "6−", "6+", "7"];
// Those of the agent: ShakeMap's palette and the Japan Meteorological Agency's.
const mercalli = ["#ffffff", "#bfccff", "#a0e6ff", "#80ffff", "#7aff93", "#ffff00", "#ffc800", "#ff9100", "#ff0000",
  "#c80000", "#b00000", "#980000"];
const agency = ["#ffffff", "#f2f2ff", "#00aaff", "#0041ff", "#fae696", "#ffe600", "#ff9900", "#ff2800", "#a50021", "#b40068"];
const greys = ["#ffffff", "#eef1f4", "#dde3e8", "#ccd4dc", "#bac5cf", "#a9b6c2", "#98a7b5", "#8798a8", "#75899b", "#647a8e"];

const table = {
  // Looked up by names that stations send.
  __proto__: null,
  mmi: { steps: numerals.map((name, i) => ({ name, color: mercalli[i], from: i + 0.5, to: i + 1.5 })) },
  jma: { steps: graded(agency, 0.5) },
  cwa: { steps: graded(greys, 0) },
};

// Grades 0 to 4 are whole, 5 and 6 in two halves; each begins `half` below its number.
function graded(colors, half) {
  const starts = [0, 1, 2, 3, 4, 5, 5.5, 6, 6.5, 7, 8].map((start) => start - half);
  return grades.map((name, i) => ({ name, color: colors[i], from: starts[i], to: starts[i + 1] }));
}

// The scale of such an object; one with Roman numerals that the page does not know is a kind of Mercalli's.
const scaleOf = (item) => table[item?.scale] ?? (item?.roman ? table.mmi : undefined);

// The step of an object of `intensity` in a message: { index, name, color, steps }; null without a value.
function intensity(item) {
  const scale = scaleOf(item);
  if (!scale || !Number.isFinite(item.value)) return null;
  const { steps } = scale;
  let index = steps.findIndex((step) => item.value < step.to);
  if (index < 0) index = steps.length - 1;
  // The agent's own word counts; the value decides only where it has none.
  const said = item.roman ?? item.grade?.replace("-", "−");
  const named = steps.findIndex((step) => step.name === said);
  if (named >= 0) index = named;
  return { index, name: steps[index].name, color: wire.color(item.color) ?? steps[index].color, steps };
}

// Where a value is on a scale of equally wide steps, 0 to 1.
function position(item) {
  const found = intensity(item);
  if (!found) return 0;
  const step = found.steps[found.index];
  const within = Math.min(Math.max((item.value - step.from) / (step.to - step.from), 0), 1);
  return (found.index + within) / found.steps.length;
}

// Black or white, whichever is readable on the colour (WCAG's relative luminance).
function ink(color) {
  const found = /^#([0-9a-f]{6})$/i.exec(color ?? "");
  if (!found) return "#000000";
  const [r, g, b] = [0, 2, 4].map((at) => {
    const part = parseInt(found[1].slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}

// 1, 2 or 5 times a power of ten, not below the value.
function niceAbove(value) {
  if (!(value > 0) || !Number.isFinite(value)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 2, 5, 10]) if (step * power >= value * (1 - 1e-9)) return step * power;
  return 10 * power;
}

// The same in finer steps, for the ends of an axis.
function endAbove(value) {
  if (!(value > 0) || !Number.isFinite(value)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 1.5, 2, 3, 4, 5, 6, 8]) if (step * power >= value * (1 - 1e-9)) return step * power;
  return 10 * power;
}

// About `count` round numbers from low to high.
function ticks(low, high, count) {
  return high > low && Number.isFinite(high - low) ? multiples(low, high, niceAbove((high - low) / Math.max(1, count))) : [low];
}

function multiples(low, high, step) {
  const first = Math.ceil(low / step - 1e-9);
  const list = [];
  if (!((high - low) / step < 1000)) return list;
  for (let i = first; i * step <= high + step * 1e-9; i++) list.push(Number((i * step).toPrecision(12)));
  return list;
}

// Powers of ten from low to high.
function decades(low, high) {
  const list = [];
  if (!(low > 0) || !Number.isFinite(high)) return list;
  for (let e = Math.ceil(Math.log10(low) - 1e-9); e <= Math.log10(high) + 1e-9; e++) list.push(10 ** e);
  return list;
}

// 1, 2 and 5 times powers of ten from low to high.
function logarithmicTicks(low, high) {
  if (!(low > 0) || !Number.isFinite(high)) return [];
  return decades(low / 10, high).flatMap((power) => [1, 2, 5].map((part) => Number((part * power).toPrecision(3))))
    .filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
}

// Where a value is on a logarithmic axis from `low` (at `from`) to `high` (at `to`); what is beyond lies at its end.
const logarithmic = (low, high, from, to) => (value) =>
  from + ((to - from) * Math.log(Math.min(high, Math.max(low, value)) / low)) / Math.log(high / low);

// Steps of time that a person would choose, seconds.
const timeSteps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];
const timeStep = (span, count) => timeSteps.find((step) => span / step <= count) ?? 3600;

export const scales = { scales: table, scaleOf, intensity, position, ink, niceAbove, endAbove, ticks, multiples, decades, logarithmic,
  logarithmicTicks, timeStep };
