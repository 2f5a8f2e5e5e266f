// What may come in by a message: each field with its type and its limits. Whoever may publish below a station's topics
// decides what is in its messages, so they are read here, once, before anything else sees them: a field of another type,
// or one that the page does not use, is left out, and a text has no control characters. Views rely on that.
const longest = 500;

// A reader takes any value and gives one of its type, or undefined.
const number = (value) => (typeof value === "number" && Number.isFinite(value) ? value : undefined);
const within = (low, high) => (value) => (number(value) >= low && value <= high ? value : undefined);
const flag = (value) => (typeof value === "boolean" ? value : undefined);
// C0 and C1, the marks that turn the direction of writing around, and separators of lines.
const unseen = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
const text = (value) => (typeof value === "string" ? value.slice(0, longest).replace(unseen, "\ufffd") : undefined);
const matching = (expression) => (value) => (typeof value === "string" && expression.test(value) ? value : undefined);
const time = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/);
// Of a scale of intensity, and nothing else that a style sheet would take for a colour or a picture.
const color = matching(/^#[0-9a-f]{6}$/i);
const eventId = matching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/);
const plain = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

// An object with these fields, those that are there.
const object = (fields) => (value) => {
  if (!plain(value)) return undefined;
  const found = {};
  for (const [name, read] of Object.entries(fields)) {
    const part = Object.hasOwn(value, name) ? read(value[name]) : undefined;
    if (part !== undefined) found[name] = part;
  }
  return found;
};
// Nothing without these.
const whole = (read, ...names) => (value) => {
  const found = read(value);
  return found && names.every((name) => found[name] !== undefined) ? found : undefined;
};
const orNull = (read) => (value) => (value === null ? null : read(value));
// A list; what cannot be read is left out.
const list = (read, most = 64) => (value) =>
  (Array.isArray(value) ? value.slice(0, most).map(read).filter((one) => one !== undefined) : undefined);
// An object whose names are not known before.
const named = (read, most = 16) => (value) => {
  if (!plain(value)) return undefined;
  const found = Object.create(null);
  for (const [name, part] of Object.entries(value).slice(0, most)) {
    const good = /^[a-z][a-z0-9_]{0,31}$/.test(name) ? read(part) : undefined;
    if (good !== undefined) found[name] = good;
  }
  return found;
};
// Settings, schemas: trees of any shape, with as many texts, as long and as deep as an agent of any version may have.
const [mostNodes, deepest, longestInTree] = [20000, 20, 4000];
function tree(value) {
  let left = mostNodes;
  const read = (one, depth) => {
    if (--left < 0 || depth > deepest) return undefined;
    if (typeof one === "string") return one.slice(0, longestInTree).replace(unseen, "\ufffd");
    if (Array.isArray(one)) return one.map((part) => read(part, depth + 1)).filter((part) => part !== undefined);
    if (!plain(one)) return one;
    const found = {};
    for (const [name, part] of Object.entries(one)) {
      const good = name.length <= 128 && name !== "__proto__" ? read(part, depth + 1) : undefined;
      if (good !== undefined) found[name] = good;
    }
    return found;
  };
  return plain(value) ? read(value, 0) : undefined;
}
const numbers = (...names) => Object.fromEntries(names.map((name) => [name, number]));

const intensity = list(object({
  scale: text, relation: text, value: number, from_pga: number, from_pgv: number, roman: text, grade: text, color,
}), 12);
const quality = object({ source: text, synced: flag, error_ms: number });
const extreme = object({ min: number, max: number, since: time });
const place = object({ x: number, y: number, z: number });

const motion = object(numbers("rms", "peak", "rsam"));
const summary = object({
  boot: text, seq: number, t: time, triggered: flag, valid: flag, reason: text, intensity, tq: quality,
  ...numbers("mmi", "jma", "window_s", "pga", "pga_pct_g", "pgv", "pgd", "magnitude"),
  x: motion, y: motion, z: motion, h: motion, v3: motion, sta_lta: named(number), spectrum: object(numbers("dominant_hz", "peak")),
  direction: object({ azimuth_deg: number, axis: text }),
  extremes: object({ x: extreme, y: extreme, z: extreme, magnitude: extreme }),
});

const level = object({
  boot: text, seq: number, t: time, triggered: flag, valid: flag, synced: flag, ...numbers("pga", "mmi", "jma"),
});

const health = object({
  boot: text, seq: number, t: time, sensor: text, time: quality,
  ...numbers("rate_hz", "rate_error_ppm", "gaps", "lost_samples", "clipped", "loop_late_ms", "cpu_pct", "rss_bytes",
    "temperature_c", "uptime_s"),
  outbox: object({ messages: number, bytes: number, dropped: named(number) }), mqtt: object({ connects: number }),
});

