// Who is there, by what stations say and what brokers keep.
import assert from "node:assert";
import { EventEmitter } from "node:events";
import { test, mock } from "node:test";
import { vector } from "./support/load.js";

globalThis.location = { search: "", pathname: "/", protocol: "http:", host: "example.org" };
globalThis.sessionStorage = { getItem: () => null, setItem() {}, removeItem() {} };
globalThis.document = { addEventListener() {}, dispatchEvent() {}, hidden: false };
globalThis.addEventListener = () => {};
class Client extends EventEmitter {
  constructor() {
    super();
    Object.assign(this, { connected: false, sent: [] });
  }
  end() { this.connected = false; }
  subscribe() {}
  unsubscribe() {}
  publish(topic, payload) {
    this.sent.push(topic);
    // What nobody waits for has an id as well: there are commands that want one.
    assert.match(JSON.parse(payload).id, /^page-/);
  }
}
let client = null;
globalThis.mqtt = { connect: () => (client = new Client()) };
const begin = Date.parse("2026-01-05T10:00:00Z");
mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: begin });
const { link } = await import("../src/link.js");
const { fleet } = await import("../src/fleet.js");
const { rank } = await import("../src/pure/rank.js");
await import("../src/watching.js");
await import("../src/introductions.js");
fleet.start();
fleet.introduce();

function connect() {
  link.connect();
  client.connected = true;
  client.emit("connect");
  client.sent.length = 0;
  fleet.stations.clear();
}
const say = (id, what, content, retain = false) => client.emit("message", `seismote/${id}/${what}`,
  new TextEncoder().encode(typeof content === "string" ? content : JSON.stringify(content)), { retain });
const level = (seq = 0) => ({ v: 1, boot: "b", seq, t: new Date().toISOString(), pga: 0.001, triggered: false, valid: true });
const info = (id) => ({ v: 1, agent: { version: "1" }, station: { id, latitude: 1, longitude: 2 } });
for (const what of ["state/level", "state/summary", "event/last"]) link.subscribe(`seismote/+/${what}`, fleet.take);

test("who speaks is online, whatever the broker kept before or hands over late", () => {
  connect();
  say("a", "state/online", "offline", true);
  say("a", "state/level", level(), true);
  assert.strictEqual(fleet.stations.get("a").online, false);
  say("a", "state/level", level(1));
  assert.strictEqual(fleet.stations.get("a").online, true);
  say("a", "state/online", "offline");
  assert.strictEqual(fleet.stations.get("a").online, false);
  say("a", "state/level", level(2));
  assert.strictEqual(fleet.stations.get("a").online, true);
});

test("an event is of the station that says so: another's id is nothing, on whatever topic it comes", () => {
  connect();
  const event = (id, more) => ({ v: 1, boot: "b", seq: 0, t: new Date().toISOString(), event_type: "onset", event_id: id, onset: "2026-01-05T10:00:00Z", pga: 9, ...more });
  say("a", "state/online", "online");
  for (const id of ["b-20260105T100000000Z", "net-20260105T100000000Z", "ab-20260105T100000000Z", "a", "A-20260105T100000000Z"]) {
    for (const what of ["event/trigger", "event/current", "event/last", "data/history/event/trigger"]) say("a", what, event(id), what !== "event/trigger");
    fleet.learn("a", event(id, { event_type: "end" }));
  }
  assert.strictEqual(fleet.stations.get("a").events.size, 0);
  assert.ok(!fleet.stations.get("a").lastEvent && !fleet.stations.get("a").current);
  say("a", "event/trigger", event("a-20260105T100000000Z"));
  assert.deepStrictEqual([...fleet.stations.get("a").events.keys()], ["a-20260105T100000000Z"]);
});

