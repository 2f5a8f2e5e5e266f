"""Run by deploy/checks/disturbances: what the station takes for an earthquake, and what not.

    judge_disturbances.py SEISMOTE PASSAGES SEED [REFERENCE]

Modelled disturbances and electrical faults begin 60 s after the recording's first sample and count by the first event from there
to 78 s; the seed is none of those of the fit. With REFERENCE: on the quiet parts of its field recordings, and beside them the
real disturbances (every event counts), the stations (with a sensor's noise before them and on them) and the shake table.
"""

import concurrent.futures
import json
import pathlib
import sys
import tempfile

import assessment
import disturbances
import electrical
import numpy as np
import training
from scipy import signal

RATES, LENGTH, WINDOW = (31.25, 100.0), training.Quiet.LENGTH, (59.7, 78.0)
NOISE = np.array([[13], [13], [19]]) * 1e-6 * 9.80665  # m/s² in the root of a hertz
# Shares: of modelled passages what may be taken for an earthquake and raise an alarm; of electrical faults what may be certain
# and raise an alarm; of the three cases of white noise and spikes the same; of real disturbances as for models. The
# cross-validation of the fit (class-figures.md) has less of each.
MODELS, FAULTS, CASES, REAL = (0.08, 0.01), (0.09, 0.05), (0.0175, 0.0115), (0.15, 0.03)
# What is to be found, of the stations and the shake table: taken for an earthquake; of 1 cm/s and more: alarmed, before the peak.
STATIONS, TABLE, ALARMED, BEFORE = 0.88, 0.9, 0.95, 0.85
# Of those that were called on the shake table, by one early judgement some of them, the share that is none in the end.
BACK = 0.03


def quiet(parts, rng, rate):
    n = int(LENGTH * rate)
    if not parts:
        return rng.normal(size=(3, n)) * NOISE * np.sqrt(rate / 2)
    _, part = parts[int(rng.integers(len(parts)))]
    short = int(LENGTH * 31.25)
    first = int(rng.integers(0, part.shape[1] - short + 1)) if part.shape[1] > short else 0
    a = part[:, first : first + short]
    if rate > 50:
        # resampled, with white noise above 14 Hz, where the recordings hold nothing
        a = signal.resample_poly(a, 16, 5, axis=1)
        white = rng.normal(size=a.shape) * NOISE * np.sqrt(rate / 2)
        a = a + signal.sosfilt(signal.butter(4, 14, "highpass", fs=rate, output="sos"), white, axis=1)
    return a * 10 ** rng.uniform(0, 0.9) if rng.random() < 0.3 else a


def replayed(tool, folder, name, samples, rate, window):
    """The events of samples whose onsets are in a window."""
    path = pathlib.Path(folder) / f"{name}.csv"
    times = np.arange(samples.shape[1]) / rate
    np.savetxt(path, np.column_stack((times, samples.T)), "%.6f,%.9g,%.9g,%.9g", header="t,x,y,z", comments="")
    found = assessment.events(tool, path)
    path.unlink()
    return [e for e in found if window[0] <= e.onset <= window[1]]


def first(events):
    return events[0] if events else None