const info = object({
  boot: text, t: time, agent: object({ version: text, build: text }), sensor: object({ driver: text, chip: text, rate_hz: number }),
  station: object({
    description: text, network: text, code: text, location: text, latitude: number, longitude: number, elevation_m: number,
    groups: list(matching(/^[A-Za-z0-9_-]{1,64}$/)),
  }),
  capabilities: object({ verbs: list(matching(/^[a-z][a-z-]{0,31}$/)) }),
});

// What becomes of an update of the agent.
const update = whole(object({
  t: time, since: time, until: time, version: text, from: text, reason: text, progress_pct: within(0, 100),
  phase: matching(/^(requested|fetching|waiting|installing|watching|confirming|returning|updated|returned|refused|failed)$/),
}), "phase");

const alert = object({ t: time, code: text, severity: text, message: text, since: time });

const peak = object({ value: number, t: time });
// What it was, by the station alone, and what it expects.
const kind = matching(/^(earthquake|disturbance|unclassified)$/);
const judged = object({ likely: kind, p: within(0, 1), t_s: within(0, 3600), certain: flag, moved: flag, final: flag });
const onsite = object({
  ...numbers("pv", "tau_c"), t_s: within(0, 60), pgv_predicted: within(0, 100), mmi_predicted: within(-10, 15), pgv_low: within(0, 100),
    pgv_high: within(0, 10000), saturated: flag, pd: orNull(number), level: orNull(number),
});
const label = matching(/^[a-z][a-z0-9_-]{0,31}$/);
const fieldsOfEvent = object({
  event_type: matching(/^(onset|update|end)$/), label, class: judged, onsite: orNull(onsite), alarm: flag, confirmed: flag,
    event_id: eventId, boot: text, seq: number, t: time, onset: time, end: time, test: flag, clipped: flag,
  interrupted: flag, acceleration_valid: flag, velocity_valid: flag, displacement_valid: flag, intensity,
  ...numbers("pga", "pga_pct_g", "pgv", "pgd", "duration_s", "d5_75_s", "d5_95_s", "arias", "cav", "cav_std", "dominant_hz",
    "gaps", "missing_s", "config_rev"),
  peaks: object({ x: peak, y: peak, z: peak, h: peak, v3: peak }), rms_max: named(number), sta_lta_max: named(number),
  direction: object(numbers("azimuth_deg", "incidence_deg", "rectilinearity")), first_motion: object({ axis: text, t: time }),
  detectors: list(object({
    name: text, signal: text, axes: list(text, 3), direction: text, on: time, value: number, max: number, threshold: number,
    peaks: place,
  })),
  waveform: object({ bytes: number, sha256: matching(/^[0-9a-f]{64}$/), unit_per_count: number, messages: number }),
});
// Intensities that no velocity enters stay certain where the velocity is not.
const needsVelocity = ({ scale, relation }) => scale !== "jma" && relation !== "gutenberg_richter";
// Intensities that an acceleration enters. Where it may be off by more than 2 %, they are shown as not certain and still decide:
// the error is some tenths of a step.
const needsAcceleration = ({ scale, relation }) => scale === "jma" || ["gutenberg_richter", "wald99", "cwa"].includes(relation);
// A detector whose largest ratios the event has, too, compares a ratio; all others an acceleration.
const event = (value) => {
  const found = fieldsOfEvent(value);
  for (const one of found?.detectors ?? []) if (Object.hasOwn(value, `${one.name}_max`)) one.isRatio = true;
  if (found?.velocity_valid === false) for (const one of found.intensity ?? []) if (needsVelocity(one)) one.uncertain = true;
  if (found?.acceleration_valid === false) for (const one of found.intensity ?? []) if (needsAcceleration(one)) one.inexact = true;
  return found;
};

const keys = list(text, 1000);
const sources = object({ overlay: keys, file: keys, command_line: keys });
const pending = orNull(whole(object({ rev: number, deadline: time }), "rev", "deadline"));
const config = object({ t: time, rev: number, config: tree, sources, pending, needs_restart: keys });
// The settings that other views than the form go by, with their types.
const used = object({
  trace: object({ block_s: number, enabled: flag, only_in_events: flag }),
  detection: object({
    sta_lta: object({ enabled: flag, on: number, off: number }), event: object({ pre_event_s: number }),
  }),
  sensor: object({ mounting: object({ north_deg: number }) }),
  intensity: object({ jma_window_s: number }),
  vibration: object({ enabled: flag }),
});

const errors = list(object({ code: text, path: text, message: text, allowed: text, nearest: text }));
// A reply to a command; its result is read by what it is of.
const reply = object({ id: text, phase: matching(/^(accepted|done|failed)$/), rev: number, incomplete: flag, errors,
  result: (value) => value ?? undefined });

