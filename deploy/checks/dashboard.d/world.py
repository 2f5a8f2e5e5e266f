"""What the cases share: a mosquitto that serves the page, agents, and a headless Chromium.

    world.broker                 a Broker: port, page (its address), kill(), start()
    world.agent(id, settings)    a simulated station, started; ended with the world
    world.quake()                the station "demo", which plays an earthquake in a loop at four times its speed
    world.page(where="#/", size=(1280, 800), theme="light", broker=None, policy=True)   an open page of playwright's;
                                 without its Content-Security-Policy when `policy` is false
    world.until(page, "expression", seconds)       waits until it is true in the page; fails with what it was
    world.picture(page, name, whole=False)         a PNG among the artifacts
"""

import asyncio
import functools
import os
import re
import socket
import threading

from playwright.sync_api import Error, sync_playwright

from agent import Agent, merge, playing
from browser import chromium
from certificates import make as make_certificates
from client import Client
from kinds import Mosquitto, free_port
from verdict import wait_until

REPOSITORY = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
RECORDING = os.path.join(REPOSITORY, "deploy/recordings/ridgecrest-2019-07-06-clc.mseed")
PATIENCE = 90


class Broker(Mosquitto):
    """A mosquitto with deploy/dashboard/mosquitto.conf's way of serving the page."""

    def __init__(self, folder, www, users=None, acl=None, certificate=False):
        super().__init__(os.path.dirname(folder), os.path.basename(folder), rights=acl, accounts=users)
        os.chmod(self.folder, 0o755)
        self.www, self.users, self.web = www, users, free_port()
        self.page = f"http://127.0.0.1:{self.web}/index.html"
        self.lines = [f"listener {self.web} 127.0.0.1", "protocol websockets", "socket_domain ipv4", f"http_dir {www}", "max_queued_messages 20000"]
        if certificate:
            make_certificates(self.folder)
            self.lines += [f"certfile {self.folder}/good.crt", f"keyfile {self.folder}/server.key"]
        self.speakers = {}

    def start(self):
        self.launch()
        wait_until(lambda: listening(self.port) and listening(self.web), 20, "mosquitto listens")
        return self

    def kill(self):
        for speaker in self.speakers.values():
            asyncio.run_coroutine_threadsafe(speaker.close(False), background()).result(20)
        self.speakers.clear()
        self.stop()

    def publish(self, topic, payload, retain=True, user=None):
        """Says something in another's place; comes back when the broker has it."""
        asyncio.run_coroutine_threadsafe(self.say(topic, payload.encode(), retain, user), background()).result(20)

    async def say(self, topic, payload, retain, user):
        speaker = self.speakers.get(user)
        if speaker is None or speaker.closed.is_set():
            speaker = Client(f"case-{user}-{free_port()}")
            await speaker.connect(self.port, user=user, password=self.users[user] if user else None)
            self.speakers[user] = speaker
        await speaker.publish(topic, payload, 1, retain, seconds=20)


@functools.cache
def background():
    """A loop in a thread of its own: that of this thread is playwright's."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


def listening(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


class World:
    def __init__(self, program, work, artifacts, www=None):
        self.program, self.work, self.artifacts = program, work, artifacts
        self.www = www or os.path.join(work, "www")
        self.broker = Broker(os.path.join(work, "broker"), self.www)
        self.agents, self.brokers, self.pages, self.trouble = {}, [self.broker], [], []

    def __enter__(self):
        self.broker.start()
        self.playwright = sync_playwright().start()
        self.browser = chromium(self.playwright)
        return self

    def __exit__(self, *_):
        self.close_pages()
        try:
            self.browser.close()
            self.playwright.stop()
        finally:
            for agent in self.agents.values():
                agent.stop()
            for broker in self.brokers:
                broker.kill()

    def agent(self, station, settings=None, broker=None):
        if station not in self.agents:
            broker = broker or self.broker
            agent = Agent(self.program, self.work, station, merge(
                {"mqtt": {"uri": f"mqtt://127.0.0.1:{broker.port}"}, "sensor": {"rate_hz": 50}}, settings or {}))
            self.agents[station] = agent.start()
        return self.agents[station]

    def stop(self, *stations):
        for station in stations:
            self.agents.pop(station).stop()

    def quake(self):
        if "demo" not in self.agents:
            self.agents["demo"] = playing(self.program, self.work, "demo", RECORDING, 4, {
                "station": {"network": "CI", "code": "CLC", "latitude": 35.81574, "longitude": -117.59751,
                            "description": "Recording of the Ridgecrest earthquake"},
                "detection": {"event": {"pre_event_s": 5, "post_event_s": 5}},
                "mqtt": {"uri": f"mqtt://127.0.0.1:{self.broker.port}"}}).start()
        return self.agents["demo"]

    def another_broker(self, name, **options):
        broker = Broker(os.path.join(self.work, name), self.www, **options)
        self.brokers.append(broker)
        return broker.start()

    def page(self, where="#/", size=(1280, 800), theme="light", broker=None, policy=True):
        context = self.browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=theme,
                                           ignore_https_errors=True, bypass_csp=not policy)
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        page.on("pageerror", lambda error: self.trouble.append(f"error in the page: {error}"))
        page.on("console", lambda message: self.heard(message))
        self.pages.append(page)
        page.goto((broker or self.broker).page + where)
        return page

    def heard(self, message):
        # A broker that is away is told by the browser in its own words.
        if message.type == "error" and not re.search(r"WebSocket connection to|ERR_CONNECTION", message.text):
            self.trouble.append(f"console: {message.text}")

    def complain(self):
        trouble, self.trouble = self.trouble, []
        assert not trouble, "\n".join(trouble[:5])

    def close_pages(self):
        for page in self.pages:
            try:
                page.context.close()
            except Error:
                pass
        self.pages, self.trouble = [], []

    def close_page(self, page):
        self.pages.remove(page)
        page.context.close()

    def until(self, page, expression, seconds=PATIENCE):
        """Waits until it is true. What it reads may not have arrived yet: an exception in it counts as "not yet"."""
        try:
            page.wait_for_function(f"() => {{ try {{ const is = !!({expression}); window.notYet = ''; return is; }} "
                                   f"catch (error) {{ window.notYet = String(error); return false; }} }}",
                                   timeout=seconds * 1000, polling=100)
        except Error as error:
            try:
                # What the page itself says of its state.
                said = page.evaluate("() => [...document.querySelectorAll('[role=status]')].map((one) => one.textContent).filter(Boolean).join(' | ')")
                reason = f'{page.evaluate("() => window.notYet") or str(error).splitlines()[0]}; the page says: {said}'
            except Error:
                reason = str(error).splitlines()[0]
            raise AssertionError(f"not within {seconds} s: {expression}: {reason}") from None

    def picture(self, page, name, whole=False):
        page.screenshot(path=os.path.join(self.artifacts, f"{name}.png"), full_page=whole)

    def picture_of_failure(self, name):
        for i, page in enumerate(self.pages):
            try:
                page.screenshot(path=os.path.join(self.artifacts, f"FAILED {name} {i}.png"), full_page=True)
            except Error:
                pass
