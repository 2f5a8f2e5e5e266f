"use strict";
// data.js: what the page's scripts begin with: the English texts, the names of the languages, and the presets of
// config/presets as settings.
const fs = require("node:fs");
const path = require("node:path");
const yaml = require("js-yaml");

const folder = (...parts) => path.join(__dirname, ...parts);
const names = (where, ending) => fs.readdirSync(where).filter((name) => name.endsWith(ending)).map((name) => name.slice(0, -ending.length)).sort();
const language = (code) => JSON.parse(fs.readFileSync(folder("languages", `${code}.json`), "utf8"));
const presets = folder("..", "..", "config", "presets");

const data = {
  english: language("en"),
  languageNames: Object.fromEntries(names(folder("languages"), ".json").map((code) => [code, language(code).language])),
  presets: Object.fromEntries(names(presets, ".yaml").map((name) => [name, yaml.load(fs.readFileSync(path.join(presets, `${name}.yaml`), "utf8"))])),
};
process.stdout.write(`Object.assign(globalThis.Seismote ??= {}, ${JSON.stringify(data)});\n`);
