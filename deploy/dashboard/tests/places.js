// Names of places on the map.
import assert from "node:assert";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { top } from "./support/load.js";
import { geo } from "../src/pure/geo.js";
import { places } from "../src/pure/places.js";
import { policy } from "../src/pure/policy.js";

const list = places.parse(fs.readFileSync(path.join(top, "places.tsv"), "utf8"));
const shown = (view, options = {}) => places.inside(list, geo.project(view, 800, 500), 800, 500, { wide: (name) => name.length * 6, ...options });

test("the file has the places of the world, the most important ones first", () => {
  assert.ok(list.length > 7000 && list.findIndex(({ name }) => name === "Tokyo") < 50, `${list.length}`);
  assert.deepStrictEqual(places.parse("# a\nTown\t1\t2\n\nNowhere\t91\t0\nBroken\nNone\tx\t0"), [{ name: "Town", latitude: 1, longitude: 2 }]);
});

test("a map of a region has its towns where they are, and none over another or over what is taken", () => {
  const bavaria = { latitude: 48.3, longitude: 11.3, pixels: 250 };
  const found = shown(bavaria);
  const munich = found.find(({ name }) => name === "Munich");
  assert.ok(munich && found.some(({ name }) => name === "Augsburg") && found.length > 6, found.map(({ name }) => name).join());
  const { x, y } = geo.project(bavaria, 800, 500).at(48.13, 11.57);
  assert.ok(Math.hypot(munich.x - x, munich.y - y) < 6, `${munich.x - x} ${munich.y - y}`);
  const boxes = found.map(({ name, left, top: up }) => ({ left, top: up, right: left + name.length * 6, bottom: up + 14 }));
  for (const [i, a] of boxes.entries()) {
    assert.ok(a.left >= 2 && a.right <= 798 && a.top >= 2 && a.bottom <= 498);
    for (const b of boxes.slice(0, i)) assert.ok(!(a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top), `${found[i].name} covers another`);
  }
  const taken = [{ left: munich.x - 60, right: munich.x + 60, top: munich.y - 30, bottom: munich.y + 30 }];
  assert.ok(!shown(bavaria, { taken }).some(({ name }) => name === "Munich"));
  // A station in the town: its name is beside that.
  const station = { left: munich.x - 13, right: munich.x + 13, top: munich.y - 13, bottom: munich.y + 13 };
  const beside = shown(bavaria, { taken: [station] }).find(({ name }) => name === "Munich");
  assert.ok(beside && (beside.left >= station.right || beside.left + 36 <= station.left || beside.top >= station.bottom || beside.top + 14 <= station.top), JSON.stringify(beside));
});

test("a map of the world has few, large ones; across 180° those of both sides", () => {
  const world = shown({ latitude: 10, longitude: 0, pixels: 2.2 });
  assert.ok(world.length > 8 && world.length <= 40 && world.some(({ name }) => ["Paris", "London", "Moscow"].includes(name)), world.map(({ name }) => name).join());
  assert.ok(shown({ latitude: -17, longitude: 179, pixels: 60 }).some(({ name }) => name === "Suva"));
});

test("an earthquake is said from the place that is nearest, or from a greater one that is about as near; far from all from none", () => {
  const munich = places.nearest(list, { latitude: 48.22, longitude: 11.57 });
  assert.ok(munich.name === "Munich" && Math.abs(munich.km - 10) < 1 && Math.min(munich.azimuth, 360 - munich.azimuth) < 5, JSON.stringify(munich));
  assert.strictEqual(places.nearest(list, { latitude: -45, longitude: -110 }), null);
  const two = [{ name: "City", latitude: 0, longitude: 0 }, { name: "Hamlet", latitude: 0, longitude: 0.19 }];
  assert.strictEqual(places.nearest(two, { latitude: 0, longitude: 0.1 }).name, "City");
  assert.strictEqual(places.nearest(two, { latitude: 0, longitude: 0.15 }).name, "Hamlet");
});

test("the browser lets the page fetch that file alone", () => {
  const file = "http://stations.local:8080/places-0a1b.bin";
  assert.strictEqual(policy.connections(["ws://stations.local:8080/"], [file]), `connect-src ws://stations.local:8080 ${file}`);
  for (const other of [null, undefined, "http://a/b; script-src *", "http://[::1]/x", "ftp://a/b"]) assert.strictEqual(policy.connections(["ws://a/"], [other]), "connect-src ws://a", String(other));
});
