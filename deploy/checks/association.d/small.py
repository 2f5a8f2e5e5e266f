#!/usr/bin/env python3
"""Networks of 5 to 12 stations, 11 to 100 km wide: are their earthquakes where they were?

    small.py TOOL FOLDER [--seed N ...] [--networks N] [--few] [--missing P] [--false P] [--early] [--outside]
             [--sizes KMxN,...] [--short] [--list] [--judge]

A row for each size: P onsets by iasp91 with an error of 0.15 s; earthquakes inside the network, or, with --outside, up to
100 km beyond it. Beside the last version of each network event stands the least-squares grid on the same onsets: constant
weights, cells of 1 km within the network's box widened by half of itself, depths 2 to 20 km.

--few has networks of 5 and 6 stations alone. --missing is the part of the onsets that are missing, --false the probability
that a station has a false one within 60 s of the origin. `of` are the earthquakes with four onsets or more, of which
`found` are found; `less` are those with fewer onsets, and how many of these are found. `extra` are second events of an
earthquake and events of false onsets alone. `depth` is the median of the depths minus the true ones, km.

Peaks scatter as much as the magnitude relation says: all peaks of an earthquake are those of a magnitude that is 0.2 off (one
standard deviation), and each station differs from these. `error` and `bias` are standard deviation and mean of the magnitude
minus the true one. `1 s` is the part of the magnitudes that are within their own sigma of the true one, and `alike` the part
that are within it of the magnitude that the peaks were made with.

--sizes names the networks, such as 40x5,11x6: kilometres and stations. --short has fewer sizes, and the times of the detector's
own table, which ObsPy has made. Several seeds are counted together. --list names what is missed.
"""
import argparse
import itertools
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys

import numpy as np

import score
from synthetic import START, Times, kilometres, log_peak, name, stamp

ROWS = [(11, 6), (11, 10), (22, 6), (22, 10), (40, 5), (40, 6), (40, 8), (40, 12), (67, 6), (67, 10), (100, 6), (100, 10)]
EACH = 10
FEW = [(size, count) for count in (5, 6) for size in (11, 22, 40, 67, 100)]
SHORT = [(11, 6), (40, 5), (40, 8), (100, 6)]
KM = 111.19
# Standard deviations of the peaks, as in MagnitudeRelation.swift: of an earthquake's average, in units of magnitude, and of a
# station within the earthquake, in the logarithm of the peak.
BETWEEN, WITHIN = .2, (.3261 ** 2 - (.2 * .709) ** 2) ** .5


def shift(centre, east, north):
    return centre[0] + north / KM, centre[1] + east / (KM * math.cos(math.radians(centre[0])))


class Network:
    def __init__(self, rng, size, stations, times):
        self.rng, self.size, self.times = rng, size, times
        self.centre = (rng.uniform(-45, 45), rng.uniform(-170, 170))
        self.stations = {f"S{i:03d}": shift(self.centre, rng.uniform(-.5, .5) * size, rng.uniform(-.5, .5) * size) for i in range(stations)}

    def inside(self, place):
        """Whether a place is inside the hull of the stations."""
        points = [((p[1] - place[1]) * math.cos(math.radians(place[0])), p[0] - place[0]) for p in self.stations.values()]
        angles = sorted(math.atan2(y, x) for x, y in points)
        gaps = [b - a for a, b in zip(angles, angles[1:])] + [angles[0] + 2 * math.pi - angles[-1]]
        return max(gaps) < math.pi

    def source(self, outside):
        while True:
            if outside:
                angle, distance = self.rng.uniform(0, 2 * math.pi), self.size * .6 + self.rng.uniform(5, 100)
                place = shift(self.centre, distance * math.cos(angle), distance * math.sin(angle))
            else:
                place = shift(self.centre, self.rng.uniform(-.5, .5) * self.size, self.rng.uniform(-.5, .5) * self.size)
            if self.inside(place) != outside:
                return place

    def messages(self, origin, outside, missing=0.0, false=0.0):
        """An earthquake: what is true of it, and what the stations say."""
        rng, place = self.rng, self.source(outside)
        depth, magnitude = rng.uniform(5, 15), rng.uniform(4.2, 5.4)
        alike = magnitude + rng.gauss(0, BETWEEN)
        onsets, sent = [], []
        for station, p in self.stations.items():
            d = kilometres(place, p)
            t = origin + self.times.seconds(d, round(depth)) + rng.gauss(0, .15)
            scatter = rng.gauss(0, WITHIN)
            first, peak = [10 ** (log_peak(alike, math.hypot(d, depth), x) + scatter) / 100 for x in "PS"]
            after = .8 * math.hypot(d, depth) / 6 + 5
            if false and rng.random() < false:
                stray, size = origin + rng.uniform(-60, 60), 10 ** rng.uniform(-2, -1)
                sent += [(stray + rng.uniform(.05, .5), "onset", stray, station, size, 0), (stray + 8 + rng.uniform(.05, .5), "end", stray, station, size, 8)]
            if missing and rng.random() < missing:
                continue
            onsets.append((t, station, peak))
            sent += [(t + rng.uniform(.05, .5), "onset", t, station, first, 0), (t + after + rng.uniform(.05, .5), "end", t, station, peak, after)]
        return dict(origin=origin, latitude=place[0], longitude=place[1], depth=depth, magnitude=magnitude, alike=alike, onsets=sorted(onsets)), sent


