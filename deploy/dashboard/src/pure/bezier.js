// A smooth path through measured points: a Catmull-Rom spline written as cubic Bézier pieces, each over a known time.
// Control points of the piece from p1 to p2, between p0 and p3. Uniform Catmull-Rom: the tangent at a point is half of
// the way between its neighbours, and the path is smooth in time, as the points are equally spaced in it.
function piece(p0, p1, p2, p3) {
  return {
    from: p1,
    control1: { x: p1.x + (p2.x - p0.x) / 6, y: p1.y + (p2.y - p0.y) / 6 },
    control2: { x: p2.x - (p3.x - p1.x) / 6, y: p2.y - (p3.y - p1.y) / 6 },
    to: p2,
  };
}

// Points { x, y } that are `interval` seconds apart, the first at `start`.
// { pieces, start, interval, duration }; a path of fewer than two points has no pieces.
function path(points, { start = 0, interval = 1 } = {}) {
  const pieces = [];
  for (let i = 0; i + 1 < points.length; i++) {
    pieces.push(piece(points[Math.max(0, i - 1)], points[i], points[i + 1], points[Math.min(points.length - 1, i + 2)]));
  }
  return { pieces, start, interval, duration: pieces.length * interval };
}

// Which piece a time is in, and how far (0 to 1); times beyond the ends are the ends.
function locate({ pieces, start, interval }, time) {
  const at = Math.min(Math.max((time - start) / interval, 0), pieces.length);
  const index = Math.min(Math.floor(at), pieces.length - 1);
  return { index, u: at - index };
}

function point({ from, control1, control2, to }, u) {
  const v = 1 - u;
  const a = v * v * v, b = 3 * v * v * u, c = 3 * v * u * u, d = u * u * u;
  return {
    x: a * from.x + b * control1.x + c * control2.x + d * to.x,
    y: a * from.y + b * control1.y + c * control2.y + d * to.y,
  };
}

function derivative({ from, control1, control2, to }, u) {
  const v = 1 - u;
  const a = 3 * v * v, b = 6 * v * u, c = 3 * u * u;
  return {
    x: a * (control1.x - from.x) + b * (control2.x - control1.x) + c * (to.x - control2.x),
    y: a * (control1.y - from.y) + b * (control2.y - control1.y) + c * (to.y - control2.y),
  };
}

// Where the path is at a time: { x, y, vx, vy (per second), angle (of the tangent, radians counterclockwise from +x,
// null where it stands still), index, u }; null for a path without pieces.
function at(track, time) {
  if (track.pieces.length === 0) return null;
  const { index, u } = locate(track, time);
  const { x, y } = point(track.pieces[index], u);
  const slope = derivative(track.pieces[index], u);
  const vx = slope.x / track.interval, vy = slope.y / track.interval;
  return { x, y, vx, vy, angle: vx === 0 && vy === 0 ? null : Math.atan2(vy, vx), index, u };
}

// Splits a piece at u (de Casteljau): the part before it and the part after it.
function split({ from, control1, control2, to }, u) {
  const mix = (a, b) => ({ x: a.x + (b.x - a.x) * u, y: a.y + (b.y - a.y) * u });
  const a = mix(from, control1), b = mix(control1, control2), c = mix(control2, to);
  const d = mix(a, b), e = mix(b, c), f = mix(d, e);
  return [{ from, control1: a, control2: d, to: f }, { from: f, control1: e, control2: c, to }];
}

// The pieces between two times, the first and the last of them cut.
function between(track, from, to) {
  if (track.pieces.length === 0 || !(to > from)) return [];
  const first = locate(track, from), last = locate(track, to);
  const result = track.pieces.slice(first.index, last.index + 1);
  const tail = result.length - 1;
  if (tail === 0) {
    const [, rest] = split(result[0], first.u);
    return first.u >= last.u ? [] : [split(rest, (last.u - first.u) / (1 - first.u))[0]];
  }
  result[0] = split(result[0], first.u)[1];
  result[tail] = split(result[tail], last.u)[0];
  return result;
}

// Knots of a path through samples: one of each `step`, so that there are `perSecond` of them at the most.
function knots(x, y, rate, perSecond) {
  const step = Math.max(1, Math.round(rate / perSecond));
  const points = [];
  for (let i = 0; i < x.length; i += step) points.push({ x: x[i], y: y[i] });
  return { points, interval: step / rate };
}

export const bezier = { path, at, between, knots, point, split };
