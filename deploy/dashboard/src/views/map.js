// Stations where they are, on coasts and borders that the page brings along, or on the tiles that its operator wants. Those that
// would cover each other are one mark that says how many; a name is shown whole or not at all, with a line to its station where
// there is no room beside it.

import { newSurface, paper, plot, themeColors } from "../canvas.js";
import { fillColor, h, setClass, setText } from "../dom.js";
import { fleet } from "../fleet.js";
import { mapPlaces } from "../places.js";
import { geo } from "../pure/geo.js";
import { places } from "../pure/places.js";
import { scales } from "../pure/scales.js";
import { units } from "../pure/units.js";
import { router } from "../router.js";
import { numbers, text } from "../text.js";
import { mapTiles } from "../tiles.js";

const words = text.map;
const reach = 30;
// Up to so many stations a map of the shaking has marks with names, above that discs.
const fewDiscs = 30;
// Below so many kilometres across, lines that are 30 km off are worse than none, and so are places that are 1 km off.
const coarse = 400;
const near = 12;

let lines = null;
// [{ kind, points: [longitude, latitude, …], west, east, south, north }], unpacked once.
function unpacked() {
  const coastlines = mapPlaces.coastlines();
  if (!coastlines) return [];
  return (lines ??= ["border", "coast"].flatMap((kind) => coastlines[kind].split("|").map((line) => {
    const points = line.split(",").map(Number);
    let [x, y] = [0, 0];
    const box = { west: 999, east: -999, south: 999, north: -999 };
    for (let i = 0; i < points.length; i += 2) {
      points[i] = x += points[i];
      points[i + 1] = y += points[i + 1];
      points[i] *= coastlines.step;
      points[i + 1] *= coastlines.step;
      box.west = Math.min(box.west, points[i]);
      box.east = Math.max(box.east, points[i]);
      box.south = Math.min(box.south, points[i + 1]);
      box.north = Math.max(box.north, points[i + 1]);
    }
    return { kind, points, ...box };
  })));
}

