// Stations on a plane map, without anybody's tiles.

import { text } from "../text.js";
import { scales } from "./scales.js";
import { units } from "./units.js";

const kilometresPerDegree = 111.195;

const place = (latitude, longitude) =>
  Number.isFinite(latitude) && Number.isFinite(longitude) && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 360;

// Longitudes that belong together although 180° is between them.
function unwrap(longitudes) {
  const shifted = longitudes.map((value) => ((value % 360) + 360) % 360);
  const plain = longitudes.map((value) => ((((value + 180) % 360) + 360) % 360) - 180);
  const span = (list) => Math.max(...list) - Math.min(...list);
  return span(shifted) < span(plain) - 1e-9 ? shifted : plain;
}

// What is seen of the world: its centre and how many pixels a degree of latitude has. Of points [{ latitude, longitude }]
// in a box of that size; null without points.
function viewOf(points, width, height, padding) {
  if (points.length === 0) return null;
  const longitudes = unwrap(points.map((point) => point.longitude));
  const latitudes = points.map((point) => point.latitude);
  const ends = (list) => [list.reduce((a, b) => Math.min(a, b)), list.reduce((a, b) => Math.max(a, b))];
  const [south, north] = ends(latitudes);
  const [west, east] = ends(longitudes);
  const centre = { latitude: (south + north) / 2, longitude: (west + east) / 2 };
  // At least 2 km across, so that one station, or several in one building, are not a whole map apart.
  const least = 2 / kilometresPerDegree;
  const wide = Math.max(least, (east - west) * squeezeAt(centre.latitude));
  const high = Math.max(least, north - south);
  return { ...centre, pixels: Math.min((width - 2 * padding) / wide, (height - 2 * padding) / high) };
}

const squeezeAt = (latitude) => Math.max(0.05, Math.cos((latitude * Math.PI) / 180));

// at(latitude, longitude) -> pixels; back(x, y); the scale bar and the lines of the grid of a view.
function project(view, width, height) {
  const { latitude, longitude, pixels } = view;
  const squeeze = squeezeAt(latitude);
  const near = (value) => ((((value - longitude) % 360) + 540) % 360) - 180;
  const kilometres = scales.niceAbove((width / 6 / pixels) * kilometresPerDegree);
  const degrees = { x: width / pixels / squeeze, y: height / pixels };
  return {
    at: (lat, lon) => ({ x: width / 2 + near(lon) * squeeze * pixels, y: height / 2 - (lat - latitude) * pixels }),
    back: (x, y) => ({ latitude: latitude - (y - height / 2) / pixels, longitude: longitude + (x - width / 2) / pixels / squeeze }),
    kilometre: pixels / kilometresPerDegree,
    across: degrees.x * squeeze * kilometresPerDegree,
    scale: { kilometres, pixels: (kilometres / kilometresPerDegree) * pixels },
    latitudes: scales.ticks(latitude - degrees.y / 2, latitude + degrees.y / 2, 4).filter((value) => Math.abs(value) <= 90),
    longitudes: scales.ticks(longitude - degrees.x / 2, longitude + degrees.x / 2, 6),
  };
}

// Points { x, y, … } that lie nearer than `reach` to each other become one: [{ x, y, members }], at the middle of them.
function clusters(points, reach) {
  let found = gathered(points.map((point) => ({ x: point.x, y: point.y, members: [point] })), reach);
  // Their middles may have come near to each other.
  for (let round = 0, before = Infinity; round < 6 && found.length < before; round++) {
    before = found.length;
    found = gathered(found, reach);
  }
  return found;
}

function gathered(points, reach) {
  const cells = new Map();
  const list = [];
  for (const point of points) {
    const [i, j] = [Math.floor(point.x / reach), Math.floor(point.y / reach)];
    let best = null;
    for (let a = i - 1; a <= i + 1; a++) {
      for (let b = j - 1; b <= j + 1; b++) {
        for (const one of cells.get(`${a} ${b}`) ?? []) {
          const far = Math.hypot(one.x - point.x, one.y - point.y);
          if (far < reach && !(best?.far <= far)) best = { one, far };
        }
      }
    }
    if (best) best.one.members.push(...point.members);
    else {
      const made = { x: point.x, y: point.y, members: [...point.members] };
      list.push(made);
      const key = `${i} ${j}`;
      cells.set(key, [...(cells.get(key) ?? []), made]);
    }
  }
  for (const one of list) {
    if (one.members.length === 1) continue;
    one.x = one.members.reduce((sum, point) => sum + point.x, 0) / one.members.length;
    one.y = one.members.reduce((sum, point) => sum + point.y, 0) / one.members.length;
  }
  return list;
}

// A place for each label { x, y (of its point), width, height, radius } so that none covers a point or another label and
// all are whole: { x, y (left upper corner), line: whether one has to lead there }, or null where there is none.
function labels(points, width, height) {
  const taken = points.map(({ x, y, radius }) => ({ left: x - radius, right: x + radius, top: y - radius, bottom: y + radius }));
  const free = (box) => box.left >= 2 && box.top >= 2 && box.right <= width - 2 && box.bottom <= height - 2 &&
    !taken.some((other) => box.left < other.right && box.right > other.left && box.top < other.bottom && box.bottom > other.top);
  return points.map((point) => {
    if (!point.width) return null;
    const [w, h, r] = [point.width, point.height, point.radius + 2];
    for (const reach of [0, 14, 30, 48]) {
      const d = (r + reach) * (reach ? 0.75 : 1);
      const places = reach === 0 ? [[r, -h / 2], [-r - w, -h / 2], [-w / 2, r], [-w / 2, -r - h]]
        : [[d, -d - h], [d, d], [-d - w, -d - h], [-d - w, d]];
      for (const [dx, dy] of places) {
        const box = { left: point.x + dx, top: point.y + dy, right: point.x + dx + w, bottom: point.y + dy + h };
        if (!free(box)) continue;
        taken.push(box);
        return { x: box.left, y: box.top, line: reach > 0 };
      }
    }
    return null;
  });
}

const degrees = (value, positive, negative) => `${units.tick(Math.abs(value))}° ${value < 0 ? negative : positive}`;
const [north, east, south, west] = text?.event.directions ?? ["N", "E", "S", "W"];

export const geo = {
  place, viewOf, project, clusters, labels, latitude: (v) => degrees(v, north, south),
    longitude: (v) => degrees(((v + 540) % 360) - 180, east, west),
};
