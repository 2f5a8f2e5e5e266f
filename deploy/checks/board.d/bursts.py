"""bursts.py COUNT CYCLE: so many short earthquakes, one every CYCLE seconds; rows of x, y, z in m/s² at 100 Hz.

Each grows within 0.3 s and fades: to the discriminator an earthquake after two seconds, fast enough for an alarm. (A cycle is
longer than the 15 s whose motion an alarm's velocity has to exceed.)
"""

import math
import sys

RATE, GROWS, FADES, AMPLITUDE = 100, 0.3, 2, 0.8
FREQUENCIES = (1.1, 2.3, 5.3)


def main(count, cycle):
    for i in range(round((count * cycle + 1) * RATE)):
        t = math.fmod(i / RATE, cycle)
        envelope = AMPLITUDE * min(1, t / GROWS) * math.exp(-t / FADES) if i / RATE < count * cycle else 0
        wave = [envelope * (0.6 if axis == 2 else 1) * sum(
            math.sin(2 * math.pi * f * t * (1 + axis / 10) + axis * f) for f in FREQUENCIES) for axis in range(3)]
        print(",".join(f"{one:.6f}" for one in wave))


main(int(sys.argv[1]), float(sys.argv[2]))
