"""How soon is the alarm's line on, of a hundred alarms and more; does the button silence it, does the test by command play what
it says?

alarms.py FOLDER ROOT BURSTS: the kernel's trace of its GPIO lines against the messages and the chips' journals. All times are
those of the board's clock, which stands while this machine does.
"""

import bisect
import json
import os
import re
import statistics
import sys

from .journal import Journal
from .messages import nanoseconds, stations
from .verdict import verdict

LINES = {"first": 0, "second": 1}
LATENCY_MS, LEAST = 20, 100
DURATION, TOLERANCE = 1.0, 0.02  # s
# A press counts when it has lasted for 20 ms.
PRESSED_MS = (20, 40)
PRESSES = 3


def changes(folder, line):
    """[(ns of UTC, on)] of a line, by the kernel's trace."""
    with open(os.path.join(folder, "clock.json"), encoding="ascii") as file:
        clock = json.load(file)
    form = re.compile(rf"\s(\d+)\.(\d{{6}}): gpio_value: {clock['base'] + line} set (\d)")
    found, state = [], False
    with open(os.path.join(folder, "trace"), encoding="ascii") as file:
        for match in filter(None, map(form.search, file)):
            on = match[3] == "1"
            if on != state:
                found.append((int(match[1]) * 10**9 + int(match[2]) * 1000 + clock["to_wall"], on))
            state = on
    return found


def at(line, moment):
    """Whether a line was on at a moment."""
    place = bisect.bisect(line, (moment, True)) - 1
    return place >= 0 and line[place][1]


def alarms(station, journal):
    """When the sample was taken that made it an alarm, of each event."""
    taken, found = sorted(journal.taken), {}
    for event in station.of("event/trigger"):
        if event.get("alarm") and event["event_id"] not in found:
            told = nanoseconds(event["onset"]) + round(event["duration_s"] * 1e9)
            place = bisect.bisect(taken, told)
            found[event["event_id"]] = min(taken[max(0, place - 1):place + 1], key=lambda one: abs(one - told))
    return sorted(found.values())


def latencies(folder, root, bursts, problems):
    """Of all alarms of both stations, in ms; what else is wrong with them is added to the problems."""
    found, result = stations(os.path.join(folder, "received"), root), []
    with open(os.path.join(folder, "presses.json"), encoding="ascii") as file:
        presses = json.load(file)
    for name, number in LINES.items():
        line = changes(folder, number)
        samples = alarms(found[name], Journal(os.path.join(folder, name))) if name in found else []
        ons = [moment for moment, on in line if on]
        late, lasted = [], []
        for sample in samples:
            on = next((moment for moment in ons if moment > sample - 5e6), None)
            off = next((moment for moment, is_on in line if on is not None and moment > on and not is_on), None)
            if on is None or off is None or on - sample > 1e9:
                problems.append(f"{name}: an alarm without its line")
                continue
            late.append((on - sample) / 1e6)
            if not any(on < press < off for press in presses) or name != "first":
                lasted.append((off - on) / 1e9)
        tests = [ons for ons in ons if samples and ons > samples[-1] + 2e9]
        if len(ons) - len(tests) != len(samples):
            problems.append(f"{name}: the line was on {len(ons) - len(tests)} times, alarms: {len(samples)}")
        if len(samples) < bursts:
            problems.append(f"{name}: {len(samples)} alarms of {bursts}")
        wrong = [one for one in lasted if abs(one - DURATION) > TOLERANCE]
        if wrong:
            problems.append(f"{name}: the line was on for {', '.join(f'{one:.3f}' for one in wrong)} s")
        if late:
            print(f"{name:8} {len(late)} alarms, the line was on for {min(lasted):.3f} to {max(lasted):.3f} s,"
                  f" latest {max(late):.1f} ms after the sample")
        result += late
    return sorted(result)


