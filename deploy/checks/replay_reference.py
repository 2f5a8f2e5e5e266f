"""Compares `seismote replay` with the reference data. Called by deploy/checks/replay-reference:

    replay_reference.py SEISMOTE REFERENCE

REFERENCE holds params.json, records/index.json, records/<id>.csv and .mseed, pipeline/<id>.json. The stored series have
nine digits of every tenth sample; to hold more, the series are computed here anew from the definitions in the reference's
README, in extended precision, and that computation is itself held against the stored numbers.
"""

import hashlib
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import pymseed
from scipy import signal

SERIES_LIMIT = 1e-9  # of the series' peak
PGA_LIMIT = 1e-9  # relative
MMI_LIMIT = 1e-6
JMA_LIMIT = 1e-6  # before rounding, of a whole record
SLIDING_LIMIT = 1e-5  # of the last minute, stored with six decimals
PGV_LIMIT = 1e-6  # relative, as the next ones; PGD by SciPy's double precision
MEASURE_LIMIT = 1e-6
BLOCKS = (1, 7, 16, 100, 1000)  # of one set and form a record, each in its turn; of all with SEISMOTE_REPLAY_BLOCKS=all
# Method and signal of STA/LTA, one for each level of a set; the reference has picks of classic and recursive.
RATIOS = (("classic", "each"), ("recursive", "each"), ("frozen", "each"), ("frozen", "v3"))
AXES = "xyz"


# --- what is right -------------------------------------------------------------------------------------------------


def samples(p, key, fs):
    if f"{key}_samples" in p:
        return p[f"{key}_samples"]
    return max(1, round(p[f"{key}_seconds"] * fs))


def offset_removed(a, fs, spec):
    if spec["mode"] == "mean_first":
        return a - a[:, : round(spec["seconds"] * fs)].mean(axis=1, keepdims=True)
    if spec["mode"] == "ema":
        dt = 1 / fs
        k = dt / (dt + 1 / (2 * math.pi * spec["fc"]))
        average = [signal.lfilter([k], [1, k - 1], row, zi=[(1 - k) * row[0]])[0] for row in a]
        return a - np.stack(average)
    return filtered(a, fs, dict(kind="highpass", order=spec["order"], corners=[spec["fc"]], init="steady"))


