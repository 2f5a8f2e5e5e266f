"""Whether a document shows what was on the screens.

document.py DOCUMENT FOLDER     FOLDER: *.screen

A block ```text screen NAME``` has to be on the screen NAME, its lines one after the other; `…` stands for anything, alone on
a line for any lines. Every screen has to be shown."""
import glob
import os
import re
import sys

document, folder = sys.argv[1:3]
BLOCK = re.compile(r"^```text screen (\S+)\n(.*?)^```$", re.M | re.S)


def pattern(block):
    parts = []
    for line in block.rstrip("\n").split("\n"):
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*".join(re.escape(part) for part in line.rstrip().split("…")) + r"[ \t]*\n")
    return re.compile("^" + "".join(parts), re.M)


text = open(document, encoding="utf-8").read()
screens = {os.path.basename(path)[:-7]: open(path, encoding="utf-8").read() for path in glob.glob(os.path.join(folder, "*.screen"))}
faults, shown = [], set()
for match in BLOCK.finditer(text):
    name, block = match.groups()
    line = text[: match.start()].count("\n") + 1
    shown.add(name)
    if name not in screens:
        faults.append(f"line {line}: there is no screen {name}; there are {', '.join(sorted(screens))}")
    elif not pattern(block).search(screens[name]):
        faults.append(f"line {line} shows\n{block}--- on the screen {name} was\n{screens[name]}")
faults += [f"the screen {name} is not shown:\n{screens[name]}" for name in sorted(set(screens) - shown)]
for fault in faults:
    print(f"{os.path.basename(document)}, {fault}")
print(f"{len(shown)} of {len(screens)} screens are shown, {len(BLOCK.findall(text))} blocks")
sys.exit(bool(faults))
