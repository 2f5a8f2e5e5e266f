"""Half hours at 50 samples a second for the comparison with pyOMA-2: acceleration in m/s², and the modes that are in it (Hz,
damping, shape)."""

import numpy as np
from scipy.signal import lfilter

RATE, SECONDS = 50, 1800
COUNT = RATE * SECONDS
GRAVITY = 9.80665
DRIVE = 1e-4 / np.sqrt(12)


def noise(chance, micro):
    """Of a sensor: µg/√Hz."""
    return chance.normal(0, micro * 1e-6 * GRAVITY * np.sqrt(RATE / 2), (COUNT, 3))


def any_noise(chance):
    return float(np.exp(chance.uniform(np.log(5), np.log(100))))


def oscillator(hertz, damping):
    w = 2 * np.pi * hertz / RATE
    return -2 * np.exp(-damping * w) * np.cos(w * np.sqrt(1 - damping**2)), np.exp(-2 * damping * w)


def sum_of(chance, micro, modes, gusts):
    motion = noise(chance, micro)
    for hertz, damping, shape in modes:
        motion += np.outer(DRIVE * lfilter([1, 0, -1], [1, *oscillator(hertz, damping)], gusts * chance.normal(0, 1, COUNT)), shape)
    return motion, sorted(modes), micro


def frame(chance):
    """The frame of the issue: three storeys, two axes, 25 µg/√Hz."""
    modes = [(2.1, .012, (1, .1, 0)), (2.6, .015, (-.1, 1, 0)), (5.4, .014, (1, .05, .02)),
             (6.3, .018, (.05, 1, 0)), (8.6, .02, (1, -.1, 0)), (9.6, .02, (.1, 1, .03))]
    return sum_of(chance, 25, modes, 1)


def kin(chance, gusts=1):
    """Its kin: a shear frame of 2 to 5 storeys in two axes, whose masses and stiffnesses vary by 10 %; dampings of 0.5 to 5 %, 5 to
    100 µg/√Hz."""
    storeys = int(chance.integers(2, 6))
    first = chance.uniform(1, 4) * 3 / storeys if storeys > 2 else chance.uniform(2, 5)
    modes = []
    for axis in range(2):
        mass, spring = (1 + .1 * chance.uniform(-1, 1, storeys) for _ in range(2))
        stiffness = np.diag(spring + np.append(spring[1:], 0)) - np.diag(spring[1:], 1) - np.diag(spring[1:], -1)
        root = 1 / np.sqrt(mass)
        squares, shapes = np.linalg.eigh(root[:, None] * stiffness * root[None, :])
        shapes = root[:, None] * shapes
        lowest = first * (1 if axis == 0 else chance.uniform(1.03, 1.5))
        for k in range(storeys):
            hertz, damping = lowest * np.sqrt(squares[k] / squares[0]), np.exp(chance.uniform(np.log(.005), np.log(.05)))
            aside = chance.uniform(-.15, .15, 2)
            shape = np.zeros(3)
            shape[axis], shape[1 - axis], shape[2] = 1, aside[0], .3 * aside[1]
            if hertz < 19.5:
                modes.append((float(hertz), float(damping), tuple(abs(shapes[-1, k] / shapes[-1, 0]) * shape)))
    return sum_of(chance, any_noise(chance), modes, gusts)


def gust(chance):
    """The kin in wind: the amplitude of what drives it is log-normal, 0.6 wide, and changes within a minute."""
    wind = lfilter([1], [1, -np.exp(-1 / (60 * RATE))], chance.normal(0, 1, COUNT))
    wind = np.exp(.6 * wind / wind.std())
    return kin(chance, wind / np.sqrt(np.mean(wind**2)))


def pure(chance):
    micro = any_noise(chance)
    return noise(chance, micro), [], micro


def line(chance):
    """Two to six machines, steady or hunting by up to 0.1 %, from far below the noise to far above."""
    motion = noise(chance, any_noise(chance))
    t = np.arange(COUNT) / RATE
    for _ in range(int(chance.integers(2, 7))):
        hertz, size, hunting = chance.uniform(.5, 19), 10 ** chance.uniform(-4.5, -1.5), [0, 3e-4, 1e-3][chance.integers(3)]
        turns = 2 * np.pi * t / chance.uniform(60, 900) + chance.uniform(0, 6)
        motion += np.outer(size * np.sin(np.cumsum(2 * np.pi * hertz * (1 + hunting * np.sin(turns)) / RATE)), chance.uniform(-1, 1, 3))
    return motion, [], 0


def lorry(chance):
    """10 to 60 lorries of 8 to 14 Hz; the strongest is twenty times the weakest."""
    motion = noise(chance, any_noise(chance))
    length = 24 * RATE
    t = np.arange(length) / RATE - 12
    for _ in range(int(chance.integers(10, 61))):
        at, hertz, decay = chance.uniform(0, SECONDS), chance.uniform(8, 14), np.exp(-chance.uniform(3, 8) / RATE)
        passing = lfilter([1], [1, -2 * decay * np.cos(2 * np.pi * hertz / RATE), decay**2], chance.uniform(-.5, .5, length))
        passing *= 10 ** chance.uniform(-3.3, -2) * np.exp(-t * t / chance.uniform(6, 30))
        place = int((at - 12) * RATE) + np.arange(length)
        inside = (place >= 0) & (place < COUNT)
        motion[place[inside]] += np.outer(passing, (chance.uniform(.2, .7), chance.uniform(.2, .7), 1))[inside]
    return motion, [], 0


KINDS = (frame, kin, gust, pure, line, lorry)


def record(kind, seed):
    return kind(np.random.default_rng([seed, KINDS.index(kind)]))


def strengths(modes, micro):
    """How far each mode stands out of all else along its shape, in standard deviations of the best estimate of its size that a
    half hour allows (Neyman-Pearson: √(T ∫ (mode / all)² df))."""
    hertz, width = np.arange(.1, 20, .005), .005
    e = np.exp(-2j * np.pi * hertz / RATE)
    powers = []
    for mode in modes:
        a1, a2 = oscillator(*mode[:2])
        powers.append(DRIVE**2 * 2 / RATE * abs((1 - e**2) / (1 + a1 * e + a2 * e**2))**2)
    found = []
    for own, (_, _, shape) in zip(powers, modes):
        unit = np.array(shape) / np.linalg.norm(shape)
        total = (micro * 1e-6 * GRAVITY)**2 + sum(power * np.dot(unit, other[2])**2 for power, other in zip(powers, modes))
        found.append(float(np.sqrt(SECONDS * np.sum((own * np.dot(unit, shape)**2 / total)**2) * width)))
    return found
