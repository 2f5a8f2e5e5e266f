// The connection to the broker: comes back by itself, asks for credentials when the broker does, falls back from MQTT 5
// to 3.1.1, and carries commands with their replies. The connecting is MQTT.js's; when to try again is decided here.

import { cbor } from "./pure/cbor.js";
import { pastLevels } from "./pure/past.js";
import { policy } from "./pure/policy.js";
import { units } from "./pure/units.js";
import { wire } from "./pure/wire.js";
import { text } from "./text.js";

const storage = "seismote.credentials";
const listeners = { state: new Set(), message: new Set() };
// filter -> { functions, code: what the broker said (granted QoS, 128 and more: refused), asked, wild: the parts of one with
// wildcards, else null }
const subscriptions = new Map();
const shortest = 500;
const longest = 15000;

const link = {
  // Where it is connected, or tries to, and all brokers that it may go to: the nodes of a cluster.
  url: null,
  urls: [],
  root: "seismote",
  version: 5,
  // state: idle, connecting, online, waiting (will try again at `retryAt`), refused (credentials are needed), wrong (the
  // address is none of a broker)
  state: "idle",
  retryAt: 0,
  // When a message came last, by this browser's clock, and since when there is a connection: milliseconds.
  newest: NaN,
  since: NaN,
  // Whether this connection has brought something that the broker kept and a wildcard found.
  keeps: false,
  user: "",
};
let client = null;
let password = "";
let pause = shortest;
let timer = null;
let silentRefusals = 0;
// Attempts since there was a connection.
let failed = 0;
// When a message that the broker had kept came last, and what waits until that is over (ms).
let kept = 0;
let calming = null;
const calmAfter = 250;
const calmLatest = 8000;
// So long after the connection what is wanted for what the broker has kept alone is given up (ms).
const keptWithin = 10000;
let givingUp = null;

// RabbitMQ closes the connection of whoever publishes what he may not, without a word: when a command left that it has not
// acknowledged, and how often it closed just then. After the second time no more commands are sent.
let unanswered = -Infinity;
let thrownOut = 0;
const justThen = 2000;
const mayCommand = () => thrownOut < 2;

function send(topic, payload, options, done) {
  unanswered = Date.now();
  client.publish(topic, JSON.stringify(payload), { qos: 1, ...options }, (error, packet) => {
    if (!error) unanswered = -Infinity;
    done?.(error, packet);
  });
}

function set(state) {
  link.state = state;
  for (const listener of [...listeners.state]) listener(state);
}

// connect({ root, user, password }): any that is missing is as before, at first as the page's address says.
link.connect = function connect(options = {}) {
  const query = new URLSearchParams(location.search);
  if (link.urls.length === 0) link.urls = policy.brokers(location);
  link.url ??= link.urls[0];
  link.root = options.root ?? query.get("root") ?? link.root;
  if (options.user !== undefined) {
    thrownOut = 0;
    link.user = options.user;
    password = options.password ?? "";
    keep(options.keep);
  } else if (link.user === "") recall();
  pause = shortest;
  failed = 0;
  open();
};

function keep(wanted) {
  try {
    if (wanted) sessionStorage.setItem(storage, JSON.stringify({ urls: link.urls, user: link.user, password }));
    else sessionStorage.removeItem(storage);
  } catch {
    // Asked again next time, then.
  }
}

function recall() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(storage) ?? "null");
    if (kept?.urls?.join(" ") === link.urls.join(" ")) ({ user: link.user, password } = kept);
  } catch {
    // None kept.
  }
}

function close() {
  clearTimeout(timer);
  const old = client;
  client = null;
  old?.removeAllListeners();
  old?.on("error", () => {});
  old?.end(true);
}