def sections(kind, order, corners, fs):
    """The Butterworth filter of `butter` as second-order sections in extended precision (64-bit mantissa): the poles of
    the prototype, the band transform, the bilinear transform, each by its formula."""
    one, pi = np.longdouble(1), 4 * np.arctan(np.longdouble(1))
    angles = [(2 * k + 1) * pi / (2 * order) + pi / 2 for k in range(order // 2)]
    poles = [np.clongdouble(np.cos(t) + 1j * np.sin(t)) for t in angles]
    warped = [np.tan(pi * np.longdouble(c) / np.longdouble(fs)) for c in corners]  # for s = (z-1)/(z+1)
    out = []
    if order % 2:
        raise ValueError("the parameter sets have even orders only")
    if kind in ("lowpass", "highpass"):
        placed = [warped[0] * p if kind == "lowpass" else warped[0] / p for p in poles]
    else:
        middle, width = np.sqrt(warped[0] * warped[1]), warped[1] - warped[0]
        placed = []
        for p in poles:
            half = p * width / 2
            root = np.sqrt(half * half - middle * middle)
            placed += [half + root, half - root]
    for index, s in enumerate(placed):
        z = (1 + s) / (1 - s)
        a1, a2 = -2 * z.real, (z * z.conjugate()).real
        if kind == "lowpass":
            b = [one, 2 * one, one]
            gain = (1 + a1 + a2) / 4
        elif kind == "highpass":
            b = [one, -2 * one, one]
            gain = (1 - a1 + a2) / 4
        else:
            b = [one, 0 * one, -one]
            centre = 2 * np.arctan(middle)
            q = np.clongdouble(np.cos(centre) + 1j * np.sin(centre))
            gain = abs((q * q + a1 * q + a2) / (q * q - 1))
        out.append(([gain * value for value in b], a1, a2))
    return out


def filtered(a, fs, spec):
    """In extended precision, because SciPy's double precision is itself off by 1e-8 of the peak where a small signal lies
    on gravity and the corner is far below the rate (record r16 in set C)."""
    values = a.astype(np.longdouble)
    for b, a1, a2 in sections(spec["kind"], spec["order"], spec["corners"], fs):
        rest = np.zeros((len(a), 2), np.longdouble)
        if spec["init"] == "steady":
            level = values[:, 0] * sum(b) / (1 + a1 + a2)
            rest = np.stack([level - b[0] * values[:, 0], b[2] * values[:, 0] - a2 * level], axis=1)
        values, _ = signal.lfilter(np.array(b), np.array([1, a1, a2], np.longdouble), values, zi=rest)
    return values


def moving_rms(a, n):
    squares = a * a
    out = np.empty_like(a)
    first = min(n, a.shape[1])
    out[:, :first] = np.cumsum(squares[:, :first], axis=1) / np.arange(1, first + 1)
    if a.shape[1] > n:
        out[:, n - 1 :] = np.lib.stride_tricks.sliding_window_view(squares, n, axis=1).mean(axis=2)
    return np.sqrt(out)


def ground_motion(a, fs):
    """Peak displacement and standardised CAV of the larger horizontal, as defined in GroundIntegrator and StandardizedCAV."""
    high_pass = signal.butter(2, 0.075, "highpass", fs=fs, output="sos")
    motion = signal.sosfilt(high_pass, a)
    for _ in range(2):
        steps = (motion[:, 1:] + motion[:, :-1]) / (2 * fs)
        motion = signal.sosfilt(high_pass, np.hstack([np.zeros((len(a), 1)), np.cumsum(steps, axis=1)]))
    magnitude, n = np.abs(a), a.shape[1]
    border = lambda second: math.floor(second * fs + 0.5)
    cav = np.zeros(2)
    for second in range(math.ceil(n / fs)):
        piece = magnitude[:2, border(second) : border(second + 1) + 1]
        counts = piece.max(axis=1) > 0.025 * 9.80665
        cav += counts * np.trapezoid(piece, dx=1 / fs, axis=1)
    return np.abs(motion[:2]).max(), cav.max()


def default_ground(a, fs):
    """With the default settings: peak velocities of the axes and vectors, by the two high passes of 0.075 Hz alone, and
    Taiwan's grade: vectors of the three components, acceleration below 10 Hz (after the first of these high passes)."""
    high_pass = signal.butter(2, 0.075, "highpass", fs=fs, output="sos")
    motion = signal.sosfilt(high_pass, a - a[:, :1])
    steps = (motion[:, 1:] + motion[:, :-1]) / (2 * fs)
    v = signal.sosfilt(high_pass, np.hstack([np.zeros((3, 1)), np.cumsum(steps, axis=1)]))
    length = lambda rows: np.sqrt((rows * rows).sum(axis=0)).max()
    peaks = dict(zip(AXES, np.abs(v).max(axis=1))) | {"h": length(v[:2]), "v3": length(v)}
    if fs > 20:
        motion = signal.sosfilt(signal.butter(2, 10, "lowpass", fs=fs, output="sos"), motion)
    gal, kine = 100 * length(motion), 100 * peaks["v3"]
    grade = sum(gal >= step for step in (0.8, 2.5, 8, 25))
    if grade == 4 and gal >= 80:
        return peaks, ("4", "5-", "5+", "6-", "6+", "7")[sum(kine >= step for step in (15, 30, 50, 80, 140))]
    return peaks, str(grade)


def triggered(rms, level, hold):
    """On at the sample that completes `hold` contiguous ones above the level, off at the first that is not."""
    state = np.zeros(rms.shape, bool)
    for row, values in zip(state, rms):
        count = 0
        for i, above in enumerate(values > level):
            count = count + 1 if above else 0
            row[i] = count >= hold
    return state


# What a ratio is at most: after a quiet that is nearly exactly zero it says nothing more.
LARGEST_RATIO = 1e6


def sta_lta(power, p, method, fs):
    """Ratios of the rows of `power`; 0 while the long average is not full and where it is 0, at most LARGEST_RATIO."""
    short, long = samples(p, "sta", fs), samples(p, "lta", fs)
    if method == "classic":
        total = np.concatenate((np.zeros((len(power), 1)), np.cumsum(power, axis=1, dtype=np.longdouble)), axis=1)
        sta, lta, first = np.zeros(power.shape), np.zeros(power.shape), long - 1
        sta[:, first:] = (total[:, long:] - total[:, long - short : -short]) / short
        lta[:, first:] = (total[:, long:] - total[:, :-long]) / long
    elif method == "recursive":
        late = power.copy()
        late[:, 0] = 0
        sta, lta = (signal.lfilter([1 / n], [1, 1 / n - 1], late) for n in (short, long))
        first = long
    else:
        return np.stack([frozen(row, short, long, p["sta_on"], p["sta_off"]) for row in power.tolist()])
    ratio = np.divide(sta, lta, out=np.zeros(power.shape), where=lta > 0)
    ratio[:, :first] = 0
    return np.minimum(ratio, LARGEST_RATIO)


def frozen(power, short, long, on, off):
    """The recursion as it is written in the definition, sample by sample."""
    ratio, sta, lta, is_on = [0.0] * len(power), 0.0, 0.0, False
    for i, x in enumerate(power):
        if i > 0:
            sta += (x - sta) / short
            if not is_on:
                lta += (x - lta) / long
        if i >= long and lta > 0:
            ratio[i] = min(sta / lta, LARGEST_RATIO)
        is_on = ratio[i] >= off if is_on else ratio[i] >= on
    return ratio


def hysteresis(ratio, p):
    """On at the first ratio of at least `sta_on`, off at the first below `sta_off`."""
    on, out = False, []
    for i in np.flatnonzero((ratio >= p["sta_on"]) | (ratio < p["sta_off"])):
        if not on and ratio[i] >= p["sta_on"]:
            on = True
            out.append([int(i), len(ratio)])
        elif on and ratio[i] < p["sta_off"]:
            on = False
            out[-1][1] = int(i)
    return out


def intervals(state):
    edges = np.diff(np.concatenate(([0], state.astype(int), [0])))
    return [[int(on), int(off)] for on, off in zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1))]


