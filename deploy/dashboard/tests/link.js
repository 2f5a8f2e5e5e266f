// The connection, with a broker and a clock of the test's own.
import assert from "node:assert";
import { EventEmitter } from "node:events";
import { test, mock } from "node:test";
import "./support/load.js";

globalThis.location = { search: "?root=school", pathname: "/page/index.html", protocol: "https:", host: "example.org" };
globalThis.sessionStorage = { getItem: () => null, setItem() {}, removeItem() {} };
globalThis.document = { addEventListener() {}, hidden: false };
globalThis.addEventListener = () => {};
const clients = [];
class Client extends EventEmitter {
  constructor(url, options) {
    super();
    Object.assign(this, { url, options, connected: false, sent: [], subscribed: [], unsubscribed: [] });
    clients.push(this);
  }
  end() { this.connected = false; }
  subscribe(wanted, done) { this.subscribed.push(...Object.keys(wanted)); this.granted = done; }
  unsubscribe(filter) { this.unsubscribed.push(filter); }
  publish(topic, payload, options, done) { this.sent.push({ topic, payload: JSON.parse(payload), options }); this.done = done; }
  accept() { this.connected = true; this.emit("connect"); }
  refuse(code) { this.emit("error", Object.assign(new Error("refused"), { code })); this.emit("close"); }
  say(topic, object) { this.emit("message", topic, new TextEncoder().encode(JSON.stringify(object)), {}); }
}
globalThis.mqtt = { connect: (url, options) => new Client(url, options) };
const { link } = await import("../src/link.js");
const last = () => clients[clients.length - 1];
const soon = () => new Promise((resolve) => setImmediate(resolve));
function fresh() {
  link.version = 5;
  link.connect();
  return last();
}

test("goes where the page came from, with wss for https, below the root of the address", () => {
  const client = fresh();
  assert.strictEqual(client.url, "wss://example.org/page/");
  assert.strictEqual(link.root, "school");
  assert.strictEqual(client.options.protocolVersion, 5);
});

for (const code of [1, 132]) {
  test(`falls back to 3.1.1 at once when the broker answers ${code}`, () => {
    fresh().refuse(code);
    assert.strictEqual(last().options.protocolVersion, 4);
    last().accept();
    assert.strictEqual(link.state, "online");
  });
}

test("falls back when a broker only ever closes, and does not mistake a lost connection for that", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  fresh();
  for (let i = 0; i < 3; i++) {
    last().emit("close");
    assert.strictEqual(link.state, "waiting");
    mock.timers.tick(20000);
  }
  assert.strictEqual(last().options.protocolVersion, 4);
  last().accept();
  link.version = 5;
  for (let i = 0; i < 5; i++) {
    last().accept();
    last().emit("close");
    mock.timers.tick(20000);
  }
  assert.strictEqual(last().options.protocolVersion, 5);
  mock.timers.reset();
});

test("tries again after growing pauses, never above fifteen seconds", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  fresh();
  for (let i = 0; i < 30; i++) {
    const pause = (last().emit("close"), link.retryAt - Date.now());
    assert.ok(pause > 400 && pause <= 15000, `${pause}`);
    mock.timers.tick(15001);
  }
  mock.timers.reset();
});

test("goes to the next node of a cluster within half a second, and around again after growing pauses", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  link.urls = ["wss://a/ws", "wss://b/ws", "wss://c/ws"];
  link.url = "wss://a/ws";
  fresh();
  const seen = [];
  let longer = 0;
  for (let i = 0; i < 30; i++) {
    seen.push(last().url);
    const pause = (last().emit("close"), link.retryAt - Date.now());
    if (i % 3 < 2) assert.ok(pause >= 50 && pause <= 500, `${i}: ${pause}`);
    else if (pause > 500) longer++;
    mock.timers.tick(15001);
  }
  assert.deepStrictEqual(seen.slice(0, 7), ["a", "b", "c", "a", "b", "c", "a"].map((one) => `wss://${one}/ws`));
  assert.ok(longer >= 8, `${longer}`);
  // It stays where it is accepted, and begins with the next one when that ends.
  const here = link.urls.indexOf(last().url);
  last().accept();
  last().emit("close");
  assert.ok(link.retryAt - Date.now() <= 500);
  mock.timers.tick(501);
  assert.strictEqual(last().url, link.urls[(here + 1) % 3]);
  link.urls = ["wss://a/ws", "http://b"];
  fresh();
  assert.strictEqual(link.state, "wrong");
  link.urls = [];
  link.url = null;
  mock.timers.reset();
});

