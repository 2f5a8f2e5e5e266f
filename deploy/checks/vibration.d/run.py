"""run.py AGENT TOOL FOLDER: see deploy/checks/vibration."""

import asyncio
import csv
import json
import os
import re
import subprocess
import sys
import time

import numpy as np
import obspy

import meter
from agent import Agent
from kinds import Mosquitto
from verdict import expect, finish

RATE, SECONDS, INTERVAL, SPEED = 200, 250, 10, 25
# Of the recording that the next run of the agent plays.
MORE = 100


def site(begin):
    """Piles for the first 80 s, lorries at 100 and 140 s, a machine of 12 Hz and 3 mm/s on z from 180 s on."""
    chance = np.random.default_rng(7)
    t = np.arange(RATE * SECONDS) / RATE
    axes = [chance.normal(0, 0.002, len(t)) for _ in range(3)]
    for blow in np.arange(5, 80, 1.5):
        after = np.maximum(0, t - blow)
        ringing = np.where(t >= blow, np.exp(-after * 9) * (1 - np.exp(-after * 80)), 0)
        for axis, size, hz in zip(axes, (0.5, 0.3, 0.7), (14, 18, 22)):
            axis += size * ringing * np.sin(2 * np.pi * hz * after)
    for passing in (100, 140):
        band = np.convolve(chance.normal(0, 1, len(t)), np.hanning(21) * np.cos(2 * np.pi * 11 * (np.arange(21) - 10) / RATE), "same")
        for axis, size in zip(axes, (0.01, 0.006, 0.015)):
            axis += size * band * np.exp(-(((t - passing) / 6) ** 2))
    ramp = np.clip((t - 180) / 2, 0, 1)
    axes[2] += ramp * 0.003 * 2 * np.pi * 12 * np.sin(2 * np.pi * 12 * t)
    return begin + t, axes


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    expect(done.returncode == 0, f"{' '.join(command[:4])}: {done.stderr}")
    return done.stdout


