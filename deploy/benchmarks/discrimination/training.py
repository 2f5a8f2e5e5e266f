"""Recordings and models that the discriminator is fitted to and judged by, with the features of all their judgings.

Each event is a dictionary: `source` (field, station, table, real, model, electrical), `kind`, `group` (what must not be
divided by folds), `weight` (1 / variants of the same recording), `rate`, and of each of its triggers `t`, `x`, `shift`
(`product.judgings`), `begin` (seconds after the event's onset); `fast`: when the velocity has passed what an alarm asks
for, by trigger; `pgv` (m/s), `pgv_time`.
"""

import json
import pathlib

import disturbances
import electrical
import field
import numpy as np
import product
import reference
from scipy import signal

DENSITY = 1e-6 * 9.80665  # m/s² of 1 µg
POST_EVENT = 10.0
LONGEST = 120.0  # s, of an event: later triggers in it are not judged
VELOCITY, BEFORE = 0.005, 2.0  # of an alarm: m/s; times the largest of the noise before


def white(rng, rate, n, density):
    """Noise of so many µg in the root of a hertz."""
    return rng.normal(size=(3, n)) * density * DENSITY * np.sqrt(rate / 2)


def density(rng, low=13, high=400):
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def resampled(a, rate, new):
    if rate == new:
        return a
    up, down = {(100, 50): (1, 2), (100, 200): (2, 1), (100, 31.25): (5, 16), (200, 100): (1, 2), (200, 50): (1, 4),
                (200, 31.25): (5, 32), (50, 31.25): (5, 8), (31.25, 100): (16, 5), (31.25, 200): (32, 5)}[(rate, new)]
    return signal.resample_poly(a - a[:, :1], up, down, axis=1) + a[:, :1]


def read(folder, entry):
    import pymseed

    parts = {}
    for record in pymseed.MS3Record.from_file(str(folder / entry["folder"] / f"{entry['record']}.mseed"), unpack_data=True):
        parts.setdefault(record.sourceid[-1], []).append(np.array(record.datasamples))
    return np.stack([np.concatenate(parts[c]) for c in "ENZ"]) * entry["scale"]


def events(a, rate, window, **about):
    """The events of an array whose onsets are within a window (s)."""
    told = product.described(a, rate, (window[0], window[1] + LONGEST))
    groups, last = [], -1e9
    for i, j in told["on"]:
        if i - last > POST_EVENT * rate:
            groups.append([])
        groups[-1].append((i, j - 1))
        last = j - 1
    groups = [g for g in groups if window[0] * rate <= g[0][0] <= window[1] * rate]
    if not groups:
        return []
    onsets = {one["sample"]: one for one in told["onsets"]}
    v = reference.velocity(a, rate)
    speed = np.sqrt((v * v).sum(axis=0))
    slow = reference.velocity(a, rate, 0.075)[:2]
    out = []
    for group in groups:
        onset = group[0][0]
        event = {"rate": rate, "onset": onset / rate, "triggers": []} | about
        for i, j in group:
            judged = product.judgings(onsets[i]) if i in onsets else None
            if judged is None:
                continue
            end = max(j + 1, i + round(5 * rate))
            before = speed[max(0, i - round(15 * rate)) : max(1, i - round(2 * rate))].max()
            first = max(0, i - round(0.5 * rate))
            hit = np.flatnonzero(speed[first:end] >= max(VELOCITY, BEFORE * before))
            event["triggers"].append({
                "begin": (i - onset) / rate, "t": judged[0], "x": judged[1], "shift": judged[2],
                "fast": (int(hit[0]) + first - onset) / rate if len(hit) else np.inf})
        first = max(0, onset - round(0.5 * rate))
        part = np.abs(slow[:, first : onset + round(90 * rate)]).max(axis=0)
        event["pgv"], event["pgv_time"] = float(part.max()), (int(part.argmax()) + first - onset) / rate
        if event["triggers"]:
            out.append(event)
    return out


