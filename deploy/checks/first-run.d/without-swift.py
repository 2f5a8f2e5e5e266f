"""What the first commands say on a Debian 12 without Swift: it is named before anything is installed.

without-swift.py LEADER
"""

import sys
import time

from terminal import Terminal

terminal = Terminal(sys.argv[1], "", "/dev/null")
said = terminal.line("sudo apt-get update -qq && sudo apt-get install -y -qq git >/dev/null && git clone -q /srv/seismote.git seismote && cd seismote; pwd")
wrong = 0
if not said.strip().endswith("/seismote"):
    sys.exit(f"FAILED: the source is not there: {said}")
for command in ("deploy/try", "deploy/install", "deploy/test", "deploy/package --here"):
    terminal.line("dpkg-query -W >/tmp/before")
    began = time.monotonic()
    said = terminal.line(f"{command}; echo status $?").strip()
    changed = terminal.line("dpkg-query -W | comm -13 /tmp/before - | wc -l").strip()
    print(f"  {command}: {said} ({time.monotonic() - began:.1f} s, {changed} packages installed)")
    if "Swift" not in said or "swift.org" not in said or changed != "0" or "status 0" in said:
        wrong += 1
        print(f"FAILED: {command}: Swift is not asked for first")
for command in ("deploy/try --help", "deploy/install --help", "deploy/test --help"):
    terminal.line("dpkg-query -W >/tmp/before")
    said = terminal.line(f"{command} | head -3")
    changed = terminal.line("dpkg-query -W | comm -13 /tmp/before - | wc -l").strip()
    if changed != "0" or len(said) < 40:
        wrong += 1
        print(f"FAILED: {command}: {changed} packages installed: {said}")
terminal.line("cd; rm -rf seismote")
terminal.close()
sys.exit(1 if wrong else 0)
