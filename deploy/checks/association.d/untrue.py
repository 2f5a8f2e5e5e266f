#!/usr/bin/env python3
"""What is no earthquake, or is not as stations say: does the associator make network events of it?

    untrue.py TOOL FOLDER [--seed N] [--only PART] [--short] [--early] [--judge]

A row for each case, with simulated stations: `published` counts events of which any version was published, `left` those
that were neither withdrawn nor merged in the end. Where there are earthquakes as well, `found` says how many of them are
among these, and `extra` what is left besides. `alarms`: how often stations at nine places would have sounded their alarm
line (`alarm.network`).
"""
import argparse
import json
import math
import pathlib
import random
import subprocess
import sys

import score
from small import Tables, lines, shift
from synthetic import START, kilometres, log_peak

CENTRE = (38.0, 23.0)


def network(rng, count, size, prefix="S"):
    return {f"{prefix}{i:03d}": shift(CENTRE, rng.uniform(-.5, .5) * size, rng.uniform(-.5, .5) * size) for i in range(count)}


def one(rng, sent, t, station, first, peak=None, after=None, late=.5, likely=None, p=None):
    """An onset of a station, what follows of its class, and its end."""
    sent.append((t + rng.uniform(.05, late), "onset", t, station, first, 0, None))
    if likely:
        sent.append((t + 1.2 + rng.uniform(.05, late), "update", t, station, first, 1.0, dict(likely=likely, p=p, t_s=1.0, certain=False, moved=False)))
    after = after or rng.uniform(5, 20)
    sent.append((t + after + rng.uniform(.05, late), "end", t, station, peak or first, after,
                 dict(likely=likely, p=p, t_s=3.0, certain=likely == "disturbance", moved=False) if likely else None))


def earthquake(rng, times, stations, sent, origin, place, depth, magnitude, missing=.1, offset=None, likely=None):
    seen = []
    for station, p in stations.items():
        d = kilometres(place, p)
        scatter = rng.gauss(0, .2)
        first, peak = [10 ** (log_peak(magnitude, math.hypot(d, depth), x) + scatter) / 100 for x in "PS"]
        if peak < .02 or d > 400 or rng.random() < missing:
            continue
        t = origin + times.seconds(d, round(depth)) + rng.gauss(0, .15) + (offset or {}).get(station, 0)
        seen.append((t, station, peak))
        one(rng, sent, t, station, first, peak, .8 * math.hypot(d, depth) / 6 + 5, likely=likely, p=.9)
    return dict(origin=origin, latitude=place[0], longitude=place[1], depth=depth, magnitude=magnitude, onsets=sorted(seen))


def transient(count, size, share, width, every=200, trials=10):
    """A share of all stations has an onset within so many seconds: mains, a step of the clocks, a restart of a fleet."""
    def case(rng, times):
        stations, sent = network(rng, count, size), []
        for i in range(trials):
            t = START + 60 + every * i
            for station in stations:
                if rng.random() < share:
                    one(rng, sent, t + rng.uniform(0, width), station, 10 ** rng.uniform(-2, -1))
        return stations, sent, [], trials
    return case


def street(hours):
    """60 stations in 10 km: lorries along streets, gusts over all."""
    def case(rng, times):
        stations, sent = network(rng, 60, 10), []
        xy = {s: ((p[1] - CENTRE[1]) * 111.19 * math.cos(math.radians(CENTRE[0])), (p[0] - CENTRE[0]) * 111.19) for s, p in stations.items()}
        for _ in range(round(40 * hours)):  # lorries: houses within 300 m of a straight street
            t0, angle, off, speed = START + rng.uniform(0, 3600 * hours), rng.uniform(0, math.pi), rng.uniform(-4, 4), rng.uniform(.008, .02)
            for s, (x, y) in xy.items():
                along, across = x * math.cos(angle) + y * math.sin(angle), -x * math.sin(angle) + y * math.cos(angle)
                if abs(across - off) < .3:
                    one(rng, sent, t0 + (along + 7) / speed + rng.gauss(0, 1), s, 10 ** rng.uniform(-1.5, -.3))
        for _ in range(round(60 * hours)):  # gusts: a third to all of the stations, within some seconds to a minute
            t0, share, width = START + rng.uniform(0, 3600 * hours), rng.uniform(.2, .9), 10 ** rng.uniform(.5, 1.8)
            for s in xy:
                if rng.random() < share:
                    one(rng, sent, t0 + rng.uniform(0, width), s, 10 ** rng.uniform(-2, -.5))
        return stations, sent, [], hours
    return case


