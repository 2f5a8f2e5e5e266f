"""A station that sends hostile values in every field of every message: the page fetches nothing, runs nothing of it, and
goes on showing the others. Once with the page's Content-Security-Policy and once without, so that neither hides what the
other lets through."""

import copy
import json
import subprocess
import threading
import time

from marks import at_night, early
from web import Handler, serve
from world import free_port, wait_until

WHERE = ["#/", "#/station/hostile", "#/station/hostile/settings", "#/station/hostile/event/hostile-20260105T102030000Z"]
# Looked at with the policy alone, for the time it takes.
MORE = ["#/station/hostile/events", "#/station/hostile/history", "#/station/hostile/health", "#/group/all"]
# What is looked at while hostile messages come; fails when one of them has broken what is drawn.
DRAWN = """() => new Promise((resolve) => setTimeout(() => requestAnimationFrame(() => resolve({
  hits: globalThis.hits ?? 0, main: document.getElementById("main").childElementCount,
  styles: [...document.querySelectorAll("[style]")].map((e) => e.getAttribute("style")).filter((s) => /url|image|[^\\x20-\\x7e]/.test(s)),
  links: [...document.querySelectorAll("a[href]")].map((e) => e.getAttribute("href")).filter((s) => !s.startsWith("#")),
})), 250))"""


def drawn_in(pages):
    """What each of them shows a quarter of a second from now, in all of them at the same time."""
    for page in pages:
        page.evaluate(f"void (window.looked = ({DRAWN})())")
    return [page.evaluate("window.looked") for page in pages]


class Trap:
    """A web server that counts what is asked of it."""

    def __enter__(self):
        trap, self.asked = self, []

        class Counter(Handler):
            def do_GET(self):
                trap.asked.append(self.path)
                self.answer(b"", Access_Control_Allow_Origin="*")

            do_POST = do_HEAD = do_GET

        self.server = serve(Counter, free_port())
        self.at = f"127.0.0.1:{self.server.server_port}"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def values(trap):
    """Each goes into every field; None is a field that is left out."""
    url, code = f"http://{trap.at}", f"globalThis.hits=1;fetch('http://{trap.at}/code')"
    return [
        f"url({url}/style)", f"#ffffff;background-image:url({url}/more)", f"image-set('{url}/set' 1x)", f"//{trap.at}/bare",
        f"{url}/plain", f"javascript:{code}", f"<img src={url}/image onerror={code}>", f"<script>{code}</script>",
        f"\"'><svg onload={code}>", f"data:text/html,<script>{code}</script>", f"@import '{url}/import'", f"var(--x,url({url}/variable))",
        "../../../../x", "constructor", "__proto__", "\u202egnp.exe\u0000\u009b31m", "x" * 600, "+/#", "",
        7, -1, 1e308, float("inf"), True, None, [], {}, ["a", {}, None], {"a": {"b": [1]}}, [[[[[[]]]]]],
    ]


def everywhere(value, hostile, keep=()):
    """The message with `hostile` in place of every leaf, but for the names of `keep`."""
    if isinstance(value, dict):
        return {key: inner if key in keep else everywhere(inner, hostile, keep) for key, inner in value.items()}
    if isinstance(value, list) and value:
        return [everywhere(inner, hostile, keep) for inner in value]
    return hostile


def hollow(value, hostile):
    """The message with `hostile` in place of everything that is below it."""
    return {key: hostile for key in value}


