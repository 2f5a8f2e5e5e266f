"""The tutorial, word by word, on a whole board: its commands are taken from its text; see deploy/checks/delivery-board. In a
network of its own.

tutorial.py IMAGE WORK     WORK: repository (signed), along-tutorial (what Debian has of it), world.csv, tutorial.md"""
import os
import re
import signal
import sys
import time

import machines
from board import Board
from run import SETTLED, alike

image, work = sys.argv[1:3]
patience = 600
BLOCK = re.compile(r"^```(\w*)[ ]*(.*?)\n(.*?)^```$", re.M | re.S)
# What is no command for this board: it is no Raspberry Pi; the conversation is deploy/checks/setup's.
ELSEWHERE = {"needs a Raspberry Pi", "needs a board with a sensor, and asks"}

signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
text = open(os.path.join(work, "tutorial.md"), encoding="utf-8").read()
machines.serve(work, ["repository", "along-tutorial"])
board = Board(image, os.path.join(work, "tutorial"))
run = left = 0
begun = time.monotonic()
try:
    board.start(patience)
    board.attempt("systemctl is-system-running --wait")
    # As somebody finds it who has Raspberry Pi OS: the name that was given to it, sudo, a sensor that is wired.
    board.run("hostname basement; echo basement >/etc/hostname; sed -i 's/board$/basement basement.local/' /etc/hosts")
    board.run("printf '#!/bin/sh\\nexec \"$@\"\\n' >/usr/local/bin/sudo; chmod +x /usr/local/bin/sudo")
    board.run("echo 'APT::Get::Assume-Yes \"true\";' >/etc/apt/apt.conf.d/99yes")
    machines.sensor(board, work)
    board.put("/etc/apt/keyrings/seismote.gpg", open(os.path.join(work, "repository/key.gpg"), "rb").read())
    board.run("""echo 'deb [trusted=yes] http://packages/along-tutorial ./' >/etc/apt/sources.list.d/debian.list
        echo 'deb [signed-by=/etc/apt/keyrings/seismote.gpg] http://packages/repository trixie main older' >/etc/apt/sources.list.d/seismote.list""")
    # (By it the board is found as basement.local.)
    board.run("apt-get update && apt-get install avahi-daemon 2>&1 && systemctl is-active avahi-daemon")
    print(f"avahi-daemon, which Raspberry Pi OS has: {time.monotonic() - begun:.0f} s after the board was switched on", flush=True)
    said = ""
    for match in BLOCK.finditer(text):
        language, words, body = match.groups()
        line = text[: match.start()].count("\n") + 1
        if language == "bash":
            kind, _, rest = words.partition(" ")
            if kind == "not-run" and rest in ELSEWHERE:
                left += 1
                print(f"tutorial.md:{line}: not run: {rest}", flush=True)
                said = None
                continue
            moment = time.monotonic()
            # A reader types slower than the filters of a station settle.
            body = body.replace("seismote ctl test-event", SETTLED + "seismote ctl test-event")
            status, said = board.attempt("export LC_ALL=C.UTF-8 TERM=dumb; cd /root; set -eo pipefail\n" + body, limit=patience)
            print(f"tutorial.md:{line}: {time.monotonic() - moment:.0f} s: {body.splitlines()[0]}", flush=True)
            if status:
                raise SystemExit(f"NOT SO: tutorial.md:{line}: exit status {status} of\n{body}\n{said}")
            run += 1
        elif words == "output" and said is not None and not alike(body.lstrip("\n"), said):
            raise SystemExit(f"NOT SO: tutorial.md:{line} says\n{body}\nthe board said\n{said}")
    found = board.run("seismote probe")
    print("\n".join("    " + one for one in found.splitlines()))
    if not re.search(r"adxl345 +certain", found):
        raise SystemExit("NOT SO: the sensor is found")
finally:
    board.cut()
print(f"{run} blocks of the tutorial were run, {left} not; {time.monotonic() - begun:.0f} s")