for (const code of [4, 5, 134, 135]) {
  test(`asks for credentials when the broker answers ${code}, and tries no more until it has them`, () => {
    fresh().refuse(code);
    assert.strictEqual(link.state, "refused");
    const count = clients.length;
    link.connect({ user: "ada", password: "secret" });
    assert.strictEqual(clients.length, count + 1);
    assert.strictEqual(last().options.username, "ada");
    assert.strictEqual(last().options.password, "secret");
  });
}

test("subscribes again after a reconnect, and only to what is still wanted", async () => {
  const client = fresh();
  const heard = [];
  const stop = link.subscribe("school/+/state/info", (topic) => heard.push(topic));
  const stopOther = link.subscribe("school/a/data/trace", () => heard.push("trace"));
  client.accept();
  await soon();
  client.say("school/a/state/info", {});
  assert.deepStrictEqual(heard, ["school/a/state/info"]);
  stopOther();
  assert.deepStrictEqual(client.unsubscribed, ["school/a/data/trace"]);
  const next = fresh();
  next.accept();
  assert.ok(next.subscribed.includes("school/+/state/info") && !next.subscribed.includes("school/a/data/trace"));
  stop();
});

test("asks again for what was refused, ever more rarely, until it is granted", async () => {
  const client = fresh();
  const stop = link.subscribe("school/+/event/trigger", () => {});
  client.accept();
  await soon();
  mock.timers.enable({ apis: ["setTimeout"] });
  for (const pause of [10000, 20000, 40000, 80000, 160000, 320000, 600000, 600000]) {
    client.granted(null, [{ topic: "school/+/event/trigger", qos: 135 }]);
    client.subscribed = [];
    mock.timers.tick(pause - 1);
    assert.deepStrictEqual(client.subscribed, [], `${pause}`);
    mock.timers.tick(1);
    assert.deepStrictEqual(client.subscribed, ["school/+/event/trigger"], `${pause}`);
  }
  client.granted(null, [{ topic: "school/+/event/trigger", qos: 1 }]);
  client.subscribed = [];
  mock.timers.tick(3600000);
  assert.deepStrictEqual(client.subscribed, []);
  mock.timers.reset();
  stop();
});

test("what is wanted for what the broker has kept is given up after ten seconds, where it keeps anything, and asked for anew after a reconnect", async () => {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const filter = "school/+/event/current";
  const heard = [];
  const stop = link.subscribe(filter, (topic) => heard.push(topic), { first: true });
  const client = fresh();
  client.accept();
  mock.timers.tick(60000);
  assert.deepStrictEqual([client.subscribed.includes(filter), client.unsubscribed], [true, []], "a broker that keeps nothing");
  client.emit("message", "school/a/event/current", new TextEncoder().encode("{}"), { retain: true });
  mock.timers.tick(10000);
  assert.deepStrictEqual(client.unsubscribed, [filter]);
  assert.ok(link.isToldOnce(filter));
  // Somebody who wants one of them hears it once.
  const stopOne = link.subscribe("school/a/event/current", (topic) => heard.push(topic));
  client.say("school/a/event/current", {});
  assert.strictEqual(heard.length, 2);
  stopOne();
  const next = fresh();
  next.accept();
  next.emit("message", "school/a/event/current", new TextEncoder().encode("{}"), { retain: true });
  assert.ok(next.subscribed.includes(filter) && !link.isToldOnce(filter));
  mock.timers.tick(9999);
  assert.deepStrictEqual(next.unsubscribed, []);
  mock.timers.tick(1);
  assert.deepStrictEqual(next.unsubscribed, [filter]);
  stop();
  assert.deepStrictEqual(next.unsubscribed, [filter], "what is given up is not given up again");
  mock.timers.reset();
});