# --- what the tool says --------------------------------------------------------------------------------------------


def axis_settings(p, level):
    spec = p["filter"]
    corners = {"corners_hz": spec["corners"]} if len(spec["corners"]) > 1 else {"corner_hz": spec["corners"][0]}
    window = p.get("rms_samples") or f"{p['rms_seconds']} s"
    hold = p.get("trigger_samples") or f"{p['trigger_seconds']} s"
    return {
        "filter": {"butterworth": {"type": spec["kind"], "order": spec["order"], "start": spec["init"], **corners}},
        "detection": {"window": window, "threshold": level, "hold": hold},
    }


def offset_settings(spec):
    names = {"mode": "mode", "seconds": "seconds", "fc": "corner_hz", "order": "order"}
    return {names[key]: value for key, value in spec.items()}


def settings(p, level, scale, ratio):
    """JSON is YAML, so that the tool reads this as its settings file."""
    return {
        "station": {"id": "reference"},
        "sensor": {"driver": "replay", "replay": {"scale": scale}},
        "conditioning": {"offset": offset_settings(p["offset"]), "settle_s": 0},
        "axes": {"all": axis_settings(p, level)},
        "detection": {
            "sta_lta": {
                "method": ratio[0], "signal": ratio[1], "filter": "axes", "sta_s": p["sta_seconds"], "lta_s": p["lta_seconds"],
                "on": p["sta_on"], "off": p["sta_off"],
            }
        },
    }


def whole_record_settings(scale):
    """An event from the first sample to the last, with the offset removal that the reference's peaks have."""
    return {
        "station": {"id": "reference"},
        "sensor": {"driver": "replay", "replay": {"scale": scale}},
        "conditioning": {"offset": {"mode": "mean_first", "seconds": 2}, "settle_s": 0},
        "axes": {"all": {"filter": "none", "detection": {"window": 1, "threshold": 1e-9, "hold": 1}}},
        "intensity": {"scales": ["gutenberg_richter", "wald99", "worden12", "jma"], "horizontal": "larger"},
        "detection": {"event": {"post_event_s": 60, "max_event_s": 300}},
    }