test("an open event is over with its end, with a new run of its station, and where it ended while there was no connection", () => {
  connect();
  const id = "a-20260105T100000000Z";
  const event = (type, more) => ({ v: 1, boot: "b", seq: 0, t: new Date().toISOString(), event_type: type, event_id: id, onset: "2026-01-05T10:00:00Z", pga: 0.1, ...more });
  const current = () => fleet.stations.get("a").current;
  const over = () => fleet.newestEvents("a")[0].ended;
  say("a", "state/online", "online", true);
  say("a", "event/current", event("onset"), true);
  assert.deepStrictEqual([current(), over()], [id, false]);
  mock.timers.tick(12000);
  assert.strictEqual(current(), id, "while the connection lasts");
  // The connection is lost, and the broker still has it.
  const again = () => {
    link.connect();
    client.connected = true;
    client.emit("connect");
    say("a", "state/online", "online", true);
  };
  mock.timers.tick(5000);
  again();
  say("a", "event/current", event("update", { seq: 1 }), true);
  mock.timers.tick(12000);
  assert.deepStrictEqual([current(), over()], [id, false]);
  // And then it does not.
  again();
  mock.timers.tick(9000);
  assert.strictEqual(over(), false);
  mock.timers.tick(3000);
  assert.deepStrictEqual([current(), over()], [null, true]);
  // A live one ends with its end.
  const next = { event_id: "a-20260105T100100000Z", onset: "2026-01-05T10:01:00Z" };
  say("a", "event/trigger", event("onset", { ...next, seq: 5 }));
  assert.strictEqual(current(), next.event_id);
  say("a", "state/level", level(9));
  assert.strictEqual(current(), next.event_id, "its own run");
  say("a", "event/trigger", event("end", { ...next, seq: 6 }));
  assert.deepStrictEqual([current(), over()], [null, true]);
  say("a", "event/trigger", event("update", { ...next, seq: 6 }));
  assert.strictEqual(current(), null, "an update after the end");
  // A station that begins anew has left the event of its former run.
  say("a", "event/trigger", event("onset", { event_id: "a-20260105T100200000Z", onset: "2026-01-05T10:02:00Z", seq: 7 }));
  say("a", "state/info", { ...info("a"), boot: "c", t: new Date().toISOString() });
  assert.deepStrictEqual([current(), over()], [null, true]);
});

test("of many stations few events each are kept, and of one that has ended its end alone", () => {
  connect();
  const stamped = (number) => new Date(begin + number * 60000).toISOString();
  const event = (name, number, type, seq) => ({ v: 1, boot: "b", seq, t: stamped(number), event_type: type, onset: stamped(number), pga: 0.1,
    event_id: `${name}-${stamped(number).replace(/[-:.]/g, "")}` });
  const names = Array.from({ length: 400 }, (_, i) => `net-${i}`);
  for (const name of names) say(name, "state/online", "online", true);
  for (let number = 0; number < 25; number++) {
    for (const name of names) for (const [i, type] of ["onset", "update", "end"].entries()) say(name, "event/trigger", event(name, number, type, 3 * number + i));
  }
  const all = [...fleet.stations.values()].flatMap((known) => [...known.events.values()]);
  assert.ok(all.length <= 8000, `${all.length} events`);
  const { events } = fleet.stations.get("net-7");
  assert.deepStrictEqual([...events.keys()].at(-1), event("net-7", 24, "end").event_id, "the newest is among them");
  for (const entry of all) assert.deepStrictEqual([Object.keys(entry.onset), entry.update, entry.end.pga], [["seq"], undefined, 0.1]);
  // What comes again of one that has ended changes nothing.
  say("net-7", "data/history/event/trigger", event("net-7", 24, "onset", 72));
  assert.strictEqual(fleet.newestOf([...events.values()].at(-1)).event_type, "end");
});

test("the time of a station that plays a recording is that of its samples, whatever its host says before and after", () => {
  const past = "2019-07-06T03:20:00.000Z";
  const take = (what, content, retain) => fleet.take(`seismote/a/${what}`, new TextEncoder().encode(JSON.stringify(content)), { retain });
  const orders = [
    [["state/info", { ...info("a"), t: new Date().toISOString(), sensor: { driver: "replay" } }], ["state/summary", { ...level(), t: past, tq: { source: "replay" } }]],
    // The host's word comes first, and nobody knows yet what plays.
    [["state/health", { v: 1, boot: "b", seq: 1, t: new Date().toISOString() }], ["state/summary", { ...level(), t: past, tq: { source: "replay" } }]],
    [["state/summary", { ...level(), t: past, tq: { source: "replay" } }], ["state/health", { v: 1, boot: "b", seq: 1, t: new Date().toISOString() }]],
  ];
  for (const retain of [true, false]) {
    for (const order of orders) {
      connect();
      say("a", "state/online", "online", true);
      for (const [what, content] of order) take(what, content, retain);
      assert.strictEqual(new Date(fleet.stations.get("a").clock.t).toISOString(), past, `${order[0][0]}, ${retain}`);
    }
  }
  // Of any other it is either.
  connect();
  take("state/health", { v: 1, boot: "b", seq: 1, t: new Date().toISOString() }, true);
  assert.strictEqual(fleet.stations.get("a").clock.t, Date.now());
});

