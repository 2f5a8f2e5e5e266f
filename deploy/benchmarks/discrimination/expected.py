"""What the definition in `reference.py` makes of recordings, for those who compute the same.

    expected.py r01 FILE                      rewrites Tests/Vectors/discrimination/r01.json
    expected.py REFERENCE OLD NEW             of all recordings of an `expected.json`

PYTHONPATH: this folder and deploy/checks.
"""

import json
import pathlib
import sys

import numpy as np
import onsite
import reference
from model import Model, probability

VELOCITY = 0.005  # m/s, of an alarm
BLOCKS = (4, 8, 16, 24, 40)


def entry(a, rate, good, onset):
    """Of the event that begins with sample `onset` and goes on to the end of the recording."""
    model, x, v = Model.in_force(), reference.Blocks(a, rate, good), reference.velocity(a, rate)
    speed = np.sqrt((v * v).sum(axis=0))
    ends = np.flatnonzero(np.diff(np.r_[good.astype(int), 0]) == -1)
    triggers, fast, first = [], [], None
    for i in [onset, *(int(i) for i in reference.onsets(good) if i > onset)]:
        judged = reference.judgings(x, i)
        if judged is None:
            continue
        p = probability(model.logits(judged[0], judged[1])) if len(judged[0]) else np.zeros(0)
        if i == onset:
            first = judged
        triggers.append(((i - onset) / rate, judged[0], p, judged[2]))
        end = max(int(ends[ends >= i][0]) + 1, i + round(5 * rate))
        before = speed[max(0, i - round(15 * rate)) : max(1, i - round(2 * rate))].max()
        begin = max(0, i - round(0.5 * rate))
        hit = np.flatnonzero(speed[begin:end] >= max(VELOCITY, 2 * before))
        fast.append((int(hit[0]) + begin - onset) / rate if len(hit) else np.inf)
    out = {"onsite": onsite.values(a, rate, onset), "onset_sample": int(onset), "first_block": int(onset // x.length), "valid": first is not None}
    if first is None:
        return out
    result = reference.course(triggers, 0.85)
    t, features, shifts = first
    logits, was, course = model.logits(t, features), False, []
    for one, shift, logit in zip(t, shifts, logits):
        p = 0.0 if shift > reference.CARRIED and not was else float(probability(logit))
        was = was or p >= 0.8
        course.append([float(one), p])
    alarm = reference.alarm(result["armed"], fast)
    blocks = {k: n for n, k in enumerate(reference.JUDGINGS) if k in BLOCKS and n < len(t)}
    return out | {
        "noise": x.noise[onset // x.length].tolist(), "p": course, "moved": result["moved"],
        "features": {str(k): dict(zip(reference.FEATURES, map(float, features[n]))) for k, n in blocks.items()},
        "logit": {str(k): float(logits[n]) for k, n in blocks.items()},
        "decision_s": result["called"], "alarm_s": None if alarm is None else max(0.0, alarm), "final": result["final"]}


def ridgecrest(path):
    import pymseed

    parts = {}
    recording = pathlib.Path(__file__).resolve().parents[2] / "recordings/ridgecrest-2019-07-06-clc.mseed"
    for record in pymseed.MS3Record.from_file(str(recording), unpack_data=True):
        parts.setdefault(record.sourceid[-1], []).append(np.array(record.datasamples))
    a = np.stack([np.concatenate(parts[c]) / s for c, s in zip("ENZ", (213945, 213808, 213740))])
    old = json.loads(path.read_text())
    good = np.zeros(a.shape[1], np.uint8)
    good[old["onset_sample"] :] = 1
    path.write_text(json.dumps(entry(a, 100.0, good, old["onset_sample"]), indent=1, sort_keys=True) + "\n")


def main():
    if sys.argv[1] == "r01":
        return ridgecrest(pathlib.Path(sys.argv[2]))
    import field

    folder, entries = pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text())
    for part, recordings in entries.items():
        for name, one in recordings.items():
            if not isinstance(one, dict) or "onsets" not in one:
                continue
            if part == "field":
                a, rate = field.read(folder / part / f"{name}.mseed")
            else:
                a, rate = np.loadtxt(folder / part / f"{name}.csv", delimiter=",", skiprows=1)[:, 1:4].T.copy(), one["rate_hz"]
            good = reference.trigger(a, rate)
            one["onsets"] = [entry(a, rate, good, int(i)) for i in reference.onsets(good)[:2]]
    pathlib.Path(sys.argv[3]).write_text(json.dumps(entries))


if __name__ == "__main__":
    main()
