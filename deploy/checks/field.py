"""Run by deploy/checks/field: the station and its peers on recordings of cheap sensors, judged by one rule; and how soon and
how well the station tells that it is an earthquake, raises an alarm and predicts the shaking.

A hit is an onset from 3 s before the model's P to 40 s after its S; an onset before that, but after the first 61 s, is
false (each such onset counts). `strong`: peak of at least 4 gal; `clear`: at least 10 times the noise. Recordings
without a located earthquake are played too, but nothing of them is counted: nobody knows what is on them.
"""

import concurrent.futures
import json
import pathlib
import sys

import assessment
import numpy as np
import pymseed
from scipy import signal

START, EARLY, LATE = 61, 3, 40
STRONG_GAL, CLEAR_SNR = 4, 10
LONGEST_DELAY = 2.8
LONGEST_DECISION, LARGEST_DEVIATION = 1.8, 0.45
# Earthquakes that are to be classified: strong, clear, all.
CLASSES = {"p >= 0.5": (34, 65, 86), "p >= 0.8": (34, 64, 82)}
# Earthquakes of 1 cm/s and more with an alarm before the peak velocity.
BEFORE = 5
COUNT = 1e-5  # m/s² of one count


def read(path):
    """Samples in m/s², axes in rows, and the rate."""
    parts, rate = {}, None
    for record in pymseed.MS3Record.from_file(str(path), unpack_data=True):
        parts.setdefault(record.sourceid[-1], []).append(np.array(record.datasamples))
        rate = record.samprate
    return np.stack([np.concatenate(parts[code]) for code in "12Z"]) * COUNT, rate


# --- the peers, from their sources and papers, none of their code -----------------------------------------------------


def switch(ratio, on, off, rate):
    """Seconds at which a ratio goes to `on` or more, having been below `off`."""
    times, is_on = [], False
    for i in np.flatnonzero((ratio >= on) | (ratio < off)):
        if not is_on and ratio[i] >= on:
            is_on = True
            times.append(i / rate)
        elif is_on and ratio[i] < off:
            is_on = False
    return times


def recursive_average(x, n):
    return signal.lfilter([1 / n], [1, 1 / n - 1], x)


def openeew(a, rate):
    """openeew-detection, detection.py and trigger.py: classic STA/LTA of the squares of each axis as it comes, windows of
    1 and 11 messages of a second, level 3 on any axis; it has no second level, so that an onset ends below the first.
    (These sensors take gravity away themselves.)"""
    short, long = round(rate), 11 * round(rate)
    best = np.zeros(a.shape[1])
    for row in a:
        total = np.concatenate(([0], np.cumsum(row * row)))
        sta = (total[short:] - total[:-short]) / short
        lta = (total[long:] - total[:-long]) / long
        best[long - 1 :] = np.maximum(best[long - 1 :], sta[long - short :] / lta)
    return switch(best, 3, 3, rate)


def rsudp(a, rate):
    """rsudp, helpers.default_settings and c_alert.Alert: vertical, every quarter of a second the last 30 s anew through
    ObsPy's band pass of 0.8 to 9 Hz (order 4, causal) and its recursive STA/LTA of 6 and 30 s; on above 3.95, off
    below 0.9. The mean of the 30 s is taken away first here, because ours are accelerometers."""
    short, long = int(6 * rate), int(30 * rate)
    sections = signal.butter(4, [0.8, 9], "bandpass", fs=rate, output="sos")
    times, is_on = [], False
    step = rate / 4
    for k in range(int(np.ceil((long + 1) / step)), int(a.shape[1] / step)):
        end = int(k * step)
        window = a[2, end - long - 1 : end]
        power = signal.sosfilt(sections, window - window.mean()) ** 2
        power[0] = 0  # ObsPy's recursion begins with the second sample
        ratio = recursive_average(power, short)[-1] / recursive_average(power, long)[-1]
        if not is_on and ratio > 3.95:
            is_on = True
            times.append((end - 1) / rate)
        elif is_on and ratio < 0.9:
            is_on = False
    return times