def rows(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def intervals(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def the_day_goes_on(stored, after):
    """The dose of the day or night has what was stored before the kill and what came after it; the floor as well."""
    last = after[-1]
    period = lambda start: (hour := (obspy.UTCDateTime(start) - 7 * 3600).timestamp / 3600) // 24 * 24 + (16 if hour % 24 >= 16 else 0)
    before = [one for one in stored if period(one["start"]) == period(last["start"])]
    now = [one for one in after if period(one["start"]) == period(last["start"])]
    seconds = sum(float(one["seconds"]) for one in before) + sum(one["seconds"] for one in now)
    expect(abs(last["period_seconds"] - seconds) < 0.1, f"the dose is of {last['period_seconds']} s, not of {seconds}")
    for axis in "xyz":
        fourths = sum(float(one[f"{axis}_vdv"]) ** 4 for one in before) + sum(one[axis]["vdv"] ** 4 for one in now)
        expect(abs(last[axis]["vdv_period"] ** 4 / fourths - 1) < 1e-4, f"{axis}: dose {last[axis]['vdv_period']}, not {fourths ** 0.25}")
    print(f"after a kill: the dose has {len(before)} intervals from before it and {len(now)} of this run, {seconds:.0f} s")


async def main(program, tool, folder):
    # From a minute on, some minutes ago.
    begin = int(time.time()) // 60 * 60 - 600
    times, axes = site(begin)
    recording, rest = os.path.join(folder, "site.csv"), os.path.join(folder, "rest.csv")
    for path, late, count in ((recording, 0, len(times)), (rest, SECONDS + 10, MORE * RATE)):
        with open(path, "w", encoding="utf-8") as file:
            file.write("t,x,y,z\n")
            for row in zip(times[:count] + late, *axes):
                file.write(f"{row[0]:.3f},{row[1]:.7f},{row[2]:.7f},{row[3] + 9.80665:.7f}\n")
    broker = await Mosquitto(folder, "site").start()
    uri = f"mqtt://127.0.0.1:{broker.port}"
    agent = Agent(program, folder, "site", {
        "sensor": {"driver": "replay", "replay": {"file": recording, "speed": float(SPEED)}},
        "vibration": {"enabled": True, "band": "din", "interval_s": INTERVAL, "limit": "din4150-3:dwellings:foundation"},
        "storage": {"ring_minutes": 10}, "mqtt": {"uri": uri}})
    agent.start()
    page, table = os.path.join(folder, "site.html"), os.path.join(folder, "site.report.csv")
    stamp = lambda at: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
    try:
        report = [tool, "report", "site", "--broker", uri, "--from", stamp(begin), "--to", stamp(begin + SECONDS), "--limit", "din4150-3:dwellings:foundation",
                  "--output", page, "--csv", table]
        deadline = time.monotonic() + 60
        while True:
            expect(time.monotonic() < deadline, f"the station has not stored all intervals: {agent.words()[-2000:]}")
            if subprocess.run(report, capture_output=True).returncode == 0 and len(rows(table)) >= SECONDS // INTERVAL - 1:
                break
            await asyncio.sleep(0.5)
        # A kill costs nothing that was told.
        agent.kill()
        before = rows(table)
        agent.settings["sensor"] = {"driver": "replay", "replay": {"file": rest, "speed": float(SPEED)}}
        heard = os.path.join(folder, "heard.jsonl")
        ear = broker.listener(heard, "-t", "seismote/site/data/vibration")
        await asyncio.sleep(0.5)
        agent.start()
        deadline = time.monotonic() + 30
        while subprocess.run(report, capture_output=True).returncode != 0:
            expect(time.monotonic() < deadline, "the station does not answer after a kill")
            await asyncio.sleep(0.5)
        told = rows(table)
        # (Intervals of less than a minute are written together; the last may also have come between the report and the kill.)
        both, lost = min(len(told), len(before)), len(before) - len(told)
        kept = told[:both] == before[:both] and -1 <= lost < 60 // INTERVAL
        expect(kept, f"other intervals after a kill: {[one for one in before + told if (one in before) != (one in told)]}")
        wave = os.path.join(folder, "site.mseed")
        said = run(tool, "ctl", "snapshot", "site", "--broker", uri, "--from", stamp(begin), "--to", stamp(begin + SECONDS), "--output", wave, "--json")
        unit = json.loads(said.splitlines()[-1])
        unit = float(re.search(r'"unit_per_count":\s*([0-9.eE+-]+)', json.dumps(unit)).group(1))
        deadline = time.monotonic() + 30
        while len(after := [one for one in intervals(heard) if obspy.UTCDateTime(one["start"]).timestamp >= begin + SECONDS + 10]) < MORE // INTERVAL:
            expect(time.monotonic() < deadline, f"after a kill there were only {len(after)} intervals")
            await asyncio.sleep(0.2)
        ear.terminate()
        the_day_goes_on(told, after)
    finally:
        agent.process.kill()
        broker.stop()

    # The same by SciPy, from what was stored.
    stream = obspy.read(wave).merge()
    traces = [next(trace for trace in stream if trace.stats.channel.endswith(names)) for names in (("E", "1"), ("N", "2"), ("Z",))]
    count = min(len(trace) for trace in traces)
    stored = [np.asarray(trace.data[:count], float) * unit for trace in traces]
    start = traces[0].stats.starttime.ns
    seconds = count / RATE
    expect(abs(seconds - SECONDS) < 15, f"{seconds} s are stored")
    meter.acceleration = lambda rate, _: (np.arange(count) / rate, stored)
    again = {one["start"]: one for one in meter.measure(RATE, 1, 80, 0.8, 100, ["wd", "wd", "wk"], INTERVAL, seconds, start)["intervals"]}
    worst, compared, peaks, shares = {}, 0, [], []
    for row in told:
        at = obspy.UTCDateTime(row["start"]).ns
        if at not in again or at < start + 2 * INTERVAL * 10**9 or float(row["seconds"]) < INTERVAL:
            continue
        compared += 1
        shares.append((again[at]["shares"]["din4150-3:dwellings:foundation"], row))
        for axis, one in zip("xyz", again[at]["axes"]):
            peaks.append((one["ppv"], one["frequency"], axis, row))
            for name, column, floor in (("ppv", "ppv_mm_s", 0.02), ("frequency", "frequency_hz", 0), ("rms", "rms_mm_s", 0.005),
                                        ("kb_fmax", "kb_fmax", 0.02), ("kb_ftm", "kb_ftm", 0.02), ("vdv", "vdv", 0.002)):
                if name == "frequency" and one["ppv"] < 0.2:
                    continue
                found = float(row[f"{axis}_{column}"] or "nan")
                off = abs(found - one[name]) / max(abs(one[name]), floor)
                if off > 0.01:
                    print(f"{row['start']} {axis} {name}: {found:.5g}, by SciPy {one[name]:.5g}")
                worst[name] = max(worst.get(name, 0), off)
    print("intervals", compared, " largest difference: " + ", ".join(f"{name} {100 * value:.2f} %" for name, value in worst.items()))
    expect(compared >= 20, f"only {compared} intervals could be compared")
    expect(all(value < 0.01 for value in worst.values()), f"the report differs from SciPy: {worst}")
    # The machine: 3 mm/s at 12 Hz of the last intervals; the limit there is 5.5 mm/s.
    ppv, hz, _, row = next(one for one in reversed(peaks) if one[2] == "z")
    print(f"machine: {float(row['z_ppv_mm_s']):.3f} mm/s at {float(row['z_frequency_hz']):.2f} Hz; largest peak {max(peaks)[0]:.2f} mm/s at {max(peaks)[1]:.1f} Hz")
    expect(abs(float(row["z_ppv_mm_s"]) / 3 - 1) < 0.08 and abs(float(row["z_frequency_hz"]) - 12) < 0.5, "the machine is not what it is")
    share = max(float(one["share"]) for one in told if one["share"])
    wanted = max(shares, key=lambda one: one[0])[0]
    expect(abs(share / wanted - 1) < 0.02, f"share {share}, not {wanted}")
    # Of every interval that of its worst half cycle, from what is stored of it (frequencies within 0.05 %).
    off = max(abs(float(row["share"]) / one - 1) for one, row in shares)
    limit = lambda f: np.interp(f, [10, 50], [5, 15]) if f >= 10 else 5
    by_peak = sum(max(float(row[f"{axis}_ppv_mm_s"]) / limit(float(row[f"{axis}_frequency_hz"] or 0)) for axis in "xyz") < 0.999 * one for one, row in shares)
    print(f"shares of {len(shares)} intervals: largest difference {100 * off:.3f} %; of {by_peak} the largest peak alone says less")
    expect(off < 0.002, f"a share is off by {off}")
    with open(page, encoding="utf-8") as file:
        text = file.read()
    expect("DIN 4150-3" in text and "<circle" in text and "http" not in text, "the page of the report")
    print(f"share of the limit: {share:.3f}; the report has {len(text) // 1000} kB")


finish(main(*sys.argv[1:4]))
