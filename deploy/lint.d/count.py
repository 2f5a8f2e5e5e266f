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
# A read of a member by a key string: `tree["t"]`. Those in Core/Messages stand beside the message's declaration. Headers and
# parameters of web requests are no members, and Core/Settings reads settings and its own files, no messages.
member = r'(?<!headers)(?<!other)(?<=[A-Za-z0-9_)?$])\["[a-z0-9_]+"(?:, "[a-z0-9_]+")*\]'
reads = {path: len(re.findall(member, text)) for path, text in texts.items()}


def reads_in(*folders):
    here = [n for path, n in reads.items() if n and path.startswith(folders)]
    return f"{sum(here)} in {len(here)} files"


outside = tuple(path for path in texts if not path.startswith(("Sources/Core/Messages/", "Sources/Core/Settings/")))
rooms = re.findall(r'(?m)^ +room\(\s*"([^"]+)"', read("Package.swift"))
ranges = r"\((?:-?\d[\d_.]*)\.\.\.(?:-?\d[\d_.]*)\)\.contains\(magnitude"

# Whether another room uses a public or package declaration: its name stands in another folder of Sources, or in a program of
# deploy; or in the signature of a declaration that is used (a type of a member, a case or a member of a protocol). Tests do
# not count: they import a room as @testable.
room_of = {path: next((room for room in rooms if path.startswith(f"Sources/{room}/")), None) for path in texts}
listed = git("ls-tree", "-r", "--name-only", commit, "deploy") if commit else git("ls-files", "deploy")
words = {}
for path in [*texts, *(path for path in listed.split("\n") if path.endswith(".swift"))]:
    room = room_of.get(path) or os.path.dirname(path)
    words.setdefault(room, set()).update(re.findall(r"\w+", re.sub(r"//.*", "", texts.get(path) or read(path))))
elsewhere = {room: set().union(*(others for other, others in words.items() if other != room)) for room in rooms}
named = re.compile(r"(?m)^ *(?:@\w+ )*(?:public|package) (?:static |mutating |final |indirect |(?:private|internal)\(set\) )*"
                   r"(?:func|var|let|struct|enum|class|protocol|typealias) `?(\w+)")
unnamed = re.compile(r"(?m)^ *(?:@\w+ )*(?:(?:public|package) (?:init|subscript|extension)\b|(?:indirect )?case \w+\()")


def signature(text, begin):
    """A declaration up to its body."""
    depth, end = 0, begin
    while end < len(text):
        character = text[end]
        depth += (character in "([") - (character in ")]")
        if depth == 0 and (character == "{" or character == "\n" and not re.match(r"\s*(->|where\b|throws\b)", text[end:])):
            break
        end += 1
    return set(re.findall(r"\w+", text[begin:end]))


declarations = []
for path, room in room_of.items():
    if room is None:
        continue
    text = re.sub(r"//.*", "", texts[path])
    declarations += [(room, match[1], signature(text, match.start())) for match in named.finditer(text)]
    declarations += [(room, None, signature(text, match.start())) for match in unnamed.finditer(text)]
    declarations += [(room, None, set(re.findall(r"\w+", match[0])))
                     for match in re.finditer(r"(?ms)^public protocol \w+.*?^}", text)]
mentioned = {room: set() for room in rooms}


def unused():
    return [one for one in declarations if one[1] and one[1] not in elsewhere[one[0]] | mentioned[one[0]]]


by_name, last = len(unused()), -1
while last != sum(map(len, mentioned.values())):
    last = sum(map(len, mentioned.values()))
    known = {room: elsewhere[room] | mentioned[room] for room in rooms}
    for room, name, itself in declarations:
        if name is None or name in known[room]:
            mentioned[room] |= itself

print(f"rooms {len(rooms)}")
print(f"files {len(lines)}, median {statistics.median(lines.values()):.0f} lines, "
      f"{sum(n < 20 for n in lines.values())} below 20, {sum(n < 40 for n in lines.values())} below 40")
print(f"lines {sum(lines.values())}")
print(f"reads of a member by a key string: beside the declarations {reads_in('Sources/Core/Messages/')}, "
      f"elsewhere {reads_in(*outside)}; settings {reads_in('Sources/Core/Settings/')}")
print(f"public declarations whose name no other room has {by_name}, of which in no signature that is used {len(unused())}")
