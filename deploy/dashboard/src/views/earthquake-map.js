// An earthquake of the network on a map: where it was, how well that is known, and where its waves are now.

import { plot } from "../canvas.js";
import { earthquakes } from "../earthquakes.js";
import { fleet } from "../fleet.js";
import { geo } from "../pure/geo.js";
import { ground } from "../pure/ground.js";
import { units } from "../pure/units.js";
import { text } from "../text.js";

const words = text.network;
const waves = [["p", "rms"], ["s", "raw"]];
// Stations are joined to the epicentre up to so many.
const mostLines = 60;
const arrow = 70;

// Whether a distance may be told: beyond the network, or where stations are too few, the place is a direction or a guess.
export const isPlaced = (event) => event.place?.quality === undefined || ["good", "ambiguous"].includes(event.place.quality);

// Whether its waves still run, so that the picture changes.
const isRunning = (event) => Boolean(event) && isPlaced(event)
  && earthquakes.now() - units.milliseconds(event.origin_time) < (ground.seconds + 2) * 1000;

const placeOf = (id) => {
  const place = fleet.stations.get(id)?.info?.station;
  return geo.place(place?.latitude, place?.longitude) ? place : null;
};

// How many of its stations have a place.
export const placedStations = (event) => (event.stations ?? []).filter(({ id }) => placeOf(id)).length;

// All that has to be in sight: the stations, the region of the epicentre, and itself.
export function pointsOf(event) {
  const stations = (event.stations ?? []).map(({ id }) => placeOf(id)).filter(Boolean);
  const region = (event.place?.region ?? []).flatMap(({ latitude, longitude }) =>
    latitude.map((value, i) => ({ latitude: value, longitude: longitude[i] })));
  // A region that is far larger than the network would make it a point.
  const near = region.length > 0 && stations.length > 0 && (event.place?.extent_km ?? 0) > 400 ? [] : region;
  // Some 50 km around the epicentre, so that it is not all that is seen.
  const around = isPlaced(event) ? [-0.25, 0.25].map((by) => ({ latitude: event.latitude + by, longitude: event.longitude + by })) : [];
  return [...around, ...stations, ...near];
}

// Draws the waves of an earthquake anew as they run; of the one that `current` gives. Returns what ends it.
export function followWaves(map, current) {
  let timer = 0;
  function look() {
    const event = current();
    const frame = !document.hidden && isRunning(event) ? map.frame() : null;
    const pause = frame ? wavePause(event, frame) : Infinity;
    if (pause < Infinity) map.redraw();
    timer = setTimeout(look, Math.min(pause, 500));
  }
  timer = setTimeout(look, 200);
  return () => clearTimeout(timer);
}

// Until the fastest circle that is seen has gone on by some pixels, ms; Infinity when none is seen.
function wavePause(event, { projection, width, height }) {
  const age = (earthquakes.now() - units.milliseconds(event.origin_time)) / 1000;
  const { x, y } = projection.at(event.latitude, event.longitude);
  const corner = Math.hypot(Math.max(x, width - x), Math.max(y, height - y)) / projection.kilometre;
  const nearest = Math.hypot(Math.max(0, -x, x - width), Math.max(0, -y, y - height)) / projection.kilometre;
  return ground.pause({ age, depth: event.depth_km ?? 10, nearest, farthest: corner, kilometre: projection.kilometre });
}

function star(context, x, y, size, isFilled) {
  context.beginPath();
  for (let i = 0; i < 10; i++) {
    const radius = i % 2 ? size * 0.4 : size;
    context.lineTo(x + radius * Math.sin((i * Math.PI) / 5), y - radius * Math.cos((i * Math.PI) / 5));
  }
  context.closePath();
  if (isFilled) context.fill();
  context.stroke();
}

function paintRegion(context, at, colors, { region = [] }) {
  context.strokeStyle = context.fillStyle = colors.bad;
  context.lineWidth = 1.5;
  for (const { latitude, longitude } of region) {
    context.beginPath();
    latitude.forEach((value, i) => {
      const { x, y } = at(value, longitude[i]);
      context.lineTo(x, y);
    });
    context.closePath();
    context.globalAlpha = 0.13;
    context.fill();
    context.globalAlpha = 1;
    context.setLineDash([5, 4]);
    context.stroke();
    context.setLineDash([]);
  }
}