const id = (second) => `a-20260105T1000${String(second).padStart(2, "0")}000Z`;
const stamp = (seconds) => new Date(begin + seconds * 1000).toISOString();
const summary = (t, intensity, seq = 0) => ({ v: 1, boot: "b", seq, t: stamp(t), intensity, triggered: true, valid: true });
const quake = (type, more) => ({ v: 1, boot: "b", seq: 0, t: stamp(50), event_type: type, event_id: id(0), onset: stamp(0), intensity: [{ scale: "mmi", relation: "worden12", value: 8.1 }, { scale: "mmi", relation: "wald99", value: 8.6 }],
  peaks: { x: { value: 1, t: stamp(11) }, y: { value: 2, t: stamp(12) }, h: { value: 2.1, t: stamp(12.1) } }, ...more });

test("the highest is one value with a time of its own, whether levels, summaries or events said it", () => {
  const two = (value) => [{ scale: "mmi", relation: "worden12", value }, { scale: "mmi", relation: "wald99", value: value + 1 }, { scale: "jma", relation: "jma", value: value / 2 }];
  const most = (item) => fleet.highest(fleet.stations.get("a"), item);
  const leading = () => most(fleet.leading(fleet.stations.get("a")));
  // In the overview, where the relation is not known, and on the station's page, where it is, in either order.
  for (const order of [["level", "event", "summary"], ["event", "summary", "level"], ["summary", "level", "event"]]) {
    connect();
    say("a", "state/online", "online");
    for (const what of order) {
      if (what === "level") say("a", "state/level", { ...level(1), t: stamp(20), mmi: 2.2, jma: 1 });
      if (what === "event") say("a", "event/trigger", quake("update"));
      if (what === "summary") say("a", "state/summary", summary(21, two(2.1), 2));
    }
    assert.deepStrictEqual([leading().item.value, leading().t], [8.1, stamp(12)], order.join());
    assert.strictEqual(most({ scale: "mmi", relation: "worden12" }), leading());
    assert.strictEqual(most({ scale: "mmi", relation: "wald99" }).item.value, 8.6);
    assert.strictEqual(rank.row(fleet.stations.get("a"), { silence: 0, alerts: [], item: fleet.leading(fleet.stations.get("a")), highest: leading() }).highest, 8.1);
    // Only what is higher is a new highest.
    say("a", "state/level", { ...level(3), t: stamp(60), mmi: 8.1 });
    assert.strictEqual(leading().t, stamp(12));
    say("a", "state/level", { ...level(4), t: stamp(61), mmi: 8.2 });
    assert.deepStrictEqual([leading().t, leading().item.value], [stamp(61), 8.2]);
  }
});

test("an intensity that is not certain is no highest", () => {
  const heard = (more) => {
    connect();
    say("a", "state/online", "online");
    say("a", "event/trigger", quake("update", { intensity: [{ scale: "mmi", relation: "worden12", value: 7 },
      { scale: "jma", relation: "jma", value: 5 }], ...more }));
    return [...fleet.stations.get("a").highest.keys()];
  };
  assert.deepStrictEqual(heard({}), ["mmi", "jma"]);
  assert.deepStrictEqual(heard({ gaps: 1, velocity_valid: false }), ["jma"]);
});

test("the highest is of what this page has heard, and of the event that was open then; of nothing older", () => {
  connect();
  say("a", "state/online", "online", true);
  say("a", "state/level", { ...level(1), t: stamp(-7200), mmi: 9 }, true);
  say("a", "state/summary", { ...summary(-7200, [{ scale: "mmi", relation: "worden12", value: 9 }]) }, true);
  say("a", "event/last", quake("end", { event_id: id(1), end: stamp(30) }), true);
  fleet.learn("a", quake("end", { event_id: id(2), end: stamp(30) }));
  assert.strictEqual(fleet.stations.get("a").highest.size, 0);
  say("a", "event/current", quake("update"), true);
  assert.strictEqual(fleet.highest(fleet.stations.get("a"), { scale: "mmi" }).item.value, 8.1);
  // One that was missed meanwhile.
  connect();
  say("a", "state/level", { ...level(5), t: stamp(0), mmi: 1 });
  fleet.learn("a", quake("end", { event_id: id(3), onset: stamp(-5), end: stamp(30) }));
  assert.strictEqual(fleet.highest(fleet.stations.get("a"), { scale: "mmi" }).item.value, 1);
  fleet.learn("a", quake("end", { event_id: id(4), onset: stamp(5), end: stamp(30) }));
  assert.strictEqual(fleet.highest(fleet.stations.get("a"), { scale: "mmi" }).item.value, 8.1);
});