def default_ground_settings(scale):
    """An event from the first sample to the last, with the default removal of the offset."""
    whole = whole_record_settings(scale)
    whole["conditioning"]["offset"] = {"mode": "highpass", "corner_hz": 0.1, "order": 2}
    whole["intensity"]["scales"] = ["cwa"]
    return whole


class Tool:
    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)

    def replay(self, record, configuration, block=None):
        """Paths of the messages and of the series."""
        config = self.folder / "settings.yaml"
        config.write_text(json.dumps(configuration))
        output, series = self.folder / "output.jsonl", self.folder / "series.csv"
        command = [self.program, "replay", record, "--config", config, "--output", output, "--series", series]
        if block:
            command += ["--block", str(block)]
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if result.returncode != 0:
            raise SystemExit(f"{record}: seismote replay ended with {result.returncode}: {result.stderr.strip()}")
        return output, series


def read_series(path):
    with open(path) as file:
        names = file.readline().strip().split(",")
    table = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    return dict(zip(names, table.T))


def digest(*paths):
    total = hashlib.sha256()
    for path in paths:
        total.update(path.read_bytes())
    return total.hexdigest()


# --- the comparison ------------------------------------------------------------------------------------------------


class Report:
    def __init__(self):
        self.failures = []

    def hold(self, what, value, limit):
        if not value <= limit:
            self.failures.append(f"{what}: {value:.3g}, allowed {limit:.0e}")
        return value

    def same(self, what, one, other):
        if one != other:
            self.failures.append(f"{what}: {one} and not {other}")


def read_record(path, scale):
    if path.suffix == ".csv":
        return np.ascontiguousarray(np.loadtxt(path, delimiter=",", skiprows=1, usecols=(1, 2, 3)).T)
    by_channel = {}
    for record in pymseed.MS3Record.from_file(str(path), unpack_data=True):
        by_channel.setdefault(record.sourceid[-1], []).append(np.array(record.datasamples))
    order = next(codes for codes in ("ENZ", "12Z", "123", "XYZ") if all(code in by_channel for code in codes))
    return np.stack([np.concatenate(by_channel[code]) * s for code, s in zip(order, scale)])


def check_own_computation(report, name, p, stored, filtered_series, rms):
    """The series computed here against the stored checksums (csv only): what we hold the tool to is itself right."""
    for kind, series in (("filtered_zero" if p["filter"]["init"] == "zero" else "filtered_steady", filtered_series), ("rms", rms)):
        for axis, row in zip(AXES, series):
            want = stored[kind][axis]
            report.hold(f"{name} own {kind} {axis}", abs(np.sum(row * row) / want["sumsq"] - 1), 1e-6)
            report.same(f"{name} own {kind} {axis} argmax", int(row.argmax()), want["argmax"])


def check_ratio(report, name, got, right, p, stored, ratio, fs):
    """STA/LTA of one method; returns the worst difference."""
    method, signals = ratio[0], AXES if ratio[1] == "each" else [ratio[1]]
    power = np.square(right.astype(float))
    want = sta_lta(power if ratio[1] == "each" else power.sum(axis=0, keepdims=True), p, method, fs)
    worst = 0.0
    for axis, row in zip(signals, want):
        found = got[f"{axis}_sta_lta"]
        what = f"{name} {axis}_sta_lta {method}"
        off = np.max(np.abs(found - row)) / max(np.max(row), 1)
        worst = max(worst, report.hold(what, off, SERIES_LIMIT))
        report.same(f"{what} picks", hysteresis(found, p), hysteresis(row, p))
        if stored and method in stored["sta_lta"]:
            report.same(f"{what} picks, stored", hysteresis(found, p), stored["sta_lta"][method]["picks"][axis])
    return worst


