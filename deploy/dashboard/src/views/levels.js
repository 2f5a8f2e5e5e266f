// Levels of an hour, a day, a week, a month or a year of a station: how far they went, and their RMS, on a logarithmic scale. A
// click opens what is finer there, in the end the waveform.

import { newSurface, plot, themeColors } from "../canvas.js";
import { h, setText } from "../dom.js";
import { saveFile } from "../files.js";
import { fleet } from "../fleet.js";
import { keptLevels } from "../kept-levels.js";
import { link } from "../link.js";
import { format, preferences } from "../preferences.js";
import { csv } from "../pure/csv.js";
import { levels } from "../pure/levels.js";
import { scales } from "../pure/scales.js";
import { units } from "../pure/units.js";
import { defineView, router } from "../router.js";
import { text } from "../text.js";
import { stationHead } from "./frame.js";
import { momentAddress } from "./moment.js";
import { printButton } from "./print.js";
import { PastView, levelsAddress, mountPast, newestOf, spanLinks } from "./spans.js";

const words = text.history;
// A span that goes on is asked for anew (ms), and so is one that could not be asked for; so many times.
const refresh = { hour: 30000, day: 60000, week: 300000, month: 900000, year: 900000 };
const retry = 10000;
const refreshes = 120;

const timeOf = (text) => Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
const title = ({ id, span }) => `${id}: ${words.title}, ${words.spans[span]}`;
const mount = (main, id, span, time) => mountPast(main, id, time, (at) => new LevelsView(id, span, at));
defineView("#/station/:id/levels/:span", { title, mount: (main, { id, span }) => mount(main, id, span, NaN) });
defineView("#/station/:id/levels/:span/:time", { title, mount: (main, { id, span, time }) => mount(main, id, span, timeOf(time)) });

class LevelsView extends PastView {
  // The span, in seconds.
  begin = NaN;
  end = NaN;
  axis = "z";
  // Replies of the station, and what this browser has kept.
  replies = [];
  kept = [];
  // What of both is shown: { low, high, at, step, rms } (pure/levels.js), null while there is nothing.
  known = new levels.Levels();
  reach = null;
  // How often it was asked in all, and anew after the first time.
  asked = 0;
  times = 0;

  constructor(id, span, time) {
    super(id);
    this.span = span;
    this.time = time;
    this.around();
    this.head = stationHead(id, "history");
    const neighbour = (by) => levelsAddress(id, span, levels.around(span, time, format.utc(), by).begin * 1000);
    const axis = h("select", { onchange: () => {
      this.axis = axis.value;
      this.shown();
    } }, ["x", "y", "z"].map((name) => h("option", { value: name, selected: name === this.axis }, text.event.axisNames[name])));
    this.what = h("h2", {}, this.name);
    this.status = h("p", { class: "quiet", role: "status" });
    this.summary = h("p", { class: "number" });
    this.marked = h("p", { class: "quiet number", "aria-live": "polite" });
    this.open = h("a", { class: "button small", hidden: true, href: "#" });
    this.save = h("button", { type: "button", class: "plain", disabled: true, onclick: () => this.file() }, text.event.csv);
    this.canvas = h("canvas", { class: "levels-graph", tabindex: "0", role: "img" });
    this.surface = newSurface(this.canvas, (context, width, height) => this.paint(context, width, height));
    this.element = h("section", { class: "card" }, spanLinks(id, span, time),
      h("div", { class: "event-filter" },
        h("a", { class: "button small", href: neighbour(-1), "aria-label": words.before, title: words.before }, "←"),
        this.what,
        h("a", { class: "button small", href: neighbour(1), "aria-label": words.after, title: words.after }, "→"),
        h("a", { class: "button small newest", href: router.address("station", id, "levels", span) }, words.newest),
        h("label", { class: "field" }, words.axis, axis)),
      h("p", { class: "legend" }, h("span", { class: "level-swing" }, h("span", { class: "swatch", "aria-hidden": "true" }), words.swing),
        h("span", { class: "level-rms" }, h("span", { class: "swatch", "aria-hidden": "true" }), words.rms)),
      this.canvas, this.summary, this.status,
      h("div", { class: "event-foot" }, this.marked, this.open, h("div", { class: "event-files" }, this.save, printButton())),
      h("p", { class: "quiet small-note" }, words.levelsHelp, span === "year" ? ` ${words.yearHelp}` : ""),
        h("p", { class: "printed-link" }, location.href));
    this.listen();
    this.stops = [
      link.on("state", (state) => state === "online" && this.replies.length === 0 && this.ask()),
      fleet.on("station", (which, what) => which === id && what === "event" && this.surface.redraw()),
      preferences.on((name) => {
        if (name === "time") this.around();
        setText(this.what, this.name);
        if (name === "time") this.ask();
        this.shown();
      }),
    ];
    this.shown();
  }