test("of two agents under one name one is shown, and it is said", () => {
  connect();
  const states = () => fleet.stations.get("a").runs.isDouble(Date.now());
  for (let i = 0; i < 12; i++) {
    say("a", "state/level", { ...level(i), boot: "first", pga: 1 });
    say("a", "state/level", { ...level(i), boot: "second", pga: 2 });
    mock.timers.tick(1000);
    if (i > 4) assert.deepStrictEqual([states(), new Set([1, 2]).has(fleet.stations.get("a").level.pga)], [true, true]);
  }
  const { pga } = fleet.stations.get("a").level;
  for (let i = 20; i < 24; i++) {
    say("a", "state/level", { ...level(i), boot: "first", pga: 1 });
    assert.strictEqual(fleet.stations.get("a").level.pga, pga);
    say("a", "state/level", { ...level(i), boot: "second", pga: 2 });
    assert.strictEqual(fleet.stations.get("a").level.pga, pga);
    mock.timers.tick(1000);
  }
});

test("an age is by the station's own clock, of a recording by that of the recording, and goes on while nothing is heard", () => {
  connect();
  const now = () => Date.now();
  say("a", "state/level", { ...level(1), t: new Date(now() - 3600000).toISOString() });
  assert.strictEqual(Math.round(fleet.age("a", now() - 3600000 - 13000)), 13);
  mock.timers.tick(60000);
  assert.strictEqual(Math.round(fleet.age("a", now() - 3660000 - 13000)), 73);
  assert.strictEqual(fleet.age("a", now()), NaN, "an hour ahead of its clock");
  assert.strictEqual(Math.round(fleet.age("nobody", now() - 9000)), 9);
});

test("an event or a warning that lay in the outbox sets no clock back, and no duration; a level does", () => {
  for (const late of [1, 5, 20, 3600, 40000]) {
    const before = (seconds) => new Date(Date.now() - 1000 * seconds).toISOString();
    const open = { v: 1, boot: "b", seq: 1, event_id: id(0), onset: before(30), event_type: "update", duration_s: 8, pga: 0.1 };
    connect();
    const lasted = () => fleet.duration("a", open, false);
    say("a", "state/level", level(1));
    say("a", "event/current", { ...open, t: before(0) });
    assert.strictEqual(lasted(), 30);
    say("a", "event/trigger", { ...open, t: before(late), onset: before(late + 1), event_id: id(1), event_type: "end" });
    assert.strictEqual(lasted(), 30, `${late} s late`);
    say("a", "event/warning", { state: "coming", network_event: "net-quake-1", mmi: 4, issued: before(late) });
    assert.strictEqual(lasted(), 30, `a warning ${late} s late`);
    // (Within 3 s a level, too, may have been a little longer on its way.)
    say("a", "state/level", { ...level(3), t: before(late) });
    assert.strictEqual(fleet.stations.get("a").clock.t, Date.now() - (late < 3 ? 0 : 1000 * late), `a level ${late} s back`);
  }
});

test("who speaks and has not said who it is, is asked, where the broker hands out nothing that it keeps", () => {
  connect();
  mock.timers.tick(3000);
  say("a", "state/level", level());
  mock.timers.tick(1000);
  assert.deepStrictEqual(client.sent, ["seismote/a/cmd/rebirth"]);
  mock.timers.tick(10000);
  assert.strictEqual(client.sent.length, 1);
  say("a", "state/info", info("a"));
  for (let i = 0; i < 60; i++) {
    say("a", "state/level", level(i));
    mock.timers.tick(1000);
  }
  assert.strictEqual(client.sent.length, 1);
});

test("many are asked at once, and not for ever", () => {
  connect();
  for (let i = 0; i < 300; i++) {
    for (let k = 0; k < 30; k++) say(`s${k}`, "state/level", level(i));
    mock.timers.tick(1000);
  }
  assert.deepStrictEqual([...new Set(client.sent)], ["seismote/group/all/cmd/rebirth"]);
  assert.strictEqual(client.sent.length, 4);
});

