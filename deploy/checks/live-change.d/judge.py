"""What the messages of the two stations must be."""

import bisect
import calendar
import json
import time

from record import RATE

STEP = 10**9 // RATE
SIGNALS = ("raw", "filtered", "rms", "triggered")


def nanoseconds(text):
    whole, _, fraction = text.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) * 10**9 + int(fraction.ljust(9, "0")[:9])


class Samples:
    """Every sample of the stream: its time in nanoseconds, and three axes with four signals."""

    def __init__(self, station):
        self.times, self.axes = [], {axis: {signal: [] for signal in SIGNALS} for axis in "xyz"}
        # Ends of blocks and their arrivals, to know which message has brought a sample.
        self.ends, self.arrivals = [], []
        for message in station.stream:
            block = json.loads(message.payload)
            start = nanoseconds(block["t"])
            self.times += [start + STEP * i for i in range(block["n"])]
            for axis in "xyz":
                for signal in SIGNALS:
                    self.axes[axis][signal] += block[axis][signal]
            self.ends.append(self.times[-1])
            self.arrivals.append(message.at)
        self.count = len(self.times)
        # A block can come when its last sample has been taken, not before: the quickest tells when that was.
        self.offset = min(at - end / 1e9 for end, at in zip(self.ends, self.arrivals))

    def moment(self, index):
        """When the sample was taken, of the monotonic clock."""
        return self.offset + self.times[index] / 1e9

    def arrival(self, index):
        """When the block with it came."""
        return self.arrivals[bisect.bisect_left(self.ends, self.times[index])]

    def since(self, moment):
        """The first sample taken after that, and after the block before the one that is being made."""
        return bisect.bisect_left(self.times, (moment - 0.2 - self.offset) * 1e9)


def stream(station):
    """No block lost, no sample lost between two."""
    blocks = [json.loads(message.payload) for message in station.stream]
    end = None
    for number, block in enumerate(blocks):
        if block["rate_hz"] != RATE:
            yield f"stream: {block['rate_hz']} Hz"
        if block["seq"] != number + blocks[0]["seq"]:
            yield f"stream: number {block['seq']} in place {number}"
        start = nanoseconds(block["t"])
        if end is not None and (abs(start - end) > 1000 or block["gap"]):
            yield f"stream: block {number} begins {(start - end) / 1e6:.3f} ms after the one before, gap {block['gap']}"
        end = start + STEP * block["n"]


def account(station, replaced):
    """Numbers of all messages, time of traces, health, waveforms. `replaced`: what the station says of retained values that
    a newer one has replaced before they could be sent; reports of its health are such."""
    for name in ("trace", "summary", "trigger", "health"):
        came, missing, again = station.account(name)
        if name == "health":
            missing = max(0, missing - replaced)
        if missing or again or not came:
            yield f"{name}: {came} came, {missing} missing, {again} twice"
    if station.out_of_order:
        yield f"{len(station.out_of_order)} messages out of order"
    end = rate = None
    for message in station.trace:
        block = json.loads(message.payload)
        start, width = nanoseconds(block["t"]), 1e9 / block["rate_hz"]
        # Where the rate changes, the grids need not meet: less than a sample of the wider is between them.
        slack = 1000 if rate == block["rate_hz"] else max(width, 1e9 / (rate or 1))
        if end is not None and abs(start - end) > slack:
            yield f"trace {block['seq']}: {(start - end) / 1e6:.1f} ms after the end of the one before, {rate} Hz"
        end, rate = start + round(width * block["n"]), block["rate_hz"]
    last = station.replies["status"][-1][1]["result"]
    first = station.health[0][1]
    if last["gaps"] != first["gaps"] or last["lost_samples"]:
        yield f"health: gaps {first['gaps']} to {last['gaps']}, lost {last['lost_samples']}"
    for name, why in station.broken_waveforms():
        yield f"waveform of {name}: {why}"
    if len(station.ended) < 3:
        yield f"only {len(station.ended)} events"


def effects(changes, samples, twin, station):
    """{change: number of the first sample under it}, but of scales, which no sample shows; and complaints."""
    found, words = {}, []
    other = {time: number for number, time in enumerate(twin.times)}
    level, filtered, raw = samples.axes["y"]["triggered"], samples.axes["x"]["filtered"], samples.axes["x"]["raw"]
    calm = twin.axes["y"]["triggered"]
    for change in changes:
        start = samples.since(change.sent)
        window = range(start, min(start + 5 * RATE, samples.count))
        if change.kind == "threshold":
            wanted = 0 if change.value == "5 mg" else 1
            number = next((i for i in window if level[i] == wanted and not calm[other.get(samples.times[i], 0)]), None)
        elif change.kind == "filter":
            number = next((i for i in window if (filtered[i] == raw[i]) == (change.value == "none")), None)
        elif change.kind == "trace":
            number = trace_start(change, samples, station)
        else:
            continue
        if number is None or number == start:
            words.append(f"{change.kind} {change.value}: " + ("no effect in 5 s" if number is None else "there before"))
        else:
            found[change] = number
    return found, words


def trace_start(change, samples, station):
    """The sample with which the traces of the new rate begin."""
    for message in station.trace:
        block = json.loads(message.payload)
        if message.at > change.sent and block["rate_hz"] == change.value:
            return bisect.bisect_left(samples.times, nanoseconds(block["t"]))
    return None


def shown(change, first, samples, station):
    """When the first message came that shows the change, of the monotonic clock; None: never."""
    if change.kind in ("threshold", "filter"):
        return samples.arrival(first[change]) if change in first else None
    for message in station.trace if change.kind == "trace" else station.summaries:
        if message.at < change.sent:
            continue
        body = json.loads(message.payload)
        if change.kind == "trace" and body["rate_hz"] == change.value:
            return message.at
        if change.kind == "scale" and [one["relation"] for one in body["intensity"]] == change.value:
            return message.at
    return None


def alike(samples, twin, filter_from):
    """How many values were compared with those of the other agent, and which are not the same. Of x the filter was
    changed, from that sample on; of y the threshold."""
    words, count = [], 0
    place = {time: number for number, time in enumerate(twin.times)}
    pairs = [(i, place[time]) for i, time in enumerate(samples.times) if time in place]
    if len(pairs) < 0.8 * samples.count:
        words.append(f"only {len(pairs)} of {samples.count} samples have the same time in both")
    untouched = {"x": ("raw",), "y": ("raw", "filtered", "rms"), "z": SIGNALS}
    for axis, signals in untouched.items():
        for signal in SIGNALS:
            mine, theirs = samples.axes[axis][signal], twin.axes[axis][signal]
            if signal in signals:
                these = pairs
            elif axis == "x" and filter_from is not None:
                these = [pair for pair in pairs if pair[0] < filter_from]
            else:
                continue
            count += len(these)
            wrong = [samples.times[i] for i, j in these if mine[i] != theirs[j]]
            if wrong:
                words.append(f"{axis}.{signal}: {len(wrong)} values differ, the first at {wrong[0]}")
    return count, words