def lines(stations, sent):
    seq = {}
    boot = "00000000-0000-4000-8000-000000000001"
    for station, p in stations.items():
        yield dict(topic=f"seismote/{station}/state/info", arrival=START - 10, payload=dict(
            v=1, boot=boot, seq=0, t=stamp(START - 10), station=dict(id=station, latitude=round(p[0], 6), longitude=round(p[1], 6), elevation_m=0)))
    for arrival, kind, t, station, peak, after in sorted(sent):
        seq[station] = seq.get(station, -1) + 1
        yield dict(topic=f"seismote/{station}/event/trigger", arrival=round(arrival, 6), payload=dict(
            v=1, boot=boot, seq=seq[station], t=stamp(t + after), station=station, event_type=kind, event_id=f"{station}-{name(t)}",
            onset=stamp(t), duration_s=round(after, 2), pga=round(peak, 6), pgv=0.0))


def grid(network, onsets, times):
    """The plain least-squares grid; the epicentre."""
    names = [s for _, s, _ in onsets]
    observed = np.array([t for t, _, _ in onsets])
    reach = np.arange(-network.size, network.size + .5, max(.5, network.size / 80))
    east, north = np.meshgrid(reach, reach)
    distances = []
    for s in names:
        p = network.stations[s]
        x = (p[1] - network.centre[1]) * KM * math.cos(math.radians(network.centre[0]))
        y = (p[0] - network.centre[0]) * KM
        distances.append(np.hypot(east - x, north - y))
    best = (math.inf, None)
    for depth in range(2, 21, 2):
        reckoned = np.stack([observed[i] - times.many(d, depth) for i, d in enumerate(distances)])
        cost = ((reckoned - reckoned.mean(0)) ** 2).sum(0)
        at = np.unravel_index(cost.argmin(), cost.shape)
        if cost[at] < best[0]:
            best = (cost[at], shift(network.centre, east[at], north[at]))
    return best[1]


class Tables(Times):
    def __init__(self, model="iasp91"):
        super().__init__(model)
        self.kept = {}

    def many(self, distances, depth):
        if depth not in self.kept:
            self.kept[depth] = np.array([self.seconds(float(x), depth) for x in range(0, 405)])
        return np.interp(distances, np.arange(0, 405), self.kept[depth])


def in_region(rings, place):
    """Whether a point is inside an odd number of rings."""
    count = 0
    for ring in rings:
        ring = list(zip(ring["latitude"], ring["longitude"]))
        for (y0, x0), (y1, x1) in zip(ring, ring[1:] + ring[:1]):
            if (y0 > place[0]) != (y1 > place[0]) and place[1] < x0 + (place[0] - y0) / (y1 - y0) * (x1 - x0):
                count += 1
    return count % 2 == 1