function open() {
  close();
  const wrong = link.urls.find((url) => !policy.origin(url));
  if (wrong !== undefined) {
    link.url = wrong;
    return set("wrong");
  }
  set("connecting");
  let mine;
  try {
    mine = globalThis.mqtt.connect(link.url, {
      protocolVersion: link.version,
      clientId: `seismote-page-${Math.random().toString(36).slice(2, 12)}`,
      clean: true,
      reconnectPeriod: 0,
      connectTimeout: 10000,
      keepalive: 30,
      resubscribe: false,
      queueQoSZero: false,
      ...(link.user === "" ? {} : { username: link.user, password }),
    });
  } catch {
    return later();
  }
  client = mine;
  let answered = false;
  mine.on("connect", () => {
    answered = true;
    silentRefusals = 0;
    failed = 0;
    pause = shortest;
    link.since = Date.now();
    link.keeps = false;
    for (const subscription of subscriptions.values()) Object.assign(subscription, { asked: false, isGivenUp: false, pause: undefined });
    subscribeAll();
    clearTimeout(givingUp);
    giveUp();
    set("online");
  });
  mine.on("message", (topic, payload, packet) => deliver(topic, payload, packet));
  mine.on("error", (error) => {
    if (client !== mine) return;
    if (typeof error.code !== "number") return;
    answered = true;
    // 4 and 5: user, password or right (3.1.1); 134, 135: the same of MQTT 5. 1, 132: another version of MQTT.
    if ([4, 5, 134, 135].includes(error.code)) {
      close();
      set("refused");
    } else if ([1, 132].includes(error.code) && link.version === 5) {
      link.version = 4;
      open();
    }
  });
  mine.on("close", () => {
    if (client !== mine) return;
    if (Date.now() - unanswered < justThen) thrownOut++;
    unanswered = -Infinity;
    // Some brokers without MQTT 5 close the connection and say nothing; so does one that is just starting.
    if (!answered && ++silentRefusals % 3 === 0) link.version = link.version === 5 ? 4 : 5;
    later();
  });
}

// Decorrelated jitter, so that many pages do not come back in the same moment. The next node of a cluster is tried soon, all
// of them again after pauses that grow.
function later() {
  close();
  const next = link.urls[(link.urls.indexOf(link.url) + 1) % link.urls.length];
  const isRound = ++failed % link.urls.length === 0;
  if (isRound) pause = Math.min(longest, shortest + Math.random() * (pause * 3 - shortest));
  const wait = isRound ? pause : shortest * (0.2 + 0.8 * Math.random());
  link.url = next;
  link.retryAt = Date.now() + wait;
  timer = setTimeout(open, wait);
  set("waiting");
}

link.on = function on(kind, fn) {
  listeners[kind].add(fn);
  return () => listeners[kind].delete(fn);
};

// Whether a topic is one of a filter's, with + and #; both in their parts.
function isOf(want, have) {
  for (let i = 0; i < want.length; i++) {
    if (want[i] === "#") return true;
    if (i >= have.length || (want[i] !== "+" && want[i] !== have[i])) return false;
  }
  return want.length === have.length;
}
link.matches = (filter, topic) => isOf(filter.split("/"), topic.split("/"));
// Whether what the broker has kept of a `first` one has come in this connection.
link.isToldOnce = (filter) => subscriptions.get(filter)?.isGivenUp === true;

// The subscriptions with wildcards that a topic is one of: a thousand stations speak once a second on the same topics.
const found = new Map();
const mostFound = 20000;
function wildOf(topic) {
  let list = found.get(topic);
  if (!list) {
    const parts = topic.split("/");
    list = [...subscriptions.values()].filter(({ wild }) => wild && isOf(wild, parts));
    if (found.size >= mostFound) found.clear();
    found.set(topic, list);
  }
  return list;
}

function deliver(topic, payload, packet) {
  link.newest = Date.now();
  if (packet?.retain) {
    kept = link.newest;
    if (!subscriptions.has(topic)) link.keeps = true;
  }
  hand(subscriptions.get(topic), topic, payload, packet);
  for (const subscription of wildOf(topic)) {
    if (!subscription.isGivenUp) hand(subscription, topic, payload, packet);
  }
  for (const listener of listeners.message) listener(topic, payload, packet);
}

function hand(subscription, topic, payload, packet) {
  for (const fn of [...(subscription?.functions ?? [])]) {
    // One view's mistake must not keep the message from the others.
    try {
      fn(topic, payload, packet);
    } catch (error) {
      console.error(error);
    }
  }
}

// Those that the broker has not been asked for yet, in one packet; those with `calm` after what it kept of the others has
// come: mosquitto drops what waits beyond a thousand messages.
function subscribeAll() {
  if (!client?.connected) return;
  clearTimeout(calming);
  const fresh = [...subscriptions].filter(([, subscription]) => !subscription.asked);
  ask(fresh.filter(([, subscription]) => !subscription.calm));
  const rest = fresh.filter(([, subscription]) => subscription.calm);
  if (rest.length === 0) return;
  const now = Date.now();
  if (now - link.since > calmAfter && (now - link.since > calmLatest || !(now - kept < calmAfter))) ask(rest.slice(0, 1));
  calming = setTimeout(subscribeAll, 100);
}

