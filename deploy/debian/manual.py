#!/usr/bin/env python3
"""Manual pages from what the programs say of themselves, so that none of them says something else.

    manual.py tool                       <the JSON of `seismote --experimental-dump-help`
    manual.py settings                   <the JSON Schema of `seismote config schema`
    manual.py program NAME SECTION WORDS <the text of `NAME --help`; WORDS: what it is

Environment: VERSION, SOURCE_DATE_EPOCH. Python's standard library alone."""
import json
import os
import re
import sys
import time

# Programs of packages of their own, and their settings files in /etc/seismote.
SERVERS = {"seismote-feed": "feed", "seismote-network": "network", "seismote-notify": "notify"}
version = os.environ.get("VERSION", "")
date = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "0"))))
lines = []


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("^", "\\(ha").replace("~", "\\(ti").replace("`", "\\(ga")
    return "\\&" + text if text[:1] in (".", "'") else text


def say(macro, *words):
    """A line with a macro; words in quotes."""
    lines.append(" ".join([f".{macro}", *('"' + escaped(word).replace('"', '\\(dq') + '"' for word in words)]))


def prose(text):
    """Text as it is, what is between backquotes in bold."""
    for paragraph in text.strip().split("\n\n"):
        if lines and not lines[-1].startswith((".SH", ".SS", ".TP", ".PP")) and lines[-2:-1] != [".TP"]:
            lines.append(".PP")
        parts = re.split(r"`([^`\n]+)`", " ".join(paragraph.split()))
        line = "".join(f"\\fB{escaped(part)}\\fR" if place % 2 else escaped(part).replace("\\&", "", place > 0) for place, part in enumerate(parts))
        lines.append(line)


def item(head, text):
    """An item of a list: its head in bold, what it means below."""
    lines.append(".TP")
    lines.append(f"\\fB{escaped(head)}\\fR")
    body = " ".join(text.split())
    lines.append(escaped(body) if body else "\\&")


def begin(name, section, words, manual):
    lines.append('.\\" Made by deploy/debian/manual.py from what the program says of itself.')
    say("TH", name.upper(), str(section), date, f"Seismote {version}".strip(), manual)
    say("SH", "NAME")
    lines.append(f"{escaped(name)} \\- {escaped(words)}")


def see_also(*pages):
    say("SH", "SEE ALSO")
    lines.append(", ".join(f"\\fB{escaped(name)}\\fR({section})" for name, section in pages))


# --- the command-line tool, from its own description of its options


def names_of(argument):
    def spelled(name):
        return ("--" if name["kind"] == "long" else "-") + name["name"]

    if argument["kind"] == "positional":
        return f"<{argument['valueName']}>"
    names = ", ".join(sorted((spelled(name) for name in argument["names"]), key=lambda name: (name.startswith("--"), name)))
    return names + (f" <{argument['valueName']}>" if argument["kind"] == "option" else "")


def shown(command):
    return [a for a in command.get("arguments", []) if a.get("shouldDisplay", True) and names_of(a) not in ("--version", "-h, --help")]


def usage(words, command):
    parts = []
    for argument in shown(command):
        name = names_of(argument).split(", ")[-1] + (" ..." if argument.get("isRepeating") else "")
        parts.append(f"[{name}]" if argument.get("isOptional") else name)
    return " ".join([words, *(["<subcommand>"] if subcommands(command) else []), *parts])


def subcommands(command):
    return [c for c in command.get("subcommands", []) if c.get("shouldDisplay", True) and c["commandName"] != "help"]


def meaning(argument):
    text = argument.get("abstract", "")
    if argument.get("discussion"):
        text += " " + argument["discussion"]
    if argument.get("defaultValue"):
        text += f" Default: {argument['defaultValue']}."
    return text


def describe(command, path):
    """A command, and those below it. Options that most of its subcommands have are explained once."""
    words = " ".join([*path, command["commandName"]])
    below = subcommands(command)
    counted = {}
    for child in below:
        for argument in shown(child):
            counted.setdefault((names_of(argument), meaning(argument)), []).append(child)
    common = [key for key, children in counted.items() if len(children) > 2 and 2 * len(children) > len(below)]
    if len(path) == 0:
        say("SH", "COMMANDS")
    else:
        write(command, words, ())
    if common:
        say("SS", f"Options of most commands of {words}")
        for head, text in common:
            item(head, text)
    for child in below:
        if subcommands(child):
            describe(child, [*path, command["commandName"]])
        else:
            write(child, f"{words} {child['commandName']}", common)


def write(command, words, common):
    say("SS", words)
    lines.append(f"\\fB{escaped(usage(words, command))}\\fR")
    prose(command.get("abstract", ""))
    if command.get("discussion"):
        prose(command["discussion"])
    for argument in shown(command):
        if (names_of(argument), meaning(argument)) not in common:
            item(names_of(argument), meaning(argument))


def tool():
    command = json.load(sys.stdin)["command"]
    begin("seismote", 1, command["abstract"].rstrip(".")[0].lower() + command["abstract"].rstrip(".")[1:], "Seismote Manual")
    say("SH", "SYNOPSIS")
    lines.append("\\fBseismote\\fR <subcommand> [option ...]")
    say("SH", "DESCRIPTION")
    prose("Looks for sensors, plays recordings through the station's own pipeline, checks settings, and sees and changes stations over "
          "MQTT. Each command has `--help`; `seismote --version` says the version.")
    describe(command, [])
    see_also(("seismoted", 8), ("seismote.yaml", 5), ("seismote-broker", 8))


