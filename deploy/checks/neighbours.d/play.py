"""play.py AGENT TOOL FOLDER PICTURES FIELD SECONDS: see deploy/checks/neighbours."""

import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import disturbances
import numpy as np
from looks import check_looks
from openeew import place, source
from programs import Program
from score import seconds
from synthetic import kilometres
from verdict import expect, finish
from world import Agent, World, wait_until

DAY = "2020_1_29"
STATIONS = ("015", "011", "014", "017", "010", "018", "009", "008", "020", "021", "006", "004")
# Of the twelve the farthest one: its quiet is what the lorry passes. It stands 10 km from the epicentre's nearest station.
LORRY, STREET = "004", (16.93, -100.03)
# Seconds from the recordings' begin to the first P wave and to the lorry: the long average of the detector takes 30 s.
LEAD, LORRY_AT = 45.0, 34.0
# Seconds: from the onset that decides to the network event, both at the broker; from there to the screen.
LIMITS = {"detector": 2.0, "screen": 3.0}
SHOWN = """(() => {
  const look = () => {
    if (window.shownAt || !document.querySelector(".network-card:not([hidden]) tbody tr")) return;
    requestAnimationFrame(() => requestAnimationFrame(() => (window.shownAt ??= Date.now())));
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
})()"""


class Listener:
    """All that is said of events, with the time at which it came."""

    def __init__(self, folder, broker):
        self.path = os.path.join(folder, "heard")
        self.process = broker.listener(
            self.path, "-F", "%U %r %t %p", "-t", "seismote/+/event/trigger", "-t", "seismote/network/#", "-t",
            "homeassistant/+/seismote-network/#")

    def heard(self):
        """(time, is retained, topic, payload) in order of arrival."""
        with open(self.path, encoding="utf-8") as file:
            lines = file.read().rpartition("\n")[0].splitlines()
        parts = (line.split(" ", 3) for line in lines)
        return [(float(at), retained == "1", topic, json.loads(payload)) for at, retained, topic, payload in parts if payload]

    def of(self, topic):
        return [(at, payload) for at, retained, one, payload in self.heard() if one == topic and not retained]

    def onsets(self):
        """station -> (when its first onset came, its message), in order of arrival."""
        found = {}
        for at, _, topic, payload in self.heard():
            if topic.endswith("/event/trigger") and payload["event_type"] == "onset":
                found.setdefault(payload["station"], (at, payload))
        return found


def series(tool, path, folder):
    """Seconds and samples in m/s² of a recording, by the agent's own reader."""
    out = os.path.join(folder, "series.csv")
    subprocess.run([tool, "replay", path, "--scale", "1e-5", "--series", out, "--output", os.devnull, "--quiet"], check=True)
    with open(out, encoding="utf-8", newline="") as file:
        return np.array([[float(row[name]) for name in ("t", "x_raw", "y_raw", "z_raw")] for row in csv.DictReader(file)])


def write(path, samples, begin):
    with open(path, "w", encoding="utf-8") as file:
        file.write("t,x,y,z\n")
        file.writelines(f"{begin + t:.4f},{x:.6g},{y:.6g},{z:.6g}\n" for t, x, y, z in samples)


def recordings(tool, field, folder, length):
    """name -> (place, samples whose time counts from the begin of what is played); catalogue's source; its time there."""
    records = {r["record"]: r for r in json.loads((field / "index.json").read_text())["records"]}
    records = {name.rpartition("_")[2]: dict(r, station=name.rpartition("_")[2])
               for name, r in records.items() if name.startswith(DAY + "_")}
    where, origin, _ = source([r for r in records.values() if r.get("p_s")])
    chosen = [records[name] for name in STATIONS]
    cut = min(r["start"] + r["p_s"] for r in chosen) - LEAD
    found = {}
    for r in chosen:
        samples = series(tool, field / (r["record"] + ".mseed"), folder)
        samples[:, 0] += r["start"] - cut
        found["oe" + r["station"]] = (place(r["station"]), samples[(samples[:, 0] >= 0) & (samples[:, 0] <= LEAD + length)])
    # A lorry in the quiet before the earthquake, played twice over.
    r = records[LORRY]
    samples = series(tool, field / (r["record"] + ".mseed"), folder)
    samples[:, 0] += r["start"] - cut + 100
    samples = samples[(samples[:, 0] >= 0) & (samples[:, 0] <= LEAD + 36)].copy()
    shake = disturbances.make("truck", np.random.default_rng(4), 31.25, 20, 0.5)
    shake *= 0.2 / np.abs(shake).max()
    first = int(np.searchsorted(samples[:, 0], LORRY_AT))
    count = min(shake.shape[1], len(samples) - first)
    samples[first:first + count, 1:] += shake[:, :count].T
    found["lorry"] = (STREET, samples)
    return found, where, origin - cut, magnitude(records)


