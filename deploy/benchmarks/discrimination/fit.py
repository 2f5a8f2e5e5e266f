"""Fits the discriminator anew and says how that compares with the model in force; see `fit` beside this file.

A regularised logistic regression, as the one in force: first s = bias + Σ weight × z (or z²) on all judgings, then
logit = (a + b u) s + c u + d on the same, u = log₂ of the seconds. Kinds of disturbance weigh alike (footsteps double), events
of a kind alike, earthquakes as much as all disturbances; the threshold stays. What is printed of the new model was found by
models that had not seen the event, nor others of its group: fivefold cross-validation.
"""

import argparse
import pathlib
import re
import sys
import zlib

import judgings
import numpy as np
from scipy import optimize

FILE = pathlib.Path(__file__).resolve().parents[3] / "Sources/Core/Seismology/Discrimination/DiscriminationModel.swift"
FOLDS, PENALTY, LIMIT = 5, 1e-3, 2.5
LEAST = 5  # events of a side


class Model:
    """Constants as in the Swift file."""

    def __init__(self, features, bias, time, threshold):
        self.features, self.bias, self.time, self.threshold = features, bias, time, threshold

    @staticmethod
    def in_force():
        text = FILE.read_text()
        rows = re.findall(r'\("(\w+)", (\S+), (\S+), (\S+), (true|false)\),', text)
        number = lambda name: float(re.search(rf"let {name} = (\S+)", text)[1])
        time = re.search(r"let \(a, b, c, d\) = \((.*)\)", text)[1]
        return Model([(name, *map(float, three), square == "true") for name, *three, square in rows],
                     number("bias"), [float(v) for v in time.split(",")], number("threshold"))

    def terms(self, rows):
        """z, or z², of each feature."""
        _, mean, scale, _, square = map(np.array, zip(*self.features))
        z = np.clip((rows[:, 1:] - mean) / scale, -LIMIT, LIMIT)
        return np.where(square, z * z, z)

    def logits(self, rows):
        a, b, c, d = self.time
        u, s = octaves(rows), self.bias + self.terms(rows) @ np.array([f[3] for f in self.features])
        return (a + b * u) * s + c * u + d - self.threshold

    def swift(self):
        """The part of the file that a fit makes."""
        lines = [f'        ("{n}", {m:.4g}, {s:.4g}, {w:.4f}, {str(q).lower()}),' for n, m, s, w, q in self.features]
        time = ", ".join(f"{v:.4f}" for v in self.time)
        return "\n".join(lines), f"    static let bias = {self.bias:.4f}", f"    static let (a, b, c, d) = ({time})"

    def write(self):
        rows, bias, time = self.swift()
        text = FILE.read_text()
        text = re.sub(r'(        \("\w+", .*\),\n)+', lambda _: rows + "\n", text, count=1)
        text = re.sub(r"    static let bias = .*", bias, text)
        FILE.write_text(re.sub(r"    static let \(a, b, c, d\) = .*", time, text))


def octaves(rows):
    return np.log2(np.clip(rows[:, 0], 0.5, 5))


def probability(logit):
    return 1 / (1 + np.exp(-logit))


def weights(events):
    """Of each judging; 1 in all, half of it earthquakes."""
    counts = {}
    for event in events:
        counts[event["kind"]] = counts.get(event["kind"], 0) + 1
    shares = {kind: 2.0 if kind == "footsteps" else 1.0 for kind in counts if kind != "earthquake"}
    total = sum(shares.values())
    share = lambda kind: 0.5 if kind == "earthquake" else 0.5 * shares[kind] / total
    return np.concatenate([np.full(len(e["rows"]), share(e["kind"]) / counts[e["kind"]] / len(e["rows"])) for e in events])


def regress(x, y, w, penalty):
    """Weights of the columns and a constant, the last."""
    x = np.column_stack((x, np.ones(len(x))))

    def loss(v):
        logit = x @ v
        gradient = x.T @ (w * (probability(logit) - y))
        gradient[:-1] += 2 * penalty * v[:-1]
        return np.sum(w * (np.logaddexp(0, logit) - y * logit)) + penalty * np.sum(v[:-1] ** 2), gradient

    return optimize.minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x


