"""Runs the commands of the documents: the fenced blocks of shell commands that are marked to be run, page by page, each page
in a machine of its own (`room`), its blocks one after the other. What is marked otherwise is counted, with its reason.

    ```bash run            run; the page fails where it ends with an error
    ```bash run 5          ended after 5 s (Ctrl-C), which is no error
    ```bash run needs=X,Y  run where these are: subcommands of `seismote`, or programs of deploy/broker
    ```bash not-run WHY    not run
    ```text output         after a run block: what it printed; `…` stands for anything, also for lines

An HTML comment `<!-- room: NAME... -->` asks for further stations, or for the package seismote-broker.

    run.py ROOM PROGRAMS FOLDER PAGE...
"""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import threading

BLOCK = re.compile(r"^```(\w*)[ ]*(.*?)\n(.*?)^```$", re.M | re.S)
MARK = "\x1e"
SETTLED = "while seismote ctl list > listed; grep -q settling listed; do sleep 0.5; done\n"


class Page:
    def __init__(self, path, there):
        self.name = os.path.basename(path)
        text = open(path, encoding="utf-8").read()
        stations = re.search(r"<!-- room: (.*?) -->", text)
        self.stations = stations[1].split() if stations else []
        self.blocks, self.skipped, self.faults = [], [], []
        self.last_left_out = False
        for match in BLOCK.finditer(text):
            language, words, body = match.groups()
            line = text[: match.start()].count("\n") + 1
            if language == "bash":
                kind, _, rest = words.partition(" ")
                missing = [one for one in rest[6:].split(",") if one not in there] if rest.startswith("needs=") else []
                if kind == "run" and missing:
                    self.skipped.append("needs what is not there yet: " + ", ".join(missing))
                    self.last_left_out = True
                elif kind == "run":
                    limit = rest if rest.isdigit() else ""
                    self.blocks.append({"line": line, "body": body, "limit": limit, "output": None})
                    self.last_left_out = False
                elif kind == "not-run" and rest:
                    self.skipped.append(rest)
                else:
                    self.faults.append(f"line {line}: neither `run` nor `not-run` with a reason")
            elif language == "text" and words == "output":
                if self.last_left_out:
                    continue
                if self.blocks and self.blocks[-1]["output"] is None:
                    self.blocks[-1]["output"] = body
                else:
                    self.faults.append(f"line {line}: output without a block that is run")

    def script(self, folder):
        lines = []
        for number, block in enumerate(self.blocks):
            file = os.path.join(folder, f"{number}.sh")
            # The words that a reader would type: as one interactive shell would take them, but for an end at an error.
            with open(file, "w", encoding="utf-8") as out:
                # A reader types slower than the filters of a station settle.
                body = block["body"].replace("seismote ctl test-event", SETTLED + "seismote ctl test-event")
                out.write("set -eo pipefail\n" + body)
            command = f"bash {file}"
            if block["limit"]:
                command = f"timeout --signal=INT --kill-after=5 {int(block['limit'])} {command} || [ $? = 124 ]"
            lines.append(f"printf '{MARK}{number}\\n'\n{{ {command}; }} </dev/null 2>&1 || {{ printf '{MARK}%s\\n' \"failed $?\"; exit 1; }}")
        path = os.path.join(folder, "script")
        with open(path, "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + f"\nprintf '{MARK}end\\n'\n")
        return path

    def run(self, room, programs, work):
        if not self.blocks:
            return
        with tempfile.TemporaryDirectory(dir=work) as folder:
            done = subprocess.run(
                [room, programs, self.script(folder), *self.stations],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100,
            )
        printed = done.stdout.decode("utf-8", "replace")
        with open(os.path.join(work, self.name + ".out"), "w", encoding="utf-8") as out:
            out.write(printed)
        said = {}
        for part in printed.split(MARK)[1:]:
            head, _, rest = part.partition("\n")
            if head.startswith("failed"):
                block = self.blocks[max(said)]
                self.faults.append(f"line {block['line']}: {head} with\n{block['body']}--\n{said[max(said)][-2000:]}")
            elif head.isdigit():
                said[int(head)] = rest
        if not printed.endswith(MARK + "end\n") and not self.faults:
            self.faults.append("the room did not come to its end:\n" + printed[-2000:])
        for number, block in enumerate(self.blocks):
            if block["output"] is not None and number in said and not alike(block["output"], said[number]):
                self.faults.append(f"line {block['line']}: the page says\n{block['output']}--\nit printed\n{said[number][-3000:]}")


def alike(expected, printed):
    """Whether that is what was printed: a line `…` is any lines, a `…` within a line anything."""
    pattern = ""
    for line in expected.rstrip("\n").split("\n"):
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part.rstrip() if last else part) for part, last in ends(line.split("…"))) + r"[ \t]*\n"
    return re.fullmatch(pattern, printed.rstrip("\n") + "\n") is not None


def ends(parts):
    return [(part, number == len(parts) - 1) for number, part in enumerate(parts)]


def main():
    room, programs, work, *paths = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    tree = json.loads(subprocess.check_output([programs + "/seismote", "--experimental-dump-help"]))
    there = {one["commandName"] for one in tree["command"]["subcommands"]}
    there |= {name for name in ("seismote-broker",) if os.path.exists(os.path.join(programs, name))}
    pages = [Page(path, there) for path in paths]
    # They mostly wait. Those with most blocks begin first.
    gate = threading.Semaphore(5)

    def one(page):
        with gate:
            try:
                page.run(room, programs, work)
            except subprocess.TimeoutExpired as error:
                page.faults.append("not over after 100 s:\n" + (error.stdout or b"").decode("utf-8", "replace")[-2000:])

    longest = sorted(pages, key=lambda page: -sum(len(block["body"]) for block in page.blocks))
    threads = [threading.Thread(target=one, args=(page,)) for page in longest]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    reasons = collections.Counter()
    for page in pages:
        reasons.update(page.skipped)
        print(f"{page.name:24} {len(page.blocks):2} blocks run, {len(page.skipped):2} not{'  FAILED' if page.faults else ''}")
        for fault in page.faults:
            print("    " + fault.replace("\n", "\n    "))
    for reason, count in sorted(reasons.items()):
        print(f"not run: {count} block{'s' if count > 1 else ''}: {reason}")
    return 1 if any(page.faults for page in pages) else 0


if __name__ == "__main__":
    sys.exit(main())
