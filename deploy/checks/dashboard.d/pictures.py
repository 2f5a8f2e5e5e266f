"""pictures.py AGENT TOOL WORK PICTURES FIELD ARTIFACTS: pictures of the page for the documents, made anew by hand.

Twenty agents play what OpenEEW's sensors in Mexico recorded of the earthquake of 29 January 2020 (M 5.1; FIELD, see
association.d/openeew.py), each with its own place, through a real mosquitto. What they say of it goes through `seismote
network replay`; its earthquake is published, and the page shows it: map of the shaking, record section, on paper. Then one
station's event on paper. ARTIFACTS gets the same views as people with deuteranopia and protanopia see them, to be looked at.
"""

import io
import json
import os
import subprocess
import sys
import time

import pypdfium2
from PIL import Image

from openeew import LATENCY, PLACES
from orders import spoken
from world import World

DAY, SPEED = "2020_1_29", 20


def small(image, path, width):
    """As few colours as such a picture has, so that it stays small."""
    image = image.convert("RGB")
    if image.width > width:
        image = image.resize((width, round(image.height * width / image.width)), Image.LANCZOS)
    image.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{os.path.basename(path)}: {image.width} × {image.height}, {os.path.getsize(path) // 1000} kB")


def sheets(page, path):
    """The pages of the view on A4, as pictures."""
    page.pdf(path=path, format="A4", prefer_css_page_size=True)
    return [sheet.render(scale=90 / 72).to_pil().convert("RGB") for sheet in pypdfium2.PdfDocument(path)]


def beside(images):
    """Sheets of paper on grey."""
    whole = Image.new("RGB", (sum(one.width + 20 for one in images) + 20, images[0].height + 40), "#999")
    left = 20
    for one in images:
        whole.paste(one, (left, 20))
        left += one.width + 20
    return whole


def seen(page, path):
    """As others see it."""
    session = page.context.new_cdp_session(page)
    for kind in ("deuteranopia", "protanopia"):
        session.send("Emulation.setEmulatedVisionDeficiency", {"type": kind})
        page.screenshot(path=f"{path}-{kind}.png", full_page=True)
    session.send("Emulation.setEmulatedVisionDeficiency", {"type": "none"})


def earthquake(world, tool, work, field):
    """Plays it, and publishes what the network makes of it: the id of the earthquake, and of the event of the first station."""
    with open(os.path.join(field, "index.json"), encoding="utf-8") as file:
        records = [one for one in json.load(file)["records"] if one["record"].startswith(DAY)]
    records = [one for one in records if one["record"][-3:] in PLACES]
    heard = os.path.join(work, "heard.txt")
    reader = world.broker.listener(heard, "-v", "-t", "seismote/+/event/trigger", "-t", "seismote/+/state/info")
    for one in records:
        number = one["record"][-3:]
        latitude, longitude = (float(part) for part in PLACES[number].split(","))
        world.agent(f"oe{number}", {
            "station": {"latitude": latitude, "longitude": longitude, "description": f"OpenEEW, sensor {number}"},
            "sensor": {"driver": "replay", "replay": {"file": os.path.join(field, one["record"] + ".mseed"), "speed": SPEED, "scale": 1e-5}}})
    # 300 s of recording each.
    time.sleep(300 / SPEED + 20)
    reader.kill()
    infos, lines = {}, []
    for text in open(heard, encoding="utf-8"):
        topic, _, payload = text.partition(" ")
        payload = json.loads(payload)
        if topic.endswith("/info"):
            infos[topic] = payload
        else:
            message = {"topic": topic, "payload": payload}
            lines.append(dict(message, arrival=spoken(message) + LATENCY))
    lines.sort(key=lambda one: one["arrival"])
    stored = os.path.join(work, "network.jsonl")
    with open(stored, "w", encoding="utf-8") as file:
        for one in [{"topic": topic, "payload": payload, "arrival": lines[0]["arrival"] - 10} for topic, payload in infos.items()] + lines:
            file.write(json.dumps(one) + "\n")
    output = os.path.join(work, "found.jsonl")
    subprocess.run([tool, "network", "replay", "--early", stored, "--output", output, "--quiet"], check=True)
    found = {}
    for text in open(output, encoding="utf-8"):
        one = json.loads(text)
        one = one.get("payload", one)
        if one.get("event_id"):
            found[one["event_id"]] = one
    kept = [one for one in found.values() if "merged_into" not in one and not one.get("withdrawn")]
    best = max(kept, key=lambda one: len(one["stations"]))
    print(f"{len(infos)} stations, {len({one['payload']['event_id'] for one in lines})} events of theirs; earthquake of {len(best['stations'])} stations at "
          f"{best['latitude']:.2f}, {best['longitude']:.2f}, magnitude {best.get('magnitude')}")
    world.broker.publish("seismote/network/event", json.dumps(best), False)
    world.broker.publish("seismote/network/event/last", json.dumps(best), True)
    first = best["stations"][0]
    return best["event_id"], first["id"], first["event_id"], len(best["stations"])


def main(program, tool, work, pictures, field, artifacts):
    with World(program, work, artifacts) as world:
        quake, station, event, count = earthquake(world, tool, work, field)
        page = world.page(f"#/earthquake/{quake}", size=(1000, 900))
        world.until(page, "Seismote.earthquakeView?.map.state().placed >= 12", 30)
        page.click(".section-card button")
        world.until(page, f"Seismote.section?.traces().length >= {count}", 60)
        page.wait_for_timeout(2000)
        page.evaluate("scrollTo(0, 0)")
        whole = Image.open(io.BytesIO(page.screenshot(full_page=True)))
        whole.save(os.path.join(artifacts, "earthquake.png"))
        box = page.locator(".section-card").bounding_box()
        small(whole.crop((0, 0, whole.width, int(box["y"]))), os.path.join(pictures, "shake-map.png"), 1000)
        small(whole.crop((0, int(box["y"]) - 8, whole.width, int(box["y"] + box["height"]) + 8)), os.path.join(pictures, "record-section.png"), 1000)
        seen(page, os.path.join(artifacts, "earthquake"))
        printed = sheets(page, os.path.join(artifacts, "earthquake.pdf"))
        page.goto(world.broker.page + f"#/station/{station}/event/{event}")
        page.wait_for_timeout(6000)
        seen(page, os.path.join(artifacts, "event"))
        printed_event = sheets(page, os.path.join(artifacts, "event.pdf"))
        print(f"on paper: the earthquake {len(printed)} pages, the event {len(printed_event)}")
        for name, images in (("earthquake", printed), ("event", printed_event)):
            for number, image in enumerate(images):
                image.save(os.path.join(artifacts, f"{name}-page{number + 1}.png"))
        small(beside([printed[0], printed_event[0]]), os.path.join(pictures, "printed.png"), 1400)
        demo = world.page("#/station/demo", size=(1000, 900))
        world.quake()
        world.until(demo, "Seismote.fleet.stations.get('demo')?.online", 60)
        demo.wait_for_timeout(9000)
        seen(demo, os.path.join(artifacts, "station"))
        print(world.trouble)


main(*sys.argv[1:7])
