// A band-pass for the eye: a Butterworth high pass and low pass of second order, one after the other (bilinear transform), in the
// direction of time, so that nothing is seen before it came.

// Coefficients [b0, b1, b2, a1, a2] of one of them with its corner (Hz) at a rate.
function section(kind, corner, rate) {
  const k = Math.tan((Math.PI * corner) / rate);
  const scale = 1 / (1 + Math.SQRT2 * k + k * k);
  const [a1, a2] = [2 * (k * k - 1) * scale, (1 - Math.SQRT2 * k + k * k) * scale];
  return kind === "low" ? [k * k * scale, 2 * k * k * scale, k * k * scale, a1, a2] : [scale, -2 * scale, scale, a1, a2];
}

/**
 * Values of a rate (Hz) between two corners (Hz); NaN where a value is missing, and anew from rest behind it.
 * @param {ArrayLike<number>} values @param {number} rate @param {number[]} band
 */
function filter(values, rate, [low, high]) {
  const sections = [section("high", low, rate), section("low", high, rate)];
  const out = new Float64Array(values.length);
  const state = new Float64Array(4);
  let rest = NaN;
  for (let i = 0; i < values.length; i++) {
    if (values[i] !== values[i]) {
      out[i] = rest = NaN;
      continue;
    }
    if (rest !== rest) {
      rest = values[i];
      state.fill(0);
    }
    let x = values[i] - rest;
    for (let k = 0; k < 2; k++) {
      const [b0, b1, b2, a1, a2] = sections[k];
      const y = b0 * x + state[2 * k];
      state[2 * k] = b1 * x - a1 * y + state[2 * k + 1];
      state[2 * k + 1] = b2 * x - a2 * y;
      x = y;
    }
    out[i] = x;
  }
  return out;
}

// Bands that are offered; those that a rate has, with a little room below half of it.
const bands = [[0.1, 1], [0.5, 2], [1, 4], [2, 8], [5, 20], [10, 40]];
const bandsOf = (rate) => bands.filter(([, high]) => high <= 0.45 * rate);

export const bandpass = { filter, bands, bandsOf };
