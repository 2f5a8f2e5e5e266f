// Names of places on a map: which there is room for, the most important first; and which is nearest.

import { ground } from "./ground.js";

// Lines of "name, degrees north, degrees east", see deploy/dashboard/places.
function parse(text) {
  const list = [];
  for (const line of text.split("\n")) {
    const [name, latitude, longitude] = line.split("\t");
    if (line.startsWith("#") || longitude === undefined) continue;
    const place = { name, latitude: Number(latitude), longitude: Number(longitude) };
    if (name !== "" && Math.abs(place.latitude) <= 90 && Math.abs(place.longitude) <= 180) list.push(place);
  }
  return list;
}

const overlap = (a, b) => a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top;

// Those that a projection of geo.js shows in a box of that size, at most `most`: [{ name, x, y (of its point), left, top }].
// `taken` are boxes { left, top, right, bottom } that nothing may cover; wide(name) is how wide a name is. Names keep some room
// around them, so that a map of a continent is not full of them.
function inside(list, projection, width, height, { taken = [], wide, line = 14, most = 40 }) {
  const boxes = [];
  const found = [];
  const [upper, lower] = [projection.back(0, 0), projection.back(width, height)];
  for (const { name, latitude, longitude } of list) {
    if (latitude > upper.latitude || latitude < lower.latitude) continue;
    const { x, y } = projection.at(latitude, longitude);
    if (!(x > 2 && x < width - 2 && y > 2 && y < height - 2)) continue;
    const w = wide(name);
    // Beside its point, or above or below it; or so far from it that there is room for the mark of a station.
    const spots = [6, 18].flatMap((far) => [[far, -line / 2], [-far - w, -line / 2], [-w / 2, far - 1], [-w / 2, 1 - far - line]]);
    for (const [dx, dy] of spots) {
      const box = { left: x + dx, top: y + dy, right: x + dx + w, bottom: y + dy + line };
      if (box.left < 2 || box.top < 2 || box.right > width - 2 || box.bottom > height - 2) continue;
      const whole = { left: Math.min(box.left, x - 4), top: Math.min(box.top, y - 4), right: Math.max(box.right, x + 4),
        bottom: Math.max(box.bottom, y + 4) };
      if (boxes.some((other) => overlap(whole, other)) || taken.some((other) => overlap(box, other))) continue;
      boxes.push({ left: whole.left - 16, top: whole.top - 10, right: whole.right + 16, bottom: whole.bottom + 10 });
      found.push({ name, x, y, left: box.left, top: box.top });
      break;
    }
    if (found.length >= most) break;
  }
  return found;
}

// The place that is nearest to a point { latitude, longitude }, of the first ones in the list where several are about as near:
// { name, km, azimuth (of the point, seen from the place; degrees) }; null where none is within 300 km.
const farthest = 300;
function nearest(list, at) {
  let best = null;
  for (const one of list) {
    if (Math.abs(one.latitude - at.latitude) > farthest / 110) continue;
    const km = ground.distance(one, at);
    if (km <= farthest && !(best && km > 0.8 * best.km)) best = { name: one.name, km, azimuth: ground.azimuth(one, at) };
  }
  return best;
}

export const places = { parse, inside, nearest };
