"""Compares the documents with what the programs say of themselves, and with what a station publishes.

compare.py REPOSITORY PROGRAMS WATCHED

WATCHED: what `watch.sh` printed. Every difference is a line; the exit status is 1 when there is one.
"""

import functools
import glob
import json
import os
import re
import shlex
import subprocess
import sys

repository, programs, watched = sys.argv[1:]
faults = []


def read(*path):
    with open(os.path.join(repository, *path), encoding="utf-8") as file:
        return file.read()


def say(page, text):
    faults.append(f"{page}: {text}")


def differ(page, what, described, true):
    for one in sorted(set(described) - set(true)):
        say(page, f"{what} {one} is described, and there is none")
    for one in sorted(set(true) - set(described)):
        say(page, f"{what} {one} is not described")


def output(*words):
    # (Help of the command-line tool has the width of the terminal.)
    return subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True, env={**os.environ, "COLUMNS": "200"}).stdout


def rows(text):
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.split("\n") if line.startswith("| ")]


def ticked(text):
    # (The fences of blocks would pair with them.)
    return re.findall(r"`([^`\n]+)`", re.sub(r"(?m)^```.*$", "", text))


servers = [f"{programs}/seismote-{name}" for name in ("feed", "network", "notify")]
pages = {
    os.path.relpath(path, repository): read(os.path.relpath(path, repository))
    for path in sorted(glob.glob(repository + "/deploy/docs/**/*.md", recursive=True))
}
pages["README.md"] = read("README.md")
pages["deploy/dashboard/README.md"] = read("deploy/dashboard/README.md")
seen, kept, info = {}, set(), {}
for line in open(watched, encoding="utf-8"):
    kind, _, rest = line.strip().partition(" ")
    if kind == "info":
        info = json.loads(rest)
    elif kind in ("seen", "kept"):
        qos, topic = rest.split(" ", 1)
        if topic.startswith("seismote/basement/"):
            if kind == "kept":
                kept.add(topic)
            seen.setdefault(topic, set()).add(int(qos))
if not info:
    sys.exit("the station published no state/info")


def alerts():
    # (The page itself is made from the declarations, which a test of the command-line tool sees to.)
    codes = re.findall(r"(?m)^### (\w+)$", output(programs + "/seismote", "interface", "alerts"))
    # (`seismote doctor` has words of its own for what it finds.)
    known = set(codes) | set(re.findall(r'"([a-z_]+)"', "".join(swift("seismote") + swift("Agent") + swift("Alerts"))))
    for name, text in pages.items():
        for word in re.findall(r"`((?:sensor|storage|clock|config|queue|duplicate|write|mqtt)_[a-z_]+)`", text):
            if word not in known and word not in words_of_messages():
                say(name, f"there is no alert {word}")
    return len(codes)


@functools.cache
def swift(room="*"):
    paths = glob.glob(f"{repository}/Sources/*/{room}/**/*.swift", recursive=True)
    return [read(os.path.relpath(path, repository)) for path in sorted(paths)]


@functools.cache
def words_of_messages():
    return "".join(swift("Messages"))


def commands():
    page = "deploy/docs/reference/commands.md"
    text = pages[page]
    table = text[text.index("## Verbs") : text.index("## Command lines")]
    described = [ticked(row[0])[0] for row in rows(table) if row[0].startswith("`")]
    differ(page, "the verb", described, verbs())
    errors = next(found[0] for found in map(re.compile(r"enum Code: [^}]*\bunknownKey = [^}]*}", re.S).search, swift()) if found)
    true = []
    for names in re.findall(r"case (.*)", errors):
        for name in names.split(","):
            written = re.search(r'"(\w+)"', name)
            true.append(written[1] if written else name.strip(" `"))
    table = text[text.index("## Codes of errors") :]
    described = [word for row in rows(table) for word in ticked(row[0])]
    differ(page, "the error code", described, true)
    return len(verbs()) + len(true)


def verbs():
    return info["capabilities"]["verbs"]


def scales():
    page = "deploy/docs/understand/measures.md"
    text = pages[page][pages[page].index("## Intensity") :]
    described = [ticked(row[0])[0] for row in rows(text) if row[0].startswith("`")]
    differ(page, "the relation", described, info["capabilities"]["scales"])
    return len(described)


