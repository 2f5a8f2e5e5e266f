#!/usr/bin/env python3
"""Seismote's associator beside PyOcto and GaMMA, on the same onsets in one run.

    associators.py SEISMOTE FOLDER [SEED ...]

Each seed makes the synthetic network of deploy/checks/association.d/synthetic.py: 40 earthquakes on 300 stations in 400 by
400 km, 6 km/s everywhere (all three know that but Seismote, whose table is iasp91's), 10 % of the onsets missing, one in
ten more false. All get the same onsets and places; PyOcto and GaMMA in one piece, on one thread, Seismote as messages in
their order of arrival. An event counts as found where most of its onsets are those of an earthquake that has not been
found yet; any other one is extra. Fails where Seismote finds fewer, makes more or is farther off than a kilometre.
"""
import argparse
import contextlib
import io
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "checks/association.d"))

import pandas  # noqa: E402
from score import events, seconds  # noqa: E402
from synthetic import kilometres  # noqa: E402

SPEED, CENTRE = 6.0, (35.0, -117.5)


def read(folder):
    """Places of the stations in km, and the onsets as (station, time), in their order."""
    places, onsets = {}, {}
    for line in open(folder / "onsets.jsonl", encoding="utf-8"):
        payload = (message := json.loads(line))["payload"]
        if message["topic"].endswith("/state/info"):
            one = payload["station"]
            places[one["id"]] = east_north(one["latitude"], one["longitude"])
        elif payload["event_type"] == "onset":
            onsets[payload["event_id"]] = (payload["station"], seconds(payload["onset"]))
    return places, sorted(onsets.values(), key=lambda one: one[1])


def east_north(latitude, longitude):
    """Azimuthal, with the distances and directions from the centre."""
    f, l, f0, l0 = (math.radians(x) for x in (latitude, longitude, *CENTRE))
    far = kilometres((latitude, longitude), CENTRE)
    turn = math.atan2(math.sin(l - l0) * math.cos(f), math.cos(f0) * math.sin(f) - math.sin(f0) * math.cos(f) * math.cos(l - l0))
    return far * math.sin(turn), far * math.cos(turn)


def pyocto(places, onsets):
    import pyocto as library
    model = library.VelocityModel0D(p_velocity=SPEED, s_velocity=SPEED / 1.73, tolerance=1.5, association_cutoff_distance=250)
    associator = library.OctoAssociator(
        xlim=(-210, 210), ylim=(-210, 210), zlim=(0, 30), velocity_model=model, time_before=100, n_picks=5, n_p_picks=5,
        n_s_picks=0, n_p_and_s_picks=0, min_node_size=10, pick_match_tolerance=1.5, n_threads=1)
    stations = pandas.DataFrame([{"id": name, "x": x, "y": y, "z": 0.0} for name, (x, y) in places.items()])
    picks = pandas.DataFrame([{"station": name, "phase": "P", "time": at} for name, at in onsets])
    began = time.perf_counter()
    found, assigned = associator.associate(picks, stations)
    took = time.perf_counter() - began
    groups = assigned.groupby("event_idx")["pick_idx"].apply(list)
    return took, [((row.x, row.y), [onsets[i] for i in groups[row.idx]]) for row in found.itertuples()]


def gamma(places, onsets):
    from gamma.utils import association
    start = onsets[0][1]
    stations = pandas.DataFrame([{"id": name, "x(km)": x, "y(km)": y, "z(km)": 0.0} for name, (x, y) in places.items()])
    picks = pandas.DataFrame([
        {"id": name, "timestamp": pandas.Timestamp(at - start, unit="s"), "type": "p", "prob": 1.0, "amp": 0.0}
        for name, at in onsets])
    # (Its own arithmetic reckons in nanoseconds, what newer pandas no longer does by itself.)
    picks["timestamp"] = picks["timestamp"].astype("datetime64[ns]")
    settings = {
        "dims": ["x(km)", "y(km)", "z(km)"], "use_dbscan": True, "use_amplitude": False, "vel": {"p": SPEED, "s": SPEED / 1.73},
        "method": "BGMM", "oversample_factor": 5, "initial_points": [1, 1, 1], "covariance_prior": [5, 5], "ncpu": 1,
        "x(km)": (-210, 210), "y(km)": (-210, 210), "z(km)": (0, 30),
        "bfgs_bounds": ((-211, 211), (-211, 211), (0, 31), (None, None)), "dbscan_eps": 15, "dbscan_min_samples": 3,
        "min_picks_per_eq": 5, "min_p_picks_per_eq": 5, "min_s_picks_per_eq": 0, "max_sigma11": 2.0, "max_sigma22": 1.0,
        "max_sigma12": 1.0}
    began = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        found, assigned = association(picks, stations, settings, 0, "BGMM")
    took = time.perf_counter() - began
    groups = {}
    for pick, event, *_ in assigned:
        groups.setdefault(event, []).append(onsets[pick])
    return took, [((one["x(km)"], one["y(km)"]), groups.get(one["event_index"], [])) for one in found]


