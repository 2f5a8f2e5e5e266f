"""Whether rooms depend only on what they may: the order of Package.swift, and Base and Core on no product.

rooms.py REPOSITORY

Every fault is a line; the exit status is 1 when there is one.
"""

import os
import re
import sys

repository = os.path.abspath(sys.argv[1])
# By folder below Sources: what its rooms may depend on. The others are products, which may depend on everything.
LAYERS = {"Base": ["Base", "Libraries"], "Core": ["Base", "Core", "Libraries"]}
# Still to be mended; one that is none any more is a fault.
KNOWN = set()
# Libraries that one room alone may call.
OWNERS = {"CMosquitto": "MQTT"}
# Programs that one room alone may start.
STARTERS = {"openssl": "Administration"}
faults = []

with open(os.path.join(repository, "Package.swift"), encoding="utf-8") as file:
    package = file.read()

# Name of a target, its folder below Sources, the names it depends on; in the order of Package.swift.
targets = []
for kind, first, rest in re.findall(
        r'(?<!\w)(room|program|library|shim|\.target)\(\s*(?:name: )?"([^"]+)"((?:[^()]|\([^()]*\))*)\)', package):
    path = re.search(r'path: "([^"]+)"', rest)
    if kind == ".target" and not (path and path[1].startswith("Sources/")):
        continue
    listed = re.search(r"\[(.*?)\]", re.sub(r"\.product\([^)]*\)", "", rest), re.S)
    depends = re.findall(r'"([^"]+)"', listed[1]) if listed and kind not in ("library", "shim") else []
    folder = {"library": f"Libraries/{first}", "shim": f"Libraries/{first}"}.get(kind) or (
        path[1][len("Sources/"):] if path else first)
    targets.append((os.path.basename(folder), folder, depends))

folders = {name: folder for name, folder, _ in targets}
seen = set()
for name, folder, depends in targets:
    product = folder.split("/")[0]
    for other in depends:
        if other not in folders:
            faults.append(f"{name} depends on {other}, which is nowhere in Package.swift")
        elif OWNERS.get(other, name) != name:
            faults.append(f"{name} depends on {other}: {OWNERS[other]} alone may call it")
        elif other not in seen:
            faults.append(f"{name} depends on {other}, which stands below it in Package.swift")
        elif folders[other].split("/")[0] not in LAYERS.get(product, [folders[other].split("/")[0]]):
            if (name, other) in KNOWN:
                KNOWN.remove((name, other))
            else:
                faults.append(f"Sources/{folder} depends on Sources/{folders[other]}: {product} may depend on "
                              f"{' and '.join(LAYERS[product])} alone")
    seen.add(name)
    for where, _, files in os.walk(os.path.join(repository, "Sources", folder)):
        for one in sorted(files):
            if not one.endswith(".swift"):
                continue
            with open(os.path.join(where, one), encoding="utf-8") as file:
                text = file.read()
            imported = re.findall(r"(?m)^(?:@\w+ )*import (?:\w+ )?(\w+)", text)
            for started, owner in STARTERS.items():
                if f'"{started}"' in text and name != owner:
                    faults.append(f"{os.path.relpath(os.path.join(where, one), repository)} starts {started}: {owner} "
                                  "alone may start it")
            for other in imported:
                if other in folders and other not in depends:
                    faults.append(f"{os.path.relpath(os.path.join(where, one), repository)} imports {other}, on which "
                                  f"{name} does not depend in Package.swift")
for name, other in sorted(KNOWN):
    faults.append(f"{name} does not depend on {other} any more: take it out of KNOWN in deploy/lint.d/rooms.py")
if len(targets) < 30:
    faults.append(f"only {len(targets)} targets were found in Package.swift: this check does not understand it any more")

for fault in faults:
    print(fault)
sys.exit(1 if faults else 0)
