"""A station's intervals of vibration once more, by SciPy: from its stored waveforms, from the definitions, whole arrays at a
time. Filters are those of Tests/Vectors/vibration/meter.py."""

import glob
import os
import re

import numpy as np
import obspy
from scipy import signal
from scipy.optimize import brentq

import meter

# Seconds that filters are given before what counts: the slowest, of 0.4 Hz, has then forgotten to 1e-40.
LEAD = 60
HOUR = 3600
QUANTITIES = {"ppv": "ppv_mm_s", "frequency": "frequency_hz", "rms": "rms_mm_s", "displacement": "displacement_mm", "acceleration": "acceleration_m_s2",
              "kb_fmax": "kb_fmax", "kb_ftm": "kb_ftm", "aw_rms": "aw_rms_m_s2", "vdv": "vdv"}


def stretches(folder, unit):
    """(start in ns, samples of x, y, z in m/s²) of each piece without a gap; the files may overlap."""
    stream = obspy.Stream()
    for path in sorted(glob.glob(os.path.join(folder, "*.mseed"))):
        stream += obspy.read(path)
    stream.merge(method=1)
    pieces = stream.split()
    for first in sorted((one for one in pieces if one.stats.channel.endswith("E")), key=lambda one: one.stats.starttime):
        rest = [next(one for one in pieces if one.stats.channel.endswith(name) and one.stats.starttime == first.stats.starttime) for name in "NZ"]
        yield first.stats.starttime.ns, [one.data * unit for one in (first, *rest)]


def chain(axes, rate, weightings):
    """Of each axis: acceleration, velocity (mm/s), displacement (mm), KB signal, weighted acceleration; velocity, acceleration,
    displacement and weighted acceleration at quarters."""
    w = 2 * np.pi * 100
    low = meter.matched([w * w], [1, np.sqrt(2) * w, w * w], 100, rate)
    high = signal.butter(2, 0.8, "high", fs=rate)
    at = np.exp(2j * np.pi * 0.32)
    c = brentq(lambda c: abs((at + c) / ((1 + c) * (at - 1))) - 1 / (2 * np.pi * 0.32), 0, 0.5)
    integral = (np.array([1, c]) / ((1 + c) * rate), [1, -1])
    for x, name in zip(axes, weightings):
        a = meter.run([low, high], x)
        v = 1000 * meter.integrate(*integral, a)
        d = meter.integrate(*integral, meter.run([high], v))
        felt = signal.lfilter(*signal.butter(1, 5.6, "high", fs=rate), v)
        weighted = meter.run(meter.weighting(name, rate), x)
        yield a, v, d, felt, weighted, *(meter.quarters(one) for one in (v, a, d, weighted))


def peak(fine, v, begin, end):
    """The largest |v| between samples, its size and the sample that it is next to."""
    size = np.abs(v)
    local = begin + np.flatnonzero((size[begin:end] >= size[begin - 1:end - 1]) & (size[begin:end] >= size[begin + 1:end + 1]))
    # (Between samples it may be a third larger.)
    local = local[size[local] > 0.6 * size[begin:end].max()]
    # The first or the last sample may be on the way to a peak of the interval beside it.
    edge = begin + int(size[begin:end].argmax())
    if len(local) == 0:
        return size[edge], edge
    around = np.where(v[local] < 0, -1, 1)[:, None] * fine[4 * local[:, None] + np.arange(-3, 4)]
    k = np.clip(around.argmax(1), 1, 5)
    a, b, c = (np.take_along_axis(around, (k + j)[:, None], 1)[:, 0] for j in (-1, 0, 1))
    bend = a - 2 * b + c
    shift = np.where(bend < 0, np.clip((a - c) / np.where(bend < 0, 2 * bend, 1), -0.5, 0.5), 0)
    top = np.maximum(b - (a - c) * shift / 4, around.max(1))
    best = int(top.argmax())
    return (size[edge], edge) if size[edge] > top[best] else (top[best], local[best])


def frequency(v, i, rate):
    """By the zero crossings around sample i."""
    begin = max(0, i - 5 * rate)
    part = v[begin:i + 5 * rate]
    exact = begin + meter.crossings(part, meter.quarters(part))
    return rate / (2 * (exact[np.ceil(exact) > i][0] - exact[np.ceil(exact) <= i][-1]))


def share(v, fine, begin, end, rate):
    """The largest share of the limit of dwellings that a half cycle has, at its own frequency."""
    first = max(0, begin - 5 * rate)
    part = v[first:end + 5 * rate]
    exact = first + meter.crossings(part, meter.quarters(part))
    worst = []
    for at, to in zip(exact, exact[1:]):
        low, high = max(int(np.ceil(at)), begin), min(int(np.ceil(to)), end)
        if low < high:
            worst.append((np.abs(v[low:high]).max() / dwellings(rate / (2 * (to - at))), low, high, rate / (2 * (to - at))))
    # (Between samples it may be twice as large.)
    most = max(worst)[0]
    return max(meter.top(v, fine, np.arange(low, high)) / dwellings(hz) for size, low, high, hz in worst if size > 0.5 * most)


