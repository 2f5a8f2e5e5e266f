// Which stations need somebody's eyes: their states, how many are in each, which versions they have, and orders of a list.
// The worst first.
const states = ["shaking", "error", "double", "offline", "silent", "warning", "clock", "settling", "unknown", "good"];
const rankOf = new Map(states.map((state, i) => [state, i]));
// What counts as a problem of the browser's user.
const counts = ["all", "online", "shaking", "alerts", "offline", "silent", "clock", "updating", "returned"];
// An update, as far as somebody has to care: what its phases are for people. One that succeeded is nothing any more.
const updates = {
  __proto__: null, requested: "running", fetching: "running", waiting: "running", installing: "running", returning: "running",
  watching: "trial", confirming: "trial", returned: "returned", failed: "returned", refused: "refused",
};

// A station as the list has it. `known`: of the fleet; `more`: { now, silence (ms), alerts: open ones, item: of intensity, highest:
// { item, t } of its scale, isDouble: several agents have its name }
function row(known, { now, silence, alerts, item, highest, isDouble = false }) {
  // What was last heard of one that has fallen silent is not what it does now.
  const triggered = known.online !== false && silence === 0 && now?.triggered === true;
  const synced = known.level?.synced ?? known.health?.time?.synced;
  const state = triggered ? "shaking"
    : alerts.some((alert) => alert.severity === "error") ? "error"
      : isDouble ? "double" : known.online === false ? "offline"
        : silence > 0 ? "silent"
          : alerts.some((alert) => alert.severity !== "info") ? "warning"
            : synced === false ? "clock"
              : now?.valid === false ? "settling"
                : known.online === null && !now ? "unknown" : "good";
  return {
    id: known.id, state, description: known.info?.station?.description ?? "", groups: known.info?.station?.groups ?? [],
    // A broker that has lost the word "online" still hands on what such a station says.
    online: known.online === true || (known.online === null && Boolean(now) && silence === 0), triggered, alerts: alerts.length,
    kinds: alerts.map(({ code }) => code),
      silent: silence > 0, synced,
    intensity: item?.value ?? NaN, highest: highest?.item.value ?? NaN, pga: now?.pga ?? NaN, heard: known.heard,
      version: known.info?.agent?.version ?? "",
    update: updates[known.update?.phase] ?? "", wanted: known.update?.version ?? "", reason: known.update?.reason ?? "",
  };
}

const is = {
  __proto__: null,
  all: () => true, online: (one) => one.online, shaking: (one) => one.triggered, alerts: (one) => one.alerts > 0,
  offline: (one) => one.state === "offline" || (!one.online && one.state === "error"), silent: (one) => one.silent,
    clock: (one) => one.online && one.synced === false,
  updating: (one) => one.update === "running" || one.update === "trial", returned: (one) => one.update === "returned",
};

// { all: n, online: n, … }
function count(rows) {
  return Object.fromEntries(counts.map((name) => [name, rows.reduce((sum, one) => sum + (is[name](one) ? 1 : 0), 0)]));
}

// Which versions there are, the newest first, with how many stations have each: [["0.10.0", 3], ["0.9.0", 1]]
function versions(rows) {
  const found = new Map();
  for (const { version } of rows) if (version) found.set(version, (found.get(version) ?? 0) + 1);
  return [...found].sort(([a], [b]) => byNumbers.compare(b, a));
}

// Which alerts are open, by their codes, with how many stations have each, the most frequent first.
function kinds(rows) {
  const found = new Map();
  for (const one of rows) for (const code of new Set(one.kinds)) found.set(code, (found.get(code) ?? 0) + 1);
  return [...found].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
}

// Those that match: { only (a name of `counts`), group, version, kind (code of an alert; each "" for all), words }
function filter(rows, { only = "all", group = "", version = "", kind = "", words = "" }) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((one) => (is[only] ?? is.all)(one) && (group === "" || group === "all" || one.groups.includes(group))
    && (version === "" || one.version === version) && (kind === "" || one.kinds.includes(kind)) &&
    wanted.every((word) => `${one.id} ${one.description}`.toLowerCase().includes(word)));
}

// 0.10 is newer than 0.9.
const byNumbers = new Intl.Collator("en", { numeric: true });
const byName = (a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
// Numbers that are missing come last, whichever way round.
const numbers = (key) => (a, b, way) => {
  const [x, y] = [a[key], b[key]];
  if (!Number.isFinite(x) || !Number.isFinite(y)) return (Number.isFinite(x) ? 0 : 1) - (Number.isFinite(y) ? 0 : 1);
  return way * (x - y);
};
const texts = (key) => (a, b, way) => way * (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0);
const orders = {
  __proto__: null,
  problems: (a, b, way) => way * (rankOf.get(a.state) - rankOf.get(b.state)),
  station: texts("id"), intensity: numbers("intensity"), highest: numbers("highest"), pga: numbers("pga"), heard: numbers("heard"),
    alerts: numbers("alerts"),
  version: (a, b, way) => way * byNumbers.compare(a.version, b.version),
    groups: (a, b, way) => way * (a.groups.join() < b.groups.join() ? -1 : a.groups.join() > b.groups.join() ? 1 : 0),
  clock: (a, b, way) => way * (Number(a.synced ?? -1) - Number(b.synced ?? -1)),
};

// A new list; `way` 1 or −1. What is alike is in the order of names.
const sort = (rows, order, way = 1) => [...rows].sort((a, b) => (orders[order] ?? orders.problems)(a, b, way) || byName(a, b));

export const rank = { row, count, versions, kinds, filter, sort, states, counts, updates };