def silenced(folder, problems):
    """The button ends an alarm, and the next one is heard again."""
    with open(os.path.join(folder, "presses.json"), encoding="ascii") as file:
        presses = json.load(file)
    line = changes(folder, LINES["first"])
    delays = []
    for press in presses:
        off = next((moment for moment, on in line if moment > press and not on), None)
        if not at(line, press) or off is None:
            problems.append("the button was pressed, the line did not go off")
        else:
            delays.append((off - press) / 1e6)
    print(f"button   {len(presses)} presses at an alarm each, off after {', '.join(f'{one:.1f}' for one in delays)} ms"
          " (20 of them debouncing)")
    if len(delays) != PRESSES or any(not PRESSED_MS[0] <= one <= PRESSED_MS[1] for one in delays):
        problems.append(f"button: {PRESSES} times within {PRESSED_MS[0]} to {PRESSED_MS[1]} ms is wanted")


def tested(folder, root, problems):
    """The line plays the pattern that the reply names."""
    line = changes(folder, LINES["first"])
    replies = {}
    with open(os.path.join(folder, "received"), encoding="utf-8", errors="replace") as file:
        for arrival, topic, payload in (text.split(" ", 2) for text in file if " " in text and text.count(" ") >= 2):
            match = re.fullmatch(re.escape(root) + r"/first/res/(\w+)", topic)
            if match:
                replies.setdefault(match[1], []).append(json.loads(payload))
    for name, step in (("random", 0.25), ("given", 0.1)):
        told = replies.get(name, [])
        reply = told[-1] if told else {}
        if reply.get("phase") != "done":
            problems.append(f"alarm-test {name}: {reply or 'no reply'}")
            continue
        pattern = reply["result"]["pattern"]
        begin = nanoseconds(next(one["t"] for one in told))
        # The first step that is on: from the pattern's first 1 on, each step is looked at in its middle.
        first = pattern.find("1")
        if first < 0:
            problems.append(f"alarm-test {name}: the pattern {pattern} switches nothing")
            continue
        start = next((moment for moment, on in line if on and moment > begin - 1e9), None)
        played = "" if start is None else "".join(
            str(int(at(line, start + (place - first + 0.5) * step * 1e9))) for place in range(len(pattern)))
        print(f"test     {name}: said {pattern}, on the line {played}, steps of {step} s")
        if played != pattern or (name == "given" and pattern != "1100101110001"):
            problems.append(f"alarm-test {name}: {pattern} was to be played, the line played {played or 'nothing'}")
        if name == "random" and not (len(pattern) == 16 and len(set(pattern)) == 2):
            problems.append(f"alarm-test {name}: {pattern}")
    stopped, silence = replies.get("stopped", [{}])[-1], replies.get("silenced", [{}])[-1]
    lasted = (line[-1][0] - line[-2][0]) / 1e9 if len(line) > 1 else 0
    print(f"silence  a test of 4 s was ended after {lasted:.2f} s")
    if silence.get("result", {}).get("silenced") is not True or stopped.get("phase") != "failed" or not 0.5 < lasted < 3.5:
        problems.append(f"silence: {silence}; the test: {stopped}")
    if line and line[-1][1]:
        problems.append("the line is on at the end")


def judge(folder, root, bursts):
    """Prints the figures; gives what is not as it must be."""
    problems = []
    late = latencies(folder, root, int(bursts), problems)
    if len(late) < LEAST:
        problems.append(f"{len(late)} alarms, at least {LEAST} are wanted")
    if late:
        p99 = late[min(len(late) - 1, int(0.99 * len(late)))]
        print(f"sample to line: {len(late)} alarms, earliest {late[0]:.1f} ms, median {statistics.median(late):.1f} ms,"
              f" p99 {p99:.1f} ms, latest {late[-1]:.1f} ms")
        if p99 >= LATENCY_MS or late[0] < 0:
            problems.append(f"p99 is {p99:.1f} ms, the earliest {late[0]:.1f} ms: 0 to {LATENCY_MS} ms is wanted")
    silenced(folder, problems)
    tested(folder, root, problems)
    return problems


if __name__ == "__main__":
    sys.exit(verdict(judge(*sys.argv[1:])))
