import assert from "node:assert";
import { test } from "node:test";
import "./support/load.js";
import { form } from "../src/pure/form.js";
import { variants } from "../src/pure/variants.js";

// In the agent's style: one leaf of each kind.
const about = { "x-apply": "live", "x-remote": true, "x-secret": false };
const quantity = (names, more = {}) => ({
  anyOf: [{ type: "number", minimum: 0, maximum: 10, ...more },
    { type: "string", pattern: `^[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?0*[0-9]{1,2})? *(${names})$(?!\\n)`, maxLength: 64 }],
});
const group = (properties, more = {}) => ({ type: "object", additionalProperties: false, properties, ...more });
const schema = group({
  station: group({
    id: { type: "string", title: "Station id", pattern: "^[a-z]*$", default: "", ...about, "x-apply": "restart" },
    latitude: { type: ["number", "null"], minimum: -90, maximum: 90, default: null, ...about, "x-unit": "degrees" },
    groups: { type: "array", items: { type: "string" }, minItems: 0, maxItems: 4, default: [], ...about },
  }, { title: "Station", description: "Who it is." }),
  axes: group({ all: { $ref: "#/$defs/axis" }, x: { $ref: "#/$defs/axis" } }),
  trace: group({
    enabled: { type: "boolean", default: true, ...about },
    rate_hz: { ...quantity("Hz|mHz|kHz"), default: 20, ...about, "x-unit": "Hz", description: "Samples per second." },
    signals: { type: "array", items: { enum: ["raw", "rms"] }, minItems: 1, default: ["raw"], ...about },
    settle_s: { anyOf: [quantity("s|ms|min|h"), { type: "null" }], default: null, ...about },
    qos: { type: "integer", minimum: 0, maximum: 1, default: 1, ...about },
    scale: { anyOf: [{ type: "number" }, { type: "array", items: { type: "number" }, minItems: 3, maxItems: 3 }], default: 1, ...about },
  }),
  mqtt: group({
    password: { type: "string", default: "", ...about, "x-secret": true },
    protocol: { enum: ["auto", 5, "5", "3.1.1"], default: "auto", ...about },
    tls: group({ ca_file: { type: "string", default: "", ...about, "x-remote": false } }),
  }),
  locked: { type: "array", items: { enum: ["trace.qos"] } },
}, {
  $defs: {
    axis: group({ filter: { $ref: "#/$defs/filter", default: "none", ...about, description: "Before the RMS." } }),
    filter: { anyOf: [{ $ref: "#/$defs/stage" }, group({ chain: { type: "array", items: { $ref: "#/$defs/stage" } } }, { required: ["chain"] })] },
    stage: {
      anyOf: [{ enum: ["none", "shake:lp5"] }, group({
        butterworth: {
          title: "Butterworth", description: "The flattest pass band.",
          anyOf: [
            group({ order: { type: "integer" }, type: { enum: ["lowpass", "highpass"] }, corner_hz: quantity("Hz") }, { required: ["type", "corner_hz"] }),
            group({ order: { type: "integer" }, type: { enum: ["bandpass"] }, corners_hz: { type: "array", items: quantity("Hz"), minItems: 2, maxItems: 2 } }, { required: ["type", "corners_hz"] }),
          ],
        },
      }, { required: ["butterworth"] }), group({
        comb: group({ frequency_hz: { ...quantity("Hz"), description: "What goes." }, teeth: { type: "integer" } }, { title: "Comb", required: ["frequency_hz"] }),
      }, { required: ["comb"] })],
    },
  },
});
const list = form.fields(schema);
const field = (key) => list.find((one) => one.key === key);

