"""An event: its waveform, replay and files."""

import hashlib
import json
import math
import os
import struct
import time

from cases_alarm import stamp
from looks import check_looks, coloured
from marks import at_night, early
from quakeml import catalogue
from world import wait_until

STATION = "Seismote.fleet.stations.get('demo')"
VIEW = "Seismote.eventView"
# What is drawn in a colour of the theme, or near to it: pixels.
COLOURED = coloured(40)


def ended_event(world, page):
    """The id of an earthquake that has come as a whole since the page was opened. (Where the recording begins anew, there may
    be an event of a thousandth of that.)"""
    # With the first traces the page hears the waveform's messages, too; what it knows by then had begun before.
    world.until(page, f"{STATION}?.traces.end > 0")
    known = json.dumps(page.evaluate(f"[...{STATION}.events.keys()]"))
    whole = f"[...{STATION}.events].find(([id, e]) => e.onset && e.end?.pga > 1 && !{known}.includes(id))"
    world.until(page, whole, 150)
    return page.evaluate(f"{whole}[0]")


def open_event(world, page, event):
    page.evaluate(f"location.hash = '#/station/demo/event/{event}'")
    page.wait_for_selector("main.event canvas.event-canvas")
    world.until(page, f"{VIEW}?.eventId === '{event}'")


def saved(page, button, path):
    with page.expect_download() as download:
        page.click(f".event-files button:has-text('{button}')")
    download.value.save_as(path)
    with open(path, "rb") as file:
        return download.value.suggested_filename, file.read()


def samples_of(mseed):
    """Samples of each source, by the headers of miniSEED 2 or 3 alone."""
    counts, at = {}, 0
    while at < len(mseed):
        if mseed[at:at + 3] == b"MS\x03":
            count, source, extra, data = *struct.unpack_from("<I", mseed, at + 24), mseed[at + 33], \
                *struct.unpack_from("<H", mseed, at + 34), *struct.unpack_from("<I", mseed, at + 36)
            name, size = mseed[at + 40:at + 40 + source], 40 + source + extra + data
        else:
            assert mseed[at + 6:at + 7] in (b"D", b"R", b"Q", b"M"), f"no record at {at}"
            count, blockette = struct.unpack_from(">H", mseed, at + 30)[0], struct.unpack_from(">H", mseed, at + 46)[0]
            while struct.unpack_from(">H", mseed, at + blockette)[0] != 1000:
                blockette = struct.unpack_from(">H", mseed, at + blockette + 2)[0]
            name, size = mseed[at + 15:at + 18], 1 << mseed[at + blockette + 6]
        counts[name.decode()] = counts.get(name.decode(), 0) + count
        at += size
    return counts


@early
def case_event_comes_live(world):
    world.quake()
    page = world.page("#/station/demo", size=(1440, 1000))
    world.until(page, f"[...({STATION}?.events ?? [])].some(([, e]) => e.onset && !e.end)", 150)
    event = page.evaluate(f"[...{STATION}.events].find(([, e]) => e.onset && !e.end)[0]")
    open_event(world, page, event)
    world.until(page, f"document.querySelector('.event-title .badge')?.textContent === Seismote.text.event.goesOn || {VIEW}.event.end")
    world.until(page, f"{VIEW}.data?.shape.count > 500")
    world.picture(page, "event-live")
    first = page.evaluate(f"{VIEW}.data.shape.count")
    world.until(page, f"{VIEW}.data.shape.count > {first} || {VIEW}.event.end")
    world.until(page, f"{VIEW}.event.end")
    world.until(page, f"{VIEW}.source?.judged?.right === true")
    for axis in "xyz":
        world.until(page, f"({COLOURED})(['canvas.event-canvas', '--axis-{axis}']) > 300")
    marks = page.evaluate(COLOURED, ["canvas.event-canvas", "--trigger"])
    assert marks > 30, f"onset: {marks} pixels"
    page.wait_for_selector(".event-cards .card >> nth=3")
    text = page.inner_text(".event-summary")
    assert "VII" in text and "cm/s" in text, text
    world.picture(page, "event-whole", whole=True)
    return page.inner_text(".event-status")


@early
def case_event_measures_agree(world):
    """What the page makes of the samples is what the station measured."""
    world.quake()
    page = world.page("#/station/demo", size=(1440, 1000))
    open_event(world, page, ended_event(world, page))
    world.until(page, f"{VIEW}.source?.judged?.right === true && {VIEW}.data?.shape.count > 1000")
    found = page.evaluate(f"""(() => {{
      const {{ motions, peaks, shape }} = {VIEW}.data;
      const most = (name, axes) => Math.max(...axes.map((axis) => motions[axis][name].reduce((m, v) => Math.max(m, Math.abs(v)), 0)));
      const {{ pga, pgv, pgd }} = {VIEW}.event;
      return {{
        pga: most("acceleration", ["x", "y"]) / pga, pgv: most("velocity", ["x", "y"]) / pgv, pgd: most("displacement", ["x", "y"]) / pgd,
        marks: ["x", "y", "z"].map((axis) => Math.abs(motions[axis].acceleration[peaks[axis].sample]) / peaks[axis].value),
        gaps: shape.gaps.length, unit: shape.unitSource,
      }};
    }})()""")
    assert abs(found["pga"] - 1) < 0.01 and abs(found["pgv"] - 1) < 0.02 and abs(found["pgd"] - 1) < 0.1, found
    assert all(abs(mark - 1) < 0.01 for mark in found["marks"]), found
    assert found["gaps"] == 0 and found["unit"] in ("record", "event"), found
    return ", ".join(f"{name} {found[name]:.4f} of the station's" for name in ("pga", "pgv", "pgd"))


