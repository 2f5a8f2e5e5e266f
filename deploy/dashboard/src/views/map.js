// Stations where they are, on coasts and borders that the page brings along, or on the tiles that its operator wants. Those that
// would cover each other are one mark that says how many; a name is shown whole or not at all, with a line to its station where
// there is no room beside it.

import { newSurface, paper, themeColors } from "../canvas.js";
import { h, setText } from "../dom.js";
import { fleet } from "../fleet.js";
import { mapPlaces } from "../places.js";
import { geo } from "../pure/geo.js";
import { units } from "../pure/units.js";
import { text } from "../text.js";
import { mapTiles } from "../tiles.js";
import { colorMark, makeMark, wideOf } from "./map-marks.js";
import { paintDiscs, paintGround } from "./map-painting.js";

const words = text.map;
const reach = 30;
// Up to so many stations a map of the shaking has marks with names, above that discs.
const fewDiscs = 30;

// Where the stations of rows (rank.js) are: [{ row, latitude, longitude }].
const located = (rows) => rows.flatMap((row) => {
  const place = fleet.stations.get(row.id)?.info?.station;
  return geo.place(place?.latitude, place?.longitude) ? [{ row, latitude: place.latitude, longitude: place.longitude }] : [];
});

export class StationMap {
  #size = { width: 0, height: 0 };
  #view = null;
  #projection = null;
  // The reader has chosen the view: stations that come do not move it.
  #isOwn = false;
  #isMoved = false;
  #rows = [];
  #placed = [];
  #places = "";
  #marks = [];
  #spots = [];
  #overlay = null;
  #strengths = null;
  // What has to be looked at as soon as the plane has a size.
  #wanted = null;
  // What is seen on the screen, while the page is laid out for paper.
  #seen = null;
  #drag = null;
  #due = 0;
  #bar = h("div", { class: "scale-bar", "aria-hidden": "true" });
  #ground = h("canvas", { class: "ground", "aria-hidden": "true" });
  #pins = h("div", { class: "pins" });
  // Above the stations: an earthquake that lies below them is seen.
  #above = h("canvas", { class: "above", "aria-hidden": "true" });
  #unplaced = h("p", { class: "quiet small-note" });
  #credit = h("p", { class: "quiet small-note credit" });

