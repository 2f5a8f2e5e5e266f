"""Modes of a simulated building by pyOMA-2 (stochastic subspace identification): writes modes.json, which ModeAnalysisTests compares with.

    pip install pyOMA_2==1.4.3 && python3 modes.py >modes.json"""

import json
import logging
import numpy as np
from scipy.signal import lfilter
from pyoma2.algorithms import SSI
from pyoma2.setup import SingleSetup

logging.disable(logging.CRITICAL)
RATE, SECONDS = 50, 1800
MODES = [(2.37, 0.010, (1, 0.25, 0)), (3.10, 0.012, (-0.3, 1, 0.05))]


def uniform(seed, count):
    state, out = seed, np.empty(count)
    for k in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        out[k] = (state >> 40) / 2**24 - 0.5
    return out


def building():
    """Acceleration in m/s²: oscillators that wind drives, and the noise of an ADXL355 (22.5 µg/√Hz)."""
    n = RATE * SECONDS
    noise = uniform(1, 3 * n).reshape(n, 3) * np.sqrt(12) * 22.5e-6 * 9.80665 * np.sqrt(RATE / 2)
    for number, (f, z, shape) in enumerate(MODES):
        wind = uniform(10 + number, n)
        w = 2 * np.pi * f / RATE
        a1, a2 = -2 * np.exp(-z * w) * np.cos(w * np.sqrt(1 - z * z)), np.exp(-2 * z * w)
        noise += np.outer(1e-4 * lfilter([1, 0, -1], [1, a1, a2], wind), shape)
    return noise


if __name__ == "__main__":
    setup = SingleSetup(building(), fs=RATE)
    setup.decimate_data(q=4)
    setup.add_algorithms(SSI(name="ssi", method="cov", br=40, ordmax=20))
    setup.run_all()
    setup.mpe("ssi", sel_freq=[f for f, _, _ in MODES], order_in=12)
    result = setup["ssi"].result
    print(json.dumps({"frequency": np.ravel(result.Fn).tolist(), "damping": np.ravel(result.Xi).tolist()}))
