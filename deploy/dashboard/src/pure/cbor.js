// CBOR (RFC 8949), as far as it holds what JSON can hold. What is not whole or holds something else gives null.
const decoder = new TextDecoder("utf-8", { fatal: true });

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }

  refuse() {
    throw new RangeError(`CBOR at ${this.at}`);
  }

  take(count) {
    if (this.at + count > this.bytes.length) this.refuse();
    this.at += count;
    return this.at - count;
  }

  argument(info) {
    if (info < 24) return info;
    switch (info) {
      case 24: return this.view.getUint8(this.take(1));
      case 25: return this.view.getUint16(this.take(2));
      case 26: return this.view.getUint32(this.take(4));
      case 27: return Number(this.view.getBigUint64(this.take(8)));
      default: return this.refuse();
    }
  }

  ended() {
    if (this.bytes[this.at] !== 0xff) return false;
    this.at += 1;
    return true;
  }

  // Calls body for each of the values of an array or a map.
  each(info, body) {
    const count = info === 31 ? null : this.argument(info);
    for (let i = 0; count === null ? !this.ended() : i < count; i++) body();
  }

  half(bits) {
    const exponent = (bits >> 10) & 31;
    const mantissa = bits & 1023;
    const size = exponent === 0 ? mantissa * 2 ** -24
      : exponent === 31 ? (mantissa === 0 ? Infinity : NaN) : (1024 + mantissa) * 2 ** (exponent - 25);
    return bits & 0x8000 ? -size : size;
  }

  value(depth = 0) {
    if (depth > 32) this.refuse();
    const first = this.bytes[this.take(1)];
    const info = first & 31;
    switch (first >> 5) {
      case 0: return this.argument(info);
      case 1: return -1 - this.argument(info);
      case 3: return this.text(info);
      case 4: {
        const list = [];
        this.each(info, () => list.push(this.value(depth + 1)));
        return list;
      }
      case 5: {
        const object = {};
        this.each(info, () => {
          const key = this.value(depth + 1);
          if (typeof key !== "string" || key === "__proto__") this.refuse();
          object[key] = this.value(depth + 1);
        });
        return object;
      }
      case 6:
        this.argument(info);
        return this.value(depth + 1);
      case 7: return this.simple(info);
      default: return this.refuse();
    }
  }

  text(info) {
    const count = this.argument(info);
    const start = this.take(count);
    return decoder.decode(this.bytes.subarray(start, start + count));
  }

  simple(info) {
    switch (info) {
      case 20: return false;
      case 21: return true;
      case 22: return null;
      case 25: return this.half(this.view.getUint16(this.take(2)));
      case 26: return this.view.getFloat32(this.take(4));
      case 27: return this.view.getFloat64(this.take(8));
      default: return this.refuse();
    }
  }
}

// The value of a payload; null for what is none.
export function cbor(payload) {
  try {
    const reader = new Reader(payload);
    const value = reader.value();
    return reader.at === payload.length ? value : null;
  } catch {
    return null;
  }
}
