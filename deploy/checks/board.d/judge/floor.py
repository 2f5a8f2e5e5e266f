"""Is the floor of vibration that of the chip's own noise?

floor.py FOLDER ROOT BAND RATE CHIP:DENSITY...: against the noise that each chip was given (µg/√Hz) and the step of its
numbers, through the filters of the band: v² = ∫ S |H|² / (2πf)² df.
"""

import math
import os
import sys

from .messages import stations
from .verdict import verdict

BANDS = {"din": (0.8, 100), "din315": (0.8, 400), "machine": (8, 1250)}
# Intervals have 10 s of a noise whose power lies near the lower corner: their rms scatters by a fifth, the mean of all by less.
LIMIT = 0.2


def expected(density, high, low, top):
    """rms of the velocity in mm/s of a white acceleration (m/s²/√Hz) through Butterworth filters of second order."""
    total, steps = 0.0, 20_000
    for k in range(steps):
        f = high / 8 * (top * 8 / high) ** ((k + 0.5) / steps)
        gain = 1 / (1 + (high / f) ** 4) / (1 + (f / low) ** 4)
        total += density**2 * gain / (2 * math.pi * f) ** 2 * f * math.log(top * 8 / high) / steps
    return 1000 * math.sqrt(total)


def judge(station, band, rate, density):
    """Prints what was measured; gives what is not as it must be."""
    if station is None or not station.of("data/vibration"):
        return ["no interval was published"]
    intervals = station.of("data/vibration")
    sensor = station.of("state/info")[-1]["sensor"]
    # The chip had the same numbers at whatever rate it has, and rounds them.
    true, step = sensor["rate_hz"], sensor.get("resolution") or 0
    power = (density * 9.80665e-6) ** 2 * rate / 2 + step**2 / 12
    wanted = expected(math.sqrt(2 * power / true), *BANDS[band], true / 2)
    complete = [one for one in intervals if one["seconds"] > 9.9]
    if len(complete) < 5:
        return [f"only {len(complete)} complete intervals"]
    problems, last = [], complete[-1]
    mean = sum(one[axis]["rms"] for one in complete for axis in "xyz") / (3 * len(complete))
    floors = [last[axis]["floor"]["rms"] for axis in "xyz"]
    peaks = [last[axis]["floor"]["ppv"] for axis in "xyz"]
    for axis, floor in zip("xyz", floors):
        if abs(floor / min(one[axis]["rms"] for one in complete) - 1) > 1e-6:
            problems.append(f"{axis}: the floor is not the quietest interval")
    if abs(mean / wanted - 1) > LIMIT:
        problems.append(f"rms {mean:.4f} mm/s, not {wanted:.4f}")
    if not all(one[axis].get("below_floor") is True for one in complete[4:] for axis in "xyz"):
        problems.append("quiet is not below three times the floor")
    print(f"{band:8} {true:7.1f} Hz {density:5.0f} µg/√Hz: rms {mean:.4f} mm/s (expected {wanted:.4f}), floor rms "
          f"{min(floors):.4f} to {max(floors):.4f}, ppv {min(peaks):.3f} to {max(peaks):.3f}; {len(complete)} intervals")
    return problems


if __name__ == "__main__":
    folder, root, band, rate, *chips = sys.argv[1:]
    found = stations(os.path.join(folder, "received"), root)
    bad = []
    for chip, density in (one.split(":") for one in chips):
        print(f"{chip:10}", end=" ", flush=True)
        bad.append(verdict(judge(found.get(f"i2c-{chip}"), band, float(rate), float(density)), chip))
    sys.exit(any(bad))
