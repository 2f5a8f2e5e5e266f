// Stations on a plane map, without anybody's tiles.
(function (Seismote) {
  "use strict";

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

  // points [{ latitude, longitude }] -> { project(latitude, longitude) -> {x, y}, places, scale: {kilometres, pixels},
  // latitudes, longitudes: lines of the grid } in a box of that size; null without points.
  function fit(points, width, height, padding) {
    if (points.length === 0) return null;
    const longitudes = unwrap(points.map((point) => point.longitude));
    const latitudes = points.map((point) => point.latitude);
    const middle = (list) => (Math.min(...list) + Math.max(...list)) / 2;
    const centre = { latitude: middle(latitudes), longitude: middle(longitudes) };
    const squeeze = Math.max(0.05, Math.cos((centre.latitude * Math.PI) / 180));
    // At least 2 km across, so that one station, or several in one building, are not a whole map apart.
    const least = 2 / kilometresPerDegree;
    const wide = Math.max(least, (Math.max(...longitudes) - Math.min(...longitudes)) * squeeze);
    const high = Math.max(least, Math.max(...latitudes) - Math.min(...latitudes));
    const pixels = Math.min((width - 2 * padding) / wide, (height - 2 * padding) / high);
    const at = (latitude, longitude) => ({
      x: width / 2 + (longitude - centre.longitude) * squeeze * pixels,
      y: height / 2 - (latitude - centre.latitude) * pixels,
    });
    const kilometres = Seismote.scales.niceAbove(((width / 6) / pixels) * kilometresPerDegree);
    const degrees = { x: width / pixels / squeeze, y: height / pixels };
    return {
      places: points.map((point, i) => at(point.latitude, longitudes[i])),
      at,
      scale: { kilometres, pixels: (kilometres / kilometresPerDegree) * pixels },
      latitudes: Seismote.scales.ticks(centre.latitude - degrees.y / 2, centre.latitude + degrees.y / 2, 4),
      longitudes: Seismote.scales.ticks(centre.longitude - degrees.x / 2, centre.longitude + degrees.x / 2, 6),
    };
  }

  // Moves places apart so that no label of that size covers another; keeps near to where they belong. In place.
  function spread(places, width, height, rounds = 40) {
    const ratio = width / height;
    for (let round = 0; round < rounds; round++) {
      let moved = false;
      for (let i = 0; i < places.length; i++) {
        for (let j = i + 1; j < places.length; j++) {
          const dx = (places[j].x - places[i].x) / ratio;
          const dy = places[j].y - places[i].y;
          const far = Math.hypot(dx, dy);
          if (far >= height) continue;
          const angle = far > 1e-6 ? Math.atan2(dy, dx) : i * 2.399963;
          const push = (height - far) / 2;
          places[i].x -= Math.cos(angle) * push * ratio;
          places[i].y -= Math.sin(angle) * push;
          places[j].x += Math.cos(angle) * push * ratio;
          places[j].y += Math.sin(angle) * push;
          moved = true;
        }
      }
      if (!moved) break;
    }
    return places;
  }

  const degrees = (value, positive, negative) => `${Seismote.units.tick(Math.abs(value))}° ${value < 0 ? negative : positive}`;

  Seismote.geo = { place, fit, spread, latitude: (v) => degrees(v, "N", "S"), longitude: (v) => degrees(((v + 540) % 360) - 180, "E", "W") };
})(globalThis.Seismote ??= {});
