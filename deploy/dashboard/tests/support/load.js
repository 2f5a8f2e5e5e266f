// What a test needs before it imports the page's modules: the English texts, which `install` puts in front of them.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const top = fileURLToPath(new URL("../..", import.meta.url));
export const language = (code) => JSON.parse(fs.readFileSync(path.join(top, "languages", `${code}.json`), "utf8"));

// The words that panels have beside themselves, by their names (ownWords in src/panels).
export function panelWords() {
  const found = {};
  const folder = path.join(top, "src", "panels");
  for (const file of fs.existsSync(folder) ? fs.readdirSync(folder) : []) {
    const code = fs.readFileSync(path.join(folder, file), "utf8");
    const [, name, words] = /ownWords\("([a-z]+)", (\{[^]*?\n\})\);/.exec(code) ?? [];
    if (name) found[name] = new Function(`return ${words};`)();
  }
  return found;
}

// A file of the agent's own vectors.
export const vector = (name) => fs.readFileSync(path.join(top, "..", "..", "Tests", "Vectors", name));

(globalThis.Seismote ??= {}).english ??= language("en");
