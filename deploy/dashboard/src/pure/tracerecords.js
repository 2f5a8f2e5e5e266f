// Live traces that a station sends as miniSEED (trace.encoding: mseed), as the block that it would send as JSON.

import { miniseed } from "./miniseed.js";

const axisOf = { __proto__: null, E: "x", 1: "x", X: "x", N: "y", 2: "y", Y: "y", Z: "z", 3: "z" };
// The instrument code of a channel says which signal it is; trigger flags have no place in miniSEED.
const signalOf = { __proto__: null, N: "raw", X: "filtered", Y: "rms" };
const defaultUnit = 1e-6;

// Bytes of data/trace -> { t, rate_hz, n, x: { raw, filtered, rms }, y, z }, in m/s²; null when nothing is in them.
export function traceFromRecords(bytes) {
  const block = {};
  let first = null;
  let rate = 0;
  const { records } = miniseed.parse(bytes);
  records.sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0));
  for (const { source, start, samples, extra, rate: its } of records) {
    const [, instrument, component] = /_([A-Z0-9])_([A-Z0-9])$/.exec(source) ?? [];
    const [axis, signal] = [axisOf[component], signalOf[instrument]];
    if (!axis || !signal || samples.length === 0) continue;
    if (first === null) [first, rate] = [start, its];
    const said = extra?.seismote?.unit_per_count;
    const unit = typeof said === "number" && said > 0 && Number.isFinite(said) ? said : defaultUnit;
    const values = ((block[axis] ??= {})[signal] ??= []);
    for (const count of samples) values.push(count * unit);
  }
  if (first === null) return null;
  const n = Math.max(...Object.values(block).flatMap((signals) => Object.values(signals).map((values) => values.length)));
  return { ...block, t: new Date(Number(first / 1000000n)).toISOString(), rate_hz: rate, n };
}
