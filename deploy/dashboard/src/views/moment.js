// The waveform around a moment, out of a station's ring: what a click on the helicorder opens.

import { h, setText } from "../dom.js";
import { saveFile } from "../files.js";
import { fleet } from "../fleet.js";
import { link } from "../link.js";
import { Seismote } from "../page.js";
import { format } from "../preferences.js";
import { csv } from "../pure/csv.js";
import { motion } from "../pure/motion.js";
import { units } from "../pure/units.js";
import { defineView, router } from "../router.js";
import { text } from "../text.js";
import { waveforms } from "../waveforms.js";
import { EventGraphs } from "./event-graphs.js";
import { stationHead } from "./frame.js";
import { printButton } from "./print.js";
import { psdCard } from "./psd.js";

const words = text.event;
const axes = ["x", "y", "z"];
const half = 60;

// "20260105T102030Z" as milliseconds since 1970, and the other way.
const timeOf = (text) => Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
const nameOf = (time) => new Date(time).toISOString().replace(/[-:]|\.\d+/g, "");
export const momentAddress = (id, time) => router.address("station", id, "at", nameOf(time));

defineView("#/station/:id/at/:time", {
  title: ({ id, time }) => `${id}: ${words.momentTitle(format.moment(timeOf(time)))}`,
  mount(main, { id, time }) {
    const about = timeOf(time);
    main.className = "event";
    const head = stationHead(id, "moment", "moment");
    let data = null;
    let assembler = null;
    let closed = false;
    let busy = false;
    const psd = psdCard();
    psd.element.hidden = true;
    const graphs = new EventGraphs({ onTime: (seconds) => graphs.time(seconds),
      onView: (from, to) => data && psd.show(data.shape, from, to) });
    const status = h("p", { class: "quiet event-status", role: "status" });
    const names = Object.keys(words.signals);
    const signal = h("select", { "aria-label": words.shown, onchange: () => graphs.signal(signal.value) },
      names.map((name) => h("option", { value: name }, words.signals[name])));
    const button = (name, label, onclick) => h("button", { type: "button", class: "plain", "aria-label": label, title: label, onclick },
      name);
    const file = (kind, name) => h("button", { type: "button", class: "plain", disabled: true, onclick: () => save(kind) }, name);
    const files = { mseed: file("mseed", words.mseed), csv: file("csv", words.csv) };
    const link_ = (name, by) => h("a", { class: "button small", href: momentAddress(id, about + by * 1000) }, name);
    main.append(head.element,
      h("div", { class: "event-title" }, h("h2", {}, words.moment(format.moment(about))),
        h("nav", { class: "event-neighbours", "aria-label": words.others }, link_(words.earlier, -2 * half), link_(words.later, 2 * half))),
      h("section", { class: "card event-waveform", "aria-label": words.waveform },
        h("div", { class: "card-head" }, h("h2", {}, words.waveform),
          h("div", { class: "event-tools" }, signal, button("−", words.zoomOut, () => graphs.zoom(2)),
            button("+", words.zoomIn, () => graphs.zoom(0.5)), button(words.all, words.allLabel, () => graphs.all()))),
        graphs.element, h("p", { class: "unseen", id: "event-keys" }, words.keys),
        h("div", { class: "event-foot" }, status, h("div", { class: "event-files" }, files.mseed, files.csv, printButton()))), psd.element,
          h("p", { class: "printed-link" }, location.href));

    function save(kind) {
      if (!data) return;
      saveFile(`${id}-${time}.${kind}`, kind === "csv" ? csv.waveform(data.shape, [`station: ${id}`]) : assembler.file());
    }

    function show() {
      const shape = assembler.waveform({ unitPerCount: fleet.stations.get(id)?.lastEvent?.waveform?.unit_per_count });
      if (!shape) return setText(status, words.notInRing);
      const motions = Object.fromEntries(axes.map((axis) => [axis, motion.motion(shape[axis], shape.rate)]));
      const at = Math.round((about - Number(shape.start / 1000n) / 1000) / 1000 * shape.rate);
      data = { shape, motions, onset: null, end: null, peaks: {}, about: words.fromStart(format.moment(Number(shape.start / 1000000n))) };
      psd.element.hidden = false;
      graphs.set(data);
      graphs.time(Math.min(Math.max(0, at / shape.rate), (shape.count - 1) / shape.rate));
      for (const one of Object.values(files)) one.disabled = false;
      setText(status, words.fetched(units.bytes(assembler.bytes)) + (shape.gaps.length > 0 ? ` ${words.gaps(shape.gaps.length)}` : ""));
    }

    async function fetch() {
      if (busy || data || closed || link.state !== "online") return;
      busy = true;
      setText(status, words.fetching(""));
      try {
        const ns = (milliseconds) => BigInt(Math.round(milliseconds)) * 1000000n;
        const until = Math.min(about + half * 1000, Math.max(Date.now() - 2000, about));
        assembler = await waveforms.snapshot(id, ns(about - half * 1000), ns(until),
          (bytes) => setText(status, words.fetching(units.bytes(bytes))));
        if (!closed) show();
      } catch (error) {
        if (!closed) setText(status, words.notFetched(error.errors?.[0]?.message ?? error.message));
      }
      busy = false;
    }
    graphs.set(null);
    fetch();
    const stop = link.on("state", fetch);
    Seismote.momentView = { data: () => data };
    return () => {
      closed = true;
      stop();
      head.stop();
      graphs.stop();
      psd.stop();
    };
  },
});