def magnitude(records):
    return next((r["magnitude"] for r in records.values() if r.get("magnitude")), 5.1)


def station(program, folder, name, where, path, port):
    return Agent(program, folder, name, {
        "station": {"latitude": where[0], "longitude": where[1], "elevation_m": 0},
        "sensor": {"driver": "replay", "replay": {"file": path, "speed": 1.0}},
        "conditioning": {"settle_s": 5}, "detection": {"event": {"pre_event_s": 10, "post_event_s": 15, "dead_time_s": 5}},
        "waveform": {"chunk_s": 10}, "mqtt": {"uri": f"mqtt://127.0.0.1:{port}"}})


def main():
    agent, tool, folder, pictures, field, length = sys.argv[1:]
    length = float(length)
    played, where, origin, size = recordings(tool, pathlib.Path(field), folder, length)
    with World(agent, folder, pictures) as world:
        port = world.broker.port
        listener = Listener(folder, world.broker)
        state = os.path.join(folder, "network")
        detector = Program(
            os.path.join(folder, "network.log"), tool + "-network", "--broker", f"mqtt://127.0.0.1:{port}",
            *[word for one in (f"network.state={state}", "network.confirm=true", "network.home_assistant=homeassistant",
                               "network.status_s=2") for word in ("--set", one)]).start()
        try:
            pages = {"desktop": world.page(size=(1440, 1000)), "phone": world.page(size=(390, 844))}
            begin = time.time() + 4
            for name, (at, samples) in played.items():
                path = os.path.join(folder, f"{name}.csv")
                write(path, samples, begin)
                world.agents[name] = station(agent, folder, name, at, path, port)
            wait_until(lambda: time.time() > begin - 0.1, 20, "the time at which the recordings begin")
            for one in world.agents.values():
                one.start()
            watch(world, listener, pages, begin, origin, where, size, length)
        finally:
            detector.stop(60)
            listener.process.kill()
            listener.process.wait()
        world.complain()


def watch(world, listener, pages, begin, origin, where, size, length):
    for page in pages.values():
        world.until(page, f"Seismote.overview.map.state().placed === {len(world.agents)}", 30)
        page.evaluate(SHOWN)
    world.picture(pages["desktop"], "1-before")
    wait_until(lambda: "lorry" in listener.onsets(), LEAD, "the lorry is noticed at its station")
    lorry = listener.onsets()["lorry"][0]
    wait_until(lambda: [1 for name in listener.onsets() if name != "lorry"], LEAD, "an onset of the earthquake")
    expect(not listener.of("seismote/network/event"), "there is a network event before the earthquake's first onset")
    wait_until(lambda: listener.of("seismote/network/event"), 40, "a network event")
    for page in pages.values():
        world.until(page, "window.shownAt", 10)
    shots = 0
    while time.time() < begin + LEAD + length - 6:
        for name, page in pages.items():
            world.picture(page, f"{2 + shots}-{name}", whole=name == "phone")
        shots += 1
        for page in pages.values():
            page.wait_for_timeout(4000 if length < 60 else 12000)
    events = listener.of("seismote/network/event")
    wait_until(lambda: pages["desktop"].locator(".events-card [aria-label='confirmed by neighbours']").count() > 0, 10,
               "the page shows an event that neighbours have confirmed")
    # Versions go on while this is looked at: each page comes to show the newest that there is.
    texts = {}
    for name, page in pages.items():
        def shows_newest(name=name, page=page):
            texts[name] = page.inner_text(".network-card")
            events[:] = listener.of("seismote/network/event")
            return re.search(rf"\b{events[-1][1]['version']}\b", texts[name])
        wait_until(shows_newest, 10, f"the {name} shows the newest version")
    shown = {name: page.evaluate("window.shownAt") / 1000 for name, page in pages.items()}
    for name, page in pages.items():
        check_looks(world, page, f"network-{name}")
    judge(listener, events, shown, texts, begin, origin, where, size, lorry)


