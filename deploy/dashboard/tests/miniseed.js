import assert from "node:assert";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { vector } from "./support/load.js";
import { miniseed } from "../src/pure/miniseed.js";
import { waveform } from "../src/pure/waveform.js";
import { csv } from "../src/pure/csv.js";
import { sha256 } from "../src/pure/sha256.js";

const truth = JSON.parse(vector("mseed/truth.json"));

// Files of ObsPy and libmseed, and the numbers that are in them.
for (const [file, expected] of Object.entries(truth.records)) {
  test(`reads ${file}`, () => {
    const { records, errors } = miniseed.parse(new Uint8Array(vector(`mseed/${file}`)));
    assert.deepStrictEqual(errors, []);
    assert.deepStrictEqual(
      records.map((r) => [r.source, waveform.formatTime(r.start, 6), r.count]), expected);
    const next = {};
    for (const record of records) {
      assert.ok(Math.abs(record.rate / truth.rates[record.source] - 1) < 1e-6);
      assert.strictEqual(record.crc, file.startsWith("v3") ? true : null);
      const from = next[record.source] ?? 0;
      next[record.source] = from + record.count;
      const real = truth.samples[record.source].slice(from, from + record.count);
      const scale = file.includes("float") ? 1e6 : 1;
      const precision = file.includes("float32") ? 2 ** -24 : file.includes("float64") ? 2 ** -52 : 0;
      record.samples.forEach((value, i) => assert.ok(
        Math.abs(value * scale - real[i]) <= precision * Math.abs(real[i]), `${record.source} ${from + i}: ${value} is not ${real[i]}`));
    }
  });
}

for (const version of [2, 3]) {
  test(`reads a waveform of the agent, version ${version}`, () => {
    const bytes = new Uint8Array(vector(`messages/waveform-v${version}.mseed`));
    const taken = new waveform.Assembler();
    assert.ok(taken.add(bytes));
    assert.ok(!taken.add(bytes.slice()), "the same message again");
    assert.deepStrictEqual(taken.errors, []);
    assert.deepStrictEqual(taken.file(), bytes);
    const shape = taken.waveform();
    assert.deepStrictEqual(Object.keys(shape.sources).sort(), ["x", "y", "z"]);
    assert.strictEqual(shape.unitSource, version === 3 ? "record" : "default");
  });
}

test("one wrong bit is noticed in version 3", () => {
  const whole = new Uint8Array(vector("mseed/v3_steim2.mseed"));
  const count = miniseed.parse(whole).records.length;
  let unnoticed = 0;
  for (let at = 41; at < whole.length; at += 97) {
    const bytes = whole.slice();
    bytes[at] ^= 1 << at % 8;
    const { records, errors } = miniseed.parse(bytes);
    if (errors.length === 0 || records.length >= count) unnoticed++;
  }
  assert.strictEqual(unnoticed, 0);
});

test("what is cut off or no miniSEED is an error and no exception", () => {
  const whole = new Uint8Array(vector("mseed/v2_steim2_512.mseed"));
  for (let length = 0; length < 1200; length += 7) {
    const { records, errors } = miniseed.parse(whole.subarray(0, length));
    assert.strictEqual(records.length, Math.floor(length / 512));
    assert.strictEqual(errors.length > 0, length % 512 !== 0);
  }
  const noise = Uint8Array.from({ length: 4096 }, (_, i) => (i * 7919 + (i >> 3) * 31) & 255);
  assert.strictEqual(miniseed.parse(noise).records.length, 0);
  noise.set([77, 83, 3], 100);
  assert.strictEqual(miniseed.parse(noise).records.length, 0);
});

test("damage at random places is survived", () => {
  let state = 12345;
  const random = (n) => (state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff) % n;
  for (const file of Object.keys(truth.records)) {
    const whole = new Uint8Array(vector(`mseed/${file}`));
    for (let round = 0; round < 40; round++) {
      const bytes = whole.slice(0, 1 + random(whole.length));
      for (let i = 0; i < 8; i++) bytes[random(bytes.length)] = random(256);
      const { records } = miniseed.parse(bytes);
      for (const record of records) assert.strictEqual(record.samples.length, record.count);
      waveform.assemble(records);
    }
  }
});

