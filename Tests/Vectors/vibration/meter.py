"""What vibration amounts to in intervals, by SciPy: writes meter.json, which MeterReferenceTests compares with.

    python3 meter.py >meter.json

Whole arrays, scipy.signal and numpy; made from the definitions (DIN 45669-1, ISO 2631-1, BS 6472-1, and the notes in
deploy/docs/understand/vibration.md on how analogue filters become digital), not from the Swift sources."""

import json
import numpy as np
from scipy import signal
from scipy.optimize import brentq

WEIGHTINGS = {  # f1, f2, Q1, f3, f4, Q4, step (f5, Q5, f6, Q6, gain)
    "wk": (0.4, 100, 0.71, 12.5, 12.5, 0.63, (2.37, 0.91, 3.35, 0.91, 1)),
    "wd": (0.4, 100, 0.71, 2, 2, 0.63, None),
    "wm": (0.7943, 100, 0.71, 5.684, 5.684, 0.5, None),
    "wb": (0.4, 100, 0.71, 16, 16, 0.55, (2.5, 0.9, 4, 0.95, 1.024)),
}


def prewarped(b, a, f, rate):
    """The bilinear transform, exact at a frequency."""
    w = 2 * np.pi * f
    return signal.bilinear(b, a, w / (2 * np.tan(w / (2 * rate))))


def matched(b, a, f, rate):
    """Poles exp(sT); numerator by the analogue gain at 0, at min(f, 0.16 rate) and at 0.32 rate."""
    poles = np.exp(np.roots(a) / rate)
    den = np.real(np.poly(poles))
    points = np.array([0, min(f, 0.16 * rate), 0.32 * rate])
    analogue = np.abs(signal.freqs(b, a, 2 * np.pi * points)[1]) ** 2
    digital = np.abs(np.polyval(den, np.exp(2j * np.pi * points / rate))) ** 2
    # |b0 + b1/z + b2/z²|² = c0 + c1 cos w + c2 cos 2w
    w = 2 * np.pi * points / rate
    c0, c1, c2 = np.linalg.solve(np.stack([np.ones(3), np.cos(w), np.cos(2 * w)], 1), analogue * digital)
    # Spectral factorization: b0 b2 = c2/2, b1 (b0 + b2) = c1/2, b0² + b1² + b2² = c0.
    total, difference = np.sqrt(max(c0 + c1 + c2, 0)), np.sqrt(max(c0 - c1 + c2, 0))
    even, b1 = (total + difference) / 2, (total - difference) / 2
    b0 = (even + np.sqrt(even * even - 2 * c2)) / 2
    return np.array([b0, b1, even - b0]), den


def weighting(name, rate):
    f1, f2, q1, f3, f4, q4, step = WEIGHTINGS[name]
    w1, w2, w3, w4 = (2 * np.pi * f for f in (f1, f2, f3, f4))
    filters = [
        prewarped([1, 0, 0], [1, w1 / q1, w1**2], f1, rate),
        matched([w2**2], [1, w2 / q1, w2**2], f2, rate),
        matched([w4**2 / w3, w4**2], [1, w4 / q4, w4**2], f4, rate),
    ]
    if step:
        f5, q5, f6, q6, gain = step
        w5, w6 = 2 * np.pi * f5, 2 * np.pi * f6
        filters.append(prewarped(np.array([1, w5 / q5, w5**2]) * gain, [1, w6 / q6, w6**2], f6, rate))
    return filters


def slowest(filters):
    return max(max(abs(np.roots(a))) for _, a in filters)


def run(filters, x):
    """As if the first sample had always been the input."""
    for b, a in filters:
        x = signal.lfilter(b, a, x, zi=signal.lfilter_zi(b, a) * x[0])[0]
    return x


def integrate(b, a, x):
    """From rest."""
    return signal.lfilter(b, a, x)


def quarters(v):
    """v at every quarter of a sample; the first and the last 8 samples are not to be used."""
    fine = np.zeros(4 * len(v))
    fine[::4] = v
    for quarter in (1, 2, 3):
        x = quarter / 4 - (np.arange(16) - 7)
        h = np.sinc(x) * np.i0(6 * np.sqrt(np.maximum(0, 1 - (x / 8) ** 2)))
        h /= h.sum()
        fine[quarter::4] = np.convolve(v, h[::-1])[8 : 8 + len(v)]
    return fine


def peak(fine, i):
    """The largest |v| around sample i, and how many samples after it."""
    sign = -1 if fine[4 * i] < 0 else 1
    around = sign * fine[4 * i - 3 : 4 * i + 4]
    around[3] = abs(fine[4 * i])
    k = int(np.argmax(around))
    if 0 < k < 6:
        a, b, c = around[k - 1], around[k], around[k + 1]
        shift = np.clip((a - c) / (2 * (a - 2 * b + c)), -0.5, 0.5) if a - 2 * b + c < 0 else 0
        return b - (a - c) * shift / 4, (k - 3 + shift) / 4
    return around[k], (k - 3) / 4


