"""The definition of the discriminator's blocks and features in numpy and scipy, written apart from the agent's code: the
agent's numbers are held against it (`expected.py`). The fit takes the agent's own (`product.py`).

Arrays are (3, n), rows x y z, z up, m/s², doubles. Nothing looks ahead. `deploy/docs/classification.md` has the words.
"""

import numpy as np
from scipy import signal

try:
    from numba import njit
except ImportError:  # only slower

    def njit(function):
        return function


BANDS = ((0.5, 1), (1, 2), (2, 4), (4, 8), (8, 14))
FEATURES = ("s1", "s2", "s3", "s4", "lowsn", "rect", "recent", "rise", "kur", "bw", "vh", "white", "spike", "local", "tilt", "flat")
# Blocks after that of the onset at whose ends an event is judged.
JUDGINGS = (*range(4, 41, 4), *range(48, 241, 8))
NOISE = 12  # values of a block that the noise has too


def bandpass(a, rate, low, high):
    """Butterworth of prototype order 2 (four poles), causal, from rest, the first sample subtracted."""
    return signal.sosfilt(signal.butter(2, [low, high], "bandpass", fs=rate, output="sos"), a - a[:, :1], axis=1)


@njit
def _rule(p, raw, short, long, on, off, axes, ratio, clip, jump, longest, block):
    """The default STA/LTA with its guard (deploy/docs/detection.md): 1 for every sample of a trigger that counts."""
    n = p.shape[1]
    good = np.zeros(n, np.uint8)
    st = lt = 0.0
    active, lasted_t = False, 0
    s, l, before, total, mean = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    unseen, in_block, has, changes, largest, lasted, is_good = 1.0, 0, False, 0.0, 0.0, 0, False
    wb = min(1.0, block / short)
    for i in range(n):
        v = p[0, i] + p[1, i] + p[2, i]
        st += (v - st) / short
        if not active or lasted_t > longest:
            lt += (v - lt) / long
        if i >= long and lt > 0:
            r = st / lt
            if not active and r >= on:
                active, lasted_t = True, 0
            elif active and r < off:
                active = False
            if active:
                lasted_t += 1
        limit = clip / (1 - unseen) if unseen < 1 else 0.0
        still = True
        for c in range(3):
            s[c] += (min(p[c, i], limit * l[c]) - s[c]) / short
            if raw[c, i] != before[c]:
                still = False
            before[c] = raw[c, i]
        if not still and (lasted == 0 or lasted > longest):
            for c in range(3):
                l[c] += (p[c, i] - l[c]) / long
            unseen = unseen * (1 - 1.0 / long) if unseen > 1e-20 else 0.0
        for c in range(3):
            total[c] += raw[c, i]
        in_block += 1
        if in_block == block:
            in_block, d = 0, 0.0
            for c in range(3):
                m = total[c] / block
                d += (m - mean[c]) ** 2
                mean[c], total[c] = m, 0.0
            part = d * wb if has else 0.0
            has = True
            changes += part - changes * wb
            largest = max(part, largest - largest * wb)
        if not active:
            lasted, is_good = 0, False
            continue
        lasted += 1
        if not is_good:
            least = 1e-6 * max(l[0], l[1], l[2])
            present = agreeing = 0
            for c in range(3):
                if l[c] > least:
                    present += 1
                    if unseen < 1 and s[c] >= ratio * l[c] / (1 - unseen):
                        agreeing += 1
            is_good = agreeing >= min(axes, present) and largest <= jump * changes
        if is_good:
            good[i] = 1
    return good


def trigger(a, rate):
    b = bandpass(a, rate, 1, 8)
    return _rule(b * b, a, round(rate), round(30 * rate), 3.0, 1.5, 2, 2.0, 20.0, 0.3, round(180 * rate), max(1, round(rate / 32)))


def onsets(good):
    return np.flatnonzero(np.diff(np.r_[0, good.astype(int)]) == 1)


@njit
def _noise(values, triggered):
    """Of each block the noise, and how many blocks are in it: means of the blocks without a trigger that end 24 before."""
    count, frozen, quiet = 0, 0, 0
    now, out, seen = np.zeros(values.shape[1]), np.zeros(values.shape), np.zeros(len(values), np.int64)
    for b in range(len(values)):
        if triggered[b]:
            frozen, quiet = frozen + 1, 0
        else:
            frozen, quiet = 0, quiet + 1
        if b >= 24 and (quiet > 24 or frozen > 1440):
            count = min(count + 1, 240)
            now = now + (values[b - 24] - now) / count
        out[b], seen[b] = now, count
    return out, seen


