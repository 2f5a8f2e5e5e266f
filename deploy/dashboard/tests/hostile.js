// What a hostile station may send: it becomes neither a style, nor an address, nor code, nor an endless loop.
import assert from "node:assert";
import { test } from "node:test";
import "./support/load.js";
import { text } from "../src/text.js";
import { wire } from "../src/pure/wire.js";
import { scales } from "../src/pure/scales.js";
import { form } from "../src/pure/form.js";
import { policy } from "../src/pure/policy.js";
import { waveform } from "../src/pure/waveform.js";
import { Traces } from "../src/pure/ring.js";
import { settingControls } from "../src/views/settings-controls.js";

const colors = ["url(//evil)", "#fff", "red", "#ffffff;background:url(//evil)", "#gggggg", "image-set('//evil' 1x)", 7, null, ["#ffffff"], { toString: () => "#ffffff" }];

test("a colour is #rrggbb, or that of the page's own scale: url(…) went into a style and was fetched", () => {
  assert.strictEqual(wire.color("#c80000"), "#c80000");
  for (const color of colors) {
    assert.strictEqual(wire.color(color), undefined, String(color));
    assert.strictEqual(scales.intensity({ scale: "mmi", value: 4, color }).color, scales.scales.mmi.steps[3].color);
    assert.deepStrictEqual(wire.summary({ intensity: [{ color, value: 1 }] }), { intensity: [{ value: 1 }] });
  }
});

test("fields of another type, and those that the page does not use, are left out", () => {
  const read = wire.event({
    event_type: "end", event_id: "a-20260105T102030000Z", onset: "2026-01-05T10:20:30.5Z", end: "javascript:1", pga: "1", pgv: 1e999,
    intensity: "none", detectors: [{ name: 5, signal: "z", axes: "xy", on: 0 }, "sta_lta", null], peaks: { x: { value: [1] }, y: 3 },
    first_motion: { axis: ["+z"] }, test: "yes", waveform: { sha256: "<b>", bytes: 5 }, __proto__: { gaps: 7 }, extra: 1,
  });
  assert.deepStrictEqual(read, {
    event_type: "end", event_id: "a-20260105T102030000Z", onset: "2026-01-05T10:20:30.5Z", detectors: [{ signal: "z" }],
    peaks: { x: {} }, first_motion: {}, waveform: { bytes: 5 },
  });
  for (const none of [null, undefined, 5, "x", [], true]) {
    for (const reader of [wire.summary, wire.health, wire.info, wire.update, wire.alert, wire.event, wire.config, wire.schema]) assert.strictEqual(reader(none), undefined);
  }
});

test("a detector whose ratios the event has, of any name, compares a ratio", () => {
  const { detectors } = wire.event({ detectors: [{ name: "energy" }, { name: "peak" }, {}], energy_max: { v3: 12 } });
  assert.deepStrictEqual(detectors, [{ name: "energy", isRatio: true }, { name: "peak" }, {}]);
});

test("an event of the network has its id, and onsets that are of the stations that it names", () => {
  const quake = (more) => wire.network({ event_type: "onset", event_id: "net-1", origin_time: "2026-01-05T10:00:00Z", latitude: 1, longitude: 2, ...more });
  for (const id of ["a-20260105T102030000Z", "net-", "net", "net-../x", "NET-1", "net-".padEnd(65, "1"), 5]) assert.strictEqual(quake({ event_id: id }), undefined, String(id));
  assert.strictEqual(quake({ merged_into: "a-1" }).merged_into, undefined);
  const stations = [{ id: "a", event_id: "a-1" }, { id: "a", event_id: "b-1" }, { id: "b", event_id: "net-1" }, { id: "c" }];
  assert.deepStrictEqual(quake({ stations }).stations.map(({ id }) => id), ["a", "c"]);
});

test("what a station expects is of the network, and within what there is", () => {
  const good = { state: "coming", network_event: "net-1", version: 1, alarm: true, mmi: 5, mmi_range: [4, 6], seconds: 9, issued: "2026-01-05T10:00:00Z" };
  assert.deepStrictEqual(wire.warning(good), good);
  for (const bad of [{ network_event: "a-1" }, { mmi: 1e9 }, { mmi: "5" }, { state: "soon" }, { issued: 5 }, { network_event: "net-<b>" }]) assert.strictEqual(wire.warning({ ...good, ...bad }), undefined, JSON.stringify(bad));
  assert.deepStrictEqual(wire.warning({ ...good, alarm: "yes", s_arrival: "javascript:1", mmi_range: [4, 99, {}] }).mmi_range, [4]);
});

test("an event's id goes into an address and a file's name", () => {
  for (const id of ["../../etc/passwd", "a/b", "a b", "..", "", "x".repeat(129), "a\u202Egpj", "javascript:alert(1)", 5, null]) {
    assert.strictEqual(wire.eventId(id), undefined, String(id));
  }
  assert.strictEqual(wire.eventId("basement-20260105T102030000Z"), "basement-20260105T102030000Z");
});

