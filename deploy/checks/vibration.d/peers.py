"""peers.py TOOL FOLDER: natural modes beside pyOMA-2, and response spectra beside eqsig, in one run and of the same data: half
hours of simulated buildings, noise, machines and lorries (structures.py), and an earthquake's shaking, which `seismote replay`
reads from files and which the two packages read from the station's own series.

Frames and what has no modes are done three times: by the station; by pyOMA-2 alone, which takes what is stable in a
stabilisation diagram in at least 10 orders of 18; and by pyOMA-2 that is told where to look, at the order 36: what a person does
who knows the modes. Told the frequencies of a frame, it "finds" some in noise as well, which is counted beside.

SEISMOTE_PEERS_SEEDS: records of each kind, default 20."""

import csv
import json
import logging
import os
import resource
import subprocess
import sys
import time
import warnings

import eqsig.sdof
import numpy as np
from pyoma2.algorithms import SSI
from pyoma2.setup import SingleSetup

import structures
from verdict import expect, finish

logging.disable(logging.CRITICAL)
warnings.filterwarnings("ignore")
RATE, SECONDS = 50, 1800
MODES = [(2.37, 0.010, (1, 0.25, 0)), (3.10, 0.012, (-0.3, 1, 0.05))]
BEGIN = 1_767_571_200
PERIODS = [0.1, 0.2, 0.3, 0.5, 1, 2, 3]


def building(chance):
    """Acceleration in m/s² of a building that wind drives, with the noise of an ADXL355 (22.5 µg/√Hz); see modes.py."""
    from scipy.signal import lfilter
    count = RATE * SECONDS
    motion = chance.normal(0, 22.5e-6 * 9.80665 * np.sqrt(RATE / 2), (count, 3))
    for hertz, damping, shape in MODES:
        w = 2 * np.pi * hertz / RATE
        a1, a2 = -2 * np.exp(-damping * w) * np.cos(w * np.sqrt(1 - damping**2)), np.exp(-2 * damping * w)
        motion += np.outer(1e-4 * lfilter([1, 0, -1], [1, a1, a2], chance.uniform(-0.5, 0.5, count)), shape)
    return motion


def quake(chance, rate, seconds=60):
    """Shaking from 15 s on."""
    t = np.arange(rate * seconds) / rate
    shape = np.where(t > 15, (t - 15) * np.exp(-(t - 15) / 4), 0)
    return np.stack([shape * (chance.normal(0, 0.2, len(t)) + s * np.sin(2 * np.pi * f * t)) for f, s in ((1.9, 0.4), (0.6, 0.3), (4, 0.2))], 1) \
        + chance.normal(0, 1e-4, (len(t), 3))


