// The tiles of a map: only where the operator of the page says from whom (page.json beside index.html).

import { geo } from "./geo.js";

const size = 256;
// Below this zoom a tile, which is Mercator's, would be bent too much for this map, whose degrees are all as long.
const coarsest = 5;
const deepest = 19;
const most = 200;

// The setting { "tiles": "https://…/{z}/{x}/{y}.png", "attribution": "© …", "deepest": 17 } of a page at an address (`base`):
// { template, origin, attribution, deepest }; null where there is none, or one that cannot be used. Whose tiles they are has to
// be said.
function setting(said, base) {
  const { tiles: template, attribution, deepest: depth } = said ?? {};
  if (typeof template !== "string" || typeof attribution !== "string" || attribution.trim() === "") return null;
  if (!["{z}", "{x}", "{y}"].every((part) => template.includes(part))) return null;
  try {
    const { protocol, origin, username } = new URL(template.replace(/\{[zxy]\}/g, "0"), base);
    if (!["https:", "http:"].includes(protocol) || username !== "" || /[;,\s]/.test(origin)) return null;
    return { template, origin, attribution: attribution.trim().slice(0, 200),
      deepest: Number.isInteger(depth) ? Math.min(Math.max(depth, coarsest), 22) : deepest };
  } catch {
    return null;
  }
}

const address = ({ template }, { z, x, y }) => template.replaceAll("{z}", z).replaceAll("{x}", x).replaceAll("{y}", y);

// Rows of Mercator's projection, 0 at its northern end (85.05°) to 1.
const rowOf = (latitude) => 0.5 - Math.asinh(Math.tan((Math.min(85, Math.max(-85, latitude)) * Math.PI) / 180)) / (2 * Math.PI);
const latitudeOf = (row) => (Math.atan(Math.sinh((0.5 - row) * 2 * Math.PI)) * 180) / Math.PI;

// The tiles that a view of geo.js shows: [{ z, x, y, left, top, right, bottom (pixels) }]; none where it is too wide for them.
function inside(view, width, height, depth = deepest) {
  const projection = geo.project(view, width, height);
  const { at, back } = projection;
  const [upper, lower] = [back(0, 0), back(width, height)];
  const perDegree = width / (lower.longitude - upper.longitude);
  const z = Math.min(depth, Math.round(Math.log2((360 * perDegree) / size)));
  if (!(z >= coarsest)) return [];
  const count = 2 ** z;
  const column = (longitude) => ((longitude + 180) / 360) * count;
  const [top, bottom] = [Math.floor(rowOf(upper.latitude) * count), Math.floor(rowOf(lower.latitude) * count)];
  const list = [];
  for (let y = Math.max(0, top); y <= Math.min(count - 1, bottom); y++) {
    for (let x = Math.floor(column(upper.longitude)); x <= Math.floor(column(lower.longitude)); x++) {
      if (list.length >= most) return list;
      const west = (x / count) * 360 - 180;
      const left = (west - upper.longitude) * perDegree;
      list.push({
        z, x: ((x % count) + count) % count, y, left, right: left + (360 / count) * perDegree,
        top: at(latitudeOf(y / count), view.longitude).y, bottom: at(latitudeOf((y + 1) / count), view.longitude).y,
      });
    }
  }
  return list;
}

export const tiles = { setting, address, inside, rowOf, latitudeOf };
