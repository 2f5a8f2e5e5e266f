"""Counts what deploy/docs/extend/decisions.md says of the size of the Swift sources.

count.py REPOSITORY [COMMIT]     without a commit: the files as they lie there
"""

import os
import re
import statistics
import subprocess
import sys

repository, commit = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None


def git(*words):
    return subprocess.run(["git", "-C", repository, *words], check=True, capture_output=True, text=True).stdout


def read(path):
    if commit:
        return git("show", f"{commit}:{path}")
    with open(os.path.join(repository, path), encoding="utf-8") as file:
        return file.read()


listed = git("ls-tree", "-r", "--name-only", commit, "Sources") if commit else git(
    "ls-files", "--cached", "--others", "--exclude-standard", "Sources")
paths = sorted({path for path in listed.split("\n") if path.endswith(".swift")})
texts = {path: read(path) for path in paths if commit or os.path.exists(os.path.join(repository, path))}
lines = {path: text.count("\n") for path, text in texts.items()}
reads = {path: len(re.findall(r'[A-Za-z0-9_)?$]\["[a-z0-9_]+"(?:, "[a-z0-9_]+")*\]', text))
         for path, text in texts.items()}
rooms = re.findall(r'(?m)^ +room\(\s*"([^"]+)"', read("Package.swift"))
ranges = r"\((?:-?\d[\d_.]*)\.\.\.(?:-?\d[\d_.]*)\)\.contains\(magnitude"

# A public or package declaration whose name stands in no other folder of Sources, Tests or deploy/benchmarks.
room_of = {path: next((room for room in rooms if path.startswith(f"Sources/{room}/")), None) for path in texts}
words = {}
for path, text in texts.items():
    words.setdefault(room_of[path] or os.path.dirname(path), set()).update(re.findall(r"\w+", text))
unused = 0
for path, text in texts.items():
    for name in re.findall(r"(?m)^ *(?:@\w+ )*public (?:static |mutating |final |nonisolated )*"
                           r"(?:func|var|let|struct|enum|class|protocol|typealias) (\w+)", text):
        unused += not any(name in others for room, others in words.items() if room != room_of[path])

print(f"rooms {len(rooms)}")
print(f"files {len(lines)}, median {statistics.median(lines.values()):.0f} lines, "
      f"{sum(n < 20 for n in lines.values())} below 20, {sum(n < 40 for n in lines.values())} below 40")
print(f"lines {sum(lines.values())}")
print(f"reads of a member by a key string {sum(reads.values())} in {sum(n > 0 for n in reads.values())} files")
print(f"public declarations whose name no other room has {unused}")
