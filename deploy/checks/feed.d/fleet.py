"""How many stations one feed carries: messages as an agent sends them, of many stations of 3 channels at 100 Hz."""

import asyncio
import datetime
import json
import os
import random
import time

from client import Client
from readers import Light

SECONDS, READERS = 30, 10


def payloads(count):
    """A few different seconds of noise as JSON, without time and number."""
    dice = random.Random(3)

    def axis(level):
        return {"raw": [round(level + dice.gauss(0, 0.005), 6) for _ in range(100)]}

    return [json.dumps({"rate_hz": 100, "n": 100, "unit": "m/s^2", "gap": False, "x": axis(0.0), "y": axis(0.0),
                        "z": axis(9.81)})[1:] for _ in range(count)]


def info(index):
    return json.dumps({
        "v": 1, "boot": "load", "seq": 0, "t": "2026-01-05T10:20:30.120000000Z",
        "station": {"id": f"load{index}", "network": "LD", "code": f"L{index}", "location": "00", "latitude": 35.0,
                    "longitude": 10.0}, "sensor": {"driver": "simulate", "chip": "load", "rate_hz": 200.0},
    }).encode()


def moment(nanoseconds):
    whole = datetime.datetime.fromtimestamp(nanoseconds // 10**9, datetime.timezone.utc)
    return f"{whole:%Y-%m-%dT%H:%M:%S}.{nanoseconds % 10**9:09d}Z"


async def measure(feed_class, program, folder, broker, size, expect):
    feed = feed_class(program, os.path.join(folder, "load"), ["--broker", f"127.0.0.1:{broker.port}"]).start()
    sender = Client("load", version=5)
    await sender.connect(broker.port)
    for index in range(size):
        await sender.publish(f"seismote/load{index}/state/info", info(index), qos=1, retain=True)
    texts = payloads(20)
    # A part of the readers takes all stations, as a display does.
    readers = [Light(feed.seedlink, [f"LD_L{index}" for index in range(size)]) for _ in range(READERS)]
    start = time.time_ns() // 10**9 * 10**9
    await asyncio.sleep(1)
    began, before = time.monotonic(), feed.cost()[0]
    for second in range(SECONDS):
        for index in range(size):
            head = (f'{{"v":1,"station":"load{index}","boot":"load","seq":{second},'
                    f'"t":"{moment(start + second * 10**9 + index * 1000)}",')
            await sender.publish(
                f"seismote/load{index}/data/trace", (head + texts[(index + second) % len(texts)]).encode(), qos=0)
            if index % 25 == 0:
                # Spread over the second, as stations are.
                await asyncio.sleep(max(0, began + second + index / size - time.monotonic()))
        await asyncio.sleep(max(0, began + second + 1 - time.monotonic()))
    spent = time.monotonic() - began
    await asyncio.sleep(5)
    processor, now, most = feed.cost()
    metrics = {line.split()[0]: float(line.split()[1]) for line in feed.get("/metrics").splitlines() if line[0] != "#"}
    for reader in readers:
        reader.stop()
    share = (processor - before) / spent
    dropped, missing = metrics["seismote_feed_dropped_messages_total"], metrics["seismote_feed_missing_samples_total"]
    print(f"{size} stations of 3 x 100 Hz for {spent:.0f} s (30 s of samples), {READERS} clients that read all: "
          f"{share:.2f} of a processor, {now:.0f} MiB, at most {most:.0f} MiB, "
          f"{metrics['seismote_feed_packets_total']:.0f} records, ring {metrics['seismote_feed_ring_bytes'] / 1e6:.0f} MB, "
          f"readers have {min(r.count() for r in readers)} to {max(r.count() for r in readers)} records")
    expect(spent < SECONDS * 1.2, f"30 s of messages took {spent:.0f} s to send: nothing was measured")
    expect(dropped == 0 and missing == 0, f"{dropped:.0f} messages dropped, {missing:.0f} samples missing")
    expect(share < 1, f"{share:.2f} of a processor")
    feed.kill()
    await sender.close()