test("every leaf below a group is a field, references resolved", () => {
  assert.deepStrictEqual(list.map((one) => `${one.key} ${one.kind}`), [
    "station.id text", "station.latitude number", "station.groups texts", "axes.all.filter variants", "axes.x.filter variants",
    "trace.enabled toggle", "trace.rate_hz quantity", "trace.signals set", "trace.settle_s quantity", "trace.qos integer",
    "trace.scale numbers", "mqtt.password text", "mqtt.protocol choice", "mqtt.tls.ca_file text",
  ]);
  assert.deepStrictEqual(field("trace.rate_hz").units, ["Hz", "mHz", "kHz"]);
  assert.strictEqual(field("trace.settle_s").nullable, true);
  assert.strictEqual(field("station.id").apply, "restart");
  assert.strictEqual(field("mqtt.password").secret, true);
  assert.strictEqual(field("mqtt.tls.ca_file").remote, false);
  assert.deepStrictEqual(field("mqtt.tls.ca_file").section, ["tls"]);
  assert.deepStrictEqual(field("mqtt.protocol").options, ["auto", 5, "3.1.1"]);
  assert.strictEqual(field("axes.x.filter").help, "Before the RMS.");
  assert.deepStrictEqual(form.headings(schema).station, { title: "Station", help: "Who it is." });
  assert.deepStrictEqual(form.headings(schema)["mqtt.tls"], { title: "tls", help: "" });
  assert.strictEqual(field("station.id").title, "Station id");
});

test("what is typed becomes what is sent", () => {
  const cases = [
    ["trace.rate_hz", "8", 8], ["trace.rate_hz", " 8 kHz ", "8 kHz"], ["trace.rate_hz", "1e1Hz", "1e1 Hz"],
    ["trace.settle_s", "", null], ["station.latitude", "", null], ["station.latitude", "-12.5", -12.5],
    ["trace.qos", "1", 1], ["mqtt.protocol", "5", 5], ["mqtt.protocol", "3.1.1", "3.1.1"],
    ["station.groups", "a, b", ["a", "b"]], ["station.groups", "", []], ["trace.scale", "2", 2],
    ["trace.scale", "1, 2 3", [1, 2, 3]], ["station.id", " a", " a"],
  ];
  for (const [key, text, value] of cases) assert.deepStrictEqual(form.parse(field(key), text).value, value, `${key}: ${text}`);
  const wrong = [
    ["trace.rate_hz", "8 mg", "unit"], ["trace.rate_hz", "fast", "number"], ["trace.rate_hz", "", "number"],
    ["trace.qos", "0.5", "integer"], ["trace.scale", "1 2", "length"], ["station.latitude", "1,5", "number"],
    ["trace.rate_hz", "1e999", "number"],
  ];
  for (const [key, text, error] of wrong) assert.strictEqual(form.parse(field(key), text).error, error, `${key}: ${text}`);
  assert.deepStrictEqual(form.parse(field("trace.rate_hz"), "8 mg").allowed, ["Hz", "mHz", "kHz"]);
  // A plain number is held against the limits of the station's schema at once; the ends belong to it, what is above does not.
  assert.deepStrictEqual(form.parse(field("station.latitude"), "95"), { error: "limits", allowed: "-90 … 90" });
  assert.deepStrictEqual(form.parse(field("station.latitude"), "90"), { value: 90 });
  assert.deepStrictEqual(form.parse(field("trace.rate_hz"), "10.5"), { error: "limits", allowed: "0 … 10" });
  assert.deepStrictEqual(form.parse({ kind: "number", above: 0 }, "0"), { error: "limits", allowed: "> 0" });
  assert.deepStrictEqual(form.parse({ kind: "integer", maximum: 5 }, "6"), { error: "limits", allowed: "≤ 5" });
  assert.deepStrictEqual(form.parse({ kind: "number" }, "1e300"), { value: 1e300 });
});

test("what is shown reads back to the same", () => {
  for (const [key, value] of [["trace.rate_hz", 0.0029419949999999998], ["trace.scale", [1e-6, 2, 3]],
    ["station.groups", ["a", "b"]], ["station.latitude", -12.5], ["trace.rate_hz", "5 Hz"]]) {
    assert.deepStrictEqual(form.parse(field(key), form.format(field(key), value)).value,
      key === "trace.rate_hz" && typeof value === "number" ? 0.002941995 : value);
  }
});

