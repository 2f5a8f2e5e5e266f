"""What people see while a station feels an earthquake: the device's page of Home Assistant and the station's page of the
dashboard, in each state, taken from a real browser. pictures.py AGENT TOOL FOLDER RECORDING ENVIRONMENT OUTPUT

The recording is played slowly, from shortly before its onset, so that each state lasts long enough. Every picture is taken when
both pages show the state; that they do is what fails here.
"""

import asyncio
import csv
import json
import math
import os
import subprocess
import sys

from PIL import Image
from playwright.async_api import async_playwright

from agent import Agent, merge
from browser import chromium
from client import Client
from hass import HomeAssistant
from kinds import free_port
from world import Broker

STATION, NAME, SPEED = "cellar", "Cellar", 0.25
# Of the recording, which is taken for an event at 31 s: what is played of it, its fading, and the quiet after it.
PLAYED, FADES, QUIET = 36, 2, 60  # s
SIZE = {"width": 1280, "height": 1000}
# What the head of the station's page says in each state.
HEADS = {"quiet": (), "onset": ("in progress",), "class": ("in progress", "earthquake"),
         "alarm": ("in progress", "alarm", "earthquake"), "end": ()}
EVER = ("in progress", "alarm", "earthquake")


def earthquake(tool, recording, folder):
    """The recording, faded out early, and then quiet again."""
    series, told = os.path.join(folder, "series.csv"), os.path.join(folder, "told.jsonl")
    subprocess.run([tool, "replay", recording, "--scale", "4.674e-06,4.677e-06,4.679e-06", "--quiet", "--output", told,
                    "--series", series], check=True)
    with open(series, encoding="ascii", newline="") as file:
        rows = [[float(row[key]) for key in ("t", "x_raw", "y_raw", "z_raw")] for row in csv.DictReader(file)]
    first, number = rows[0][1:], 0
    path = os.path.join(folder, "earthquake.csv")
    with open(path, "w", encoding="ascii") as file:
        file.write("t,x,y,z\n")
        for number, (t, *axes) in enumerate(rows):
            if t > PLAYED + FADES:
                break
            share = 1 if t < PLAYED else (1 + math.cos(math.pi * (t - PLAYED) / FADES)) / 2
            faded = [a * share + b * (1 - share) for a, b in zip(axes, first)]
            file.write(f"{number / 100:.2f}," + ",".join(f"{a:.6f}" for a in faded) + "\n")
        for extra in range(QUIET * 100):
            file.write(f"{(number + extra) / 100:.2f}," + ",".join(f"{a:.6f}" for a in rows[extra % 1800][1:]) + "\n")
    return path