def check_set(report, tool, path, fs, p, stored, scale, blocks):
    name = f"{path.name} {p['name']}"
    a = read_record(path, scale)
    right = filtered(offset_removed(a, fs, p["offset"]), fs, p["filter"])
    rms = moving_rms(right, samples(p, "rms", fs))
    if path.suffix == ".csv":
        check_own_computation(report, name, p, stored, right, rms)
    worst = {"filtered": 0.0, "rms": 0.0, "ratio": 0.0}
    for index, level in enumerate(p["trigger_levels"]):
        configuration = settings(p, level, scale, RATIOS[index])
        is_compared = index == 0 and blocks
        if not is_compared:
            # The Japanese intensity takes three quarters of a replay's time, and check_peaks has its values.
            configuration["intensity"] = {"scales": ["worden12"]}
        output, series = tool.replay(path, configuration)
        got = read_series(series)
        report.same(f"{name} samples", len(got["t"]), a.shape[1])
        if len(got["t"]) != a.shape[1]:
            return worst
        if index == 0:
            for axis, row, level_row in zip(AXES, right, rms):
                for kind, want in (("filtered", row), ("rms", level_row)):
                    off = np.max(np.abs(got[f"{axis}_{kind}"] - want)) / np.max(np.abs(want))
                    worst[kind] = max(worst[kind], report.hold(f"{name} {axis}_{kind}", off, SERIES_LIMIT))
        if is_compared:
            before = digest(output, series)
            for block in blocks:
                report.same(f"{name} bytes at blocks of {block}", digest(*tool.replay(path, configuration, block)), before)
        csv = stored if path.suffix == ".csv" else None
        worst["ratio"] = max(worst["ratio"], check_ratio(report, name, got, right, p, csv, RATIOS[index], fs))
        mine = triggered(rms, level, samples(p, "trigger", fs))
        kept = next(entry["intervals"] for entry in stored["triggers"] if entry["level"] == level)
        for axis, row in zip(AXES, mine):
            found = intervals(got[f"{axis}_triggered"] > 0.5)
            report.same(f"{name} {axis}_triggered at {level}", found, intervals(row))
            if path.suffix == ".csv":
                report.same(f"{name} {axis}_triggered at {level}, stored", found, kept[axis])
    return worst


def check_measures(report, path, fs, event, metrics, scale):
    """Velocity, displacement and what is summed over the event; returns the worst relative difference."""
    a = read_record(path, scale)
    pgd, standardized = ground_motion(offset_removed(a, fs, dict(mode="mean_first", seconds=2)), fs)
    stronger = max("xy", key=lambda axis: metrics["arias_m_s"][axis])
    pairs = [
        ("pgv", metrics["pgv"]["hp2_0.075"]["two_highpass"]["h_max"]["value"], PGV_LIMIT),
        ("pgd", pgd, MEASURE_LIMIT),
        ("arias", metrics["arias_m_s"][stronger], MEASURE_LIMIT),
        ("cav", max(metrics["cav_m_s"][axis] for axis in "xy"), MEASURE_LIMIT),
    ]
    worst = max(report.hold(f"{path.name} {key}", abs(event[key] / want - 1), limit) for key, want, limit in pairs)
    report.hold(f"{path.name} cav_std", abs(event["cav_std"] - standardized), MEASURE_LIMIT * max(standardized, event["cav"]))
    for share in "75", "95":
        off = abs(event[f"d5_{share}_s"] - metrics[f"duration_5_{share}_s"][stronger])
        report.hold(f"{path.name} d5_{share}_s", off, 1e-6)
    return worst


def strongest_axis(a, fs):
    """The axis with the largest amplitude of the spectrum that the reference defines: the event tells of that one."""
    n = a.shape[1]
    nfft = 1 << (n - 1).bit_length()
    window = signal.windows.hann(n, sym=False)
    spectrum = np.abs(np.fft.rfft((a - a.mean(axis=1, keepdims=True)) * window, nfft, axis=1))
    band = np.arange(spectrum.shape[1]) * fs / nfft
    band = (band >= 0.1) & (band <= 0.4 * fs)
    return AXES[int(spectrum[:, band].max(axis=1).argmax())]


def good_length(n):
    """The largest number up to n without prime factors above 5."""
    while True:
        rest = n
        for prime in 2, 3, 5:
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return n
        n -= 1


def jma_raw(a, fs):
    """Instrumental intensity of all of a record (JMA notification no. 4 of 1996), not rounded."""
    n = a.shape[1]
    f = np.fft.rfftfreq(n, 1 / fs)
    with np.errstate(divide="ignore"):
        period = np.where(f > 0, np.sqrt(1 / f), 0)
    x = f / 10
    powers = (0.694, 0.241, 0.0557, 0.009664, 0.00134, 0.000155)
    high = 1 / np.sqrt(1 + sum(c * x ** (2 * (i + 1)) for i, c in enumerate(powers)))
    low = np.sqrt(1 - np.exp(-((f / 0.5) ** 3)))
    weighted = np.fft.irfft(np.fft.rfft(a * 100, axis=1) * period * high * low, n, axis=1)
    vector = np.sqrt((weighted**2).sum(axis=0))
    return 2 * np.log10(np.sort(vector)[-int(round(0.3 * fs))]) + 0.94