  around() {
    const { begin, end } = levels.around(this.span, this.time, format.utc());
    this.begin = begin;
    this.end = end;
  }

  // "2026-11", "2026-11-26 14:00–15:00 UTC"
  get name() {
    const utc = format.utc();
    const [first, last] = [units.date(this.begin * 1000, utc), units.date((this.end - 1) * 1000, utc)];
    const zone = format.zones(this.begin * 1000, this.end * 1000 - 1);
    const clock = (time) => units.time(time * 1000, utc).slice(0, 5);
    if (this.span === "hour") return `${first} ${clock(this.begin)}–${clock(this.end)} ${zone}`;
    return `${{ year: first.slice(0, 4), month: first.slice(0, 7), week: `${first} – ${last}` }[this.span] ?? first} ${zone}`;
  }

  has(time) {
    return time >= this.begin * 1000 && time < this.end * 1000;
  }

  async ask() {
    clearTimeout(this.next);
    const asked = ++this.asked;
    const here = () => !this.closed && asked === this.asked;
    if (this.span === "year" || this.span === "month") {
      const kept = await keptLevels.read(this.id, this.begin, this.end);
      if (!here()) return;
      this.kept = kept;
      this.shown();
    }
    const question = levels.question(this.span, this, this.now);
    if (!question) return this.say(this.end <= this.now ? words.gone : words.notYet);
    if (link.state !== "online") return this.again(retry);
    if (fleet.knows(this.id, "history") === false) return this.say(words.keepsNone);
    // What a station that is away keeps is asked for when it is back.
    if (fleet.stations.get(this.id)?.online === false) {
      this.again(retry);
      return this.say(words.offline);
    }
    if (this.replies.length === 0) setText(this.status, words.askingSpan);
    const history = ({ from, to, step }) =>
      link.history(this.id, { from: new Date(from * 1000).toISOString(), to: new Date(to * 1000).toISOString(), step_s: step,
      encoding: "cbor" }, { timeoutMs: 30000 });
    let part = false;
    try {
      const { past, incomplete } = await history(question);
      if (!here()) return;
      part = incomplete;
      if (past) this.replies = [past];
      // What the station forgets after a month stays here.
      const long = levels.question("year", { begin: 0, end: this.now }, this.now);
      if (this.span === "year" && past) await keptLevels.put(this.id, past);
      else if (this.span === "month" && this.times === 0 && long) history(long).then(({ past: years }) => years
        && keptLevels.put(this.id, years)).catch(() => {});
    } catch (error) {
      if (!here()) return;
      this.again(retry);
      return this.say(error.denied || error.timeout ? `${words.failed(error.message)} ${words.mayNot}` : words.failed(error.message));
    }
    if (!here()) return;
    this.shown();
    this.say(part ? text.link.incomplete : "");
    if (this.now < this.end) this.again(this.some ? refresh[this.span] : retry);
  }

  again(after) {
    this.times += 1;
    if (this.times <= refreshes) this.next = setTimeout(() => this.ask(), after);
  }

  say(what) {
    const newest = newestOf(this.id);
    const utc = format.utc();
    const away = Number.isFinite(newest) && !this.has(newest) ? words.newestIs(units.date(newest, utc)) : "";
    setText(this.status, [this.some ? words.steps(units.duration(this.reach.step)) : words.noneOfSpan, what,
      away].filter(Boolean).join(" "));
  }

  // The graph and what is said of it, from what has come.
  shown() {
    this.known = new levels.Levels();
    const put = (past) => this.known.put(past, this.axis);
    this.some = [...this.kept.map(put), ...this.replies.map(put)].some(Boolean);
    this.reach = this.some ? this.known.range(this.begin, this.end) : null;
    this.some = this.reach !== null;
    setText(this.summary, this.some ? words.largest(format.acceleration(this.reach.high), format.moment(this.reach.at * 1000),
      format.acceleration(this.reach.rms)) : "");
    this.canvas.setAttribute("aria-label", words.levelsLabel(this.id, this.axis, this.name));
    this.save.disabled = !this.some;
    this.surface.redraw();
  }

  layout(width, height) {
    return { left: width < 500 ? 52 : 66, right: width - 24, top: 10, bottom: height - 26 };
  }

