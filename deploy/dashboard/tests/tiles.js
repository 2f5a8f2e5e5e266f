// Tiles of a map, where its operator wants them: whose they are, which they are, and where they lie.
import assert from "node:assert";
import { test } from "node:test";
import "./support/load.js";
import { geo } from "../src/pure/geo.js";
import { policy } from "../src/pure/policy.js";
import { tiles } from "../src/pure/tiles.js";

const base = "https://stations.example.org/page/index.html";
const good = { tiles: "https://tiles.example.org/osm/{z}/{x}/{y}.png", attribution: " © OpenStreetMap " };

test("tiles are there only with an address and with whose they are", () => {
  const found = tiles.setting(good, base);
  assert.deepStrictEqual(found, { template: good.tiles, origin: "https://tiles.example.org", attribution: "© OpenStreetMap", deepest: 19 });
  assert.strictEqual(tiles.address(found, { z: 7, x: 66, y: 45 }), "https://tiles.example.org/osm/7/66/45.png");
  assert.strictEqual(tiles.setting({ ...good, tiles: "tiles/{z}/{x}/{y}.png", deepest: 12 }, base).origin, "https://stations.example.org");
  assert.strictEqual(tiles.setting({ ...good, deepest: 12 }, base).deepest, 12);
  for (const other of [null, {}, 5, { tiles: good.tiles }, { ...good, attribution: " " }, { ...good, tiles: "https://tiles.example.org/{z}/{x}.png" }, { ...good, tiles: "javascript:{z}{x}{y}" },
    { ...good, tiles: "https://a; script-src *{z}{x}{y}" }, { ...good, tiles: "https://user:secret@tiles.example.org/{z}/{x}/{y}" }, { ...good, tiles: ["{z}{x}{y}"] }]) {
    assert.strictEqual(tiles.setting(other, base), null, JSON.stringify(other));
  }
  assert.strictEqual(policy.pictures(undefined), "img-src data:");
  assert.strictEqual(policy.pictures(found.origin), "img-src data: https://tiles.example.org");
});

test("a place is on the tile that has it, where the map has it", () => {
  const view = { latitude: 48.1, longitude: 11.6, pixels: 900 };
  const list = tiles.inside(view, 800, 500);
  const { at } = geo.project(view, 800, 500);
  // OpenStreetMap's numbers of Munich at zoom 10: 544, 355.
  assert.strictEqual(list[0].z, 10);
  const row = tiles.rowOf(48.137) * 1024;
  assert.deepStrictEqual([Math.floor(row), Math.floor(((11.575 + 180) / 360) * 1024)], [355, 544]);
  const { x, y } = at(48.137, 11.575);
  const own = list.find((tile) => tile.left <= x && x < tile.right && tile.top <= y && y < tile.bottom);
  assert.deepStrictEqual([own.x, own.y], [544, 355]);
  const within = own.top + (row - own.y) * (own.bottom - own.top);
  assert.ok(Math.abs(within - y) < 1, `${within - y} pixels beside its place`);
  assert.ok(list.some(({ left, top }) => left <= 0 && top <= 0) && list.some(({ right, bottom }) => right >= 800 && bottom >= 500), "the map is not covered");
  assert.ok(Math.abs(tiles.latitudeOf(tiles.rowOf(-33.4)) + 33.4) < 1e-9);
});

test("a view that is too wide has no tiles, one across 180° has those of both sides, none is deeper than it is", () => {
  assert.deepStrictEqual(tiles.inside({ latitude: 0, longitude: 0, pixels: 3 }, 800, 500), []);
  const columns = new Set(tiles.inside({ latitude: -18, longitude: 179.9, pixels: 300 }, 800, 500).map(({ x }) => x));
  assert.ok(columns.has(0) && Math.max(...columns) > 200, [...columns].join());
  const [one, ...others] = tiles.inside({ latitude: 48, longitude: 11, pixels: 40000 }, 800, 500, 12);
  assert.ok(one.z === 12 && others.length < 4);
  assert.ok(tiles.inside({ latitude: 84, longitude: 11, pixels: 300 }, 3000, 2500).length <= 200);
});
