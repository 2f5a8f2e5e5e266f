// Settings that are one of several things, such as a filter: each way of writing one is a variant with fields of its own.
// They are read from the schema's `anyOf`, so that a filter that the agent learns is in the form at once.

import { form } from "./form.js";

const same = (a, b) => form.same(a, b);
// A choice in one of these tells variants apart; every value of it is a variant.
const tellers = ["type", "mode"];

// [{ id, title, word, constant, fields: [{ path, name, required, … control }] }]. `title` is the schema's, where it has one
// for a kind, and `word` what was chosen in it, such as "bandpass". `constant` is the value itself where there are no fields
// and no object ("none"), else the object with all that is fixed.
function of(schema, root) {
  const found = [];
  expand(form.resolve(schema, root), root, [], {}, [], (variant) => found.push(variant));
  return found;
}

function put(tree, path, value) {
  if (path.length === 0) return value;
  const [name, ...rest] = path;
  return { ...tree, [name]: put(tree?.[name] ?? {}, rest, value) };
}

function expand(schema, root, path, constant, fields, emit) {
  schema = form.resolve(schema, root);
  if (schema.type === "null") return;
  if (schema.anyOf && !isQuantity(schema)) {
    for (const part of schema.anyOf) expand(part, root, path, constant, fields, emit);
    return;
  }
  const options = schema.const !== undefined ? [schema.const] : schema.enum;
  if (options) {
    for (const option of options) emit({ id: [...path, String(option)].join(" "), constant: put(constant, path, option), fields });
    return;
  }
  if (schema.properties) return object(schema, root, path, constant, fields, emit);
  emit({
    id: path.join(" "), constant,
    fields: [...fields, { path, name: path.at(-1) ?? "", required: true, ...form.control(schema, root) }],
  });
}

function isQuantity(schema) {
  return schema.anyOf.every((part) => ["number", "integer", "string"].includes(part.type));
}

function object(schema, root, path, constant, fields, emit) {
  const names = Object.keys(schema.properties);
  const required = schema.required ?? [];
  const inner = (name) => form.resolve(schema.properties[name], root);
  // { butterworth: … }: only a name around what it is.
  if (names.length === 1 && (inner(names[0]).properties || inner(names[0]).anyOf && !isQuantity(inner(names[0])))) {
    const title = inner(names[0]).title;
    const titled = typeof title === "string" ? (variant) => emit({ ...variant, title }) : emit;
    return expand(inner(names[0]), root, [...path, names[0]], put(constant, path, {}), fields, titled);
  }
  let fixed = put(constant, path, {});
  const own = [];
  let teller = null;
  for (const name of names) {
    const child = inner(name);
    if (child.const !== undefined) fixed = put(fixed, [...path, name], child.const);
    else if (child.enum && required.includes(name) && tellers.includes(name)) teller = { name, options: child.enum };
    else {
      own.push({
        path: [...path, name], name, required: required.includes(name), help: child.description ?? "",
        ...form.control(child, root),
      });
    }
  }
  own.sort((a, b) => Number(b.required) - Number(a.required));
  const needed = own.filter((field) => field.required);
  const telling = (needed.length ? needed : own).map((field) => field.name);
  const constants = names.filter((name) => inner(name).const !== undefined).map((name) => inner(name).const);
  const id = (extra) => [...path, ...constants, ...extra, ...telling].join(" ");
  if (!teller) return emit({ id: id([]), constant: fixed, fields: [...fields, ...own] });
  for (const option of teller.options) {
    emit({ id: id([option]), word: option, constant: put(fixed, [...path, teller.name], option), fields: [...fields, ...own] });
  }
}

// Which variant a value is: { index, values: Map path -> value }; index -1 when it is none of them.
function match(variants, value) {
  for (let index = 0; index < variants.length; index++) {
    const { constant, fields } = variants[index];
    const values = new Map();
    let rest = value;
    for (const field of fields) {
      const found = form.valueAt(value, field.path);
      if (found === undefined) continue;
      values.set(field.path.join("."), found);
      rest = without(rest, field.path);
    }
    const complete = fields.every((field) => !field.required || values.has(field.path.join(".")));
    const plain = fields.length === 1 && fields[0].path.length === 0;
    if (complete && (plain ? fits(fields[0], value) : same(rest, constant))) return { index, values };
  }
  return { index: -1, values: new Map() };
}

function fits(field, value) {
  if (field.kind === "json") return typeof value === "object";
  return typeof value === (field.kind === "text" ? "string" : "number") || (field.kind === "quantity" && typeof value === "string");
}

function without(tree, path) {
  if (path.length === 0 || tree === null || typeof tree !== "object") return tree;
  const { [path[0]]: child, ...rest } = tree;
  if (path.length === 1) return rest;
  return { ...rest, [path[0]]: without(child, path.slice(1)) };
}

// The value of a variant with these (Map path -> value); optional fields that are empty stay out.
function build({ constant, fields }, values) {
  let result = constant;
  for (const field of fields) {
    const value = values.get(field.path.join("."));
    if (value !== undefined && value !== null && value !== "") result = put(result, field.path, value);
  }
  return result;
}

export const variants = { of, match, build };
