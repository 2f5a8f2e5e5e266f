// The list of all events: entries, filters, and the files that are made of it.
import assert from "node:assert";
import { test } from "node:test";
import "./support/load.js";
import { catalogue } from "../src/pure/catalogue.js";
import { csv } from "../src/pure/csv.js";
import { catalogueQuakeML, networkQuakeML } from "../src/pure/quakeml.js";
import { units } from "../src/pure/units.js";
import { wire } from "../src/pure/wire.js";

const ms = units.milliseconds;
const quake = wire.network({
  event_type: "end", event_id: "net-1", origin_time: "2026-01-05T10:00:00.5Z", latitude: 36, longitude: -118, depth_km: 8, magnitude: { value: 5.1, sigma: 0.3, relation: "r" }, mmi: { value: 6.2, station: "a" }, class: { likely: "earthquake" },
  ellipse: { semi_major_km: 9, semi_minor_km: 4, azimuth_deg: 40 }, stations: [{ id: "a", event_id: "a-1", onset: "2026-01-05T10:00:03Z", phase: "P", residual_s: 0.1, distance_km: 20 }], place: { quality: "good", azimuth_deg: 12 }, disputed: true,
});
const own = { event_id: "a-1", event_type: "end", onset: "2026-01-05T10:00:03Z", end: "2026-01-05T10:00:33Z", duration_s: 30, pga: 0.2, intensity: [{ scale: "mmi", value: 4.2 }], class: { likely: "disturbance", p: 0.2 }, label: "door" };
const list = [catalogue.ofNetwork(quake, "end", ms), catalogue.ofStation("a", own, false, { latitude: 36.1, longitude: -118 }, ms), catalogue.ofStation("b", { ...own, event_id: "b-1", onset: "2026-01-06T00:00:00Z", event_type: "onset", label: undefined }, false, null, ms)];
const ids = (filter, seen) => catalogue.filter(list, filter, seen).map(({ id }) => id);

test("an earthquake is kept with the nearest sixty of the events that belong to it", () => {
  assert.deepStrictEqual(list[0].parts, ["a-1"]);
  const many = { ...quake, stations: Array.from({ length: 100 }, (_, i) => ({ id: `s${i}`, event_id: `s${i}-1`, distance_km: 100 - i })) };
  const { parts } = catalogue.ofNetwork(many, null, ms);
  assert.deepStrictEqual([parts.length, parts[0], parts[59]], [60, "s99-1", "s40-1"]);
});

test("each filter, the newest first", () => {
  assert.deepStrictEqual(ids({}), ["b-1", "a-1", "net-1"]);
  assert.deepStrictEqual(ids({ whose: "network" }), ["net-1"]);
  assert.deepStrictEqual(ids({ whose: "stations" }), ["b-1", "a-1"]);
  assert.deepStrictEqual(ids({ from: ms("2026-01-05T10:00:03Z"), to: ms("2026-01-06T00:00:00Z") }), ["a-1"]);
  assert.deepStrictEqual(ids({ mmi: 6 }), ["net-1"]);
  assert.deepStrictEqual(ids({ magnitude: 5 }), ["net-1"]);
  assert.deepStrictEqual(ids({ magnitude: 6 }), []);
  assert.deepStrictEqual(ids({ kind: "disturbance", label: "door" }), ["a-1"]);
  assert.deepStrictEqual(ids({ words: "B" }), ["b-1"]);
  assert.deepStrictEqual(ids({ near: { latitude: 36, longitude: -118, km: 12 } }), ["a-1", "net-1"]);
  assert.deepStrictEqual(ids({ near: { latitude: 36, longitude: -118, km: 11 } }), ["net-1"]);
  assert.deepStrictEqual(ids({ open: true }, (id) => id === "a-1"), ["b-1", "net-1"]);
});

test("the table names who has seen an event, and gives a place to the network's alone", () => {
  const lines = csv.catalogue(list, (id) => (id === "net-1" ? { seen: { by: "Ada", t: "2026-01-05T11:00:00Z" }, notes: [{ by: "Bo", text: 'felt, "strong"' }] } : { notes: [] })).trim().split("\r\n");
  assert.strictEqual(lines.length, 4);
  assert.ok(lines[1].startsWith("net-1,,2026-01-05T10:00:00.5Z,,36,-118,8,good,5.1,0.3,6.2,"), lines[1]);
  assert.ok(lines[1].endsWith('Ada,2026-01-05T11:00:00Z,"Bo: felt, ""strong""",,'), lines[1]);
  assert.ok(lines[2].startsWith("a-1,a,2026-01-05T10:00:03Z,30,,,,,,,4.2,0.2,"), lines[2]);
  assert.ok(lines[2].endsWith(",true,true"), lines[2]);
  const rough = catalogue.ofStation("a", { ...own, acceleration_valid: false }, false, null, ms);
  assert.ok(csv.catalogue([rough], () => ({})).trim().endsWith(",true,false"));
});

test("QuakeML of both: an origin with its uncertainty and its magnitude, an event of a station without one", () => {
  const text = catalogueQuakeML(list.map((one) => ({ station: one.station ? { id: one.station, network: "XX", code: "A" } : null, event: one.station ? one.event : quake })));
  assert.strictEqual(text.match(/<event /g).length, 3);
  assert.strictEqual(text.match(/<origin /g).length, 1);
  for (const part of ["<latitude><value>36</value></latitude>", "<depth><value>8000</value></depth>", "<maxHorizontalUncertainty>9000</maxHorizontalUncertainty>", "<mag><value>5.1</value><uncertainty>0.3</uncertainty></mag>", "<timeResidual>0.1</timeResidual>",
    "<comment><text>disputed: stations nearby are silent</text></comment>"]) assert.ok(text.includes(part), part);
});

test("QuakeML has the region of 90 % as closed rings, and calls no disturbance an earthquake", () => {
  const region = [{ latitude: [1, 2, 3], longitude: [4, 5, 6] }, { latitude: [7, 8, 9], longitude: [10, 11, 12] }];
  const text = networkQuakeML([{ ...quake, class: "disturbance", place: { quality: "good", region } }]);
  assert.ok(text.includes("<text>region of 90 %: MULTIPOLYGON (((4 1, 5 2, 6 3, 4 1)), ((10 7, 11 8, 12 9, 10 7)))</text>"), text);
  assert.ok(text.includes("<type>other event</type>") && !text.includes("<type>earthquake</type>"), text);
  assert.ok(!networkQuakeML([quake]).includes("region of"));
});

test("a region is as many latitudes as longitudes; a note has a time", () => {
  const place = (region) => wire.network({ event_type: "onset", event_id: "net-n", origin_time: "2026-01-05T10:00:00Z", latitude: 1, longitude: 2, place: { quality: "good", region } }).place.region;
  assert.strictEqual(place([{ latitude: [1, 2, 3], longitude: [1, 2, 3] }]).length, 1);
  assert.strictEqual(place([{ latitude: [1, 2, 3], longitude: [1, 2] }, { latitude: [1, 99, 3], longitude: [1, 2, 3] }, { latitude: [1, 2], longitude: [1, 2] }]).length, 0);
  assert.deepStrictEqual(wire.note({ seen: { by: "Ada", t: "2026-01-05T11:00:00Z" }, notes: [{ by: "x", text: "no time" }] }), { seen: { by: "Ada", t: "2026-01-05T11:00:00Z" }, notes: [] });
});
