// Power spectral density by Welch (1967): means of periodograms of segments that overlap by half, under a Hann window, each less
// its own mean; one-sided, in the square of the samples' unit per hertz, so that its integral is the variance.
import { fft } from "./fft.js";

const shortest = 64;
const longest = 16384;

// Segments of a power of two, about seven of them where the samples are enough: { step (Hz), density, segments }; null for too few.
function welch(samples, rate) {
  let size = longest;
  while (size > shortest && size * 4 > samples.length) size /= 2;
  if (samples.length < size) return null;
  const window = Float64Array.from({ length: size }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / size));
  const power = window.reduce((sum, weight) => sum + weight * weight, 0);
  const density = new Float64Array(size / 2 + 1);
  let segments = 0;
  for (let first = 0; first + size <= samples.length; first += size / 2) {
    const real = Float64Array.from(samples.slice(first, first + size));
    const mean = real.reduce((sum, value) => sum + value, 0) / size;
    for (let i = 0; i < size; i++) real[i] = (real[i] - mean) * window[i];
    const imaginary = new Float64Array(size);
    fft.transform(real, imaginary);
    for (let i = 0; i < density.length; i++) density[i] += real[i] ** 2 + imaginary[i] ** 2;
    segments++;
  }
  for (let i = 0; i < density.length; i++) density[i] *= (i === 0 || i === size / 2 ? 1 : 2) / (segments * power * rate);
  return { step: rate / size, density, segments };
}

// The frequencies (Hz) of the clearest peaks, such as modes of a building: those that stand at least 6 dB above the lowest
// values within a third of an octave on both sides, and no more than 60 dB below the strongest; at most `most`, the strongest
// first.
function peaks({ step, density }, most = 4) {
  const found = [];
  for (let i = 3; i < density.length - 2; i++) {
    const value = density[i];
    if (!(value > density[i - 1] && value >= density[i + 1])) continue;
    const reach = Math.max(3, Math.round(i * 0.26));
    let [left, right] = [value, value];
    let isHighest = true;
    for (let k = Math.max(1, i - reach); k <= Math.min(density.length - 1, i + reach); k++) {
      if (density[k] > value) isHighest = false;
      if (k < i) left = Math.min(left, density[k]);
      else right = Math.min(right, density[k]);
    }
    if (isHighest && value > 4 * left && value > 4 * right) found.push({ hz: i * step, density: value });
  }
  found.sort((a, b) => b.density - a.density);
  return found.filter((one) => one.density > found[0].density * 1e-6).slice(0, most);
}

export const psd = { welch, peaks };