  paint(context, width, height) {
    const colors = themeColors();
    const box = this.layout(width, height);
    const factor = units.factor(preferences.get("unit"));
    const { low, high } = this.reach?.high > 0 ? this.reach : { low: 1e-4, high: 1e-1 };
    // Powers of ten of the reader's unit, one at least.
    const bottom = 10 ** Math.floor(Math.log10(low * factor) + 1e-9);
    const top = Math.max(10 * bottom, 10 ** Math.ceil(Math.log10(high * factor) - 1e-9));
    const y = (value) => box.bottom - ((box.bottom - box.top) * Math.log(Math.max(value * factor,
      bottom) / bottom)) / Math.log(top / bottom);
    const x = (at) => box.left + ((box.right - box.left) * (at - this.begin)) / (this.end - this.begin);
    plot.frame(context, box, {
      x: { ticks: levels.ticks(this.span, this, format.utc(), Math.max(2, Math.floor((box.right - box.left) / 62))).map(({ at, label }) =>
        ({ at: x(at), label })), name: width < 500 ? undefined : format.zones(this.begin * 1000, this.end * 1000 - 1) },
      y: { ticks: scales.decades(bottom, top).map((value) => ({ at: y(value / factor), label: units.tick(value) })) },
      unit: units.label(preferences.get("unit")),
    });
    const seconds = (this.end - this.begin) / (box.right - box.left);
    plot.clip(context, box, () => {
      this.paintEvents(context, box, x, colors);
      const line = [];
      context.fillStyle = colors.rms;
      context.globalAlpha = 0.35;
      for (let px = box.left; px < box.right; px++) {
        const at = this.begin + (px - box.left) * seconds;
        const one = this.known.over(at, at + seconds);
        line.push(one ? one.rms : NaN);
        if (one) context.fillRect(px, y(one.swing), 1, box.bottom - y(one.swing));
      }
      context.globalAlpha = 1;
      plot.curve(context, plot.array(line), { box: { ...box, right: box.left + line.length }, from: 0, to: line.length, y,
        color: colors.ink, width: 1.5 });
      if (!Number.isFinite(this.mark)) return;
      context.strokeStyle = colors.accent;
      context.lineWidth = 2;
      context.beginPath();
      context.moveTo(x(this.mark), box.top);
      context.lineTo(x(this.mark), box.bottom);
      context.stroke();
    });
  }

  // Events lie as a ground behind their part.
  paintEvents(context, box, x, colors) {
    context.fillStyle = colors.trigger;
    context.globalAlpha = 0.3;
    for (const { event, ended } of fleet.newestEvents(this.id)) {
      const onset = units.milliseconds(event.onset) / 1000;
      const end = onset + (fleet.duration(this.id, event, ended) ?? 0);
      if (end < this.begin || onset > this.end) continue;
      context.fillRect(x(onset), box.top, Math.max(2, x(Math.min(end, this.end)) - x(onset)), box.bottom - box.top);
    }
    context.globalAlpha = 1;
  }

  timeAt(event) {
    const bounds = this.canvas.getBoundingClientRect();
    const { left, right } = this.layout(bounds.width, bounds.height);
    const part = (event.clientX - bounds.left - left) / (right - left);
    return part < 0 || part >= 1 ? NaN : this.begin + part * (this.end - this.begin);
  }

  // The mark goes to a time (seconds); `open` goes to what is finer there.
  choose(time, open) {
    if (!Number.isFinite(time)) return;
    this.mark = Math.min(Math.max(time, this.begin), this.end - 1);
    const { finer, step } = levels.spans[this.span];
    const one = this.known.over(this.mark, this.mark + 1);
    const address = finer ? levelsAddress(this.id, finer, this.mark * 1000) : momentAddress(this.id, this.mark * 1000);
    setText(this.marked, words.levelAt(format.moment(Math.floor(this.mark / step) * step * 1000),
      one ? format.acceleration(one.swing) : "–", one ? format.acceleration(one.rms) : "–"));
    setText(this.open, finer ? words.openSpan(words.spans[finer]) : words.open);
    this.lead(address, open);
  }

  get moves() {
    const start = (this.begin + this.end) / 2;
    const from = Number.isFinite(this.mark) ? this.mark : start;
    const step = (this.end - this.begin) / 120;
    return { start, steps: { ArrowLeft: -step, ArrowRight: step, PageUp: -12 * step, PageDown: 12 * step, Home: this.begin - from,
      End: this.end - from } };
  }

  file() {
    const name = `${this.id}-${this.span}-${units.date(this.begin * 1000)}.csv`;
    saveFile(name, csv.rows(levels.rows([...this.kept, ...this.replies], this)));
  }
}
