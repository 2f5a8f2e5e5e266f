// A waveform as a station sends it: miniSEED messages in any order, some of them twice, put together to three axes.

import { miniseed } from "./miniseed.js";
import { sha256 } from "./sha256.js";

const axisOf = { __proto__: null, E: "x", 1: "x", X: "x", N: "y", 2: "y", Y: "y", Z: "z", 3: "z" };
const axes = ["x", "y", "z"];
// Where neither the records nor the event's end say what a count is.
const defaultUnit = 1e-6;

// A name for what is in a message, to know one that comes again.
function fingerprint(bytes) {
  return `${bytes.length}:${miniseed.crc32c(bytes)}`;
}

// Takes messages in as they come.
class Assembler {
  constructor() {
    this.parts = [];
    this.seen = new Set();
    this.records = [];
    this.errors = [];
    this.bytes = 0;
  }

  // One message (Uint8Array); false when it was there already.
  add(bytes) {
    const name = fingerprint(bytes);
    if (this.seen.has(name)) return false;
    this.seen.add(name);
    const { records, errors } = miniseed.parse(bytes);
    this.parts.push({ bytes, start: records.length ? records[0].start : 0n, order: this.parts.length });
    this.records.push(...records);
    this.errors.push(...errors);
    this.bytes += bytes.length;
    return true;
  }

  // What both have, as one.
  with(other) {
    const all = new Assembler();
    for (const { bytes } of [...this.parts, ...other.parts]) all.add(bytes);
    return all;
  }

  // All messages joined: a valid file. In the order of time, or as they came.
  file({ asTheyCame = false } = {}) {
    const parts = [...this.parts];
    if (!asTheyCame) parts.sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : a.order - b.order));
    const result = new Uint8Array(this.bytes);
    let at = 0;
    for (const { bytes } of parts) {
      result.set(bytes, at);
      at += bytes.length;
    }
    return result;
  }

  // Whether the station's check sum is of these messages. It is of them in the order in which they were sent, which a
  // broker keeps, unless it sends one of them again.
  isOf(checksum) {
    return sha256(this.file({ asTheyCame: true })) === checksum || sha256(this.file()) === checksum;
  }

  waveform(options) {
    return assemble(this.records, options);
  }
}

// m/s² of a count: what the records say, else what the event's end says, else the agent's default.
function unitOf(records, said) {
  for (const { extra } of records) {
    const unit = extra?.seismote?.unit_per_count;
    if (typeof unit === "number" && unit > 0 && Number.isFinite(unit)) return { unit, source: "record" };
  }
  if (typeof said === "number" && said > 0 && Number.isFinite(said)) return { unit: said, source: "event" };
  return { unit: defaultUnit, source: "default" };
}

// Three axes of one length on one time scale, from records of any order.
//   { start (ns, BigInt), rate, count, unit, unitSource, x, y, z (Float64Array in m/s², NaN where nothing is), gaps:
//   [{ from, to }] (samples), sources }
// null when there is no record with a rate. A source that is none of three axes is left out.
/** @param {any[]} records @param {{ unitPerCount?: number }} options */
function assemble(records, { unitPerCount } = {}) {
  const used = records.filter((record) => record.rate >= 1e-3 && record.rate <= 1e5 && record.count > 0 && axisOf[record.source.at(-1)]);
  if (used.length === 0) return null;
  const rate = used[0].rate;
  let start = used[0].start;
  let end = start;
  for (const record of used) {
    if (record.start < start) start = record.start;
    const last = record.start + BigInt(Math.round(((record.count - 1) / record.rate) * 1e9));
    if (last > end) end = last;
  }
  const count = Math.round((Number(end - start) / 1e9) * rate) + 1;
  // An hour at 4000 Hz is more than a page has to show.
  if (count > 16e6) return null;
  const { unit, source: unitSource } = unitOf(used, unitPerCount);
  /** @type {any} */
  const result = { start, rate, count, unit, unitSource, sources: {}, gaps: [] };
  for (const axis of axes) result[axis] = new Float64Array(count).fill(NaN);
  for (const record of used) {
    const axis = axisOf[record.source.at(-1)];
    result.sources[axis] = record.source;
    const at = Math.round((Number(record.start - start) / 1e9) * rate);
    const { samples } = record;
    const scale = samples instanceof Int32Array ? unit : 1;
    const target = result[axis];
    for (let i = 0; i < samples.length && at + i < count; i++) target[at + i] = samples[i] * scale;
  }
  result.gaps = gapsOf(result);
  return result;
}

function gapsOf({ x, y, z, count }) {
  const gaps = [];
  let from = -1;
  for (let i = 0; i <= count; i++) {
    const missing = i < count && (Number.isNaN(x[i]) || Number.isNaN(y[i]) || Number.isNaN(z[i]));
    if (missing && from < 0) from = i;
    if (!missing && from >= 0) {
      gaps.push({ from, to: i });
      from = -1;
    }
  }
  return gaps;
}

// Nanoseconds of UTC (BigInt) of a time as the agent writes it; null when it is none.
function parseTime(text) {
  const match = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?Z$/.exec(text ?? "");
  if (!match) return null;
  const ms = Date.parse(match[1] + "Z");
  return Number.isNaN(ms) ? null : BigInt(ms) * 1000000n + BigInt((match[2] ?? "").padEnd(9, "0"));
}

// The other way, with as many digits after the point (0 to 9), cut and not rounded.
function formatTime(ns, digits = 9) {
  const whole = ns / 1000000000n - (ns % 1000000000n < 0n ? 1n : 0n);
  const fraction = (ns - whole * 1000000000n).toString().padStart(9, "0").slice(0, digits);
  const text = new Date(Number(whole) * 1000).toISOString().slice(0, 19);
  return `${text}${digits > 0 ? "." + fraction : ""}Z`;
}

export const waveform = { Assembler, assemble, parseTime, formatTime, axes };