  constructor() {
    const small = (label, name, action) =>
      h("button", { type: "button", class: "plain small", "aria-label": name, title: name, onclick: action }, label);
    const tools = h("div", { class: "together map-tools" }, small("−", words.zoomOut, () => this.zoom(0.5)),
      small("○", words.all, () => this.#fit()), small("+", words.zoomIn, () => this.zoom(2)));
    this.plane = h("div", { class: "plane", tabindex: "0", role: "group", "aria-label": words.label,
      onkeydown: (event) => this.#key(event) }, this.#ground, this.#pins, this.#above, this.#bar, tools);
    this.element = h("section", { class: "card map-card", hidden: true, "aria-label": words.title }, h("h2", {}, words.title), this.plane,
      this.#unplaced, this.#credit);
    this.surface = newSurface(this.#ground, (context, width, height) => this.#paint(context, width, height));
    this.upper = newSurface(this.#above,
      (context) => this.#projection && this.#overlay?.(context, this.#projection, themeColors()));
    this.#listen();
    const observer = new ResizeObserver(() => this.#resized());
    observer.observe(this.plane);
    // Tiles come one by one, and are painted together.
    const later = () => {
      cancelAnimationFrame(this.#due);
      this.#due = requestAnimationFrame(() => this.surface.redraw());
    };
    this.stops = [() => observer.disconnect(), paper((is) => this.#onPaper(is)), mapTiles.on(later), mapPlaces.on(later),
      () => this.surface.stop(), () => this.upper.stop()];
  }

  // MARK: What part of the world is seen

  #fit(points = this.#placed, keep = false) {
    this.#isOwn = keep;
    const { width, height } = this.#size;
    if (width === 0) {
      this.#wanted = keep ? points : null;
      return this.#arrange();
    }
    this.#view = geo.viewOf(points, width, height, Math.min(64, width / 7));
    if (this.#view) this.#view.pixels = Math.min(this.#view.pixels, 4000);
    return this.#arrange();
  }

  zoom(by, x = this.#size.width / 2, y = this.#size.height / 2) {
    if (!this.#view || !this.#projection) return;
    const view = this.#view;
    const about = this.#projection.back(x, y);
    const pixels = Math.min(40000, Math.max(this.#size.width / 360, view.pixels * by));
    const part = 1 - view.pixels / pixels;
    this.#move({ latitude: view.latitude + (about.latitude - view.latitude) * part,
      longitude: view.longitude + (about.longitude - view.longitude) * part, pixels });
  }

  pan(x, y) {
    if (!this.#projection) return;
    const { latitude, longitude } = this.#projection.back(this.#size.width / 2 + x, this.#size.height / 2 + y);
    this.#move({ ...this.#view, latitude: Math.min(89, Math.max(-89, latitude)), longitude });
  }

  #move(view) {
    this.#view = view;
    this.#isOwn = this.#isMoved = true;
    this.#arrange();
  }

  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target !== this.plane) return;
    const step = 60;
    const actions = { ArrowLeft: () => this.pan(-step, 0), ArrowRight: () => this.pan(step, 0), ArrowUp: () => this.pan(0, -step),
      ArrowDown: () => this.pan(0, step), "+": () => this.zoom(2), "=": () => this.zoom(2), "-": () => this.zoom(0.5),
      0: () => this.#fit() };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  #listen() {
    const { plane } = this;
    plane.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.pointerType === "touch" || event.target.closest("a, button")) return;
      this.#drag = { x: event.clientX, y: event.clientY };
    });
    plane.addEventListener("pointermove", (event) => {
      if (!this.#drag) return;
      plane.setPointerCapture(event.pointerId);
      this.pan(this.#drag.x - event.clientX, this.#drag.y - event.clientY);
      this.#drag = { x: event.clientX, y: event.clientY };
    });
    for (const end of ["pointerup", "pointercancel"]) plane.addEventListener(end, () => (this.#drag = null));
    plane.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const bounds = plane.getBoundingClientRect();
      this.zoom(event.deltaY > 0 ? 0.8 : 1.25, event.clientX - bounds.left, event.clientY - bounds.top);
    }, { passive: false });
  }

  #resized() {
    const now = { width: this.plane.clientWidth, height: this.plane.clientHeight };
    if (now.width === this.#size.width && now.height === this.#size.height) return;
    this.#size = now;
    if (this.#wanted) {
      this.#fit(this.#wanted, true);
      this.#wanted = null;
    } else if (this.#isOwn) this.#arrange();
    else this.#fit();
  }

  // On paper the plane shows what it shows on the screen.
  #onPaper(is) {
    const now = { width: this.plane.clientWidth, height: this.plane.clientHeight };
    const [view, size] = [this.#view, this.#size];
    if (!view || now.width === 0 || size.width === 0) return;
    if (is) {
      this.#seen = { view, size };
      this.#view = { ...view, pixels: view.pixels * Math.min(now.width / size.width, now.height / size.height) };
      this.#size = now;
    } else if (this.#seen) [this.#view, this.#size] = [this.#seen.view, this.#seen.size];
    this.#arrange();
  }

  // MARK: What is drawn

  get #hasDiscs() {
    return this.#strengths !== null && this.#placed.length > fewDiscs;
  }

  // Marks for what is in sight, made anew: where stations are changes seldom.
  #arrange() {
    const { width, height } = this.#size;
    this.element.hidden = this.#placed.length < 1 && !this.#overlay;
    if (this.element.hidden || width === 0) return;
    this.#view ??= geo.viewOf(this.#placed, width, height, Math.min(64, width / 7))
      ?? { latitude: 20, longitude: 0, pixels: width / 360 };
    const projection = (this.#projection = geo.project(this.#view, width, height));
    const inside = this.#placed.map(({ row, latitude, longitude }) => ({ id: row.id, ...projection.at(latitude, longitude) }))
      .filter(({ x, y }) => x > -20 && y > -20 && x < width + 20 && y < height + 20);
    this.plane.classList.toggle("discs", this.#hasDiscs);
    this.#mark(this.#hasDiscs ? [] : geo.clusters(inside, reach));
    const { pixels, kilometres } = projection.scale;
    this.#bar.style.width = `${pixels}px`;
    setText(this.#bar, kilometres < 1 ? `${units.tick(kilometres * 1000)} m` : `${units.tick(kilometres)} km`);
    const missing = this.#rows.length - this.#placed.length;
    setText(this.#unplaced, missing > 0 ? words.unplaced(missing) : "");
    this.#color();
    this.surface.redraw();
    this.upper.redraw();
  }

  #mark(found) {
    const spots = geo.labels(found.map(({ x, y, members }) =>
      ({ x, y, radius: 18, width: members.length === 1 ? wideOf(members[0].id) : 0, height: 17 })), this.#size.width, this.#size.height);
    const focused = document.activeElement?.closest?.(".pins") ? document.activeElement.getAttribute("data-key") : null;
    const open = (ids) => this.#fit(ids.map((id) => this.#placed.find(({ row }) => row.id === id)), true);
    this.#marks = found.map((one, i) => makeMark(one, spots[i], open));
    this.#pins.replaceChildren(...this.#marks.flatMap(({ parts }) => parts));
    if (focused) this.#pins.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  // Intensities and states into the marks: each second.
  #color() {
    const byId = new Map(this.#rows.map((row) => [row.id, row]));
    for (const mark of this.#marks) colorMark(mark, byId, this.#strengths);
  }

  #paint(context, width, height) {
    const projection = this.#projection;
    if (!projection) return;
    const elements = this.#marks.flatMap(({ parts }) => parts);
    const { tiled, credit, spots } = paintGround(context, projection, this.#view, width, height, elements);
    this.#spots = spots;
    this.plane.classList.toggle("tiled", tiled);
    setText(this.#credit, credit);
    if (this.#hasDiscs) {
      paintDiscs(context, this.#placed.map(({ row, latitude, longitude }) =>
        ({ ...projection.at(latitude, longitude), value: this.#strengths.get(row.id) })));
    }
  }

  // MARK: What it is told

  // Rows of rank.js.
  show(rows) {
    this.#rows = rows;
    this.#placed = located(rows);
    const now = this.#placed.map(({ row, latitude, longitude }) => `${row.id} ${latitude} ${longitude}`).join();
    if (now === this.#places) return this.#color();
    this.#places = now;
    return this.#isOwn ? this.#arrange() : this.#fit();
  }

  // draw(context, projection, colors): what lies above the stations; null ends it.
  overlay(draw) {
    const was = Boolean(this.#overlay);
    this.#overlay = draw;
    if (was !== Boolean(draw)) this.#arrange();
    else this.upper.redraw();
  }

  look(points) {
    this.#fit(points, true);
  }

  // The middle of what is seen, and how far it is from there to the nearer edge: { latitude, longitude, km }; null without a view.
  centre() {
    if (!this.#view || !this.#projection) return null;
    const { latitude, longitude } = this.#view;
    return { latitude, longitude, km: Math.min(this.#size.width, this.#size.height) / 2 / this.#projection.kilometre };
  }

  // What lies above the stations, anew: waves that run.
  redraw() {
    this.upper.redraw();
  }

  // What is seen: { projection, width, height }; null without a view.
  frame() {
    return this.#projection ? { projection: this.#projection, ...this.#size } : null;
  }

  // A map of the shaking: stations in the colours of these intensities (id -> Mercalli), many of them as discs; null ends it.
  shake(values) {
    const was = Boolean(this.#strengths);
    this.#strengths = values;
    if (was !== Boolean(values)) return this.#arrange();
    this.#color();
    return this.surface.redraw();
  }

  state() {
    return { view: this.#view, marks: this.#marks.length, placed: this.#placed.length, isOverlaid: this.#overlay !== null,
      isMoved: this.#isMoved, places: this.#spots.map(({ name }) => name) };
  }

  stop() {
    for (const stop of this.stops) stop();
  }
}
