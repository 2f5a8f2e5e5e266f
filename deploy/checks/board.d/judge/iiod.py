"""Did the agent outside find the earthquake over the network? The guest runs in real time on a machine that may be busy,
so the bounds are loose.

iiod.py TOOL FOLDER ROOT NAME
"""

import os
import sys

from .journal import Journal
from .messages import blocks, stations
from .verdict import verdict


def main(folder, root, name):
    station = stations(os.path.join(folder, "received"), root).get(name)
    if station is None:
        print("WRONG: nothing was published")
        return True
    samples = [value for _, _, _, values in blocks(station) for value in values]
    journal = Journal(os.path.join(folder, "iio-lis3dh"))
    strongest = max(abs(x) for x, _, _ in journal.counts) * journal.count
    got = max((abs(x) for x, _, _ in samples), default=0)
    events = station.ended() or [event for event in station.of("event/trigger")]
    # At the end the server has gone, and with it the sensor.
    info = next((info["sensor"] for info in reversed(station.of("state/info")) if "sensor" in info), None)
    if info is None:
        print("WRONG: the sensor was never open")
        return True
    print(f"{name}: {info['driver']} {info['chip']} at {info['rate_hz']} Hz over the network: {len(samples)} samples of "
          f"{len(journal.counts)} that the chip gave, {len(events)} events, strongest x {got:.3f} of {strongest:.3f} m/s²")
    problems = []
    if len(samples) < 0.7 * len(journal.counts):
        problems.append("too few samples")
    if not events:
        problems.append("the earthquake was not found")
    if not 0.8 * strongest < got < 1.01 * strongest:
        problems.append("the strongest motion is not that of the chip")
    return verdict(problems, name)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[2:]))