class Blocks:
    """Of each 1/8 s. `values`: energies of five bands, products of the axes of the band from 1 to 12 Hz (xx yy zz xy xz yz),
    mean square of the differences of successive samples; these twelve have a noise. `other`: zero crossings of that band and
    of its differences, weighted by the axes' powers, mean square and largest of its square, largest square of a difference
    of successive samples, mean of x, y, z."""

    def __init__(self, a, rate, good):
        self.rate, self.length, self.good = rate, max(1, int(np.rint(rate / 8))), good
        m = self.length
        count = a.shape[1] // m

        def cut(v):
            return v[: count * m].reshape(count, m)

        w = bandpass(a, rate, 1, min(12, 0.4 * rate))
        v, r = np.zeros((count, NOISE)), np.zeros((count, 8))
        for k, (low, high) in enumerate(BANDS):
            b = bandpass(a, rate, low, min(high, 0.45 * rate))
            v[:, k] = cut((b * b).sum(axis=0)).mean(axis=1)
        for k, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))):
            v[:, 5 + k] = cut(w[i] * w[j]).mean(axis=1)
        steps = np.c_[np.zeros(3), np.diff(a, axis=1)]
        steps = (steps * steps).sum(axis=0)
        v[:, 11], r[:, 4] = cut(steps).mean(axis=1), cut(steps).max(axis=1)
        before = np.c_[np.zeros((3, 1)), w[:, :-1]]
        d = w - before
        d_before = np.c_[np.zeros((3, 1)), d[:, :-1]]
        for c in range(3):
            r[:, 0] += cut((w[c] * before[c] < 0).astype(float)).sum(axis=1) * v[:, 5 + c]
            r[:, 1] += cut((d[c] * d_before[c] < 0).astype(float)).sum(axis=1) * v[:, 5 + c]
            r[:, 5 + c] = cut(a[c]).mean(axis=1)
        e = (w * w).sum(axis=0)
        r[:, 2], r[:, 3] = cut(e * e).mean(axis=1), cut(e).max(axis=1)
        self.values, self.other = v, r
        self.noise, self.seen = _noise(v, cut(good).any(axis=1))


def _straightness(c):
    """1 − (λ2 + λ3)/(2 λ1) of covariances (…, 6), eigenvalues none below 0."""
    xx, yy, zz, xy, xz, yz = np.moveaxis(np.asarray(c), -1, 0)
    e = np.maximum(np.linalg.eigvalsh(np.stack([np.stack([xx, xy, xz], -1), np.stack([xy, yy, yz], -1), np.stack([xz, yz, zz], -1)], -2)), 0)
    return 1 - (e[..., 0] + e[..., 1]) / 2 / np.maximum(e[..., 2], 1e-30)


def features(x, first, block):
    """In the order of FEATURES, of the window from 4 blocks before that of the onset (of the last 40 at most) to `block`."""

    def log(v):
        return float(np.log10(max(v, 1e-30)))

    begin = max(0, first - 4, block - 39)
    w, o, n = x.values[begin : block + 1], x.other[begin : block + 1], x.noise[first]
    floor = n[:5] + 1e-20
    bands = np.maximum(w[:, :5].mean(axis=0) - floor, 0.05 * floor)
    density = bands[2:] / (2, 4, 6)
    power = w[:, 5] + w[:, 6] + w[:, 7]
    q = np.maximum(power, 2 * (n[5] + n[6] + n[7] + 1e-20))
    c = w[:, 5:11].mean(axis=0) - n[5:11]
    axes = np.maximum(c[:3], 0.05 * n[5:8] + 1e-20)
    steps = max(w[:, 11].mean() - n[11], 0.05 * n[11] + 1e-20)
    # Half seconds back from the end, as far as they fit, weighted by their power.
    groups = w[len(w) % 4 :, 5:11].reshape(-1, 4, 6).mean(axis=1) - n[5:11]
    weights = np.maximum(groups[:, :3].sum(axis=1), 0.05 * n[5:8].sum() + 1e-20)
    shift = x.other[block - 3 : block + 1, 5:].mean(axis=0) - x.other[max(0, first - 20) : max(1, first - 4), 5:].mean(axis=0)
    tilt = np.sqrt((shift * shift).sum()) / np.sqrt(max(o[:, 3].max(), 1e-30))
    return np.array([
        *(log(v / bands.sum()) for v in bands[:4]),
        log((bands[0] + bands[1]) / (floor[0] + floor[1])),
        _straightness(c),
        log(q[-4:].mean() / q.max()),
        log((q[1:] / q[:-1]).max()),
        log(o[:, 2].mean() / max(power.mean(), 1e-30) ** 2),
        log(o[:, 0].sum() / max(o[:, 1].sum(), 1e-30)),
        log(axes[2] / ((axes[0] + axes[1]) / 2)),
        log(steps * (min(12, 0.4 * x.rate) - 1) / (axes.sum() * x.rate)),
        log(o[:, 4].max() / max(w[:, 11].mean(), 1e-30)),
        float((_straightness(groups) * weights).sum() / weights.sum()),
        log(max(tilt, 0.003)),
        float(np.log10(density).mean() - np.log10(density.mean())),
    ])