def check_spectral(report, path, fs, event, summaries, metrics, scale):
    """JMA intensity and strongest frequency of the whole record; JMA intensity of the last minute, each second."""
    exact = path.suffix == ".csv"
    jma = metrics["jma"]
    mine = next(entry for entry in event["intensity"] if entry["relation"] == "jma")
    a = read_record(path, scale)
    n = good_length(a.shape[1]) if a.shape[1] > 8192 else a.shape[1]
    off = report.hold(f"{path.name} jma", abs(mine["raw"] - jma_raw(a[:, -n:], fs)), JMA_LIMIT if exact else 1e-3)
    if n == a.shape[1]:
        report.hold(f"{path.name} jma as stored", abs(mine["raw"] - jma["intensity_raw"]), JMA_LIMIT if exact else 1e-3)
        report.same(f"{path.name} jma", [mine["value"], mine["grade"]], [jma["intensity"], jma["class"]])
    else:  # of a long record the last samples that make a good length
        report.hold(f"{path.name} jma as stored", abs(mine["raw"] - jma["intensity_raw"]), 0.02)
    axis = strongest_axis(a, fs)
    dominant = metrics["dominant_frequency"][axis]["fft_whole"]
    bins = math.nan
    if dominant["rival_ratio"] <= 0.9:
        bins = report.hold(f"{path.name} dominant_hz", abs(event["dominant_hz"] - dominant["hz_interp"]) / dominant["bin_hz"], 1e-2)
    sliding = math.nan
    blocks = path.parent.parent / f"pipeline/{path.stem}.blocks.csv"
    if blocks.exists():
        sliding = 0.0
        rows = [line.rsplit(",", 1)[1] for line in blocks.read_text().split("\n")[1:] if line]
        raws = [next((i["raw"] for i in s["intensity"] if i["relation"] == "jma"), None) for s in summaries]
        report.same(f"{path.name} seconds with a sliding jma", sum(r is not None for r in raws[: len(rows)]), sum(r != "" for r in rows[: len(raws)]))
        for second, (want, got) in enumerate(zip(rows, raws)):
            if want and got is not None:
                sliding = max(sliding, report.hold(f"{path.name} jma of the minute to second {second + 1}", abs(got - float(want)), SLIDING_LIMIT))
    print(f"{path.name:28}     jma {off:.1e}, of the last minute {sliding:.1e}; strongest frequency {bins:.1e} of a bin", flush=True)


def check_ground(report, tool, path, fs, scale):
    """Velocities and Taiwan's grade by default; returns the worst relative difference."""
    output, _ = tool.replay(path, default_ground_settings(scale))
    payloads = [json.loads(line)["payload"] for line in open(output) if "/event/trigger" in line]
    ends = [payload for payload in payloads if payload["event_type"] == "end"]
    report.same(f"{path.name} events by default", len(ends), 1)
    if len(ends) != 1:
        return math.nan
    peaks, grade = default_ground(read_record(path, scale), fs)
    report.same(f"{path.name} cwa", ends[0]["intensity"][0]["grade"], grade)
    found = ends[0]["peak_velocity"]
    return max(
        report.hold(f"{path.name} velocity {name}", abs(found[name] / want - 1), PGV_LIMIT) for name, want in peaks.items()
    )