// stationMap() -> { element, show(rows of rank.js), overlay(draw(context, projection)), look(points), stop() }
export function stationMap() {
  const bar = h("div", { class: "scale-bar", "aria-hidden": "true" });
  const ground = h("canvas", { class: "ground", "aria-hidden": "true" });
  const pins = h("div", { class: "pins" });
  // Above the stations: an earthquake that lies below them is seen.
  const above = h("canvas", { class: "above", "aria-hidden": "true" });
  const small = (label, name, action) =>
    h("button", { type: "button", class: "plain small", "aria-label": name, title: name, onclick: action }, label);
  const tools = h("div", { class: "together map-tools" }, small("−", words.zoomOut, () => zoom(0.5)),
    small("○", words.all, () => fit()),
    small("+", words.zoomIn, () => zoom(2)));
  const plane = h("div", { class: "plane", tabindex: "0", role: "group", "aria-label": words.label, onkeydown: key }, ground, pins, above,
    bar, tools);
  const unplaced = h("p", { class: "quiet small-note" });
  const coast = h("p", { class: "quiet small-note credit" });
  const element = h("section", { class: "card map-card", hidden: true, "aria-label": words.title }, h("h2", {}, words.title), plane,
    unplaced, coast);
  let size = { width: 0, height: 0 };
  let view = null;
  // The reader has chosen the view: stations that come do not move it.
  let own = false;
  let isMoved = false;
  let rows = [];
  let placed = [];
  let projection = null;
  let overlay = null;
  let strengths = null;
  const surface = newSurface(ground, paint);
  const upper = newSurface(above, (context) => projection && overlay?.(context, projection, themeColors()));

  const located = () => rows.flatMap((row) => {
    const place = fleet.stations.get(row.id)?.info?.station;
    return geo.place(place?.latitude, place?.longitude) ? [{ row, latitude: place.latitude, longitude: place.longitude }] : [];
  });

  // What has to be looked at as soon as the plane has a size.
  let wanted = null;
  function fit(points = placed, keep = false) {
    own = keep;
    if (size.width === 0) {
      wanted = keep ? points : null;
      return arrange();
    }
    view = geo.viewOf(points, size.width, size.height, Math.min(64, size.width / 7));
    if (view) view.pixels = Math.min(view.pixels, 4000);
    arrange();
  }

  function zoom(by, x = size.width / 2, y = size.height / 2) {
    if (!view || !projection) return;
    const about = projection.back(x, y);
    const pixels = Math.min(40000, Math.max(size.width / 360, view.pixels * by));
    const part = 1 - view.pixels / pixels;
    view = { latitude: view.latitude + (about.latitude - view.latitude) * part,
      longitude: view.longitude + (about.longitude - view.longitude) * part, pixels };
    own = isMoved = true;
    arrange();
  }

  function pan(x, y) {
    if (!projection) return;
    const { latitude, longitude } = projection.back(size.width / 2 + x, size.height / 2 + y);
    view = { ...view, latitude: Math.min(89, Math.max(-89, latitude)), longitude };
    own = isMoved = true;
    arrange();
  }

  function key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target !== plane) return;
    const step = 60;
    const actions = { ArrowLeft: () => pan(-step, 0), ArrowRight: () => pan(step, 0), ArrowUp: () => pan(0, -step),
      ArrowDown: () => pan(0, step), "+": () => zoom(2), "=": () => zoom(2), "-": () => zoom(0.5), 0: () => fit() };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  let drag = null;
  plane.addEventListener("pointerdown", (event) => {
    if (event.button === 0 && event.pointerType !== "touch" && !event.target.closest("a, button")) drag = { x: event.clientX,
      y: event.clientY };
  });
  plane.addEventListener("pointermove", (event) => {
    if (!drag) return;
    plane.setPointerCapture(event.pointerId);
    pan(drag.x - event.clientX, drag.y - event.clientY);
    drag = { x: event.clientX, y: event.clientY };
  });
  for (const end of ["pointerup", "pointercancel"]) plane.addEventListener(end, () => (drag = null));
  plane.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const bounds = plane.getBoundingClientRect();
    zoom(event.deltaY > 0 ? 0.8 : 1.25, event.clientX - bounds.left, event.clientY - bounds.top);
  }, { passive: false });

  // Marks for what is in sight, made anew: where stations are changes seldom.
  let marks = [];
  function arrange() {
    element.hidden = placed.length < 1 && !overlay;
    if (element.hidden || size.width === 0) return;
    view ??= geo.viewOf(placed, size.width, size.height, Math.min(64, size.width / 7))
      ?? { latitude: 20, longitude: 0, pixels: size.width / 360 };
    projection = geo.project(view, size.width, size.height);
    const inside = placed.map(({ row, latitude, longitude }) => ({ id: row.id, ...projection.at(latitude, longitude) }))
      .filter(({ x, y }) => x > -20 && y > -20 && x < size.width + 20 && y < size.height + 20);
    plane.classList.toggle("discs", Boolean(strengths) && placed.length > fewDiscs);
    const found = strengths && placed.length > fewDiscs ? [] : geo.clusters(inside, reach);
    const wide = (name) => name.length * 6.9 + 10;
    const spots = geo.labels(found.map(({ x, y, members }) =>
      ({ x, y, radius: 18, width: members.length === 1 ? wide(members[0].id) : 0, height: 17 })), size.width, size.height);
    const focused = document.activeElement?.closest?.(".pins") ? document.activeElement.getAttribute("data-key") : null;
    marks = found.map((one, i) => mark(one, spots[i], wide));
    pins.replaceChildren(...marks.flatMap(({ parts }) => parts));
    if (focused) pins.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
    bar.style.width = `${projection.scale.pixels}px`;
    setText(bar, projection.scale.kilometres < 1 ? `${units.tick(projection.scale.kilometres * 1000)} m`
      : `${units.tick(projection.scale.kilometres)} km`);
    setText(unplaced, rows.length > placed.length ? words.unplaced(rows.length - placed.length) : "");
    color();
    surface.redraw();
    upper.redraw();
  }

  function mark({ x, y, members }, spot, wide) {
    const dot = h("span", { class: "dot-step" });
    const key = members[0].id;
    const made = members.length === 1
      ? h("a", { class: "pin", href: router.address("station", key), dataset: { key } }, dot)
      : h("button", { type: "button", class: "pin cluster", dataset: { key },
        onclick: () => fit(members.map(({ id }) => placed.find(({ row }) => row.id === id)), true) }, dot,
        h("span", { class: "cluster-count" }, numbers.text(members.length)));
    made.style.left = `${x}px`;
    made.style.top = `${y}px`;
    const parts = [];
    if (spot?.line) {
      const [tx, ty] = [spot.x + (spot.x > x ? 0 : wide(key)), spot.y + 8];
      const line = h("span", { class: "leader", "aria-hidden": "true" });
      line.style.left = `${x}px`;
      line.style.top = `${y}px`;
      line.style.width = `${Math.hypot(tx - x, ty - y)}px`;
      line.style.transform = `rotate(${Math.atan2(ty - y, tx - x)}rad)`;
      parts.push(line);
    }
    parts.push(made);
    if (spot) {
      const name = h("span", { class: "pin-name", "aria-hidden": "true" }, key);
      name.style.left = `${spot.x}px`;
      name.style.top = `${spot.y}px`;
      parts.push(name);
    }
    return { members: members.map(({ id }) => id), dot, element: made, parts };
  }

  // Intensities and states into the marks: each second.
  function color() {
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const { members, dot, element: made } of marks) {
      const list = members.map((id) => byId.get(id)).filter(Boolean);
      const away = (one) => one.state === "offline" || one.state === "silent";
      const worst = list.filter((one) => !away(one)).reduce((most, one) => (!(most?.intensity >= one.intensity) ? one : most), null);
      const strongest = strengths ? members.reduce((most, id) => (strengths.get(id) > most ? strengths.get(id) : most), -Infinity) : NaN;
      const step = strengths ? scales.intensity({ scale: "mmi", value: strongest }) : worst?.item ? scales.intensity(worst.item) : null;
      const shaking = list.some((one) => one.triggered);
      const name = step?.name ?? "–";
      setText(dot, name);
      fillColor(dot, step?.color);
      setClass(made, "shaking", shaking);
      setClass(made, "away", list.length > 0 && list.every(away));
      const label = members.length > 1 ? words.cluster(members.length, name)
        : words.pin(members[0], name, text.overview.states[list[0]?.state ?? "unknown"]);
      if (made.title !== label) {
        made.title = label;
        made.setAttribute("aria-label", label);
      }
    }
  }

  function paint(context, width, height) {
    if (!projection) return;
    const colors = themeColors();
    const { at, latitudes, longitudes, across } = projection;
    // In the dark less bright.
    context.globalAlpha = scales.ink(colors.card) === "#ffffff" ? 0.55 : 0.9;
    const tiled = mapTiles.paint(context, view, width, height);
    context.globalAlpha = 1;
    plane.classList.toggle("tiled", tiled);
    const named = !tiled && across >= near && mapPlaces.list().length > 0;
    setText(coast, tiled ? mapTiles.setting.attribution : [across >= coarse ? words.coast : "",
      named ? words.places : ""].filter(Boolean).join(" · "));
    context.strokeStyle = colors.grid;
    context.fillStyle = colors.quiet;
    context.lineWidth = 1;
    plot.setFont(context, 11);
    context.beginPath();
    // Tiles say where they are.
    for (const latitude of tiled ? [] : latitudes) {
      const { y } = at(latitude, view.longitude);
      context.moveTo(0, y);
      context.lineTo(width, y);
      if (y > 16 && y < height - 24) context.fillText(geo.latitude(latitude), 6, y - 4);
    }
    for (const longitude of tiled ? [] : longitudes) {
      const x = at(view.latitude, longitude).x;
      context.moveTo(x, 0);
      context.lineTo(x, height);
      if (x > 60 && x < width - 44) context.fillText(geo.longitude(longitude), x + 4, height - 6);
    }
    context.stroke();
    if (across >= coarse && !tiled) paintCoasts(context, width, height, colors);
    if (named) paintPlaces(context, width, height, colors);
    if (strengths && placed.length > fewDiscs) paintDiscs(context, colors);
  }

  // Places for which there is room beside the stations and their names, the tools and the scale.
  let spots = [];
  function paintPlaces(context, width, height, colors) {
    const taken = [{ left: 0, top: 0, right: 130, bottom: 48 }, { left: width - projection.scale.pixels - 30, top: 0, right: width,
      bottom: 36 }];
    for (const { parts } of marks) {
      for (const { offsetLeft: x, offsetTop: y, offsetWidth: w, offsetHeight: h, classList } of parts) {
        if (classList.contains("leader")) continue;
        // A pin has its place in its middle, a name in its corner.
        const [left, top] = classList.contains("pin") ? [x - w / 2, y - h / 2] : [x, y];
        taken.push({ left, top, right: left + w, bottom: top + h });
      }
    }
    plot.setFont(context, 11);
    spots = places.inside(mapPlaces.list(), projection, width, height, { taken, wide: (name) => context.measureText(name).width });
    context.textAlign = "left";
    context.textBaseline = "top";
    context.lineWidth = 3;
    for (const { name, x, y, left, top } of spots) {
      context.fillStyle = colors.quiet;
      context.beginPath();
      context.arc(x, y, 1.8, 0, 2 * Math.PI);
      context.fill();
      context.strokeStyle = colors.card;
      context.strokeText(name, left, top);
      context.fillText(name, left, top);
    }
    context.textBaseline = "alphabetic";
  }

  // Many stations of a map of the shaking: the strongest above the others, those that noticed nothing small.
  function paintDiscs(context, colors) {
    const value = ({ row }) => strengths.get(row.id) ?? -1;
    for (const one of [...placed].sort((a, b) => value(a) - value(b))) {
      const { x, y } = projection.at(one.latitude, one.longitude);
      const step = scales.intensity({ scale: "mmi", value: strengths.get(one.row.id) });
      context.beginPath();
      context.arc(x, y, step ? 6 : 2.5, 0, 2 * Math.PI);
      context.fillStyle = step?.color ?? colors.quiet;
      context.fill();
      if (!step) continue;
      context.strokeStyle = colors.ink;
      context.lineWidth = 0.8;
      context.stroke();
    }
  }

  function paintCoasts(context, width, height, colors) {
    const { at, back } = projection;
    const [upper, lower] = [back(0, 0), back(width, height)];
    for (const { kind, points, south, north } of unpacked()) {
      if (north < lower.latitude || south > upper.latitude) continue;
      context.strokeStyle = kind === "coast" ? colors.quiet : colors.line;
      context.beginPath();
      let before = NaN;
      for (let i = 0; i < points.length; i += 2) {
        const { x, y } = at(points[i + 1], points[i]);
        // Around the back of the world.
        if (i === 0 || Math.abs(x - before) > width * 0.8) context.moveTo(x, y);
        else context.lineTo(x, y);
        before = x;
      }
      context.stroke();
    }
  }

  const observer = new ResizeObserver(() => {
    if (plane.clientWidth === size.width && plane.clientHeight === size.height) return;
    size = { width: plane.clientWidth, height: plane.clientHeight };
    if (wanted) {
      fit(wanted, true);
      wanted = null;
    } else if (own) arrange();
    else fit();
  });
  observer.observe(plane);
  // Tiles come one by one, and are painted together.
  let due = 0;
  const later = () => {
    cancelAnimationFrame(due);
    due = requestAnimationFrame(() => surface.redraw());
  };
  const stops = [mapTiles.on(later), mapPlaces.on(later)];
  // On paper the plane shows what it shows on the screen.
  let seen = null;
  const stopPaper = paper((is) => {
    const now = { width: plane.clientWidth, height: plane.clientHeight };
    if (!view || now.width === 0 || size.width === 0) return;
    if (is) {
      seen = { view, size };
      view = { ...view, pixels: view.pixels * Math.min(now.width / size.width, now.height / size.height) };
      size = now;
    } else if (seen) ({ view, size } = seen);
    arrange();
  });
  let key_ = "";
  return {
    element,
    show(list) {
      rows = list;
      placed = located();
      const now = placed.map(({ row, latitude, longitude }) => `${row.id} ${latitude} ${longitude}`).join();
      if (now !== key_) {
        key_ = now;
        if (own) arrange();
        else fit();
      } else color();
    },
    overlay(draw) {
      const was = Boolean(overlay);
      overlay = draw;
      if (was !== Boolean(draw)) arrange();
      else upper.redraw();
    },
    look: (points) => fit(points, true),
    // The middle of what is seen, and how far it is from there to the nearer edge: { latitude, longitude, km }; null without a view.
    centre: () => (view && projection ? { latitude: view.latitude, longitude: view.longitude,
      km: (Math.min(size.width, size.height) / 2) / projection.kilometre } : null),
    // What lies above the stations, anew: waves that run.
    redraw: () => upper.redraw(),
    // What is seen: { projection, width, height }; null without a view.
    frame: () => (projection ? { projection, ...size } : null),
    // A map of the shaking: stations in the colours of these intensities (id -> Mercalli), many of them as discs; null ends it.
    shake(values) {
      const was = Boolean(strengths);
      strengths = values;
      if (was !== Boolean(values)) return arrange();
      color();
      surface.redraw();
    },
    state: () => ({ view, marks: marks.length, placed: placed.length, isOverlaid: overlay !== null, isMoved,
      places: spots.map(({ name }) => name) }),
    stop() {
      observer.disconnect();
      stopPaper();
      for (const stop of stops) stop();
      surface.stop();
      upper.stop();
    },
  };
}
