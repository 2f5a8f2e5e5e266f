// What is drawn of a map below the marks of its stations: coasts or tiles, lines of latitude and longitude, names of places, discs.

import { plot, themeColors } from "../canvas.js";
import { mapPlaces } from "../places.js";
import { geo } from "../pure/geo.js";
import { places } from "../pure/places.js";
import { scales } from "../pure/scales.js";
import { text } from "../text.js";
import { mapTiles } from "../tiles.js";

const words = text.map;
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

function paintCoasts(context, projection, width, height, colors) {
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

function paintLines(context, { at, latitudes, longitudes }, view, width, height) {
  context.beginPath();
  for (const latitude of latitudes) {
    const { y } = at(latitude, view.longitude);
    context.moveTo(0, y);
    context.lineTo(width, y);
    if (y > 16 && y < height - 24) context.fillText(geo.latitude(latitude), 6, y - 4);
  }
  for (const longitude of longitudes) {
    const { x } = at(view.latitude, longitude);
    context.moveTo(x, 0);
    context.lineTo(x, height);
    if (x > 60 && x < width - 44) context.fillText(geo.longitude(longitude), x + 4, height - 6);
  }
  context.stroke();
}

// Places for which there is room beside the stations and their names (elements), the tools and the scale: [{ name, x, y, left, top }].
function paintPlaces(context, projection, width, height, elements, colors) {
  const taken = [{ left: 0, top: 0, right: 130, bottom: 48 },
    { left: width - projection.scale.pixels - 30, top: 0, right: width, bottom: 36 }];
  for (const { offsetLeft: x, offsetTop: y, offsetWidth: w, offsetHeight: h, classList } of elements) {
    if (classList.contains("leader")) continue;
    // A pin has its place in its middle, a name in its corner.
    const [left, top] = classList.contains("pin") ? [x - w / 2, y - h / 2] : [x, y];
    taken.push({ left, top, right: left + w, bottom: top + h });
  }
  plot.setFont(context, 11);
  const spots = places.inside(mapPlaces.list(), projection, width, height, { taken, wide: (name) => context.measureText(name).width });
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
  return spots;
}

// Many stations of a map of the shaking ({ x, y, value }): the strongest above the others, those that noticed nothing small.
export function paintDiscs(context, discs) {
  const colors = themeColors();
  const strength = ({ value }) => value ?? -1;
  for (const { x, y, value } of [...discs].sort((a, b) => strength(a) - strength(b))) {
    const step = scales.intensity({ scale: "mmi", value });
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

// The ground of a map: { tiled, credit, spots }: whether tiles are shown, whose they or the coasts are, and the places.
export function paintGround(context, projection, view, width, height, elements) {
  const colors = themeColors();
  // In the dark less bright.
  context.globalAlpha = scales.ink(colors.card) === "#ffffff" ? 0.55 : 0.9;
  const tiled = mapTiles.paint(context, view, width, height);
  context.globalAlpha = 1;
  const { across } = projection;
  const [hasCoasts, hasNames] = [across >= coarse && !tiled, !tiled && across >= near && mapPlaces.list().length > 0];
  context.strokeStyle = colors.grid;
  context.fillStyle = colors.quiet;
  context.lineWidth = 1;
  plot.setFont(context, 11);
  // Tiles say where they are.
  if (!tiled) paintLines(context, projection, view, width, height);
  if (hasCoasts) paintCoasts(context, projection, width, height, colors);
  return {
    tiled,
    credit: tiled ? mapTiles.setting.attribution : [across >= coarse ? words.coast : "", hasNames ? words.places : ""]
      .filter(Boolean).join(" · "),
    spots: hasNames ? paintPlaces(context, projection, width, height, elements, colors) : [],
  };
}
