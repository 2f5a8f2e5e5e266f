"""Whether the pages' links and pictures hold in the repository itself, where many read them; the site has its own check.

links.py REPOSITORY"""
import os
import re
import subprocess
import sys

top = sys.argv[1]
pages = subprocess.run(["git", "-C", top, "ls-files", "*.md"], capture_output=True, text=True, check=True).stdout.split()
faults, count = [], 0
for page in pages:
    # (Where blocks of code begin and end there is no link.)
    text = re.sub(r"^```.*?^```$", "", open(os.path.join(top, page), encoding="utf-8").read(), flags=re.S | re.M)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        count += 1
        if not os.path.exists(os.path.join(top, os.path.dirname(page), target)):
            faults.append(f"NOT THERE: {target}, of {page}")
print("\n".join(faults + [f"{count} links and pictures of {len(pages)} pages, {len(faults)} are not there"]))
sys.exit(bool(faults) or count < 100)