def passages(tool, count, seed, parts, kinds=disturbances.KINDS):
    """kind, rate, event or None: of each passage."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = []
        for rate in RATES:
            for kind in kinds:
                for i in range(count):
                    a = quiet(parts, rng, rate).copy()
                    x, begin = disturbances.make(kind, rng, rate), int(50 * rate)
                    end = min(a.shape[1], begin + x.shape[1])
                    a[:, begin:end] += x[:, : end - begin]
                    jobs.append((kind, rate, pool.submit(replayed, tool, folder, f"{kind}-{rate:g}-{i}", a, rate, WINDOW)))
        return [(kind, rate, first(job.result())) for kind, rate, job in jobs]


def played(tool, signals):
    """kind, event or None: of what `training` makes."""
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = []
        for number, (a, rate, window, about) in enumerate(signals):
            peak = assessment.peak_velocity(a, rate, 60) if about["source"] == "station" else (0, 0)
            jobs.append((about["kind"], peak, pool.submit(replayed, tool, folder, str(number), a, rate, window)))
        found = []
        for kind, (pgv, at), job in jobs:
            event = first(job.result())
            if event:
                event.pgv, event.pgv_time = pgv, 60 + at - event.onset
            found.append((kind, event))
        return found


def real(tool, folder):
    """state, event: of each event of the real disturbances."""
    entries = [e for e in json.loads((folder / "index.json").read_text()) if e["folder"] == "disturbances"]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [(e["state"], pool.submit(assessment.events, tool, folder / "disturbances" / f"{e['record']}.mseed", "--scale", e["scale"]))
                for e in entries]
        return [(state, event) for state, job in jobs for event in job.result() if event.onset >= 15]


class Table:
    """Rows of counts; what is above or below a limit is a failure."""

    def __init__(self):
        self.failures = []
        print(f"{'':34}{'of':>6}{'onset':>7}{'called':>8}{'in the end':>12}{'certain':>9}{'alarm':>7}", flush=True)

    def row(self, name, events):
        found = [e for e in events if e is not None]
        counts = {"of": len(events), "onset": len(found), "called": sum(e.likely is not None for e in found),
                  "final": sum(e.final == "earthquake" for e in found), "certain": sum(e.certain is not None for e in found),
                  "alarm": sum(e.alarm is not None for e in found)}
        print("{:34}{of:>6}{onset:>7}{called:>8}{final:>12}{certain:>9}{alarm:>7}".format(name, **counts), flush=True)
        return counts

    def most(self, what, number, of, share, deviations=2):
        # Two standard deviations more than expected, of what is drawn by chance.
        limit = share * of + deviations * np.sqrt(share * of)
        if number > limit:
            self.failures.append(f"{what}: {number} of {of}, {limit:.1f} at most are expected")

    def least(self, what, number, of, share):
        if number < share * of - 1e-9:
            self.failures.append(f"{what}: {number} of {of}, {100 * share:.0f} % are expected")


def main():
    tool, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    reference = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
    ground = reference / "field" if reference else None
    table = Table()
    quiet_ground = training.Quiet(ground)
    found = passages(tool, count, seed, quiet_ground.parts)
    for kind in disturbances.KINDS:
        table.row(kind, [event for name, _, event in found if name == kind])
    sums = table.row("all models", [event for _, _, event in found])
    table.most("models taken for earthquakes", sums["called"], sums["of"], MODELS[0])
    table.most("models that raise an alarm", sums["alarm"], sums["of"], MODELS[1])
    if sums["onset"] < 0.3 * sums["of"]:
        table.failures.append(f"only {sums['onset']} of {sums['of']} passages begin an event: the sensor's noise hides them")
    faults = played(tool, training.faults(quiet_ground, seed + 1, count))
    sums = table.row("electrical faults of 14 kinds", [event for _, event in faults])
    table.most("electrical faults that are certain", sums["certain"], sums["onset"], FAULTS[0])
    table.most("electrical faults that raise an alarm", sums["alarm"], sums["onset"], FAULTS[1])
    cases = played(tool, training.faults(quiet_ground, seed + 2, 2 * count, RATES, electrical.CASES, True))
    for case in electrical.CASES:
        table.row(f"white noise: {case}" if "mg" in case else case, [event for name, event in cases if name == case])
    events = [event for _, event in cases if event]
    table.most("noise and spikes that are certain", sum(e.certain is not None for e in events), len(events), CASES[0])
    table.most("noise and spikes that raise an alarm", sum(e.alarm is not None for e in events), len(events), CASES[1])
    folder = reference / "disturbances" if reference else None
    if folder and (folder / "index.json").exists():
        recorded = real(tool, folder)
        for state in ("taken up or carried", "moved a little", "resting"):
            table.row(f"recorded: {state}", [event for name, event in recorded if name == state])
        still = [event for name, event in recorded if name != "taken up or carried"]
        table.most("real disturbances taken for earthquakes", sum(e.likely is not None for e in still), len(still), REAL[0], 0)
        table.most("real disturbances that raise an alarm", sum(e.alarm is not None for e in still), len(still), REAL[1], 0)
        shaken = [event for _, event in played(tool, training.stations(folder, None, seed, 1))]
        sums = table.row("stations", shaken)
        table.least("stations taken for an earthquake, of those that begin an event", sums["called"], sums["onset"], STATIONS)
        felt = [e for e in shaken if e and e.pgv >= 0.01]
        sums, before = table.row("stations of 1 cm/s and more", felt), sum(e.alarm is not None and e.alarm < e.pgv_time for e in felt)
        print(f"... of them an alarm before the peak velocity: {before}")
        table.least("stations of 1 cm/s and more that raise an alarm", sums["alarm"], len(felt), ALARMED)
        table.least("... before the peak velocity", before, len(felt), BEFORE)
        moved = [event for _, event in played(tool, training.shake_table(folder, seed, 1))]
        sums = table.row("shake table", moved)
        table.least("earthquakes on the shake table that are called", sums["called"], sums["of"], TABLE)
        back = sum(e is not None and e.likely is not None and e.final != "earthquake" for e in moved)
        print(f"... moved: {sum(e is not None and e.moved for e in moved)}; taken back: {back}")
        table.most("earthquakes on the shake table that are taken back", back, sums["called"], BACK, 0)
    for failure in table.failures:
        print("FAILED", failure)
    sys.exit(1 if table.failures else 0)


if __name__ == "__main__":
    main()
