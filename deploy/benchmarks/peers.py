"""What a three-axis sample at 100 Hz costs the way others do the work, as lines `name value` (nanoseconds).

scipy_ns: the agent's default chain by stateful SciPy in blocks of 16, three axes at once: offset high pass, band pass, RMS
and level, velocity and displacement, STA/LTA of the vector, peaks and RMS of the last 10 s, nine decimated traces, one
summary and one trace a second as JSON.
obspy_ns: as rsudp's alert does it (github.com/raspishake/rsudp, c_alert.py): packets of 0.25 s appended to a stream,
merged, copied and cut to the long average; the whole of it filtered anew, the recursive STA/LTA of the whole, and RMS and
peak; for three channels. Far less work than the chain, done in another way.

Processor time of this process; the median of some runs. Run it beside the agent's benchmark.
"""

import json
import os
import statistics
import sys
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
from obspy import Stream, Trace, UTCDateTime
from obspy.signal.trigger import recursive_sta_lta
from scipy import signal

RATE = 100.0
BLOCK = 16
FACTOR = 5


def ground(seconds):
    """Noise of 0.3 mg with gravity on z and a quake of 0.1 g in the middle."""
    n = int(seconds * RATE)
    t = np.arange(n) / RATE - seconds / 2
    envelope = np.where(t < 0, 0, np.where(t < 2, 0.1, 0.8 * np.exp(-(t - 2) / 4)))
    noise = np.random.default_rng(20190706).normal(0, 3e-3, (3, n))
    waves = [a * np.sin(2 * np.pi * f * t) * envelope for a, f in ((1, 2.1), (0.8, 1.7), (0.5, 5.3))]
    return noise + np.array(waves) + np.array([[0], [0], [9.80665]])


class SciPyChain:
    def __init__(self):
        def band(low, high):
            return signal.butter(2, [low, high], "bandpass", fs=RATE, output="sos")

        def high(corner):
            return signal.butter(2, corner, "highpass", fs=RATE, output="sos")

        self.offset, self.filter, self.ground, self.ratio = high(0.1), band(0.5, 10), high(0.075), band(1, 8)
        self.states = {}
        self.squares = np.zeros((3, int(RATE)))
        self.above = np.zeros((3, 20), dtype=bool)
        self.integral = {"v": np.zeros((3, 1)), "d": np.zeros((3, 1))}
        self.last = {"v": np.zeros((3, 1)), "d": np.zeros((3, 1))}
        self.sta, self.lta, self.triggered, self.seen = np.zeros(1), np.zeros(1), False, 0
        self.window = np.zeros((3, int(10 * RATE)))
        self.speed = np.zeros((3, int(10 * RATE)))
        self.taps = signal.firwin(267, 0.9 / FACTOR, window=("kaiser", 8.3))
        self.tail = np.zeros((9, len(self.taps) - 1))
        self.phase = 0
        self.traces = np.zeros((9, 0))
        self.bytes = 0

    def sos(self, name, sos, x, steady=False):
        state = self.states.get(name)
        if state is None:
            zi = signal.sosfilt_zi(sos)
            state = zi[:, None, :] * x[None, :, :1] if steady else np.zeros((len(sos), len(x), 2))
        y, self.states[name] = signal.sosfilt(sos, x, axis=-1, zi=state)
        return y

    def integrate(self, name, x):
        steps = (x + np.concatenate((self.last[name], x[:, :-1]), axis=1)) / (2 * RATE)
        y = self.integral[name] + np.cumsum(steps, axis=1)
        self.integral[name], self.last[name] = y[:, -1:], x[:, -1:]
        return y

    def block(self, raw):
        n = raw.shape[1]
        a = self.sos("offset", self.offset, raw, steady=True)
        y = self.sos("filter", self.filter, a)
        squares = np.concatenate((self.squares, y * y), axis=1)
        sums = np.cumsum(squares, axis=1)
        w = self.squares.shape[1]
        rms = np.sqrt(np.maximum(sums[:, w:] - sums[:, :-w], 0) / w)
        self.squares = squares[:, -w:]
        above = np.concatenate((self.above, rms > 0.049), axis=1)
        count = np.cumsum(above, axis=1)
        flags = count[:, 20:] - count[:, :-20] >= 20
        self.above = above[:, -20:]
        v = self.sos("v", self.ground, self.integrate("v", self.sos("a", self.ground, a)))
        self.sos("d", self.ground, self.integrate("d", v))
        power = (self.sos("ratio", self.ratio, a) ** 2).sum(axis=0)
        k, q = 1 / RATE, 1 / (30 * RATE)
        sta, self.sta = signal.lfilter([k], [1, k - 1], power, zi=self.sta)
        if self.triggered:
            lta = np.full(n, self.lta[0] / (1 - q))
        else:
            lta, self.lta = signal.lfilter([q], [1, q - 1], power, zi=self.lta)
        ratio = sta / np.maximum(lta, 1e-300)
        self.triggered = self.seen > 3000 and (ratio[-1] >= 1.5 if self.triggered else bool((ratio >= 3).any()))
        self.window = np.concatenate((self.window[:, n:], a), axis=1)
        self.speed = np.concatenate((self.speed[:, n:], v), axis=1)
        signals = np.concatenate((self.tail, np.concatenate((raw, y, rms))), axis=1)
        self.tail = signals[:, n:]
        for place in range(self.phase, n, FACTOR):
            out = signals[:, place : place + len(self.taps)] @ self.taps
            self.traces = np.concatenate((self.traces, out[:, None]), axis=1)
        self.phase = (self.phase - n) % FACTOR
        if self.seen // int(RATE) != (self.seen + n) // int(RATE):
            self.second(flags, ratio)
        self.seen += n

    def second(self, flags, ratio):
        vector = np.sqrt((self.window**2).sum(axis=0))
        summary = {
            "peak": np.abs(self.window).max(axis=1).tolist() + [float(vector.max())],
            "rms": np.sqrt((self.window**2).mean(axis=1)).tolist(),
            "pgv": np.abs(self.speed).max(axis=1).tolist(),
            "triggered": flags[:, -1].tolist(),
            "sta_lta": float(ratio[-1]),
        }
        self.bytes += len(json.dumps(summary)) + len(json.dumps(self.traces.tolist()))
        self.traces = self.traces[:, :0]


