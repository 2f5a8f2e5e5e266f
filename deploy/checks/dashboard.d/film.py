"""film.py AGENT TOOL WORK PICTURES FIELD LINE.SO: ten pictures from the first P to S, as a station far from the epicentre has it.

Agents play what OpenEEW's sensors in Mexico recorded of the earthquake of 29 January 2020 (M 5.1; FIELD), each at its own place and
as if it were now, at its own speed, through a real mosquitto and the real detector. One of them, 111 km away, has an alarm
line (a stand-in for the GPIO chip that this machine has not, see warning.d/line.c) and sounds it from an expected intensity of II
on. The pictures are of the page of that moment; below each the alarm line until then. Prints what came when.
"""

import io
import json
import os
import sys
import time

import obspy
from PIL import Image, ImageDraw, ImageFont

from openeew import PLACES
from world import World

from agent import Agent
from programs import Program

DAY, HOME, NOISE, AFTER = "2020_1_29", "009", 75, 40
COUNT, WIDTH, STRIP = 10, 640, 54


def recording(path, shift, begin, end, into):
    """The samples between two times of the recording as the agent's CSV, in m/s², later by `shift`."""
    traces = obspy.read(path)
    start, step = traces[0].stats.starttime.timestamp, traces[0].stats.delta
    with open(into, "w", encoding="utf-8") as file:
        file.write("t,x,y,z\n")
        for i, sample in enumerate(zip(*(trace.data for trace in traces))):
            at = start + i * step
            if begin <= at < end:
                file.write(f"{at + shift:.4f}," + ",".join(f"{one * 1e-5:.6g}" for one in sample) + "\n")


def strip(image, changes, first, s, now):
    """The alarm line below a picture: from the first P to S."""
    whole = Image.new("RGB", (image.width, image.height + STRIP), "#fff")
    whole.paste(image, (0, 0))
    draw = ImageDraw.Draw(whole)
    font = ImageFont.load_default(size=14)
    left, right, high, low = 190, image.width - 20, image.height + 12, image.height + 40
    across = lambda at: left + (right - left) * (at - first) / (s + 3 - first)  # noqa: E731
    draw.text((10, image.height + 6), f"{now - first:4.1f} s after the first P", "#222", font)
    draw.text((10, image.height + 26), f"alarm line; S in {s - now:.1f} s" if now < s else "alarm line; S is here", "#222", font)
    draw.line([(across(s), high - 6), (across(s), low + 6)], "#d01414", 2)
    points, level = [(across(first), low)], low
    for at, on in [change for change in changes if change[0] <= now] + [(now, None)]:
        points.append((across(at), level))
        level = level if on is None else high if on else low
        points.append((across(at), level))
    draw.line(points, "#0a5cc0", 2)
    return whole


def main(program, tool, work, pictures, field, line):
    with open(os.path.join(field, "index.json"), encoding="utf-8") as file:
        records = [one for one in json.load(file)["records"] if one["record"].startswith(DAY) and one["record"][-3:] in PLACES and "p_s" in one]
    # (P and S are counted from the beginning of each recording.)
    first = min(one["start"] + one["p_s"] for one in records)
    home = next(one for one in records if one["record"].endswith(HOME))
    s = home["start"] + home["s_s"]
    with World(program, work, work) as world:
        shift = time.time() + 25 - (first - NOISE)
        first, s = first + shift, s + shift
        log = os.path.join(work, "line")
        detector = Program(os.path.join(work, "network.log"), f"{tool}-network", "--broker", f"mqtt://127.0.0.1:{world.broker.port}", "--set", f"network.state={work}/network").start()
        agents = []
        for one in records:
            number = one["record"][-3:]
            path = os.path.join(work, f"{number}.csv")
            recording(os.path.join(field, one["record"] + ".mseed"), shift, first - shift - NOISE, s - shift + AFTER, path)
            latitude, longitude = (float(part) for part in PLACES[number].split(","))
            agents.append(Agent(program, work, f"oe{number}", {
                "station": {"latitude": latitude, "longitude": longitude, "elevation_m": 0, "description": f"OpenEEW, sensor {number}"},
                "sensor": {"driver": "replay", "replay": {"file": path, "speed": 1.0}},
                "conditioning": {"settle_s": 5}, "detection": {"event": {"pre_event_s": 5, "post_event_s": 10}}, "mqtt": {"uri": f"mqtt://127.0.0.1:{world.broker.port}"},
                **({"alarm": {"network": {"enabled": True, "mmi": 2}, "gpio": {"line": "gpiochip99:1"}}} if number == HOME else {})},
                command=["env", f"LD_PRELOAD={line}", f"LINE_LOG={log}", f"LINE_CLOCK={work}/unsynced"]))
        while time.time() < first - NOISE - 0.2:
            time.sleep(0.02)
        for agent in agents:
            agent.start()
        try:
            page = world.page("#/", size=(1000, 760))
            world.until(page, f"Seismote.fleet.stations.size >= {len(records)} && [...Seismote.fleet.stations.values()].every((one) => one.info)", 60)
            page.evaluate(f"Seismote.preferences?.set('home', 'oe{HOME}')")
            page.evaluate("Seismote.preferences?.set('view', 'map')")
            frames = []
            for i in range(COUNT):
                due = first + 0.3 + i * (s + 0.8 - first - 0.3) / (COUNT - 1)
                time.sleep(max(0, due - time.time()))
                shot = page.screenshot()
                frames.append((time.time(), shot))
            time.sleep(14)
            with open(log, encoding="utf-8") as file:
                changes = [(float(at), value == "1") for at, value in (text.split() for text in file)]
            found = page.evaluate("[...Seismote.earthquakes.events.values()]")
        finally:
            for agent in agents:
                agent.stop()
            detector.kill()
        print(f"{len(agents)} agents; first P at 0, the line on after {changes[0][0] - first:.1f} s, S at oe{HOME} after {s - first:.1f} s: {s - changes[0][0]:.1f} s before it; the line was off for good {changes[-1][0] - s:.1f} s after it")
        for one in found:
            print(f"earthquake of {len(one['stations'])} stations, version {one['version']}, {one['latitude']:.2f}, {one['longitude']:.2f}, M {(one.get('magnitude') or {}).get('value')}")
        images = [strip(Image.open(io.BytesIO(shot)).convert("RGB").resize((WIDTH, WIDTH * 760 // 1000), Image.LANCZOS), changes, first, s, at) for at, shot in frames]
        rows = -(-COUNT // 2)
        whole = Image.new("RGB", (2 * WIDTH + 30, rows * (images[0].height + 10) + 10), "#999")
        for i, image in enumerate(images):
            whole.paste(image, (10 + (i % 2) * (WIDTH + 10), 10 + i // 2 * (image.height + 10)))
        whole.quantize(128, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(os.path.join(pictures, "warning-film.png"), optimize=True)
        print(f"warning-film.png: {whole.width} × {whole.height}, {os.path.getsize(os.path.join(pictures, 'warning-film.png')) // 1000} kB")
        world.complain()


main(*sys.argv[1:7])