def judge(listener, events, shown, texts, begin, origin, where, size, lorry):
    names = {one["event_id"] for _, one in events}
    expect(len(names) == 1, f"{len(names)} network events, not one: {names}")
    at, first = events[0]
    onsets = {name: one for name, one in listener.onsets().items() if name != "lorry"}
    came = sorted(when for when, _ in onsets.values())
    decides = max(onsets[one["id"]][0] for one in first["stations"])
    last = events[-1][1]
    for _, one in events:
        expect("lorry" not in [s["id"] for s in one["stations"]], "the lorry is in the network event")
    away = [kilometres((one["latitude"], one["longitude"]), where) for one in (first, last)]
    late = seconds(last["origin_time"]) - (begin + origin)
    expect(away[1] < 40 and abs(late) < 6, f"{away[1]:.1f} km and {late:.1f} s off")
    ground = min(seconds(one["onset"]) for _, one in onsets.values())
    print(f"M {size}: {len(onsets)} of {len(STATIONS)} stations had an onset, the first {ground - begin - origin:.1f} s after "
          f"the origin; its message came {came[0] - ground:.2f} s later")
    print(f"network event: {at - begin - origin:.1f} s after the origin, {at - came[0]:.1f} s after the first onset's message, "
          f"{at - decides:.3f} s after the one that decides ({len(first['stations'])} stations, {away[0]:.0f} km off)")
    print("on the screen after another " + ", ".join(f"{when - at:.2f} s ({name})" for name, when in shown.items())
          + f"; {max(shown.values()) - came[0]:.1f} s after the first onset's message")
    mag = last["magnitude"]
    print(f"last of {last['version']} versions: {len(last['stations'])} stations, {away[1]:.0f} km and {late:.1f} s off, ellipse "
          f"{last['ellipse']['semi_major_km']:.0f} km, magnitude {mag and '%.1f ± %.1f' % (mag['value'], mag['sigma'])}")
    print(f"the lorry began an event {came[0] - lorry:.1f} s before, and no network event")
    marked = {one["event_id"] for _, _, topic, one in listener.heard() if topic.endswith("/event/trigger") and one.get("confirmed")}
    known = {s["event_id"] for _, one in events for s in one["stations"]}
    print(f"{len(marked)} of {len(known)} events that were in it were marked as confirmed by their stations")
    wanted = {s["event_id"] for s in first["stations"] if s["event_id"] in {s["event_id"] for s in last["stations"]}}
    expect(wanted and wanted <= marked <= known, f"confirmed are {sorted(marked)}, and not {sorted(wanted)}")
    # What Home Assistant is told: a sensor for each station, which is on for those whose onset is in it.
    sensors = {topic.split("/")[3].removesuffix("-confirmed"): one["state_topic"] for _, _, topic, one in listener.heard()
               if topic.startswith("homeassistant/binary_sensor/") and one["name"].endswith("confirmed by neighbours")}
    expect(set(sensors) == {f"oe{name}" for name in STATIONS} | {"lorry"}, f"Home Assistant is told of {sorted(sensors)}")
    state = {topic: one for _, _, topic, one in listener.heard() if topic.startswith("seismote/network/confirmed/")}
    on = {name for name, topic in sensors.items() if state.get(topic, {}).get("confirmed")}
    expect(on == {s["id"] for s in last["stations"]}, f"Home Assistant's sensors are on at {sorted(on)}")
    expect(at - decides < LIMITS["detector"], "the network event came too late")
    for name, when in shown.items():
        expect(when - at < LIMITS["screen"], f"on the {name} it came too late")
        expect("km" in texts[name], f"the {name} shows {texts[name]}")


finish(main)
