"""Fits the discriminator anew and says how that compares with the model in force; see `fit` beside this file.

What is fitted to: `training.py`. Kinds of disturbance weigh alike within their source, recordings of a source alike, variants of
a recording share its weight; earthquakes are a quarter of all, so that is what a probability presumes. What is printed of the
new model was found by models that had not seen the recording, nor others of its group: fivefold cross-validation (the fold is
the CRC-32 of the group's name modulo 5).
"""

import argparse
import concurrent.futures
import pathlib
import pickle
import sys
import zlib

import electrical
import judgings
import numpy as np
import reference
import training
from model import Model, probability

FOLDS, PENALTY, PRIOR = 5, 2e-4, 0.25
SHARES = {"field": 0.35, "station": 0.35, "table": 0.30, "real": 0.42, "model": 0.33, "electrical": 0.25, "house": 0.25}
EARTHQUAKES = ("field", "station", "table")
ALARM = 0.85
LEAST = 5  # events of a side


def is_earthquake(event):
    return event["kind"] == "earthquake"


def key(event):
    return (event["source"], event["kind"]) if event["source"] in ("model", "electrical", "house") else (event["source"], "")


def event_weights(events):
    """1 in all, PRIOR of it earthquakes."""
    variants, names, kinds = {}, {}, {}
    for e in events:
        name = (*key(e), e.get("name", e["group"]))
        variants[name] = variants.get(name, 0) + 1
        names.setdefault(key(e), set()).add(name)
        kinds.setdefault((e["source"], is_earthquake(e)), set()).add(key(e))
    total = {side: sum(SHARES[s] for s, is_quake in kinds if is_quake == side) for side in (True, False)}
    out = []
    for e in events:
        side = is_earthquake(e)
        share = (PRIOR if side else 1 - PRIOR) * SHARES[e["source"]] / total[side] / len(kinds[e["source"], side])
        out.append(share / len(names[key(e)]) / variants[(*key(e), e.get("name", e["group"]))])
    return np.array(out)


def rows(events):
    """Of all judgings: number of the event, seconds, features."""
    index, t, x = [], [], []
    for i, e in enumerate(events):
        for trigger in e["triggers"]:
            index += [i] * len(trigger["t"])
            t.append(trigger["t"])
            x.append(trigger["x"])
    return np.array(index), np.concatenate(t), np.concatenate(x)


def fit(events, chosen=None):
    """A model of the events, or of those that an array of booleans chooses."""
    index, t, x = rows(events)
    weights = event_weights(events)[index] / np.bincount(index)[index]
    y = np.array([is_earthquake(e) for e in events], float)[index]
    if chosen is not None:
        keep = chosen[index]
        t, x, y, weights = t[keep], x[keep], y[keep], weights[keep]
    weights = weights / weights.sum()
    mean = np.average(x, axis=0, weights=weights)
    scale = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=weights)) + 1e-9
    # As they are written.
    mean, scale = (np.array([float(f"{v:.6g}") for v in a]) for a in (mean, scale))
    return Model(reference.FEATURES, mean, scale).fit(t, x, y, weights, PENALTY)


def folds(events):
    return np.array([zlib.crc32(e["group"].encode()) % FOLDS for e in events])


def crossed(events):
    """Logits of each event's judgings by a model that was fitted without its group."""
    index, t, x = rows(events)
    fold, out = folds(events), np.zeros(len(t))
    for k in range(FOLDS):
        now = fold[index] == k
        out[now] = fit(events, fold != k).logits(t[now], x[now])
    return out


def judged(events, logits, level=ALARM):
    """What the rules make of the logits of all judgings; of each event also when there is an `alarm`."""
    out, place = [], 0
    for e in events:
        triggers = []
        for trigger in e["triggers"]:
            n = len(trigger["t"])
            triggers.append((trigger["begin"], trigger["t"], probability(logits[place : place + n]), trigger["shift"]))
            place += n
        result = reference.course(triggers, level)
        alarm = reference.alarm(result["armed"], [trigger.get("fast", np.inf) for trigger in e["triggers"]])
        out.append(result | {"alarm": alarm, "before": alarm is not None and alarm < e.get("pgv_time", 0),
                             "back": result["called"] is not None and not result["final"]})
    return out


