// A station, live.

import { animate } from "../canvas.js";
import { h, setText } from "../dom.js";
import { fleet } from "../fleet.js";
import { link } from "../link.js";
import { Seismote } from "../page.js";
import { format, preferences } from "../preferences.js";
import { Playhead } from "../pure/playhead.js";
import { units } from "../pure/units.js";
import { panelsOf } from "../registry.js";
import { defineView } from "../router.js";
import { text } from "../text.js";
import { intensityDial } from "./dial.js";
import { eventList } from "./eventlist.js";
import { fillGraphs } from "./filling.js";
import { stationHead } from "./frame.js";
import { LiveGraphs } from "./graphs.js";
import { alertsCard } from "./health.js";
import { extremesCard, measuresCard } from "./numbers.js";
import { ratioCard } from "./ratio.js";
import { seismoscopeCard } from "./seismoscope.js";
import { spectrogramCard } from "./spectrogram.js";
import { spectrumCard } from "./spectrum.js";

const words = text.station;

// Of which time an intensity is, s: JMA's has a window of its own, which the settings say.
function windowOf({ summary, settings }, { scale }) {
  return scale === "jma" ? settings?.intensity?.jma_window_s ?? 60 : summary?.window_s;
}

// The dials of the scales that the station is set to.
function dials(id, station) {
  const box = h("div", { class: "dials" });
  const made = new Map();
  function show() {
    const known = station();
    const { summary } = known ?? {};
    for (const item of summary?.intensity ?? []) {
      let dial = made.get(item.relation);
      if (!dial) {
        dial = intensityDial(item);
        made.set(item.relation, dial);
        box.append(dial.element);
      }
      dial.show(item, fleet.highest(known, item), windowOf(known, item));
    }
    // Those of scales that the station is not set to any more.
    for (const [relation, dial] of made) {
      if (!summary?.intensity || summary.intensity.some((item) => item.relation === relation)) continue;
      dial.element.remove();
      made.delete(relation);
    }
  }
  show();
  const stops = [fleet.on("station", (which, what) => which === id && (what === "summary" || what === "event") && show()),
    preferences.on(show)];
  return { element: h("section", { class: "card intensity-card" }, h("h2", {}, words.intensity), box,
    h("p", { class: "quiet small-note" }, text.intensity.highestHelp)), stop: () => stops.forEach((stop) => stop()) };
}

// Why there are no traces, when there are none, and why what is shown is old; `silent`: for how long none came, in seconds.
function reason(id, silent) {
  const known = fleet.stations.get(id);
  const { trace } = known?.settings ?? {};
  if (link.state !== "online" || !known || fleet.isUnknown(id)) return "";
  const quiet = fleet.silence(known);
  if (known.online === false) return words.offline(format.ago(known.heard));
  if (quiet > 0) return words.quiet(units.duration(Math.round(quiet / 1000)));
  if (!(silent > 4 + 2 * (Number.isFinite(trace?.block_s) ? trace.block_s : 1))) return "";
  return trace?.enabled === false ? words.noTraces : trace?.only_in_events ? words.onlyEvents : words.silent;
}

defineView("#/station/:id", {
  title: ({ id }) => id,
  mount(main, { id }) {
    main.className = "station";
    const station = () => fleet.stations.get(id);
    const traces = () => station()?.traces;
    const playhead = new Playhead();
    let generation = -1;

    const head = stationHead(id, "live");
    const filling = fillGraphs(id);
    const graphs = new LiveGraphs(traces, filling.load);
    const scope = seismoscopeCard(traces, station);
    const extremes = extremesCard(id, traces, station);
    const parts = {
      alerts: alertsCard(id, station),
      dials: dials(id, station),
      measures: measuresCard(id, station),
      spectrum: spectrumCard(traces, station),
      ratio: ratioCard(station),
      events: eventList(id),
    };
    const panels = panelsOf("live").map(({ make }) => make(id, { station, traces }));
    const spectrogram = spectrogramCard(traces, () => graphs.state.span);
    const note = h("p", { class: "note", role: "status", hidden: true });
    main.append(head.element, parts.alerts.element,
      h("div", { class: "live" },
        h("div", { class: "wide" }, note, graphs.element, spectrogram.element),
        h("div", { class: "side" }, parts.dials.element, scope.element)),
      parts.measures.element,
      h("div", { class: "three" }, extremes.element, parts.spectrum.element, parts.ratio.element),
      ...panels.map((panel) => panel.element), parts.events.element);

    const opened = performance.now();
    function explain() {
      const why = reason(id, performance.now() / 1000 - (traces()?.arrival?.at ?? opened / 1000));
      note.hidden = why === "";
      setText(note, why);
    }
    explain();
    const explaining = setInterval(explain, 1000);

    const stopTraces = fleet.watchTraces(id);
    const stopFleet = fleet.on("station", (which, what) => {
      if (which !== id || what !== "trace") return;
      const source = traces();
      if (source.generation !== generation) {
        generation = source.generation;
        playhead.reset();
      }
      playhead.arrived(source.arrival);
    });
    let drawn = 0;
    const stopDrawing = animate((now) => {
      const shown = playhead.time(now);
      extremes.draw(now, shown);
      // Long spans hardly move, and a paused picture not at all: but the reader may move it.
      if (now - drawn < 1 / graphs.rate() - 0.004) return;
      drawn = now;
      graphs.draw(now, shown);
      scope.draw(now, graphs.state.paused ? graphs.state.edge : shown);
      spectrogram.draw(graphs.state.edge);
    });
    // For tests and the curious: what is drawn.
    Seismote.live = { graphs: graphs.state, playhead, id };

    return () => {
      clearInterval(explaining);
      stopDrawing();
      stopFleet();
      stopTraces();
      filling.stop();
      for (const part of [head, graphs, spectrogram, scope, extremes, ...Object.values(parts), ...panels]) part.stop();
      Seismote.live = null;
    };
  },
});
