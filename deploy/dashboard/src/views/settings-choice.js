// Which settings of the form are shown, and presets that fill it.

import { setText } from "../dom.js";
import { Seismote } from "../page.js";
import { preferences } from "../preferences.js";
import { form } from "../pure/form.js";
import { text } from "../text.js";
import { settingRows } from "./settings-rows.js";

const words = () => text.settings;

// Of the settings page, which has the fields, the rows in groups, the station and what has been edited.
export class SettingsChoice {
  /** @type {any[]} */
  fields;
  /** @type {{ group: string, rows: any[], element: HTMLElement }[]} */
  groups;
  /** @type {any[]} */
  rows;
  /** @type {Map<string, HTMLElement>} */
  links;
  // key -> { value } that is not at the station yet, key -> what is wrong with what was typed
  edits = new Map();
  mistakes = new Map();
  // Whether this user may change something; null before that is known.
  allowed = null;
  axisName = "all";
  search;
  found;
  hidden;
  presets;
  list;

  /** @returns {any} what is known of the station */
  get station() {
    return null;
  }

  // Asks the station what it would say, in a moment.
  later() {}

  // Whether a setting is of a driver that this station does not use, or of another way of using it.
  isForeign(field) {
    const driver = this.station?.config?.config?.sensor?.driver;
    const used = driver === "auto" ? this.station?.info?.sensor?.driver : driver;
    const blocks = ["iio", "i2c", "simulate", "replay"];
    return field.group === "sensor" && Boolean(used) && blocks.includes(used) && blocks.includes(field.path[1]) && field.path.length > 2
      && field.path[1] !== used;
  }

  // What is searched for, or else what most people need: changed and wrong settings always.
  filter() {
    const searched = this.search.value.trim() !== "";
    const all = searched || preferences.get("advanced") === "yes";
    const found = new Set(form.search(this.fields ?? [], this.search.value).map((field) => field.key));
    let count = 0;
    let kept = 0;
    for (const { group, rows, element } of this.groups ?? []) {
      let any = false;
      for (const row of rows) {
        const needed = this.edits.has(row.key()) || row.element.classList.contains("wrong");
        const foreign = this.isForeign(row.field) && !searched;
        row.element.hidden = !needed && (!found.has(row.field.key) || foreign || (!all && row.field.advanced));
        if (!row.element.hidden) any = Boolean(++count);
        else if (!searched && !foreign) kept++;
      }
      for (const section of element.querySelectorAll(".settings-section")) section.toggleAttribute("hidden",
        !section.querySelector(".setting:not([hidden])"));
      element.hidden = !any;
      this.links.get(group).hidden = !any;
    }
    setText(this.found, searched ? words().found(count) : "");
    setText(this.hidden, kept > 0 ? words().hidden(kept) : "");
  }

  // A preset's values as changes of the form; what other presets set goes back to the file or default.
  preset(name) {
    this.presets.value = "";
    const chosen = Seismote.presets[name];
    if (!chosen || !this.fields || !this.allowed) return;
    const leaves = (tree) => this.fields.filter((field) => field.remote && form.valueAt(tree, field.path) !== undefined);
    const sources = this.station.config.sources?.overlay ?? [];
    const edits = new Map();
    for (const other of Object.values(Seismote.presets)) {
      for (const field of leaves(other)) {
        const keys = field.key.startsWith("axes.all.") ? settingRows.axisNames.map((axis) => field.key.replace(".all.", `.${axis}.`))
          : [field.key];
        if (keys.some((key) => form.isNamed(sources, key))) edits.set(field.key, { value: null });
      }
    }
    for (const field of leaves(chosen)) edits.set(field.key, { value: form.valueAt(chosen, field.path) });
    this.axisName = "all";
    const radio = this.list.querySelector("input[name=settings-axis][value=all]");
    if (radio) radio.checked = true;
    this.edits = edits;
    this.mistakes.clear();
    for (const row of this.rows) row.show();
    this.filter();
    this.later();
  }
}
