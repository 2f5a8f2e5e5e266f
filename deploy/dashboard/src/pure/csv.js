// A waveform as CSV, in the form that the agent itself plays back: t in seconds from the first sample, x, y, z in m/s².
(function (Seismote) {
  "use strict";

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

  // Samples that are missing on any axis are left out, so that the agent sees the gap in t.
  function waveform({ rate, count, unit, x, y, z }) {
    const lines = ["t,x,y,z"];
    for (let i = 0; i < count; i++) {
      if (Number.isNaN(x[i]) || Number.isNaN(y[i]) || Number.isNaN(z[i])) continue;
      const t = String(Number((i / rate).toFixed(9)));
      lines.push(`${t},${measured(x[i], unit)},${measured(y[i], unit)},${measured(z[i], unit)}`);
    }
    return lines.join("\n") + "\n";
  }

  Seismote.csv = { rows, waveform };
})((globalThis.Seismote = globalThis.Seismote || {}));
