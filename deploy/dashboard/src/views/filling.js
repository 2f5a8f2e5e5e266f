// Fills the live graphs with what the station has kept: samples of the last two minutes, levels of the last hour.
(function (Seismote) {
  "use strict";

  const { fleet, link, waveforms } = Seismote;
  const seconds = 120;
  const levels = 3500;
  const step = 2;

  // Once for each run of traces; without the right to send commands, or at a station that keeps nothing, nothing happens.
  Seismote.filling = function filling(id) {
    let done = -1;
    let ended = false;
    async function fill() {
      const traces = fleet.stations.get(id)?.traces;
      if (!traces?.end || traces.generation === done || link.state !== "online") return;
      const generation = (done = traces.generation);
      const begin = traces.time(0);
      const same = () => !ended && traces.generation === generation && traces.end > 0;
      const ns = (time) => BigInt(Math.round(time * 1e3)) * 1000000n;
      const time = (value) => Seismote.waveform.formatTime(ns(value), 3);
      let until = 0;
      const near = waveforms.snapshot(id, ns(begin - seconds), ns(begin)).then((assembler) => {
        const shape = assembler.waveform({ unitPerCount: fleet.stations.get(id)?.lastEvent?.waveform?.unit_per_count });
        if (shape && same()) until = Seismote.past.samples(traces, shape);
      });
      const far = fleet.knows(id, "history") === false ? Promise.resolve(null)
        : link.history(id, { from: time(begin - levels), to: time(begin), step_s: step, encoding: "cbor" }, { timeoutMs: 20000 }).then(({ past }) => past);
      const [, past] = await Promise.allSettled([near, far]);
      if (past.value && same()) Seismote.past.levels(traces, past.value, until);
    }
    const stop = fleet.on("station", (which, what) => which === id && what === "trace" && fill());
    return () => {
      ended = true;
      stop();
    };
  };
})(globalThis.Seismote ??= {});
