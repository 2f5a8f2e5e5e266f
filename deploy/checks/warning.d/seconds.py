#!/usr/bin/env python3
"""How many seconds before S is a place warned, and which places are?

    seconds.py TOOL FOLDER [--seed N] [--short] [--judge] [--figure FILE]

Earthquakes of M 5, 6 and 7 below a network with a station every 10 km; what stations at places around them would have said
is computed by `seismote network replay --warn-at`. A row for each magnitude and distance: seconds from the warning to S at
the places that were warned (median, and one in ten is below), and the share that was warned at all, with `event/warning`
and with the alarm line.
"""
import argparse
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys

from shaking import Shaking, Tables, info, lattice, shift
from synthetic import START
from score import seconds

CENTRE = (38.0, 23.0)
DISTANCES = [0, 10, 20, 30, 40, 50, 60, 80, 100]
# Of places with this PGV (m/s) and more, and of those that S has not reached when the network has located it.
STRONG = 0.01


def one(tool, folder, rng, times, magnitude, mmi):
    """What places were told of an earthquake: [(km, PGV, S, first warning, first alarm)]"""
    stations = lattice(rng, CENTRE, 12)
    quake = Shaking(times, START + 60, shift(CENTRE, rng.uniform(-15, 15), rng.uniform(-15, 15)), rng.uniform(6, 14), magnitude)
    lines = [(START - 10, f"seismote/{s}/state/info", info(s, p, START - 10)) for s, p in stations.items()] + sorted(quake.messages(rng, stations), key=lambda x: x[0])
    (folder / "onsets.jsonl").write_text("".join(json.dumps(dict(topic=t, payload=p, arrival=round(a, 6))) + "\n" for a, t, p in lines))
    places = {}
    for km in DISTANCES:
        for i in range(8):
            angle = 2 * math.pi * (i + rng.random()) / 8
            p = shift(quake.place, km * math.sin(angle), km * math.cos(angle))
            places[f"{p[0]:.5f},{p[1]:.5f}"] = (km, p)
    done = [x for place in places for x in ("--warn-at", place)]
    subprocess.run([tool, "network", "replay", folder / "onsets.jsonl", "--early", "--quiet", "--output", folder / "events.jsonl", "--warnings",
                    folder / "warnings.jsonl", "--warn-mmi", str(mmi), *done], check=True)
    told, alarmed = {}, {}
    for line in (folder / "warnings.jsonl").read_text().splitlines():
        found = json.loads(line)
        said = found["warning"]
        if said["state"] == "coming":
            told.setdefault(found["place"], said)
            if said["alarm"]:
                alarmed.setdefault(found["place"], said)
    rows = []
    for text, (km, place) in places.items():
        here = quake.at(place, rng.gauss(0, 0.25))
        rows.append((km, here["pgv"], here["s"], *[seconds(x[text]["issued"]) if text in x else math.nan for x in (told, alarmed)],
                     told[text]["mmi"] if text in told else math.nan))
    first = min((seconds(json.loads(x)["t"]) for x in (folder / "events.jsonl").read_text().splitlines()), default=math.nan)
    return rows, first - quake.origin


