// Waveforms of events: those that stations send while the page is open, and older ones that are asked of them.

import { link } from "./link.js";
import { waveform } from "./pure/waveform.js";
import { wire } from "./pure/wire.js";
import { text } from "./text.js";

const mostBytes = 24e6;
const silence = 15000;
// "station event" -> { station, event, assembler, complete }, the oldest first
const kept = new Map();
const listeners = new Set();

const name = (station, event) => `${station} ${event}`;

function tell(station, event) {
  for (const listener of [...listeners]) listener(station, event);
}

function entry(station, event) {
  let found = kept.get(name(station, event));
  if (!found) {
    found = { station, event, assembler: new waveform.Assembler(), fetched: null, isPart: false };
    kept.set(name(station, event), found);
  }
  return found;
}

function trim() {
  let bytes = 0;
  for (const { assembler } of kept.values()) bytes += assembler.bytes;
  for (const [key, { assembler }] of kept) {
    if (bytes <= mostBytes || kept.size === 1) return;
    bytes -= assembler.bytes;
    kept.delete(key);
  }
}

function take(topic, payload) {
  const parts = topic.slice(link.root.length + 1).split("/");
  const [station, event] = [parts[0], parts.at(-1)];
  if (payload.length === 0 || !wire.stationId(station) || !wire.eventId(event)) return;
  if (entry(station, event).assembler.add(new Uint8Array(payload))) tell(station, event);
  trim();
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// Sends a command whose answer is a waveform on data/history/waveform/<request>. Resolves with { assembler, result };
// rejects with what the station says, or when the pieces stop coming. progress(bytes, whole)
async function ask(station, verb, payload, read, progress) {
  const id = `wave-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`;
  const assembler = new waveform.Assembler();
  let newest = performance.now();
  let whole = null;
  const stop = link.subscribe(`${link.root}/${station}/data/history/waveform/${id}`, (_, bytes) => {
    newest = performance.now();
    assembler.add(new Uint8Array(bytes));
    progress?.(assembler.bytes, whole);
  });
  try {
    const reply = await link.command(station, verb, { ...payload, id }, { timeoutMs: 20000 });
    const result = { bytes: 0, ...read(reply.result) };
    whole = result.bytes;
    // Pieces may come after the reply that counts them.
    while (assembler.bytes < result.bytes) {
      if (performance.now() - newest > silence) throw new Error(text.event.incomplete(assembler.bytes, result.bytes));
      await pause(100);
    }
    if (result.bytes > 0 && result.sha256 && !assembler.isOf(result.sha256)) throw new Error(text.event.damaged);
    return { assembler, result };
  } finally {
    stop();
  }
}

// The samples between two times (nanoseconds, BigInt) from a station's ring.
async function snapshot(station, from, to, progress) {
  const { formatTime } = waveform;
  return (await ask(station, "snapshot", { from: formatTime(from), to: formatTime(to) }, wire.snapshot, progress)).assembler;
}

// An event that a station keeps: { assembler, result: { event } }.
const keptEvent = (station, event, progress) => ask(station, "event", { event_id: event, waveform: true }, wire.kept, progress);

// How what has come of an event compares with what its end says: { messages, bytes, whole, right }. `right` is null
// while that is not known.
function judge(assembler, said) {
  const about = { messages: assembler.parts.length, bytes: assembler.bytes, whole: said?.bytes ?? null, right: null };
  if (said && assembler.bytes >= said.bytes) about.right = assembler.isOf(said.sha256);
  return about;
}

export const waveforms = {
  // { assembler, fetched, isPart }; undefined when nothing has come.
  get: (station, event) => kept.get(name(station, event)),
  // Keeps what a snapshot has brought, for as long as the page is open. `isPart`: the event goes on, the rest comes live.
  put(station, event, assembler, isPart = false) {
    Object.assign(entry(station, event), { fetched: assembler, isPart });
    tell(station, event);
  },
  on(fn) {
    listeners.add(fn);
    return () => listeners.delete(fn);
  },
  snapshot, kept: keptEvent,
  judge,
  // What a station sends of its events while somebody looks at it.
  watch: (id) => link.subscribe(`${link.root}/${id}/data/waveform/+`, take),
};