def crossings(v, fine):
    """Where v crosses zero: straight between quarters of a sample."""
    found = []
    for i in np.flatnonzero((v[1:] < 0) != (v[:-1] < 0)):
        low, high = 4 * i, 4 * i + 4
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if (fine[middle] < 0) == (fine[low] < 0) else (low, middle)
        found.append((low + fine[low] / (fine[low] - fine[high])) / 4)
    return np.array(found)


def top(x, fine, centres):
    """The largest |x| between samples at or around those."""
    local = [i for i in centres if abs(x[i]) >= max(abs(x[i - 1]), abs(x[i + 1]))]
    return max([peak(fine, i)[0] for i in local] + [np.abs(x[centres]).max()])


# Of the tables of standards: Hz and mm/s, straight between the points, and below the first one either its value or its displacement.
CURVES = {
    "din4150-3:commercial:foundation": ([10, 50, 100], [20, 40, 50], False),
    "din4150-3:dwellings:foundation": ([10, 50, 100], [5, 15, 20], False),
    "din4150-3:sensitive:foundation": ([10, 50, 100], [3, 8, 10], False),
    "bs7385-2:framed:base": ([4, 4 + 1e-9], [2 * np.pi * 4 * 0.6, 50], True),
    "bs7385-2:dwellings:base": ([4, 4 + 1e-9, 15, 40], [2 * np.pi * 4 * 0.6, 15, 20, 50], True),
    "usbm-ri8507:drywall:ground": ([19.05 / (2 * np.pi * 0.762), 19.05 / (2 * np.pi * 0.2032), 50.8 / (2 * np.pi * 0.2032)], [19.05, 19.05, 50.8], True),
    "usbm-ri8507:plaster:ground": ([12.7 / (2 * np.pi * 0.762), 12.7 / (2 * np.pi * 0.2032), 50.8 / (2 * np.pi * 0.2032)], [12.7, 12.7, 50.8], True),
}
VECTOR = {"sn640312a:class3:rare": ([30, 30 + 1e-9, 60, 60 + 1e-9], [15, 20, 20, 30], False)}


def limit(curve, f):
    hertz, values, is_displacement = curve
    low = values[0] * max(f, 0.1) / hertz[0] if is_displacement and f < hertz[0] else values[0]
    return low if f < hertz[0] else np.interp(f, hertz, values)


def shares(signals, centres, rate):
    """The largest share of each curve: every half cycle of each axis at its own frequency, and the vector where that axis moves most."""
    found = dict.fromkeys([*CURVES, *VECTOR], 0.0)
    velocities, fines = [s[1] for s in signals], [s[5] for s in signals]
    sums, fine_sums = sum(v * v for v in velocities), sum(fine * fine for fine in fines)
    lead = np.argmax(np.abs(velocities), axis=0)
    for axis, (v, fine) in enumerate(zip(velocities, fines)):
        at = crossings(v, fine)
        for begin, end in zip(at, at[1:]):
            f = rate / (2 * (end - begin))
            inside = np.arange(max(int(np.ceil(begin)), centres[0]), min(int(np.ceil(end)), centres[-1] + 1))
            if len(inside) == 0:
                continue
            value = top(v, fine, inside)
            for name, curve in CURVES.items():
                found[name] = max(found[name], value / limit(curve, f))
            best = 0
            for i in inside[lead[inside] == axis]:
                is_top = sums[i] >= sums[i - 1] and sums[i] >= sums[i + 1]
                best = max(best, fine_sums[4 * i - 3 : 4 * i + 4].max() if is_top else sums[i])
            if best > 0:
                for name, curve in VECTOR.items():
                    found[name] = max(found[name], max(np.sqrt(best), value) / limit(curve, f))
    return found