def topics():
    page = "deploy/docs/reference/messages.md"
    table = []
    for row in rows(pages[page]):
        topic = ticked(row[0])
        if topic and topic[0].startswith("<root>/<id>/"):
            pattern = re.escape(topic[0][len("<root>/<id>/") :]).replace("…", ".+")
            pattern = re.sub(r"<[^>]*>", "[^/]+", pattern.replace("\\ ", " "))
            table.append((topic[0], re.compile(pattern), row[1], row[2]))
    found = set()
    for topic, qos in sorted(seen.items()):
        below = topic[len("seismote/basement/") :]
        if below.endswith("/selfcheck") or below == "state/alert/selfcheck":
            continue
        matching = [row for row in table if row[1].fullmatch(below)]
        if not matching:
            say(page, f"{below} is published, and not described")
            continue
        name, _, retained, level = matching[0]
        found.add(name)
        if level != str(max(qos)):
            say(page, f"{name}: QoS {level} is described, {max(qos)} was seen")
        # (What a state was emptied of is not kept: alerts and open events come and go.)
        if "/alert/" not in topic and not topic.endswith("event/current") and (retained == "yes") != (topic in kept):
            say(page, f"{name}: retained: {retained} is described; the broker keeps it: {topic in kept}")
    for name, *_ in table:
        # (What is sent with MQTT 3.1.1 alone is tried by the tests of the link; an update and a warning by their own checks.)
        if name not in found and not name.endswith(("/state/update", "/event/warning")) and "history" not in name and "selfcheck" not in name:
            say(page, f"{name} is described, and was not published")
    return len(found)


def settings():
    # (The head of the page tells how it is made.)
    page = "deploy/docs/reference/settings-of-servers.md"
    made = "\n".join(output(program, "--manual") for program in servers)
    if not pages[page].endswith("\n" + made):
        say(page, "the programs describe their settings in other words: make it again as its head says")
    manual = output(programs + "/seismote", "config", "manual") + made
    keys = set(re.findall(r"^\| `([a-z_0-9.]+)` \|", manual, re.M))
    groups = {".".join(key.split(".")[:depth]) for key in keys for depth in range(1, key.count(".") + 1)}
    tops = {key.split(".")[0] for key in keys}
    count = 0
    for name, text in pages.items():
        for word in ticked(text):
            word = word.split("=")[0].split(":")[0].strip()
            if not re.fullmatch(r"[a-z_0-9]+(\.[a-z_0-9]+)+", word) or word.split(".")[0] not in tops:
                continue
            if re.search(r"\.(json|jsonl|yaml|md|py|js|d|db|conf|service)$", word):
                continue
            count += 1
            plain = re.sub(r"^axes\.[xyz]\b", "axes.all", word)
            if plain not in keys and plain not in groups and f'"{word.split(".")[-1]}"' not in words_of_messages():
                say(name, f"there is no setting {word}")
    return count


def command_lines():
    tree = json.loads(output(programs + "/seismote", "--experimental-dump-help"))["command"]
    agent = set(re.findall(r"--[a-z-]+", output(programs + "/seismoted", "--help")))
    count = 0
    for name, text in pages.items():
        lines = [line for line in text.split("\n") if not line.lstrip().startswith("```")]
        # (Where a program is begun: not where its name is an argument.)
        found = re.findall(r"(?m)(?:^ *|`|sudo |[|;&{] |[A-Z_]+=\S+ )(seismoted?) ((?:-|[a-z])[^`|;>#\n]*)", "\n".join(lines))
        for program, rest in found:
            try:
                words = shlex.split(rest.split("  ")[0].rstrip("\\ "))
            except ValueError:
                words = rest.split()
            count += 1
            if program == "seismoted":
                options = agent
            else:
                command, known = tree, set()
                while True:
                    known |= {"--" + one["name"] for argument in command.get("arguments", [])
                              for one in argument.get("names", []) if one["kind"] == "long"}
                    inner = {one["commandName"]: one for one in command.get("subcommands", [])}
                    if words and words[0] in inner:
                        command = inner[words.pop(0)]
                    else:
                        break
                # (A placeholder stands for any, and behind `ctl` a verb goes without `ask`.)
                if words and (words[0].startswith("<") or command["commandName"] == "ctl" and words[0] in verbs()):
                    continue
                if command is tree and words and not words[0].startswith("-") or (
                    inner and words and not words[0].startswith("-") and words[0] not in inner):
                    say(name, f"there is no command: {program} {rest.strip()}")
                    continue
                options = known | {"--generate-completion-script"}
            for word in words:
                option = word.split("=")[0]
                if option.startswith("--") and len(option) > 2 and option not in options:
                    say(name, f"there is no option {option}: {program} {rest.strip()}")
    return count


def mentioned_checks():
    """(The table of checks.md is compared by tree.py.)"""
    count = 0
    for name, text in pages.items():
        for one in sorted(set(re.findall(r"deploy/checks/([a-z0-9_.-]+[a-z0-9])", text))):
            count += 1
            if not os.path.exists(os.path.join(repository, "deploy/checks", one)):
                say(name, f"there is no deploy/checks/{one}")
    return count


print(f"{alerts()} alerts, {commands()} verbs and error codes, {scales()} relations, {topics()} topics, "
      f"{settings()} mentions of settings, {command_lines()} command lines, {mentioned_checks()} mentions of checks compared")
for fault in faults:
    print(fault)
sys.exit(1 if faults else 0)
