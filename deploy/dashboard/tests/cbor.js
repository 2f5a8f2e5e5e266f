import assert from "node:assert";
import { test } from "node:test";
import "./support/load.js";
import { cbor } from "../src/pure/cbor.js";

const read = (hex) => cbor(Buffer.from(hex, "hex"));

test("the examples of RFC 8949, appendix A", () => {
  const examples = [
    ["00", 0], ["17", 23], ["1818", 24], ["1903e8", 1000], ["1a000f4240", 1000000], ["1b000000e8d4a51000", 1e12],
    ["20", -1], ["3903e7", -1000], ["f90000", 0], ["f98000", -0], ["f93e00", 1.5], ["f97bff", 65504],
    ["f90001", 5.960464477539063e-8], ["fa47c35000", 100000], ["fb3ff199999999999a", 1.1], ["f97c00", Infinity],
    ["f4", false], ["f5", true], ["f6", null], ["60", ""], ["62c3bc", "ü"], ["826161bf61626163ff", ["a", { b: "c" }]],
    ["bf6346756ef563416d7421ff", { Fun: true, Amt: -2 }], ["9f018202039f0405ffff", [1, [2, 3], [4, 5]]],
    ["c074323031332d30332d32315432303a30343a30305a", "2013-03-21T20:04:00Z"],
  ];
  for (const [hex, value] of examples) assert.deepStrictEqual(JSON.stringify([read(hex)]), JSON.stringify([value]), hex);
  assert.ok(Object.is(read("f98000"), -0));
});

test("what is not whole, or no CBOR, is nothing", () => {
  for (const hex of ["", "1c", "ff", "9bffffffffffffffff", "7bffffffffffffffff", "a10102", "62c328", "bf61", "0000",
    "81".repeat(5000), "a1695f5f70726f746f5f5f01"]) assert.strictEqual(read(hex), null, hex.slice(0, 40));
});