def check_peaks(report, tool, path, fs, metrics, scale):
    """Peaks and intensities of an event that covers the record, from the message that a subscriber gets."""
    output, _ = tool.replay(path, whole_record_settings(scale))
    ends, summaries = [], []
    with open(output) as file:
        for line in file:
            message = json.loads(line)
            if message["topic"].endswith("/event/trigger") and message["payload"]["event_type"] == "end":
                ends.append(message["payload"])
            if message["topic"].endswith("/state/summary"):
                summaries.append(message["payload"])
    report.same(f"{path.name} events", len(ends), 1)
    if len(ends) != 1:
        return math.nan, math.nan, math.nan
    event, pga, mmi = ends[0], metrics["pga"]["mean_first"], metrics["mmi"]["from_h_max"]
    # a miniSEED count is a tenth digit away from the CSV that the stored numbers come from
    limit = PGA_LIMIT if path.suffix == ".csv" else 1e-6
    pairs = [(event["pga"], pga["h_max"]["value"], "pga")]
    names = (("x", "x"), ("y", "y"), ("z", "z"), ("h", "h_vector"), ("v3", "vector"))
    pairs += [(event["peaks"][ours]["value"], pga[theirs]["value"], f"peak {ours}") for ours, theirs in names]
    worst_pga = max(report.hold(f"{path.name} {what}", abs(one / other - 1), limit) for one, other, what in pairs)
    worst_mmi = 0.0
    right = {
        "gutenberg_richter": {"value": "gutenberg_richter_pga"},
        "wald99": {"value": "wald99_combined", "from_pga": "wald99_pga", "from_pgv": "wald99_pgv"},
        "worden12": {"value": "worden12_pgv", "from_pga": "worden12_pga", "from_pgv": "worden12_pgv"},
        "jma": {},
    }
    check_spectral(report, path, fs, event, summaries, metrics, scale)
    for intensity in event["intensity"]:
        for key, name in right.pop(intensity["relation"]).items():
            off = report.hold(f"{path.name} {name}", abs(intensity[key] - mmi[name]), MMI_LIMIT)
            worst_mmi = max(worst_mmi, off)
    report.same(f"{path.name} intensities that are missing", sorted(right), [])
    return worst_pga, worst_mmi, check_measures(report, path, fs, event, metrics, scale)


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    sets = json.loads((folder / "params.json").read_text())
    records = json.loads((folder / "records/index.json").read_text())
    report = Report()
    print(f"{'record':28} {'set':3} {'filtered':>9} {'rms':>9} {'sta/lta':>9}    {'pga':>9} {'mmi':>9} {'measures':>9}   (worst difference; series: of the peak)")
    compared = 0
    everywhere = os.environ.get("SEISMOTE_REPLAY_BLOCKS") == "all"
    with tempfile.TemporaryDirectory() as temporary:
        tool = Tool(program, temporary)
        for record in records:
            stored_path = folder / f"pipeline/{record['id']}.json"
            paths = [folder / f"records/{record['id']}.{kind}" for kind in ("csv", "mseed")]
            paths = [path for path in paths if path.exists()]
            if not stored_path.exists() or not paths:
                continue
            turn = compared
            compared += 1
            stored = json.loads(stored_path.read_text())
            for path in paths:
                scale = [1, 1, 1] if path.suffix == ".csv" else [1 / record["counts_per_m_s2"][axis] for axis in AXES]
                check_ground(report, tool, path, record["fs"], scale)
                pga, mmi, measures = check_peaks(report, tool, path, record["fs"], stored["metrics"], scale)
                for index, p in enumerate(sets):
                    # The other form has the same samples: one set of each record, another for the next.
                    if path is not paths[0] and index != compared % len(sets) and not everywhere:
                        continue
                    blocks = BLOCKS if turn % (len(sets) + len(paths) - 1) == 0 or everywhere else ()
                    turn += 1
                    worst = check_set(report, tool, path, record["fs"], p, stored["sets"][p["name"]], scale, blocks)
                    peaks = f"{pga:9.1e} {mmi:9.1e} {measures:9.1e}" if p is sets[0] or path is not paths[0] else ""
                    print(f"{path.name:28} {p['name']:3} {worst['filtered']:9.1e} {worst['rms']:9.1e} {worst['ratio']:9.1e}    {peaks}", flush=True)
    levels = sum(len(p["trigger_levels"]) for p in sets)
    print(f"{compared} records; triggers at {levels} levels each; output and series at blocks of {', '.join(map(str, BLOCKS))}")
    if compared == 0:
        report.failures.append("no record was there to compare")
    for failure in report.failures[:40]:
        print("FAILED", failure)
    if len(report.failures) > 40:
        print(f"... and {len(report.failures) - 40} more")
    sys.exit(1 if report.failures else 0)


main()