def model(world):
    """What a real station sends, by the part of the topic behind its id."""
    world.agent("model", {"station": {"latitude": 35.1, "longitude": -117.1, "description": "model"}})
    listener = world.broker.listener(subprocess.PIPE, "-v", "-t", "seismote/model/state/#", "-t", "seismote/model/event/#", "-t", "seismote/model/data/trace")
    found = {}

    def read():
        for line in listener.stdout:
            topic, payload = line.split(" ", 1)
            if payload.startswith("{"):
                found[topic.split("/", 2)[2]] = json.loads(payload)

    threading.Thread(target=read, daemon=True).start()
    wanted = {"state/info", "state/config", "state/config/schema", "state/summary", "state/health", "event/trigger", "event/last",
              "data/trace"}
    try:
        wait_until(lambda: wanted <= set(found) and found["state/summary"].get("valid"), 60, "a station has said everything")
    finally:
        listener.kill()
    world.stop("model")
    messages = {topic: found[topic] for topic in sorted(wanted)}
    messages["state/alert/sensor_stalled"] = {"t": found["state/health"]["t"], "code": "sensor_stalled", "severity": "error",
                                              "since": found["state/health"]["t"], "message": "The sensor is silent."}
    messages["state/update"] = {"t": found["state/health"]["t"], "phase": "returned", "since": found["state/health"]["t"], "version": "0.2.0~deb13", "from": "0.1.0~deb13",
                                "progress_pct": 90, "reason": "no samples come"}
    for topic in ("event/trigger", "event/last"):
        messages[topic]["event_id"] = "hostile-20260105T102030000Z"
    last = messages["event/last"]
    last |= {"class": {"likely": "earthquake", "p": 0.9, "t_s": 5.0, "certain": True, "moved": False}, "alarm": True, "label": "truck",
             "onsite": {"t_s": 2, "pv": 0.1, "pd": None, "tau_c": 1.0, "pgv_predicted": 0.1, "mmi_predicted": 5.0, "pgv_low": 0.02, "pgv_high": 0.5, "saturated": False, "level": 1}}
    messages["event/current"] = {**copy.deepcopy(last), "event_type": "update"}
    messages["state/level"] = {key: found["state/summary"][key] for key in ("v", "boot", "seq", "t", "pga", "triggered", "valid")} | {
        "mmi": 3.0, "jma": 1.0, "synced": True}
    for message in messages.values():
        # Of another run than the real one, so that nothing is taken for a message that came twice.
        message["boot"] = "hostile"
    return messages


class Station:
    """The hostile one: publishes, and answers what it is asked with what it was given."""

    def __init__(self, world, messages):
        self.broker, self.messages, self.answer = world.broker, messages, {}
        self.listener = self.broker.listener(subprocess.PIPE, "-t", "seismote/hostile/cmd/+")
        threading.Thread(target=self.reply, daemon=True).start()

    def reply(self):
        for line in self.listener.stdout:
            number = json.loads(line)["id"]
            self.broker.publish(f"seismote/hostile/res/{number}", json.dumps({**self.answer, "id": number, "phase": "done"}), False)

    def say(self, messages):
        self.broker.publish("seismote/hostile/state/online", "online")
        for topic, message in messages.items():
            # JSON has no infinity, but numbers that are one.
            text = json.dumps(message).replace("Infinity", "1e999")
            # mosquitto 2.0.11 sends some 40 kB a second to a page.
            if len(text) > 200000:
                continue
            self.broker.publish(f"seismote/hostile/{topic}", text, topic.startswith("state") or topic in ("event/last", "event/current"))

    def end(self):
        self.listener.kill()
        for topic in ["state/online", *self.messages]:
            self.broker.publish(f"seismote/hostile/{topic}", "")


def attack(world, policy):
    messages = model(world)
    world.agent("honest", {"sensor": {"rate_hz": 50}})
    with Trap() as trap:
        station = Station(world, messages)
        try:
            return ordeal(world, policy, trap, station)
        finally:
            station.end()
            world.stop("honest")


