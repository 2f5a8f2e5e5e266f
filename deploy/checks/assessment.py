"""What the station says of events in a recording, and how well: for deploy/checks/field and deploy/checks/disturbances."""

import json
import subprocess

import numpy as np
from scipy import signal

SECONDS = (0.5, 1, 2, 3, 5)
BLOCKS = (4, 8, 16, 24, 40)  # of 1/8 s after that of the onset


class Event:
    """One event of a replay. Times are seconds after its onset, the onset itself after the first sample."""

    def __init__(self, onset):
        self.onset = onset
        self.likely = self.certain = self.alarm = self.end = None
        self.judged = {}  # probability by the time of its judging
        self.onsite = {}  # estimate by its seconds
        self.moved = False
        self.final = None  # what it is taken for in the end

    def take(self, message):
        now = message["duration_s"]
        told = message.get("class", {})
        if "t_s" in told:
            self.judged[told["t_s"]] = told["p"]
            if told["likely"] == "earthquake" and self.likely is None:
                self.likely = told["t_s"]
            if told["certain"] and self.certain is None:
                self.certain = told["t_s"]
            self.moved = self.moved or told["moved"]
        if message.get("alarm") and self.alarm is None:
            self.alarm = now
        if message.get("onsite"):
            self.onsite.setdefault(message["onsite"]["t_s"], message["onsite"])
        if message["event_type"] == "end":
            self.final = told.get("likely")
            self.end = message

    def probabilities(self, rate):
        """At the judgings that are published for SECONDS; None where there was none."""
        block = max(1, round(rate / 8)) / rate
        return [next((p for t, p in self.judged.items() if 0 < t - (k - 1e-3) * block <= block), None) for k in BLOCKS]


def events(tool, path, *options):
    """Those that the station tells of a recording, with its default settings and the alarm on."""
    command = [tool, "replay", path, *options, "--set", "alarm.enabled=true", "--set", "trace.enabled=false", "--set",
               "waveform.enabled=false", "--set", "intensity.scales=[worden12]", "--output", "-", "--quiet"]
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"{path}: seismote replay ended with {result.returncode}: {result.stderr.strip()}")
    start, found = None, {}
    for line in result.stdout.splitlines():
        message = json.loads(line)
        payload = message.get("payload")
        if not isinstance(payload, dict):
            continue
        if start is None and "extremes" in payload:
            # the extremes' `since` is the time of the very first sample
            start = np.datetime64(min(payload["extremes"][axis]["since"] for axis in "xyz").rstrip("Z"))
        if message["topic"].endswith("/event/trigger"):
            name = payload["event_id"]
            if name not in found:
                onset = np.datetime64(payload["onset"].rstrip("Z"))
                found[name] = Event(float((onset - start) / np.timedelta64(1, "ns")) / 1e9)
            found[name].take(payload)
    return list(found.values())


def peak_velocity(a, rate, onset):
    """The larger horizontal velocity (m/s) from half a second before the onset to 90 s after it, and when (s after it)."""
    high_pass = signal.butter(2, 0.075, "highpass", fs=rate, output="sos")
    motion = signal.sosfilt(high_pass, a[:2] - a[:2, :1])
    steps = (motion[:, 1:] + motion[:, :-1]) / (2 * rate)
    velocity = np.abs(signal.sosfilt(high_pass, np.hstack([np.zeros((2, 1)), np.cumsum(steps, axis=1)]))).max(axis=0)
    first, at = max(0, round((onset - 0.5) * rate)), onset * rate
    part = velocity[first : round(at + 90 * rate)]
    return part.max(), (int(part.argmax()) + first - at) / rate


def intensity(velocity):
    """Worden et al. (2012) of m/s."""
    x = np.log10(max(velocity * 100, 1e-9))
    return float(4.62 + 2.17 * x if x < -1.21 else 3.78 + 1.47 * x if x < 0.53 else 2.89 + 3.16 * x)
