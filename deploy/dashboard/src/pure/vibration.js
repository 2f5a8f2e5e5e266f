// Intervals of vibration and natural modes as a station tells them: replies to `history`, and messages of the moment.
// Whoever may publish below a station decides what is in them: what is no number is left out, lists are bounded.

import { units } from "./units.js";
import { wire } from "./wire.js";

const axes = ["x", "y", "z"];
const most = 2000;
const mostPeriods = 800;
const mostModes = 12;
const finite = (value) => (Number.isFinite(value) ? value : NaN);
const column = (of, name, count) => (Array.isArray(of?.[name]) ? of[name].slice(0, count) : []);

// Peak velocities of an axis without what is no positive number.
const axis = (ppv, frequency) => ({ ppv: ppv >= 0 ? finite(ppv) : NaN, frequency: frequency > 0 ? finite(frequency) : NaN });

const mostCycles = 10;

// Half cycles that decide on limits: [{ axis, ppv, frequency }], of a message or as columns of a reply. (Those of the vector sum have no
// place in a diagram of axes.)
function cycle(name, ppv, frequency) {
  return axes.includes(name) && ppv > 0 && frequency > 0 ? [{ axis: name, ...axis(ppv, frequency) }] : [];
}
const cyclesOf = (message) => (Array.isArray(message?.half_cycles) ? message.half_cycles.slice(0, mostCycles)
  .flatMap((one) => cycle(one?.axis, one?.value, one?.frequency_hz)) : []);
function cyclesOfReply(result, count) {
  const all = Array.from({ length: count }, () => []);
  const columns = ["interval", "axis", "value", "frequency_hz"];
  const [numbers, names, values, hertz] = columns.map((name) => column(result?.half_cycles, name, mostCycles * most));
  numbers.forEach((number, k) => {
    if (all[number]?.length < mostCycles) all[number].push(...cycle(axes[names[k]], values[k], hertz[k]));
  });
  return all;
}

// The intervals of a reply: [{ start (ms), length (s), cycles, x, y, z: { ppv, frequency } }], by time.
function intervals(result) {
  const from = units.milliseconds(result?.from);
  const count = Math.min(most, Number.isInteger(result?.n) ? result.n : 0);
  if (!Number.isFinite(from)) return [];
  const starts = column(result, "start_s", count);
  const of = axes.map((name) => [column(result[name], "ppv", count), column(result[name], "frequency_hz", count)]);
  const cycles = cyclesOfReply(result, starts.length);
  const found = starts.map((start, i) =>
    ({ start: from + 1000 * finite(start), length: finite(result.interval_s), cycles: cycles[i],
    ...Object.fromEntries(axes.map((name, k) => [name, axis(of[k][0][i], of[k][1][i])])) }));
  return found.filter((one) => Number.isFinite(one.start)).sort((a, b) => a.start - b.start);
}

// The interval of a message `data/vibration`; null: it is none.
function interval(message) {
  const start = units.milliseconds(message?.start);
  if (!Number.isFinite(start)) return null;
  return { start, length: finite(message.interval_s), cycles: cyclesOf(message),
    ...Object.fromEntries(axes.map((name) => [name, axis(message[name]?.ppv, message[name]?.frequency_hz)])) };
}

// The limit's curve of a reply: { name, points: [{ hz, value }] }; null: there is none.
function curve(result) {
  const hz = column(result?.limit, "hz", 200);
  const value = column(result?.limit, "value", 200);
  const points = hz.map((one, i) => ({ hz: one, value: value[i] })).filter((one) => one.hz > 0 && one.value > 0 && Number.isFinite(one.hz)
    && Number.isFinite(one.value));
  return points.length < 2 || wire.text(result.limit.name) === undefined ? null
    : { name: wire.text(result.limit.name).slice(0, 80), points };
}

// The periods of a reply, or of a message `data/modes`: [{ start (ms), temperature, modes: [{ hz, damping, shape, prominence }] }].
function periods(result) {
  const list = Array.isArray(result?.periods) ? result.periods.slice(0, mostPeriods) : [];
  return list.map(period).filter(Boolean).sort((a, b) => a.start - b.start);
}
function period(message) {
  const start = units.milliseconds(message?.start);
  if (!Number.isFinite(start) || !Array.isArray(message.modes)) return null;
  const modes = message.modes.slice(0, mostModes).map((one) =>
    ({ id: Number.isInteger(one?.id) ? one.id : null, hz: finite(one?.frequency_hz), damping: finite(one?.damping),
    prominence: finite(one?.prominence_db), shape: axes.map((name) => finite(one?.[name])) }));
  return { start, temperature: finite(message.temperature_c), modes: modes.filter((one) => one.hz > 0) };
}

// Modes that a station knows again from period to period: [[{ start, hz }]], each while it was found in one period after the
// other. Periods are those whose begins are not much more apart than is usual.
function stretches(list) {
  const apart = list.slice(1).map((one, i) => one.start - list[i].start).sort((a, b) => a - b);
  const most = 1.5 * (apart[Math.floor(apart.length / 2)] ?? 0);
  const all = [];
  let open = new Map();
  list.forEach((one, i) => {
    const before = i > 0 && one.start - list[i - 1].start <= most ? open : new Map();
    open = new Map();
    for (const { id, hz } of one.modes) {
      if (id === null) continue;
      const stretch = before.get(id) ?? [];
      if (stretch.length === 0) all.push(stretch);
      stretch.push({ start: one.start, hz });
      open.set(id, stretch);
    }
  });
  return all;
}

// Adds what is new to a list by its time; of two of the same time the later one counts.
function join(list, more, oldest) {
  const all = new Map(list.map((one) => [one.start, one]));
  for (const one of more) all.set(one.start, one);
  return [...all.values()].filter((one) => one.start >= oldest).sort((a, b) => a.start - b.start);
}

export const vibration = { axes, intervals, interval, curve, periods, period, stretches, join };