GROUPS = (
    ("field, strong", lambda e: e["source"] == "field" and e["variant"] == 0 and e["strong"]),
    ("field, clear", lambda e: e["source"] == "field" and e["variant"] == 0 and e["clear"]),
    ("field, all", lambda e: e["source"] == "field" and e["variant"] == 0),
    ("field, PGV >= 1 cm/s", lambda e: e["source"] == "field" and e["variant"] == 0 and e["pgv"] >= 0.01),
    ("stations, 25 ug", lambda e: e["source"] == "station" and e["variant"] == 0),
    ("... PGV >= 1 cm/s", lambda e: e["source"] == "station" and e["variant"] == 0 and e["pgv"] >= 0.01),
    ("stations, 13-400 ug", lambda e: e["source"] == "station" and e["variant"] in (1, 2, 3)),
    ("... PGV >= 1 cm/s", lambda e: e["source"] == "station" and e["variant"] in (1, 2, 3) and e["pgv"] >= 0.01),
    ("shake table", lambda e: e["source"] == "table" and e["variant"] == 0),
    ("resting", lambda e: e["kind"] == "resting" and e["variant"] == 0),
    ("hardly moved", lambda e: e["kind"] == "hardly moved" and e["variant"] == 0),
    ("carried", lambda e: e["kind"] == "carried" and e["variant"] == 0),
    ("real, varied", lambda e: e["source"] == "real" and e["variant"] > 0),
    ("modelled", lambda e: e["source"] == "model"),
    ("electrical, kinds", lambda e: e["source"] == "electrical" and e["kind"] in electrical.KINDS),
    ("electrical, cases", lambda e: e["source"] == "electrical" and e["kind"] in electrical.CASES),
    ("labelled in houses", lambda e: e["source"] == "house"),
)


def table(events, results):
    print(f"{'':22}{'events':>8}{'called':>8}{'in the end':>12}{'certain':>9}{'alarm':>7}{'before':>8}")
    for name, chosen in GROUPS:
        r = [b for a, b in zip(events, results) if chosen(a)]
        if r:
            counts = [sum(v(b) for b in r) for v in (lambda b: b["called"] is not None, lambda b: b["final"],
                      lambda b: b["certain"] is not None, lambda b: b["alarm"] is not None, lambda b: b["before"])]
            print(f"{name:22}{len(r):>8}{counts[0]:>8}{counts[1]:>12}{counts[2]:>9}{counts[3]:>7}{counts[4]:>8}")
    delays = [b["called"] for a, b in zip(events, results) if GROUPS[1][1](a) and b["called"] is not None]
    if delays:
        print(f"field, clear: called {np.median(delays):.1f} s after the onset (median), {np.percentile(delays, 90):.1f} s (90 %)")


def reliability(events, results):
    """Of the last probabilities in tenths: [mean, share of earthquakes, events], and the error weighted by the events."""
    p = np.array([r["p"] for r in results])
    counts, names = {}, {}
    for e in events:
        counts[key(e)] = counts.get(key(e), 0) + 1
        names.setdefault(e["source"], set()).add(key(e))
    sides = {side: len({e["source"] for e in events if is_earthquake(e) == side}) for side in (True, False)}
    w = np.array([(PRIOR if is_earthquake(e) else 1 - PRIOR) / sides[is_earthquake(e)] / len(names[e["source"]]) / counts[key(e)]
                  for e in events])
    y, bins = np.array([is_earthquake(e) for e in events], float), np.minimum((p * 10).astype(int), 9)
    out, error = [], 0
    for k in range(10):
        now = bins == k
        if now.any():
            mean, share = np.average(p[now], weights=w[now]), np.average(y[now], weights=w[now])
            out.append((mean, share, int(now.sum())))
            error += w[now].sum() / w.sum() * abs(mean - share)
    return out, error