def footsteps(hours):
    """Ten houses of a village, each with footsteps four times a minute for a part of the time, which each station sees through."""
    def case(rng, times):
        stations, sent = network(rng, 10, 2), []
        for s in stations:
            t = START
            while t < START + 3600 * hours:
                t += rng.expovariate(1 / 15)
                if rng.random() < .5:
                    t += rng.uniform(0, 120)
                one(rng, sent, t, s, 10 ** rng.uniform(-1.7, -.7), after=6, likely="disturbance", p=rng.uniform(.01, .3))
        return stations, sent, [], hours
    return case


def shelves(trials):
    """Ten houses within 2 km feel the same blow (a blast, a door of a factory): all take it for a disturbance."""
    def case(rng, times):
        stations, sent = network(rng, 10, 2), []
        for i in range(trials):
            for s, p in stations.items():
                one(rng, sent, START + 60 + 120 * i + rng.uniform(0, .5), s, 10 ** rng.uniform(-1.7, -.7), likely="disturbance", p=rng.uniform(.01, .3))
        return stations, sent, [], trials
    return case


def twins(apart, trials):
    def case(rng, times):
        stations, sent, truth = network(rng, 200, 300), [], []
        for i in range(trials):
            t, angle = START + 60 + 200 * i, rng.uniform(0, 2 * math.pi)
            middle = (rng.uniform(-60, 60), rng.uniform(-60, 60))
            later = rng.uniform(0, 10)
            east, north = apart / 2 * math.cos(angle), apart / 2 * math.sin(angle)
            pair = [(t, shift(CENTRE, middle[0] + east, middle[1] + north)), (t + later, shift(CENTRE, middle[0] - east, middle[1] - north))]
            both = []
            for origin, place in pair:
                other = []
                truth.append(earthquake(rng, times, stations, other, origin, place, rng.uniform(6, 14), rng.uniform(4.4, 5.2)))
                both += other
            # A station that shakes does not trigger again: of two onsets the first one.
            first = {}
            for x in both:
                if x[1] == "onset":
                    first[x[3]] = min(first.get(x[3], math.inf), x[2])
            sent += [x for x in both if first[x[3]] == x[2]]
            for e in truth[-2:]:
                e["onsets"] = [x for x in e["onsets"] if first[x[1]] == x[0]]
        return stations, sent, truth, trials
    return case


def clocks(trials):
    def case(rng, times):
        stations, sent = network(rng, 200, 300), []
        wrong = {s: rng.choice([-2, 2]) + rng.uniform(-.1, .1) for s in stations if rng.random() < .3}
        truth = [earthquake(rng, times, stations, sent, START + 60 + 120 * i, shift(CENTRE, rng.uniform(-110, 110), rng.uniform(-110, 110)),
                            rng.uniform(6, 14), rng.uniform(4.4, 5.2), offset=wrong) for i in range(trials)]
        return stations, sent, truth, trials, wrong
    return case


def invented(trials, magnitude, apart):
    """Six stations among a hundred make up an earthquake, each with times and peaks that fit."""
    def case(rng, times):
        stations, sent = network(rng, 100, 120), []
        for i in range(trials):
            place = shift(CENTRE, rng.uniform(-40, 40), rng.uniform(-40, 40))
            liars = {}
            for k in range(6):
                liars[f"X{i:02d}{k}"] = shift(place, rng.uniform(-1, 1) * apart, rng.uniform(-1, 1) * apart)
            stations.update(liars)
            earthquake(rng, times, liars, sent, START + 60 + 200 * i, place, 8, magnitude, missing=0, likely="earthquake")
        return stations, sent, [], trials
    return case


def houses(hours, count=30, size=60):
    """Houses, each with ten false onsets in three hours."""
    def case(rng, times):
        stations, sent, t = network(rng, count, size), [], START
        while t < START + 3600 * hours:
            t += rng.expovariate(count * 10 / 3 / 3600)
            one(rng, sent, t, rng.choice(list(stations)), 10 ** rng.uniform(-2, -.3))
        return stations, sent, [], hours
    return case


CASES = {
    "mains, 100 in 100 km": transient(100, 100, .8, 1.0),
    "mains, 300 in 400 km": transient(300, 400, .8, 1.0),
    "mains, 10 in 40 km": transient(10, 40, .8, .3),
    "time step, 60 in 60 km": transient(60, 60, .9, .2),
    "restart, 100 in 100 km": transient(100, 100, .95, 20.0),
    "restart, 60 in 10 km": transient(60, 10, .95, 10.0),
    "lorries and gusts": street(2),
    "footsteps": footsteps(2),
    "blows in a village": shelves(10),
    "30 houses, 6 hours": houses(6),
    "30 houses, 10 days": houses(240),
    "6 houses, 20 days": houses(480, 6, 40),
    "twins 60 km apart": twins(60, 10),
    "twins 100 km apart": twins(100, 10),
    "30 % of clocks wrong": clocks(12),
    "six invented, M 7": invented(10, 7.0, 8),
    "six invented, M 5": invented(10, 5.0, 8),
}
# Fewer of each, since a moment that many stations share takes seconds of processor.
SHORT = {
    "mains, 100 in 100 km": transient(100, 100, .8, 1.0, trials=2),
    "mains, 10 in 40 km": transient(10, 40, .8, .3),
    "time step, 60 in 60 km": transient(60, 60, .9, .2, trials=2),
    "lorries and gusts": street(.5),
    "blows in a village": shelves(10),
    "30 houses, 6 hours": houses(6),
    "six invented, M 7": invented(3, 7.0, 8),
}