def ordeal(world, policy, trap, station):
    messages = station.messages
    station.say(messages)
    pages = [world.page(where, policy=policy) for where in WHERE + (MORE if policy else [])]
    for page in pages:
        world.until(page, "Seismote.link.state === 'online' && Seismote.fleet.stations.get('hostile')?.info")
        page.evaluate("Seismote.preferences.set('view', 'cards')")
        page.evaluate("globalThis.rounds = 0; Seismote.link.subscribe('hostile/round', () => rounds++); null")
        page.on("dialog", lambda dialog: trap.asked.append(f"dialog {dialog.message}"))
    kept = ("event_type", "phase", "event_id", "onset", "seq", "boot", "n", "rate_hz")
    rounds = 0
    world.trouble.clear()
    for value in values(trap):
        # Fields alone, so that a message is taken; all of it; groups of fields as well.
        for spoilt in (
            {topic: everywhere(message, value, kept) for topic, message in messages.items()},
            {topic: everywhere(message, value) for topic, message in messages.items()},
            {topic: {**hollow(message, value), **{key: message[key] for key in kept if key in message}}
             for topic, message in messages.items()},
        ):
            station.answer = {"errors": value, "rev": value, "result": everywhere(
                {"rev": 1, "revisions": [{"rev": 1, "t": "", "source": "", "changed": [""]}], "locked": [""],
                 "sources": {"overlay": [""]}, "config": {"trace": {"rate_hz": 1}}, "bytes": 1, "sha256": "", "from": "", "step_s": 1,
                 "x": {"min": [1], "max": [1]}, "events": [messages["event/last"]], "event": messages["event/last"], "next": 1, "matches": 1}, value)}
            station.say(spoilt)
            station.broker.publish("seismote/hostile/data/waveform/hostile-20260105T102030000Z", str(value)[:200] or " ", False)
        # The schema that was, so that the form has fields to put values into.
        station.say({"state/config/schema": messages["state/config/schema"],
                     "state/config": everywhere(messages["state/config"], value, ("rev",))})
        station.broker.publish("hostile/round", "x", False)
        rounds += 1
        for page in pages:
            world.until(page, f"rounds >= {rounds}")
        for page, drawn in zip(pages, drawn_in(pages)):
            what = json.dumps(value)[:60]
            assert drawn["hits"] == 0, f"ran what a station sent: {what}"
            assert drawn["main"] > 0, f"an empty page after {what}"
            assert not drawn["styles"] and not drawn["links"], f"{what}: {drawn['styles'][:2]} {drawn['links'][:2]}"
            assert not page.evaluate("({}).polluted ?? Object.a"), f"an object of all changed by {what}"
        world.complain()
    assert not trap.asked, f"asked for: {trap.asked[:5]}"
    # What is right is shown again, and the others' live pages were never in the way. (While names of runs alternate, several
    # agents seem to have one name, and of those only one is shown: so not before a quarter of a minute after the last of them.)
    for page in pages:
        world.until(page, "!Seismote.fleet.stations.get('hostile').runs.isDouble(Date.now())")
    station.answer = {}
    station.say(copy.deepcopy(messages))
    overview = pages[0]
    world.until(overview, "/\\d/.test(document.querySelector('[data-id=hostile] .pga .value').textContent)")
    world.until(overview, "/\\d/.test(document.querySelector('[data-id=honest] .pga .value').textContent)")
    world.until(pages[1], "document.querySelectorAll('.dial').length === 2")
    world.until(pages[2], "document.querySelectorAll('.setting').length > 50")
    world.until(pages[3], "document.querySelector('.event-cards').childElementCount > 2")
    world.picture(pages[1], f"hostile-station{'' if policy else '-without-policy'}")
    world.complain()
    assert not trap.asked, f"asked for: {trap.asked[:5]}"
    # The trap itself works.
    assert subprocess.run(["python3", "-c", f"import urllib.request; urllib.request.urlopen('http://{trap.at}/myself')"],
                          check=False).returncode == 0
    assert trap.asked == ["/myself"], trap.asked
    return f"{len(values(trap))} values in each field of {len(messages)} messages, {len(pages)} views: 0 requests"


@early
def case_hostile_network(world):
    """Hostile values in every field of an earthquake of the network and of its notes, without the policy."""
    begun = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 5))
    event = {"v": 1, "boot": "b", "seq": 1, "t": begun, "event_type": "update", "event_id": "net-hostile", "version": 1, "origin_time": begun, "latitude": 35.8, "longitude": -117.6, "depth_km": 8.0,
             "depth_class": "shallow", "ellipse": {"semi_major_km": 9.0, "semi_minor_km": 4.0, "azimuth_deg": 40.0}, "rms_s": 0.2, "magnitude": {"value": 5.1, "sigma": 0.3, "relation": "x"},
             "pga": {"value": 0.9, "station": "a"}, "mmi": {"value": 5.9, "station": "a"}, "class": {"likely": "earthquake"}, "silent": ["b"], "merged_into": "net-other", "withdrawn": False,
             "stations": [{"id": "a", "event_id": "a-1", "onset": begun, "phase": "P", "residual_s": 0.1, "distance_km": 10.0}],
             "place": {"quality": "outside", "azimuth_deg": 10.0, "distance_km": 9.0, "extent_km": 9.0, "region": [{"latitude": [35.0, 36.0, 36.0], "longitude": [-117.0, -117.0, -118.0]}], "others": [{"latitude": 36.0, "longitude": -118.0, "depth_km": 8.0}]}}
    note = {"v": 1, "event_id": "net-hostile", "t": begun, "seen": {"by": "Ada", "t": begun}, "notes": [{"by": "Ada", "t": begun, "text": "felt"}]}
    good = {key: value for key, value in event.items() if key != "merged_into"}
    broker = world.another_broker("hostile-network")
    version = 1

    def say(topic, message):
        broker.publish(f"seismote/network/{topic}", json.dumps(message).replace("Infinity", "1e999"), False)

    with Trap() as trap:
        say("event", good)
        pages = [world.page(where, broker=broker, policy=False) for where in ("#/", "#/events", "#/earthquake/net-hostile")]
        for page in pages:
            world.until(page, "Seismote.link.state === 'online'")
            page.on("dialog", lambda dialog: trap.asked.append(f"dialog {dialog.message}"))
        for value in values(trap):
            for kept in ((), ("event_type", "event_id", "origin_time", "latitude", "longitude", "version"), ("event_id", "origin_time", "event_type", "version", "latitude", "longitude", "place", "stations")):
                version += 1
                say("event", {**everywhere(event, value, kept), **({"version": version} if kept else {})})
                say("note/net-hostile", everywhere(note, value, ("t",)))
            say("status", everywhere({"v": 1, "t": begun, "online": True, "open_events": 1}, value))
            for page, drawn in zip(pages, drawn_in(pages)):
                what = json.dumps(value)[:60]
                assert drawn["hits"] == 0, f"ran what a detector sent: {what}"
                assert drawn["main"] > 0, f"an empty page after {what}"
                assert not drawn["styles"] and not drawn["links"], f"{what}: {drawn['styles'][:2]} {drawn['links'][:2]}"
                assert not page.evaluate("({}).polluted ?? Object.a"), f"an object of all changed by {what}"
            world.complain()
        assert not trap.asked, f"asked for: {trap.asked[:5]}"
        say("event", {**good, "version": version + 1, "place": {**event["place"], "quality": "good"}})
        for page in pages:
            world.until(page, "document.querySelector('.alarm-title').textContent === 'Earthquake M 5.1'", 5)
        world.until(pages[2], "document.querySelector('.event-facts').textContent.includes('M 5.1')", 5)
        world.complain()
        broker.kill()
    return f"{len(values(trap))} values, {len(pages)} views: 0 requests"


