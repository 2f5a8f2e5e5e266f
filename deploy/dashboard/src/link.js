// The connection to the broker: comes back by itself, asks for credentials when the broker does, falls back from MQTT 5
// to 3.1.1, and carries commands with their replies. The connecting is MQTT.js's; when to try again is decided here.
(function (Seismote) {
  "use strict";

  const { text, wire, policy } = Seismote;
  const storage = "seismote.credentials";
  const listeners = { state: new Set(), message: new Set() };
  // filter -> { functions, code: what the broker said (granted QoS, 128 and more: refused), asked }
  const subscriptions = new Map();
  const shortest = 500;
  const longest = 15000;

  const link = {
    url: null,
    root: "seismote",
    version: 5,
    // state: idle, connecting, online, waiting (will try again at `retryAt`), refused (credentials are needed), wrong (the
    // address is none of a broker)
    state: "idle",
    retryAt: 0,
    user: "",
  };
  let client = null;
  let password = "";
  let pause = shortest;
  let timer = null;
  let silentRefusals = 0;

  function set(state) {
    link.state = state;
    for (const listener of [...listeners.state]) listener(state);
  }

  // connect({ url, root, user, password }): any that is missing is as before, at first as the page's address says.
  link.connect = function connect(options = {}) {
    const query = new URLSearchParams(location.search);
    link.url = options.url ?? link.url ?? policy.broker(location);
    link.root = options.root ?? query.get("root") ?? link.root;
    if (options.user !== undefined) {
      link.user = options.user;
      password = options.password ?? "";
      keep(options.keep);
    } else if (link.user === "") recall();
    pause = shortest;
    open();
  };

  function keep(wanted) {
    try {
      if (wanted) sessionStorage.setItem(storage, JSON.stringify({ url: link.url, user: link.user, password }));
      else sessionStorage.removeItem(storage);
    } catch {
      // Asked again next time, then.
    }
  }

  function recall() {
    try {
      const kept = JSON.parse(sessionStorage.getItem(storage) ?? "null");
      if (kept?.url === link.url) ({ user: link.user, password } = kept);
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
    if (!policy.origin(link.url)) return set("wrong");
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
      pause = shortest;
      for (const subscription of subscriptions.values()) subscription.asked = false;
      subscribeAll();
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
      // Some brokers without MQTT 5 close the connection and say nothing; so does one that is just starting.
      if (!answered && ++silentRefusals % 3 === 0) link.version = link.version === 5 ? 4 : 5;
      later();
    });
  }

  // Decorrelated jitter, so that many pages do not come back in the same moment.
  function later() {
    close();
    pause = Math.min(longest, shortest + Math.random() * (pause * 3 - shortest));
    link.retryAt = Date.now() + pause;
    timer = setTimeout(open, pause);
    set("waiting");
  }

  link.on = function on(kind, fn) {
    listeners[kind].add(fn);
    return () => listeners[kind].delete(fn);
  };

  // Whether a topic is one of a filter's, with + and #.
  function matches(filter, topic) {
    const want = filter.split("/");
    const have = topic.split("/");
    for (let i = 0; i < want.length; i++) {
      if (want[i] === "#") return true;
      if (i >= have.length || (want[i] !== "+" && want[i] !== have[i])) return false;
    }
    return want.length === have.length;
  }
  link.matches = matches;

  function deliver(topic, payload, packet) {
    for (const [filter, subscription] of subscriptions) {
      if (!matches(filter, topic)) continue;
      for (const fn of [...subscription.functions]) {
        // One view's mistake must not keep the message from the others.
        try {
          fn(topic, payload, packet);
        } catch (error) {
          console.error(error);
        }
      }
    }
    for (const listener of [...listeners.message]) listener(topic, payload, packet);
  }

  // Those that the broker has not been asked for yet, in one packet.
  function subscribeAll() {
    if (!client?.connected) return;
    const fresh = [...subscriptions].filter(([, subscription]) => !subscription.asked);
    if (fresh.length === 0) return;
    const wanted = {};
    for (const [filter, subscription] of fresh) {
      subscription.asked = true;
      wanted[filter] = { qos: filter.endsWith("/state/summary") ? 0 : 1 };
    }
    client.subscribe(wanted, (error, granted) => {
      for (const { topic, qos } of granted ?? []) {
        const subscription = subscriptions.get(topic);
        if (subscription) subscription.code = qos;
      }
    });
  }

  // Subscribes, now and after every reconnect; fn(topic, payload, packet) with the payload as bytes. Returns what ends it.
  link.subscribe = function subscribe(filter, fn) {
    let subscription = subscriptions.get(filter);
    if (!subscription) {
      subscription = { functions: new Set(), code: null, asked: false };
      subscriptions.set(filter, subscription);
      // All that are made in one go leave together.
      queueMicrotask(subscribeAll);
    }
    subscription.functions.add(fn);
    return () => {
      subscription.functions.delete(fn);
      if (subscription.functions.size > 0 || subscriptions.get(filter) !== subscription) return;
      subscriptions.delete(filter);
      if (client?.connected && subscription.asked) client.unsubscribe(filter);
    };
  };

  function failure(message, more) {
    return Object.assign(new Error(message), { errors: [] }, more);
  }

  const decoder = new TextDecoder();
  // An object of a JSON payload; null for what is none.
  Seismote.json = function json(payload) {
    try {
      const value = JSON.parse(decoder.decode(payload));
      return value !== null && typeof value === "object" ? value : null;
    } catch {
      return null;
    }
  };

  // Sends a command and waits for the reply that ends it. Rejects with an Error that has `errors` (the station's list) or
  // `timeout: true`. onPhase(reply) is called for each reply; after `accepted` it waits for as long as it takes, at most
  // ten minutes.
  link.command = function command(station, verb, payload = {}, { timeoutMs = 10000, onPhase } = {}) {
    return new Promise((resolve, reject) => {
      if (!client?.connected) return reject(failure(text.link.offline, { offline: true }));
      const id = payload.id ?? `page-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`;
      const replyTopic = `${link.root}/${station}/res/${id}`;
      let limit = null;
      const wait = (milliseconds) => {
        clearTimeout(limit);
        limit = setTimeout(() => end(reject, failure(text.link.timeout(station, verb), { timeout: true })), milliseconds);
      };
      const stop = link.subscribe(replyTopic, (_, bytes) => {
        const reply = Seismote.json(bytes);
        if (!reply || (reply.id !== undefined && reply.id !== id)) return;
        onPhase?.(reply);
        if (reply.phase === "accepted") wait(600000);
        else if (reply.phase === "done") end(resolve, reply);
        else if (reply.phase === "failed") {
          const errors = wire.errors(reply.errors) ?? [];
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
        ? { properties: { responseTopic: replyTopic, correlationData: new TextEncoder().encode(id), messageExpiryInterval: Math.ceil(timeoutMs / 1000) } }
        : {};
      // The subscription left before in the same connection, so that the reply finds it.
      queueMicrotask(() => {
        client?.publish(`${link.root}/${station}/cmd/${verb}`, JSON.stringify({ ...payload, id }), { qos: 1, ...properties }, (error, packet) => {
          const code = error?.code ?? packet?.reasonCode ?? 0;
          if (code === 135) end(reject, failure(text.link.mayNot(verb), { denied: true }));
        });
      });
    });
  };

  // Whether this user may send commands to the station and gets the answers.
  link.rights = async function rights(station) {
    try {
      await link.command(station, "ping", {}, { timeoutMs: 5000 });
      return true;
    } catch (error) {
      return error.errors?.length > 0;
    }
  };

  addEventListener("online", () => link.state === "waiting" && open());
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && link.state === "waiting") open();
  });

  Seismote.link = link;
})(globalThis.Seismote ??= {});