def send(stations, sent):
    """As `small.lines`, with classes and updates."""
    plain = list(lines(stations, [x[:6] for x in sent]))
    classes = {(x[3], x[1], round(x[2] * 1e3)): x[6] for x in sent if x[6]}
    for m in plain:
        p = m["payload"]
        if "event_type" in p:
            found = classes.get((p["station"], p["event_type"], round(score.seconds(p["onset"]) * 1e3)))
            if found:
                p["class"] = found
    return plain


def main():
    a = argparse.ArgumentParser()
    a.add_argument("tool")
    a.add_argument("folder", type=pathlib.Path)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--only")
    a.add_argument("--short", action="store_true")
    a.add_argument("--early", action="store_true")
    a.add_argument("--judge", action="store_true")
    o = a.parse_args()
    o.folder.mkdir(parents=True, exist_ok=True)
    times, wrong = Tables("table" if o.short else "iasp91"), []
    print(f"{'case':26s} {'of':>4s}  published  left  disputed  found  extra  alarms")
    places = [shift(CENTRE, east, north) for east in (-15, 0, 15) for north in (-15, 0, 15)]
    at = [x for p in places for x in ("--warn-at", f"{p[0]:.4f},{p[1]:.4f}")]
    for title, case in (SHORT if o.short else CASES).items():
        if o.only and o.only not in title:
            continue
        stations, sent, truth, trials, *more = case(random.Random(f"{o.seed} {title}"), times)
        (o.folder / "onsets.jsonl").write_text("".join(json.dumps(x) + "\n" for x in send(stations, sent)))
        done = subprocess.run([o.tool, "network", "replay", str(o.folder / "onsets.jsonl"), "--output", str(o.folder / "events.jsonl"),
                               "--warnings", str(o.folder / "warnings.jsonl"), *at] + ["--early"] * o.early,
                              check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        events = score.events(o.folder / "events.jsonl")
        left = [e["last"] for e in events.values() if "merged_into" not in e["last"] and not e["last"].get("withdrawn")]
        disputed = [m for m in left if m.get("disputed")]
        said = [json.loads(x)["warning"] for x in (o.folder / "warnings.jsonl").read_text().splitlines()]
        alarms = [x for x in said if x["alarm"]]
        found, extra = math.nan, len(left)
        if truth:
            result = score.score(o.folder / "events.jsonl", truth)
            found, extra = result["found"], result["extra"]
        print(f"{title:26s} {trials:4g}  {len(events):9d}  {len(left):4d}  {len(disputed):8d}  {found:5}  {extra:5d}  {len(alarms):6d}", flush=True)
        if alarms and not truth:
            wrong.append(f"{title}: {len(alarms)} alarms, such as of {alarms[0]}")
        if title.startswith(("mains", "time", "restart", "foot", "blows", "30 houses", "6 houses")) and events:
            wrong.append(f"{title}: {len(events)} network events")
        if title.startswith("lorries") and len(events) > max(1, trials):
            wrong.append(f"{title}: {len(events)} network events in {trials} hours")
        if title.startswith("twins") and (extra > 1 or found < len(truth) * .8):
            wrong.append(f"{title}: {found} of {len(truth)} found, {extra} extra")
        if title.startswith("six") and any(not m["silent"] or m["magnitude"] for m in disputed) or len(disputed) < len(left) and title.startswith("six"):
            wrong.append(f"{title}: {len(left) - len(disputed)} network events that nothing speaks against")
        if more:
            named = {x["id"]: x["offset_s"] for m in left for x in m.get("clocks", [])}
            right = [s for s, x in named.items() if s in more[0] and abs(x - more[0][s]) < .7]
            shaken = {s for e in truth for _, s, _ in e["onsets"]} & set(more[0])
            print(f"  clocks named: {len(right)} of {len(shaken)} that shook, {len(set(named) - set(more[0]))} that are right")
            if extra > 2 or found < len(truth) or len(right) < .9 * len(shaken) or len(set(named) - set(more[0])) > 2:
                wrong.append(f"{title}: {found} of {len(truth)} found, {extra} extra, {len(right)} of {len(shaken)} clocks named")
    for x in wrong:
        print("wrong:", x)
    return 1 if wrong and o.judge else 0


if __name__ == "__main__":
    sys.exit(main())
