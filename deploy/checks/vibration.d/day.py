"""A day of a simulated building site as miniSEED, hour by hour: a building that swings at 2.37 and 3.10 Hz, and a little
faster when it is cold; piles from 8 to 11 h; lorries from 6 to 18 h; a machine of 12 Hz from 13 to 16 h; samples that are
missing from 12:10 to 12:25; the noise of an ADXL355."""

import numpy as np
import obspy
from scipy import signal

RATE, SCALE, HOUR = 200, 1e-6, 3600
MODES = ((2.37, 0.010, (1, 0.25, 0)), (3.10, 0.012, (-0.2, 1, 0)))


def write(path, begin, hours=24):
    """From `begin` (seconds of UTC, a whole hour) on; counts of 1e-6 m/s²."""
    chance = np.random.default_rng(7)
    state = [np.zeros(2) for _ in MODES]
    t = np.arange(RATE * HOUR) / RATE
    lorries = [at for hour in range(6, 18) for at in hour * HOUR + np.sort(chance.uniform(20, HOUR - 20, 9))]
    # (Blows of 40 minutes, and 20 for the next pile.)
    blows = [at for hour in (8, 9, 10) for at in hour * HOUR + 60 + np.cumsum(chance.uniform(1.3, 1.7, 1500))]
    with open(path, "wb") as file:
        for hour in range(hours):
            axes = [chance.normal(0, 0.00245, len(t)) for _ in range(3)]
            clock = (begin // HOUR + hour) % 24
            warm = np.sin(2 * np.pi * (clock - 9) / 24)
            for k, (hz, damping, shape) in enumerate(MODES):
                w = 2 * np.pi * hz * (1 - 0.006 * warm)
                b, a = signal.bilinear([2 * damping * w, 0], [1, 2 * damping * w, w * w], RATE)
                motion, state[k] = signal.lfilter(b, a, chance.normal(0, 0.02, len(t)), zi=state[k])
                for axis, share in zip(axes, shape):
                    axis += share * motion
            for blow in blows:
                _add(axes, t, blow - clock * HOUR, (0.006, 0.004, 0.008), (14, 18, 22), chance.uniform(0.5, 1.05))
            for passing in lorries:
                _pass(axes, t, passing - clock * HOUR, chance)
            if 13 <= clock < 16:
                axes[2] += 0.002 * 2 * np.pi * 12 * np.sin(2 * np.pi * 12 * t) * min(1, 0.7 + 0.1 * (clock - 12))
            axes[2] += 9.80665
            for name, axis in zip(("HNE", "HNN", "HNZ"), axes):
                counts = np.round(axis / SCALE).astype(np.int32)
                for first, last in ((0, 600), (1500, HOUR)) if clock == 12 else ((0, HOUR),):
                    header = {"network": "XX", "station": "SITE", "channel": name, "sampling_rate": RATE,
                              "starttime": obspy.UTCDateTime(begin + hour * HOUR + first)}
                    obspy.Trace(counts[first * RATE:last * RATE], header).write(file, format="MSEED", encoding="STEIM2", reclen=4096)


def _add(axes, t, at, sizes, hertz, strength):
    """A blow that rings: its velocity in m/s."""
    first, last = int(at * RATE), int((at + 2) * RATE)
    if first < 0 or last > len(t):
        return
    after = t[first:last] - at
    ringing = strength * np.exp(-after * 9) * (1 - np.exp(-after * 80))
    for axis, size, hz in zip(axes, sizes, hertz):
        axis[first:last] += np.gradient(size * ringing * np.sin(2 * np.pi * hz * after), 1 / RATE)


def _pass(axes, t, at, chance):
    """A lorry: noise of 8 to 16 Hz."""
    first, last = int((at - 15) * RATE), int((at + 15) * RATE)
    if first < 0 or last > len(t):
        return
    band = signal.sosfilt(signal.butter(4, (8, 16), "bandpass", fs=RATE, output="sos"), chance.normal(0, 1, last - first))
    band *= np.exp(-(((t[first:last] - at) / 6) ** 2))
    for axis, size in zip(axes, (0.04, 0.025, 0.06)):
        axis[first:last] += chance.uniform(0.5, 1.5) * size * band
