// Which alarms there are, when they come and go; and what an earthquake means at a place.
import assert from "node:assert";
import { test } from "node:test";
import "./support/load.js";
import { Alarms, alarms } from "../src/pure/alarms.js";
import { ground } from "../src/pure/ground.js";
import { units } from "../src/pure/units.js";
import { wire } from "../src/pure/wire.js";

const near = (value, wanted, within) => assert.ok(Math.abs(value - wanted) <= within, `${value}, not ${wanted}`);
const ms = units.milliseconds;
const rules = { network: "all", station: "all", intensity: "off", home: "" };
const event = (more) => ({ event_id: "net-1", event_type: "onset", origin_time: "2026-01-05T10:00:00Z", latitude: 36, longitude: -118, depth_km: 8, magnitude: { value: 6, sigma: 0.2 }, stations: [], mmi: { value: 7, station: "a" }, ...more });
const home = { id: "home", latitude: 36, longitude: -117 };

test("distance, direction, arrivals and expected intensity", () => {
  near(ground.distance({ latitude: 0, longitude: 0 }, { latitude: 0, longitude: 1 }), 111.19, 0.01);
  near(ground.distance({ latitude: 10, longitude: 179.5 }, { latitude: 10, longitude: -179.5 }), 109.5, 0.1);
  near(ground.azimuth({ latitude: 0, longitude: 0 }, { latitude: 0, longitude: 1 }), 90, 1e-9);
  near(ground.azimuth({ latitude: 1, longitude: 0 }, { latitude: 0, longitude: 0 }), 180, 1e-9);
  near(ground.arrival("s", 60, 80), 100 / 3.5, 1e-9);
  near(ground.reach("p", 10, 8), Math.sqrt(60 ** 2 - 8 ** 2), 1e-9);
  assert.strictEqual(ground.reach("s", 1, 8), 0, "it has not come to the surface yet");
  // Atkinson, Worden and Wald (2014): the numbers of the station's own tests.
  for (const [magnitude, slant, expected] of [[6, 51, 4.5786], [7, 20, 7.2632], [4.5, 10, 4.4637], [5, 200, 1.9999], [8, 300, 4.2076]]) {
    near(ground.intensity(magnitude, slant), expected, 1e-4);
  }
  near(ground.intensity(6, 15), 6.24, 0.02);
});

test("an earthquake of the network: distance, S wave and intensity where the reader is", () => {
  const one = alarms.ofNetwork(event(), rules, home, NaN, ms);
  near(one.distance, 89.96, 0.1);
  near(one.azimuth, 270, 0.5);
  near((one.s - ms("2026-01-05T10:00:00Z")) / 1000, Math.hypot(89.96, 8) / 3.5, 0.05);
  near(one.size, ground.at(event(), home).mmi, 1e-9);
  assert.strictEqual(alarms.ofNetwork(event(), rules, home, 5.5, ms).size, 5.5, "what was measured here counts more");
  assert.strictEqual(alarms.ofNetwork(event(), rules, null, NaN, ms).size, 7, "without a place the largest counts");
});

test("beyond the network neither distance nor arrival is told, the direction is the network's", () => {
  const one = alarms.ofNetwork(event({ place: { quality: "outside", azimuth_deg: 310 }, magnitude: null }), rules, home, NaN, ms);
  assert.deepStrictEqual([one.distance, one.s, one.expected, one.azimuth], [NaN, NaN, NaN, 310]);
});

test("rules: from an intensity on, none, and no disturbance", () => {
  assert.strictEqual(alarms.ofNetwork(event(), { ...rules, network: "7" }, null, NaN, ms)?.kind, "network");
  assert.strictEqual(alarms.ofNetwork(event({ mmi: { value: 6.4 } }), { ...rules, network: "7" }, null, NaN, ms), null);
  assert.strictEqual(alarms.ofNetwork(event(), { ...rules, network: "off" }, null, NaN, ms), null);
  assert.strictEqual(alarms.ofNetwork(event({ class: "disturbance" }), rules, null, NaN, ms), null);
  const own = { event_id: "a-1", event_type: "update", onset: "2026-01-05T10:00:00Z", alarm: true, intensity: [{ scale: "mmi", value: 4 }] };
  assert.strictEqual(alarms.ofStation("a", own, rules, ms).isAlarm, true);
  assert.strictEqual(alarms.ofStation("a", own, { ...rules, station: "off" }, ms), null);
  assert.strictEqual(alarms.ofStation("a", own, { ...rules, station: "home", home: "b" }, ms), null);
  assert.strictEqual(alarms.ofStation("a", { ...own, alarm: false }, { ...rules, station: "off", intensity: "4" }, ms).isAlarm, false);
  assert.strictEqual(alarms.ofStation("a", { ...own, alarm: false }, { ...rules, station: "off", intensity: "5" }, ms), null);
});

