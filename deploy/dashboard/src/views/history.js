// The helicorder: a day of a station, a line for each hour. A click opens the waveform.

import { newSurface, plot, themeColors } from "../canvas.js";
import { h, setText } from "../dom.js";
import { fleet } from "../fleet.js";
import { link } from "../link.js";
import { format, preferences } from "../preferences.js";
import { helicorder } from "../pure/helicorder.js";
import { scales } from "../pure/scales.js";
import { units } from "../pure/units.js";
import { defineView, router } from "../router.js";
import { text } from "../text.js";
import { stationHead } from "./frame.js";
import { momentAddress } from "./moment.js";
import { PastView, mountPast, newestOf, spanLinks } from "./spans.js";

const words = text.history;
// A day that goes on is asked for what is new (ms), and anew after a failure; and as a whole after so many times.
const refresh = 60000;
const retry = 10000;
const refreshes = 60;
const colors = ["ink", "raw", "rms", "filtered"];

// (The middle of a day of UTC is of no other day of UTC; in the reader's zone a day is counted by its own noon.)
const noon = (day) => new Date(`${day}T12:00:00${format.utc() ? "Z" : ""}`).getTime();
const mount = (main, id, time) => mountPast(main, id, time, (at) => new History(id, units.date(at, format.utc())));
defineView("#/station/:id/history", { title: ({ id }) => `${id}: ${words.title}`, mount: (main, { id }) => mount(main, id, NaN) });
defineView("#/station/:id/history/:day", { title: ({ id, day }) => `${id}: ${words.title} ${day}`,
  mount: (main, { id, day }) => mount(main, id, noon(day)) });

class History extends PastView {
  axis = "z";
  // Seconds of a line; what half of the distance between two lines is (m/s²), 0 for what fits.
  line = 3600;
  gain = 0;
  replies = [];
  // How often it was asked in all, until when (seconds), and how often for what is new since.
  asked = 0;
  until = NaN;
  tails = 0;

  constructor(id, day) {
    super(id);
    this.day = day;
    this.head = stationHead(id, "history");
    const shift = (by) => router.address("station", id, "history",
      new Date(Date.parse(`${day}T00:00:00Z`) + by * 86400000).toISOString().slice(0, 10));
    const choose = (label, options, chosen, set) => h("label", { class: "field" }, label, h("select", { onchange: (event) => {
      set(event.target.value);
      this.shown();
    } }, options.map(([value, name]) => h("option", { value, selected: String(value) === String(chosen) }, name))));
    this.zone = h("span", {});
    const date = h("input", { type: "date", value: day, onchange: () => date.value
      && (location.hash = router.address("station", id, "history", date.value)) });
    this.status = h("p", { class: "quiet", role: "status" });
    this.marked = h("p", { class: "quiet number", "aria-live": "polite" });
    this.open = h("a", { class: "button small", hidden: true, href: "#" }, words.open);
    this.canvas = h("canvas", { class: "helicorder", tabindex: "0", role: "img" });
    this.surface = newSurface(this.canvas, (context, width, height) => this.paint(context, width, height));
    this.gainChoice = h("select", { onchange: () => {
      this.gain = Number(this.gainChoice.value);
      this.shown();
    } });
    this.element = h("section", { class: "card" }, spanLinks(id, "lines", noon(day)),
      h("div", { class: "event-filter" },
        h("a", { class: "button small", href: shift(-1), "aria-label": words.earlier, title: words.earlier }, "←"),
        h("label", { class: "field" }, this.zone, date),
        h("a", { class: "button small", href: shift(1), "aria-label": words.later, title: words.later }, "→"),
        h("a", { class: "button small newest", href: router.address("station", id, "history") }, words.newest),
        choose(words.axis, ["x", "y", "z"].map((axis) => [axis, text.event.axisNames[axis]]), this.axis, (value) => (this.axis = value)),
        choose(words.line, Object.entries(words.lines), this.line, (value) => (this.line = Number(value))),
        h("label", { class: "field" }, words.gain, this.gainChoice)),
      this.status, this.canvas,
      h("div", { class: "event-foot" }, this.marked, this.open), h("p", { class: "quiet small-note" }, words.help));
    this.listen();
    this.stops = [
      link.on("state", (state) => state === "online" && this.replies.length === 0 && this.ask()),
      fleet.on("station", (which, what) => which === id && what === "event" && this.surface.redraw()),
      preferences.on((name) => {
        if (name === "time") this.ask();
        this.shown();
      }),
    ];
    this.shown();
  }

  has(time) {
    return units.date(time, format.utc()) === this.day;
  }

