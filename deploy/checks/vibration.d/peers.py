"""peers.py TOOL FOLDER: natural modes beside pyOMA-2, and response spectra beside eqsig, in one run and of the same data: a
half hour of a simulated building, and an earthquake's shaking, which `seismote replay` reads from files and which the two
packages read from the station's own series."""

import csv
import json
import logging
import os
import subprocess
import sys

import eqsig.sdof
import numpy as np
from pyoma2.algorithms import SSI
from pyoma2.setup import SingleSetup

from verdict import expect, finish

logging.disable(logging.CRITICAL)
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


finish(main)