LEVELS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)
FALSE = {"phones at rest": lambda e: e["source"] == "real" and e["variant"] == 0 and e["kind"] != "carried",
         "the same, varied": lambda e: e["source"] == "real" and e["variant"] > 0 and e["kind"] != "carried",
         "modelled": lambda e: e["source"] == "model",
         "electrical, kinds": lambda e: e["source"] == "electrical" and e["kind"] in electrical.KINDS,
         "electrical, cases": lambda e: e["source"] == "electrical" and e["kind"] in electrical.CASES}
FELT = {"stations": lambda e: e["source"] == "station" and e["variant"] < 4 and e["pgv"] >= 0.01,
        "field": lambda e: e["source"] == "field" and e["variant"] == 0 and e["pgv"] >= 0.01}


def trade(events, logits):
    """Over `alarm.probability`: false alarms of each group, in percent; of the earthquakes of 1 cm/s and more of each group
    how many there are, how many have no alarm, how many have it before the peak velocity, and the median of the seconds
    from the alarm to the peak."""
    out = []
    for level in LEVELS:
        results = judged(events, logits, level)
        row = {"level": level}
        for name, chosen in FALSE.items():
            row[name] = 100 * np.mean([r["alarm"] is not None for e, r in zip(events, results) if chosen(e)])
        for name, chosen in FELT.items():
            some = [(e, r) for e, r in zip(events, results) if chosen(e)]
            leads = [e["pgv_time"] - r["alarm"] for e, r in some if r["alarm"] is not None]
            row[name] = (len(some), len(some) - len(leads), sum(r["before"] for _, r in some), float(np.median(leads)))
        out.append(row)
    return out


def tell_trade(rows):
    print("false alarms, %; of earthquakes of 1 cm/s and more: without an alarm, with one before the peak, lead (s)")
    print(f"{'probability':>12}" + "".join(f"{name:>19}" for name in FALSE) + "".join(f"{name:>22}" for name in FELT))
    for row in rows:
        felt = "".join(f"{missed:>8}, {before} of {of}, {lead:.1f}" for of, missed, before, lead in (row[name] for name in FELT))
        print(f"{row['level']:>12}" + "".join(f"{row[name]:>18.1f}%" for name in FALSE) + felt)


def left_out(events, results):
    """Of each kind: share called, cross-validated and by a model that was fitted without the kind."""
    index, t, x = rows(events)
    print(f"{'kind':18}{'events':>8}{'called':>9}{'kind left out':>15}{'ratio':>8}")
    ratios = []
    for kind in dict.fromkeys(e["kind"] for e in events if e["source"] in ("model", "electrical", "real")):
        mine = np.array([e["kind"] == kind for e in events])
        model = fit(events, ~mine)
        some = [e for e in events if e["kind"] == kind]
        _, t, x = rows(some)
        apart = np.mean([r["called"] is not None for r in judged(some, model.logits(t, x))])
        within = np.mean([r["called"] is not None for e, r in zip(events, results) if e["kind"] == kind])
        # (One event more on both sides: a kind of which none passes has no ratio.)
        ratio = (apart * len(some) + 1) / (within * len(some) + 1)
        ratios.append(ratio)
        print(f"{kind:18}{len(some):>8}{100 * within:>8.1f}%{100 * apart:>14.1f}%{ratio:>8.2f}", flush=True)
    print(f"mean ratio {np.mean(ratios):.2f}")


