"""Fits the on-site estimate: log PGV (cm/s) by log Pv of the vertical, 1, 2, 3, 5 and 8 s after the onset, and how far the
peak velocity is from what is published, by fivefold cross-validation. Prints what OnsiteEstimator.swift has.

    onsite.py REFERENCE [SEED]                PYTHONPATH: this folder and deploy/checks
"""

import json
import pathlib
import sys
import zlib

import field
import numpy as np
import reference
import training
from scipy import signal

TIMES = (1, 2, 3, 5, 8)
# a and b after these seconds, as printed, and as OnsiteEstimator.swift has them.
LAWS = {1: (1.254, 1.325), 2: (1.203, 1.165), 3: (1.026, 0.887), 5: (0.996, 0.569), 8: (1.033, 0.470)}
FOLDS = 5
OUTSIDE = 0.05  # on each side: with few earthquakes a range is too narrow for others, and 80 % are to be inside
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
        slope, level = LAWS[t]
        out[str(t)] = {"pv_cm_s": pv, "pd_cm": pd, "tau_c_s": tau, "iv2_cm2_s": iv2, "pv_valid": bool(pv > 2 * pv_noise),
                       "pd_valid": bool(pd > 3 * pd_noise), "saturated": bool(pd > 3 * pd_noise and tau >= SATURATED),
                       "pgv_pv_cm_s": 10 ** (slope * np.log10(max(pv, 1e-28)) + level),
                       "pgv_pd_cm_s": 10 ** (0.903 * np.log10(max(pd, 1e-28)) + 1.609)}
    return out


def measured(a, rate, window, group, name):
    """Of the first onset in a window: what is known after each time, and the peak velocity (cm, s)."""
    onsets = [i for i in reference.onsets(reference.trigger(a, rate)) if window[0] * rate <= i <= window[1] * rate]
    if not onsets:
        return None
    rows, (pv_noise, pd_noise), pgv = known(a, rate, int(onsets[0]))
    rows += [rows[-1]] * (len(TIMES) - len(rows))
    return {"group": group, "name": name, "pgv": pgv,
            "rows": np.array([(pv, pd, tau, so_far, pv > 2 * pv_noise, pd > 3 * pd_noise) for pv, pd, tau, _, so_far in rows], float)}


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


def main():
    folder, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    found = events(folder, seed)
    fold = np.array([zlib.crc32(e["group"].encode()) % FOLDS for e in found])
    names = [e["name"] for e in found]
    weights, true = np.array([1 / names.count(name) for name in names]), np.log10([e["pgv"] for e in found])
    print(f"{len(found)} events of {len(set(names))} recordings, seed {seed}; log10, cm/s; `saturated`: tau_c of {SATURATED} s and more\n")
    for k, t in enumerate(TIMES):
        pv, pd, tau, so_far, valid, pd_valid = np.array([e["rows"][k] for e in found]).T
        x, so_far, valid = np.log10(pv), np.log10(np.maximum(so_far, 1e-9)), valid > 0
        saturated = (pd_valid > 0) & (tau >= SATURATED)

        def fit(chosen):
            line = lined(x[chosen], true[chosen], weights[chosen])
            errors = true - np.maximum(line @ np.array([x, np.ones(len(x))]), so_far)
            ranges = [quantiles(errors[some], weights[some], OUTSIDE)
                      for some in (chosen & ~saturated, chosen & saturated)]
            # What is saturated may be off as far as what is not.
            ranges[1] = np.array([min(r[0] for r in ranges), max(r[1] for r in ranges)])
            return line, errors, ranges

        inside, errors = np.zeros(len(found), bool), np.zeros(len(found))
        for f in range(FOLDS):
            _, e, ranges = fit(valid & (fold != f))
            low, high = np.array([ranges[int(s)] for s in saturated]).T
            now = fold == f
            inside[now], errors[now] = ((e >= low) & (e <= high))[now], e[now]
        line, _, ranges = fit(valid)
        share = lambda some: f"{100 * np.average(inside[some], weights=weights[some]):.0f} % of {some.sum()}"
        print(f"after {t} s: a {line[0]:.3f}, b {line[1]:.3f}; range {ranges[0][0]:.2f} to {ranges[0][1]:.2f}, saturated "
              f"{ranges[1][0]:.2f} to {ranges[1][1]:.2f}; bias {np.average(errors[valid], weights=weights[valid]):.2f}, deviation "
              f"{np.sqrt(np.average(errors[valid] ** 2, weights=weights[valid])):.2f}; inside by cross-validation: "
              f"{share(valid)}, saturated {share(valid & saturated)}, field {share(valid & (np.array([e['source'] == 'field' for e in found])))}")


if __name__ == "__main__":
    main()
