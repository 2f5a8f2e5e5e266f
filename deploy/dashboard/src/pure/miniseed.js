// miniSEED 2 and 3 records: headers, times, check sums. What is read comes from a network: every length is looked at
// first, and a record that is damaged is named and left out.

import { steim } from "./steim.js";

const v2Header = 48;
const v3Header = 40;
const largest = 1 << 20;

// CRC-32C (Castagnoli), which miniSEED 3 uses.
const table = new Uint32Array(256);
for (let i = 0; i < 256; i++) {
  let value = i;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  table[i] = value >>> 0;
}

// Of the bytes as if those from `hole` to `hole` + 4 were zero.
function crc32c(bytes, hole = -4) {
  let crc = 0xffffffff;
  for (let i = 0; i < bytes.length; i++) {
    const byte = i >= hole && i < hole + 4 ? 0 : bytes[i];
    crc = table[(crc ^ byte) & 255] ^ (crc >>> 8);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

// Nanoseconds of UTC since 1970, a BigInt: a double has microseconds at best.
function nanoseconds(year, day, hour, minute, second, nanosecond) {
  if (day < 1 || day > 366 || hour > 23 || minute > 59 || second > 60 || nanosecond > 999999999) {
    throw new Error("the time of the record is none");
  }
  const ms = Date.UTC(year, 0, 1) + (((day - 1) * 24 + hour) * 60 + minute) * 60000 + second * 1000;
  return BigInt(ms) * 1000000n + BigInt(nanosecond);
}

function text(bytes, from, length) {
  let result = "";
  for (let i = from; i < from + length; i++) result += String.fromCharCode(bytes[i]);
  return result;
}

function header3(bytes, view, at) {
  if (at + v3Header > bytes.length) throw new Error("the header is cut off");
  const sourceLength = bytes[at + 33];
  const extraLength = view.getUint16(at + 34, true);
  const dataLength = view.getUint32(at + 36, true);
  const length = v3Header + sourceLength + extraLength + dataLength;
  if (length > largest || at + length > bytes.length) throw new Error(`a record of ${length} bytes is cut off`);
  const record = {
    version: 3, offset: at, length, encoding: bytes[at + 15], count: view.getUint32(at + 24, true),
    little: true, data: at + v3Header + sourceLength + extraLength, dataLength,
    source: text(bytes, at + v3Header, sourceLength), extra: null,
  };
  const sum = view.getUint32(at + 28, true);
  record.crc = sum === crc32c(bytes.subarray(at, at + length), 28);
  if (!record.crc) throw Object.assign(new Error("the check sum is wrong"), { next: at + length });
  record.start = nanoseconds(
    view.getUint16(at + 8, true), view.getUint16(at + 10, true), bytes[at + 12], bytes[at + 13], bytes[at + 14],
    view.getUint32(at + 4, true));
  const rate = view.getFloat64(at + 16, true);
  record.rate = rate < 0 ? -1 / rate : rate;
  // Steim's frames are big-endian here too.
  if (record.encoding === 10 || record.encoding === 11) record.little = false;
  if (extraLength > 0) {
    const from = at + v3Header + sourceLength;
    try {
      record.extra = JSON.parse(new TextDecoder().decode(bytes.subarray(from, from + extraLength)));
    } catch { /* extra headers that are no JSON say nothing */ }
  }
  return record;
}

// The nominal rate of miniSEED 2: two numbers that are factors, or divisors when negative.
function nominalRate(factor, multiplier) {
  if (factor === 0 || multiplier === 0) return 0;
  const base = factor > 0 ? factor : -1 / factor;
  return multiplier > 0 ? base * multiplier : -base / multiplier;
}

function source2(bytes, at) {
  const part = (from, length) => text(bytes, at + from, length).trim();
  const [band, source, subsource] = text(bytes, at + 15, 3).padEnd(3);
  const channel = [band, source, subsource].map((code) => code.trim()).join("_");
  return `FDSN:${part(18, 2)}_${part(8, 5)}_${part(13, 2)}_${channel}`;
}

function header2(bytes, view, at) {
  if (at + v2Header > bytes.length) throw new Error("the header is cut off");
  // The byte order shows in the year.
  const year = view.getUint16(at + 20, false);
  const little = !(year >= 1900 && year <= 2100);
  const u16 = (from) => view.getUint16(at + from, little);
  const record = {
    version: 2, offset: at, length: 0, encoding: -1, count: u16(30), little, crc: null, extra: null,
    rate: nominalRate(view.getInt16(at + 32, little), view.getInt16(at + 34, little)), source: source2(bytes, at),
  };
  let microseconds = 0;
  let blockette = u16(46);
  for (let i = 0; blockette !== 0 && i < bytes[at + 39] + 1; i++) {
    if (blockette < v2Header || at + blockette + 8 > bytes.length) throw new Error("a blockette is cut off");
    const type = u16(blockette);
    if (type === 1000) {
      record.encoding = bytes[at + blockette + 4];
      record.little = bytes[at + blockette + 5] === 0;
      record.length = bytes[at + blockette + 6] <= 20 ? 1 << bytes[at + blockette + 6] : 0;
    } else if (type === 1001) microseconds = view.getInt8(at + blockette + 5);
    else if (type === 100) record.rate = view.getFloat32(at + blockette + 4, little);
    const next = u16(blockette + 2);
    if (next !== 0 && next <= blockette) throw new Error("blockettes go in a circle");
    blockette = next;
  }
  if (record.length < 64) throw new Error("a record without blockette 1000");
  if (at + record.length > bytes.length) throw new Error(`a record of ${record.length} bytes is cut off`);
  record.data = at + u16(44);
  record.dataLength = at + record.length - record.data;
  if (record.data < at + v2Header || record.dataLength < 0) throw new Error("the data begin outside the record");
  record.start = nanoseconds(
    u16(20), u16(22), bytes[at + 24], bytes[at + 25], bytes[at + 26], u16(28) * 100000) +
    BigInt(microseconds) * 1000n;
  // A time correction that has not been applied yet, in 0.0001 s.
  if (!(bytes[at + 36] & 2)) record.start += BigInt(view.getInt32(at + 40, little)) * 100000n;
  return record;
}

function versionAt(bytes, at) {
  if (bytes[at] === 77 && bytes[at + 1] === 83 && bytes[at + 2] === 3) return 3;
  // Six digits or spaces, and one of the four marks of quality.
  for (let i = 0; i < 6; i++) {
    const byte = bytes[at + i];
    if (!(byte >= 48 && byte <= 57) && byte !== 32 && byte !== 0) return 0;
  }
  return [68, 82, 81, 77].includes(bytes[at + 6]) ? 2 : 0;
}

// The record with its samples.
function complete({ data, dataLength, little, ...record }, bytes) {
  if (!(record.rate >= 0 && Number.isFinite(record.rate))) throw new Error("the rate is no number");
  // Seven samples in each word of the data at the most.
  if (record.count > dataLength * 2) throw new Error("more samples than there is room for");
  const view = new DataView(bytes.buffer, bytes.byteOffset + data, dataLength);
  record.samples = steim.decode(record.encoding, view, record.count, little);
  return record;
}

// All records of `bytes` (Uint8Array), one after the other: { records, errors }. A record: { version, source, start
// (nanoseconds, BigInt), rate, count, encoding, samples, extra, crc (true, null where the format has none), offset,
// length }. Nothing is thrown; `errors` says what was left out and where.
function parse(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const records = [];
  const errors = [];
  let at = 0;
  while (at < bytes.length) {
    const version = versionAt(bytes, at);
    /** @type {any} */
    let record;
    try {
      if (!version) throw new Error("this is no miniSEED record");
      record = version === 3 ? header3(bytes, view, at) : header2(bytes, view, at);
    } catch (error) {
      errors.push({ offset: at, message: error.message });
      at = error.next ?? nextRecord(bytes, at + 1);
      continue;
    }
    at += record.length;
    try {
      records.push(complete(record, bytes));
    } catch (error) {
      errors.push({ offset: record.offset, message: error.message });
    }
  }
  return { records, errors };
}

// Where the next record may begin, at `from` at the earliest.
function nextRecord(bytes, from) {
  for (let at = from; at < bytes.length; at++) if (versionAt(bytes, at)) return at;
  return bytes.length;
}

export const miniseed = { parse, crc32c };
