#!/usr/bin/env python3
"""Earthquakes that are known, as a network of stations would have reported them.

    synthetic.py FOLDER [--earthquakes N] [--stations N] [--seed N] [--model iasp91|homogeneous] ...

Writes onsets.jsonl (input of `seismote network replay`, in order of arrival) and truth.json into FOLDER. Onsets are P
waves with an error of 0.1 s (one standard deviation); peak accelerations follow Cua and Heaton (2009) with a scatter of
0.2 in the logarithm, and a station triggers where the S wave is going to be above 2 cm/s^2; its event ends with that
peak. Of the onsets 10 % are missing, one in ten more is false, and each arrives up to 1.5 s late. With --wrong-clocks that
part of the stations has a clock that is ahead or behind, which clocks.json has.
"""
import argparse
import datetime
import importlib.util
import json
import math
import pathlib
import random

START = 1_760_000_000.0
RADIUS = 6371.0


def stamp(t):
    ns = round(t * 1e3) * 1_000_000
    return datetime.datetime.fromtimestamp(ns // 10**9, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.") + "%09dZ" % (ns % 10**9)


def name(t):
    ms = round(t * 1e3)
    return datetime.datetime.fromtimestamp(ms // 1000, datetime.timezone.utc).strftime("%Y%m%dT%H%M%S") + "%03dZ" % (ms % 1000)


def kilometres(a, b):
    (f, l), (g, m) = [(math.radians(x), math.radians(y)) for x, y in (a, b)]
    h = math.sin((f - g) / 2) ** 2 + math.cos(f) * math.cos(g) * math.sin((l - m) / 2) ** 2
    return 2 * RADIUS * math.asin(math.sqrt(h))


def log_peak(magnitude, r, phase="S"):
    a, b, c, g, d, e = (0.709, 2.3878e-3, 1.722, 0.956, 1.4386, -2.4525e-2) if phase == "S" else (0.74, 3.3e-3, 2.41, 0.95, 1.26, -1.05)
    near = c * math.exp(g * (magnitude - 5)) * (math.atan(magnitude - 5) + 1.4)
    return a * magnitude - b * (r + near) - d * math.log10(r + near) + e


def table():
    """Distances and depths (km), and the seconds of P for each depth, of Sources/Core/Propagation/TravelTimeData.swift."""
    spec = importlib.util.spec_from_file_location("travel_times", pathlib.Path(__file__).with_name("travel-times.py"))
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    times, width = made.read()["p"], len(made.DISTANCES)
    kept = [i for i, z in enumerate(made.DEPTHS) if z <= 40]
    return made.DISTANCES, [made.DEPTHS[i] for i in kept], [times[i * width:(i + 1) * width] for i in kept]


class Times:
    """First P waves of iasp91 by ObsPy, interpolated; `table`: of the table that ObsPy has made for the detector
    (travel-times.py), to 5 ms, since ObsPy takes two minutes for those of small.py; or 6 km/s everywhere."""

    def __init__(self, model):
        if model == "homogeneous":
            self.seconds = lambda d, z: math.hypot(d, z) / 6.0
            return
        import numpy as np
        if model == "table":
            distances, depths, seconds = table()
            at = lambda d, z: [float(np.interp(d, distances, seconds[i])) for i in range(len(depths))]
            self.seconds = lambda d, z: float(np.interp(z, depths, at(d, z))) if d > 8 else math.hypot(d, z) / 5.8
            return
        from obspy.taup import TauPyModel
        taup, cache = TauPyModel("iasp91"), {}

        def column(z):
            if z not in cache:
                cache[z] = np.array([min(a.time for a in taup.get_travel_times(z, math.degrees(d / RADIUS), ["p", "P", "Pg", "Pn", "ttp"])) for d in range(0, 405, 4)])
            return cache[z]
        self.seconds = lambda d, z: float(np.interp(d, np.arange(0, 405, 4), column(z))) if d > 8 else math.hypot(d, z) / 5.8


def make(o):
    rng = random.Random(o.seed)
    times = Times(o.model)
    half = o.size / 2 / 111.19
    lat0, lon0 = 35.0, -117.5
    place = lambda inner=1.0: (lat0 + rng.uniform(-half, half) * inner, lon0 + rng.uniform(-half, half) * inner / math.cos(math.radians(lat0)))
    stations = {"S%03d" % i: place() for i in range(o.stations)}
    # (Dice of their own: without wrong clocks all else is as it was.)
    dice = random.Random(f"clocks {o.seed}")
    wrong = {s: dice.choice([-1, 1]) * o.clock_seconds + dice.uniform(-.1, .1) for s in stations if dice.random() < o.wrong_clocks}
    lines, truth, onsets = [], [], []
    for i in range(o.earthquakes):
        origin = START + 60 + i * o.every + rng.uniform(-10, 10)
        where, depth, magnitude = place(0.85), rng.choice([6, 8, 10, 12, 15]), rng.uniform(4.2, 5.4)
        seen = []
        for station, p in stations.items():
            d = kilometres(where, p)
            scatter = rng.gauss(0, 0.2)
            first, peak = [10 ** (log_peak(magnitude, math.hypot(d, depth), p) + scatter) / 100 for p in "PS"]
            if peak < 0.02 * o.sensitivity or d > 400 or rng.random() < o.missing:
                continue
            t = origin + times.seconds(d, depth) + rng.gauss(0, o.noise) + wrong.get(station, 0)
            seen.append((t, station, peak))
            onsets.append((t, station, first, peak, 0.8 * math.hypot(d, depth) / 6 + 5))
        truth.append(dict(origin=origin, latitude=where[0], longitude=where[1], depth=depth, magnitude=magnitude, onsets=sorted(seen)))
    end = START + 60 + o.earthquakes * o.every
    for _ in range(round(len(onsets) * o.false) if o.earthquakes else o.false_onsets):
        onsets.append((rng.uniform(START, end if o.earthquakes else START + o.hours * 3600), rng.choice(sorted(stations)), 10 ** rng.uniform(-2, -1), None, None))
    sent = []
    for t, station, first, peak, after in onsets:
        sent.append((t + rng.uniform(0.05, o.late), "onset", t, station, first, 0))
        if after:
            sent.append((t + after + rng.uniform(0.05, o.late), "end", t, station, peak, after))
    seq = {}
    out = []
    for station, p in stations.items():
        out.append(dict(topic=f"seismote/{station}/state/info", arrival=START - 10, payload=dict(
            v=1, boot="00000000-0000-4000-8000-000000000001", seq=0, t=stamp(START - 10), station=dict(id=station, latitude=round(p[0], 6), longitude=round(p[1], 6), elevation_m=0))))
    for arrival, kind, t, station, peak, after in sorted(sent):
        seq[station] = seq.get(station, -1) + 1
        out.append(dict(topic=f"seismote/{station}/event/trigger", arrival=round(arrival, 6), payload=dict(
            v=1, boot="00000000-0000-4000-8000-000000000001", seq=seq[station], t=stamp(t + after), station=station, event_type=kind,
            event_id=f"{station}-{name(t)}", onset=stamp(t), duration_s=round(after, 2), pga=round(peak, 6), pgv=0.0)))
    return out, truth, stations, wrong


def arguments():
    a = argparse.ArgumentParser()
    a.add_argument("--earthquakes", type=int, default=40)
    a.add_argument("--stations", type=int, default=300)
    a.add_argument("--size", type=float, default=400, help="kilometres")
    a.add_argument("--every", type=float, default=60, help="seconds between earthquakes")
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--model", default="iasp91", choices=["iasp91", "homogeneous"])
    a.add_argument("--noise", type=float, default=0.1)
    a.add_argument("--missing", type=float, default=0.1)
    a.add_argument("--false", type=float, default=0.1)
    a.add_argument("--late", type=float, default=1.5)
    a.add_argument("--sensitivity", type=float, default=1.0)
    a.add_argument("--wrong-clocks", type=float, default=0, help="part of the stations")
    a.add_argument("--clock-seconds", type=float, default=2, help="by which they are ahead or behind")
    a.add_argument("--false-onsets", type=int, default=0, help="without earthquakes: so many")
    a.add_argument("--hours", type=float, default=10)
    return a


if __name__ == "__main__":
    a = arguments()
    a.add_argument("folder", type=pathlib.Path)
    o = a.parse_args()
    o.folder.mkdir(parents=True, exist_ok=True)
    out, truth, _, wrong = make(o)
    (o.folder / "onsets.jsonl").write_text("".join(json.dumps(x) + "\n" for x in out))
    (o.folder / "truth.json").write_text(json.dumps(truth))
    (o.folder / "clocks.json").write_text(json.dumps(wrong))
    print(len(out), "messages;", sum(len(t["onsets"]) for t in truth), "true onsets,", min((len(t["onsets"]) for t in truth), default=0), "to", max((len(t["onsets"]) for t in truth), default=0), "an earthquake")