function ask(fresh) {
  if (fresh.length === 0) return;
  const wanted = {};
  for (const [filter, subscription] of fresh) {
    subscription.asked = true;
    wanted[filter] = { qos: subscription.qos };
  }
  kept = Date.now();
  const mine = client;
  client.subscribe(wanted, (error, granted) => {
    for (const { topic, qos } of granted ?? []) {
      const subscription = subscriptions.get(topic);
      if (!subscription) continue;
      subscription.code = qos;
      if (qos >= 128) askAgain(mine, subscription);
    }
  });
}

// A broker that keeps nothing is heard on: there those who speak say it again when they are asked (introductions.js).
function giveUp() {
  const first = [...subscriptions].filter(([, subscription]) => subscription.first && !subscription.isGivenUp);
  if (!client?.connected || first.length === 0) return;
  if (!link.keeps || Date.now() - link.since < keptWithin) givingUp = setTimeout(giveUp, keptWithin);
  else for (const [filter, subscription] of first) {
    subscription.isGivenUp = true;
    client.unsubscribe(filter);
  }
}

// Rights change, and a cluster without a leader refuses what it will grant: after 10, 20, 40 s ... 10 min.
function askAgain(mine, subscription) {
  subscription.pause = Math.min(600000, (subscription.pause ?? 5000) * 2);
  setTimeout(() => {
    if (client !== mine) return;
    subscription.asked = false;
    subscribeAll();
  }, subscription.pause);
}