def seismote(tool, folder):
    output = folder / "events.jsonl"
    began = time.perf_counter()
    subprocess.run([tool, "network", "replay", folder / "onsets.jsonl", "--output", output, "--quiet"], check=True)
    took = time.perf_counter() - began
    kept = [e["last"] for e in events(output).values() if "merged_into" not in e["last"] and not e["last"].get("withdrawn")]
    return took, [(east_north(m["latitude"], m["longitude"]), [(s["id"], seconds(s["onset"])) for s in m["stations"]]) for m in kept]


def judge(found, truth):
    """How many are found, how many are extra, how far off (km)."""
    own = {(name, round(at, 2)): i for i, quake in enumerate(truth) for at, name, _ in quake["onsets"]}
    seen, extra, errors = set(), 0, []
    for place, onsets in found:
        votes = [own.get((name, round(at, 2))) for name, at in onsets]
        best = max(set(votes), key=votes.count, default=None)
        if best is None or best in seen or votes.count(best) < len(votes) / 2:
            extra += 1
            continue
        seen.add(best)
        errors.append(math.dist(place, east_north(truth[best]["latitude"], truth[best]["longitude"])))
    return len(seen), extra, sorted(errors)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("seeds", nargs="*", default=["1"])
    parser.add_argument("--earthquakes", default="40")
    given = parser.parse_args()
    rows, bad = {}, False
    for seed in given.seeds:
        folder = given.folder / seed
        subprocess.run(
            [sys.executable, "-B", HERE.parent / "checks/association.d/synthetic.py", folder, "--model", "homogeneous", "--seed",
             seed, "--noise", "0.1", "--earthquakes", given.earthquakes], check=True)
        places, onsets = read(folder)
        truth = json.loads((folder / "truth.json").read_text())
        for name, run in (("Seismote", lambda: seismote(given.tool, folder)), ("PyOcto", lambda: pyocto(places, onsets)),
                          ("GaMMA", lambda: gamma(places, onsets))):
            took, result = run()
            rows.setdefault(name, []).append((took, len(truth), len(onsets), *judge(result, truth)))
            print(f"seed {seed}, {len(onsets)} onsets, {name}: {took:.2f} s", flush=True)
    print(f"\n{'':10}{'found':>12}{'extra':>7}{'km median':>11}{'90 %':>7}{'worst':>7}{'seconds':>9}")
    for name, runs in rows.items():
        errors = sorted(error for run in runs for error in run[5])
        count, of, extra = (sum(run[i] for run in runs) for i in (3, 1, 4))
        median = statistics.median(errors) if errors else math.nan
        ninety, worst = (errors[int(0.9 * len(errors))], errors[-1]) if errors else (math.nan, math.nan)
        print(f"{name:10}{count:>5} of {of:>3}{extra:>7}{median:>11.2f}{ninety:>7.2f}{worst:>7.2f}"
              f"{statistics.mean(run[0] for run in runs):>9.2f}")
        if name == "Seismote":
            bad = count < of or extra > 0 or median > 1
        elif count < 0.9 * of:
            # A comparison with something that was set up wrongly would say nothing.
            print(f"{name} finds so few that it cannot have been set up as it should be")
            bad = True
    sys.exit(1 if bad else 0)


main()
