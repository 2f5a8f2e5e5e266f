"""Types the commands of a page in the terminal of a fresh machine, and compares what they print where the page shows it.

type.py LEADER PAGE PATH RECORD   LEADER: a process of the machine; PATH: a folder to be put into PATH, or empty
"""

import os
import re
import sys
import time

from terminal import Stuck, Terminal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs.d"))
from run import BLOCK, alike  # noqa: E402

# Blocks that the other check leaves out, and that are typed here: by the beginning or the end of their reason.
TYPED = ("needs a board with a sensor, and asks",)
TYPED_END = "deploy/checks/first-run types it"
# What a reader writes in the place of a name of the page.
FILLED = {"<address of this repository>": "/srv/seismote.git", "basement-north": "basement"}
# A command may end with this status, where the reason begins so: the machine has what it is about (no sensor, a clock that nobody sets).
MAY_END = {"ends with 1 where something is wrong": ("1",), "needs a sensor": ("1", "69")}


def blocks(text):
    """(line, words after the mark, commands, output that is shown) of each block of commands."""
    found = []
    for match in BLOCK.finditer(text):
        language, words, body = match.groups()
        if language == "bash":
            found.append([text[: match.start()].count("\n") + 1, words, body, None])
        elif language == "text" and words == "output" and found and found[-1][3] is None:
            found[-1][3] = body
    return found


def main():
    leader, page, path, record = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        all_ = blocks(file.read())
    terminal = Terminal(leader, path, record)
    typed, left_out, faults, differs, began = 0, {}, [], [], time.monotonic()
    for line, words, body, shown in all_:
        kind, _, rest = words.partition(" ")
        if kind != "run" and not rest.startswith(TYPED) and not rest.endswith(TYPED_END):
            left_out[rest] = left_out.get(rest, 0) + 1
            continue
        limit = int(rest) if rest.isdigit() else None
        for name, value in FILLED.items():
            body = body.replace(name, value)
        printed, started, number = "", time.monotonic(), len(terminal.questions)
        try:
            terminal.line("failed=")
            for one in body.rstrip("\n").split("\n"):
                # (A reader types slower than the filters of a station settle.)
                if one.startswith("seismote ctl test-event"):
                    terminal.line("while seismote ctl list | grep -q settling; do sleep 1; done", patience=120)
                typed += 1
                text = terminal.line(one, limit)
                # (In a terminal some programs print in colours.)
                printed += re.sub(r"\x1b\[[0-9;]*m", "", text) if not terminal.text.endswith("\x1e+ ") else ""
            failed = terminal.line("echo \"${failed# }\"").strip()
            for reason, statuses in MAY_END.items():
                if kind != "run" and rest.startswith(reason):
                    failed = " ".join(one for one in failed.split(";") if one.strip() and not one.endswith(tuple(f"[{status}]" for status in statuses)))
        except Stuck as error:
            faults.append(f"line {line}: neither ends nor asks:\n{error}")
            break
        seconds = time.monotonic() - started
        asked = terminal.questions[number:]
        print(f"  {page.rsplit('/', 1)[-1]}:{line}: {body.strip().splitlines()[0][:90]}"
              + (f" (+{len(body.strip().splitlines()) - 1} lines)" if "\n" in body.strip() else "")
              + f": {seconds:.0f} s" + (f", {len(asked)} questions" if asked else ""), flush=True)
        for question, answer in asked:
            print(f"      {question} <{answer or 'Enter'}>")
        if failed and not limit:
            faults.append(f"line {line}: failed: {failed}\n{printed[-3000:]}")
            # (Here a reader is stuck.)
            break
        elif shown and not asked and not alike(shown, printed):
            # (deploy/checks/docs compares it; here the commands that ask came before.)
            differs.append(f"line {line}: the page shows\n{shown}--\nit printed\n{printed[-3000:]}")
    terminal.close()
    print(f"{page.rsplit('/', 1)[-1]}: {typed} commands typed, {len(terminal.questions)} questions, {(time.monotonic() - began) / 60:.1f} minutes, "
          f"{sum(left_out.values())} blocks not typed, {len(faults)} failed, {len(differs)} printed something else than the page shows")
    for reason, count in sorted(left_out.items()):
        print(f"  not typed: {count}: {reason}")
    for one in differs:
        print("DIFFERS: " + one.replace("\n", "\n    "))
    for fault in faults:
        print("FAILED: " + fault.replace("\n", "\n    "))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
