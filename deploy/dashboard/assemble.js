// assemble.js WORK MQTT: puts the files of `install` together in the folder WORK, which has all.js and all.css, both
// already short; MQTT is the script of MQTT.js. Writes index.html, seismote.js, seismote-….bin and language-….bin and places-….bin there.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { mark } from "./src/pure/mark.js";

const [work, mqtt] = process.argv.slice(2);
const here = path.dirname(fileURLToPath(import.meta.url));
const read = (...parts) => fs.readFileSync(path.join(...parts), "utf8");
const write = (name, content) => fs.writeFileSync(path.join(work, name), content);
const sum = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
// The same bytes each time: no time of day in the head.
const packed = (text) => gzipSync(text, { level: 9 });

const languages = fs.readdirSync(path.join(here, "languages")).filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -5)).sort();
// A table of languages/: rows of cells.
const table = (name) => read(here, "languages", name).split("\n").filter((line) => line && !line.startsWith("#")).map((line) => line.split("\t"));
// What stations say in English: { setting: { key: text }, group: …, alert: … } of a language, see stations.tsv; and
// help: { "setting key": [mark of the English text, text] }, see help.tsv; remedy: { alert: text }, see remedies.tsv.
const columns = ["de", "es", "it", "ja", "tr"];
const [names, helps, remedies] = [table("stations.tsv"), table("help.tsv"), table("remedies.tsv")];
const stations = (code) => {
  const found = { setting: {}, group: {}, alert: {}, help: {}, remedy: {} };
  for (const [name, ...texts] of names) {
    const [kind, key] = name.split(" ");
    found[kind][key] = texts[columns.indexOf(code)];
  }
  for (const [name, english, ...texts] of helps) found.help[name] = [mark(english), texts[columns.indexOf(code)]];
  for (const [alert, , ...texts] of remedies) found.remedy[alert] = texts[columns.indexOf(code)];
  return found;
};
for (const code of languages) {
  const text = JSON.stringify({ ...JSON.parse(read(here, "languages", `${code}.json`)), ...(code === "en" ? {} : { stations: stations(code) }) });
  if (code !== "en") write(`language-${code}.bin`, packed(text));
}

const scripts = read(mqtt) + read(work, "all.js");
write("seismote.js", scripts);
const bundle = `seismote-${createHash("sha256").update(scripts).digest("hex").slice(0, 12)}.bin`;
write(bundle, packed(scripts));

// Coasts and borders, a line of JSON, and names of places, which only a page with a map fetches.
const placeNames = JSON.stringify(JSON.parse(read(here, "coastlines.json"))) + "\n" + read(here, "places.tsv");
const places = `places-${createHash("sha256").update(placeNames).digest("hex").slice(0, 12)}.bin`;
write(places, packed(placeNames));

const style = read(work, "all.css");
const load = read(work, "load.js");
const parts = {
  SCRIPTS: `${sum(load)} ${sum(scripts)}`, STYLES: sum(style), STYLE: style, BUNDLE: bundle, LANGUAGES: languages.join(" "), PLACES: places, LOAD: load,
};
write("index.html", read(here, "index.html").replace(/\b(SCRIPTS|STYLES|STYLE|BUNDLE|LANGUAGES|PLACES|LOAD)\b/g, (name) => parts[name])
  .replace(/<!--[^]*?-->\s*/, "").replace(/\n\s+/g, "\n"));
