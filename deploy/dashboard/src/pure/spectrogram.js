// A spectrogram: amplitude spectra of short pieces, one after the other, and the colours of amplitudes.

import { fft } from "./fft.js";

// Viridis: as bright as it is large, in grey and for eyes that see few colours, too.
const stops = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"]
  .map((color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)));
const table = Array.from({ length: 256 }, (_, i) => {
  const at = (i / 255) * (stops.length - 1);
  const k = Math.min(stops.length - 2, Math.floor(at));
  return stops[k].map((from, c) => Math.round(from + (stops[k + 1][c] - from) * (at - k)));
});
// The colour of a part, 0 to 1: [red, green, blue].
const color = (part) => table[Math.max(0, Math.min(255, Math.round(part * 255)))];

// Samples of a piece: a power of two of about six seconds, so that half a hertz is told from one.
function sizeFor(rate) {
  return Math.min(1024, Math.max(64, 2 ** Math.round(Math.log2(rate * 6.4))));
}

// Columns of a spectrogram, each kept once it has been computed. A column stands in the middle of its piece.
class Columns {
  constructor() {
    this.kept = new Map();
    this.key = "";
  }

  // The amplitudes (bin 0 to size/2, m/s²) of the piece that begins at a slot; null where samples are missing.
  // values(slot): NaN where there is none. `key` says what is looked at: another one forgets all.
  column(key, slot, size, rate, values) {
    if (key !== this.key) this.kept.clear();
    this.key = key;
    const known = this.kept.get(slot);
    if (known) return known;
    const piece = new Float64Array(size);
    for (let i = 0; i < size; i++) {
      piece[i] = values(slot + i);
      if (Number.isNaN(piece[i])) return null;
    }
    const { amplitudes } = fft.spectrum(piece, rate);
    this.kept.set(slot, amplitudes);
    if (this.kept.size > 2000) this.kept.delete(this.kept.keys().next().value);
    return amplitudes;
  }

  forget() {
    this.kept.clear();
  }
}

// The axis of frequency of columns with so many bins of `step` hertz: { low, high (Hz), rows: for each row of the picture, from the
// highest frequency down, the first and the last bin that it shows }. A linear axis has a row for each bin. A logarithmic one begins
// with the first bin that is no mean, and has rows of equal ratios: where a row is narrower than a bin, several show the same one.
const logarithmicRows = 200;
function frequencies(bins, step, isLogarithmic) {
  const high = (bins - 1) * step;
  if (!isLogarithmic) return { low: 0, high, rows: Array.from({ length: bins }, (_, row) => [bins - 1 - row, bins - 1 - row]) };
  const bin = (row) => (bins - 1) ** (1 - row / logarithmicRows);
  const rows = Array.from({ length: logarithmicRows }, (_, row) => {
    const [from, to] = [Math.ceil(bin(row + 1) - 0.5), Math.ceil(bin(row) + 0.5) - 1];
    return [Math.max(1, from), Math.min(bins - 1, Math.max(to, from))];
  });
  return { low: step, high, rows };
}

// Where a frequency is on that axis: 0 at its lower end, 1 at its upper one.
const place = ({ low, high }, hz) => (low > 0 ? Math.log(hz / low) / Math.log(high / low) : hz / high);

// The largest amplitude of those that a row shows.
function largest(column, [from, to]) {
  let most = column[from];
  for (let bin = from + 1; bin <= to; bin++) if (column[bin] > most) most = column[bin];
  return most;
}

export const spectrogramColumns = { Columns, color, sizeFor, frequencies, place, largest };
