"""Response spectra by eqsig (Nigam and Jennings): writes spectrum.json, which ResponseSpectrumTests compares with.

    pip install eqsig==1.2.17 && python3 spectrum.py >spectrum.json"""

import json
import eqsig.sdof
import numpy as np

PERIODS = np.array([0.1, 0.2, 0.3, 0.5, 1, 2, 3])


def acceleration(rate, seconds=20):
    n = round(rate * seconds)
    t = np.arange(n) / rate
    state, noise = 5, np.empty(2 * n)
    for k in range(2 * n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        noise[k] = (state >> 40) / 2**24 - 0.5
    shape = np.exp(-((t - 6) ** 2) / 8)
    return [shape * (noise[i::2] + s * np.sin(2 * np.pi * f * t)) for i, (f, s) in enumerate([(1.9, 0.8), (0.6, 0.5)])]


cases = []
for rate in (50, 100, 200, 1000):
    x, y = (
        eqsig.sdof.pseudo_response_spectra(a, 1 / rate, PERIODS, 0.05)[2].tolist() for a in acceleration(rate)
    )
    cases.append({"rate": rate, "x": x, "y": y})
print(json.dumps({"cases": cases}, indent=1))
