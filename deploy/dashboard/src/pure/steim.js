// The data part of a miniSEED record: whole numbers, floating point, and Steim's two ways of writing differences.
// miniSEED's numbers of encodings.
const encodings = { 0: "text", 1: "int16", 3: "int32", 4: "float32", 5: "float64", 10: "steim1", 11: "steim2" };
const widths = { int16: 2, int32: 4, float32: 4, float64: 8 };

function signed(word, bits, at) {
  return (word << (32 - bits - at)) >> (32 - bits);
}

// The differences in the word at `at`, by its two-bit key. Puts them into `out` from `n` on and returns where they end.
// With the little byte first, bytes and pairs of bytes keep their places, and only what is in a whole word is turned.
function unpack(version, key, view, at, little, out, n) {
  if (key === 0) return n;
  if (key === 1) {
    for (let i = 0; i < 4; i++) out[n++] = view.getInt8(at + i);
    return n;
  }
  const word = view.getInt32(at, little);
  if (version === 1) {
    if (key === 2) {
      out[n++] = view.getInt16(at, little);
      out[n++] = view.getInt16(at + 2, little);
    } else out[n++] = word;
    return n;
  }
  const nibble = word >>> 30;
  const bits = key === 2 ? [0, 30, 15, 10][nibble] : [6, 5, 4, 0][nibble];
  if (!bits) throw new Error(`Steim 2: no such packing: ${key}, ${nibble}`);
  for (let i = Math.floor(30 / bits) - 1; i >= 0; i--) out[n++] = signed(word, bits, i * bits);
  return n;
}

function decompress(version, view, count, little) {
  const samples = new Int32Array(count);
  if (count === 0) return samples;
  const frames = Math.floor(view.byteLength / 64);
  if (frames === 0) throw new Error("Steim: there is no frame");
  const first = view.getInt32(4, little);
  const last = view.getInt32(8, little);
  const differences = new Int32Array(frames * 15 * 7);
  let n = 0;
  for (let frame = 0; frame < frames && n < count; frame++) {
    const keys = view.getUint32(frame * 64, little);
    for (let word = frame === 0 ? 3 : 1; word < 16 && n < count; word++) {
      const key = (keys >>> (30 - 2 * word)) & 3;
      n = unpack(version, key, view, frame * 64 + 4 * word, little, differences, n);
    }
  }
  if (n < count) throw new Error(`Steim: ${n} samples of ${count}`);
  samples[0] = first;
  for (let i = 1; i < count; i++) samples[i] = samples[i - 1] + differences[i];
  if (samples[count - 1] !== last) {
    throw new Error(`Steim: the last sample is ${samples[count - 1]}, the record says ${last}`);
  }
  return samples;
}

function numbers(kind, view, count, little) {
  const width = widths[kind];
  if (count * width > view.byteLength) throw new Error(`${kind}: ${view.byteLength} bytes for ${count} samples`);
  const samples = kind === "float32" || kind === "float64" ? new Float64Array(count) : new Int32Array(count);
  const get = {
    int16: (at) => view.getInt16(at, little),
    int32: (at) => view.getInt32(at, little),
    float32: (at) => view.getFloat32(at, little),
    float64: (at) => view.getFloat64(at, little),
  }[kind];
  for (let i = 0; i < count; i++) samples[i] = get(i * width);
  return samples;
}

// The samples of a record: Int32Array, or Float64Array for floating point. Throws an Error that says what is wrong.
function decode(encoding, view, count, little) {
  const kind = encodings[encoding];
  if (kind === "steim1") return decompress(1, view, count, little);
  if (kind === "steim2") return decompress(2, view, count, little);
  if (widths[kind]) return numbers(kind, view, count, little);
  throw new Error(`no samples in encoding ${encoding}${kind ? ` (${kind})` : ""}`);
}

export const steim = { decode, encodings };
