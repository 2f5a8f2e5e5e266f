// What the reader has chosen: unit of acceleration, kind of time, theme; kept in this browser.
(function (Seismote) {
  "use strict";

  const key = "seismote.preferences";
  const defaults = { unit: "mg", time: "local", theme: "auto" };
  const listeners = new Set();
  let values = { ...defaults };
  try {
    values = { ...defaults, ...JSON.parse(localStorage.getItem(key) ?? "{}") };
  } catch {
    // No storage, or not ours: the defaults.
  }

  function applyTheme() {
    const root = document.documentElement;
    if (values.theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = values.theme;
  }

  Seismote.preferences = {
    get: (name) => values[name],
    set(name, value) {
      if (values[name] === value) return;
      values[name] = value;
      try {
        localStorage.setItem(key, JSON.stringify(values));
      } catch {
        // For this visit only, then.
      }
      if (name === "theme") applyTheme();
      for (const listener of [...listeners]) listener(name, value);
    },
    // Calls fn(name, value) after each change; returns what ends that.
    on(fn) {
      listeners.add(fn);
      return () => listeners.delete(fn);
    },
  };

  applyTheme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const listener of [...listeners]) listener("theme", values.theme);
  });

  // Numbers and times as text, in the chosen unit and time.
  const { units } = Seismote;
  Seismote.format = {
    // m/s² as "12.3 mg"
    acceleration: (value, unit = values.unit) => units.text(value, unit),
    // m/s² as "12.3" and "mg"
    accelerationParts: (value, unit = values.unit) => ({ number: units.number(value, unit), unit: units.label(unit) }),
    velocity: (value) => units.quantity(value * 100, "cm/s"),
    quantity: units.quantity,
    time: (text) => units.time(text, values.time === "utc"),
    dateTime: (text) => units.dateTime(text, values.time === "utc"),
    duration: units.duration,
  };
})(globalThis.Seismote ??= {});