def replay(tool, folder, name, rate, motion, *settings):
    """Messages, and the station's own series."""
    path, messages, series = (os.path.join(folder, name + end) for end in (".csv", ".jsonl", ".series.csv"))
    with open(path, "w", encoding="utf-8") as file:
        file.write("t,x,y,z\n")
        for number, (x, y, z) in enumerate(motion):
            file.write(f"{BEGIN + number / rate:.3f},{float(x)!r},{float(y)!r},{float(z) + 9.80665!r}\n")
    done = subprocess.run([tool, "replay", path, "--quiet", "--output", messages, "--series", series, *(word for one in settings for word in ("--set", one))],
                          capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr)
    with open(messages, encoding="utf-8") as file:
        told = [json.loads(line) for line in file]
    with open(series, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return told, rows


def column(rows, name):
    return np.array([float(row[name]) for row in rows])


def payloads(told, topic):
    return [one["payload"] for one in told if one["topic"].endswith(topic)]


def modes(tool, folder):
    chance = np.random.default_rng(30)
    told, rows = replay(tool, folder, "building", RATE, building(chance), "vibration.modes=true", "vibration.modes_s=1800", "vibration.modes_top_hz=20",
                        "detection.sta_lta.enabled=false")
    periods = payloads(told, "data/modes")
    expect(len(periods) == 1, f"{len(periods)} periods of modes")
    found = periods[0]["modes"]
    setup = SingleSetup(np.stack([column(rows, f"{axis}_offset_removed") for axis in "xyz"], 1), fs=RATE)
    setup.decimate_data(q=4)
    setup.add_algorithms(SSI(name="ssi", method="cov", br=40, ordmax=20))
    setup.run_all()
    setup.mpe("ssi", sel_freq=[f for f, _, _ in MODES], order_in=12)
    theirs = list(zip(np.ravel(setup["ssi"].result.Fn), np.ravel(setup["ssi"].result.Xi)))
    for one, (hertz, damping) in zip(found, theirs):
        print(f"mode: {one['frequency_hz']:.4f} Hz, {100 * one['damping']:.2f} %; pyOMA-2 {hertz:.4f} Hz, {100 * damping:.2f} %")
    expect(len(found) == len(MODES), f"{len(found)} modes")
    for one, (hertz, damping), (true, true_damping, _) in zip(found, theirs, MODES):
        expect(abs(one["frequency_hz"] / hertz - 1) < 0.003 and abs(one["frequency_hz"] / true - 1) < 0.003, "a frequency is more than 0.3 % away")
        expect(all(1 / 1.5 < one["damping"] / other < 1.5 for other in (damping, true_damping)), "a damping is more than a factor of 1.5 away")
    # Noise alone has none.
    quiet = chance.normal(0, 22.5e-6 * 9.80665 * np.sqrt(RATE / 2), (RATE * SECONDS, 3))
    told, _ = replay(tool, folder, "noise", RATE, quiet, "vibration.modes=true", "vibration.modes_s=1800", "detection.sta_lta.enabled=false")
    invented = [mode for period in payloads(told, "data/modes") for mode in period["modes"]]
    expect(payloads(told, "data/modes") and not invented, f"modes in noise: {invented}")


def by_station(tool, folder, motion):
    told, rows = replay(tool, folder, "record", RATE, motion, "vibration.modes=true", "vibration.modes_s=1800", "vibration.modes_top_hz=20",
                        "detection.sta_lta.enabled=false")
    periods = payloads(told, "data/modes")
    expect(len(periods) == 1, f"{len(periods)} periods of modes")
    return [(one["frequency_hz"], one["damping"]) for one in periods[0]["modes"]], np.stack([column(rows, f"{axis}_offset_removed") for axis in "xyz"], 1)


def by_pyoma(motion, wanted):
    """Modes that it finds alone, and those next to the wanted frequencies; seconds of processor time."""
    begin = time.process_time()
    setup = SingleSetup(motion, fs=RATE)
    setup.add_algorithms(SSI(name="ssi", method="cov", br=40, ordmax=36))
    setup.run_all()
    seconds = time.process_time() - begin
    result = setup["ssi"].result
    hertz, damping = result.Fn_poles, result.Xi_poles
    stable = sorted((hertz[i, j], damping[i, j], j) for i, j in zip(*np.where(result.Lab == 1)) if .2 < hertz[i, j] < 20 and damping[i, j] > 0)
    groups = []
    for pole in stable:
        if groups and pole[0] < 1.01 * groups[-1][-1][0]:
            groups[-1].append(pole)
        else:
            groups.append([pole])
    alone = [(float(np.median([p[0] for p in g])), float(np.median([p[1] for p in g]))) for g in groups if len({p[2] for p in g}) >= 10]
    last = [(f, z) for f, z in zip(hertz[:, -1], damping[:, -1]) if np.isfinite(f)]
    return alone, [min(last, key=lambda one: abs(one[0] - f)) for f in wanted], seconds


def matched(modes, found):
    """Numbers of modes and of what was found, one to one, the nearest first: within 2 % or two dampings, at most 5 %."""
    pairs = sorted((abs(f / hertz - 1), i, j) for i, (hertz, damping, _) in enumerate(modes) for j, (f, _) in enumerate(found)
                   if abs(f / hertz - 1) < max(.02, min(.05, 2 * damping)))
    taken = {}
    for _, i, j in pairs:
        if i not in taken and j not in taken.values():
            taken[i] = j
    return taken


class Count:
    """What one way made of the records of a kind."""

    def __init__(self):
        self.found, self.invented, self.by_strength, self.frequency, self.damping = 0, 0, [0, 0, 0], [], []

    def add(self, modes, strengths, found):
        pairs = matched(modes, found)
        self.found += len(pairs)
        self.invented += len(found) - len(pairs)
        for i, j in pairs.items():
            self.by_strength[np.searchsorted([3, 10], strengths[i])] += 1
            self.frequency.append(100 * abs(found[j][0] / modes[i][0] - 1))
            self.damping.append(max(found[j][1] / modes[i][1], modes[i][1] / max(found[j][1], 1e-9)))

    def line(self, told):
        def middle(values):
            return "{:.2f}, {:.2f}".format(*np.percentile(values, [50, 90])) if values else "-"
        return f"found {self.found} {self.by_strength}, invented {'-' if told else self.invented}, " \
               f"frequency {middle(self.frequency)} %, damping {middle(self.damping)}"


def comparison(tool, folder):
    """The table of vibration-figures.md. The seeds have had no part in choosing anything."""
    records = int(os.environ.get("SEISMOTE_PEERS_SEEDS", 20))
    seconds, own = [], {}
    for kind in structures.KINDS:
        counts = {way: Count() for way in ("station", "pyOMA-2 alone", "pyOMA-2 told")}
        strong, chance = np.zeros(3, int), 0
        first = {structures.gust: 561, structures.lorry: 641}.get(kind, 501)
        for seed in range(first, first + (min(6, records) if kind is structures.frame else records)):
            motion, modes, micro = structures.record(kind, seed)
            strengths = structures.strengths(modes, micro)
            for strength in strengths:
                strong[np.searchsorted([3, 10], strength)] += 1
            found, series = by_station(tool, folder, motion)
            counts["station"].add(modes, strengths, found)
            # Of noise it is asked the frequencies of a frame.
            asked = modes if kind is not structures.pure else structures.record(structures.kin, seed)[1]
            alone, told, took = by_pyoma(series, [f for f, _, _ in asked])
            counts["pyOMA-2 alone"].add(modes, strengths, alone)
            if kind is structures.pure:
                chance += len(matched(asked, told))
                strong[0] += len(asked)
            elif modes:
                counts["pyOMA-2 told"].add(modes, strengths, told)
            seconds.append(took)
        what = f"{strong.sum()} modes, {strong.tolist()} of a strength below 3, of 3 to 10, above 10"
        if kind is structures.pure:
            what = f"no mode; told the {strong[0]} of frames pyOMA-2 finds {chance}"
        print(f"{kind.__name__}: {what}", flush=True)
        for way, count in counts.items():
            if modes or not way.endswith("told"):
                print(f"    {way}: {count.line(way.endswith('told'))}", flush=True)
        own[kind] = counts["station"], counts["pyOMA-2 alone"]
    print(f"pyOMA-2: {np.median(seconds):.2f} s of processor time a record, {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB at most")
    for kind, (station, peer) in own.items():
        expect(station.invented <= (records // 20 if kind in (structures.kin, structures.gust) else 0), f"{station.invented} modes invented ({kind.__name__})")
        # (Where gusts are strong, a mode that moves in few of them is left out; see vibration.md.)
        share = {structures.kin: .9, structures.gust: .8}.get(kind, 1)
        expect(station.found >= share * peer.found, f"{station.found} modes found, {peer.found} by pyOMA-2 alone ({kind.__name__})")


def spectra(tool, folder):
    for rate in (100, 200, 500):
        told, rows = replay(tool, folder, f"quake{rate}", rate, quake(np.random.default_rng(31), rate), "detection.event.pre_event_s=10")
        ends = [one for one in payloads(told, "event/trigger") if one["event_type"] == "end"]
        expect(len(ends) == 1, f"{len(ends)} events")
        ours = ends[0]["response_spectrum"]
        t = column(rows, "t")
        stamp = np.datetime64(ends[0]["onset"].rstrip("Z"), "ns").astype(np.int64) / 1e9 - BEGIN
        # An event has the ten seconds before its onset as well.
        inside = (t > stamp - 10 - 0.5 / rate) & (t < stamp + ends[0]["duration_s"] + 0.5 / rate)
        worst = 0
        for axis in "xy":
            own = column(rows, f"{axis}_offset_removed")[inside]
            theirs = eqsig.sdof.pseudo_response_spectra(own, 1 / rate, np.array(PERIODS), 0.05)[2]
            for period, a, b in zip(PERIODS, ours[axis], theirs):
                # (Below six samples a period eqsig gives the peak acceleration; up to 125 a second ours has finer ones below forty.)
                if period * rate >= (6 if rate > 125 else 40):
                    worst = max(worst, abs(a / b - 1))
        mean = max(abs(m / (x * y) ** 0.5 - 1) for x, y, m in zip(ours["x"], ours["y"], ours["geometric_mean"]))
        print(f"Sa at {rate} samples a second, {inside.sum()} of them: within {worst:.1e} of eqsig; mean {mean:.1e}")
        expect(worst < 1e-6 and mean < 1e-6, "a response spectrum is not that of eqsig")


def main():
    modes(*sys.argv[1:3])
    spectra(*sys.argv[1:3])
    comparison(*sys.argv[1:3])


finish(main)
