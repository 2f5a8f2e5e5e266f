#!/usr/bin/env python3
"""Makes Sources/Core/Propagation/TravelTimeData.swift: first P and S arrivals of the model iasp91 (Kennett and Engdahl, 1991)
for the distances and depths of networks of stations, computed with ObsPy's TauP.

    travel-times.py [FILE]       writes the file (default: Sources/Core/Propagation/TravelTimeData.swift), about 3 minutes
    travel-times.py --check N    computes N values anew and compares them with the file
"""
import pathlib
import random
import re
import sys

FILE = pathlib.Path(__file__).resolve().parents[3] / "Sources/Core/Propagation/TravelTimeData.swift"
# Kilometres along the surface, and below it. Close together where the time curves bend.
DISTANCES = list(range(0, 100, 2)) + list(range(100, 300, 5)) + list(range(300, 1201, 20))
DEPTHS = [0, 2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 32, 35, 40, 50, 60, 80, 100, 130, 160, 200, 250, 300, 400, 500, 600, 700]
PHASES = {"p": ["p", "P", "Pg", "Pn", "ttp"], "s": ["s", "S", "Sg", "Sn", "tts"]}
UNIT = 0.005  # seconds
RADIUS = 6371.0
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def first(model, phase, distance, depth):
    import math
    arrivals = model.get_travel_times(
        source_depth_in_km=depth, distance_in_degree=math.degrees(distance / RADIUS), phase_list=PHASES[phase])
    return min(a.time for a in arrivals)


def encode(times):
    return "".join("".join(ALPHABET[round(t / UNIT) >> s & 63] for s in (12, 6, 0)) for t in times)


def lines(text):
    return "\n".join("        " + text[i:i + 108] + "\\" for i in range(0, len(text), 108))


def write(path):
    from obspy.taup import TauPyModel
    model = TauPyModel("iasp91")
    tables = {p: encode(first(model, p, x, z) for z in DEPTHS for x in DISTANCES) for p in PHASES}
    path.write_text(f"""// Made by deploy/checks/association.d/travel-times.py with ObsPy's TauP; not edited by hand.

/// First arrivals of the model iasp91 (Kennett and Engdahl 1991), seconds in steps of {UNIT}, three characters each (base
/// 64, the highest six bits first): all distances of the first depth, then of the next.
enum TravelTimeData {{
    /// Kilometres along the surface: steps of 2 below 100, of 5 below 300, of 20 up to 1200.
    static let distances: [Double] =
        stride(from: 0.0, to: 100, by: 2).map {{ $0 }} + stride(from: 100.0, to: 300, by: 5)
        + stride(from: 300.0, through: 1200, by: 20)
    /// Kilometres below the surface.
    static let depths: [Double] = [
        {", ".join(map(str, DEPTHS[:16]))},
        {", ".join(map(str, DEPTHS[16:]))},
    ]
    static let unit = {UNIT}
    static let p: StaticString = \"\"\"
{lines(tables["p"])}

        \"\"\"
    static let s: StaticString = \"\"\"
{lines(tables["s"])}

        \"\"\"
}}
""")


def stored():
    """What the file has, encoded, for each phase."""
    text = FILE.read_text()
    return {p: re.sub(r"[\s\\]", "", re.search(r'let %s: StaticString = """(.*?)"""' % p, text, re.S)[1]) for p in PHASES}


def read():
    """The seconds of the file for each phase: all distances of the first depth, then of the next."""
    digits = {one: i for i, one in enumerate(ALPHABET)}
    return {p: [UNIT * ((digits[text[i]] << 12) + (digits[text[i + 1]] << 6) + digits[text[i + 2]]) for i in range(0, len(text), 3)]
            for p, text in stored().items()}


def check(count):
    from obspy.taup import TauPyModel
    model, kept = TauPyModel("iasp91"), stored()
    rng = random.Random(1)
    for _ in range(count):
        p, i, k = rng.choice("ps"), rng.randrange(len(DISTANCES)), rng.randrange(len(DEPTHS))
        at = 3 * (k * len(DISTANCES) + i)
        want, got = encode([first(model, p, DISTANCES[i], DEPTHS[k])]), kept[p][at:at + 3]
        if want != got:
            sys.exit(f"travel time of {p} at {DISTANCES[i]} km from {DEPTHS[k]} km: the file has {got}, TauP {want}")
    print(f"{count} travel times as TauP has them")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        check(int(sys.argv[2]))
    else:
        write(pathlib.Path(sys.argv[1]) if sys.argv[1:] else FILE)