@at_night
def case_hostile_station(world):
    return attack(world, True)


@early
def case_hostile_station_without_policy(world):
    return attack(world, False)


def case_policy_of_the_page(world):
    """What a mistake in the page would do: the browser refuses it."""
    with Trap() as trap:
        page = world.page()
        world.until(page, "Seismote.link.state === 'online'")
        refused = page.evaluate("""async (at) => {
          const tried = {};
          const element = document.createElement("div");
          document.body.append(element);
          element.style.background = `url(http://${at}/style)`;
          new Image().src = `http://${at}/image`;
          tried.fetch = await fetch(`http://${at}/fetch`).then(() => "came", () => "refused");
          try { element.innerHTML = `<img src=http://${at}/markup>`; tried.markup = "came"; } catch { tried.markup = "refused"; }
          tried.socket = await new Promise((resolve) => {
            try {
              const socket = new WebSocket(`ws://${at}/socket`);
              socket.onopen = () => resolve("came");
              socket.onerror = () => resolve("refused");
            } catch { resolve("refused"); }
          });
          const script = document.createElement("script");
          try { script.textContent = "globalThis.hits = 1"; document.head.append(script); } catch { /* refused */ }
          const button = document.createElement("button");
          button.setAttribute("style", `background: url(http://${at}/attribute)`);
          document.body.append(button);
          await new Promise((resolve) => setTimeout(resolve, 500));
          return { ...tried, hits: globalThis.hits ?? 0 };
        }""", trap.at)
        time.sleep(0.2)
        assert refused == {"fetch": "refused", "markup": "refused", "socket": "refused", "hits": 0}, refused
        assert not trap.asked, trap.asked
        assert any("Content Security Policy" in line for line in world.trouble), world.trouble
        world.trouble.clear()
        assert page.evaluate("Seismote.link.state") == "online"
    # Another broker only when the page's address names it, and then no other; sign-in says whose broker it is.
    other = world.another_broker("elsewhere", users={"visitor": "only looks"})
    page = world.page(f"?broker=ws://127.0.0.1:{other.web}/#/")
    page.wait_for_selector("dialog.sign-in .elsewhere")
    assert f"127.0.0.1:{other.web}" in page.inner_text("dialog.sign-in .elsewhere")
    page.fill("dialog input[name=user]", "visitor")
    page.fill("dialog input[name=password]", "only looks")
    page.click("dialog button.primary")
    world.until(page, "Seismote.link.state === 'online'")
    socket = page.evaluate("""(at) => new Promise((resolve) => {
      try {
        const socket = new WebSocket(at);
        socket.onopen = () => resolve("came");
        socket.onerror = () => resolve("refused");
      } catch { resolve("refused"); }
    })""", f"ws://127.0.0.1:{world.broker.web}/")
    assert socket == "refused", socket
    world.trouble.clear()
    page = world.page("?broker=javascript:alert(1)#/")
    page.wait_for_selector("dialog[open]")
    assert "ws://" in page.inner_text("dialog[open]")
    other.kill()
