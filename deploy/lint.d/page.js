// Whether the page's sources are written as they should be: what TypeScript finds (deploy/dashboard/jsconfig.json), no line above
// 140 characters, no function above 80 lines.
//
// page.js REPOSITORY TSC    Every fault is a line; the exit status is 1 when there is one.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

const [repository, tsc] = process.argv.slice(2);
const page = path.join(repository, "deploy", "dashboard");
const [longestLine, longestFunction] = [140, 80];
const faults = [];

const files = fs.readdirSync(path.join(page, "src"), { recursive: true }).map(String)
  .filter((name) => name.endsWith(".js")).sort();
const head = /^( *)(?:export )?(?:default )?(?:async )?(?:function\*? ([\w$]+)\(|(?:static )?(?:async )?(?:get |set )?(#?[\w$]+)\([^;]*\) \{$|.*?([\w$]+)(?: =|:) (?:async )?(?:function\b.*|\(.*\) =>|[\w$]+ =>) ?\(?\{$)/;
const words = new Set(["if", "for", "while", "switch", "catch", "return"]);

for (const file of files) {
  const lines = fs.readFileSync(path.join(page, "src", file), "utf8").split("\n");
  lines.forEach((line, i) => {
    if (line.length > longestLine) faults.push(`deploy/dashboard/src/${file}:${i + 1}: ${line.length} characters, at most ${longestLine}`);
    const match = head.exec(line);
    const name = match?.[2] ?? match?.[3] ?? match?.[4];
    if (!match || words.has(name)) return;
    // It ends with the first bracket at its own indentation.
    const end = lines.findIndex((other, k) => k > i && other.startsWith(`${match[1]}}`));
    if (end - i + 1 > longestFunction) faults.push(`deploy/dashboard/src/${file}:${i + 1}: ${name} has ${end - i + 1} lines, at most ${longestFunction}`);
  });
}
const { stdout, status } = spawnSync(tsc, ["-p", path.join(page, "jsconfig.json")], { encoding: "utf8" });
if (status !== 0) faults.push(...(stdout ?? `${tsc}: it does not run`).trim().split("\n"));

for (const fault of faults) console.log(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
