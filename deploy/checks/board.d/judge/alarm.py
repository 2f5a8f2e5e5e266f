"""Was the alarm's line on when it had to be, soon, and off again whatever happened?

alarm.py FOLDER ROOT QUIET: the relay's journal against the messages and the chips' journals.
"""

import json
import os
import sys

from .journal import Journal
from .messages import nanoseconds, stations
from .verdict import verdict

LINES = ["steps", "killed", "jammed", "full"]
LATENCY = 0.02  # s, from the sample to the line
DURATION = 20.0  # s


def judge(folder, root, quiet):
    """Prints a line for each station; gives what is not as it must be."""
    with open(os.path.join(folder, "relay.json"), encoding="ascii") as file:
        journal = json.load(file)["events"]
    found = stations(os.path.join(folder, "received"), root)
    begin = Journal(os.path.join(folder, "killed")).begin
    problems = []
    for line, name in enumerate(LINES):
        changes = [((event["t"] - begin) / 1e9, event["what"].split()[2] == "1")
                   for event in journal if event["what"].startswith(f"line {line} ")]
        told = ", ".join(f"{'on' if on else 'off'} {at:.2f} s" for at, on in changes)
        events = found[name].of("event/trigger") if name in found else []
        alarms = [event for event in events if event.get("alarm")]
        if name == "steps":
            onsets = sum(event["event_type"] == "onset" for event in events)
            classes = {event["class"]["likely"] for event in events if "class" in event}
            print(f"{name:8} {onsets} events, {', '.join(sorted(classes))}; the line: {told or 'never on'}")
            if changes or alarms or not onsets:
                problems.append("footsteps: an alarm, or no event at all")
            continue
        if not alarms or [on for _, on in changes[:2]] != [True, False]:
            problems.append(f"{name}: {len(alarms)} messages with an alarm; the line: {told or 'never on'}")
            continue
        # The sample that made it an alarm is the last one that the first message with it tells of.
        first = alarms[0]
        sample = (nanoseconds(first["onset"]) - begin) / 1e9 + first["duration_s"]
        latency = changes[0][0] - sample
        lasted = changes[1][0] - changes[0][0]
        print(f"{name:8} earthquake at {float(quiet):.0f} s, alarm {sample:.2f} s, line {told}: {1000 * latency:.1f} ms after the sample")
        if not -0.005 <= latency <= LATENCY:
            problems.append(f"{name}: the line came {1000 * latency:.1f} ms after the sample")
        if name == "killed":
            # Claimed again, off, by the agent that comes after it.
            if not 4 <= lasted <= 12:
                problems.append(f"{name}: the line was on for {lasted:.1f} s")
        elif abs(lasted - DURATION) > 0.1:
            problems.append(f"{name}: the line was on for {lasted:.1f} s")
    return problems


if __name__ == "__main__":
    sys.exit(verdict(judge(*sys.argv[1:])))
