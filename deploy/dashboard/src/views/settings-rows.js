// The rows of the settings form: one for each field, with its help, where its value comes from, and what is wrong with it.

import { h, setClass, setText, withCode } from "../dom.js";
import { form } from "../pure/form.js";
import { text } from "../text.js";
import { settingControls } from "./settings-controls.js";
import { settingsProblem } from "./settings-trial.js";

const words = () => text.settings;
const axisNames = ["x", "y", "z"];

// The fields of an axis are one row each, for the axis (or all axes) that is chosen.
const isAxisField = (field) => field.group === "axes" && field.path.length > 2;

// Rows for the fields of a schema. `page` has: edit(key), current(key), sources(key), note(key, read), reset(key), axis().
function rows(fields, page) {
  const shown = fields.filter((field) => !isAxisField(field) || field.path[1] === "all");
  return shown.map((field) => row(field, page));
}

function row(field, page) {
  const key = () => (isAxisField(field) ? ["axes", page.axis(), ...field.path.slice(2)].join(".") : field.key);
  const id = `setting-${field.key.replaceAll(".", "-")}`;
  const control = settingControls.make(field, {
    id, describedBy: `${id}-help ${id}-problem`, changed: () => page.note(key(), control.read()),
  });
  const source = h("span", { class: "setting-source" });
  const effect = field.apply && field.apply !== "live" && h("span", { class: "badge" }, words().effects[field.apply] ?? field.apply);
  const reset = h("button", { type: "button", class: "plain small", onclick: () => page.reset(key()) }, words().reset);
  const undo = h("button", { type: "button", class: "plain small", onclick: () => page.undo(key()) }, words().undo);
  const problem = h("p", { id: `${id}-problem`, class: "setting-problem" });
  const name = field.title || field.name;
  const element = h("div", { class: "setting", dataset: { key: field.key } },
    h("div", { class: "setting-head" }, h("label", { for: id }, name), effect, source),
    control.element,
    h("p", { id: `${id}-help`, class: "setting-help" }, withCode(field.help), " ",
      h("code", null, field.key.replace("axes.all.", "axes.…."))),
    problem,
    h("div", { class: "setting-buttons" }, undo, reset));

  // The value that the station has, for this axis or, where they differ, which have which.
  function show() {
    if (page.edited(key())) {
      const edit = page.edited(key());
      if (edit.value === null && !field.nullable) control.set(field.default);
      else control.set(edit.value);
      return;
    }
    const values = key().startsWith("axes.all.")
      ? axisNames.map((axis) => page.current(key().replace(".all.", `.${axis}.`)))
      : [page.current(key())];
    if (values.every((value) => form.same(value, values[0]))) return control.set(values[0]);
    control.set(null);
    control.mixed(axisNames.map((axis, i) => `${axis} ${settingControls.shown(field, values[i])}`).join(", "));
  }

  function mark({ writable, errors = [] }) {
    const edit = page.edited(key());
    const { where, locked } = page.origin(key(), field);
    const open = writable && !locked;
    control.disable(!open);
    setText(source, locked ? words().lockedBy[locked] : where ? words().sources[where] : "");
    source.className = `setting-source ${locked ? "locked" : where ?? ""}`;
    setClass(element, "edited", Boolean(edit));
    setClass(element, "wrong", errors.length > 0);
    control.input.setAttribute("aria-invalid", String(errors.length > 0));
    setText(problem, errors.map(settingsProblem).join(" "));
    undo.hidden = !edit || !open;
    reset.hidden = Boolean(edit) || where !== "overlay" || !open;
  }

  return { field, key, element, control, show, mark, id, name, problem: () => problem.textContent };
}

export const settingRows = { rows, isAxisField, axisNames };