@early
def case_event_with_a_gap_is_not_certain(world):
    """An event that samples are missing of says so: in the list, above, beside its measures, and raises no highest."""
    broker = world.another_broker("gap")
    page = world.page("#/station/demo", broker=broker, size=(1440, 1000))
    world.until(page, "Seismote.link.state === 'online'")
    event = {"v": 1, "station": "demo", "boot": "b", "seq": 1, "t": stamp(time.time()), "event_type": "end", "event_id": "demo-20260105T102030000Z",
             "onset": stamp(time.time() - 30), "end": stamp(time.time() - 5), "duration_s": 25.0, "pga": 2.5, "pga_pct_g": 25.5, "pgv": 0.31, "pgd": 0.05, "gaps": 1,
             "missing_s": 0.2, "acceleration_valid": False, "velocity_valid": False, "intensity": [{"scale": "mmi", "relation": "worden12", "value": 7.1, "roman": "VII", "from_pga": 5.4},
                                                                      {"scale": "jma", "relation": "jma", "value": 4.6, "grade": "5-"}]}
    broker.publish("seismote/demo/state/online", "online")
    broker.publish("seismote/demo/event/trigger", json.dumps(event), False)
    world.until(page, "document.querySelector('table.events .intensity-chip')")
    chips = page.eval_on_selector_all("table.events .intensity-chip", "all => all.map((one) => [one.textContent, one.getAttribute('aria-label')])")
    assert chips == [["VII?", "VII (not certain)"], ["5−?", "5− (not certain)"]], chips
    cells = page.eval_on_selector_all("table.events td", "all => all.map((one) => one.textContent)")
    assert any("255 mg (not certain)" in cell for cell in cells), cells
    assert page.evaluate(f"[...{STATION}.highest.keys()]") == ["jma"], "the highest"
    open_event(world, page, event["event_id"])
    world.until(page, "document.querySelector('.event-cards .pairs')")
    facts, measures = page.inner_text(".event-facts"), page.inner_text(".event-cards .pairs")
    assert "VII?" in facts and "31.0 cm/s (not certain)" in facts and "255 mg (not certain)" in facts, facts
    assert "255 mg (25.5 % g) (not certain)" in measures, measures
    assert "31.0 cm/s (not certain)" in measures and "50.0 mm\n" in measures and "1 (0.20 s missing)" in measures, measures
    broker.kill()
    return facts.replace("\n", " ")


@early
def case_event_replays(world):
    world.quake()
    page = world.page("#/station/demo", size=(1440, 1000))
    open_event(world, page, ended_event(world, page))
    world.until(page, f"{VIEW}.data?.shape.count > 1000")
    state = f"{VIEW}.replay.state()"
    # The marker moves along the path as time goes, and points along it.
    page.select_option(".replay-choices select >> nth=1", "5")
    before = page.evaluate(state)
    page.click(".replay-play")
    world.until(page, f"{state}.now > {before['now'] + 8}")
    world.until(page, f"{state}.marker.x !== {before['marker']['x']}")
    page.keyboard.press("Space")  # the button has the focus
    world.until(page, f"!{state}.playing")
    stopped = page.evaluate(state)["now"]

    def turned(at):
        now, then = (page.evaluate(f"({VIEW}.time({moment}), {state})") for moment in (at, at + 0.002))
        moved = math.atan2(then["marker"]["y"] - now["marker"]["y"], then["marker"]["x"] - now["marker"]["x"])
        return abs((moved - now["marker"]["angle"] + math.pi) % (2 * math.pi) - math.pi)
    # (At a turn of the path the way to the next moment is another one.)
    angles = sorted(turned(stopped + 0.037 * step) for step in range(7))
    assert angles[3] < 0.2, f"the marker is turned by {[round(math.degrees(angle)) for angle in angles]}°"
    # It grows with the acceleration.
    sizes = page.evaluate(f"""(() => {{
      const {{ acceleration: x }} = {VIEW}.data.motions.x, {{ acceleration: y }} = {VIEW}.data.motions.y;
      const all = Array.from(x, (value, i) => [Math.hypot(value, y[i]), i]).sort((a, b) => a[0] - b[0]);
      const at = (part) => all[Math.floor(part * (all.length - 1))][1] / {VIEW}.data.shape.rate;
      return [0, 0.5, 0.9, 1].map((part) => {{ {VIEW}.time(at(part)); return {state}.size; }});
    }})()""")
    assert sizes == sorted(sizes) and sizes[-1] > 2 * sizes[0], sizes
    # (It stands where the acceleration is largest.)
    plain = page.evaluate(COLOURED, ["canvas.replay-canvas", "--trigger"])
    page.check(".replay-choices input[type=checkbox]")
    world.until(page, f"({COLOURED})(['canvas.replay-canvas', '--trigger']) > {plain} + 40")
    world.picture(page, "event-replay")
    for signal in ("velocity", "acceleration", "displacement"):
        page.select_option(".replay-choices select >> nth=0", signal)
        world.until(page, f"({COLOURED})(['canvas.replay-canvas', '--raw']) > 20")
    # By the keyboard: time, zoom, play.
    page.focus("canvas.event-canvas")
    page.keyboard.press("Home")
    assert page.evaluate(f"{state}.now") == 0
    page.keyboard.press("ArrowRight")
    assert page.evaluate(f"{state}.now") > 0
    page.keyboard.press("+")
    page.keyboard.press("0")
    page.keyboard.press("Space")
    world.until(page, f"{state}.playing")
    page.keyboard.press("Space")
    world.until(page, f"!{state}.playing")
    return f"{page.evaluate(state)['pieces']} Bézier pieces, marker {sizes[0]:.0f} to {sizes[-1]:.0f} pixels"