# --- the settings file, from the schema


def allowed(schema):
    for key in ("enum",):
        if key in schema:
            return ", ".join("null" if value is None else str(value) for value in schema[key])
    if "const" in schema:
        return str(schema["const"])
    low, high = schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum")
    kinds = schema.get("type", "")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    text = " or ".join({"array": "a list", "object": "keys", "boolean": "true or false"}.get(kind, kind) for kind in kinds if kind)
    if low is not None and high is not None:
        text += f", {low} to {high}"
    return text


def settings_of(schema, path):
    for name, row in schema.get("properties", {}).items():
        key = [*path, name]
        if row.get("type") == "object" and "properties" in row and "default" not in row:
            settings_of(row, key)
            continue
        text = row.get("description", "")
        facts = []
        if "default" in row:
            facts.append(f"default {json.dumps(row['default'], ensure_ascii=False)}")
        if row.get("x-unit"):
            facts.append(f"in {row['x-unit']}")
        if allowed(row):
            facts.append(allowed(row))
        if row.get("x-apply"):
            facts.append({"live": "takes effect at once", "restart": "takes effect at the next start",
                          "restart-stream": "the sensor is opened again"}.get(row["x-apply"], row["x-apply"]))
        if row.get("x-remote") is False:
            facts.append("not to be set remotely")
        item(".".join(key), text + (f" [{'; '.join(facts)}]" if facts else ""))


def settings():
    schema = json.load(sys.stdin)
    begin("seismote.yaml", 5, "settings of a Seismote station", "Seismote Manual")
    say("SH", "SYNOPSIS")
    lines.append("/etc/seismote/seismote.yaml")
    say("SH", "DESCRIPTION")
    prose("A YAML file with the settings of a station; only what differs from the defaults needs to be in it. The file with every key "
          "at its default and explained is /usr/share/seismote/seismote.yaml, also printed by `seismote config default`. Quantities may be "
          "written with a unit, such as 5 mg, 200 ms or 0.5 Hz. `seismote config check` checks a file; `systemctl reload seismote` "
          "checks it and puts it in force. A key is written here with dots for what stands nested in the file.")
    for name, section in schema["properties"].items():
        say("SH", name.upper())
        before = len(lines)
        if section.get("type") == "object" and "properties" in section:
            settings_of(section, [name])
        else:
            settings_of({"properties": {name: section}}, [])
        if len(lines) == before:
            prose(section.get("description", ""))
    say("SH", "FILES")
    item("/etc/seismote/seismote.yaml", "The settings that the service starts with.")
    item("/usr/share/seismote/presets", "Settings for a purpose, for --preset.")
    item("/var/lib/seismote/settings.json", "What was set remotely.")
    see_also(("seismoted", 8), ("seismote", 1))


# --- a program, from the text of its --help


def plain(text):
    """The help of ArgumentParser in the form of the others: how it is called first, what it does, its options."""
    if not text[0].startswith("OVERVIEW: "):
        return text
    call = next(i for i, line in enumerate(text) if line.startswith("USAGE: "))
    options = text.index("OPTIONS:")
    return ["usage: " + text[call].removeprefix("USAGE: "), "", text[0].removeprefix("OVERVIEW: "), *text[1:call], *text[options + 1:]]


def program(name, section, words):
    text = plain(sys.stdin.read().rstrip("\n").split("\n"))
    begin(name, section, words, "System Administration" if section == "8" else "Seismote Manual")
    say("SH", "SYNOPSIS")
    rest = list(text)
    first = True
    while rest and (rest[0].startswith(("usage:", "       ")) or not first and rest[0].startswith(" " * 7)):
        if not first:
            lines.append(".br")
        lines.append(f"\\fB{escaped(re.sub('^usage: *', '', rest.pop(0)).strip())}\\fR")
        first = False
    say("SH", "DESCRIPTION")
    paragraph = []

    def flush():
        if paragraph:
            prose("\n".join(paragraph))
            paragraph.clear()

    open_item = False
    for line in rest:
        match = re.match(r"^ {2}(\S.*?)(?: {2,}(\S.*))?$", line)
        if not line.strip():
            flush()
            open_item = False
        elif match and not line.startswith("   "):
            flush()
            item(match[1], match[2] or "")
            open_item = True
        elif open_item and line.startswith("    "):
            lines[-1] = (lines[-1] + " " if lines[-1] != "\\&" else "") + escaped(line.strip())
        else:
            open_item = False
            paragraph.append(line.strip())
    flush()
    if name in SERVERS:
        say("SH", "FILES")
        item(f"/etc/seismote/{SERVERS[name]}.yaml", "The settings that the service starts with.")
        item(f"/var/lib/{name}", "What the service keeps.")
    pages = [("seismoted", 8), ("seismote", 1), ("seismote.yaml", 5), ("seismote-broker", 8), *((name, 8) for name in SERVERS)]
    see_also(*(page for page in pages if page[0] != name))


if __name__ == "__main__":
    kind, *given = sys.argv[1:]
    {"tool": tool, "settings": settings, "program": program}[kind](*given)
    print("\n".join(lines))