class Quiet:
    """Quiet ground of the field recordings, and white noise of other sensors; only that without a folder."""

    LENGTH = 95

    def __init__(self, folder):
        self.parts = []
        for record in json.loads((folder / "index.json").read_text())["records"] if folder else []:
            if record.get("p_s") is not None:
                a, rate = field.read(folder / f"{record['record']}.mseed")
                part = a[:, : int((record["p_s"] - 3) * rate)]
                if part.shape[1] >= self.LENGTH * rate:
                    self.parts.append((record["record"], part))

    def make(self, rng, rate, ground=None):
        """(3, n) of 95 s and what the quiet was taken from; `ground`: True of the field, False white."""
        n = int(self.LENGTH * rate)
        if not self.parts or rate not in (31.25, 100) or (rng.random() < 0.3 if ground is None else not ground):
            return white(rng, rate, n, density(rng)) * np.array([[1], [1], [rng.uniform(1, 1.5)]]), "white"
        name, part = self.parts[int(rng.integers(len(self.parts)))]
        short = int(self.LENGTH * 31.25)
        first = int(rng.integers(0, part.shape[1] - short + 1)) if part.shape[1] > short else 0
        a = part[:, first : first + short]
        if rate > 50:
            a = signal.resample_poly(a, 16, 5, axis=1)
            noise = white(rng, rate, a.shape[1], 13) * np.array([[1], [1], [1.45]])
            a = a + signal.sosfilt(signal.butter(4, 14, "highpass", fs=rate, output="sos"), noise, axis=1)
        if rng.random() < 0.3:
            a = a * 10 ** rng.uniform(0, 0.9)
        if rng.random() < 0.25:
            a = a + white(rng, rate, a.shape[1], density(rng))
        return a, name


def field_earthquakes(folder, quiet, seed, scaled):
    """As recorded, and the clear ones scaled onto other quiet ground."""
    rng = np.random.default_rng(seed)
    for record in json.loads((folder / "index.json").read_text())["records"]:
        if record.get("p_s") is None:
            continue
        a, rate = field.read(folder / f"{record['record']}.mseed")
        group, window = record["record"][:10], (record["p_s"] - 3, record["s_s"] + 40)
        about = {"source": "field", "kind": "earthquake", "group": group, "name": record["record"],
                 "strong": record["pga_gal"] >= 4, "clear": (record.get("snr") or 0) >= 10}
        yield from events(a, rate, window, variant=0, **about)[:1]
        if not about["clear"]:
            continue
        part = a[:, int(max(0, record["p_s"] - 2) * rate) : int((record["s_s"] + 30) * rate)]
        part = part - part[:, :1]
        for k in range(scaled):
            new = 31.25 if k % 2 == 0 else 100
            x = part if new == 31.25 else signal.resample_poly(part, 16, 5, axis=1)
            b, _ = quiet.make(rng, new)
            b = np.c_[b, b[:, ::-1][:, : int(10 * new)]]
            first = int(50 * new)
            x = x[:, : b.shape[1] - first] * 10 ** rng.uniform(-1.3, 0.6)
            b[:, first : first + x.shape[1]] += x
            yield from events(b, new, (48, 85), variant=1 + k, **about)[:1]


def judged(signals):
    """The first event of each."""
    for a, rate, window, about in signals:
        yield from events(a, rate, window, **about)[:1]