test("the check sum is CRC-32C", () => {
  assert.strictEqual(miniseed.crc32c(new TextEncoder().encode("123456789")), 0xe3069283);
});

const digest = (bytes) => createHash("sha256").update(bytes).digest("hex");

test("SHA-256 is that of others", () => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 1000, 70001]) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 31 + (i >> 8)) & 255);
    assert.strictEqual(sha256(bytes), digest(bytes));
  }
});

test("a check sum is of the messages as they were sent, also where time goes back, and where they came in another order", () => {
  const whole = new Uint8Array(vector("messages/waveform-v3.mseed"));
  const { records } = miniseed.parse(whole);
  const parts = records.map(({ offset, length }) => whole.slice(offset, offset + length));
  const later = parts.map((part) => {
    const copy = part.slice();
    copy[12] = (copy[12] + 1) % 24;
    copy.fill(0, 28, 32);
    new DataView(copy.buffer).setUint32(28, miniseed.crc32c(copy), true);
    return copy;
  });
  const sent = [...later, ...parts];
  const taken = new waveform.Assembler();
  for (const part of sent) taken.add(part);
  assert.deepStrictEqual(taken.errors, []);
  assert.ok(taken.isOf(digest(Buffer.concat(sent))));
  assert.deepStrictEqual(Buffer.from(taken.file()), Buffer.concat([...parts, ...later]));
  assert.ok(!taken.isOf(digest(Buffer.concat(parts))));
  const mixed = new waveform.Assembler();
  for (const part of [later[0], parts[0]]) mixed.add(part);
  assert.ok(mixed.isOf(digest(Buffer.concat([parts[0], later[0]]))));
});

test("messages in any order make the same waveform, and gaps show", () => {
  const { records } = miniseed.parse(new Uint8Array(vector("messages/waveform-v3.mseed")));
  const whole = waveform.assemble(records);
  assert.deepStrictEqual(waveform.assemble([...records].reverse()), whole);
  const [x, ...others] = records;
  const rest = {
    ...x, start: x.start + BigInt(Math.round(20e9 / x.rate)), count: x.count - 20, samples: x.samples.subarray(20),
  };
  const holed = waveform.assemble([rest, ...others]);
  assert.deepStrictEqual(holed.gaps, [{ from: 0, to: 20 }]);
  assert.ok(Number.isNaN(holed.x[19]) && !Number.isNaN(holed.x[20]) && !Number.isNaN(holed.y[0]));
  assert.strictEqual(waveform.assemble([]), null);
});

test("times keep their nanoseconds", () => {
  for (const text of ["2019-07-06T03:19:53.988300001Z", "1969-12-31T23:59:59.999999999Z", "2100-02-28T00:00:00.000000000Z"]) {
    assert.strictEqual(waveform.formatTime(waveform.parseTime(text)), text);
  }
  assert.strictEqual(waveform.formatTime(waveform.parseTime("2019-07-06T03:19:53Z"), 0), "2019-07-06T03:19:53Z");
  for (const wrong of ["", "2019-07-06", "2019-13-06T03:19:53Z", null]) assert.strictEqual(waveform.parseTime(wrong), null);
});

test("the CSV reads back to the counts", () => {
  const { records } = miniseed.parse(new Uint8Array(vector("messages/waveform-v3.mseed")));
  const shape = waveform.assemble(records);
  const lines = csv.waveform(shape).trim().split("\n").filter((line) => !line.startsWith("#"));
  assert.strictEqual(lines[0], "t,x,y,z");
  assert.strictEqual(lines.length, shape.count + 1);
  const counts = (text) => Math.round(Number(text) / shape.unit);
  lines.slice(1).forEach((line, i) => {
    const [t, x, y, z] = line.split(",");
    assert.ok(Math.abs(Number(t) * shape.rate - i) < 1e-6);
    for (const [text, axis] of [[x, "x"], [y, "y"], [z, "z"]]) {
      assert.strictEqual(counts(text), Math.round(shape[axis][i] / shape.unit));
    }
  });
});

test("cells with commas and quotes are quoted", () => {
  assert.strictEqual(csv.rows([["a", 'b"c', "d,e"], [1.5, NaN, -0.1]]), 'a,"b""c","d,e"\r\n1.5,,-0.1\r\n');
});