test("texts have no control characters, none that turn the direction of writing around, and an end", () => {
  assert.strictEqual(wire.text("a\u0000b\u001bc\u009bd\u202ee\u2066f\u2028g\u200eh\u061ci"), "a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf\ufffdg\ufffdh\ufffdi");
  assert.strictEqual(wire.text("Größe 地震 🌍"), "Größe 地震 🌍");
  assert.strictEqual(wire.text("x".repeat(1e6)).length, 500);
});

test("lists and names are bounded", () => {
  assert.strictEqual(wire.summary({ intensity: Array(1e5).fill({ value: 1 }) }).intensity.length, 12);
  const many = wire.summary({ sta_lta: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`a${i}`, i])) }).sta_lta;
  assert.strictEqual(Object.keys(many).length, 16);
  assert.deepStrictEqual(Object.keys(wire.summary({ sta_lta: { "<b>": 1, "x y": 1, x: 2, y: "3" } }).sta_lta), ["x"]);
});

test("names that every object has are not found among ours", () => {
  for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
    assert.strictEqual(scales.intensity({ scale: name, value: 3 }), null);
    assert.strictEqual(text.intensity.relations[name], undefined);
  }
});

test("a schema with names that every object has changes no object", () => {
  const schema = JSON.parse('{"properties":{"__proto__":{"properties":{"polluted":{"type":"number"}}},"constructor":{"properties":{"polluted":{"type":"number"}}},"a b":{"properties":{"c":{"type":"number"}}}}}');
  const keys = form.fields(schema).map((field) => field.key);
  assert.deepStrictEqual(keys, ["constructor.polluted"]);
  assert.strictEqual(JSON.stringify(form.patch(new Map([["constructor.polluted", 1], ["__proto__.polluted", 1]]))), '{"constructor":{"polluted":1}}');
  assert.strictEqual({}.polluted, undefined);
  assert.strictEqual(Object.polluted, undefined);
});

test("a schema that refers to itself, in a circle or as a tree, ends with an error", () => {
  const circle = { properties: { a: { properties: { b: { $ref: "#/properties/a" } } } } };
  const tree = { properties: {}, d: {} };
  for (let i = 0; i < 60; i++) tree.d[`n${i}`] = { properties: { a: { $ref: `#/d/n${i + 1}` }, b: { $ref: `#/d/n${i + 1}` } } };
  tree.properties.x = { $ref: "#/d/n0" };
  const choices = { properties: { x: { properties: { y: { anyOf: [{ $ref: "#/d/n0" }, { $ref: "#/d/n0" }, { type: "array" }] } } } }, d: {} };
  for (let i = 0; i < 60; i++) choices.d[`n${i}`] = { anyOf: [{ $ref: `#/d/n${i + 1}` }, { $ref: `#/d/n${i + 1}` }, { type: "array" }] };
  const wide = { properties: { x: { properties: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`f${i}`, { type: "number" }])) } } };
  for (const schema of [circle, tree, choices, wide]) assert.throws(() => form.fields(schema), RangeError);
});

