"use strict";
// Loads sources of the page into this process, in the order in which they are named.
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const top = path.join(__dirname, "..", "..");
const language = (code) => JSON.parse(fs.readFileSync(path.join(top, "languages", `${code}.json`), "utf8"));

exports.top = top;
exports.language = language;
exports.load = (...names) => {
  (globalThis.Seismote ??= {}).english ??= language("en");
  for (const name of names) {
    if (name === "text.js") exports.load("pure/messages.js");
    const file = path.join(top, "src", name);
    vm.runInThisContext(fs.readFileSync(file, "utf8"), { filename: file });
  }
  return globalThis.Seismote;
};

// A file of the agent's own vectors.
exports.vector = (name) => fs.readFileSync(path.join(top, "..", "..", "Tests", "Vectors", name));