// What a start or a gap makes uncertain raises no alarm by itself: the acceleration decides, and the station's own alarm.
test("an intensity that is not certain is no alarm", () => {
  const read = (more) => wire.event({ event_id: "a-1", event_type: "end", onset: "2026-01-05T10:00:00Z", gaps: 1, velocity_valid: false,
    intensity: [{ scale: "mmi", relation: "worden12", value: 7, roman: "VII", from_pga: 4.2 }], ...more });
  const strong = { network: "off", station: "all", intensity: "6", home: "" };
  assert.strictEqual(alarms.ofStation("a", read({}), strong, ms), null);
  assert.strictEqual(alarms.ofStation("a", read({ velocity_valid: true }), strong, ms).size, 7);
  assert.strictEqual(alarms.ofStation("a", read({}), { ...strong, intensity: "4" }, ms).size, 4.2);
  assert.strictEqual(alarms.ofStation("a", read({ alarm: true }), strong, ms).isAlarm, true);
});

// An acceleration that may be off still decides, and what is told of it says so.
test("an acceleration that is not certain decides, and says so", () => {
  const read = (relation, more) => wire.event({ event_id: "a-1", event_type: "end", onset: "2026-01-05T10:00:00Z", gaps: 1, pga: 2,
    intensity: [{ scale: "mmi", relation, value: 7, from_pga: 6.8 }], acceleration_valid: false, ...more });
  const heard = (...event) => alarms.ofStation("a", read(...event), { network: "off", station: "all", intensity: "6", home: "" }, ms);
  assert.deepStrictEqual([heard("gutenberg_richter").size, heard("gutenberg_richter").isRough], [7, true]);
  assert.deepStrictEqual([heard("worden12").size, heard("worden12").isRough], [7, false]);
  assert.deepStrictEqual([heard("worden12", { velocity_valid: false }).size, heard("worden12", { velocity_valid: false }).isRough], [6.8, true]);
  assert.strictEqual(heard("gutenberg_richter", { acceleration_valid: true }).isRough, false);
  assert.strictEqual(heard("worden12", { intensity: [], alarm: true }).isRough, true);
});

const alarm = (more) => ({ key: "network net-1", kind: "network", size: 4, state: "on", ...more });

test("an alarm comes once, changes, and goes after its time", () => {
  const book = new Alarms();
  assert.strictEqual(book.hear(alarm(), 0), "new");
  assert.strictEqual(book.hear(alarm({ size: 5 }), 1000), "changed");
  assert.strictEqual(book.pass(120999), false);
  assert.strictEqual(book.pass(121000), true);
  assert.deepStrictEqual(book.list(), []);
});

test("what was open before anybody listened, or is too old, is shown and wakes nobody; changes of it neither", () => {
  for (const [age, watched, what] of [[180000, Infinity, "new"], [180001, Infinity, "shown"], [4000, 5000, "new"], [5001, 5000, "shown"], [0, 0, "new"]]) {
    const book = new Alarms();
    assert.strictEqual(book.hear(alarm(), 0, age, watched), what, `${age} ${watched}`);
    assert.strictEqual(book.hear(alarm({ size: 9 }), 100, age + 100, watched + 100), "changed");
    assert.strictEqual(book.list().length, 1);
  }
});

test("what the reader has seen stays seen when the page is loaded again, as far as it is kept", () => {
  const book = new Alarms();
  book.hear(alarm(), 0);
  book.dismiss("network net-1");
  const next = new Alarms(book.dismissed);
  assert.strictEqual(next.hear(alarm(), 10, 5000, 100), null);
  assert.strictEqual(next.hear(alarm({ size: 5 }), 20, 5000, 100), "shown");
  const many = new Alarms(Array.from({ length: 600 }, (_, i) => [`s${i}`, 4]));
  assert.deepStrictEqual([many.dismissed.length, many.dismissed[0][0]], [500, "s100"]);
});

test("what is over or withdrawn when it is heard of is none", () => {
  const book = new Alarms();
  assert.strictEqual(book.hear(alarm({ state: "over" }), 0), null);
  assert.strictEqual(book.hear(alarm({ state: "withdrawn" }), 0), null);
});

test("one that is withdrawn is said for a while; one that became another goes at once", () => {
  const book = new Alarms();
  book.hear(alarm(), 0);
  assert.strictEqual(book.hear(alarm({ state: "withdrawn" }), 1000), "changed");
  assert.strictEqual(book.pass(11000), true);
  book.hear(alarm({ key: "b" }), 0);
  assert.strictEqual(book.hear(alarm({ key: "b", state: "merged" }), 10), "over");
  assert.deepStrictEqual(book.list(), []);
});

test("what was seen comes again only when it is a step stronger", () => {
  const book = new Alarms();
  book.hear(alarm(), 0);
  book.dismiss("network net-1");
  assert.strictEqual(book.hear(alarm({ size: 4.4 }), 10), null);
  assert.strictEqual(book.hear(alarm({ size: 4.6 }), 20), "new");
});