test("nobody is asked where the broker hands out what it keeps", () => {
  connect();
  say("a", "state/online", "online", true);
  for (let i = 0; i < 20; i++) {
    say("a", "state/level", level(i));
    mock.timers.tick(1000);
  }
  assert.deepStrictEqual(client.sent, []);
});

test("who is thrown out twice for a command sends none any more, until somebody signs in anew", async () => {
  for (let i = 0; i < 2; i++) {
    connect();
    say("a", "state/level", level());
    mock.timers.tick(4000);
    assert.strictEqual(client.sent.length, 1);
    client.connected = false;
    client.emit("close");
  }
  connect();
  for (let i = 0; i < 60; i++) {
    say("a", "state/level", level(i));
    mock.timers.tick(1000);
  }
  assert.deepStrictEqual(client.sent, []);
  await assert.rejects(link.command("a", "ping"), { denied: true });
  link.connect({ user: "anna", password: "" });
  client.connected = true;
  client.emit("connect");
  link.command("a", "ping").catch(() => {});
  await null;
  await null;
  assert.deepStrictEqual(client.sent, ["seismote/a/cmd/ping"]);
});

test("who runs what, and what became of an update: of what stations say, and of what the broker has kept", () => {
  connect();
  const rows = () => [...fleet.stations.values()].map((known) => rank.row(known, { silence: 0, alerts: [] }));
  const versions = { a: "0.9.0", b: "0.10.0", c: "0.10.0", d: "0.2.0" };
  for (const [id, version] of Object.entries(versions)) say(id, "state/info", { ...info(id), agent: { version } }, true);
  say("e", "state/online", "online", true);
  assert.deepStrictEqual(rank.versions(rows()), [["0.10.0", 2], ["0.9.0", 1], ["0.2.0", 1]]);
  assert.deepStrictEqual(rank.sort(rows(), "version", -1).map(({ id }) => id), ["b", "c", "a", "d", "e"]);
  assert.deepStrictEqual(rank.filter(rows(), { version: "0.10.0" }).map(({ id }) => id), ["b", "c"]);
  const update = (id, phase, more) => say(id, "state/update", { v: 1, boot: "b", seq: 0, t: new Date().toISOString(), phase, version: "0.11.0~deb13", ...more }, true);
  for (const [phase, is] of [["requested", "running"], ["fetching", "running"], ["waiting", "running"], ["installing", "running"], ["watching", "trial"], ["confirming", "trial"],
    ["returning", "running"], ["returned", "returned"], ["failed", "returned"], ["refused", "refused"], ["updated", ""]]) {
    update("a", phase);
    assert.strictEqual(rows()[0].update, is, phase);
  }
  update("b", "watching");
  update("c", "returned", { reason: "no samples come" });
  update("d", "nonsense");
  const counted = rank.count(rows());
  assert.deepStrictEqual([counted.updating, counted.returned], [1, 1]);
  const [gone] = rank.filter(rows(), { only: "returned" });
  assert.deepStrictEqual([gone.id, gone.wanted, gone.reason], ["c", "0.11.0~deb13", "no samples come"]);
  assert.deepStrictEqual(rank.filter(rows(), { only: "updating" }).map(({ id }) => id), ["b"]);
  assert.strictEqual(fleet.stations.get("d").update, null);
});

test("a trace is the same as JSON, as CBOR and as miniSEED", () => {
  connect();
  link.subscribe("seismote/+/data/trace", fleet.trace);
  const read = {};
  for (const form of ["json", "cbor", "mseed"]) {
    client.emit("message", `seismote/${form}/data/trace`, new Uint8Array(vector(`messages/trace.${form}`)), { retain: false });
    const { traces } = fleet.stations.get(form);
    assert.deepStrictEqual([traces.rate, traces.end], [20, 4], form);
    read[form] = ["x", "y", "z"].flatMap((axis) => ["raw", "filtered", "rms"].flatMap((signal) =>
      [0, 1, 2, 3].map((slot) => traces.value(axis, signal, slot))));
  }
  assert.deepStrictEqual(read.cbor, read.json);
  // (In counts of 1 µm/s².)
  read.mseed.forEach((value, i) => assert.ok(Math.abs(value - read.json[i]) <= 1e-6, `${i}: ${value}, ${read.json[i]}`));
  assert.ok(Math.abs(read.json[26] - 9.81565) < 1e-5 && read.json[16] < 0, read.json);
});