MOVED, CARRIED = 0.05, 0.3  # shares of the largest acceleration


def shift(x, first, block):
    """By how much of the largest acceleration since the onset the mean of 4 s has shifted; 0 up to 20 mg. Above MOVED the
    sensor was moved; above CARRIED no strong motion explains it."""
    if first < 96:
        return 0.0
    shift = x.other[block - 31 : block + 1, 5:].mean(axis=0) - x.other[first - 96 : first - 16, 5:].mean(axis=0)
    size = float(np.sqrt((shift * shift).sum()))
    return size / max(float(np.sqrt(x.other[first - 4 : block + 1, 3].max())), 1e-15) if size > 0.02 * 9.80665 else 0.0


def judgings(x, onset):
    """Of each judging of the trigger that begins with sample `onset`: seconds after it, features, shift.
    None where the noise has been seen for under 10 s."""
    first, times, rows, shifts = onset // x.length, [], [], []
    if first >= len(x.values) or x.seen[first] < 80:
        return None
    for k in JUDGINGS:
        b = first + k
        if b >= len(x.values) or k > 40 and not x.good[b * x.length]:
            break
        times.append(((b + 1) * x.length - 1 - onset) / x.rate)
        rows.append(features(x, first, b))
        shifts.append(shift(x, first, b))
    return np.array(times), np.array(rows).reshape(-1, len(FEATURES)), np.array(shifts)


def course(triggers, level):
    """The class of an event. `triggers`: of each its seconds after the event's onset, times, probabilities and shifts of its
    judgings. Earthquake from 0.5 at two judgings in a row, 0.75 at one of a trigger's first six or 0.9 at one; none when below 0.3 for 2 s; carried, the
    probability is 0 unless it has been 0.8. A dictionary: when it was first `called` and `certain`; of each trigger the
    spans in which an alarm may begin (`armed`): it is an earthquake, and since it was last below 0.5 the probability has
    been `level`, from the ninth judging on at two in a row; whether the sensor was `moved`; whether it is an earthquake in the end (`final`) and the last probability `p`."""
    state = [{"p": None, "run": 0, "low": None, "is": False, "was": False, "peak": 0.0, "armed": False, "count": 0} for _ in triggers]
    out = {"called": None, "certain": None, "armed": [[] for _ in triggers], "moved": False, "final": False, "p": None}
    rows = sorted((begin + t, k, p, shift) for k, (begin, times, ps, shifts) in enumerate(triggers)
                  for t, p, shift in zip(times, ps, shifts))
    for t, k, p, shift in rows:
        s = state[k]
        out["moved"] = out["moved"] or bool(shift > MOVED)
        p = 0.0 if shift > CARRIED and not s["was"] else p
        confirmed = p if s["count"] < 8 else min(p, s["p"])
        s["p"], s["was"], s["count"] = p, s["was"] or p >= 0.8, s["count"] + 1
        s["run"] = s["run"] + 1 if p >= 0.5 else 0
        if s["run"] >= 2 or p >= (0.75 if s["count"] <= 6 else 0.9):
            s["is"] = True
        s["low"] = (t if s["low"] is None else s["low"]) if p < 0.3 else None
        if s["low"] is not None and t - s["low"] >= 2:
            s["is"] = False
        s["peak"] = max(s["peak"], confirmed) if p >= 0.5 else 0.0
        armed = s["is"] and s["peak"] >= level
        if armed and not s["armed"]:
            out["armed"][k].append((t, np.inf))
        elif s["armed"] and not armed:
            out["armed"][k][-1] = (out["armed"][k][-1][0], t)
        s["armed"] = armed
        out["final"] = any(one["is"] for one in state)
        out["p"] = max(one["p"] for one in state if one["p"] is not None)
        if out["final"] and out["called"] is None:
            out["called"] = t
        if out["final"] and out["p"] >= 0.8 and out["certain"] is None:
            out["certain"] = t
    return out


def alarm(armed, fast):
    """When an alarm begins: the first moment that is in a span of a trigger and not before its velocity has been reached."""
    return min((max(begin, v) for spans, v in zip(armed, fast) for begin, end in spans if v < end), default=None)


def velocity(a, rate, corner=0.4):
    """m/s: high pass of order 2 from rest before and after the trapezoid."""
    sections = signal.butter(2, corner, "highpass", fs=rate, output="sos")
    v = signal.sosfilt(sections, a - a[:, :1], axis=1)
    v = np.c_[np.zeros((3, 1)), np.cumsum((v[:, 1:] + v[:, :-1]) / 2 / rate, axis=1)]
    return signal.sosfilt(sections, v, axis=1)
