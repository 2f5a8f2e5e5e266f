// Fills the live graphs with what the station has kept: samples of the last two minutes, levels of the last hour, and
// samples of an older part when the reader wants them.

import { fleet } from "../fleet.js";
import { link } from "../link.js";
import { pastLevels } from "../pure/past.js";
import { waveform } from "../pure/waveform.js";
import { text } from "../text.js";
import { waveforms } from "../waveforms.js";

const seconds = 120;
const levels = 3500;
const step = 2;
const nanoseconds = (time) => BigInt(Math.round(time * 1e3)) * 1000000n;

// fillGraphs(id) -> { load(from, to), stop() }
// Once for each run of traces; without the right to send commands, or at a station that keeps nothing, nothing happens.
export function fillGraphs(id) {
  let done = -1;
  let ended = false;
  async function fill() {
    const traces = fleet.stations.get(id)?.traces;
    if (!traces?.end || traces.generation === done || link.state !== "online") return;
    const generation = (done = traces.generation);
    const begin = traces.time(0);
    const same = () => !ended && traces.generation === generation && traces.end > 0;
    const time = (value) => waveform.formatTime(nanoseconds(value), 3);
    const near = waveforms.snapshot(id, nanoseconds(begin - seconds), nanoseconds(begin)).then((assembler) => {
      const shape = assembler.waveform({ unitPerCount: fleet.stations.get(id)?.lastEvent?.waveform?.unit_per_count });
      if (shape && same()) pastLevels.samples(traces, shape);
    });
    const far = fleet.knows(id, "history") === false ? Promise.resolve(null)
      : link.history(id, { from: time(begin - levels), to: time(begin), step_s: step, encoding: "cbor" }, { timeoutMs: 20000 }).then(({ past }) => past);
    const [, past] = await Promise.allSettled([near, far]);
    if (past.value && same()) pastLevels.levels(traces, past.value);
  }
  // Puts the samples between two times (seconds) in place of levels; throws what there is to say where that fails.
  async function load(from, to) {
    const traces = fleet.stations.get(id)?.traces;
    const generation = traces?.generation;
    const assembler = await waveforms.snapshot(id, nanoseconds(from), nanoseconds(to));
    const shape = assembler.waveform({ unitPerCount: fleet.stations.get(id)?.lastEvent?.waveform?.unit_per_count });
    if (!shape) throw new Error(text.event.notInRing);
    if (!ended && traces?.generation === generation) pastLevels.samples(traces, shape);
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