def acceleration(rate, seconds):
    n = round(rate * seconds)
    t = np.arange(n) / rate
    state, noise = 11, np.empty(3 * n)
    for k in range(3 * n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        noise[k] = (state >> 40) / 2**24 - 0.5
    noise = noise.reshape(n, 3).T * 0.05
    burst = np.exp(-(((t % 19) - 7.3) ** 2) / 0.5)
    # A sweep from 1 Hz to 0.3 of the rate on x; a step that comes and goes on y.
    sweep = 0.04 * np.sin(2 * np.pi * (t + (0.3 * rate - 1) * t * t / (2 * seconds)))
    step = np.where((t >= 0.41 * seconds) & (t < 0.73 * seconds), 0.08, 0)
    x = 0.3 * np.sin(2 * np.pi * 6.3 * t) * burst + sweep + noise[0]
    y = 0.1 * np.sin(2 * np.pi * 17.1 * t + 0.4) + 0.2 * burst + step + noise[1]
    z = 0.25 * np.cos(2 * np.pi * 0.21 * rate * t) + 0.05 * np.sin(2 * np.pi * 2.7 * t) + noise[2]
    return t, [x, y, z]


def measure(rate, lower, upper, highpass, lowpass, weightings, interval, seconds, start):
    t, axes = acceleration(rate, seconds)
    times = start + np.round(t * 1e9).astype(np.int64)
    w = 2 * np.pi * lowpass
    low = matched([w * w], [1, np.sqrt(2) * w, w * w], lowpass, rate)
    high = signal.butter(2, highpass, "high", fs=rate)
    # T (z + c)/((1 + c)(z - 1)) with the gain of 1/(2 pi f) at 0.32 of the rate.
    at = np.exp(2j * np.pi * 0.32)
    c = brentq(lambda c: abs((at + c) / ((1 + c) * (at - 1))) - 1 / (2 * np.pi * 0.32), 0, 0.5)
    integral = (np.array([1, c]) / ((1 + c) * rate), [1, -1])
    chains = [weighting(name, rate) for name in weightings]
    settle = int(np.ceil(6 / -np.log(max([slowest([high])] + [slowest(c) for c in chains]))))
    number = times // (interval * 10**9)
    result = []
    signals = []
    for x, chain in zip(axes, chains):
        a = run([low, high], x)
        v = 1000 * integrate(*integral, a)
        d = integrate(*integral, run([high], v))
        felt = signal.lfilter(*signal.butter(1, 5.6, "high", fs=rate), v)
        weighted = run(chain, x)
        signals.append((a, v, d, felt, weighted, quarters(v), quarters(a), quarters(d), quarters(weighted)))
    for which in np.unique(number)[:-1]:
        inside = np.flatnonzero((number == which) & (np.arange(len(t)) >= settle))
        # The search for peaks runs eight samples behind.
        centres = np.arange(inside[0] - (8 if inside[0] == settle else 0), inside[-1] + 1)
        one = {"start": int(which * interval * 10**9), "samples": len(inside), "axes": [], "shares": shares(signals, centres, rate)}
        for a, v, d, felt, weighted, fine, fine_a, fine_d, fine_weighted in signals:
            local = [i for i in centres if abs(v[i]) >= max(abs(v[i - 1]), abs(v[i + 1]))]
            peaks = [peak(fine, i) for i in local] + [(abs(v[i]), 0) for i in centres]
            local += list(centres)
            k = int(np.argmax([p[0] for p in peaks]))
            i, (ppv, shift) = local[k], peaks[k]
            exact = crossings(v, fine)
            before, after = exact[np.ceil(exact) <= i][-1], exact[np.ceil(exact) > i][0]
            k = 1 - np.exp(-1 / (0.125 * rate))
            # The running value begins when the filters have settled.
            square = signal.lfilter([k], [1, k - 1], np.where(np.arange(len(t)) >= settle, felt, 0) ** 2)
            takts = (times[inside] - which * interval * 10**9) // (30 * 10**9)
            largest = np.sqrt([square[inside][takts == j].max() for j in np.unique(takts)])
            counted = np.where(largest > 0.1, largest, 0)
            one["axes"].append(
                {
                    "ppv": ppv, "time": (times[i] - start) / 1e9 + shift / rate, "frequency": rate / (2 * (after - before)),
                    "rms": np.sqrt(np.mean(v[inside] ** 2)), "displacement": top(d, fine_d, centres),
                    "acceleration": top(a, fine_a, centres), "kb_fmax": largest.max(),
                    "kb_ftm": np.sqrt(np.mean(counted**2)), "aw_rms": np.sqrt(np.mean(weighted[inside] ** 2)),
                    "vdv": (np.sum(weighted[centres] ** 4 + fine_weighted[4 * centres + 2] ** 4) / 2 / rate) ** 0.25,
                }
            )
        vector = np.sqrt(sum(s[5] ** 2 for s in signals))
        local = [i for i in centres if vector[4 * i] >= max(vector[4 * i - 4], vector[4 * i + 4])]
        pvs = max([vector[4 * i - 3 : 4 * i + 4].max() for i in local] + list(vector[4 * centres]))
        one["pvs"] = max([pvs] + [axis["ppv"] for axis in one["axes"]])
        result.append(one)
    return {
        "rate": rate, "lower": lower, "upper": upper, "highpass": highpass, "lowpass": lowpass,
        "weightings": weightings, "interval": interval, "seconds": seconds, "start": start, "intervals": result,
    }


if __name__ == "__main__":
    start = 1_700_000_012_345_678_901
    cases = [
        measure(100, 1, 40, 0.8, 50, ["wd", "wd", "wk"], 30, 100, start),
        measure(200, 1, 80, 0.8, 100, ["wm", "wm", "wm"], 60, 140, start),
        measure(800, 1, 315, 0.8, 400, ["wd", "wd", "wb"], 30, 60, start),
        measure(1600, 10, 640, 8, 800, ["wd", "wm", "wk"], 10, 35, start),
    ]
    print(json.dumps({"cases": cases}, indent=1))
