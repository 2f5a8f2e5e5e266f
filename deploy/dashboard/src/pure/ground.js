// What an earthquake does at a place: distance, arrival of its waves, and the intensity that its magnitude lets expect.

const radius = 6371;
// Crustal velocities for a picture and a countdown, km/s; the detector's own table is finer.
const velocity = { p: 6, s: 3.5 };
// Waves that are on their way are drawn for so long (s), and one more.
const seconds = 240;
const radians = (degrees) => (degrees * Math.PI) / 180;

// Kilometres along the surface between two places { latitude, longitude }.
function distance(a, b) {
  const half = (one, other) => Math.sin(radians(other - one) / 2) ** 2;
  const h = half(a.latitude, b.latitude) + Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * half(a.longitude, b.longitude);
  return 2 * radius * Math.asin(Math.min(1, Math.sqrt(h)));
}

// The direction from one place to another: degrees clockwise from north.
function azimuth(from, to) {
  const [a, b, l] = [radians(from.latitude), radians(to.latitude), radians(to.longitude - from.longitude)];
  return ((Math.atan2(Math.sin(l) * Math.cos(b),
    Math.cos(a) * Math.sin(b) - Math.sin(a) * Math.cos(b) * Math.cos(l)) * 180) / Math.PI + 360) % 360;
}

// Seconds from the origin until a wave ("p" or "s") has come to that distance on the surface; both in km.
const arrival = (wave, distance, depth) => Math.hypot(distance, depth) / velocity[wave];

// How far a wave has come on the surface after so many seconds, km; 0 before it has reached the surface.
const reach = (wave, seconds, depth) => Math.sqrt(Math.max(0, (velocity[wave] * Math.max(0, seconds)) ** 2 - depth ** 2));

// How long a picture of the waves may stand, in which a kilometre has so many pixels and whose nearest and farthest points are so
// far from the epicentre (km): until the fastest circle in it has gone on by four pixels, 0.2 to 0.5 s; Infinity when there
// is none. `age`: seconds since the origin.
function pause({ age, depth, nearest, farthest, kilometre }) {
  const isSeen = (wave) => {
    const [before, after] = [reach(wave, age - 1, depth), reach(wave, age + 1, depth)];
    return after > 0 && after >= nearest && before <= farthest;
  };
  const seen = age < seconds + 1 ? ["p", "s"].filter(isSeen) : [];
  return seen.length === 0 ? Infinity : Math.min(500, Math.max(200, 4000 / (velocity[seen[0]] * kilometre)));
}

// The Mercalli intensity that is expected so many km from the source, 1 to 10: Atkinson, Worden and Wald (2014), California, as the
// station's alarm and messages on the phone have it.
function intensity(magnitude, slant) {
  const r = Math.hypot(slant, 14);
  const near = Math.log10(r);
  const value = 0.309 + 1.864 * magnitude - 1.672 * near - 0.00219 * r + 1.77 * Math.max(0, Math.log10(r / 50)) - 0.383 * magnitude * near;
  return Math.max(1, Math.min(10, value));
}

// What an event of the network means at a place: { distance (km), azimuth (to the epicentre, degrees), p, s (seconds after the
// origin), mmi (expected; NaN without a magnitude) }.
function at(event, place) {
  const far = distance(event, place);
  const depth = event.depth_km ?? 10;
  const magnitude = event.magnitude?.value;
  return {
    distance: far, azimuth: azimuth(place, event), p: arrival("p", far, depth), s: arrival("s", far, depth),
    mmi: Number.isFinite(magnitude) ? intensity(magnitude, Math.hypot(far, depth)) : NaN,
  };
}

export const ground = { seconds, velocity, distance, azimuth, arrival, reach, pause, intensity, at };