def seiscomp(a, rate):
    """SeisComP, scautopick: vertical, RMHP(10) >> ITAPER(30) >> BW(4,0.7,2) >> STALTA(2,80), on 3, off 1.5. RMHP takes the
    running mean of 10 s away, ITAPER is a cosine taper of 30 s, STALTA the ratio of running means of the absolute
    values (filter grammar of its manual)."""
    n = round(10 * rate)
    z = a[2] - a[2, 0]
    total = np.concatenate(([0], np.cumsum(z)))
    count = np.minimum(np.arange(1, len(z) + 1), n)
    z = z - (total[1:] - total[np.arange(1, len(z) + 1) - count]) / count
    taper = round(30 * rate)
    z[:taper] *= (1 - np.cos(np.pi * np.arange(taper) / taper)) / 2
    z = np.abs(signal.sosfilt(signal.butter(4, [0.7, 2], "bandpass", fs=rate, output="sos"), z))
    short, long = round(2 * rate), round(80 * rate)
    total = np.concatenate(([0], np.cumsum(z)))
    ratio = np.zeros(len(z))
    ratio[long - 1 :] = ((total[long:] - total[long - short : -short]) / short) / ((total[long:] - total[:-long]) / long)
    return switch(ratio, 3, 1.5, rate)


def qcn(a, rate):
    """Quake-Catcher Network, qcn_thread_sensor_loop: length of the vector from the mean of the last 60 s, over the
    deviation of the 60 s before plus a tenth of the sensor's threshold, averaged over 3 samples, above 3, with a length
    above the threshold (0.0025 m/s², that of its quietest sensors); not again within 3 s. (Cochran and others, A novel
    strong-motion seismic network for community participation in earthquake monitoring, IEEE Instrum. Meas. Mag. 12, 2009.)"""
    n, least = round(60 * rate), 0.0025

    def running_mean(x):
        total = np.concatenate((np.zeros((len(x), 1)), np.cumsum(x, axis=1)), axis=1)
        count = np.minimum(np.arange(1, x.shape[1] + 1), n)
        return (total[:, 1:] - total[:, np.arange(1, x.shape[1] + 1) - count]) / count

    mean = running_mean(a)
    variance = running_mean(np.sum((a - mean) ** 2, axis=0, keepdims=True))[0]
    length = np.sqrt(np.sum((a[:, 1:] - mean[:, :-1]) ** 2, axis=0))
    scaled = length / np.sqrt(variance[:-1] + least / 10)
    significance = signal.lfilter(np.ones(3) / 3, 1, scaled)
    times = []
    for i in np.flatnonzero((significance > 3) & (length > least)) + 1:
        if i >= n and (not times or i / rate - times[-1] >= 3):
            times.append(i / rate)
    return times


PEERS = {"OpenEEW": openeew, "rsudp": rsudp, "SeisComP": seiscomp, "QCN": qcn}

# --- the judgement ----------------------------------------------------------------------------------------------------


class Score:
    def __init__(self):
        self.found = {"strong": [0, 0], "clear": [0, 0], "all": [0, 0]}
        self.false, self.quiet, self.delays, self.failures = 0, 0.0, [], []

    def judge(self, record, onsets):
        if record.get("p_s") is None:
            return
        begin, end = record["p_s"] - EARLY, record["s_s"] + LATE
        early = [t for t in onsets if START <= t < begin]
        hits = [t for t in onsets if begin <= t <= end]
        self.false += len(early)
        self.quiet += max(0, begin - START)
        self.failures += [f"false onset at {t:.1f} s of {record['record']}" for t in early]
        clear = (record.get("snr") or 0) >= CLEAR_SNR
        for kind, counts in (("strong", record["pga_gal"] >= STRONG_GAL), ("clear", clear), ("all", True)):
            if counts:
                self.found[kind][1] += 1
                self.found[kind][0] += bool(hits)
                if not hits and kind != "all":
                    self.failures.append(f"{kind} earthquake of {record['record']} not found")
        if hits and clear:
            self.delays.append(hits[0] - record["p_s"])

    def row(self):
        found = "".join(f"{f'{hit} of {of}':>12}" for hit, of in self.found.values())
        late = np.percentile(self.delays, [50, 90]) if self.delays else [np.nan, np.nan]
        return f"{found}{self.false:>8}{late[0]:>12.2f}{late[1]:>8.2f}"


def rules(tool, folder, record):
    path = folder / f"{record['record']}.mseed"
    a, rate = read(path)
    events = assessment.events(tool, path, "--scale", COUNT)
    for event in events:
        event.rate = rate
        event.pgv, event.pgv_time = assessment.peak_velocity(a, rate, event.onset)
    times = {
        "Seismote": [e.onset for e in events],
        "p >= 0.5": [e.onset + e.likely for e in events if e.likely is not None],
        "p >= 0.8": [e.onset + e.certain for e in events if e.certain is not None],
    }
    return times | {name: rule(a, rate) for name, rule in PEERS.items()}, events


# --- class, alarm and on-site estimate --------------------------------------------------------------------------------