test("filters are those of MQTT", () => {
  for (const [filter, topic, is] of [["a/+/c", "a/b/c", true], ["a/+/c", "a/b/d", false], ["a/#", "a/b/c", true], ["a/+", "a/b/c", false], ["a/b", "a/b", true], ["+", "a/b", false]]) {
    assert.strictEqual(link.matches(filter, topic), is, `${filter} ${topic}`);
  }
});

test("a command ends with done, waits on through accepted, and lists the station's errors", async () => {
  for (const version of [5, 4]) {
    const client = fresh();
    link.version = version;
    client.accept();
    const phases = [];
    const reply = link.command("attic", "calibrate", { duration_s: 3 }, { onPhase: (phase) => phases.push(phase.phase) });
    await soon();
    const [{ topic, payload, options }] = client.sent;
    assert.strictEqual(topic, "school/attic/cmd/calibrate");
    assert.strictEqual(payload.duration_s, 3);
    const answer = `school/attic/res/${payload.id}`;
    assert.ok(client.subscribed.includes(answer));
    assert.strictEqual(options.properties?.responseTopic, version === 5 ? answer : undefined);
    client.say(answer, { id: payload.id, phase: "accepted" });
    client.say(answer, { id: "somebody else's", phase: "done" });
    client.say(answer, { id: payload.id, phase: "done", result: 7 });
    assert.strictEqual((await reply).result, 7);
    assert.deepStrictEqual(phases, ["accepted", "done"]);
    assert.ok(client.unsubscribed.includes(answer));

    const failing = link.command("attic", "config", {});
    await soon();
    const { id } = client.sent[1].payload;
    client.say(`school/attic/res/${id}`, { id, phase: "failed", errors: [{ code: "range", path: "/a", message: "too much" }] });
    await assert.rejects(failing, (error) => error.errors[0].code === "range" && error.message === "too much");
  }
});

test("the past comes page by page, and one page that is not complete makes all of it so", async () => {
  const client = fresh();
  client.accept();
  const asked = link.history("attic", { from: "2026-01-05T00:00:00Z", to: "2026-01-05T00:00:03Z", step_s: 1 });
  const pages = [["2026-01-05T00:00:00Z", [1, 2], "2026-01-05T00:00:02.000000000Z", true], ["2026-01-05T00:00:02.000000000Z", [3]]];
  for (const [i, [from, numbers, next, incomplete]] of pages.entries()) {
    await soon();
    await soon();
    const { payload } = client.sent[i];
    assert.strictEqual(payload.from, from);
    client.say(`school/attic/res/${payload.id}`, { id: payload.id, phase: "done", incomplete, result: { from, next, step_s: 1, x: { max: numbers } } });
  }
  const { past, incomplete } = await asked;
  assert.deepStrictEqual([past.x.max, incomplete, client.sent.length], [[1, 2, 3], true, 2]);
});

test("a command to a station that is silent ends, and one that may not be sent says so", async () => {
  const client = fresh();
  client.accept();
  await assert.rejects(link.command("attic", "ping", {}, { timeoutMs: 20 }), (error) => error.timeout === true);
  const denied = link.command("attic", "ping");
  await soon();
  client.done(Object.assign(new Error("Not authorized"), { code: 135 }));
  await assert.rejects(denied, (error) => error.denied === true);
  client.connected = false;
  await assert.rejects(link.command("attic", "ping"), (error) => error.offline === true);
});