// A block of live traces; what is no number in it is a gap.
const samples = (value) => (Array.isArray(value) && value.length <= 100000 ? value : undefined);
const signals = object({ raw: samples, filtered: samples, rms: samples, triggered: samples });
const trace = whole(object({ boot: text, seq: number, t: time, rate_hz: within(1e-3, 1e5), n: within(1, 100000), x: signals, y: signals,
  z: signals }), "t", "rate_hz", "n");
// Results of commands that change settings, of `config-get` and of `snapshot`.
const proposal = object({
  config: tree, changed: keys, live: keys, restart_stream: keys, needs_restart: keys, pending,
});
const details = object({
  rev: number, sources, locked: keys, revisions: list(object({ rev: number, t: time, source: text, changed: keys }), 200),
});
const snapshot = object({ bytes: number, sha256: matching(/^[0-9a-f]{64}$/) });

// Replies to `events`, `event` and `history`. A column of `history` is a list of numbers, null where there is nothing.
const events = object({ events: list(event, 100), matches: number, next: orNull(number) });
const kept = object({ event, bytes: number, sha256: matching(/^[0-9a-f]{64}$/) });
const column = (value) => (Array.isArray(value) && value.length <= 5000 ? value.map((one) => number(one) ?? NaN) : undefined);
const columns = object({ min: column, max: column, rms: column });
const past = object({ from: time, next: time, step_s: number, x: columns, y: columns, z: columns });

// Whether an event is of the station that says so: ids begin with that of their station.
const isOwn = (station, id) => typeof id === "string" && id.startsWith(`${station}-`);

// An event of the network: several stations together. A region is closed lines, of as many latitudes as longitudes.
const stationId = matching(/^[A-Za-z0-9_-]{1,64}$/);
const most = object({ value: number, station: stationId });
const latitudes = list(within(-90, 90), 400);
const longitudes = list(within(-360, 360), 400);
const ring = (value) => {
  const found = object({ latitude: latitudes, longitude: longitudes })(value);
  return found?.latitude?.length > 2 && found.latitude.length === found.longitude?.length ? found : undefined;
};
const coordinates = whole(object({ latitude: within(-90, 90), longitude: within(-360, 360), depth_km: number }), "latitude", "longitude");
const whereabouts = object({
  quality: matching(/^(good|ambiguous|outside|poor)$/), azimuth_deg: within(-360, 360), distance_km: within(0, 20100),
    extent_km: within(0, 20100),
  region: list(ring, 16), others: list(coordinates, 16),
});
const onsetOf = object({ id: stationId, event_id: eventId, onset: time, phase: matching(/^[PS]$/), residual_s: number,
  distance_km: number });
// An onset of a station that is another's is none.
const member = (value) => {
  const found = onsetOf(value);
  return found && (found.event_id === undefined || isOwn(found.id, found.event_id)) ? found : undefined;
};
const networkId = matching(/^net-[A-Za-z0-9_-]{1,60}$/);
const network = whole(object({
  event_type: matching(/^(onset|update|end)$/), event_id: networkId, origin_time: time,
    magnitude: orNull(object({ value: number, sigma: number, relation: text })),
  ...numbers("version", "latitude", "longitude", "depth_km", "rms_s"),
    ellipse: object(numbers("semi_major_km", "semi_minor_km", "azimuth_deg")),
  t: time, merged_into: networkId, withdrawn: flag, disputed: flag, disputed_because: matching(/^[a-z_]{1,40}$/), pga: most, mmi: most,
    class: (value) => kind(plain(value) ? value.likely : value), silent: list(stationId, 1000),
  stations: list(member, 1000), place: whereabouts,
}), "event_id", "event_type", "origin_time", "latitude", "longitude");

// What a station expects of an event of the network.
const warning = whole(object({
  state: matching(/^(coming|passed|cancelled)$/), network_event: networkId, alarm: flag, s_arrival: time, issued: time,
  ...numbers("version", "seconds", "distance_km", "magnitude"), mmi: within(0, 12), mmi_range: list(within(0, 12), 2),
}), "state", "network_event", "mmi", "issued");

// What people have noted of an event.
const remark = whole(object({ by: text, t: time, text }), "t");
const note = object({ seen: remark, notes: list(remark, 20) });

// What the network's detector says of itself.
const detector = whole(object({ t: time, online: flag, open_events: number }), "t");

export const wire = {
  isOwn,
  network, warning, detector, note,
  level, trace, reply, events, kept, past, label, kind,
  text, color, eventId, summary, health, info, update, alert, event, config, used, schema: tree, errors, proposal, details, snapshot,
  // An id of a station, and the code of an alert, as topics have them.
  stationId: matching(/^[A-Za-z0-9_-]{1,64}$/),
  code: matching(/^[a-z0-9_]{1,64}$/),
};