def main():
    a = argparse.ArgumentParser()
    a.add_argument("tool")
    a.add_argument("folder", type=pathlib.Path)
    a.add_argument("--seed", type=int, nargs="+", default=[1])
    a.add_argument("--networks", type=int, default=12)
    a.add_argument("--few", action="store_true")
    a.add_argument("--missing", type=float, default=0)
    a.add_argument("--false", type=float, default=0)
    a.add_argument("--early", action="store_true")
    a.add_argument("--sizes", help="such as 40x5,11x6")
    a.add_argument("--outside", action="store_true")
    a.add_argument("--short", action="store_true")
    a.add_argument("--judge", action="store_true")
    a.add_argument("--list", action="store_true", help="names what is missed")
    o = a.parse_args()
    o.folder.mkdir(parents=True, exist_ok=True)
    times, wrong = Tables("table" if o.short else "iasp91"), []
    print("  km  n    of  found  less extra  >20km >50km  median  grid  >20km   depth  M>=6.5  with M  error   bias  1 s  alike  good  in 90%  said outside", flush=True)
    sizes = [tuple(int(x) for x in one.split("x")) for one in o.sizes.split(",")] if o.sizes else SHORT if o.short else FEW if o.few else ROWS
    for size, stations in sizes:
        total, found, extra, far, very, km, plain, big, magnitudes, inside, good, outside = 0, 0, 0, 0, 0, [], [], 0, [], [], 0, 0
        depths, within, alike, less, little = [], 0, 0, 0, 0
        dice = {seed: random.Random(f"{seed} {size} {stations} {o.outside}") for seed in o.seed}
        for seed, number in itertools.product(o.seed, range(o.networks)):
            network = Network(dice[seed], size, stations, times)
            truth, sent = [], []
            for i in range(EACH):
                one, messages = network.messages(START + 60 + 200 * i, o.outside, o.missing, o.false)
                truth.append(one)
                sent += messages
            (o.folder / "onsets.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines(network.stations, sent)))
            subprocess.run([o.tool, "network", "replay", str(o.folder / "onsets.jsonl"), "--output", str(o.folder / "events.jsonl")] + ["--early"] * o.early, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            last = [e["last"] for e in score.events(o.folder / "events.jsonl").values()]
            last = [m for m in last if "merged_into" not in m and not m.get("withdrawn")]
            claimed = set()
            for at, one in enumerate(truth):
                own = {s for _, s, _ in one["onsets"]}
                mine = [m for m in last if any(s["id"] in own and abs(score.seconds(s["onset"]) - t) < .01 for s in m["stations"] for t, n, _ in one["onsets"] if n == s["id"])]
                extra += max(0, len(mine) - 1)
                claimed |= {m["event_id"] for m in mine}
                if len(one["onsets"]) < 4:
                    less += 1
                    little += bool(mine)
                    continue
                total += 1
                if not mine:
                    if o.list:
                        print(f"missed: seed {seed}, {size} km, {stations} stations, network {number}, earthquake {at}, {len(one['onsets'])} onsets")
                    continue
                found += 1
                m = mine[0]
                true = (one["latitude"], one["longitude"])
                km.append(kilometres((m["latitude"], m["longitude"]), true))
                plain.append(kilometres(grid(network, one["onsets"], times), true))
                far += km[-1] > 20
                very += km[-1] > 50
                depths.append(m["depth_km"] - one["depth"])
                place = m.get("place") or {}
                good += place.get("quality") == "good"
                outside += place.get("quality") == "outside"
                if place.get("region"):
                    inside.append(in_region(place["region"], true))
                if m["magnitude"]:
                    magnitudes.append(m["magnitude"]["value"] - one["magnitude"])
                    within += abs(magnitudes[-1]) <= m["magnitude"]["sigma"]
                    alike += abs(m["magnitude"]["value"] - one["alike"]) <= m["magnitude"]["sigma"]
                    big += m["magnitude"]["value"] >= 6.5
            extra += len([m for m in last if m["event_id"] not in claimed])
        middle, other = statistics.median(km), statistics.median(plain)
        part = lambda count: count / len(magnitudes) if magnitudes else math.nan
        covered = sum(inside) / len(inside) if inside else math.nan
        print(f"{size:4d} {stations:2d} {total:5d}  {found:5d} {little:2d}/{less:2d} {extra:5d}  {far:5d} {very:5d}  {middle:6.2f} {other:5.2f}  {sum(x > 20 for x in plain):5d}  {statistics.median(depths):+6.1f}  {big:6d} "
              f" {len(magnitudes):6d}  {statistics.pstdev(magnitudes) if magnitudes else math.nan:5.2f}  {statistics.mean(magnitudes) if magnitudes else math.nan:+5.2f} "
              f"{part(within):4.2f}  {part(alike):5.2f}  {good:5d}  {covered:6.2f}  {outside:5d}", flush=True)
        if found < total - max(1, total * .05) or extra:
            wrong.append(f"{size} km, {stations} stations: {found} of {total} found, {extra} extra")
        if big:
            wrong.append(f"{size} km, {stations} stations: a magnitude of 6.5 or more {big} times, of at most 5.4")
        if not o.outside and (far > total * .01 or middle > 1.5 * other):
            wrong.append(f"{size} km, {stations} stations: {far} of {total} more than 20 km off, median {middle:.2f} km, plain grid {other:.2f} km")
        if not covered >= .85:
            wrong.append(f"{size} km, {stations} stations: the epicentre is in the 90 % region in {covered:.2f}")
    for one in wrong:
        print("wrong:", one)
    return 1 if wrong and o.judge else 0


if __name__ == "__main__":
    sys.exit(main())
