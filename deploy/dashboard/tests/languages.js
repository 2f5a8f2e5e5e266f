// The languages: whole, well-formed, and no text outside of them.
import assert from "node:assert";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { language, panelWords, top } from "./support/load.js";
import { mark } from "../src/pure/mark.js";
import { messages } from "../src/pure/messages.js";

const codes = fs.readdirSync(path.join(top, "languages")).filter((name) => name.endsWith(".json")).map((name) => name.replace(".json", ""));
const english = language("en");

function leaves(tree, at = "") {
  if (typeof tree === "string") return [[at, tree]];
  return Object.entries(tree).flatMap(([name, part]) => leaves(part, `${at}/${name}`));
}

// The numbers of what is put in, in order: "0 1".
function places(parts) {
  const found = new Set();
  const visit = (list) => list.forEach((part) => {
    if (part.at !== undefined) found.add(part.at);
    for (const form of Object.values(part.forms ?? {})) visit(form);
  });
  visit(parts);
  return [...found].sort().join(" ");
}

test("there are English, German, Spanish, Italian, Japanese and Turkish", () => {
  assert.deepStrictEqual(codes.sort(), ["de", "en", "es", "it", "ja", "tr"]);
});

for (const code of codes) {
  test(`${code}: each text is there, takes what the English one takes, and has the forms of its plurals`, (t) => {
    const own = new Map(leaves(language(code)));
    // (Panels have theirs in English beside themselves, and come before their translations.)
    const ofPanels = code === "en" ? [] : leaves({ panels: panelWords() });
    const wanted = new Map([...leaves(english), ...ofPanels]);
    assert.deepStrictEqual([...own.keys()].filter((key) => !wanted.has(key)), [], "keys that English has not");
    assert.deepStrictEqual(leaves(english).map(([key]) => key).filter((key) => !own.has(key)), [], "missing keys");
    const lacking = ofPanels.filter(([key]) => !own.has(key));
    const list = lacking.map(([key, text]) => `\n  ${key}: ${text}`).join("");
    t.diagnostic(`${code}: ${lacking.length} texts of panels to be translated in languages/${code}.json${list}`);
    assert.ok(lacking.length < 50, `${lacking.length} texts of panels are not translated`);
    const needed = new Intl.PluralRules(code).resolvedOptions().pluralCategories.filter((form) => form !== "many");
    for (const [key, text] of own) {
      const parts = messages.parse(text);
      assert.strictEqual(places(parts), places(messages.parse(wanted.get(key))), `${key}: ${text}`);
      for (const part of parts) if (part.forms) assert.deepStrictEqual(needed.filter((form) => !part.forms[form]), [], `${key} lacks forms: ${text}`);
    }
    if (code === "en") return;
    const same = [...own].filter(([key, text]) => text === wanted.get(key) && /[a-z]{4}/.test(text) && text.length > 14);
    assert.ok(same.length < 8, `not translated: ${same.map(([key]) => key)}`);
  });
}

test("names of settings and alerts: one line each, in every language", () => {
  const lines = fs.readFileSync(path.join(top, "languages", "stations.tsv"), "utf8").split("\n").filter((line) => line && !line.startsWith("#"));
  const seen = new Set();
  for (const line of lines) {
    const cells = line.split("\t");
    assert.match(cells[0], /^(setting|group|alert) [a-z0-9_.]+$/, line);
    assert.strictEqual(cells.length, codes.length, `${cells[0]} has ${cells.length - 1} languages`);
    assert.ok(cells.every((cell) => cell.trim() === cell && cell !== ""), `${cells[0]}: an empty text, or blanks around one`);
    assert.ok(!seen.has(cells[0]), `${cells[0]} is there twice`);
    seen.add(cells[0]);
  }
});