def intervals(folder, unit, rate, length, weightings=("wd", "wd", "wk")):
    """{start in ns: {"pvs": …, "axes": [{…}, …]}} of all intervals that are whole and have LEAD of the same stretch before them."""
    found = {}
    for start, axes in stretches(folder, unit):
        count = len(axes[0])
        # From the first whole interval on, an hour at a time.
        first, off = divmod(-start % (length * 10**9) * rate, 10**9)
        if off:
            raise SystemExit(f"a stretch begins at {start} ns: its samples are not at whole parts of a second")
        while first < LEAD * rate:
            first += length * rate
        for begin in range(first, count - length * rate, HOUR * rate):
            end = min(count, begin + HOUR * rate + rate)
            lead = LEAD * rate
            signals = list(chain([one[begin - lead:end] for one in axes], rate, weightings))
            for at in range(lead, min(end - begin, HOUR * rate) + lead - length * rate + 1, length * rate):
                if at + length * rate + rate > end - begin + lead:
                    break
                key = start + (begin - lead + at) * 10**9 // rate
                found[key] = one_interval(signals, at, at + length * rate, rate)
    return found


def one_interval(signals, begin, end, rate):
    one = {"axes": []}
    k = 1 - np.exp(-1 / (0.125 * rate))
    for a, v, d, felt, weighted, fine, fine_a, fine_d, fine_weighted in signals:
        ppv, i = peak(fine, v, begin, end)
        square = signal.lfilter([k], [1, k - 1], felt[begin - 20 * rate:end] ** 2)[20 * rate:]
        largest = np.sqrt([square[at:at + 30 * rate].max() for at in range(0, end - begin, 30 * rate)])
        one["axes"].append({
            "ppv": ppv, "frequency": frequency(v, i, rate), "rms": np.sqrt(np.mean(v[begin:end] ** 2)),
            "displacement": peak(fine_d, d, begin, end)[0], "acceleration": peak(fine_a, a, begin, end)[0], "kb_fmax": largest.max(),
            "share": share(v, fine, begin, end, rate),
            "kb_ftm": np.sqrt(np.mean(np.where(largest > 0.1, largest, 0) ** 2)), "aw_rms": np.sqrt(np.mean(weighted[begin:end] ** 2)),
            "vdv": (np.sum(weighted[begin:end] ** 4 + fine_weighted[4 * begin + 2:4 * end + 2:4] ** 4) / 2 / rate) ** 0.25})
    vector = np.sqrt(sum(one[5][4 * begin - 4:4 * end + 4] ** 2 for one in signals))
    at = vector[::4]
    local = 4 + 4 * np.flatnonzero((at[1:-1] >= at[:-2]) & (at[1:-1] >= at[2:]))
    around = vector[local[:, None] + np.arange(-3, 4)].max(initial=0)
    one["pvs"] = max([around, at[1:-1].max()] + [axis["ppv"] for axis in one["axes"]])
    return one


def dwellings(hz):
    """DIN 4150-3, table 1, line 2, at the foundation."""
    return np.interp(hz, [10, 50, 100], [5, 15, 20])


def compare(rows, again):
    """Largest relative difference of each quantity of the rows of the table (CSV) that were computed again, and how many these are.
    Values are compared with at least what is nothing (0.001 mm/s and the like)."""
    worst, count = {}, 0

    def take(name, found, wanted, row):
        off = abs(float(found or "nan") - wanted) / max(abs(wanted), 1e-3)
        if not off <= worst.get(name, (0,))[0]:
            worst[name] = (off, row["start"], found, wanted)

    for row in rows:
        one = again.get(obspy.UTCDateTime(row["start"]).ns)
        if one is None or float(row["seconds"]) < float(row["interval_s"]) - 0.001:
            continue
        count += 1
        take("pvs", row["pvs_mm_s"], one["pvs"], row)
        for letter, axis in zip("xyz", one["axes"]):
            for name, column in QUANTITIES.items():
                take(name, row[f"{letter}_{column}"], axis[name], row)
        take("share", row["share"], max(axis["share"] for axis in one["axes"]), row)
    return worst, count


def doses(rows, again):
    """{(day, "day" or "night"): VDV of x, y, z}, by fourth powers; of intervals that could not be computed again as the table has them."""
    sums = {}
    for row in rows:
        at = obspy.UTCDateTime(row["start"])
        hour = (at - 7 * HOUR).hour
        key = ((at - 7 * HOUR).strftime("%Y-%m-%d"), "night" if hour >= 16 else "day")
        one = again.get(at.ns)
        whole = one is not None and float(row["seconds"]) > float(row["interval_s"]) - 0.001
        values = np.array([axis["vdv"] for axis in one["axes"]] if whole else [float(row[f"{letter}_vdv"]) for letter in "xyz"])
        sums[key] = sums.get(key, 0) + values**4
    return {key: value**0.25 for key, value in sums.items()}


def printed(text):
    """{(day, "day" or "night"): VDV of x, y, z} as the page of a report has them."""
    cells = re.findall(r"<tr[^>]*><td>(\d{4}-\d\d-\d\d)</td><td>(day|night)</td><td>([0-9.]+)</td><td>([0-9.]+)</td><td>([0-9.]+)</td>", text)
    return {(day, name): np.array([float(one) for one in values]) for day, name, *values in cells}