def scipy_blocks(samples):
    chain = SciPyChain()
    for start in range(0, samples.shape[1], BLOCK):
        chain.block(samples[:, start : start + BLOCK])
    return chain.bytes


def obspy_window(samples):
    packet, lta = 25, 30.0
    begin = UTCDateTime(2026, 1, 1)
    streams = [Stream() for _ in range(3)]
    alarms = 0
    for start in range(0, samples.shape[1] - packet + 1, packet):
        for axis in range(3):
            trace = Trace(samples[axis, start : start + packet].copy())
            trace.stats.sampling_rate = RATE
            trace.stats.starttime = begin + start / RATE
            streams[axis] = streams[axis].append(trace).merge(fill_value="latest").copy()
            if start / RATE <= lta:
                continue
            streams[axis] = streams[axis].slice(starttime=streams[axis][0].stats.endtime - lta)
            window = streams[axis].copy()[0].filter("bandpass", freqmin=0.5, freqmax=10.0)
            ratio = recursive_sta_lta(window.data, int(RATE), len(window.data) - 1)
            rms = np.sqrt(np.mean(window.data[-int(RATE) :] ** 2))
            alarms += bool(ratio.max() >= 3.0) or bool(rms > 0.049) or np.abs(window.data[-packet:]).max() > 1
    return alarms


def cost(function, seconds, runs):
    samples = ground(seconds)
    function(samples[:, : int(35 * RATE)])
    taken = []
    for _ in range(runs):
        start = time.process_time()
        if not function(samples):
            sys.exit(f"{function.__name__} has noticed nothing")
        taken.append((time.process_time() - start) / samples.shape[1])
    return statistics.median(taken) * 1e9


print(f"scipy_ns                     {cost(scipy_blocks, 120, 5):.4g}")
print(f"obspy_ns                     {cost(obspy_window, 60, 3):.4g}")
