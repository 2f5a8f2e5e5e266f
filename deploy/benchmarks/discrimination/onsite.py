"""Fits the on-site estimate: log PGV (cm/s) by log Pv of the vertical, 1, 2, 3, 5 and 8 s after the onset, and how far the
peak velocity is from what is published, by fivefold cross-validation. Prints what OnsiteEstimator.swift has.

    onsite.py REFERENCE [SEED]                PYTHONPATH: this folder and deploy/checks
"""

import json
import pathlib
import re
import sys
import zlib

import field
import numpy as np
import product
import reference
import training
from scipy import signal

TIMES = (1, 2, 3, 5, 8)
# a, b and the range after these seconds, as printed, and as OnsiteEstimator.swift has them; the range where it is saturated.
LAWS = {1: (1.254, 1.325, -0.75, 0.75), 2: (1.203, 1.165, -0.76, 0.61), 3: (1.026, 0.887, -0.89, 0.79),
        5: (0.996, 0.569, -0.77, 0.43), 8: (1.033, 0.470, -0.62, 0.42)}
RANGE_SATURATED = (-0.74, 1.89)
FOLDS = 5
# On each side of a range; of the saturated there are so few earthquakes that a tenth of them is too narrow.
OUTSIDE, OUTSIDE_SATURATED = 0.08, 0.01
SATURATED = 2.0  # s, of tau_c: the first seconds are those of a rupture that goes on


def chain(x, rate, corner):
    """Velocity and displacement of a vertical: high pass, trapezoid, high pass, trapezoid, high pass."""
    sections = signal.butter(2, corner, "highpass", fs=rate, output="sos")

    def integral(a):
        return np.r_[0, np.cumsum((a[1:] + a[:-1]) / 2 / rate)]

    v = signal.sosfilt(sections, integral(signal.sosfilt(sections, x - x[0])))
    return v, signal.sosfilt(sections, integral(v))


def known(a, rate, i):
    """Of the onset at sample i: what is known after each time (Pv, Pd, tau_c, IV2, the largest horizontal velocity so far), the
    largest Pv and Pd of the noise, and the horizontal velocity from half a second before to 90 s after; cm, s."""
    fast, (slow, moved) = chain(a[2], rate, 0.4)[0] * 100, (part * 100 for part in chain(a[2], rate, 0.075))
    horizontal = np.abs(reference.velocity(a, rate, 0.075)[:2]).max(axis=0) * 100
    first, before = max(0, i - round(0.5 * rate)), slice(max(0, i - round(15 * rate)), max(1, i - round(2 * rate)))
    rows = []
    for t in TIMES:
        end = i + round(t * rate) + 1
        if end > a.shape[1]:
            break
        part = slice(first, end)
        squares = (slow[part] ** 2).sum()
        rows.append((np.abs(fast[part]).max(), np.abs(moved[part]).max(),
                     2 * np.pi * np.sqrt((moved[part] ** 2).sum() / max(squares, 1e-300)), squares / rate, horizontal[part].max()))
    return rows, (np.abs(fast[before]).max(), np.abs(moved[before]).max()), horizontal[first : i + round(90 * rate)].max()


def values(a, rate, i):
    """By the laws that are printed."""
    rows, (pv_noise, pd_noise), _ = known(a, rate, i)
    out = {"pv_noise_cm_s": pv_noise, "pd_noise_cm": pd_noise}
    for t, (pv, pd, tau, iv2, _) in zip(TIMES, rows):
        slope, level, *limits = LAWS[t]
        is_saturated = bool(pd > 3 * pd_noise and tau >= SATURATED)
        out[str(t)] = {"pv_cm_s": pv, "pd_cm": pd, "tau_c_s": tau, "iv2_cm2_s": iv2, "pv_valid": bool(pv > 2 * pv_noise),
                       "pd_valid": bool(pd > 3 * pd_noise), "saturated": is_saturated, "range": list(RANGE_SATURATED if is_saturated else limits),
                       "pgv_pv_cm_s": 10 ** (slope * np.log10(max(pv, 1e-28)) + level),
                       "pgv_pd_cm_s": 10 ** (0.903 * np.log10(max(pd, 1e-28)) + 1.609)}
    return out


def measured(a, rate, window, group, name):
    """Of the first onset in a window: what the agent's own code knows after each time, and the peak velocity (cm, s)."""
    told = product.described(a, rate, window)
    if not told["onsets"] or not told["onsets"][0]["onsite"]:
        return None
    i, found = told["onsets"][0]["sample"], told["onsets"][0]["onsite"]
    horizontal = np.abs(reference.velocity(a, rate, 0.075)[:2]).max(axis=0) * 100
    first = max(0, i - round(0.5 * rate))
    rows = [(pv * 100, pd * 100, tau, horizontal[first : i + round(t * rate) + 1].max(), pv_valid, pd_valid)
            for t, pv, pd, tau, pv_valid, pd_valid in found]
    rows += [rows[-1]] * (len(TIMES) - len(rows))
    return {"group": group, "name": name, "pgv": horizontal[first : i + round(90 * rate)].max(), "rows": np.array(rows, float)}


def events(folder, seed):
    out = []
    for record in json.loads((folder / "field/index.json").read_text())["records"]:
        if record.get("p_s") is not None:
            a, rate = field.read(folder / f"field/{record['record']}.mseed")
            out.append((measured(a, rate, (record["p_s"] - 3, record["s_s"] + 40), record["record"][:10], record["record"]), "field", 0))
    for a, rate, window, about in training.stations(folder / "disturbances", folder / "records", seed, 4):
        out.append((measured(a, rate, window, about["group"], about["name"]), "station", about["variant"]))
    return [e | {"source": source, "variant": k} for e, source, k in out if e]


