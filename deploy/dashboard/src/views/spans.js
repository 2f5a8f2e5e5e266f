// How much of the past is shown: lines of a day, or levels of an hour to a year; and the newest of a station.

import { h } from "../dom.js";
import { fleet } from "../fleet.js";
import { Seismote } from "../page.js";
import { levels } from "../pure/levels.js";
import { units } from "../pure/units.js";
import { format } from "../preferences.js";
import { router } from "../router.js";
import { text } from "../text.js";
import { stationHead } from "./frame.js";

const words = text.history;
// How long the broker has for what it keeps of a station (ms).
const patience = 3000;

// "20260105T102030Z"
const stamp = (time) => new Date(time).toISOString().replace(/[-:]|\.\d+/g, "");
export const levelsAddress = (id, span, time) => router.address("station", id, "levels", span, stamp(time));

// The choice of spans, of which `active` is shown; the others at a time (milliseconds).
export function spanLinks(id, active, time) {
  const one = (name, href) => h("a", { class: "button small", href, "aria-current": name === active ? "page" : null }, words.spans[name]);
  return h("nav", { class: "spans", "aria-label": words.span },
    one("lines", router.address("station", id, "history", units.date(time, format.utc()))),
      Object.keys(levels.spans).map((span) => one(span, levelsAddress(id, span, time))));
}

// When the newest was measured that is known of a station (milliseconds); NaN while nothing is.
// With `any`, what the broker has kept of a station that plays a recording counts, too: it may be of the day on which that
// was started.
export function newestOf(id, any = true) {
  const known = fleet.stations.get(id);
  if (!any && known?.online === true && !known.isLive && (known.info?.sensor?.driver ?? "replay") === "replay") return NaN;
  const times = [fleet.time(known), units.milliseconds(known?.lastEvent?.end ?? known?.lastEvent?.onset)].filter(Number.isFinite);
  return (known?.level || known?.summary || known?.traces.end > 0 || known?.online === false) && times.length > 0 ? Math.max(...times)
    : NaN;
}

// What both views of a station's past have in common: a graph that is pointed at, and the mark that opens what is there. Who
// extends it makes the fields below; timeAt(event), choose(time, open), and moves: from where keys move the mark while there is
// none, and by how much (seconds).
export class PastView {
  /** @type {HTMLCanvasElement} */
  canvas;
  /** @type {{ redraw(): void, stop(): void }} */
  surface;
  /** @type {{ element: HTMLElement, stop(): void }} */
  head;
  /** @type {HTMLAnchorElement} */
  open;
  /** @type {(() => void)[]} */
  stops = [];
  // The marked time, in seconds.
  mark = NaN;
  closed = false;
  // The timer of the next question.
  next = 0;

  /** @param {string} id of the station */
  constructor(id) {
    this.id = id;
  }

  /** @returns {{ start: number, steps: Record<string, number> }} */
  get moves() {
    return { start: NaN, steps: {} };
  }

  /** @param {MouseEvent} _event @returns {number} seconds */
  timeAt(_event) {
    return NaN;
  }

  /** @param {number} _time @param {boolean} _open */
  choose(_time, _open) {}

  listen() {
    this.canvas.addEventListener("click", (event) => this.choose(this.timeAt(event), true));
    this.canvas.addEventListener("pointermove", (event) => this.choose(this.timeAt(event), false));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  close() {
    this.closed = true;
    clearTimeout(this.next);
    for (const stop of this.stops) stop();
    this.surface.stop();
    this.head.stop();
  }

  // The station's present (seconds): that of a recording is not today's.
  get now() {
    const time = fleet.time(fleet.stations.get(this.id));
    return (Number.isFinite(time) ? time : Date.now()) / 1000;
  }

  // The mark leads to an address, and `open` goes there.
  lead(address, open) {
    this.open.setAttribute("href", address);
    this.open.hidden = false;
    this.surface.redraw();
    if (open) location.hash = address;
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { start, steps } = this.moves;
    const from = Number.isFinite(this.mark) ? this.mark : start;
    if (event.key === "Enter") this.choose(from, true);
    else if (event.key in steps) this.choose(from + steps[event.key], false);
    else return;
    event.preventDefault();
  }
}

// Shows a view of a station's past: make(time) -> { head, element, ask(), close(), some, has(time) }. Without a time it is the
// newest of which there is something: of a recording, or of a station that has been away for long, not today. Until that is
// known, nothing is asked. Returns what ends it.
export function mountPast(main, id, time, make) {
  main.className = "station history";
  const show = (at) => {
    const view = make(at);
    main.replaceChildren(view.head.element, view.element);
    view.ask();
    Seismote.historyView = view;
    return view;
  };
  if (Number.isFinite(time)) {
    const view = show(time);
    return () => view.close();
  }
  const head = stationHead(id, "history");
  main.append(head.element);
  const opened = Date.now();
  let view = null;
  const timer = setInterval(() => {
    const waited = Date.now() - opened >= patience;
    const newest = newestOf(id, waited);
    if (!Number.isFinite(newest) && (view || !waited)) return;
    const found = Number.isFinite(newest) ? newest : Date.now();
    // What is heard late, of a broker or a station that is slow, still counts where nothing is shown yet.
    if (view && (view.some || view.has(found))) return clearInterval(timer);
    if (Number.isFinite(newest)) clearInterval(timer);
    if (view) view.close();
    else head.stop();
    view = show(found);
  }, 100);
  return () => {
    clearInterval(timer);
    if (view) view.close();
    else head.stop();
  };
}
