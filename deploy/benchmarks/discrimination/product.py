"""Triggers, judgings and on-site values of recordings, by the agent's own code: the program `discrimination` of
deploy/benchmarks, whose path is in SEISMOTE_DISCRIMINATION. One of them runs beside each process that asks.
"""

import json
import os
import subprocess

import numpy as np

_program = None


def described(a, rate, window=(0, 1e9)):
    """What `discrimination features` says of an array (3, n): of the onsets within a window (s) all, of the triggers all."""
    global _program
    if _program is None:
        _program = subprocess.Popen([os.environ["SEISMOTE_DISCRIMINATION"], "features"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    n = a.shape[1]
    first, last = (float(min(n, max(0, round(t * rate)))) for t in window)
    _program.stdin.write(np.array([rate, n, first, last, 0], float).tobytes() + np.ascontiguousarray(a, float).tobytes())
    _program.stdin.flush()
    line = _program.stdout.readline()
    if not line:
        raise SystemExit(f"discrimination features ended with {_program.wait()}")
    return json.loads(line)


def judgings(onset):
    """Times, features and shifts of one of `onsets`; None where there are none."""
    rows = np.array(onset["judgings"], float)
    return (rows[:, 1], rows[:, 3:], rows[:, 2]) if len(rows) else None
