// What is known of every station, from its retained messages and what comes live.
(function (Seismote) {
  "use strict";

  const { link, json, wire } = Seismote;
  const keptEvents = 200;
  const mostStations = 2000;
  const mostAlerts = 100;
  const stations = new Map();
  const listeners = new Set();

  const empty = (id) => ({
    id, online: null, info: null, config: null, settings: null, schema: null, summary: null, health: null, lastEvent: null,
    alerts: new Map(),
    // event id -> { onset, update, end }
    events: new Map(),
    traces: new Seismote.Traces(),
    // The last ten minutes of summaries: { time (seconds since 1970), pga, ratios, triggered }
    history: [],
    // relation -> { item of `intensity`, t }: the highest that this page has seen
    highest: new Map(),
  });

  function tell(id, what) {
    for (const listener of [...listeners]) {
      try {
        listener(id, what);
      } catch (error) {
        console.error(error);
      }
    }
  }

  function station(id) {
    let found = stations.get(id);
    if (!found) {
      found = empty(id);
      stations.set(id, found);
    }
    return found;
  }

  // The station and the rest of a topic; null for what is no station's.
  function address(topic) {
    const rest = topic.slice(link.root.length + 1);
    const slash = rest.indexOf("/");
    const id = rest.slice(0, slash);
    return id === "group" || !wire.stationId(id) ? null : { id, what: rest.slice(slash + 1) };
  }

  // What a station's message with a retained payload is stored as, and how it is read.
  const objects = {
    __proto__: null, "state/info": "info", "state/config": "config", "state/config/schema": "schema",
    "state/health": "health",
  };

  function take(topic, payload, packet) {
    const at = address(topic);
    if (!at) return;
    const { id, what } = at;
    // A station whose retained messages are taken away is forgotten, and makes no card by that.
    if (!stations.has(id) && (payload.length === 0 || stations.size >= mostStations)) return;
    if (what === "state/online") {
      const online = payload.length === 0 ? null : new TextDecoder().decode(payload) === "online";
      if (online === null) forget(id);
      else {
        station(id).online = online;
        tell(id, "online");
      }
    } else if (what.startsWith("state/alert/")) {
      const code = what.slice("state/alert/".length);
      const alert = payload.length === 0 ? null : wire.alert(json(payload));
      const { alerts } = station(id);
      if (alert && wire.code(code) && (alerts.has(code) || alerts.size < mostAlerts)) alerts.set(code, alert);
      else if (!alerts.delete(code)) return;
      tell(id, "alert");
    } else if (what === "state/summary") {
      const summary = wire.summary(json(payload));
      if (!summary) return;
      const known = station(id);
      if (known.summary && known.summary.boot === summary.boot && summary.seq < known.summary.seq) return;
      known.summary = summary;
      remember(known, summary);
      tell(id, "summary");
    } else if (objects[what]) {
      const object = wire[objects[what]](json(payload));
      if (!object) return;
      station(id)[objects[what]] = object;
      if (what === "state/config") station(id).settings = wire.used(object.config) ?? null;
      tell(id, objects[what]);
    } else if (what === "event/trigger" || what === "event/last") event(id, what, wire.event(json(payload)));
  }

  function remember(known, { t, pga, sta_lta: ratios, triggered, intensity, valid }) {
    const time = Seismote.units.milliseconds(t) / 1000;
    const { history } = known;
    if (!Number.isFinite(time)) return;
    // A recording that is played again begins anew.
    if (history.length && time <= history[history.length - 1].time) history.length = 0;
    history.push({ time, pga, ratios, triggered });
    if (history.length > 600) history.splice(0, history.length - 600);
    if (valid !== false) higher(known, intensity, t);
  }

  function higher(known, intensity, t) {
    for (const item of intensity ?? []) {
      const before = known.highest.get(item.relation);
      if (!before && known.highest.size >= 16) continue;
      if (Number.isFinite(item.value) && !(before && before.item.value >= item.value)) known.highest.set(item.relation, { item, t });
    }
  }

  function event(id, what, object) {
    if (!object?.event_id || !object.event_type || !object.onset) return;
    const known = station(id);
    const entry = known.events.get(object.event_id) ?? {};
    if (entry.end && object.event_type !== "end") return;
    entry[object.event_type] = object;
    known.events.set(object.event_id, entry);
    if (known.events.size > keptEvents) known.events.delete(known.events.keys().next().value);
    if (object.event_type === "end" && !(known.lastEvent?.onset > object.onset)) known.lastEvent = object;
    if (!object.test) higher(known, object.intensity, object.onset);
    tell(id, "event");
    if (what === "event/trigger" && object.event_type === "onset") {
      document.dispatchEvent(new CustomEvent("seismote-onset", { detail: { id, event: object } }));
    }
  }

  function forget(id) {
    stations.delete(id);
    tell(id, "online");
  }

  const watched = new Map();
  // Subscribes while anybody watches; returns what ends it.
  function watch(key, filter, fn) {
    const entry = watched.get(key) ?? { count: 0, stop: null };
    if (entry.count++ === 0) entry.stop = link.subscribe(filter, fn);
    watched.set(key, entry);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      if (--entry.count > 0) return;
      entry.stop();
      watched.delete(key);
    };
  }

  function trace(topic, payload, packet) {
    const at = address(topic);
    if (!at || payload.length === 0) return;
    const type = packet?.properties?.contentType;
    const first = payload[0];
    const block = first === 0x7b ? json(payload)
      : first === 0xbf ? Seismote.cbor(payload) : Seismote.traceFromRecords?.(payload, type);
    if (!block) return;
    if (station(at.id).traces.add(block, performance.now() / 1000)) tell(at.id, "trace");
  }

  Seismote.fleet = {
    stations,
    on(kind, fn) {
      listeners.add(fn);
      return () => listeners.delete(fn);
    },
    // The live traces, and the schema (42 KB), come only while somebody looks at that station.
    watchTraces: (id) => watch(`trace ${id}`, `${link.root}/${id}/data/trace`, trace),
    watchSchema: (id) => watch(`schema ${id}`, `${link.root}/${id}/state/config/schema`, take),
    // What is shown as the current event of a station: the newest, ended or not.
    newestEvents(id) {
      const list = [];
      for (const known of id === undefined ? stations.values() : [stations.get(id)].filter(Boolean)) {
        for (const [eventId, entry] of known.events) {
          const newest = entry.end ?? entry.update ?? entry.onset;
          list.push({ station: known.id, id: eventId, ended: Boolean(entry.end), event: newest });
        }
      }
      return list.sort((a, b) => (a.event.onset < b.event.onset ? 1 : a.event.onset > b.event.onset ? -1 : 0));
    },
    start() {
      for (const what of ["state/online", "state/info", "state/config", "state/summary", "state/health", "state/alert/+",
        "event/trigger", "event/last"]) {
        link.subscribe(`${link.root}/+/${what}`, take);
      }
    },
  };
})(globalThis.Seismote ??= {});