test("edits make a merge patch, and null goes back", () => {
  const edits = new Map([["trace.rate_hz", "8 Hz"], ["trace.qos", null], ["axes.all.filter", "none"]]);
  assert.deepStrictEqual(form.patch(edits), { trace: { rate_hz: "8 Hz", qos: null }, axes: { all: { filter: "none" } } });
});

test("two configurations differ in these fields", () => {
  const before = { trace: { rate_hz: 20, signals: ["raw"] }, axes: { x: { filter: { butterworth: { type: "lowpass", corner_hz: 5 } } } } };
  const after = { trace: { rate_hz: 20, signals: ["raw", "rms"] }, axes: { x: { filter: "none" } } };
  assert.deepStrictEqual(form.diff(list, before, after).map((change) => change.field.key), ["axes.x.filter", "trace.signals"]);
  assert.deepStrictEqual(form.diff(list, before, structuredClone(before)), []);
});

test("errors go to their fields, the rest to the head", () => {
  const { fields, others } = form.errorsByField(list, [
    { path: "/trace/rate_hz", code: "range" }, { path: "/axes/x/filter/butterworth/order", code: "range" },
    { path: "/axes/x/nothing", code: "unknown_key" }, { path: "", code: "conflict" }, { code: "busy" },
  ]);
  assert.deepStrictEqual([...fields.keys()], ["trace.rate_hz", "axes.x.filter"]);
  assert.deepStrictEqual(others.map((error) => error.code), ["unknown_key", "conflict", "busy"]);
});

test("a list of keys names what is below them too", () => {
  assert.ok(form.isNamed(["mqtt.tls"], "mqtt.tls.ca_file"));
  assert.ok(!form.isNamed(["mqtt.tl"], "mqtt.tls.ca_file"));
  assert.ok(!form.isNamed(null, "a"));
});

test("fields are found by key and help", () => {
  assert.deepStrictEqual(form.search(list, "trace per second").map((one) => one.key), ["trace.rate_hz"]);
  assert.strictEqual(form.search(list, "  ").length, list.length);
});

test("every way of writing a filter is a variant that reads back", () => {
  const { variants: ways } = field("axes.x.filter");
  assert.deepStrictEqual(ways.map((way) => way.id), [
    "none", "shake:lp5", "butterworth lowpass corner_hz", "butterworth highpass corner_hz", "butterworth bandpass corners_hz",
    "comb frequency_hz", "chain",
  ]);
  const values = [
    ["none", 0], ["shake:lp5", 1], [{ butterworth: { type: "highpass", corner_hz: 5 } }, 3],
    [{ butterworth: { type: "bandpass", corners_hz: [1, "2 Hz"], order: 4 } }, 4], [{ comb: { frequency_hz: 50 } }, 5], [{ chain: ["none", "shake:lp5"] }, 6],
  ];
  for (const [value, index] of values) {
    const found = variants.match(ways, value);
    assert.strictEqual(found.index, index, JSON.stringify(value));
    assert.deepStrictEqual(variants.build(ways[index], found.values), value);
  }
  for (const value of ["other", { butterworth: { type: "bandpass" } }, null, 5]) {
    assert.strictEqual(variants.match(ways, value).index, -1, JSON.stringify(value));
  }
});

test("a kind of filter that the page has never heard of brings its title and its help", () => {
  const { variants: ways } = field("axes.x.filter");
  assert.deepStrictEqual(ways.map(({ title, word }) => [title, word]), [
    [undefined, undefined], [undefined, undefined], ["Butterworth", "lowpass"], ["Butterworth", "highpass"], ["Butterworth", "bandpass"],
    ["Comb", undefined], [undefined, undefined],
  ]);
  assert.deepStrictEqual(ways[5].fields.map(({ name, required, help }) => [name, required, help]), [
    ["frequency_hz", true, "What goes."], ["teeth", false, ""],
  ]);
});
