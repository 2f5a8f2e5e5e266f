// What one types a setting into: a control for each kind of field, and for values that are one of several things.

import { h } from "../dom.js";
import { form } from "../pure/form.js";
import { variants } from "../pure/variants.js";
import { text } from "../text.js";

const words = () => text.settings;
const step = { __proto__: null, "m/s^2": 1, "m/s²": 1, "mm/s^2": 1e-3, g: 9.80665, mg: 9.80665e-3, ug: 9.80665e-6, gal: 0.01,
  s: 1, ms: 1e-3, min: 60, h: 3600, Hz: 1, mHz: 1e-3, kHz: 1e3 };

const capital = (name) => name.charAt(0).toUpperCase() + name.slice(1);

// A part of a value, which has no title: "corner_hz" as "Corner"; its unit stands beside it.
function label(name) {
  return capital(name.replace(/_(hz|s|deg|mb|minutes|days|m|per_s)$/, "").replaceAll("_", " "));
}

const unitText = (unit) => unit.replace("m/s^2", "m/s²").replace("degrees", "°");

// The same quantity in another unit, to help those who think in it: 0.049 m/s² is 5 mg, "5 mg" is 0.049 m/s².
function otherUnit(field, text) {
  const parsed = form.parse(field, text);
  if (field.kind !== "quantity" || parsed.error || parsed.value === null) return "";
  const written = typeof parsed.value === "string" ? parsed.value.split(" ") : null;
  const round = (value) => String(Number(value.toPrecision(4)));
  const base = baseUnit(field);
  // (A newer agent may have units that the page does not know.)
  if (written && (written[1] === base || !(step[written[1]] && step[base]))) return "";
  if (written) return `= ${round(Number(written[0]) * step[written[1]])} ${unitText(base)}`;
  if (field.units.includes("mg") && parsed.value !== 0) {
    const mg = parsed.value / step.mg;
    return mg >= 1000 ? `= ${round(mg / 1000)} g` : `= ${round(mg)} mg`;
  }
  return "";
}

// An acceleration as people write it, "5 mg", where that is the same number; else as the station writes it.
function friendly(field, value) {
  if (field.kind !== "quantity" || field.whole || typeof value !== "number" || value === 0
    || !field.units.includes("mg")) return form.format(field, value);
  const mg = Number((value / step.mg).toPrecision(6));
  if (Math.abs(mg * step.mg - value) > 1e-9 * Math.abs(value)) return form.format(field, value);
  return Math.abs(mg) >= 1000 ? `${form.shortest(mg / 1000)} g` : `${form.shortest(mg)} mg`;
}

// A value with a unit as the number that it is to the station.
function plain(value) {
  const found = typeof value === "string" && /^(\S+) (\S+)$/.exec(value);
  return found && step[found[2]] ? Number(found[1]) * step[found[2]] : value;
}
const sameValue = (a, b) => form.same(a, b) || (typeof plain(a) === "number" && Math.abs(plain(a) - plain(b)) <= 1e-9 * Math.abs(plain(a)));

function baseUnit(field) {
  return field.units.includes("mg") ? "m/s^2" : ["Hz", "s"].find((unit) => field.units.includes(unit)) ?? "";
}