test("the gravest comes first, and there are never more than twenty", () => {
  const book = new Alarms();
  for (let i = 0; i < 30; i++) book.hear(alarm({ key: `s${i}`, kind: "station", size: i / 4 }), i);
  book.hear(alarm({ size: 2 }), 100);
  book.hear(alarm({ key: "over", size: 9 }), 100);
  book.hear(alarm({ key: "over", size: 9, state: "over" }), 101);
  const list = book.list();
  assert.strictEqual(list.length, 20);
  assert.strictEqual(list[0].key, "network net-1");
  assert.strictEqual(list.at(-1).key, "over");
});

const expected = { state: "coming", network_event: "net-1", version: 1, alarm: true, s_arrival: "2026-01-05T10:00:20.000Z", seconds: 12, mmi: 5.6, mmi_range: [4.9, 6.3], distance_km: 42, magnitude: 6.4, issued: "2026-01-05T10:00:08.000Z" };
test("a station's warning: until the wave has been there for 10 s, by the rules for stations", () => {
  const one = alarms.ofWarning("a", expected, rules, ms);
  const issued = ms(expected.issued);
  assert.deepStrictEqual([one.kind, one.state, one.s - issued, one.ends - issued], ["warning", "on", 12000, 22000]);
  assert.strictEqual(alarms.ofWarning("a", expected, { ...rules, station: "off" }, ms), null);
  assert.strictEqual(alarms.ofWarning("a", expected, { ...rules, station: "home", home: "b" }, ms), null);
  assert.strictEqual(alarms.ofWarning("a", { ...expected, state: "passed", alarm: false }, rules, ms).state, "over");
  assert.strictEqual(alarms.ofWarning("a", { ...expected, alarm: false }, rules, ms).state, "withdrawn", "it asks for the line no more");
  const book = new Alarms();
  assert.strictEqual(book.hear(one, issued, 0), "new");
  book.hear({ key: "network net-1", kind: "network", size: 9, state: "on" }, issued);
  assert.strictEqual(book.list()[0].kind, "warning", "what is coming here stands before all else");
  book.pass(issued + 21999);
  assert.ok(book.list().some(({ kind }) => kind === "warning"));
  book.pass(issued + 22000);
  assert.ok(!book.list().some(({ kind }) => kind === "warning"));
  // Nothing is made of the end of one that nobody has heard of.
  assert.strictEqual(new Alarms().hear({ ...one, state: "withdrawn" }, issued, 0), null);
  // Without a clock: now, and for a minute at most.
  const { s_arrival, ...untimed } = expected;
  assert.deepStrictEqual([alarms.ofWarning("a", untimed, rules, ms).s, alarms.ofWarning("a", untimed, rules, ms).ends - issued, typeof s_arrival], [NaN, 60000, "string"]);
});

test("Waves are drawn anew while a circle of them is in the picture, as often as it is seen to move", () => {
  const pause = (age, more) => ground.pause({ age, depth: 10, nearest: 0, farthest: 300, kilometre: 2, ...more });
  // P at 6 km/s and 2 pixels for a kilometre: four pixels in a third of a second.
  assert.equal(Math.round(pause(20)), 333);
  // P has gone, S (3.5 km/s) has not.
  assert.equal(pause(60), 500);
  assert.equal(Math.round(pause(60, { kilometre: 4 })), 286);
  assert.equal(pause(100), Infinity);
  // Not yet there.
  assert.equal(pause(20, { nearest: 200, farthest: 400 }), Infinity);
  assert.equal(Math.round(pause(40, { nearest: 200, farthest: 400 })), 333);
  // Before they come to the surface there is none; a second before, it is expected.
  assert.equal(pause(0.2, { depth: 50 }), Infinity);
  assert.equal(pause(7.5, { depth: 50 }) < Infinity, true);
  // Neither more often than five times a second nor less often than twice.
  assert.equal(pause(20, { kilometre: 40 }), 200);
  assert.equal(pause(20, { kilometre: 0.1 }), 500);
  // After four minutes they are not drawn.
  assert.equal(pause(242, { farthest: 5000 }), Infinity);
});

test("what is farther than 100 km from the reader's station sounds another way; where nobody knows, it is near", () => {
  const of = (place) => alarms.ofNetwork(event(place), rules, home, NaN, ms);
  assert.strictEqual(alarms.isFar(of({ latitude: 36, longitude: -117.5 }), home, null), false);
  assert.strictEqual(alarms.isFar(of({ latitude: 36, longitude: -118.2 }), home, null), true);
  assert.strictEqual(alarms.isFar(of({ place: { quality: "outside", azimuth_deg: 10 } }), home, null), false, "beyond the network");
  assert.strictEqual(alarms.isFar(alarms.ofNetwork(event(), rules, null, NaN, ms), null, null), false, "without a station of one's own");
  const station = { kind: "station", station: "attic" };
  assert.strictEqual(alarms.isFar(station, home, { latitude: 36, longitude: -116.5 }), false);
  assert.strictEqual(alarms.isFar(station, home, { latitude: 40, longitude: -117 }), true);
  assert.strictEqual(alarms.isFar({ ...station, station: "home" }, home, { latitude: 40, longitude: -117 }), false, "the reader's own");
  for (const [at, place] of [[home, null], [null, home]]) assert.strictEqual(alarms.isFar(station, at, place), false);
});