// Subscribes, now and after every reconnect; fn(topic, payload, packet) with the payload as bytes. Returns what ends it. With
// `first` for what the broker has kept alone: after ten seconds no more comes, where the broker keeps anything.
link.subscribe = function subscribe(filter, fn, { qos = 1, calm = false, first = false } = {}) {
  let subscription = subscriptions.get(filter);
  if (!subscription) {
    subscription = { functions: new Set(), code: null, asked: false, wild: /[+#]/.test(filter) ? filter.split("/") : null, qos, calm,
      first, isGivenUp: false };
    subscriptions.set(filter, subscription);
    found.clear();
    // All that are made in one go leave together.
    queueMicrotask(subscribeAll);
  }
  subscription.functions.add(fn);
  return () => {
    subscription.functions.delete(fn);
    if (subscription.functions.size > 0 || subscriptions.get(filter) !== subscription) return;
    subscriptions.delete(filter);
    found.clear();
    if (client?.connected && subscription.asked && !subscription.isGivenUp) client.unsubscribe(filter);
  };
};

function failure(message, more) {
  return Object.assign(new Error(message), { errors: [] }, more);
}

const decoder = new TextDecoder();
// An object of a payload, JSON or CBOR; null for what is none.
export function json(payload) {
  try {
    if (payload[0] >= 0xa0) return cbor(payload) ?? null;
    const value = JSON.parse(decoder.decode(payload));
    return value !== null && typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

// Sends a command and waits for the reply that ends it. Rejects with an Error that has `errors` (the station's list) or
// `timeout: true`. onPhase(reply) is called for each reply; after `accepted` it waits for as long as it takes, at most
// ten minutes.
/**
 * @param {string} station @param {string} verb @param {any} payload
 * @param {{ timeoutMs?: number, onPhase?: (reply: any) => void }} options
 */
link.command = function command(station, verb, payload = {}, { timeoutMs = 10000, onPhase } = {}) {
  return new Promise((resolve, reject) => {
    if (!client?.connected) return reject(failure(text.link.offline, { offline: true }));
    if (!mayCommand()) return reject(failure(text.link.mayNot(verb), { denied: true }));
    const id = payload.id ?? newId();
    const replyTopic = `${link.root}/${station}/res/${id}`;
    let limit = null;
    const wait = (milliseconds) => {
      clearTimeout(limit);
      limit = setTimeout(() => end(reject, failure(text.link.timeout(station, verb), { timeout: true })), milliseconds);
    };
    const stop = link.subscribe(replyTopic, (_, bytes) => {
      const reply = wire.reply(json(bytes));
      if (!reply || (reply.id !== undefined && reply.id !== id)) return;
      onPhase?.(reply);
      if (reply.phase === "accepted") wait(600000);
      else if (reply.phase === "done") end(resolve, reply);
      else if (reply.phase === "failed") {
        const { errors = [] } = reply;
        end(reject, failure(errors[0]?.message ?? text.link.failed(verb), { errors, reply }));
      }
    });
    const end = (settle, value) => {
      clearTimeout(limit);
      stop();
      settle(value);
    };
    wait(timeoutMs);
    const properties = link.version === 5
      ? { properties: { responseTopic: replyTopic, correlationData: new TextEncoder().encode(id),
        messageExpiryInterval: Math.ceil(timeoutMs / 1000) } }
      : {};
    // The subscription left before in the same connection, so that the reply finds it.
    queueMicrotask(() => {
      if (client) send(`${link.root}/${station}/cmd/${verb}`, { ...payload, id }, properties, (error, packet) => {
        const code = error?.code ?? packet?.reasonCode ?? 0;
        if (code === 135) end(reject, failure(text.link.mayNot(verb), { denied: true }));
      });
    });
  });
};

// The command `history`, page by page where the broker's largest packet does not hold all. Resolves with { past, incomplete }.
link.history = async function history(station, query, options) {
  let [past, incomplete, from] = [null, false, query.from];
  const at = (time) => units.milliseconds(time);
  while (true) {
    const reply = await link.command(station, "history", { ...query, from }, options);
    const part = wire.past(reply.result);
    incomplete ||= reply.incomplete === true;
    past = pastLevels.join(past, part);
    if (!part?.next || !(at(part.next) > at(from))) return { past, incomplete };
    from = part.next;
  }
};

// Sends a command to a group: each station answers by itself, after a delay of its own. onReply(station, reply) is called
// for every reply that is not `accepted`. Returns what ends the listening.
link.groupCommand = function groupCommand(group, verb, payload, onReply) {
  const id = newId();
  const stop = link.subscribe(`${link.root}/+/res/${id}`, (topic, bytes) => {
    const reply = wire.reply(json(bytes));
    const station = wire.stationId(topic.slice(link.root.length + 1).split("/")[0]);
    if (station && reply?.phase && reply.phase !== "accepted") onReply(station, { errors: [], ...reply });
  });
  queueMicrotask(() => client && mayCommand() && send(`${link.root}/group/${group}/cmd/${verb}`, { ...payload, id }));
  return stop;
};

const newId = () => `page-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`;

// Sends a command to a station, or to `group/<name>`, whose answer nobody waits for.
link.tell = function tell(station, verb, payload = {}) {
  if (client?.connected && mayCommand()) send(`${link.root}/${station}/cmd/${verb}`, { ...payload, id: newId(), source: "page" });
};

// Whether this user may send commands to the station and gets the answers. A station that is busy is asked a second time, so that
// nobody is told that he may not.
link.rights = async function rights(station) {
  for (const timeoutMs of [5000, 10000]) {
    try {
      await link.command(station, "ping", {}, { timeoutMs });
      return true;
    } catch (error) {
      if (!error.timeout) return error.errors?.length > 0;
    }
  }
  return false;
};

addEventListener("online", () => link.state === "waiting" && open());
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && link.state === "waiting") open();
});

// Publishes a message that the broker keeps for all who come later, below the root; for as long as a season. Resolves when the
// broker has it; rejects with an Error, `denied: true` where the broker says that this user may not.
const season = 90 * 86400;
link.keep = function keepMessage(topic, payload) {
  return new Promise((resolve, reject) => {
    if (!client?.connected) return reject(failure(text.link.offline, { offline: true }));
    if (!mayCommand()) return reject(failure(text.link.mayNot(topic), { denied: true }));
    const properties = link.version === 5 ? { properties: { messageExpiryInterval: season } } : {};
    send(`${link.root}/${topic}`, payload, { retain: true, ...properties }, (error, packet) => {
      const code = error?.code ?? packet?.reasonCode ?? 0;
      if (code === 135) reject(failure(text.link.mayNot(topic), { denied: true }));
      else if (error) reject(failure(error.message));
      else resolve();
    });
  });
};

export { link };