def main():
    a = argparse.ArgumentParser()
    a.add_argument("tool")
    a.add_argument("folder", type=pathlib.Path)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--short", action="store_true")
    a.add_argument("--judge", action="store_true")
    a.add_argument("--figure", type=pathlib.Path)
    o = a.parse_args()
    o.folder.mkdir(parents=True, exist_ok=True)
    times, wrong, curves, strong, reached = Tables(), [], {}, [], []
    each = 4 if o.short else 20
    print("M     km  warned  seconds before S  (1 in 10)   line at IV  seconds")
    for magnitude in (5.0, 6.0, 7.0):
        rows, firsts = [], []
        for i in range(each):
            found, first = one(o.tool, o.folder, random.Random(f"{o.seed} {magnitude} {i}"), times, magnitude, 4.0)
            rows += found
            firsts.append(first)
        for km in DISTANCES:
            here = [x for x in rows if x[0] == km]
            told = sorted(s - at for _, _, s, at, *_ in here if at < s)
            line = sorted(s - at for _, _, s, _, at, _ in here if at < s)
            middle = lambda x: statistics.median(x) if x else math.nan
            print(f"{magnitude:.0f}    {km:3d}  {len(told) / len(here):5.0%}  {middle(told):10.1f}  {told[len(told) // 10] if told else math.nan:16.1f}"
                  f"  {len(line) / len(here):12.0%}  {middle(line):8.1f}", flush=True)
            if len(told) >= len(here) / 2:
                curves.setdefault(magnitude, []).append((km, middle(told)))
            if magnitude == 6.0 and km == 50:
                print(f"      at 50 km from M 6: {middle(told):.1f} s before S (median of {len(told)} of {len(here)} places)")
                if not told or middle(told) < 8 or len(told) < len(here) * .9:
                    wrong.append(f"at 50 km from an M 6: {len(told)} of {len(here)} warned, {middle(told):.1f} s before S")
        strong += [x for x in rows if x[1] >= STRONG]
        print(f"M {magnitude:.0f}: the first version of the network event {statistics.median(firsts):.1f} s after the origin (median)", flush=True)
    warned = [x for x in strong if x[3] < x[2] + 10]
    before = [x for x in strong if x[3] < x[2]]
    line = [x for x in strong if x[4] < x[2] + 10]
    share = len(warned) / len(strong)
    print(f"places with a PGV of 1 cm/s and more: {len(warned)} of {len(strong)} warned ({share:.0%}), {len(before)} of them before S; the line sounds at "
          f"{len(line)} from IV on")
    if share < .9:
        wrong.append(f"of {len(strong)} places with a PGV of 1 cm/s and more {share:.0%} were warned")
    if o.figure:
        draw(o.figure, curves)
    for x in wrong:
        print("wrong:", x)
    return 1 if wrong and o.judge else 0


def draw(path, curves):
    """Seconds over distance, a line for each magnitude, as SVG."""
    width, height, left, top, right, bottom = 640, 360, 60, 20, 20, 50
    x = lambda km: left + km / 100 * (width - left - right)
    y = lambda s: height - bottom - s / 28 * (height - top - bottom)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13" role="img" '
             'aria-label="Seconds of warning before the S wave by distance from the epicentre, for magnitudes 5, 6 and 7">',
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    for s in range(0, 28, 5):
        parts.append(f'<line x1="{left}" x2="{width - right}" y1="{y(s):.1f}" y2="{y(s):.1f}" stroke="#d5dae0"/>'
                     f'<text x="{left - 8}" y="{y(s) + 4:.1f}" text-anchor="end" fill="#333">{s}</text>')
    for km in range(0, 101, 20):
        parts.append(f'<text x="{x(km):.1f}" y="{height - bottom + 20}" text-anchor="middle" fill="#333">{km}</text>')
    parts.append(f'<text x="{(left + width - right) / 2}" y="{height - 10}" text-anchor="middle" fill="#333">km from the epicentre</text>')
    parts.append(f'<text transform="translate(18 {(top + height - bottom) / 2}) rotate(-90)" text-anchor="middle" fill="#333">seconds before S (median)</text>')
    for (magnitude, points), colour, dash in zip(sorted(curves.items()), ("#1f6f43", "#b35900", "#a3150e"), ("2 4", "8 4", "")):
        line = " ".join(f"{x(km):.1f},{y(s):.1f}" for km, s in points)
        style = f' stroke-dasharray="{dash}"' if dash else ""
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2.5"{style}/>')
        km, s = points[-1]
        parts.append(f'<text x="{x(km) - 6:.1f}" y="{y(s) - 8:.1f}" text-anchor="end" fill="{colour}">M {magnitude:.0f}</text>')
    path.write_text("\n".join([*parts, "</svg>", ""]))


if __name__ == "__main__":
    sys.exit(main())
