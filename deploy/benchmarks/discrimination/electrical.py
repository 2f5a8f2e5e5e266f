"""What a bad supply, a loose cable or a poor sensor adds to a signal: no ground moves. Any seed, any rate.

    spoil(kind, rng, a, rate, first)        a (3, n) in m/s² gets the fault from sample `first` on; KINDS lists the kinds
"""

import numpy as np
from scipy import signal

MG = 9.80665e-3


def _logu(rng, low, high):
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _axes(rng):
    """Of all axes alike, of all by chance, or of one."""
    kind = rng.integers(4)
    if kind == 0:
        return np.ones((3, 1))
    if kind < 3:
        return rng.uniform(0.2, 1, (3, 1))
    return np.eye(3)[:, [int(rng.integers(3))]]


def _span(rng, a, rate, first, shortest=0.3, longest=12):
    return first, min(a.shape[1], first + max(1, int(_logu(rng, shortest, longest) * rate)))


def white(rng, a, rate, first):
    """Three axes; 0.3 to 20 mg."""
    i, j = _span(rng, a, rate, first)
    a[:, i:j] += rng.normal(size=(3, j - i)) * _logu(rng, 0.3, 20) * MG * (1 if rng.random() < 0.5 else _axes(rng))


def one_axis(rng, a, rate, first):
    i, j = _span(rng, a, rate, first)
    a[int(rng.integers(3)), i:j] += rng.normal(size=j - i) * _logu(rng, 0.3, 30) * MG


def common(rng, a, rate, first):
    """The same noise on all axes: the supply's."""
    i, j = _span(rng, a, rate, first)
    a[:, i:j] += rng.normal(size=j - i) * _logu(rng, 0.3, 20) * MG * rng.uniform(-1, 1, (3, 1))


def pink(rng, a, rate, first):
    i, j = _span(rng, a, rate, first, 1)
    n = j - i
    f = np.fft.rfftfreq(n, 1 / rate)
    shape = 1 / np.maximum(f, 0.2) ** (rng.uniform(0.7, 1.3) / 2)
    x = np.fft.irfft(np.fft.rfft(rng.normal(size=(1 if rng.random() < 0.4 else 3, n)), axis=1) * shape, n, axis=1)
    a[:, i:j] += x / x.std() * _logu(rng, 0.3, 20) * MG * (rng.uniform(-1, 1, (3, 1)) if len(x) == 1 else _axes(rng))


def band(rng, a, rate, first):
    """Noise of a band."""
    i, j = _span(rng, a, rate, first, 0.5)
    low = _logu(rng, 0.5, 0.3 * rate)
    high = min(0.48 * rate, low * _logu(rng, 1.3, 8))
    x = signal.sosfilt(signal.butter(2, [low, high], "bandpass", fs=rate, output="sos"), rng.normal(size=(3, j - i)), axis=1)
    a[:, i:j] += x / max(x.std(), 1e-12) * _logu(rng, 0.3, 20) * MG * _axes(rng)


def mains(rng, a, rate, first):
    """50 or 60 Hz and harmonics, folded by the sampling, on and off or with the load."""
    i, j = _span(rng, a, rate, first, 0.5)
    t = np.arange(j - i) / rate
    base = (50 if rng.random() < 0.5 else 60) * (1 + 2e-4 * rng.normal())
    x = sum(_logu(rng, 0.05, 1) ** (k > 1) * np.sin(2 * np.pi * k * base * t + rng.uniform(0, 6)) for k in (1, 2, 3, 5))
    x = x * (1 if rng.random() < 0.5 else np.clip(np.sin(np.pi * t / t[-1]) * 3, 0, 1) if len(t) > 1 else 1)
    a[:, i:j] += x * _logu(rng, 0.3, 30) * MG * _axes(rng)


def tone(rng, a, rate, first):
    """A steady tone of any frequency: a switching supply's beat."""
    i, j = _span(rng, a, rate, first, 0.5)
    t = np.arange(j - i) / rate
    f = _logu(rng, 0.7, 0.48 * rate) * (1 + rng.choice([0, 0.1]) * t / max(t[-1], 1e-9))
    a[:, i:j] += np.sin(2 * np.pi * np.cumsum(f) / rate) * _logu(rng, 0.3, 20) * MG * _axes(rng)