def make(job):
    """A part of what is fitted to."""
    name, seed, folder, count = job
    field, real = folder / "field", folder / "disturbances"
    if name == "field":
        return list(training.field_earthquakes(field, training.Quiet(field), seed, 6))
    if name == "station":
        return list(training.judged(training.stations(real, folder / "records", seed, 8)))
    if name == "table":
        return list(training.judged(training.shake_table(real, seed, 4)))
    if name == "real":
        return list(training.real_disturbances(real, seed, 6))
    quiet = training.Quiet(field)
    if name == "model":
        return list(training.modelled(quiet, seed, count))
    if name == "electrical":
        return list(training.judged(training.faults(quiet, seed, 2 * count)))
    return list(training.judged(training.faults(quiet, seed, 2 * count, (31.25, 100.0), (*electrical.CASES, electrical.STRONG), ground=True)))


def collected(folder, seed, count):
    parts = ("real", "field", "station", "table", "model", "electrical", "cases")
    jobs = [(name, seed + i, folder, count) for i, name in enumerate(parts)]
    jobs += [(name, seed + 100 + i, folder, count) for i, name in enumerate(("model", "electrical"))]
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        return [event for part in pool.map(make, jobs) for event in part]


def main():
    parser = argparse.ArgumentParser(prog="fit", description="Fits the discriminator anew.")
    parser.add_argument("--reference", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--passages", type=int, default=75, help="modelled disturbances of each kind and rate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="file for the features of all events, to be read the next time")
    parser.add_argument("--leave-out", action="store_true", help="also fit without each kind, one after the other")
    parser.add_argument("--pictures", type=pathlib.Path, help="folder for class-alarm.svg and class-final.svg")
    parser.add_argument("--write", action="store_true", help="write the new constants into the program's source")
    parser.add_argument("export", nargs="*", help="folder of `seismote ctl events --labelled --export`")
    o = parser.parse_args()
    if o.keep and o.keep.exists():
        events = pickle.loads(o.keep.read_bytes())
    else:
        events = collected(o.reference, o.seed, o.passages) if o.reference else []
        if o.keep:
            o.keep.write_bytes(pickle.dumps(events))
    house = judgings.exported(o.export)
    print(f"{len(house)} labelled events in {len(o.export)} folders, {len(events)} of recordings and models")
    # Nobody can tell an explosion from an earthquake by its first seconds, nor what another thing is.
    events += [e for e in house if e["kind"] not in ("explosion", "other")]
    sides = [sum(is_earthquake(e) == side for e in events) for side in (True, False)]
    if min(sides) < LEAST:
        sys.exit(f"too few: {sides[0]} earthquakes and {sides[1]} disturbances that were judged, {LEAST} of each at least")
    logits = crossed(events)
    results = judged(events, logits)
    print(f"\nFivefold cross-validation, seed {o.seed}, alarm at {ALARM}\n")
    table(events, results)
    bins, error = reliability(events, results)
    print(f"\nreliability of the last p, a quarter earthquakes: weighted error {error:.3f}\n  "
          + ", ".join(f"{m:.2f}: {s:.2f} of {n}" for m, s, n in bins) + "\n")
    if o.reference:
        rows_of_trade = trade(events, logits)
        tell_trade(rows_of_trade)
        if o.pictures:
            import pictures

            pictures.of_fit(rows_of_trade, bins, o.pictures)
    if o.leave_out:
        print()
        left_out(events, results)
    index, t, x = rows(events)
    y = np.array([is_earthquake(e) for e in events])[index]
    weights = event_weights(events)[index] / np.bincount(index)[index]
    loss = lambda logit: np.sum(weights * np.logaddexp(0, np.where(y, -logit, logit)))
    print(f"\nmean loss: {loss(logits):.4f} cross-validated", end="")
    try:
        print(f", {loss(Model.in_force().logits(t, x)):.4f} of the model in force (which may have seen these events)")
    except (ValueError, TypeError, IndexError):
        print()
    if o.write:
        fit(events).write()
        print("written into DiscriminationModel.swift; run deploy/checks/field and deploy/checks/disturbances before it is used")


if __name__ == "__main__":
    main()
