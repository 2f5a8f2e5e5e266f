"""Samples that clients of the feed have read: as series, held against others, and whether each came once and in order."""

import numpy as np

UNIT = 1e-6  # m/s² a count


def series(traces, unit=UNIT):
    """(times in ns, values in counts of 1 µm/s²) of all samples, in the order of time."""
    times = [t.stats.starttime.ns + np.arange(len(t)) * (1e9 / t.stats.sampling_rate) for t in traces]
    values = [t.data.astype(float) * (unit / UNIT) for t in traces]
    times, values = (np.concatenate(part) if part else np.array([]) for part in (times, values))
    order = np.argsort(times, kind="stable")
    return times[order], values[order]


def differences(one, other):
    """Samples of one that other has at the same time (within a quarter of a sample at 100 Hz): their differences."""
    (times, values), (known, there) = one, other
    if not len(known) or not len(times):
        return np.array([])
    place = np.clip(np.searchsorted(known, times), 1, max(1, len(known) - 1))
    place = np.where(np.abs(known[place - 1] - times) <= np.abs(known[np.minimum(place, len(known) - 1)] - times),
                     place - 1, np.minimum(place, len(known) - 1))
    near = np.abs(known[place] - times) < 2.5e6
    return (values - there[place])[near]


def judge_numbers(reader, expect):
    for station, numbers in reader.numbers.items():
        expect(numbers == list(range(numbers[0], numbers[0] + len(numbers))),
               f"{station}: sequence numbers are not in one row")


def judge_order(reader, missing, expect):
    """Every sample once and in order, or declared missing. Returns (samples, gaps)."""
    samples = gaps = 0
    judge_numbers(reader, expect)
    for name, traces in reader.traces.items():
        declared = list(missing.get(name, []))
        for one, other in zip(traces, traces[1:]):
            step = 1e9 / one.stats.sampling_rate
            follows = (other.stats.starttime.ns - one.stats.endtime.ns) / step
            if abs(follows - 1) <= 0.5:
                continue
            expect(follows > 0.5, f"{name}: {-follows + 1:.1f} samples come twice at {other.stats.starttime}")
            gaps += 1
            near = [d for d in declared if abs(d[1] - other.stats.starttime.ns) < step and abs(d[2] - follows + 1) < 1.5]
            expect(near, f"{name}: {follows - 1:.1f} samples are missing before {other.stats.starttime}, not declared")
        samples += sum(len(trace) for trace in traces)
    return samples, gaps
