// What makes an alarm, and how it is given: the button in the bar, and what it opens.

import { alarm } from "../alarm.js";
import { dialog } from "../dialogs.js";
import { h, setText } from "../dom.js";
import { fleet } from "../fleet.js";
import { preferences } from "../preferences.js";
import { scales } from "../pure/scales.js";
import { sound } from "../sound.js";
import { text } from "../text.js";

const words = text.alarm;

// Intensities to choose from: III to VIII.
const steps = scales.scales.mmi.steps.slice(2, 8).map(({ name }, i) => [String(i + 3), words.from(name)]);

function choice(name, label, options) {
  const select = h("select", { onchange: () => preferences.set(name, select.value) },
    options.map(([value, said]) => h("option", { value }, said)));
  select.value = preferences.get(name);
  return h("label", { class: "field" }, label, select);
}

function open() {
  const stations = [...fleet.stations.keys()].sort();
  const own = preferences.get("home");
  const homes = [["", words.noHome], ...[...new Set([...stations, ...(own ? [own] : [])])].map((id) => [id, id])];
  const soundState = h("p", { class: "quiet small-note", role: "status" });
  const noteState = h("p", { class: "quiet small-note", role: "status" });
  const say = () => {
    const on = preferences.get("sound") === "yes";
    setText(soundState, on && sound.state() !== "ready" ? words.soundWaits : on ? words.soundOn : "");
    setText(noteState, { never: words.notifyNever, denied: words.notifyDenied,
      granted: preferences.get("notify") === "yes" ? words.notifyOn : "" }[alarm.mayNotify()] ?? "");
  };
  const withSound = h("input", { type: "checkbox", checked: preferences.get("sound") === "yes", onchange: async () => {
    preferences.set("sound", withSound.checked ? "yes" : "no");
    if (withSound.checked) await sound.unlock();
    say();
  } });
  const withNotes = h("input", { type: "checkbox", checked: preferences.get("notify") === "yes" && alarm.mayNotify() === "granted",
    disabled: alarm.mayNotify() === "never", onchange: async () => {
    withNotes.checked = withNotes.checked && (await alarm.askToNotify());
    preferences.set("notify", withNotes.checked ? "yes" : "no");
    say();
  } });
  say();
  return dialog({
    title: words.title,
    className: "alarm-settings",
    content: [
      h("p", { class: "quiet" }, words.about),
      choice("home", words.home, homes),
      choice("alarmNetwork", words.ofNetwork, [["all", words.every], ...steps, ["off", words.none]]),
      choice("alarmStation", words.ofStations, [["all", words.everyStation], ["home", words.homeOnly], ["off", words.none]]),
      choice("alarmIntensity", words.ofIntensity, [["off", words.none], ...steps]),
      h("label", { class: "tick" }, withSound, words.withSound), h("p", { class: "quiet small-note" }, words.nearFar), soundState,
      h("label", { class: "tick" }, withNotes, words.withNotes), noteState,
      h("p", { class: "quiet small-note" }, words.limits),
      h("p", {}, h("button", { type: "button", class: "plain", onclick: () => alarm.test() }, words.tryIt), " ",
        h("button", { type: "button", class: "plain", onclick: () => alarm.test(true) }, words.tryFar)),
    ],
    actions: [{ label: text.close, value: null, primary: true }],
  });
}

// The button in the bar: that sound is on, off, or waits for a click.
export function alarmButton() {
  const bell = h("svg", { viewBox: "0 0 24 24", class: "bell", "aria-hidden": "true" },
    h("path", { d: "M12 3a6 6 0 0 0-6 6v4l-2 3v1h16v-1l-2-3V9a6 6 0 0 0-6-6zM10 19a2 2 0 0 0 4 0z" }),
      h("path", { class: "bell-off", d: "M3 3l18 18" }));
  const word = h("span", {}, words.button);
  const element = h("button", { type: "button", class: "bar-button alarm-button", onclick: open }, bell, word);
  const show = () => {
    const state = preferences.get("sound") !== "yes" ? "off" : sound.state() === "ready" ? "on" : "waiting";
    element.dataset.sound = state;
    setText(word, state === "waiting" ? words.clickForSound : words.button);
    const label = { on: words.buttonOn, off: words.buttonOff, waiting: words.clickForSound }[state];
    if (element.title !== label) element.title = label;
    element.setAttribute("aria-label", label);
  };
  show();
  setInterval(show, 1000);
  preferences.on(show);
  return element;
}
