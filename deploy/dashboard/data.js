// data.js: what the page's scripts begin with: the English texts, the names of the languages, and the presets of
// config/presets as settings.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

// (Imports do not look at NODE_PATH, where Debian's packages are.)
const yaml = createRequire(import.meta.url)("js-yaml");

const folder = (...parts) => path.join(path.dirname(fileURLToPath(import.meta.url)), ...parts);
const names = (where, ending) => fs.readdirSync(where).filter((name) => name.endsWith(ending)).map((name) => name.slice(0, -ending.length)).sort();
const language = (code) => JSON.parse(fs.readFileSync(folder("languages", `${code}.json`), "utf8"));
// What can be done about an alert: { alert: text }, see languages/remedies.tsv.
const remedies = fs.readFileSync(folder("languages", "remedies.tsv"), "utf8").split("\n").filter((line) => line && !line.startsWith("#")).map((line) => line.split("\t"));
const presets = folder("..", "..", "config", "presets");

const data = {
  english: language("en"),
  languageNames: Object.fromEntries(names(folder("languages"), ".json").map((code) => [code, language(code).language])),
  remedies: Object.fromEntries(remedies.map(([alert, english]) => [alert, english])),
  presets: Object.fromEntries(names(presets, ".yaml").map((name) => [name, yaml.load(fs.readFileSync(path.join(presets, `${name}.yaml`), "utf8"))])),
};
process.stdout.write(`Object.assign(globalThis.Seismote ??= {}, ${JSON.stringify(data)});\n`);
