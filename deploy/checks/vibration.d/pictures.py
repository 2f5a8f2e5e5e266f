"""pictures.py AGENT TOOL FOLDER PICTURES: a day of a building site (day.py) in ten minutes, through the agent, a real broker,
the page and the report. Puts pictures of the page's tab and of the printed report into a folder.

The day ends now, so that the page shows it. What is checked: the report has the day, its gap and its modes; all its numbers are
those that SciPy computes from the waveforms that the station has stored (recompute.py).
"""

import csv
import io
import os
import re
import subprocess
import sys
import time

import pypdfium2
from PIL import Image
from world import World

import day
import recompute

SPEED = 144
HOURS = 24
# Seconds, for a machine with other work.
PATIENCE = 3600
# How far numbers of the report may be from those computed again. (KB and weighted values are stored in 16 bits.)
LIMIT = 0.003


def small(png, path, width):
    """As few colours as such a picture has, so that it stays small."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    if image.width > width:
        image = image.resize((width, round(image.height * width / image.width)), Image.LANCZOS)
    image.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{os.path.basename(path)}: {image.width} × {image.height}, {os.path.getsize(path) // 1000} kB")


def recomputed(tool, port, folder, begin, table, text):
    """The numbers of the report once more, from the waveforms that the station has stored."""
    stored = os.path.join(folder, "stored")
    os.makedirs(stored)
    stamp = lambda at: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
    for hour in range(HOURS):
        # (Ten minutes at a time: an answer has a largest size.)
        for first in range(begin + hour * 3600, begin + hour * 3600 + 3600, 600):
            command = [tool, "ctl", "snapshot", "house", "--broker", f"mqtt://127.0.0.1:{port}", "--from", stamp(first), "--to", stamp(first + 600),
                       "--output", os.path.join(stored, f"{first}.mseed"), "--json", "--timeout", "60"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                unit = float(re.search(r'"unit_per_count":\s*([0-9.eE+-]+)', done.stdout.splitlines()[-1]).group(1))
            elif first > begin and "12:1" not in stamp(first):  # (The ring is as long as the day.)
                raise SystemExit(f"no waveform from {stamp(first)} on: {done.stderr}")
    with open(table, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    again = recompute.intervals(stored, unit, day.RATE, 60)
    worst, count = recompute.compare(rows, again)
    print(f"computed again by SciPy: {count} of {len(rows)} intervals; largest difference: "
          + ", ".join(f"{name} {100 * off:.4f} %" for name, (off, *_) in worst.items()))
    for name, (off, at, found, wanted) in worst.items():
        if off > LIMIT:
            raise SystemExit(f"{name} at {at} is {found} in the report, {wanted} by SciPy")
    # (On a busy machine the storage may leave out seconds of the waveforms, at this speed.)
    if count < 0.8 * len(rows):
        raise SystemExit("too few could be compared")
    # Three digits are printed.
    wanted, found = recompute.doses(rows, again), recompute.printed(text)
    if wanted.keys() != found.keys() or any(abs(wanted[key] - found[key]).max() > 0.0006 for key in wanted):
        raise SystemExit(f"doses: {found} in the report, {wanted} by SciPy")
    print("doses of " + ", ".join(f"{name} {date}" for date, name in sorted(wanted)) + " as by SciPy")


def main(program, tool, folder, pictures):
    begin = int(time.time()) // 3600 * 3600 - HOURS * 3600
    recording = os.path.join(folder, "day.mseed")
    day.write(recording, begin, HOURS)
    with World(program, folder, folder) as world:
        began = time.monotonic()
        world.agent("house", {
            "station": {"description": "No. 12, foundation, corner to the site", "latitude": 52.52, "longitude": 13.4},
            "sensor": {"driver": "replay", "replay": {"file": recording, "speed": SPEED, "scale": day.SCALE}, "rate_hz": 200},
            "vibration": {"enabled": True, "band": "din", "limit": "din4150-3:dwellings:foundation", "modes": True, "modes_top_hz": 10},
            "detection": {"sta_lta": {"enabled": False}}, "storage": {"ring_minutes": 1440}, "trace": {"enabled": False}, "classification": {"enabled": False}, "onsite": {"enabled": False}})
        stamp = lambda at: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
        page, table = os.path.join(folder, "house.html"), os.path.join(folder, "house.csv")
        report = [tool, "report", "house", "--broker", f"mqtt://127.0.0.1:{world.broker.port}", "--from", stamp(begin), "--limit",
                  "din4150-3:dwellings:foundation", "--output", page, "--csv", table, "--timeout", "60"]
        # (The last interval of a recording is cut short.)
        while True:
            done = subprocess.run(report, capture_output=True, text=True, check=False)
            lines = open(table, encoding="utf-8").read().splitlines() if done.returncode == 0 else []
            if lines and lines[-1].startswith(stamp(begin + HOURS * 3600 - 60)[:16]):
                break
            if time.monotonic() - began > PATIENCE:
                raise SystemExit(f"the day is not over: {lines[-1:]} {done.stderr}")
            time.sleep(15)
        print(f"{HOURS} h in {time.monotonic() - began:.0f} s, {len(lines) - 1} intervals")
        text = open(page, encoding="utf-8").read()
        for wanted in ("no samples came", "Natural modes", "Sensor:", "Vibration dose", "not calibrated"):
            if wanted not in text:
                raise SystemExit(f"the report does not say: {wanted}")
        modes = [float(one) for one in re.findall(r"<tr><td>\d+</td><td>([0-9.]+)</td>", text.split("Natural modes")[1])]
        print("modes:", modes)
        for hz, _, _ in day.MODES:
            if not any(abs(one / hz - 1) < 0.006 for one in modes):
                raise SystemExit(f"the report has no mode of {hz} Hz: {modes}")

        recomputed(tool, world.broker.port, folder, begin, table, text)

        tab = world.page("#/station/house/vibration", size=(1000, 900))
        world.until(tab, "Seismote.vibration?.found().intervals.length > 1200 && Seismote.vibration.found().periods.length > 18", 30)
        tab.wait_for_timeout(1500)
        small(tab.screenshot(full_page=True), os.path.join(pictures, "vibration-tab.png"), 1000)
        paper = world.browser.new_page(viewport={"width": 800, "height": 1100})
        paper.goto(f"file://{page}")
        paper.pdf(path=os.path.join(folder, "house.pdf"), format="A4", prefer_css_page_size=True)
    images = [sheet.render(scale=100 / 72).to_pil().convert("RGB") for sheet in pypdfium2.PdfDocument(os.path.join(folder, "house.pdf"))]
    print(f"the report has {len(images)} pages")
    for number, image in enumerate(images):
        image.save(os.path.join(folder, f"house-{number + 1}.png"))
    # The first and the last page, side by side on grey.
    first, last = images[0], images[-1]
    both = Image.new("RGB", (first.width + last.width + 60, first.height + 40), "#999")
    both.paste(first, (20, 20))
    both.paste(last, (first.width + 40, 20))
    raw = io.BytesIO()
    both.save(raw, "PNG")
    small(raw.getvalue(), os.path.join(pictures, "vibration-report.png"), 1400)


main(*sys.argv[1:5])
