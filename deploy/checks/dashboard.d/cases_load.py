"""What a page of a thousand stations takes while they shake again and again: not in CI, minutes long (`deploy/checks/dashboard
cases_load`; deploy/checks/list-nightly).

SEISMOTE_LOAD_SECONDS: how long it is measured, default 600. SEISMOTE_FLEET: stations, default 1000."""

import json
import os
import re
import statistics
import time

from cases_fleet import measuring, metrics, sent
from programs import Program

STATIONS = int(os.environ.get("SEISMOTE_FLEET", "1000"))
SECONDS = int(os.environ.get("SEISMOTE_LOAD_SECONDS", "600"))
EVERY = 120
# Spans over which the worst is given (seconds): of the traffic, and of the processor's time.
SPANS = (1, 10)
# Counts what comes to the page by kind of topic: bytes of topic, payload and the packet's head (some 6).
KINDS = """() => {
  const kinds = (window.kinds = {});
  Seismote.link.on("message", (topic, payload) => {
    const [, who, ...rest] = topic.split("/");
    const kind = who === "network" ? `network/${rest[0]}` : rest.slice(0, 2).join("/");
    kinds[kind] = (kinds[kind] ?? 0) + topic.length + payload.length + 6;
  });
}"""


def worst(samples, span):
    """The largest rate over so many seconds: of (time, counted so far)."""
    return max((b[1] - a[1]) / (b[0] - a[0]) for i, a in enumerate(samples) for b in samples[i + 1:i + 2 + span] if b[0] - a[0] >= span * 0.9)


def kept_heap(session):
    """Scripts' memory, MB, when the browser has thrown away what nobody needs."""
    session.send("HeapProfiler.collectGarbage")
    return round(metrics(session)["JSHeapUsedSize"] / 1e6, 1)


def case_thousand_stations_that_shake(world):
    """An earthquake of magnitude 6 below all stations every two minutes, put together by the network's detector."""
    broker = world.another_broker("load")
    tool = os.path.join(os.path.dirname(world.program), "seismote")
    folder = os.path.join(world.work, "load-network")
    address = f"mqtt://127.0.0.1:{broker.port}"
    detector = Program(os.devnull, f"{tool}-network", "--broker", address, "--set", f"network.state={folder}").start()
    limit = 2 * STATIONS + 1000
    fleet = Program(os.devnull, "prlimit", f"--nofile={limit}:{limit}", f"{os.path.dirname(tool)}/simulate-fleet", str(STATIONS), "--broker", address, "--level-seconds", "1",
                    "--earthquake-every", str(EVERY), "--magnitudes", "6,6", "--radius", "200", "--seconds", str(SECONDS + 1800)).start()
    try:
        page = world.page(broker=broker, size=(1440, 900))
        session = measuring(page)
        world.until(page, f"Seismote.overview.rows.filter((row) => row.pga >= 0).length >= {STATIONS * 0.97}", 120)
        # What came at the beginning is over.
        page.wait_for_timeout(5000)
        traffic, processor, heap, collected, quakes = [], [], [], [], set()
        page.evaluate(KINDS)
        began = time.monotonic()
        while time.monotonic() - began < SECONDS:
            traffic.append((time.monotonic(), sent(broker)))
            found = metrics(session)
            processor.append((time.monotonic(), found["ThreadTime"]))
            heap.append(found["JSHeapUsedSize"] / 1e6)
            if time.monotonic() - began > 300 * (len(collected) + 1):
                collected.append(kept_heap(session))
            quakes.update(page.evaluate("[...Seismote.earthquakes.events.keys()]"))
            if len(heap) % 30 == 12:
                world.picture(page, "load")
            page.wait_for_timeout(max(0, 1000 * (began + len(heap) - time.monotonic())))
        collected.append(kept_heap(session))
        loaded = page.evaluate("performance.getEntriesByType('navigation')[0].encodedBodySize"
                               " + performance.getEntriesByType('resource').reduce((sum, entry) => sum + entry.encodedBodySize, 0)") / 1000
        assert detector.running and fleet.running, "the fleet or the detector has ended"
        kinds = page.evaluate("window.kinds")
        # What is as it should be: rows that are now, and an earthquake for each that was made.
        late = page.evaluate("Seismote.overview.rows.filter((row) => row.state === 'silent' || row.state === 'offline').length")
    finally:
        for process in (fleet, detector):
            process.kill()
    broker.kill()
    rate = [(at, count / 1000) for at, count in traffic]
    mean = [(samples[-1][1] - samples[0][1]) / (samples[-1][0] - samples[0][0]) for samples in (rate, processor)]
    found = {
        "stations": STATIONS, "seconds": round(traffic[-1][0] - traffic[0][0]), "earthquakes": len(quakes), "rows_late": late,
        "kB_s": {"mean": round(mean[0]), **{f"worst_{span}_s": round(worst(rate, span)) for span in SPANS}},
        "kB_s_of": {kind: round(count / 1000 / (traffic[-1][0] - traffic[0][0]), 1) for kind, count in sorted(kinds.items(), key=lambda one: -one[1])},
        "core_percent": {"mean": round(100 * mean[1], 1), **{f"worst_{span}_s": round(100 * worst(processor, span), 1) for span in SPANS}},
        "heap_MB": {"median": round(statistics.median(heap)), "worst": round(max(heap)), "last": round(heap[-1]), "after_collections": collected},
        "loaded_kB": round(loaded, 1),
    }
    with open(os.path.join(world.artifacts, "load.json"), "w", encoding="utf-8") as file:
        json.dump(found, file)
    assert len(quakes) >= SECONDS // EVERY - 1, f"only {len(quakes)} earthquakes in {SECONDS} s"
    missed = [f"{name} {value:.3g} instead of {goal:.3g}" for name, value, goal in
              (("kB/s", mean[0], 300), ("of a core", mean[1], 0.25), ("MB", max(heap), 150), ("MB after a collection", max(collected), 40)) if value > goal]
    # The traffic is that of the messages; of the processor's time and the memory there is room for what runs beside it.
    assert mean[0] <= 300 and mean[1] < 0.35 and max(heap) < 180 and max(collected) < 50, found
    return re.sub(r'["{}]', "", json.dumps(found)) + "".join(f"; MISSED: {one}" for one in missed)