def fit(events, old):
    rows, w = np.array([row for e in events for row in e["rows"]]), weights(events)
    y = np.concatenate([np.full(len(e["rows"]), float(e["kind"] == "earthquake")) for e in events])
    mean = np.average(rows[:, 1:], axis=0, weights=w)
    scale = np.sqrt(np.average((rows[:, 1:] - mean) ** 2, axis=0, weights=w))
    new = Model([(f[0], m, max(s, 1e-6), 0.0, f[4]) for f, m, s in zip(old.features, mean, scale)], 0, [1, 0, 0, 0], old.threshold)
    terms = new.terms(rows)
    *found, new.bias = regress(terms, y, w, PENALTY)
    new.features = [(n, m, s, v, q) for (n, m, s, _, q), v in zip(new.features, found)]
    u, s = octaves(rows), new.bias + terms @ np.array(found)
    new.time = list(regress(np.column_stack((s, u * s, u)), y, w, 1e-6))
    return new


def crossed(events, old):
    """Logits of each event's judgings by a model that was fitted without its group."""
    fold = np.array([zlib.crc32(e["group"].encode()) % FOLDS for e in events])
    out = [None] * len(events)
    for k in range(FOLDS):
        rest = [e for e, f in zip(events, fold) if f != k]
        model = fit(rest, old)
        for i in np.flatnonzero(fold == k):
            out[i] = model.logits(np.array(events[i]["rows"]))
    return out


def describe(events, logits, threshold):
    """kind -> events, at p >= 0.5, at p >= 0.8 at any judging; and the mean loss where earthquakes are as frequent as others."""
    table = {}
    for event, logit in zip(events, logits):
        row = table.setdefault(event["kind"], [0, 0, 0])
        largest = probability(logit.max())
        for k, level in enumerate((0, 0.5, 0.8)):
            row[k] += bool(largest >= level)
    sign = np.concatenate([np.full(len(v), 1 if event["kind"] == "earthquake" else -1) for event, v in zip(events, logits)])
    return table, np.sum(weights(events) * np.logaddexp(0, -sign * (np.concatenate(logits) + threshold)))


def main():
    parser = argparse.ArgumentParser(prog="fit", description="Fits the discriminator anew.")
    parser.add_argument("--tool", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--field", help="folder of field recordings: earthquakes, and quiet ground for the models")
    parser.add_argument("--passages", type=int, default=0, help="modelled disturbances of each kind and rate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="file for what the replays give, to be read the next time")
    parser.add_argument("--write", action="store_true", help="write the new constants into the program's source")
    parser.add_argument("export", nargs="*", help="folder of `seismote ctl events --labelled --export`")
    options = parser.parse_args()
    events = judgings.exported(options.export)
    print(f"{len(events)} labelled events in {len(options.export)} folders")

    def replays():
        earthquakes = judgings.recorded(options.tool, options.field) if options.field else []
        models = judgings.modelled(options.tool, options.passages, options.seed, options.field) if options.passages else []
        return earthquakes + models

    events += judgings.stored(options.keep, replays)
    # Nobody can tell an explosion from an earthquake by its first seconds, nor what another thing is.
    left = [e for e in events if e["rows"] and e["kind"] not in ("explosion", "other")]
    sides = [sum((e["kind"] == "earthquake") == side for e in left) for side in (True, False)]
    if min(sides) < LEAST:
        sys.exit(f"too few: {sides[0]} earthquakes and {sides[1]} disturbances that were judged, {LEAST} of each at least; "
                 "--field and --passages add recordings and models")
    old = Model.in_force()
    now = describe(left, [old.logits(np.array(e["rows"])) for e in left], old.threshold)
    new = describe(left, crossed(left, old), old.threshold)
    print(f"{'':18}{'':>8}{'in force':>20}{'new, cross-validated':>26}")
    print(f"{'':18}{'judged':>8}{'p >= 0.5':>11}{'p >= 0.8':>9}{'p >= 0.5':>17}{'p >= 0.8':>9}")
    for kind in sorted(now[0], key=lambda kind: (kind != "earthquake", kind)):
        (count, *a), (_, *b) = now[0][kind], new[0][kind]
        print(f"{kind:18}{count:>8}{a[0]:>11}{a[1]:>9}{b[0]:>17}{b[1]:>9}")
    print(f"{'mean loss':18}{'':>8}{now[1]:>20.4f}{new[1]:>26.4f}")
    model = fit(left, old)
    print("\nThe new constants, fitted to all:\n\n" + "\n".join(model.swift()))
    better = new[1] < now[1]
    print("\nThe new model is " + ("better by its loss." if better else "NOT better by its loss: keep the one in force."))
    if options.write:
        model.write()
        print(f"written into {FILE.name}; run deploy/checks/field and deploy/checks/disturbances before it is used")


if __name__ == "__main__":
    main()