def spikes(rng, a, rate, first):
    """Single samples on all axes at once, each by chance."""
    i, j = _span(rng, a, rate, first, 0.5, 10)
    size = _logu(rng, 5, 500) * MG
    for k in rng.integers(i, j, size=int(_logu(rng, 2, 80))):
        a[:, k] += rng.normal(size=3) * size


def axis_spikes(rng, a, rate, first):
    """Single samples, each on one axis: always the same or any."""
    i, j = _span(rng, a, rate, first, 0.5, 10)
    size, one = _logu(rng, 5, 500) * MG, int(rng.integers(3)) if rng.random() < 0.5 else None
    for k in rng.integers(i, j, size=int(_logu(rng, 2, 80))):
        a[int(rng.integers(3)) if one is None else one, k] += rng.normal() * size


def steps(rng, a, rate, first):
    """The offset jumps, for good or to and fro."""
    i, j = _span(rng, a, rate, first, 0.3, 8)
    size, shape = _logu(rng, 1, 100) * MG, _axes(rng)
    for k in np.sort(rng.integers(i, j, size=int(rng.integers(1, 8)))):
        a[:, k:] += rng.normal() * size * shape


def telegraph(rng, a, rate, first):
    """A contact that opens and closes: two levels, at random."""
    i, j = _span(rng, a, rate, first, 0.5)
    level = np.cumsum(rng.random(j - i) < _logu(rng, 0.5, 0.3 * rate) / rate) % 2
    a[:, i:j] += level * _logu(rng, 1, 60) * MG * _axes(rng) * rng.choice([-1, 1], (3, 1))


def bursts(rng, a, rate, first):
    """Packets of white noise of 20 to 300 ms."""
    i, j = _span(rng, a, rate, first, 0.5, 10)
    size, shape = _logu(rng, 1, 60) * MG, _axes(rng)
    for k in rng.integers(i, j, size=int(_logu(rng, 1, 15))):
        end = min(a.shape[1], k + max(1, int(_logu(rng, 0.02, 0.3) * rate)))
        a[:, k:end] += rng.normal(size=(3, end - k)) * size * shape


def dropouts(rng, a, rate, first):
    """Samples that read as zero, or the last value again and again: gravity disappears, or the signal stands."""
    i, j = _span(rng, a, rate, first, 0.5, 8)
    zero, size = rng.random() < 0.5, 9.80665 if rng.random() < 0.3 else _logu(rng, 5, 300) * MG
    for k in rng.integers(i, j, size=int(_logu(rng, 1, 30))):
        end = min(a.shape[1], k + max(1, int(_logu(rng, 0.01, 0.2) * rate)))
        if zero:
            a[2, k:end] -= size
        else:
            a[:, k:end] = a[:, [max(0, k - 1)]] + rng.normal(size=(3, 1)) * 0.05 * size


def quantisation(rng, a, rate, first):
    """Coarse steps from `first` on: a range that has switched, with some more noise that toggles the last bit."""
    step = _logu(rng, 1, 16) * MG
    part = a[:, first:] + rng.uniform(-0.5, 0.5, (3, 1)) * step + rng.normal(size=a[:, first:].shape) * step * rng.uniform(0.05, 0.3)
    a[:, first:] = np.round(part / step) * step


KINDS = {f.__name__: f for f in (white, one_axis, common, pink, band, mains, tone, spikes, axis_spikes, steps, telegraph,
                                 bursts, dropouts, quantisation)}

# The three cases that a program of 2026 took for earthquakes 158 times of 174.
CASES = ("2 mg for 5 s", "10 mg for 2 s", "50 spikes in 3 s")
# White noise of 2 m/s².
STRONG = "204 mg for 5 s"


def case(name, rng, a, rate, first):
    """White noise on three axes."""
    if name == CASES[2]:
        for k in rng.integers(first, first + int(3 * rate), size=50):
            a[:, k] += rng.normal(size=3) * 50 * MG
    else:
        mg, _, _, seconds, _ = name.split()
        mg, seconds = float(mg), int(seconds)
        n = int(seconds * rate)
        a[:, first : first + n] += rng.normal(size=(3, n)) * mg * MG


def spoil(kind, rng, a, rate, first):
    (KINDS[kind] if kind in KINDS else lambda *rest: case(kind, *rest))(rng, a, rate, first)