// The settings file and the document of the alerts name what there is.
test("the table has all settings and alerts, and no alert that is none", () => {
  const repository = path.join(top, "..", "..");
  const table = fs.readFileSync(path.join(top, "languages", "stations.tsv"), "utf8");
  const known = (name) => table.includes(`\n${name}\t`);
  const alerts = [...fs.readFileSync(path.join(repository, "deploy/docs/operate/alerts.md"), "utf8").matchAll(/^### ([a-z_0-9]+)$/gm)].map(([, code]) => `alert ${code}`);
  assert.ok(alerts.length > 20, "the document names no alerts");
  const path_ = [];
  const settings = [];
  for (const line of fs.readFileSync(path.join(repository, "config/seismote.yaml"), "utf8").split("\n")) {
    const found = /^( *)([a-z][a-z0-9_]*):(.*)$/.exec(line);
    if (!found) continue;
    path_.length = found[1].length / 2;
    path_.push(found[2]);
    if (path_.length > 1 && found[3].trim() !== "" && !found[3].trim().startsWith("#")) settings.push(`setting ${path_.join(".").replace(/^axes\.[xyz]\./, "axes.all.")}`);
  }
  assert.ok(settings.length > 100, `only ${settings.length} settings in config/seismote.yaml`);
  const all = [...new Set([...settings, ...alerts])];
  assert.deepStrictEqual(all.filter((name) => !known(name)), []);
  assert.deepStrictEqual([...table.matchAll(/^(alert [a-z0-9_]+)\t/gm)].map(([, name]) => name).filter((name) => !alerts.includes(name)), []);
});

// The help of a setting stands above it in the settings file, with what is allowed in brackets behind it.
function helpOfSettings() {
  const found = new Map();
  const path_ = [];
  let said = [];
  for (const line of fs.readFileSync(path.join(top, "..", "..", "config/seismote.yaml"), "utf8").split("\n")) {
    const comment = /^ *# ?(.*)$/.exec(line);
    const key = /^( *)([a-z][a-z0-9_]*):/.exec(line);
    if (comment) said.push(comment[1]);
    else if (key) {
      path_.length = key[1].length / 2;
      path_.push(key[2]);
      const [whole, help] = /^(.*?)(?: \[[^[]*(?:\[[^[]*\][^[]*)*\])?$/.exec(said.join(" "));
      if (whole !== "" && path_.length > 1) found.set(`setting ${path_.join(".").replace(/^axes\.[xyz]\./, "axes.all.")}`, help);
      said = [];
    } else said = [];
  }
  return found;
}

test("help of settings: one line each, in every language, and of the English text that stations say", (t) => {
  const rows = fs.readFileSync(path.join(top, "languages", "help.tsv"), "utf8").split("\n").filter((line) => line && !line.startsWith("#")).map((line) => line.split("\t"));
  const english = new Map();
  for (const cells of rows) {
    assert.match(cells[0], /^(setting|group) [a-z0-9_.]+$/, cells[0]);
    assert.strictEqual(cells.length, codes.length + 1, `${cells[0]} has ${cells.length - 1} texts`);
    assert.ok(cells.every((cell) => cell.trim() === cell && cell !== ""), `${cells[0]}: an empty text, or blanks around one`);
    assert.ok(!english.has(cells[0]), `${cells[0]} is there twice`);
    english.set(cells[0], cells[1]);
    // What stands in backquotes is a name in every language.
    const names = (text) => [...text.matchAll(/`[^`]*`/g)].map(([name]) => name).sort();
    for (const text of cells.slice(2)) assert.deepStrictEqual(names(text), names(cells[1]), `${cells[0]}: ${text}`);
  }
  const said = helpOfSettings();
  assert.ok(said.size > 140, `only ${said.size} settings with a help in config/seismote.yaml`);
  const missing = [...said].filter(([name, help]) => english.get(name) !== help).map(([name]) => name);
  t.diagnostic(`${said.size} help texts, ${missing.length} without a translation: ${missing.join(", ")}`);
  assert.ok(missing.length < said.size / 10, missing.join(", "));
});

test("what can be done about an alert: as the document of alerts says it, in every language", (t) => {
  const rows = fs.readFileSync(path.join(top, "languages", "remedies.tsv"), "utf8").split("\n").filter((line) => line && !line.startsWith("#")).map((line) => line.split("\t"));
  const names = (text) => [...text.matchAll(/`[^`]*`/g)].map(([name]) => name).sort();
  for (const cells of rows) {
    assert.strictEqual(cells.length, codes.length + 1, cells[0]);
    assert.ok(cells.every((cell) => cell.trim() === cell && cell !== ""), `${cells[0]}: an empty text, or blanks around one`);
    for (const text of cells.slice(2)) assert.deepStrictEqual(names(text), names(cells[1]), `${cells[0]}: ${text}`);
  }
  const known = new Map(rows.map(([alert, english]) => [alert, english]));
  assert.strictEqual(known.size, rows.length);
  const document = fs.readFileSync(path.join(top, "..", "..", "deploy/docs/operate/alerts.md"), "utf8");
  const said = document.split(/^### /m).slice(1).map((part) => [part.split("\n")[0], /^To fix: (.*)$/m.exec(part)?.[1].replace(/ See \[[^\]]*\]\([^)]*\)\./g, "")]).filter(([, text]) => text);
  assert.ok(said.length > 20, "the document says nothing of what to do");
  const other = said.filter(([alert, text]) => known.get(alert) !== text).map(([alert]) => alert);
  t.diagnostic(`${said.length} alerts, ${other.length} without a translated remedy: ${other.join(", ")}`);
  assert.ok(other.length < said.length / 8, other.join(", "));
});

test("a help text is shown for the English text that it translates alone", async () => {
  globalThis.Seismote.translation = { stations: { setting: { "a.b": "Rate" }, group: {}, help: { "setting a.b": [mark("Per second."), "Je Sekunde."] } } };
  const { stationWords } = await import("../src/station-words.js");
  const field = { key: "a.b", title: "Rate", help: "Per second." };
  const [one, other] = stationWords.fields([field, { ...field, help: "Per minute." }]);
  assert.deepStrictEqual([one.help, other.help], ["Je Sekunde.", "Per minute."]);
  assert.deepStrictEqual(stationWords.missingHelp([one, other]), ["a.b"]);
  assert.strictEqual(mark(""), "ztntfp");
});

test("plurals and numbers are those of the language", () => {
  const said = (code, text, ...values) => messages.compile(text, text, messages.numbers(code))(...values);
  const stations = "{0, plural, one {# Station} other {# Stationen}}";
  assert.deepStrictEqual([0, 1, 2, 12345].map((count) => said("de", stations, count)), ["0 Stationen", "1 Station", "2 Stationen", "12.345 Stationen"]);
  assert.strictEqual(said("ja", "{0, plural, other {#局}}", 1), "1局");
  assert.strictEqual(messages.numbers("de").decimal, ",");
  assert.strictEqual(messages.numbers("tr").percent(0.93), "%93");
  assert.strictEqual(said("en", "{0} of {1}", "a", 1.5), "a of 1.5");
  for (const wrong of ["{", "{x}", "{0, plural, one {a}}", "}", "{0, plural, other {a}"]) assert.throws(() => messages.parse(wrong), SyntaxError, wrong);
});

test("a time is said in the words of the language, and one of something in its singular", () => {
  const time = (code, name, value) => messages.compile(language(code), english, messages.numbers(code)).time[name](value);
  assert.deepStrictEqual(["en", "ja", "tr"].map((code) => time(code, "s", "58")), ["58 s", "58 秒", "58 sn"]);
  const missing = (count) => messages.compile(language("de"), english, messages.numbers("de")).network.missing(count);
  assert.deepStrictEqual([missing(1), missing(2)], ["1 Station hätte es bemerken müssen und hat es nicht", "2 Stationen hätten es bemerken müssen und haben es nicht"]);
});

// Every table of limits that the agent has, and every relation of intensity, by their names in its sources.
test("names of limits and of relations are words", () => {
  const sources = path.join(top, "..", "..", "Sources", "Core");
  const read = (folder) => fs.readdirSync(path.join(sources, folder)).map((name) => fs.readFileSync(path.join(sources, folder, name), "utf8")).join("\n");
  const limits = read("Vibration/Limits");
  const tables = [...limits.matchAll(/name: "([^"]+)", standard:/g)].map(([, name]) => name);
  const places = [...limits.matchAll(/(?:place|line): "([a-z0-9-]+)"/g), ...limits.matchAll(/(?:foundation|others|rows|row)\("([a-z0-9-]+)"/g), ...limits.matchAll(/\("([a-z0-9-]+)", (?:\[|[\d.]+)/g)].map(([, name]) => name);
  assert.ok(tables.length === 7 && places.length > 20, `${tables} ${places}`);
  assert.deepStrictEqual(tables.filter((name) => !english.vibration.tables[name]), []);
  assert.deepStrictEqual([...new Set(places)].filter((name) => !english.vibration.lines[name]), []);
  const relations = [...read("Seismology/Intensity").matchAll(/IntensityRelation\(\s*"([a-z0-9_]+)"/g)].map(([, name]) => name);
  assert.ok(relations.length >= 7, relations.join());
  assert.deepStrictEqual(relations.filter((name) => !english.intensity.relations[name]), []);
});

test("what a language lacks is said in English, and names that every object has are not found", () => {
  const text = messages.compile({ a: "x" }, { a: "one", b: { c: "two {0}" }, d: ["N"] }, messages.numbers("en"));
  assert.strictEqual(text.a, "x");
  assert.strictEqual(text.b.c(3), "two 3");
  assert.strictEqual(text.constructor, undefined);
});

// Words that a person reads: two of them, or a capital, beside each other in a string that is no address, name or unit.
test("no text is written in the page's code", () => {
  const found = [];
  const files = fs.readdirSync(path.join(top, "src"), { recursive: true }).filter((name) => /\.js$/.test(name) && !/^pure\//.test(name));
  for (const file of files) {
    const code = fs.readFileSync(path.join(top, "src", file), "utf8").replace(/^\s*\/\/.*$/gm, "")
      .replace(/ownWords\("[a-z]+", \{[^]*?\n\}\);/, "");
    for (const [, text] of code.matchAll(/h\("(?:p|h[1-6]|span|button|th|td|dt|dd|li|label|option|a|strong|small)", \{[^{}]*\}, "([^"]*[A-Za-z]{3}[^"]*)"/g)) found.push(`${file}: ${text}`);
    for (const [, , text] of code.matchAll(/(["'`])([A-Z][a-z]+ [a-z]+ ?[^"'`$<>]*)\1/g)) found.push(`${file}: ${text}`);
    for (const [, text] of code.matchAll(/"?(?:aria-label|title|placeholder)"?: "([^"]+)"/g)) found.push(`${file}: ${text}`);
  }
  assert.deepStrictEqual(found, []);
});

test("each text is used", () => {
  const code = fs.readdirSync(path.join(top, "src"), { recursive: true }).filter((name) => name.endsWith(".js")).map((name) => fs.readFileSync(path.join(top, "src", name), "utf8")).join("\n");
  const unused = leaves(english).map(([key]) => key.split("/").pop()).filter((name) => !/^\d+$/.test(name) && !new RegExp(`\\b${name.replaceAll("-", "\\-")}\\b`).test(code));
  // Those that stations name: presets, relations, detectors, variants, kinds of labels.
  const named = [...Object.keys(english.class.labels), ...Object.keys(english.settings.presets), ...Object.keys(english.settings.variants), ...Object.keys(english.settings.options),
    ...Object.keys(english.settings.effects), ...Object.keys(english.intensity.relations), ...Object.keys(english.events.names), ...Object.keys(english.health.sensor), ...Object.keys(english.health.clock.sources), ...Object.keys(english.class.names), ...Object.keys(english.frame.themes), ...Object.keys(english.network), ...Object.keys(english.vibration.tables), ...Object.keys(english.vibration.lines)];
  assert.deepStrictEqual([...new Set(unused)].filter((name) => !named.includes(name)), []);
});
