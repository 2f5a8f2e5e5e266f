"""The recording that both agents play: steady vibration with noise, and a shake every eight seconds."""

import math
import random

RATE = 100
# First sample: 2026-01-05T10:20:30Z.
START = 1767608430
EVERY = 8.0
SHAKE_AT = 4.0


def is_quiet(time):
    """Far enough from a shake for the level of y to be that of the vibration; seconds since 1970."""
    return abs((time - START) % EVERY - SHAKE_AT - 0.5) > 2.6


def write(path, seconds):
    dice = random.Random(1)
    with open(path, "w", encoding="utf-8") as file:
        file.write("t,x,y,z\n")
        for i in range(round(seconds * RATE)):
            time = i / RATE
            shake = math.exp(-(((time % EVERY) - SHAKE_AT) / 0.4) ** 2)
            values = []
            for axis, (phase, tone) in enumerate(((0.0, 3.1), (1.1, 3.7), (2.3, 2.9))):
                steady = 0.02 * math.sin(2 * math.pi * tone * time + phase)
                strong = shake * math.sin(2 * math.pi * (tone + 0.6) * time)
                gravity = 9.80665 if axis == 2 else 0.0
                values.append(gravity + steady + strong + dice.gauss(0, 0.003))
            file.write(f"{START + i // RATE}.{i % RATE:02d}")
            file.write("".join(f",{value:.6f}" for value in values) + "\n")
