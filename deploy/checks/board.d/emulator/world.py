"""What the chip feels: gravity, the ground's noise, and a recording."""

import csv
import math
import random

GRAVITY = 9.80665


class World:
    """Acceleration in m/s² at a time in s since the world was told to begin. The recording (100 Hz, rows of x, y, z
    in m/s²) begins `lead` seconds later; between its samples the way is straight."""

    RATE = 100

    def __init__(self, path=None, lead=0.0, noise=0.02, seed=1):
        self.lead = lead
        self.rows = []
        if path:
            with open(path, newline="", encoding="ascii") as file:
                self.rows = [tuple(map(float, row)) for row in csv.reader(file)]
        # Tables whose lengths have no common divisor: the three axes together do not come again.
        generator = random.Random(seed)
        self.noise = [[generator.gauss(0, noise) for _ in range(length)] for length in (4093, 4091, 4079)]

    def at(self, moment, number):
        """At a time; `number` is the sample's, for the noise."""
        a, b, c = self.noise
        x, y, z = a[number % 4093], b[number % 4091], c[number % 4079] + GRAVITY
        place = (moment - self.lead) * self.RATE
        if 0 <= place < len(self.rows) - 1:
            index = math.floor(place)
            part = place - index
            (x0, y0, z0), (x1, y1, z1) = self.rows[index], self.rows[index + 1]
            x, y, z = x + x0 + part * (x1 - x0), y + y0 + part * (y1 - y0), z + z0 + part * (z1 - z0)
        return x, y, z
