// Amplitude spectrum of real samples.
// In place, radix 2; the length is a power of two.
function transform(real, imaginary) {
  const n = real.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      [real[i], real[j]] = [real[j], real[i]];
      [imaginary[i], imaginary[j]] = [imaginary[j], imaginary[i]];
    }
  }
  for (let size = 2; size <= n; size <<= 1) {
    const half = size >> 1;
    const angle = (-2 * Math.PI) / size;
    for (let k = 0; k < half; k++) {
      const c = Math.cos(angle * k);
      const s = Math.sin(angle * k);
      for (let i = k; i < n; i += size) {
        const j = i + half;
        const re = real[j] * c - imaginary[j] * s;
        const im = real[j] * s + imaginary[j] * c;
        real[j] = real[i] - re;
        imaginary[j] = imaginary[i] - im;
        real[i] += re;
        imaginary[i] += im;
      }
    }
  }
}

// Amplitudes under a Hann window, the mean taken away: a sine of amplitude a in the middle of a bin reads a.
// { step (Hz between bins), amplitudes (bin 0 to n/2) }
function spectrum(samples, rate) {
  const n = samples.length;
  let size = 1;
  while (size < n) size <<= 1;
  const real = new Float64Array(size);
  const imaginary = new Float64Array(size);
  const mean = samples.reduce((sum, value) => sum + value, 0) / n;
  let weights = 0;
  for (let i = 0; i < n; i++) {
    const weight = 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / n);
    weights += weight;
    real[i] = (samples[i] - mean) * weight;
  }
  transform(real, imaginary);
  const amplitudes = new Float64Array(size / 2 + 1);
  for (let i = 0; i < amplitudes.length; i++) {
    const whole = i === 0 || i === size / 2 ? 1 : 2;
    amplitudes[i] = (whole * Math.hypot(real[i], imaginary[i])) / weights;
  }
  return { step: rate / size, amplitudes };
}

// Of how few samples a spectrum is still one, and how many of the newest samples of live traces are looked at: half a minute,
// or as many as it takes.
const fewest = 64;
const liveCount = (rate) => Math.max(fewest, Math.round(25.6 * rate));

export const fft = { transform, spectrum, fewest, liveCount };
