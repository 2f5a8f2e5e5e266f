"""Two bursts of two frequencies in one interval, and what share of each standard's limit the worst half cycle is: writes
limits.json, which HalfCycleTests compares with.

    python3 limits.py >limits.json

The velocity is that of meter.py; between samples it is the Fourier series of the whole record, 32 points to a sample, not what
the station takes."""

import json
import numpy as np
from scipy import signal
from scipy.optimize import brentq

import meter

RATE, SECONDS, INTERVAL, FINE = 200, 20, 10, 32
FREQUENCIES = [1.5, 4, 8, 13, 22, 35, 50, 66]
# Of the first burst and of the second, mm/s.
AMPLITUDES = [(6, 14), (14, 6), (5, 30), (40, 11)]


def bursts(first, second, amplitudes):
    """Acceleration of one axis, m/s²: velocities of these amplitudes at 10 to 20 s; at 14 and 17.5 s."""
    t = np.arange(RATE * SECONDS) / RATE
    return sum(a * 1e-3 * 2 * np.pi * f * np.cos(2 * np.pi * f * (t - at)) * np.exp(-(((t - at) * min(f, 6) / 3) ** 2))
               for at, f, a in ((14, first, amplitudes[0]), (17.5, second, amplitudes[1])))


def velocity(x):
    low = meter.matched([(2 * np.pi * 100) ** 2], [1, np.sqrt(2) * 2 * np.pi * 100, (2 * np.pi * 100) ** 2], 100, RATE)
    at = np.exp(2j * np.pi * 0.32)
    c = brentq(lambda c: abs((at + c) / ((1 + c) * (at - 1))) - 1 / (2 * np.pi * 0.32), 0, 0.5)
    integral = (np.array([1, c]) / ((1 + c) * RATE), [1, -1])
    return 1000 * meter.integrate(*integral, meter.run([low, signal.butter(2, 0.8, "high", fs=RATE)], x))


def shares(v):
    fine = signal.resample(v, FINE * len(v))
    at = np.flatnonzero((fine[1:] < 0) != (fine[:-1] < 0))
    exact = at + fine[at] / (fine[at] - fine[at + 1])
    found = dict.fromkeys([*meter.CURVES, *meter.VECTOR], 0.0)
    for begin, end in zip(exact, exact[1:]):
        if end == begin:
            continue
        inside = np.abs(fine[max(int(np.ceil(begin)), 10 * FINE * RATE):int(end) + 1])
        for name, curve in (meter.CURVES | meter.VECTOR).items():
            if len(inside):
                found[name] = max(found[name], inside.max() / meter.limit(curve, FINE * RATE / (2 * (end - begin))))
    return list(found.values())


if __name__ == "__main__":
    cases = [shares(velocity(bursts(first, second, pair))) for first in FREQUENCIES for second in FREQUENCIES for pair in AMPLITUDES]
    text = ",\n".join(json.dumps([float(f"{one:.5g}") for one in case]) for case in cases)
    print(f'{{"limits": {json.dumps([*meter.CURVES, *meter.VECTOR])}, "frequencies": {FREQUENCIES}, "amplitudes": {[list(one) for one in AMPLITUDES]}, "shares": [\n{text}\n]}}')
