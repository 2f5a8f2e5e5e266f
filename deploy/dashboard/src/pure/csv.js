// A waveform as CSV, in the form that the agent itself plays back: t in seconds from the first sample, x, y, z in m/s²; when
// it began and the units stand in lines of comment before it. And lists of events.

import { waveform } from "./waveform.js";

function quote(text) {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// A double in the shortest text that reads back to it; nothing for what is missing.
function number(value) {
  return Number.isFinite(value) ? String(value) : "";
}

// Rows of cells (text or numbers), RFC 4180.
function rows(list) {
  return list.map((cells) => cells.map((cell) => (typeof cell === "number" ? number(cell) : quote(String(cell)))).join(","))
    .join("\r\n") + "\r\n";
}

// Whole counts times the unit: cut to the digits that the unit has, so that 0.1 + 0.2 does not show.
function measured(value, unit) {
  if (!Number.isFinite(value)) return "";
  const digits = Math.min(17, Math.max(6, Math.ceil(Math.log10(Math.max(1, Math.abs(value) / unit))) + 6));
  return String(Number(value.toPrecision(digits)));
}

// Samples that are missing on any axis are left out, so that the agent sees the gap in t. `about`: lines of comment.
function waveformRows({ start, rate, count, unit, x, y, z }, about = []) {
  const lines = [
    ...about, ...(start === undefined ? [] : [`start: ${waveform.formatTime(start)} (UTC, t = 0)`]),
    `rate: ${rate} Hz`, "units: t in s, x, y, z in m/s^2 as recorded, with gravity",
  ].map((line) => `# ${line.replace(/[\r\n]/g, " ")}`);
  lines.push("t,x,y,z");
  for (let i = 0; i < count; i++) {
    if (Number.isNaN(x[i]) || Number.isNaN(y[i]) || Number.isNaN(z[i])) continue;
    const t = String(Number((i / rate).toFixed(9)));
    lines.push(`${t},${measured(x[i], unit)},${measured(y[i], unit)},${measured(z[i], unit)}`);
  }
  return lines.join("\n") + "\n";
}

// Events, the units in the names of the columns.
function events(list) {
  const intensity = (event, scale) => event.intensity?.find((item) => item.scale === scale)?.value;
  return rows([
    ["event_id", "onset_utc", "end_utc", "duration_s", "pga_m_s2", "pgv_m_s", "mmi", "jma", "class", "class_p", "label", "detectors",
      "test", "velocity_valid", "acceleration_valid"],
    ...list.map((event) => [
      event.event_id, event.onset, event.end ?? "", event.duration_s ?? NaN, event.pga ?? NaN, event.pgv ?? NaN,
        intensity(event, "mmi") ?? NaN,
      intensity(event, "jma") ?? NaN, event.class?.likely ?? "", event.class?.p ?? NaN, event.label ?? "",
      [...new Set((event.detectors ?? []).map((one) => one.name))].join(" "), event.test ? "true" : "false",
      event.velocity_valid === false ? "false" : "true", event.acceleration_valid === false ? "false" : "true",
    ]),
  ]);
}

// A list of events of stations and of the network (see pure/catalogue.js), the units in the names of the columns.
function catalogue(list, noteOf) {
  return rows([
    ["event_id", "station", "time_utc", "duration_s", "latitude", "longitude", "depth_km", "place_quality", "magnitude", "magnitude_sigma",
      "mmi", "pga_m_s2", "stations", "class", "class_p", "label", "state", "seen_by", "seen_at", "notes",
      "velocity_valid", "acceleration_valid"],
    ...list.map((one) => {
      const { seen, notes = [] } = noteOf(one.id);
      const network = one.station === "";
      return [
        one.id, one.station, one.time, network ? NaN : one.event.duration_s ?? NaN, network ? one.latitude : NaN,
          network ? one.longitude : NaN, network ? one.event.depth_km ?? NaN : NaN, one.event.place?.quality ?? "",
        one.magnitude, one.event.magnitude?.sigma ?? NaN, one.mmi, one.pga,
          network ? one.event.stations?.length ?? one.event.count ?? NaN : NaN, one.kind, network ? NaN : one.event.class?.p ?? NaN,
          one.label, one.state,
        seen?.by ?? "", seen?.t ?? "", notes.map(({ by, text }) => `${by ?? ""}: ${text ?? ""}`).join("; "),
        ...["velocity_valid", "acceleration_valid"].map((name) => (network ? "" : one.event[name] === false ? "false" : "true")),
      ];
    }),
  ]);
}

export const csv = { catalogue, rows, waveform: waveformRows, events };
