"""Are the events that came out of the guest those of `seismote replay` of the same samples?

quake.py TOOL FOLDER ROOT NAME...: for each chip NAME in FOLDER, puts the samples that it handed out, from the first that
the agent published, into a CSV file, replays that, and compares the events: how many, onset to 0.2 sample, peaks, pga,
intensity and duration.
"""

import functools
import json
import math
import os
import subprocess
import sys

from .journal import Journal
from .match import Match
from .messages import blocks, nanoseconds
from .verdict import each

ONSET_LIMIT = 0.2  # samples
PART = 1e-4  # by which amplitudes may differ: messages have four digits or more


def replay(tool, folder, name, rate, start, values):
    """`end` messages of a replay of samples in m/s² whose first was taken at `start` (ns)."""
    recording = os.path.join(folder, name + ".csv")
    with open(recording, "w", encoding="ascii") as file:
        file.write("t,x,y,z\n")
        for i, sample in enumerate(values):
            moment = start + round(i * 1e9 / rate)
            file.write(f"{moment // 10**9}.{moment % 10**9:09d},{','.join(map(repr, sample))}\n")
    output = os.path.join(folder, name + ".jsonl")
    settings = ["--set", "detection.sta_lta.lta_s=10"]
    subprocess.run([tool, "replay", recording, "--output", output, *settings], check=True, stdout=subprocess.DEVNULL)
    events = []
    with open(output, encoding="utf-8") as file:
        for line in file:
            message = json.loads(line)
            if message["topic"].endswith("event/trigger") and message["payload"]["event_type"] == "end":
                events.append(message["payload"])
    return events


def amplitudes(event):
    """{name: number} of what is compared."""
    found = {axis: peak["value"] for axis, peak in event["peaks"].items()}
    for key in ("pga", "pgv", "cav", "arias", "duration_s"):
        found[key] = event[key]
    for scale in event["intensity"]:
        found["intensity " + scale["scale"]] = scale["value"]
    return {name: value for name, value in found.items() if value is not None}


def compare(tool, folder, name, station):
    """Prints a line; gives the reasons for which it is not as it must be."""
    journal = Journal(os.path.join(folder, name))
    if station is None:
        return ["nothing was published"]
    scale_file = os.path.join(folder, name + ".scale")
    count = None
    problems = []
    if os.path.exists(scale_file):
        with open(scale_file, encoding="ascii") as file:
            count = float(file.read())
        # The kernel counts some chips in finer steps than they have.
        count *= 2.0 ** round(math.log2(journal.count / count))
        if abs(count / journal.count - 1) > 2e-3:
            problems.append(f"the kernel's scale is {count}, the data sheet's {journal.count}")
    found = list(blocks(station))
    match = Match(found, journal, count)
    if match.unpublished() or match.strangers() or match.breaks:
        problems.append(f"{match.unpublished()} samples lost, {match.strangers()} that the chip never gave")
    rate = found[0][2]
    expected = replay(tool, folder, name, rate, found[0][0], match.values)
    got = station.ended()
    if len(got) != len(expected) or not got:
        return problems + [f"{len(got)} events, the replay has {len(expected)}"]
    worst_onset = worst = 0.0
    for event, twin in zip(got, expected):
        place = (nanoseconds(twin["onset"]) - found[0][0]) / 1e9 * rate
        index = match.index[round(place)]
        # When the sample of the onset was taken (i2c) or read (iio: the kernel stamps the moment of reading).
        clock = journal.read if name.startswith("iio") else journal.taken
        late = (nanoseconds(event["onset"]) - clock[index]) / 1e9 * rate - (place - round(place))
        worst_onset = max(worst_onset, abs(late))
        here, there = amplitudes(event), amplitudes(twin)
        if set(here) != set(there):
            problems.append(f"not the same fields: {sorted(set(here) ^ set(there))}")
        for key in set(here) & set(there):
            size = max(abs(there[key]), 1e-9)
            if abs(here[key] - there[key]) / size > PART:
                problems.append(f"{key} is {here[key]}, in the replay {there[key]}")
            worst = max(worst, abs(here[key] - there[key]) / size)
    if worst_onset > ONSET_LIMIT:
        problems.append(f"an onset is off by {worst_onset:.3f} samples")
    print(f"{name:15} {len(match.index):6} samples, lost {match.unpublished()}, events {len(got)} as in the replay; "
          f"pga {got[-1]['pga']:.4g} m/s², {got[-1]['intensity'][0]['scale']} {got[-1]['intensity'][0]['value']:.2f}; "
          f"onset off by {worst_onset:.3f} sample, amplitudes by {worst:.1e}")
    return problems


def main(tool, folder, root, *names):
    return each(functools.partial(compare, tool), folder, root, names)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