def stations(folder, records, seed, variants):
    """Strong-motion stations: 60 s of a sensor's noise before them and on them; other rates and sizes as well. (Samples, rate,
    window, what they are; so do the next two.)"""
    rng = np.random.default_rng(seed)
    entries = [e for e in json.loads((folder / "index.json").read_text()) if e["folder"] == "eq_stations"]
    found = [(e["record"], e["fs"], read(folder, e)) for e in entries]
    for entry in json.loads((records / "index.json").read_text()) if records else []:
        if entry["id"] < "r11":
            a = np.loadtxt(records / f"{entry['id']}.csv", delimiter=",", skiprows=1)[:, 1:4].T.copy()
            found.append((entry["id"], float(entry["fs"]), a))
    for name, rate, a in found:
        a = a - np.median(a, axis=1, keepdims=True)
        for k in range(variants):
            new = rate if k < 3 or rate == 250 else float(rng.choice([r for r in (31.25, 50, 100, 200) if r < rate] or [rate]))
            x = resampled(a, rate, new) * (1 if k < 4 else 10 ** rng.uniform(-1.3, 0.3))
            x = np.c_[np.zeros((3, int(60 * new))), x[:, : int(150 * new)]]
            x = x + white(rng, new, x.shape[1], 25 if k == 0 else density(rng))
            # A station's own first seconds are part of the quiet, or its onset is in them.
            yield x, new, (58, 200), {"source": "station", "kind": "earthquake", "group": name.split("_")[0], "name": name,
                                      "variant": k}


def shake_table(folder, seed, variants):
    """Earthquakes that a shake table played to phones."""
    rng = np.random.default_rng(seed)
    for entry in json.loads((folder / "index.json").read_text()):
        if entry["folder"] != "eq_phones":
            continue
        a, rate = read(folder, entry), entry["fs"]
        for k in range(variants):
            level = a[:, :100].mean(axis=1, keepdims=True) if k % 2 == 0 else np.median(a, axis=1, keepdims=True)
            x = np.c_[np.repeat(level, int(60 * rate), axis=1), a]
            noise = white(rng, rate, x.shape[1], 25 if k == 0 else density(rng, 25))
            noise[:, int(60 * rate) :] *= 0.3
            yield x + noise, rate, (55, 110), {"source": "table", "kind": "earthquake", "group": entry["record"],
                                               "name": entry["record"], "variant": k}


def real_disturbances(folder, seed, variants):
    rng = np.random.default_rng(seed)
    for entry in json.loads((folder / "index.json").read_text()):
        if entry["folder"] != "disturbances":
            continue
        a, rate = read(folder, entry), entry["fs"]
        state = {"resting": "resting", "moved a little": "hardly moved"}.get(entry["state"], "carried")
        for k in range(variants + 1):
            b, new = a, rate
            if k:
                turn = rng.uniform(0, 2 * np.pi)
                b = np.array([[np.cos(turn), np.sin(turn), 0], [-np.sin(turn), np.cos(turn), 0], [0, 0, 1]]) @ b
                b = b[:, 0:1] + (b - b[:, 0:1]) * 10 ** rng.uniform(-0.7, 0.5)
                new = float(rng.choice([31.25, 50, 100, 100, 200]))
                b = resampled(b, rate, new)
                b = b + white(rng, new, b.shape[1], density(rng))
            yield from events(b, new, (15, 1e9), source="real", kind=state, group=entry["record"], name=entry["record"], variant=k)


def modelled(quiet, seed, count, rates=(31.25, 100.0)):
    rng = np.random.default_rng(seed)
    for rate in rates:
        for kind in disturbances.KINDS:
            for i in range(count):
                a, ground = quiet.make(rng, rate)
                x = disturbances.make(kind, rng, rate)
                a, first = a.copy(), int(50 * rate)
                a[:, first : first + x.shape[1]] += x[:, : a.shape[1] - first]
                yield from events(a, rate, (59.7, 78), source="model", kind=kind, group=f"{kind} {seed} {rate} {i}", variant=0)[:1]


def faults(quiet, seed, count, rates=(31.25, 31.25, 100.0, 100.0, 50.0, 200.0, 250.0), kinds=None, ground=None):
    rng = np.random.default_rng(seed)
    for kind in kinds or electrical.KINDS:
        for i in range(count):
            rate = rates[i % len(rates)]
            a, _ = quiet.make(rng, rate, ground)
            a = a + np.array([[0], [0], [9.80665 if rng.random() < 0.7 else 0]])
            electrical.spoil(kind, rng, a, rate, int(60 * rate))
            yield a, rate, (59.7, 78), {"source": "electrical", "kind": kind, "group": f"{kind} {seed} {i}", "variant": 0}