class Pictures:
    def __init__(self, program, tool, folder, recording, environment, output):
        self.folder, self.output, self.events = folder, output, []
        self.broker = Broker(os.path.join(folder, "broker"), os.path.join(folder, "www"))
        self.home = HomeAssistant(environment, os.path.join(folder, "ha"), free_port())
        self.broker.start()
        self.agent = Agent(program, folder, STATION, merge({
            "station": {"description": NAME, "latitude": 35.81574, "longitude": -117.59751},
            "detection": {"event": {"pre_event_s": 5, "post_event_s": 3}},
            # Later than the class, so that there is a state between.
            "alarm": {"enabled": True, "velocity": "10 cm/s"},
            "mqtt": {"uri": f"mqtt://127.0.0.1:{self.broker.port}"}}, {}))
        self.agent.settings["sensor"] = {"driver": "replay", "replay": {
            "file": earthquake(tool, recording, folder), "speed": SPEED, "loop": False}}
        self.client = Client("pictures", take=self.take)

    def take(self, message):
        if message.topic.endswith("/event/trigger"):
            self.events.append(json.loads(message.payload))

    def state(self, name):
        return self.home.state(name)

    def told(self, right):
        return any(right(event) for event in self.events)

    async def run(self):
        home = self.home
        await self.client.connect(self.broker.port)
        await self.client.subscribe("seismote/+/event/trigger")
        home.start()
        await home.up()
        await home.settle_in(self.broker.port)
        await home.watch()
        self.agent.start()
        await home.until("the device", lambda: self.state("binary_sensor.cellar_vibration") is not None, 60)
        device = None
        while not device:
            device = await home.device(STATION)
        async with async_playwright() as playwright:
            browser = await chromium(playwright)
            try:
                await self.look(browser, device["id"])
            finally:
                await browser.close()

    async def look(self, browser, device):
        tokens = json.dumps({"hassUrl": self.home.base, "clientId": self.home.client, "access_token": self.home.token,
                             "refresh_token": self.home.refresh, "token_type": "Bearer", "expires_in": 1800,
                             "expires": 9_999_999_999_999})
        # A window each: a page that nobody sees does not draw.
        ours, theirs = [await (await browser.new_context(viewport=SIZE, color_scheme="light")).new_page() for _ in "12"]
        await theirs.goto(self.home.base + "/manifest.json")
        await theirs.evaluate("""tokens => { localStorage.setItem('hassTokens', tokens);
            localStorage.setItem('selectedLanguage', '"en"'); }""", tokens)
        await theirs.goto(self.home.base + "/config/devices/device/" + device)
        await ours.goto(self.broker.page + f"#/station/{STATION}")
        await ours.wait_for_selector("main.station")
        on = lambda name: self.state(f"binary_sensor.cellar_{name}") == "on"
        off = lambda *names: all(self.state(f"binary_sensor.cellar_{name}") == "off" for name in names)
        likely = lambda event: event.get("class", {}).get("likely") == "earthquake"
        for name, right in {
            "quiet": lambda: off("vibration", "earthquake", "alarm") and self.state("sensor.cellar_sensor_state") == "ok",
            "onset": lambda: on("vibration") and off("earthquake", "alarm") and self.events,
            "class": lambda: on("earthquake") and off("alarm") and self.told(likely),
            "alarm": lambda: on("alarm") and self.told(lambda event: event.get("alarm")),
            "end": lambda: self.told(lambda event: event["event_type"] == "end") and off("vibration", "earthquake", "alarm"),
        }.items():
            await self.home.until(f"the state {name}", right, 240)
            if name in ("quiet", "end"):
                await asyncio.sleep(4)
            for page, whose in ((theirs, "home-assistant"), (ours, "dashboard")):
                await page.screenshot(path=os.path.join(self.output, f"{whose}-{name}.png"))
            assert right(), f"the state {name} was over before its pictures were taken"
            words = await ours.evaluate("document.querySelector('main').innerText")
            with open(os.path.join(self.output, f"dashboard-{name}.txt"), "w", encoding="utf-8") as file:
                file.write(words)
            head = await ours.evaluate("document.querySelector('.station-head .title').innerText")
            assert [word in head for word in EVER] == [word in HEADS[name] for word in EVER], f"{name}: the page says {head}"
            print(name, {key.split("cellar_")[-1]: value["state"] for key, value in self.home.states.items()
                         if key.startswith(("binary_sensor.", "event.")) or "probability" in key}, flush=True)
        self.compose()
        event = self.events[-1]["event_id"]
        await ours.goto(self.broker.page + f"#/station/{STATION}/event/{event}")
        await ours.wait_for_selector("main.event")
        await asyncio.sleep(3)
        await ours.screenshot(path=os.path.join(self.output, "dashboard-event.png"), full_page=True)

    def compose(self):
        """The two pictures of the documents: few colours, small files."""
        def save(image, name):
            image.quantize(64).save(os.path.join(self.output, name), optimize=True)
        opened = lambda name: Image.open(os.path.join(self.output, name)).convert("RGB")
        heads = [opened(f"dashboard-{name}.png").crop((16, 96, 736, 152)) for name in HEADS]
        all_heads = Image.new("RGB", (720, 60 * len(heads) - 4), "white")
        for number, head in enumerate(heads):
            all_heads.paste(head, (0, 60 * number))
        save(all_heads, "class-states.png")
        save(opened("home-assistant-alarm.png").crop((604, 310, 934, 980)), "home-assistant.png")

    async def end(self):
        await self.client.close()
        await self.home.leave()
        self.home.stop()
        self.agent.stop()
        self.broker.kill()


async def main():
    pictures = Pictures(*sys.argv[1:])
    try:
        await pictures.run()
        return 0
    except (AssertionError, TimeoutError, RuntimeError) as problem:
        print(f"error: {type(problem).__name__}: {problem}", file=sys.stderr)
        print("what the station says:", *pictures.agent.words().splitlines()[-15:], sep="\n  ", file=sys.stderr)
        return 1
    finally:
        await pictures.end()


sys.exit(asyncio.run(main()))
