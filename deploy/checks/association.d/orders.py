#!/usr/bin/env python3
"""`seismote network replay` gives the same bytes for any order of arrival inside the watermark (3 s).

    orders.py TOOL ONSETS.jsonl FOLDER [COUNT]

Puts the messages of a recorded file into COUNT other orders (default 3): each arrives up to 2.9 s after the time that it
speaks of; every second order has one in five of them twice. Fails unless all outputs are those of the file as it would
have been without any delay, byte for byte, and unless there is an event in it.
"""
import hashlib
import json
import pathlib
import random
import subprocess
import sys

from score import seconds


def spoken(message):
    """The newest time that it speaks of."""
    payload = message["payload"]
    known = [seconds(payload[key]) for key in ("t", "end") if payload.get(key)]
    return max(known + [seconds(payload["onset"]) + payload.get("duration_s", 0)])


def replay(tool, folder, name, messages):
    source, output = folder / f"{name}.jsonl", folder / f"{name}-events.jsonl"
    source.write_text("".join(json.dumps(one) + "\n" for one in messages))
    subprocess.run([tool, "network", "replay", source, "--output", output, "--quiet"], check=True)
    return output.read_bytes()


def main(tool, path, folder, count=3):
    folder.mkdir(parents=True, exist_ok=True)
    messages = [json.loads(line) for line in open(path, encoding="utf-8")]
    infos = [one for one in messages if one["topic"].endswith("/state/info")]
    triggers = sorted((one for one in messages if one["topic"].endswith("/event/trigger")), key=spoken)
    wanted = replay(tool, folder, "in-time", infos + [dict(one, arrival=spoken(one)) for one in triggers])
    if b'"event_type":"onset"' not in wanted:
        sys.exit(f"there is no network event in {path}")
    moved = 0
    for number in range(count):
        dice = random.Random(number)
        late = [dict(one, arrival=spoken(one) + dice.uniform(0, 2.9)) for one in triggers]
        if number % 2:
            late += [dict(one, arrival=spoken(one) + dice.uniform(0, 2.9)) for one in triggers if dice.random() < 0.2]
        late.sort(key=lambda one: one["arrival"])
        moved += sum(a["payload"] != b["payload"] for a, b in zip(late, triggers))
        if replay(tool, folder, f"order-{number}", infos + late) != wanted:
            sys.exit(f"order {number} gives another output than the messages in time: see {folder}")
    print(f"{len(triggers)} messages in {count} other orders ({moved} at another place): the same {len(wanted)} bytes, "
          f"{wanted.count(10)} messages, sha256 {hashlib.sha256(wanted).hexdigest()[:16]}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), *map(int, sys.argv[4:]))