def lined(x, y, weights):
    """a and b of y = a x + b."""
    w = np.sqrt(weights)
    return np.linalg.lstsq(np.c_[x, np.ones(len(x))] * w[:, None], y * w, rcond=None)[0]


def quantiles(errors, weights, outside):
    """Below which a share, and all but that, of the weight are."""
    order = np.argsort(errors)
    shares = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    return np.interp((outside, 1 - outside), shares, errors[order])


def collection(event):
    """The field's sensors; of stations, those of one network or one collection of files."""
    return "field" if event["source"] == "field" else re.match("[a-z]+", event["group"])[0]


class Data:
    """Of the events: logarithms of Pv, of the velocity so far and of the peak velocity, by time."""

    def __init__(self, found):
        names = [e["name"] for e in found]
        self.weights = np.array([1 / names.count(name) for name in names])
        self.true = np.log10([e["pgv"] for e in found])
        self.field = np.array([e["source"] == "field" for e in found])
        self.groups = np.array([str(zlib.crc32(e["group"].encode()) % FOLDS) for e in found])
        self.collections = np.array([collection(e) for e in found])
        rows = np.array([e["rows"] for e in found])  # event, time, value
        self.pv, self.so_far = np.log10(rows[:, :, 0]), np.log10(np.maximum(rows[:, :, 3], 1e-9))
        self.valid = rows[:, :, 4] > 0
        self.saturated = (rows[:, :, 5] > 0) & (rows[:, :, 2] >= SATURATED)

    def line(self, k, chosen):
        return lined(self.pv[chosen, k], self.true[chosen], self.weights[chosen])

    def errors(self, k, line):
        return self.true - np.maximum(line[0] * self.pv[:, k] + line[1], self.so_far[:, k])

    def crossed(self, k, chosen):
        """Errors of some events by lines that have not seen an event's group: those of the line itself are too small."""
        chosen, errors = chosen & self.valid[:, k], np.full(len(self.true), np.nan)
        for f in set(self.groups[chosen]):
            now = chosen & (self.groups == f)
            errors[now] = self.errors(k, self.line(k, chosen & ~now))[now]
        return errors

    def law(self, k, chosen):
        """Line and range of some events, and the range of those that are saturated: so few that one is made for all times."""
        errors = [self.crossed(j, chosen) for j in range(len(TIMES))]
        some = [chosen & self.valid[:, j] & self.saturated[:, j] for j in range(len(TIMES))]
        saturated = quantiles(np.concatenate([e[s] for e, s in zip(errors, some)]),
                              np.concatenate([self.weights[s] for s in some]), OUTSIDE_SATURATED)
        plain = chosen & self.valid[:, k] & ~self.saturated[:, k]
        return self.line(k, chosen & self.valid[:, k]), (quantiles(errors[k][plain], self.weights[plain], OUTSIDE), saturated)

    def judged(self, k, folds):
        """By laws that have not seen the event's fold: which events are inside of their range, and the errors."""
        inside, errors = np.zeros(len(self.true), bool), np.zeros(len(self.true))
        for f in set(folds):
            line, ranges = self.law(k, folds != f)
            now, e = folds == f, self.errors(k, line)
            low, high = np.array([ranges[int(s)] for s in self.saturated[:, k]]).T
            inside[now], errors[now] = ((e >= low) & (e <= high))[now], e[now]
        return inside, errors


def independent(folder, seed):
    """Prints how many true values are inside of the range, by laws fitted without the recording's group, or its collection."""
    data = Data(events(folder, seed))
    print(f"{'on-site range, inside: after':30}" + "".join(f"{f'{t} s':>14}" for t in TIMES))
    for by, folds in (("recordings", data.groups), ("collections", data.collections)):
        cells = [data.judged(k, folds)[0] for k in range(len(TIMES))]
        for name, chosen in (("all", ~data.saturated), ("saturated", data.saturated)):
            text = ""
            for k, inside in enumerate(cells):
                some = data.valid[:, k] & (chosen[:, k] | (name == "all"))
                share = 100 * np.average(inside[some], weights=data.weights[some]) if some.any() else np.nan
                text += f"{f'{share:.0f} % of {some.sum()}':>14}"
            print(f"{f'{by} left out, {name}':30}{text}")


def main():
    folder, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    found = events(folder, seed)
    data = Data(found)
    print(f"{len(found)} events of {len({e['name'] for e in found})} recordings, seed {seed}; log10, cm/s; `saturated`: tau_c of {SATURATED} s and more\n")
    for k, t in enumerate(TIMES):
        valid, saturated = data.valid[:, k], data.valid[:, k] & data.saturated[:, k]
        line, ranges = data.law(k, np.ones(len(found), bool))
        inside, errors = data.judged(k, data.groups)
        share = lambda some: f"{100 * np.average(inside[some], weights=data.weights[some]):.0f} % of {some.sum()}"
        mean = lambda values: np.average(values[valid], weights=data.weights[valid])
        print(f"after {t} s: a {line[0]:.3f}, b {line[1]:.3f}; range {ranges[0][0]:.2f} to {ranges[0][1]:.2f}, saturated "
              f"{ranges[1][0]:.2f} to {ranges[1][1]:.2f}; bias {mean(errors):.2f}, deviation {np.sqrt(mean(errors ** 2)):.2f}; "
              f"inside by cross-validation: {share(valid)}, saturated {share(saturated)}, field {share(valid & data.field)}")


if __name__ == "__main__":
    main()
