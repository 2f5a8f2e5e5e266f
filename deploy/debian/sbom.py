#!/usr/bin/env python3
"""The bill of materials of a package (CycloneDX 1.5): what is inside it, and what it is linked against.

    sbom.py NAME VERSION COMMIT <lines: KIND NAME VERSION LICENCE [PURL]

KIND: inside (part of the package's own files) or linked (a library that the loader looks for). The same input gives the
same bytes. Environment: SOURCE_DATE_EPOCH."""
import json
import os
import sys
import time
import uuid

name, version, commit = sys.argv[1:4]
components, inside, linked = [], [], []
seen = set()
for line in sys.stdin:
    kind, part, number, licence, *purl = line.split()
    reference = purl[0] if purl else f"{part}@{number}"
    if reference in seen:
        continue
    seen.add(reference)
    component = {"type": "library", "bom-ref": reference, "name": part, "version": number,
                 "licenses": [{"expression": licence.replace("+", " ")}] if licence != "-" else None,
                 "purl": purl[0] if purl else None, "scope": "required",
                 "properties": [{"name": "seismote:how", "value": {"inside": "part of this package", "linked": "linked at run time"}[kind]}]}
    components.append({key: value for key, value in component.items() if value is not None})
    (inside if kind == "inside" else linked).append(reference)
own = f"pkg:deb/seismote/{name}@{version}"
print(json.dumps({
    "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
    "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, own + '#' + commit)}",
    "metadata": {
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))),
        "component": {"type": "application", "bom-ref": own, "name": name, "version": version, "purl": own,
                      "licenses": [{"license": {"id": "Apache-2.0"}}],
                      "properties": [{"name": "seismote:commit", "value": commit}]}},
    "components": sorted(components, key=lambda component: component["bom-ref"]),
    "dependencies": [{"ref": own, "dependsOn": sorted(inside + linked)}],
}, indent=1, ensure_ascii=False))