test("settings of a newer agent: what is no text is told as JSON, units that nobody knows are not computed with", () => {
  const schema = (kind) => ({ properties: { a: { properties: { b: kind } } } });
  const [field] = form.fields(schema({ anyOf: [{ type: "number" }, { type: "string", pattern: "^[0-9.]+ (us|furlong|s)$" }] }));
  assert.deepStrictEqual([field.kind, field.units], ["quantity", ["us", "furlong", "s"]]);
  for (const typed of ["5 us", "5 furlong", "5 s", "5"]) assert.doesNotMatch(settingControls.otherUnit(field, typed), /NaN|undefined|\[object/, typed);
  assert.strictEqual(settingControls.otherUnit({ ...field, units: ["ms", "s"] }, "5 ms"), "= 0.005 s");
  for (const value of [{ a: 1 }, [{ a: 1 }], [1, { a: 1 }], [[1], [2]], { filter: { of: [1, { a: [{ b: 2 }] }] } }]) {
    for (const one of [form.format(field, value), settingControls.shown({ ...field, kind: "variants" }, value), settingControls.shown(field, value)]) assert.doesNotMatch(one, /\[object|undefined/, one);
  }
  for (const options of [[{ a: 1 }], [1, { a: 1 }], "abc", { 0: 1 }]) {
    assert.strictEqual(form.fields(schema({ enum: options }))[0].kind, "json");
    assert.strictEqual(form.fields(schema({ type: "array", items: { enum: options } }))[0].kind, "json");
  }
});

test("a tree of settings has an end in every direction, and no control characters", () => {
  let deep = {};
  for (let i = 0; i < 100; i++) deep = { deep };
  const read = wire.config({ config: { deep, long: "x".repeat(1e6), evil: "a\u202eb", many: Array(1e5).fill(1), list: [null, true, { a: 1 }], ["k".repeat(200)]: 1 } }).config;
  let depth = 0;
  for (let node = read.deep; node; node = node.deep) depth++;
  assert.deepStrictEqual([depth < 25, read.long.length, read.evil, read.many.length < 20001, Object.keys(read).includes("k".repeat(200))], [true, 4000, "a\ufffdb", true, false]);
  assert.deepStrictEqual(wire.config({ config: { list: [null, true, { a: 1 }] } }).config, { list: [null, true, { a: 1 }] });
});

test("of settings the page uses those of their type alone", () => {
  const used = wire.used({ trace: { block_s: "1", enabled: true, only_in_events: [] }, detection: { sta_lta: { on: { a: 1 }, off: 1.5 }, event: null },
    sensor: { mounting: { north_deg: "north" } }, vibration: [true], station: { id: "attic" } });
  assert.deepStrictEqual(JSON.parse(JSON.stringify(used)), { trace: { enabled: true }, detection: { sta_lta: { off: 1.5 } }, sensor: { mounting: {} } });
  for (const junk of [null, 7, "x", []]) assert.strictEqual(wire.used(junk) ?? null, null);
});

test("replies and blocks of traces are read as all else", () => {
  assert.deepStrictEqual(wire.reply({ id: "a", phase: "accepted", rev: "<b>", incomplete: 1, errors: [{ message: 5, code: "x" }, null], result: { a: 1 }, evil: 1 }), { id: "a", phase: "accepted", errors: [{ code: "x" }], result: { a: 1 } });
  for (const none of [null, [], 5, "x"]) assert.strictEqual(wire.reply(none), undefined);
  const block = { t: "2026-01-05T10:20:30Z", rate_hz: 20, n: 2, x: { raw: [1, "2"] } };
  assert.deepStrictEqual(wire.trace({ ...block, y: 5, z: { raw: "abc", evil: [1] }, boot: {} }), { ...block, z: {} });
  for (const bad of [{ t: 5 }, { rate_hz: "20" }, { rate_hz: 0 }, { n: 0 }, { n: 1e9 }]) assert.strictEqual(wire.trace({ ...block, ...bad }), undefined, JSON.stringify(bad));
});

test("numbers at the ends of what there is draw no endless axis", () => {
  for (const [low, high] of [[0.1, Infinity], [Infinity, Infinity], [NaN, NaN], [0, 10], [-1, 5]]) assert.deepStrictEqual(scales.decades(low, high), []);
  assert.ok(scales.decades(0.1, 1e300).length < 400);
  assert.deepStrictEqual(scales.ticks(-Infinity, Infinity, 5), [-Infinity]);
  assert.deepStrictEqual(scales.multiples(0, 1e300, 1), []);
  const traces = new Traces();
  for (const rate of [1e-300, 1e300, 0, -1, NaN, "20"]) assert.strictEqual(traces.add({ t: "2026-01-05T10:20:30Z", rate_hz: rate, n: 2, x: { raw: [1, 2] } }, 1), false);
  assert.strictEqual(waveform.assemble([{ source: "FDSN:XX_A__H_N_Z", rate: 1e-300, count: 2, start: 0n, samples: [1, 2] }]), null);
});

test("the page connects to the broker that its address names, and to no other", () => {
  const at = (search, more) => ({ protocol: "http:", host: "10.0.0.1:8080", pathname: "/x/index.html", search, ...more });
  assert.deepStrictEqual(policy.brokers(at("")), ["ws://10.0.0.1:8080/x/"]);
  assert.deepStrictEqual(policy.brokers(at("", { protocol: "https:" })), ["wss://10.0.0.1:8080/x/"]);
  assert.deepStrictEqual(policy.brokers(at("?broker=wss://b:9001/mqtt")), ["wss://b:9001/mqtt"]);
  assert.deepStrictEqual(policy.brokers(at("?broker=wss://b&broker=wss://c/ws&broker=wss://b")), ["wss://b", "wss://c/ws"]);
  assert.strictEqual(policy.brokers(at(`?${Array.from({ length: 99 }, (_, i) => `broker=ws://h${i}`).join("&")}`)).length, 8);
  assert.strictEqual(policy.connections(["ws://10.0.0.1:8080/x/"]), "connect-src ws://10.0.0.1:8080");
  assert.strictEqual(policy.connections(["wss://user:pass@B.example/mqtt?x#y"]), "connect-src wss://b.example");
  assert.strictEqual(policy.connections(["wss://b/ws", "wss://c:1/ws", "wss://b/x"]), "connect-src wss://b wss://c:1");
  assert.strictEqual(policy.connections(["ws://[::1]:9001/"]), "connect-src ws:");
  for (const url of ["http://b", "javascript:1", "data:,x", "", "ws:", "//b", "b:9001", "ws://b c"]) {
    assert.strictEqual(policy.origin(url), null, url);
    assert.strictEqual(policy.connections([url]), "connect-src 'none'");
    assert.strictEqual(policy.connections(["ws://b", url]), "connect-src 'none'");
  }
});