function paintEllipse(context, x, y, kilometre, colors, ellipse) {
  if (!Number.isFinite(ellipse?.semi_major_km) || !Number.isFinite(ellipse.semi_minor_km)) return;
  context.strokeStyle = context.fillStyle = colors.bad;
  context.beginPath();
  // From north, clockwise; pixels count downwards.
  const turn = (((ellipse.azimuth_deg ?? 0) - 90) * Math.PI) / 180;
  context.ellipse(x, y, Math.max(2, ellipse.semi_major_km * kilometre), Math.max(2, ellipse.semi_minor_km * kilometre), turn, 0,
    2 * Math.PI);
  context.globalAlpha = 0.15;
  context.fill();
  context.globalAlpha = 1;
  context.stroke();
}

// Beyond the network: from the middle of its stations towards where it was.
function paintDirection(context, at, colors, event) {
  const stations = (event.stations ?? []).map(({ id }) => placeOf(id)).filter(Boolean);
  const azimuth = event.place?.azimuth_deg;
  if (stations.length === 0 || !Number.isFinite(azimuth)) return;
  const places = stations.map((place) => at(place.latitude, place.longitude));
  const [x, y] = ["x", "y"].map((axis) => places.reduce((sum, one) => sum + one[axis], 0) / places.length);
  const [dx, dy] = [Math.sin((azimuth * Math.PI) / 180), -Math.cos((azimuth * Math.PI) / 180)];
  context.strokeStyle = context.fillStyle = colors.bad;
  context.lineWidth = 4;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + dx * arrow, y + dy * arrow);
  context.stroke();
  context.beginPath();
  context.moveTo(x + dx * (arrow + 16), y + dy * (arrow + 16));
  context.lineTo(x + dx * arrow - dy * 9, y + dy * arrow + dx * 9);
  context.lineTo(x + dx * arrow + dy * 9, y + dy * arrow - dx * 9);
  context.fill();
}

function paintWaves(context, x, y, kilometre, colors, event, reach) {
  const age = (earthquakes.now() - units.milliseconds(event.origin_time)) / 1000;
  if (age < 0 || age > ground.seconds) return;
  for (const [wave, color] of waves) {
    const far = ground.reach(wave, age, event.depth_km ?? 10);
    // A circle beyond all that is seen is nothing but work.
    if (far === 0 || far * kilometre > reach) continue;
    context.strokeStyle = colors[color];
    context.fillStyle = colors.ink;
    context.lineWidth = 2.5;
    context.beginPath();
    context.arc(x, y, far * kilometre, 0, 2 * Math.PI);
    context.stroke();
    plot.setFont(context, 12);
    context.textAlign = "left";
    context.fillText(words[wave], x + far * kilometre * 0.71 + 4, y - far * kilometre * 0.71 - 4);
  }
}

export function paintEarthquake(context, { at, kilometre }, colors, event) {
  if (!event) return;
  const { x, y } = at(event.latitude, event.longitude);
  const placed = isPlaced(event);
  const { stations = [] } = event;
  if (placed && stations.length <= mostLines) {
    context.lineWidth = 1.5;
    context.strokeStyle = colors.quiet;
    context.globalAlpha = 0.5;
    for (const { id } of stations) {
      const place = placeOf(id);
      if (!place) continue;
      const to = at(place.latitude, place.longitude);
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(to.x, to.y);
      context.stroke();
    }
    context.globalAlpha = 1;
  }
  if (event.place?.region?.length > 0) paintRegion(context, at, colors, event.place);
  else paintEllipse(context, x, y, kilometre, colors, event.ellipse);
  context.lineWidth = 1.5;
  context.strokeStyle = colors.bad;
  context.fillStyle = colors.card;
  for (const other of event.place?.others ?? []) {
    const spot = at(other.latitude, other.longitude);
    star(context, spot.x, spot.y, 9, true);
  }
  if (!placed) return paintDirection(context, at, colors, event);
  paintWaves(context, x, y, kilometre, colors, event, 4000);
  context.fillStyle = colors.bad;
  context.strokeStyle = colors.card;
  star(context, x, y, 13, true);
}