  // The day in the reader's zone: its first second, and that of the next one.
  get begin() {
    return helicorder.dayOf(this.day, format.utc()).begin;
  }

  get end() {
    return helicorder.dayOf(this.day, format.utc()).end;
  }

  get count() {
    return helicorder.linesOf(this, this.line);
  }

  // All of the day; or, of a day that goes on, what has come since it was last asked for.
  async ask(tail = false) {
    clearTimeout(this.next);
    const asked = ++this.asked;
    const here = () => !this.closed && asked === this.asked;
    if (!tail) {
      this.replies = [];
      this.until = NaN;
      this.tails = 0;
      this.shown();
    }
    if (link.state !== "online") return this.again(retry, tail);
    if (fleet.knows(this.id, "history") === false) return setText(this.status, words.keepsNone);
    // What a station that is away keeps is asked for when it is back.
    if (fleet.stations.get(this.id)?.online === false) {
      this.again(retry, tail);
      return setText(this.status, [words.offline, this.newest].filter(Boolean).join(" · "));
    }
    let known = tail;
    let part = false;
    let failed = false;
    const { now } = this;
    for (const { from, to, step } of helicorder.questions(this, now, tail ? this.until : NaN)) {
      if (to <= from) continue;
      if (!tail) setText(this.status, words.asking(""));
      try {
        const stamp = (seconds) => new Date(seconds * 1000).toISOString();
        const { past, incomplete } = await link.history(this.id, { from: stamp(from), to: stamp(to), step_s: step, encoding: "cbor" },
          { timeoutMs: 20000 });
        if (!here()) return;
        part ||= incomplete;
        if (past) this.replies.push(past);
        known = true;
        this.shown();
      } catch (error) {
        if (!here()) return;
        const old = error.errors?.some((one) => /verb|command/i.test(one.message ?? "")
          && ["unavailable", "unknown_key", "syntax"].includes(one.code));
        if (old) return setText(this.status, words.keepsNone);
        if (known) part = failed = true;
        else {
          this.again(retry, false);
          return setText(this.status, error.denied || error.timeout ? `${words.failed(error.message)} ${words.mayNot}`
            : words.failed(error.message));
        }
      }
    }
    const said = (this.some ? words.step(units.duration(this.days.step)) : words.none) + (part ? ` ${text.link.incomplete}` : "");
    setText(this.status, [said, this.newest].filter(Boolean).join(" · "));
    if (now < this.begin || now > this.end + refresh / 1000) return;
    if (!failed) this.until = now;
    this.tails += 1;
    this.again(this.some ? refresh : retry, Number.isFinite(this.until) && this.some && this.tails < refreshes);
  }

  again(after, tail) {
    this.next = setTimeout(() => this.ask(tail), after);
  }

  // Of when the newest is, where that is not today.
  get newest() {
    const newest = newestOf(this.id);
    const utc = format.utc();
    if (!Number.isFinite(newest) || units.date(newest, utc) === units.date(Date.now(), utc)) return "";
    return words.newestIs(units.date(newest, utc));
  }

  // Lines and their scale from what has come.
  shown() {
    setText(this.zone, words.day(format.zones(this.begin * 1000, this.end * 1000 - 1)));
    this.days = new helicorder.Day();
    this.some = this.replies.map((past) => this.days.put(past, this.axis)).some(Boolean);
    this.lines = Array.from({ length: this.count }, (_, i) => this.days.line(this.begin + i * this.line,
      Math.min(this.end, this.begin + (i + 1) * this.line), 60));
    const reaches = this.lines.map((line) => line.reach).filter(Number.isFinite).sort((a, b) => a - b);
    this.automatic = scales.endAbove(Math.max((reaches[Math.floor(reaches.length / 2)] ?? 0) * 3, 1e-5));
    const gains = [this.automatic, ...[0.1, 0.3, 1, 3, 10, 30, 100].map((mg) => (mg * units.g) / 1000)];
    const chosen = this.gain;
    this.gainChoice.replaceChildren(...gains.map((gain, i) => h("option",
      { value: i === 0 ? "0" : String(gain), selected: i === 0 ? chosen === 0 : gain === chosen },
      `${format.acceleration(gain)}${i === 0 ? ` (${words.auto})` : ""}`)));
    this.canvas.setAttribute("aria-label", words.label(this.id, this.axis, units.duration(this.line)));
    this.surface.redraw();
  }

  layout(width, height) {
    const left = width < 500 ? 44 : 64;
    return { left, right: width - 10, top: 8, bottom: height - 24, each: (height - 32) / this.count };
  }

