// Fills the live graphs with what the station has kept: samples of the last two minutes, levels of the last hour, and
// samples of an older part when the reader wants them; and what did not come while there was no connection, or while
// another view was open.

import { fleet } from "../fleet.js";
import { link } from "../link.js";
import { pastLevels } from "../pure/past.js";
import { waveform } from "../pure/waveform.js";
import { text } from "../text.js";
import { waveforms } from "../waveforms.js";

// Samples before the first live one, and in a hole as far as it is no longer than this; the rest has levels (seconds).
const before = 120;
const mostInHole = 300;
const levels = 3500;
const mostTries = 2;
const step = 2;
const nanoseconds = (time) => BigInt(Math.round(time * 1e3)) * 1000000n;
const time = (value) => waveform.formatTime(nanoseconds(value), 3);

// fillGraphs(id) -> { load(from, to), stop() }
// Without the right to send commands, or at a station that keeps nothing, nothing happens.
export function fillGraphs(id) {
  let done = -1;
  let ended = false;
  let isBusy = false;

  // Samples of [begin, end) (seconds); throws what there is to say where that fails.
  async function load(begin, end) {
    const traces = fleet.stations.get(id)?.traces;
    const generation = traces?.generation;
    const assembler = await waveforms.snapshot(id, nanoseconds(begin), nanoseconds(end));
    const shape = assembler.waveform({ unitPerCount: fleet.stations.get(id)?.lastEvent?.waveform?.unit_per_count });
    if (!shape) throw new Error(text.event.notInRing);
    if (!ended && traces?.generation === generation) pastLevels.samples(traces, shape);
  }

  async function loadLevels(traces, begin, end) {
    const { generation } = traces;
    const { past } = await link.history(id, { from: time(begin), to: time(end), step_s: step, encoding: "cbor" }, { timeoutMs: 20000 });
    if (past && !ended && traces.generation === generation) pastLevels.levels(traces, past);
  }

  // What is before the first live sample, once for each run of traces; then one hole after the other.
  async function fill() {
    const traces = fleet.stations.get(id)?.traces;
    if (isBusy || !traces?.end || link.state !== "online") return;
    const isNew = traces.generation !== done;
    const hole = isNew ? null : traces.holes.shift();
    if (!isNew && !hole) return;
    isBusy = true;
    done = traces.generation;
    const end = traces.time(hole ? hole.to : 0);
    const begin = hole ? traces.time(hole.from) : end - levels;
    const near = end - begin <= mostInHole ? begin : end - before;
    const far = near > begin && fleet.knows(id, "history") !== false ? loadLevels(traces, begin, end) : null;
    const [samples] = await Promise.allSettled([load(near, end), far]);
    // What has just been measured may still be on its way: it is asked for again, where the station has not refused.
    const isRefused = samples.status === "rejected" && (samples.reason.denied || samples.reason.errors?.length > 0);
    if (hole && samples.status === "rejected" && !isRefused && hole.tries < mostTries) traces.holes.push({ ...hole,
      tries: hole.tries + 1 });
    isBusy = false;
  }
  const stop = fleet.on("station", (which, what) => which === id && what === "trace" && fill());
  return {
    load,
    stop() {
      ended = true;
      stop();
    },
  };
}
