// A form out of a station's JSON Schema: which fields there are, what one types into them, and what a reply says of them.

import { numbers } from "../text.js";
import { variants } from "./variants.js";

const unitsOf = /\(((?:[^()\\]|\\.)+)\)\$/;

// A schema comes from a station: how many steps are spent on one, which may refer to itself in circles or trees.
let left = 200000;
const mostFields = 1000;
const goodName = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

function begin() {
  left = 200000;
}

function resolve(schema, root) {
  if (--left < 0) throw new RangeError("the schema is too large");
  const seen = new Set();
  while (schema && schema.$ref && !seen.has(schema.$ref)) {
    seen.add(schema.$ref);
    const target = schema.$ref.replace(/^#\//, "").split("/").reduce((node, key) => node?.[key], root);
    const { $ref, ...own } = schema;
    schema = { ...target, ...own };
  }
  return schema ?? {};
}

// The texts that a unit may be, from the pattern of a quantity: "Hz", "mHz", …
function unitNames(pattern) {
  const match = unitsOf.exec(pattern.replace(/\(\?!.*$/, ""));
  return match ? match[1].split("|").map((name) => name.replaceAll("\\", "")) : [];
}

const limits = (schema) => ({
  minimum: schema.minimum, maximum: schema.maximum, above: schema.exclusiveMinimum, below: schema.exclusiveMaximum,
});

const hasType = (schema, name) => schema.type === name || (Array.isArray(schema.type) && schema.type.includes(name));

// What a leaf of the schema is to a person: { kind, … }.
//   toggle; choice (options); number, integer (limits); quantity (a number or text with a unit: units); text (pattern,
//   maxLength); set (options); texts, numbers (lists of `length`, or of 1 as well when `single`); variants (see there)
function control(schema, root) {
  schema = resolve(schema, root);
  const nullable = hasType(schema, "null") || (schema.anyOf ?? []).some((part) => part.type === "null");
  if (hasType(schema, "boolean")) return { kind: "toggle" };
  if (schema.enum) return isPlain(schema.enum) ? { kind: "choice", options: unique(schema.enum) } : { kind: "json" };
  if (hasType(schema, "array")) return list(schema, root);
  if (hasType(schema, "integer")) return { kind: "integer", nullable, ...limits(schema) };
  if (hasType(schema, "number")) return { kind: "number", nullable, ...limits(schema) };
  if (schema.anyOf) return either(schema, root, nullable);
  if (hasType(schema, "string")) return { kind: "text", nullable, pattern: schema.pattern, maxLength: schema.maxLength };
  return { kind: "json" };
}

const isPlain = (options) => Array.isArray(options) && options.every((one) => one === null || typeof one !== "object");

// 5 and "5" are the same choice.
function unique(options) {
  return options.filter((option, i) => options.findIndex((other) => String(other) === String(option)) === i);
}

function list(schema, root) {
  const items = resolve(schema.items, root);
  if (items.enum && !isPlain(items.enum)) return { kind: "json" };
  if (items.enum) return { kind: "set", options: items.enum, least: schema.minItems ?? 0 };
  const one = control(items, root);
  const kind = { number: "numbers", integer: "numbers", quantity: "quantities", text: "texts" }[one.kind];
  if (!kind) return { kind: "json" };
  const fixed = schema.minItems !== undefined && schema.minItems === schema.maxItems ? schema.minItems : null;
  return { kind, item: one, length: fixed, most: schema.maxItems };
}

function either(schema, root, nullable) {
  const parts = schema.anyOf.map((part) => resolve(part, root)).filter((part) => part.type !== "null");
  if (parts.length === 1) return { ...control(parts[0], root), nullable };
  const [first, second] = parts;
  if (parts.length === 2 && second.type === "string" && (first.type === "number" || first.type === "integer")) {
    const units = unitNames(second.pattern ?? "");
    return { kind: "quantity", nullable, whole: first.type === "integer", units, ...limits(first) };
  }
  if (parts.length === 2 && second.type === "array") {
    return { ...list(second, root), single: control(first, root) };
  }
  return { kind: "variants", nullable, variants: variants.of(schema, root) };
}

function isLeaf(schema) {
  return !schema.properties;
}

const said = (value) => (typeof value === "string" ? value : "");

// All fields in the order of the schema:
//   { key, path, group, section (path below the group), name, title, help, unit, default, apply, remote, secret, advanced,
//     … control }
function fields(root) {
  const found = [];
  begin();
  const visit = (schema, path) => {
    schema = resolve(schema, root);
    if (!isLeaf(schema)) {
      for (const [name, child] of Object.entries(schema.properties)) if (goodName.test(name)) visit(child, [...path, name]);
      return;
    }
    if (path.length < 2) return;
    if (found.length >= mostFields) throw new RangeError("the schema has too many fields");
    found.push({
      key: path.join("."), path, group: path[0], section: path.slice(1, -1), name: path.at(-1),
      title: said(schema.title), help: said(schema.description), unit: said(schema["x-unit"]), default: schema.default,
      apply: schema["x-apply"] ?? "", remote: schema["x-remote"] !== false, secret: schema["x-secret"] === true,
      advanced: schema["x-advanced"] === true,
      ...control(schema, root),
    });
  };
  visit(root, []);
  return found;
}

// Titles and help texts of groups and sections: { "axes": { title, help }, "detection.sta_lta": { title, help } }.
function headings(root) {
  const found = {};
  begin();
  const visit = (schema, path) => {
    schema = resolve(schema, root);
    if (isLeaf(schema)) return;
    if (path.length) found[path.join(".")] = { title: said(schema.title) || path.at(-1), help: said(schema.description) };
    for (const [name, child] of Object.entries(schema.properties)) if (goodName.test(name)) visit(child, [...path, name]);
  };
  visit(root, []);
  return found;
}

function valueAt(tree, path) {
  return path.reduce((node, key) => (node !== null && typeof node === "object" ? node[key] : undefined), tree);
}

function same(a, b) {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => key in b && same(a[key], b[key]));
}

// A value as one types it.
function format(field, value) {
  if (value === null || value === undefined) return "";
  const isList = Array.isArray(value) && value.every((one) => one === null || typeof one !== "object");
  if (isList) return value.map((one) => (typeof one === "number" ? shortest(one) : String(one))).join(", ");
  if (typeof value === "number") return shortest(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

// 0.0029419949999999998 is 0.002941995 to a person, and the same to the station.
function shortest(value) {
  return String(Number(value.toPrecision(15)));
}

const plainNumber = /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/;

// `field`: its limits, which a plain number is held against at once.
function parseNumber(field, text, whole) {
  if (!plainNumber.test(text)) return { error: "number" };
  const value = Number(text);
  if (!Number.isFinite(value)) return { error: "number" };
  if (whole && !Number.isInteger(value)) return { error: "integer" };
  const { minimum = -Infinity, maximum = Infinity, above = -Infinity, below = Infinity } = field;
  return value >= minimum && value <= maximum && value > above && value < below ? { value } : { error: "limits", allowed: allowed(field) };
}

// "0.1 … 100", "> 0", "≤ 5"
function allowed({ minimum, maximum, above, below }) {
  const [low, high] = [minimum ?? above, maximum ?? below];
  if (low !== undefined && high !== undefined) return `${low} … ${high}`;
  return low !== undefined ? `${minimum === undefined ? ">" : "≥"} ${low}` : `${maximum === undefined ? "<" : "≤"} ${high}`;
}

function parseQuantity(field, text) {
  if (plainNumber.test(text)) return parseNumber(field, text, field.whole);
  const match = /^([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(\S+)$/.exec(text);
  if (!match || !plainNumber.test(match[1])) return { error: "number" };
  if (!field.units.includes(match[2])) return { error: "unit", allowed: field.units };
  return { value: `${match[1]} ${match[2]}` };
}

// What has been typed: { value } to send, or { error, allowed } when the station need not even be asked.
function parse(field, input) {
  if (typeof input !== "string") return { value: input };
  // One number may be written as the reader's language writes it: 0,05.
  const alone = numbers?.decimal === "," && ["number", "integer", "quantity"].includes(field.kind);
  const text = alone ? input.trim().replace(/^([-+−]?\d*),(\d+)/, "$1.$2").replace("−", "-") : input.trim();
  if (text === "" && field.nullable) return { value: null, empty: true };
  switch (field.kind) {
    case "number": return parseNumber(field, text, false);
    case "integer": return parseNumber(field, text, true);
    case "quantity": return parseQuantity(field, text);
    case "choice": return { value: field.options.find((option) => String(option) === text) ?? text };
    case "numbers": case "quantities": case "texts": return parseList(field, text);
    case "json":
      try {
        return { value: JSON.parse(text) };
      } catch {
        return { error: "json" };
      }
    default: return { value: input };
  }
}

function parseList(field, text) {
  const words = text === "" ? [] : text.split(field.kind === "numbers" ? /[\s,;]+/ : /\s*[,;\n]\s*/).filter(Boolean);
  if (field.single && words.length === 1) return parse(field.single, words[0]);
  if (field.length && words.length !== field.length) return { error: "length", allowed: [field.length] };
  const value = [];
  for (const word of words) {
    const one = parse(field.item, word);
    if (one.error) return one;
    value.push(one.value);
  }
  return { value };
}

// A key of a station's schema may be called what every object has ("constructor"): that is not to be written into.
const own = (node, name) => (Object.hasOwn(node, name) ? node[name] : (node[name] = {}));

// Edits (Map key -> value; `null` returns a key to what the file or the default says) as a JSON merge patch.
function patch(edits) {
  const tree = {};
  for (const [key, value] of edits) {
    const path = key.split(".");
    let node = tree;
    for (const name of path.slice(0, -1)) node = own(node, name);
    node[path.at(-1)] = value;
  }
  return tree;
}

// What differs between two configurations, field by field: [{ field, before, after }].
function diff(list, before, after) {
  const changes = [];
  for (const field of list) {
    const [old, now] = [valueAt(before, field.path), valueAt(after, field.path)];
    if (!same(old, now)) changes.push({ field, before: old, after: now });
  }
  return changes;
}

function keyOfPointer(pointer) {
  return pointer.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~")).join(".");
}

// Sorts a reply's errors: { fields: Map key -> [error], others: [error] }. An error inside a value is its field's; one
// that is at no field is for the head of the page.
function errorsByField(list, errors) {
  const keys = new Set(list.map((field) => field.key));
  const result = { fields: new Map(), others: [] };
  for (const error of errors ?? []) {
    let key = keyOfPointer(error.path ?? "");
    while (key && !keys.has(key)) key = key.includes(".") ? key.slice(0, key.lastIndexOf(".")) : "";
    if (!key) result.others.push(error);
    else result.fields.set(key, [...(result.fields.get(key) ?? []), error]);
  }
  return result;
}

// Settings that a list such as `locked` or `sources.overlay` names, itself or by what it is part of.
function isNamed(list, key) {
  return (list ?? []).some((name) => key === name || key.startsWith(name + "."));
}

// Fields in which all the words occur, in their key, title, help or unit.
function search(list, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return list.filter((field) => {
    const all = [field.key, field.key.replaceAll("_", " "), field.title, field.said, field.help, field.unit].join(" ").toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

export const form = {
  fields, headings, control, resolve, valueAt, same, format, parse, patch, diff, errorsByField, keyOfPointer, isNamed,
  search, shortest,
};