const line = {
  make(field, { id, describedBy, changed }) {
    const hint = h("span", { class: "setting-other", "aria-live": "off" });
    const input = h("input", {
      id, type: field.secret ? "password" : "text", autocomplete: field.secret ? "new-password" : "off",
      spellcheck: "false", "aria-describedby": describedBy, class: `setting-input ${field.kind}`,
      inputmode: ["number", "integer"].includes(field.kind) ? "decimal" : null,
      maxlength: field.kind === "text" ? field.maxLength : null,
      oninput: () => {
        hint.textContent = otherUnit(field, input.value);
        changed();
      },
    });
    const measured = field.kind === "quantities" ? field.item : field;
    const shown = unitText(field.unit || (measured.kind === "quantity" && !measured.whole ? baseUnit(measured) : ""));
    const unit = h("span", { class: "setting-unit" }, field.unit === "samples" ? words().samples(shown) : shown);
    const eye = field.secret && h("button", {
      type: "button", class: "plain", "aria-pressed": "false",
      onclick: () => {
        const hidden = input.type === "text";
        input.type = hidden ? "password" : "text";
        eye.setAttribute("aria-pressed", String(!hidden));
      },
    }, words().showSecret);
    const set = (value) => {
      const kept = field.secret && value === "***";
      input.value = kept ? "" : friendly(field, value);
      input.placeholder = kept ? words().secretSet : field.nullable ? words().none : "";
      hint.textContent = otherUnit(field, input.value);
    };
    return {
      element: h("span", { class: "setting-control" }, input, shown && unit, hint, eye), input, set,
      // Different values on several axes.
      mixed: (value) => {
        input.value = "";
        input.placeholder = words().differ;
        hint.textContent = value;
      },
      read: () => (field.secret && input.value === "" ? { unchanged: true } : form.parse(field, input.value)),
      disable: (off) => {
        input.disabled = off;
        if (eye) eye.disabled = off;
      },
    };
  },
};

// In place of a choice, where axes differ.
function placeholder(select, text) {
  const known = select.querySelector("option[value='']");
  const option = known ?? h("option", { value: "", disabled: true, hidden: true });
  option.textContent = text;
  if (!known) select.prepend(option);
  select.value = "";
}

const toggle = {
  make(field, { id, describedBy, changed }) {
    const input = h("input", { id, type: "checkbox", role: "switch", "aria-describedby": describedBy, onchange: changed });
    return {
      element: h("span", { class: "setting-control" }, input), input,
      set: (value) => (input.checked = value === true),
      mixed: () => (input.indeterminate = true),
      read: () => ({ value: input.checked }),
      disable: (off) => (input.disabled = off),
    };
  },
};

const choice = {
  make(field, { id, describedBy, changed }) {
    const input = h("select", { id, "aria-describedby": describedBy, onchange: changed },
      field.options.map((option) => h("option", { value: String(option) },
        words().options[option] ?? String(option).replaceAll("_", " "))));
    return {
      element: h("span", { class: "setting-control" }, input), input,
      set: (value) => (input.value = String(value)),
      mixed: (value) => placeholder(input, value),
      read: () => (input.value === "" ? { unchanged: true } : form.parse(field, input.value)),
      disable: (off) => (input.disabled = off),
    };
  },
};

// Several of a list, in the order in which they were chosen: it is the order in which the station shows them.
const set = {
  make(field, { id, describedBy, changed }) {
    let chosen = [];
    const boxes = new Map(field.options.map((option) => [option, h("input", {
      type: "checkbox", id: `${id}-${option}`,
      onchange: (event) => {
        chosen = chosen.filter((one) => one !== option);
        if (event.target.checked) chosen.push(option);
        changed();
      },
    })]));
    const element = h("span", { class: "setting-control setting-set", role: "group", id, tabindex: "-1", "aria-describedby": describedBy },
      [...boxes].map(([option, box]) => h("label", { for: `${id}-${option}` }, box,
        words().options[option] ?? option.replaceAll("_", " "))));
    return {
      element, input: element,
      set: (value) => {
        chosen = Array.isArray(value) ? [...value] : [];
        for (const [option, box] of boxes) box.checked = chosen.includes(option);
      },
      mixed: () => {},
      read: () => ({ value: [...chosen] }),
      disable: (off) => boxes.forEach((box) => (box.disabled = off)),
    };
  },
};

// "Butterworth low pass": the schema's title of a kind, and what was chosen in it.
function variantName({ id, title, word }) {
  const named = title && [title, words().options[word] ?? word].filter(Boolean).join(" ");
  return words().variants[id] ?? (named || capital(id.replaceAll("_", " ")));
}

