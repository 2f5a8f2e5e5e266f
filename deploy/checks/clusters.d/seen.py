"""Who sees what on the three nodes of RabbitMQ: the page in Chromium with the account of a viewer, `seismote ctl`, and Home
Assistant where it is installed; before and after the death of each node.

seen.py AGENT TOOL FOLDER ROOT PAGE PICTURES HOME

PAGE: a folder with the page; HOME: the environment of Home Assistant, or "-".
"""

import functools
import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time

from playwright.sync_api import sync_playwright

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "notify.d"))

# pylint: disable=wrong-import-position
from agent import Agent  # noqa: E402
from judge import Failure, expect, until  # noqa: E402
from kinds import free_port  # noqa: E402
from rabbit import Cluster  # noqa: E402
from run import Detector  # noqa: E402
from services import Server  # noqa: E402

SIMULATED, REAL = 30, 2
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--mute-audio"]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Seen:
    def __init__(self, arguments):
        self.agent, self.tool, self.folder, self.root, self.www, self.pictures, self.environment = arguments
        self.cluster = Cluster(self.root, self.folder)
        self.agents, self.processes, self.detectors = [], [], []

    # --- who is there

    def furnish(self):
        cluster = self.cluster
        print(f"three nodes of RabbitMQ are up after {cluster.up():.0f} s", flush=True)
        self.everybody = cluster.everybody()
        for role, name in (("viewer", "hall"), ("commander", "anna"), ("home-assistant", "ha")):
            cluster.account(role, name)
        self.detectors.append(Detector(self.tool, self.folder, "one", {
            "mqtt": {"uri": cluster.uris("mqtts"), "username": "seismote-network",
                     "password_file": cluster.account("network", "seismote-network"), "tls": {"ca_file": cluster.ca}},
            "network": {"cluster": cluster.uris("amqps"), "status_s": 60, "confirm": True, "home_assistant": "homeassistant"}}).start())
        for i in range(REAL):
            name = f"house-{i}"
            self.agents.append(Agent(self.agent, self.folder, name, {
                "station": {"latitude": round(35.3 + 0.3 * i, 2), "longitude": -118.1, "elevation_m": 0, "description": f"House {i}"},
                "sensor": {"simulate": {"scenario": "quiet"}}, "waveform": {"enabled": False}, "health": {"interval_s": 60},
                # (They begin with the last node.)
                "mqtt": {"uri": cluster.uris("mqtts")[::-1], "username": name, "password_file": cluster.account("station", name),
                         "tls": {"ca_file": cluster.ca}}}).start())
        self.phone = Server(free_port()).start()
        settings = os.path.join(self.folder, "notify.yaml")
        with open(settings, "w", encoding="utf-8") as file:
            json.dump({
                "mqtt": {"uri": cluster.uris("mqtts"), "username": "phone", "password_file": cluster.account("notify", "phone"),
                         "tls": {"ca_file": cluster.ca}},
                "notify": {"state": self.folder, "recipients": [
                    {"name": "anna", "ntfy": f"http://127.0.0.1:{self.phone.port}/anna", "rules": {"magnitude": 4}}]}}, file)
        with open(os.path.join(self.folder, "notify.log"), "wb") as log:
            self.processes.append(subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", os.path.join(os.path.dirname(self.tool), "seismote-notify"), "--config", settings],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        self.truth = os.path.join(self.folder, "truth.jsonl")
        with open(os.path.join(self.folder, "fleet.log"), "wb") as log:
            self.processes.append(subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", os.path.join(os.path.dirname(self.tool), "simulate-fleet"), str(SIMULATED),
                 *(f"--broker={uri}" for uri in cluster.uris("mqtt")), "--user", "everybody", "--password-file", self.everybody,
                 "--radius", "60", "--level-seconds", "1", "--earthquake-every", "40", "--magnitudes", "4.8,5.5", "--truth", self.truth],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log))

    def serve(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=self.www))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_address[1]}/index.html"

    def page(self, node, size):
        """The page of a viewer, connected to that node; it may go to the others."""
        ports = self.cluster.ports["webs"]
        brokers = "&".join(f"broker=wss://localhost:{port}/ws" for port in ports[node:] + ports[:node])
        context = self.browser.new_context(viewport={"width": size[0], "height": size[1]}, ignore_https_errors=True)
        page = context.new_page()
        page.goto(f"{self.address}?{brokers}#/")
        page.wait_for_function("() => window.Seismote?.link?.state === 'refused'", timeout=30_000)
        page.fill("dialog input[name=user], dialog input[autocomplete=username]", "hall")
        page.fill("dialog input[name=password]", "hall-secret")
        page.press("dialog input[name=password]", "Enter")
        return page

    KNOWN = """() => [...Seismote.fleet.stations.values()].map((one) => ({ id: one.id, online: one.online, info: !!one.info,
        placed: Number.isFinite(one.info?.station?.latitude), leveled: Date.now() - one.leveled < 5000 }))"""

    def all_known(self, page):
        found = page.evaluate(self.KNOWN)
        return len(found) == SIMULATED + REAL and all(one["online"] and one["info"] and one["placed"] and one["leveled"] for one in found)

    def tell(self, page):
        found = page.evaluate(self.KNOWN)
        return f"{len(found)} stations, " + ", ".join(f"{sum(1 for one in found if one[what])} {what}" for what in ("online", "info", "placed", "leveled")) + \
            f", link {page.evaluate('() => Seismote.link.state')}"

    def ctl(self, *words, nodes=None):
        done = subprocess.run(
            [self.tool, "ctl", *words, *(f"--broker={uri}" for uri in nodes or self.cluster.uris("mqtt")), "--user", "anna",
             "--password-file", os.path.join(self.folder, "rabbitmq", "anna.password")], capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, (done.stdout + done.stderr).strip()

    def kept(self, station):
        """What each node has of state/online."""
        def ask(port):
            done = subprocess.run(["mosquitto_sub", "-p", str(port), "-u", "everybody", "-P", "everybody-secret", "-t",
                                   f"seismote/{station}/state/online", "-C", "1", "-W", "1", "-F", "%r %p"],
                                  capture_output=True, text=True, timeout=20, check=False)
            return done.stdout.strip().removeprefix("1 ") or "nothing"
        return [ask(port) for port in self.cluster.ports["mqtt"]]

    # --- the steps

    def look(self):
        began = time.monotonic()
        page = self.page(0, (1440, 900))
        wait = until(lambda: self.all_known(page), 60, lambda: self.tell(page))
        print(f"page of a viewer: {self.tell(page)}, {wait:.1f} s after the login", flush=True)
        wait = until(lambda: page.evaluate("() => document.querySelectorAll('.network-card:not([hidden]) tbody tr').length"), 90, "a network event on the page")
        print(f"a network event is on the page {time.monotonic() - began:.0f} s after it was opened", flush=True)
        time.sleep(6)
        page.screenshot(path=os.path.join(self.pictures, "cluster.png"))
        page.goto(page.url.split("#")[0] + "#/station/house-0")
        if page.evaluate("() => Seismote.link.state") != "online":
            page.wait_for_function("() => Seismote.link.state === 'refused' || Seismote.link.state === 'online'", timeout=30_000)
        until(lambda: page.evaluate("() => Seismote.fleet.stations.get('house-0')?.traces?.end > 0"), 30, "the traces of a station")
        time.sleep(3)
        page.screenshot(path=os.path.join(self.pictures, "cluster-station.png"))
        page.goto(page.url.split("#")[0] + "#/")
        return page

    def rings(self, when):
        """A phone that rings for an earthquake."""
        rung = len(self.phone.got)
        wait = until(lambda: len(self.phone.got) > rung, 120, f"{when}: no message on the phone")
        print(f"{when}: a message on the phone after {wait:.0f} s: {self.phone.titles('anna')[-1]}", flush=True)

    def command(self, when):
        for i in range(REAL):
            for uri in self.cluster.uris("mqtt"):
                status, words = self.ctl("ping", f"house-{i}", nodes=[uri])
                expect(status == 0, f"{when}: ctl ping house-{i} at {uri}: {words}")
                status, words = self.ctl("list", f"house-{i}", nodes=[uri])
                expect("online" in words, f"{when}: ctl list house-{i} at {uri}: {words}")
        print(f"{when}: ctl ping and list of {REAL} stations, by each node: online, all answer", flush=True)

    def frozen(self, page):
        """A station that stands still, so that its node says for it that it is offline, and keeps that. Then that node stands
        still, and the station goes to another one."""
        number = self.agents[0].number()
        os.kill(number, signal.SIGSTOP)
        away = "() => Seismote.fleet.stations.get('house-0').online === false"
        wait = until(lambda: page.evaluate(away), 30, "house-0 stands still, and the page takes it for online")
        self.cluster.stand_still(2, True)
        os.kill(number, signal.SIGCONT)
        began = time.monotonic()
        connected = self.agents[0].words().count(" connected ")
        until(lambda: self.agents[0].words().count(" connected ") > connected, 60, lambda: f"house-0 goes on: {self.agents[0].words()[-300:]}")
        self.cluster.stand_still(2, False)
        until(lambda: self.all_known(page), 60, lambda: f"house-0 goes on: {self.tell(page)}")
        back = time.monotonic() - began
        kept = self.kept("house-0")
        print(f"house-0 stands still: offline on the page after {wait:.1f} s; goes on: online {back:.1f} s later, on another node; kept of state/online by the "
              f"nodes: {', '.join(kept)}", flush=True)
        expect("offline" in kept, "no node keeps an old offline: this tries nothing")
        self.command("with an old offline")

    def deaths(self, page):
        """Each node in turn, the one that the page is on as well."""
        stale = 0
        for i in (1, 2, 0):
            self.cluster.kill(i)
            killed = time.time()
            at = page.evaluate("() => Seismote.link.url")
            time.sleep(3)
            wait = until(lambda: self.all_known(page), 30, lambda i=i: f"n{i} is dead: {self.tell(page)}")
            now = page.evaluate("() => Seismote.link.url")
            print(f"n{i} dead for 3 s: the page has all stations online {wait:.1f} s later, on {'the same' if now == at else 'another'} node", flush=True)
            self.cluster.start(i)
            until(lambda i=i: self.cluster.is_ready(i), 120, f"n{i} is back")
            wait = until(lambda: self.all_known(page), 60, lambda: f"n{i} is back: {self.tell(page)}")
            kept = [self.kept(f"house-{k}") for k in range(REAL)]
            stale += sum(one.count("offline") for one in kept)
            print(f"n{i} back after {time.time() - killed:.0f} s: {self.tell(page)}; kept of state/online by the nodes: "
                  + "; ".join(", ".join(one) for one in kept), flush=True)
            self.command(f"n{i} killed")
        print(f"{stale} times a node kept an offline that was not true", flush=True)

    def home(self):
        if self.environment == "-":
            print("skipped: Home Assistant: it is not installed here (deploy/checks/home-assistant does it)")
            return
        log = os.path.join(self.folder, "home.out")
        with open(log, "wb") as out:
            self.processes.append(subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", os.path.join(self.environment, "bin/python"), "-B",
                 os.path.join(os.path.dirname(os.path.abspath(__file__)), "home.py"), self.environment, os.path.join(self.folder, "home"),
                 str(free_port()), str(self.cluster.ports["mqtt"][0]), "ha", "ha-secret"], stdin=subprocess.DEVNULL, stdout=out, stderr=out))

        def said():
            with open(log, encoding="utf-8", errors="replace") as file:
                return file.read().splitlines()

        def devices():
            lines = [line for line in said() if line.startswith('{"devices"')]
            return json.loads(lines[-1])["devices"] if lines else {}

        def complete():
            found = [states for name, states in devices().items() if name.lower().startswith("house")]
            network = [one for one in devices().get("Seismote network", {}).values() if one not in (None, "unknown", "unavailable")]
            # "Earthquake" and "Magnitude" of an earthquake that was before Home Assistant came, which nobody retains.
            return len(network) >= 2 and len(found) == REAL and all(sum(1 for one in states.values() if one not in (None, "unknown", "unavailable")) > 15 for states in found)

        until(lambda: any('"up"' in line for line in said()), 240, lambda: "Home Assistant: " + "\n".join(said()[-5:]))
        try:
            # (What it missed of the state comes with the next one, after 60 s.)
            wait = until(complete, 100, lambda: "Home Assistant has all stations: " + "\n".join(said()[-2:])[-1500:])
        finally:
            with open(os.path.join(self.folder, "home", "home-assistant.log"), encoding="utf-8", errors="replace") as file:
                words = [line for line in file.read().splitlines() if "mqtt" in line.lower()]
            print("Home Assistant's log of MQTT: " + ("; ".join(words[-4:])[:900] or "nothing"))
        def without(states):
            return sorted(entity.split(".", 1)[1] for entity, one in states.items() if one in (None, "unknown", "unavailable"))

        print(f"Home Assistant, {wait:.0f} s after it was told of the broker: " + "; ".join(
            f"{name}: {len(states) - len(without(states))} of {len(states)} entities have a value, none {', '.join(without(states))}"
            for name, states in devices().items()), flush=True)

    def run(self):
        self.furnish()
        with sync_playwright() as playwright:
            self.browser = playwright.chromium.launch(executable_path="/usr/bin/chromium-headless-shell", headless=True, args=FLAGS)
            self.address = self.serve()
            until(lambda: all("connected" in one.words() for one in self.agents), 60, "the agents are connected")
            until(lambda: os.path.exists(self.truth) and os.path.getsize(self.truth), 90, "the first earthquake")
            page = self.look()
            self.command("before any kill")
            self.rings("before any kill")
            self.frozen(page)
            self.home()
            self.deaths(page)
            self.rings("each node killed once")
            # While a node is dead on which the page or Home Assistant was, RabbitMQ answers what goes to their sessions, too, with
            # reason 131, though all others get it: a limit that deploy/docs/operate/broker-clusters.md names. Anything else is a right.
            refused = [line for one in self.agents for line in one.words().splitlines() if "refused a message" in line]
            print(f"messages of stations refused: {len(refused)}, {sum('reason=131' in line for line in refused)} of them with reason 131")
            expect(all("reason=131" in line for line in refused), f"stations may not do what they do: {refused[-3:]}")
            self.browser.close()

    def close(self):
        for one in self.agents:
            if one.running:
                one.kill()
        for one in self.detectors:
            one.kill()
        for one in self.processes:
            if one.poll() is None:
                one.terminate()
                try:
                    one.wait(30)
                except subprocess.TimeoutExpired:
                    one.kill()
        self.cluster.down()


def main():
    # Ended from outside, it ends its nodes, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    seen = Seen(sys.argv[1:])
    try:
        seen.run()
    except (Failure, RuntimeError) as error:
        print(f"FAILED: {error}")
        print("--- refused by the nodes\n" + "\n".join(seen.cluster.refusals()[-8:]))
        with open(os.path.join(seen.folder, "notify.log"), encoding="utf-8", errors="replace") as file:
            print("--- seismote-notify\n" + "".join(file.readlines()[-8:]))
        print("--- detector\n" + "\n".join(seen.detectors[0].words().splitlines()[-8:]) if seen.detectors else "")
        return 1
    finally:
        seen.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