  paint(context, width, height) {
    const theme = themeColors();
    const { left, right, top, bottom, each } = this.layout(width, height);
    const box = { left, right, top, bottom };
    const perLine = this.line;
    const every = perLine / (width < 500 ? 4 : perLine === 3600 ? 12 : 6);
    const ticks = [];
    for (let at = 0; at < perLine; at += every) ticks.push({ at: left + (at / perLine) * (right - left),
      label: `+${units.tick(at / 60)} min` });
    const names = [];
    const skip = Math.ceil(14 / each);
    for (let i = 0; i < this.count; i++) {
      const label = units.time((this.begin + i * perLine) * 1000, format.utc()).slice(0, 5);
      names.push({ at: top + (i + 0.5) * each, label: i % skip ? undefined : label });
    }
    plot.frame(context, box, { x: { ticks, name: format.zones(this.begin * 1000, this.end * 1000 - 1) }, y: { ticks: names } });
    this.paintEvents(context, box, each, theme);
    const scale = each / 2 / (this.gain || this.automatic);
    const out = [0, 0];
    const seconds = perLine / (right - left);
    plot.clip(context, box, () => this.lines.forEach(({ middle }, i) => {
      if (!Number.isFinite(middle)) return;
      context.fillStyle = theme[colors[i % colors.length]];
      const line = top + (i + 0.5) * each;
      for (let x = 0; x < right - left; x++) {
        const at = this.begin + i * perLine + x * seconds;
        this.days.extremes(at, at + seconds, out);
        if (out[0] !== out[0]) continue;
        const y = (value) => line - Math.min(3 * each, Math.max(-3 * each, (value - middle) * scale));
        context.fillRect(left + x, y(out[1]), 1, Math.max(1, y(out[0]) - y(out[1])));
      }
    }));
    this.paintMark(context, box, each, theme);
  }

  // Events lie as a ground behind their part of the lines.
  paintEvents(context, { left, right, top }, each, theme) {
    context.fillStyle = theme.trigger;
    context.globalAlpha = 0.25;
    for (const { event, ended } of fleet.newestEvents(this.id)) {
      const onset = units.milliseconds(event.onset) / 1000 - this.begin;
      // Of what a station says, no more than is within this day.
      const end = Math.min(this.end - this.begin, Math.max(onset + this.line / 300, onset + (fleet.duration(this.id, event, ended) ?? 0)));
      for (let at = Math.max(0, onset); at < end; ) {
        const i = Math.floor(at / this.line);
        const next = Math.min(end, (i + 1) * this.line);
        if (i >= 0 && i < this.count) {
          const x = (value) => left + ((value - i * this.line) / this.line) * (right - left);
          context.fillRect(x(at), top + i * each, Math.max(3, x(next) - x(at)), each);
        }
        at = next > at ? next : end;
      }
    }
    context.globalAlpha = 1;
  }

  paintMark(context, { left, right, top }, each, theme) {
    if (!Number.isFinite(this.mark)) return;
    const i = Math.floor((this.mark - this.begin) / this.line);
    const x = left + (((this.mark - this.begin) % this.line) / this.line) * (right - left);
    context.strokeStyle = theme.accent;
    context.lineWidth = 2;
    context.strokeRect(x - 3, top + i * each + 1, 6, each - 2);
  }

  timeAt(event) {
    const bounds = this.canvas.getBoundingClientRect();
    const { left, right, top, each } = this.layout(bounds.width, bounds.height);
    const part = (event.clientX - bounds.left - left) / (right - left);
    const i = Math.floor((event.clientY - bounds.top - top) / each);
    const time = this.begin + (i + part) * this.line;
    return part < 0 || part > 1 || i < 0 || i >= this.count || time >= this.end ? NaN : time;
  }

  // The mark goes to a time; `open` goes there.
  choose(time, open) {
    if (!Number.isFinite(time)) return;
    this.mark = Math.min(Math.max(time, this.begin), this.end - 1);
    const within = fleet.newestEvents(this.id).find(({ event }) => {
      const onset = units.milliseconds(event.onset) / 1000;
      return this.mark >= onset - this.line / 300 && this.mark <= onset + Math.max(event.duration_s ?? 0, this.line / 300);
    });
    const address = within ? router.address("station", this.id, "event", within.id) : momentAddress(this.id, this.mark * 1000);
    setText(this.marked, `${words.mark(format.moment(this.mark * 1000))}${within ? ` · ${words.event}` : ""}`);
    this.lead(address, open);
  }

  get moves() {
    const step = this.line / 60;
    const steps = { ArrowLeft: -step, ArrowRight: step, ArrowUp: -this.line, ArrowDown: this.line, PageUp: -6 * this.line,
      PageDown: 6 * this.line };
    return { start: this.begin + this.line / 2, steps };
  }
}
