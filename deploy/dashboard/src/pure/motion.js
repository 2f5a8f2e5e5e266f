// From acceleration to the motion of the ground, the way the agent does it: high pass, trapezoids, high pass; the removal of
// gravity is for the acceleration alone.
// Butterworth of order 2 by the bilinear transform, started at rest for `first`.
function highPass(samples, rate, corner, first = 0) {
  const w = Math.tan((Math.PI * corner) / rate);
  const norm = 1 / (1 + Math.SQRT2 * w + w * w);
  const a1 = 2 * (w * w - 1) * norm;
  const a2 = (1 - Math.SQRT2 * w + w * w) * norm;
  const out = new Float64Array(samples.length);
  let x1 = first, x2 = first, y1 = 0, y2 = 0;
  for (let i = 0; i < samples.length; i++) {
    const x = samples[i];
    const y = norm * (x - 2 * x1 + x2) - a1 * y1 - a2 * y2;
    x2 = x1;
    x1 = x;
    y2 = y1;
    y1 = y;
    out[i] = y;
  }
  return out;
}

function integrate(samples, rate) {
  const out = new Float64Array(samples.length);
  let sum = 0;
  for (let i = 1; i < samples.length; i++) {
    sum += (samples[i] + samples[i - 1]) / (2 * rate);
    out[i] = sum;
  }
  return out;
}

// Fills what is missing with the value before it.
function withoutGaps(samples) {
  const out = Float64Array.from(samples);
  let last = out.find((value) => !Number.isNaN(value)) ?? 0;
  for (let i = 0; i < out.length; i++) {
    if (Number.isNaN(out[i])) out[i] = last;
    last = out[i];
  }
  return out;
}

function mean(samples, from, to) {
  let sum = 0, n = 0;
  for (let i = Math.max(0, from); i < Math.min(samples.length, to); i++) {
    if (!Number.isNaN(samples[i])) {
      sum += samples[i];
      n++;
    }
  }
  return n ? sum / n : 0;
}

// Takes the mean of the samples before `quiet` off (of all, where there are fewer than ten).
function withoutOffset(samples, quiet) {
  const offset = quiet >= 10 ? mean(samples, 0, quiet) : mean(samples, 0, samples.length);
  return samples.map((value) => value - offset);
}

// { acceleration, velocity, displacement } of one axis in m/s², m/s, m; `offsetCorner` is that of the agent's removal
// of gravity, `corner` that of its integration.
function ofGround(samples, rate, { quiet = 0, offsetCorner = 0.1, corner = 0.075 } = {}) {
  const level = withoutOffset(withoutGaps(samples), quiet);
  const acceleration = highPass(level, rate, offsetCorner, level[0] ?? 0);
  const velocity = highPass(integrate(highPass(level, rate, corner, level[0] ?? 0), rate), rate, corner);
  const displacement = highPass(integrate(velocity, rate), rate, corner);
  return { acceleration, velocity, displacement };
}

export const motion = { motion: ofGround, highPass, integrate, withoutGaps, withoutOffset, mean };