@early
def case_event_files(world):
    """What is downloaded is what the agent sent, byte for byte; what the ring has of it is the same."""
    world.quake()
    path = os.path.join(world.work, "sent")
    listener = world.broker.listener(path, "-t", "seismote/demo/data/waveform/+", "-t", "seismote/demo/event/trigger", "-F", "%t %x")
    page = world.page("#/station/demo", size=(1280, 900))
    event = ended_event(world, page)
    open_event(world, page, event)
    world.until(page, f"{VIEW}.source?.judged?.right === true")
    said = page.evaluate(f"{VIEW}.event.waveform")

    def sent():
        with open(path, encoding="ascii") as file:
            lines = [line.split() for line in file if line.endswith("\n")]
        return b"".join(bytes.fromhex(line[1]) for line in lines if line[0].endswith(event))

    # It began to listen before the page did, but perhaps in the middle of an event.
    wait_until(lambda: len(sent()) >= said["bytes"], 30, "all messages of the event")
    listener.kill()
    listener.wait()
    name, mseed = saved(page, "miniSEED", os.path.join(world.work, "event.mseed"))
    assert name == f"{event}.mseed", name
    assert mseed == sent()[-len(mseed):] and len(mseed) == said["bytes"], f"{len(mseed)} bytes of {said['bytes']}"
    assert hashlib.sha256(mseed).hexdigest() == said["sha256"]
    name, csv = saved(page, "CSV", os.path.join(world.work, "event.csv"))
    lines = csv.decode().splitlines()
    counts = samples_of(mseed)
    about = [line for line in lines if line.startswith("#")]
    lines = lines[len(about):]
    assert name == f"{event}.csv" and lines[0] == "t,x,y,z"
    assert any(line.startswith("# start: 2019-07-06T") for line in about) and any("m/s^2" in line for line in about), about
    name, quakeml = saved(page, "QuakeML", os.path.join(world.work, "event.xml"))
    (one,) = catalogue(quakeml)
    assert name == f"{event}.xml" and str(one.picks[0].time).startswith("2019-07-06T"), (name, one)
    assert {amplitude.type: amplitude.unit for amplitude in one.amplitudes} == {"PGA": "m/(s*s)", "PGV": "m/s"}, one.amplitudes
    assert len(counts) == 3 and set(counts.values()) == {len(lines) - 1}, (counts, len(lines))
    for line in lines[1:2000:37]:
        for cell in line.split(",")[1:]:
            whole = float(cell) / said["unit_per_count"]
            assert abs(whole - round(whole)) < 1e-3, f"{cell} is no whole number of counts"
    # A page that has not seen it asks the station.
    fresh = world.page(f"#/station/demo/event/{event}", size=(1280, 900))
    world.until(fresh, f"{VIEW}?.source?.fetched === true", 90)
    world.picture(fresh, "event-from-ring")
    _, again = saved(fresh, "CSV", os.path.join(world.work, "again.csv"))
    later = dict(line.split(",", 1) for line in again.decode().splitlines() if line[0].isdigit())
    values = [line.split(",", 1)[1] for line in lines[1:]]
    assert len(later) >= len(values), f"{len(later)} samples of {len(values)}"
    joined = "\n".join(later.values())
    assert "\n".join(values[-500:]) in joined and "\n".join(values[:500]) in joined, "the ring has other samples"
    return f"{len(mseed)} bytes, {len(lines) - 1} samples of each axis; {len(later)} from the ring"


@at_night
def case_event_widths_and_themes(world):
    world.quake()
    first = world.page("#/station/demo")
    event = ended_event(world, first)
    for theme in ("light", "dark"):
        for name, size in (("desktop", (1440, 900)), ("phone", (390, 844))):
            page = world.page(f"#/station/demo/event/{event}", size=size, theme=theme)
            world.until(page, f"{VIEW}?.data?.shape.count > 1000", 90)
            check_looks(world, page, f"event-{name}-{theme}")
            world.close_page(page)