// A choice of what it is, and below it the fields that this has.
const oneOf = {
  make(field, { id, describedBy, changed }) {
    let parts = [];
    let disabled = false;
    const inner = h("span", { class: "setting-parts" });
    const json = h("textarea", { rows: "3", spellcheck: "false", "aria-label": words().asJSON, oninput: changed });
    const own = field.variants.length;
    const input = h("select", {
      id, "aria-describedby": describedBy,
      onchange: () => {
        show(Number(input.value), new Map());
        changed();
      },
    }, field.variants.map((variant, i) => h("option", { value: String(i) }, variantName(variant))),
    h("option", { value: String(own) }, words().asJSON));
    function show(index, values) {
      const kept = new Map(parts.map((part) => [part.field.name, part.control.read()]));
      parts = (field.variants[index]?.fields ?? []).map((part, i) => {
        const control = make(part, { id: `${id}-${i}`, describedBy, changed });
        const value = values.get(part.path.join(".")) ?? (values.size === 0 ? kept.get(part.name)?.value : undefined);
        control.set(value ?? null);
        control.disable(disabled);
        return { field: part, control, value };
      });
      inner.replaceChildren(...parts.map((part, i) => h("span", { class: "setting-part", title: part.field.help || null },
        h("label", { for: `${id}-${i}` }, label(part.field.name)), part.control.element)));
      if (index === own) inner.append(json);
    }
    return {
      element: h("span", { class: "setting-control setting-variants" }, input, inner), input,
      set(value) {
        const { index, values } = variants.match(field.variants, value);
        input.value = String(index < 0 ? own : index);
        json.value = JSON.stringify(value);
        show(index < 0 ? own : index, values);
      },
      mixed: (value) => {
        placeholder(input, value);
        show(-1, new Map());
      },
      read() {
        const index = Number(input.value);
        if (input.value === "") return { unchanged: true };
        if (index === own) return form.parse({ kind: "json" }, json.value);
        const values = new Map();
        for (const part of parts) {
          const blank = part.control.input.value === "" && !part.field.required;
          const read = blank ? { value: undefined } : part.control.read();
          if (read.error) return { ...read, part: part.field.name };
          values.set(part.field.path.join("."), read.value);
        }
        return { value: variants.build(field.variants[index], values) };
      },
      disable(off) {
        disabled = off;
        input.disabled = json.disabled = off;
        for (const part of parts) part.control.disable(off);
      },
    };
  },
};

const kinds = { toggle, choice, set, variants: oneOf };

// { element, input, set(value), mixed(text), read() -> { value } | { error } | { unchanged }, disable(off) }
function make(field, options) {
  return (kinds[field.kind] ?? line).make(field, options);
}

// A value in a table, short.
function shown(field, value) {
  const s = words();
  if (field.secret) return value === "" || value === undefined ? s.noSecret : s.secretSet;
  if (value === null || value === undefined || value === "") return s.none;
  if (typeof value === "boolean") return value ? s.yes : s.no;
  const unit = typeof value === "number" && field.unit ? ` ${unitText(field.unit)}` : "";
  if (field.kind === "variants" && typeof value === "object") return described(value);
  const said = friendly(field, value);
  return (said || s.none) + (/ /.test(said) ? "" : unit);
}

// {"butterworth":{"type":"bandpass","corners_hz":[1,8],"order":2}} as "butterworth bandpass, corners 1–8 Hz, order 2"
function described(value) {
  if (value === null || typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.map(described).join(" + ");
  return Object.entries(value).map(([key, inner]) => {
    if (key === "type" || key === "mode") return String(inner);
    if (inner !== null && typeof inner === "object" && !Array.isArray(inner)) return `${label(key).toLowerCase()} ${described(inner)}`;
    const unit = key.endsWith("_hz") ? " Hz" : "";
    const all = Array.isArray(inner) && inner.every((one) => typeof one !== "object") ? inner.join("–") : described(inner);
    return `${label(key).toLowerCase()} ${all}${unit}`;
  }).join(", ");
}

export const settingControls = { make, label, shown, unitText, sameValue, otherUnit };