class Assessment:
    """Of the earthquakes that were found; only the first event of each."""

    def __init__(self):
        self.strong, self.decisions, self.alarms, self.felt, self.estimates, self.leads = [], [], [], [], [], []
        self.count = 0

    def take(self, record, events):
        if record.get("p_s") is None:
            return
        hit = next((e for e in events if record["p_s"] - EARLY <= e.onset <= record["s_s"] + LATE), None)
        if hit is None:
            return
        self.count += 1
        if hit.likely is not None:
            self.decisions.append(hit.likely)
        if record["pga_gal"] >= STRONG_GAL:
            self.strong.append(hit.probabilities(hit.rate))
        if hit.alarm is not None:
            self.alarms.append(hit.alarm < hit.pgv_time)
        if hit.pgv >= 0.01:
            self.felt.append((hit.alarm, hit.pgv_time))
        estimate = hit.onsite.get(2)
        if estimate and estimate["pv"] is not None:
            predicted = 10 ** (1.203 * np.log10(estimate["pv"] * 100) + 1.165 - 2)
            self.estimates.append((predicted, hit.pgv))
            self.leads.append(hit.pgv_time - 2)

    def report(self):
        share = [100 * np.mean([(row[k] or 0) >= 0.5 for row in self.strong]) for k in range(len(assessment.SECONDS))]
        error = np.array([np.log10(p / v) for p, v in self.estimates])
        steps = [abs(assessment.intensity(p) - assessment.intensity(v)) for p, v in self.estimates]
        alarmed = [a for a, _ in self.felt if a is not None]
        early = sum(a is not None and a < t for a, t in self.felt)
        print(f"decision after the onset: median {np.median(self.decisions):.1f} s, 90 % {np.percentile(self.decisions, 90):.1f} s")
        print("strong earthquakes at p >= 0.5 after 0.5, 1, 2, 3, 5 s: " + " ".join(f"{s:.0f}" for s in share) + " %")
        print(f"alarms: {len(self.alarms)}, {sum(self.alarms)} before the peak velocity; {len(alarmed)} of {len(self.felt)}"
              f" earthquakes of 1 cm/s and more, {early} before it")
        print(f"on-site estimate after 2 s: {len(self.estimates)} of {self.count} above the noise, bias {error.mean():.2f},"
              f" deviation {error.std():.2f} of log PGV, {100 * np.mean(np.array(steps) <= 1):.0f} % within one step of MMI;"
              f" before the peak by {np.median(self.leads):.1f} s (median; 10 %: {np.percentile(self.leads, 10):.1f} s)")
        wrong = []
        if early < BEFORE:
            wrong.append(f"{early} alarms before the peak velocity of 1 cm/s and more, {BEFORE} are wanted")
        if len(alarmed) < len(self.felt):
            wrong.append(f"{len(self.felt) - len(alarmed)} earthquakes of 1 cm/s and more without an alarm")
        if np.median(self.decisions) > LONGEST_DECISION:
            wrong.append(f"the median decision is later than {LONGEST_DECISION} s")
        if error.std() > LARGEST_DEVIATION:
            wrong.append(f"the predicted velocities deviate by more than {LARGEST_DEVIATION}")
        return wrong


def main():
    tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    records = json.loads((folder / "index.json").read_text())["records"]
    scores, assessed = {name: Score() for name in ["Seismote", *CLASSES, *PEERS]}, Assessment()
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for record, (onsets, events) in zip(records, pool.map(rules, [tool] * len(records), [folder] * len(records), records)):
            for name, times in onsets.items():
                scores[name].judge(record, times)
            assessed.take(record, events)
    ours = scores["Seismote"]
    print(f"{len(records)} recordings, {ours.found['all'][1]} with a located earthquake, {ours.quiet / 3600:.1f} h before it")
    print(f"{'':10}{'strong':>12}{'clear':>12}{'all':>12}{'false':>8}{'delay 50 %':>12}{'90 %':>8}   (s after the model's P)")
    for name, score in scores.items():
        print(f"{name:10}{score.row()}")
    failures = ours.failures + assessed.report()
    for name, (strong, clear, everything) in CLASSES.items():
        for kind, least in (("strong", strong), ("clear", clear), ("all", everything)):
            if scores[name].found[kind][0] < least:
                failures.append(f"{name}: {scores[name].found[kind][0]} {kind} earthquakes, {least} wanted")
        if scores[name].false:
            failures.append(f"{name}: {scores[name].false} where there was no earthquake")
    if not ours.delays or np.median(ours.delays) > LONGEST_DELAY:
        failures = failures + [f"the median delay is above {LONGEST_DELAY} s"]
    for failure in failures:
        print("FAILED", failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
