"""What stations say of an earthquake from its first P wave on, as real ones do: the onset a little after the wave, updates
with the class and the peak so far, the end."""

import math

from synthetic import kilometres, log_peak, name, stamp

BOOT = "00000000-0000-4000-8000-000000000001"
KM = 111.19


def shift(centre, east, north):
    return centre[0] + north / KM, centre[1] + east / (KM * math.cos(math.radians(centre[0])))


def lattice(rng, centre, across, spacing=10.0, prefix="S"):
    """Stations every so many km, each up to 2 km from its point."""
    half = (across - 1) / 2
    return {f"{prefix}{i:02d}{k:02d}": shift(centre, (i - half) * spacing + rng.uniform(-2, 2), (k - half) * spacing + rng.uniform(-2, 2))
            for i in range(across) for k in range(across)}


def info(station, place, t):
    return dict(v=1, boot=BOOT, seq=0, t=stamp(t), station=dict(id=station, latitude=round(place[0], 6), longitude=round(place[1], 6), elevation_m=0))


class Shaking:
    """An earthquake at a place. Peaks in m/s² by Cua and Heaton (2009), which is not the relation that warnings are made with."""

    def __init__(self, times, origin, place, depth, magnitude):
        self.times, self.origin, self.place, self.depth, self.magnitude = times, origin, place, depth, magnitude

    def at(self, place, scatter):
        d = kilometres(self.place, place)
        slant = math.hypot(d, self.depth)
        first, peak = [10 ** (log_peak(self.magnitude, slant, x) + scatter) / 100 for x in "PS"]
        return dict(km=d, p=self.origin + self.times.p(d, self.depth), s=self.origin + self.times.s(d, self.depth), first=first, peak=peak,
                    # Of a motion of 1.6 Hz.
                    pgv=peak / 10)

    def messages(self, rng, stations, missing=0.05, peak=0.02):
        """(arrival, topic, payload), in no order."""
        found = []
        for station, place in stations.items():
            here = self.at(place, rng.gauss(0, 0.25))
            if here["peak"] < peak or rng.random() < missing:
                continue
            # A trigger comes when the wave stands out: later than the wave, and later still where it is weak.
            onset = here["p"] + rng.gauss(0, 0.08) + rng.uniform(0.1, 0.4) + (0.3 if here["first"] < 0.02 else 0)
            found += self.story(rng, station, here, onset)
        return found

    def story(self, rng, station, here, onset):
        def growth(t):
            """The peak so far: each wave takes some time to its largest swing."""
            def wave(size, since, rise):
                return size * (1 - math.exp(-(t - since) / rise)) if t > since else 0
            return max(wave(here["first"], here["p"], 0.7), wave(here["peak"], here["s"], 1.2), 0.004)
        end = max(here["s"] + 12, onset + 15)
        steps = [(onset + d, "update") for d in (0.5, 1, 2, 3, 5)] + [(here["s"] + d, "update") for d in (0.5, 1.5, 2.5, 4)]
        sent, seq, last = [], 0, 0.0
        for t, kind in sorted([(onset, "onset"), *[x for x in steps if x[0] > onset], (end, "end")]):
            if kind == "update" and t - last < 0.3:
                continue
            last = t
            p = min(0.95, 0.6 + 0.2 * (t - onset))
            payload = dict(
                v=1, boot=BOOT, seq=seq, t=stamp(t), station=station, event_type=kind, event_id=f"{station}-{name(onset)}", onset=stamp(onset),
                duration_s=round(t - onset, 2), pga=round(growth(t), 6), pgv=round(growth(t) / 10, 6))
            if t - onset >= 0.5:
                payload["class"] = dict(likely="earthquake", p=round(p, 2), t_s=round(min(60, t - onset), 1), certain=t - onset > 2, moved=False)
            if kind == "end":
                payload["end"] = stamp(end)
            seq += 1
            sent.append((t + rng.uniform(0.03, 0.25), f"seismote/{station}/event/trigger", payload))
        # One connection keeps its order.
        for i in range(1, len(sent)):
            sent[i] = (max(sent[i][0], sent[i - 1][0] + 0.001), *sent[i][1:])
        return sent


class Tables:
    """P and S of iasp91 by ObsPy, for a depth that is rounded to 2 km."""

    def __init__(self):
        import numpy as np
        from obspy.taup import TauPyModel
        self.numpy, self.model, self.kept = np, TauPyModel("iasp91"), {}

    def column(self, phase, depth):
        key = phase, 2 * round(depth / 2)
        if key not in self.kept:
            names = ["p", "P", "Pg", "Pn"] if phase == "P" else ["s", "S", "Sg", "Sn"]
            self.kept[key] = [min(a.time for a in self.model.get_travel_times(key[1], math.degrees(d / 6371), names)) for d in range(0, 205, 4)]
        return self.kept[key]

    def seconds(self, phase, d, depth):
        return float(self.numpy.interp(d, range(0, 205, 4), self.column(phase, depth)))

    def p(self, d, depth):
        return self.seconds("P", d, depth)

    def s(self, d, depth):
        return self.seconds("S", d, depth)
