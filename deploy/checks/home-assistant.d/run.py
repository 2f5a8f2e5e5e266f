"""A station in a real Home Assistant. run.py AGENT FOLDER RECORDING ENVIRONMENT FORMS"""

import asyncio
import datetime
import json
import os
import sys
import time

from agent import merge, playing
from client import Client
from hass import HomeAssistant
from kinds import Mosquitto, free_port
from verdict import Failure

STATION = "ha-check"
# What Home Assistant makes of the names of the device and its entities.
NAME = "Cellar"


def entity(kind, name):
    return f"{kind}.cellar_{name}"


# Entities with what their state has to be like while the station plays an earthquake.
NUMBERS = ["peak_ground_acceleration", "peak_ground_velocity", "rms", "dominant_frequency",
           "intensity_mmi_worden12", "intensity_jma_jma", "memory", "gaps", "clipped_samples",
           "messages_waiting", "messages_dropped", "connections", "settings_revision"]
OTHERS = {
    entity("binary_sensor", "clock"): {"off"}, entity("binary_sensor", "sensor"): {"off"},
    entity("sensor", "sensor_state"): {"ok", "settling"}, entity("number", "threshold_x"): {"0.05"},
    entity("number", "threshold_z"): {"0.05"}, entity("number", "sta_lta_on"): {"3", "3.0"},
    entity("number", "sta_lta_off"): {"1.5"}, entity("number", "trace_rate"): {"20", "20.0"},
    entity("select", "filter"): {"0.5-10 Hz"},
}


class Check:
    def __init__(self, program, folder, recording, environment, forms):
        self.program, self.folder, self.recording, self.forms = program, folder, recording, forms.split(",")
        self.broker = Mosquitto(folder)
        self.home = HomeAssistant(environment, os.path.join(folder, "ha"), free_port())
        self.home.blueprints = len(self.forms) > 1
        self.agent = None
        # How often summaries and digests have come.
        self.counts = {"summary": 0, "digest": 0}
        # Topic -> payload of what is retained, as a client sees it that was always there.
        self.kept = {}
        self.client = Client("home-check", take=self.take)

    def take(self, message):
        kind = message.topic.split("/")[-1]
        if kind in self.counts and not message.retain:
            self.counts[kind] += 1
        if message.payload:
            self.kept[message.topic] = message.payload
        else:
            self.kept.pop(message.topic, None)

    def config(self):
        return json.loads(self.kept[f"seismote/{STATION}/state/config"])["config"]

    def discovery(self, prefix="homeassistant"):
        return sorted(topic for topic in list(self.kept) if topic.startswith(prefix + "/") and topic.endswith("/config"))

    def places(self):
        """Where the station believes that something of its discovery may be."""
        path = os.path.join(self.agent.settings["storage"]["directory"], "home-assistant.json")
        with open(path, encoding="utf-8") as file:
            return json.load(file)["places"]

    async def command(self, station=STATION, **settings):
        await self.client.publish(f"seismote/{station}/cmd/config", json.dumps({"set": settings}).encode())

    def say(self, text):
        print(f"{time.monotonic() - self.began:6.1f} s  {text}", flush=True)

    def station(self, name=STATION, **home):
        """The same recording at five times its speed, over and over."""
        return playing(self.program, self.folder, name, self.recording, 5, merge({
            "station": {"description": NAME}, "detection": {"event": {"post_event_s": 5}},
            "axes": {"all": {"detection": {"threshold": 0.05}}},
            "locked": ["axes.y.detection.threshold"], "unlocked": ["mqtt.home_assistant.prefix"],
            "mqtt": {"uri": f"mqtt://127.0.0.1:{self.broker.port}", "home_assistant": {
                "page": "http://page.invalid/#/station/{id}", **home}}}, {}))

    async def run(self):
        self.began = time.monotonic()
        await self.broker.start()
        await self.client.connect(self.broker.port)
        await self.client.subscribe("#")
        home = self.home
        home.start()
        self.agent = self.station(discovery=self.forms[0]).start()
        await home.up()
        await home.settle_in(self.broker.port)
        await home.watch()
        self.say("Home Assistant is up")
        await self.found()
        await self.shaken()
        # (Behind the blueprints: when an entity is available again, the one of messages tells its last event once more.)
        await self.contradicted()
        await self.updated()
        await self.changed()
        await self.refused()
        await self.pressed()
        await self.labelled()
        await self.reborn()
        if len(self.forms) > 1:
            await self.other_form()
        await self.moved()
        await self.switched_off()
        self.heard()
        self.say("all is as it should be")

    async def found(self):
        """The device, and all of its entities with a value."""
        home = self.home
        since = entity("sensor", "running_since")
        wanted = [entity("sensor", name) for name in NUMBERS] + [since] + list(OTHERS)
        await home.until(
            "all entities with a value",
            lambda: all(home.state(name) not in (None, "unknown", "unavailable") for name in wanted)
            or self.missing(wanted), 90)
        self.absent = []
        for name in NUMBERS:
            float(home.state(entity("sensor", name)))
        age = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.fromisoformat(home.state(since))
        # (It is told to the minute.)
        assert -60 <= age.total_seconds() <= 300, f"{since} is {home.state(since)}"
        for name, right in OTHERS.items():
            assert home.state(name) in right, f"{name} is {home.state(name)}"
        # What is locked in the file is not offered.
        assert entity("number", "threshold_y") not in home.states, "a locked setting is offered"
        device = await home.device(STATION)
        assert device and device["name"] == NAME and device["manufacturer"] == "Seismote" and device["sw_version"], device
        assert device["configuration_url"] == f"http://page.invalid/#/station/{STATION}", device
        entities = await home.entities(device)
        assert len(entities) >= 30, f"{len(entities)} entities"
        attributes = home.states[entity("sensor", "intensity_mmi_worden12")]["attributes"]
        assert attributes.get("scale") == "mmi" and attributes.get("roman"), attributes
        self.device = device["id"]
        with open(os.path.join(self.folder, "token.json"), "w", encoding="utf-8") as file:
            json.dump({"base": home.base, "access": home.token, "refresh": home.refresh, "device_id": device["id"]}, file)
        self.say(f"the device is there: {device['model']}, {len(entities)} entities ({self.forms[0]})")

    def missing(self, names):
        self.absent = [name for name in names if self.home.state(name) in (None, "unknown", "unavailable")]
        return False

    async def available(self):
        """How many of the device's entities are available, and how many there are."""
        names = [one["entity_id"] for one in await self.home.entities({"id": self.device})]
        return sum(self.home.state(name) not in (None, "unavailable") for name in names), len(names)

    async def contradicted(self):
        """Somebody else writes `offline` on the station's own topic, as the late will of another connection does: Home Assistant
        has all entities back within seconds."""
        before, count = await self.available()
        past, began = len(self.home.past), time.monotonic()
        await self.client.publish(f"seismote/{STATION}/state/online", b"offline", retain=True)
        gone, after = set(), 0
        # (They may be back before anybody asks how many there are.)
        while time.monotonic() - began < 10 and not (gone and after == before):
            await asyncio.sleep(0.05)
            gone = {name for name, state, _ in self.home.past[past:] if state == "unavailable"}
            after, _ = await self.available()
        assert gone, "Home Assistant has not seen the foreign `offline`"
        assert after == before, f"{after} of {count} entities are available after a foreign `offline`, {before} before"
        self.say(f"a foreign `offline`: {before} of {count} entities available, {len(gone)} gone, and {after} again "
                 f"after {time.monotonic() - began:.1f} s")

    async def shaken(self):
        """The earthquake: the event entity is fired for onset and end, something shakes, the peak is high."""
        home, event = self.home, entity("event", "seismic_event")
        kinds = lambda: {attributes.get("event_type") for name, _, attributes in home.past if name == event}
        await home.until("onset and end of an event", lambda: {"onset", "end"} <= kinds(), 120)
        # (Where the recording begins again the ground jumps by 0.1 m/s²: Home Assistant may come up in time for that first.)
        ended = await home.until("the end of the earthquake", lambda: next((
            a for name, _, a in home.past if name == event and a.get("event_type") == "end" and a["pga"] > 1), None), 120)
        assert ended["event_id"].startswith(STATION) and ended["pga"] > 0.05 and ended["intensity"], ended
        for name in ("vibration", "earthquake"):
            await home.until(f"{name} on and off", lambda name=name: {"on", "off"} <= {
                state for known, state, _ in home.past if known == entity("binary_sensor", name)}, 60)
        judged = [a for name, _, a in home.past if name == event and a.get("likely") == "earthquake" and a.get("p", 0) > 0.5]
        assert judged and ended["likely"] == "earthquake", ended
        await home.until("its probability", lambda: any(
            name == entity("sensor", "earthquake_probability") and state not in ("unknown", "unavailable") and float(state) > 50
            for name, state, _ in home.past), 60)
        assert home.state(entity("binary_sensor", "alarm")) == "off", "an alarm, which is not switched on"
        # (The first may have come while Home Assistant was subscribing to one topic after the other.)
        peak = await home.until("a large PGA", lambda: max((
            float(state) for name, state, _ in home.past if name == entity("sensor", "peak_ground_acceleration")
            and state not in ("unknown", "unavailable") and float(state) > 0.05), default=None), 120)
        share = self.counts["digest"] / self.counts["summary"]
        assert 0.05 < share < 0.4, f"{self.counts}: digests are too many or too few"
        self.say(f"Home Assistant gets {self.counts['digest']} digests of {self.counts['summary']} summaries")
        if home.blueprints:
            await self.automated()
        self.say(f"an earthquake was seen: PGA up to {peak:.3f} m/s², {ended['event_id']}")

    async def automated(self):
        """The blueprints: a light while it shakes, and one message for each event."""
        home = self.home
        past = lambda name: [state for known, state, _ in home.past if known == name]
        await home.until("the lamp goes on and off", lambda: {"on", "off"} <= set(past("input_boolean.lamp")), 90)
        await home.until("a message", lambda: len(past("input_boolean.told")) > 1, 90)
        events = {a["event_id"] for name, _, a in home.past if name == entity("event", "seismic_event") and "event_id" in a}
        told = len(past("input_boolean.told")) - 1
        assert 1 <= told <= len(events), f"{told} messages of {len(events)} events"
        self.say(f"blueprints: the lamp, {told} messages of {len(events)} events")

    async def updated(self):
        """The newest version is what somebody says on seismote/release."""
        home, name = self.home, entity("update", "version")
        installed = json.loads(self.kept[f"seismote/{STATION}/state/info"])["agent"]["version"]
        await self.client.publish("seismote/release", installed.encode(), retain=True)
        await home.until("the version is the newest", lambda: home.state(name) == "off", 30)
        await self.client.publish("seismote/release", b"99.1.0", retain=True)
        await home.until("there is a newer version", lambda: home.state(name) == "on", 30)
        attributes = home.states[name]["attributes"]
        assert (attributes["installed_version"], attributes["latest_version"]) == (installed, "99.1.0"), attributes
        if os.path.isdir(os.path.join(self.folder, "updater")):
            await self.progressed(name)
        await self.client.publish("seismote/release", b"", retain=True)
        self.say(f"the update entity: {installed}, then 99.1.0")

    async def progressed(self, name):
        """An update from afar, as its program tells the station of it: how far it is, and that it went back."""
        attribute = lambda key: self.home.states[name]["attributes"].get(key)

        def tell(phase, **members):
            path = os.path.join(self.folder, "updater", "state.json")
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump({"phase": phase, "t": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                           "version": "99.1.0~deb13", "from": "0.1.0~deb13", "installed": "0.1.0~deb13", **members}, file)
            os.replace(path + ".new", path)

        assert attribute("in_progress") is False and attribute("phase") is None, self.home.states[name]
        for phase, percent in (("fetching", 10), ("watching", 60)):
            tell(phase)
            await self.home.until(f"the update is {phase}", lambda phase=phase, percent=percent: (
                attribute("in_progress"), attribute("update_percentage"), attribute("phase")) == (True, percent, phase), 20)
        tell("returned", reason="no samples come")
        await self.home.until("the update has gone back", lambda: (
            attribute("in_progress"), attribute("update_percentage"), attribute("phase"), attribute("reason"),
            attribute("version")) == (False, None, "returned", "no samples come", "99.1.0~deb13"), 20)
        assert self.home.state(name) == "on", "what could not be installed is not offered any more"

    async def changed(self):
        home = self.home
        await home.service("number", "set_value", entity_id=entity("number", "threshold_x"), value=0.125)
        await home.until("the threshold of x is 0.125 in the station",
                         lambda: self.config()["axes"]["x"]["detection"]["threshold"] == 0.125)
        assert self.config()["axes"]["z"]["detection"]["threshold"] == 0.05
        await home.service("number", "set_value", entity_id=entity("number", "threshold_z"), value=0.25)
        await home.until("the threshold of z is 0.25 in the station",
                         lambda: self.config()["axes"]["z"]["detection"]["threshold"] == 0.25)
        assert [self.config()["axes"][axis]["detection"]["threshold"] for axis in "xy"] == [0.125, 0.05]
        await home.service("number", "set_value", entity_id=entity("number", "trace_rate"), value=10)
        await home.until("traces with 10 Hz", lambda: self.config()["trace"]["rate_hz"] == 10)
        await home.service("select", "select_option", entity_id=entity("select", "filter"), option="1-8 Hz")
        await home.until("the filter of all axes", lambda: all(
            self.config()["axes"][axis]["filter"]["butterworth"]["corners_hz"] == [1, 8] for axis in "xyz"))
        await home.service("select", "select_option", entity_id=entity("select", "filter"), option="Shake band-pass 1-3 Hz")
        await home.until("a filter by its name", lambda: self.config()["axes"]["y"]["filter"] == "shake:bp1-3")
        await home.until("Home Assistant shows what is in force", lambda: home.state(
            entity("select", "filter")) == "Shake band-pass 1-3 Hz" and float(home.state(entity("number", "threshold_x"))) == 0.125
            and float(home.state(entity("number", "threshold_z"))) == 0.25)
        # Somebody else changes something that Home Assistant has no word for.
        await self.command(axes={"x": {"filter": {"butterworth": {"type": "lowpass", "corner_hz": 10}}}})
        await home.until("another filter is shown as such", lambda: home.state(entity("select", "filter")) == "other")
        self.say("numbers and filters were changed")

    async def refused(self):
        """What the station does not take is shown for a moment and jumps back, in the browser too."""
        home = self.home
        for name, service, data, tried, back in [
                (entity("number", "sta_lta_on"), "set_value", {"value": 1.25}, "1.25", "3"),
                (entity("number", "sta_lta_off"), "set_value", {"value": 2000}, "2000", "1.5"),
                (entity("number", "sta_lta_on"), "set_value", {"value": 1.25}, "1.25", "3"),
                (entity("select", "filter"), "select_option", {"option": "unfiltered"}, "unfiltered", "unfiltered"),
                (entity("select", "filter"), "select_option", {"option": "other"}, "other", "unfiltered")]:
            before, revision = len(home.past), json.loads(self.kept[f"seismote/{STATION}/state/config"])["rev"]
            await home.service(name.split(".")[0], service, entity_id=name, **data)

            def seen(name=name, before=before):
                return [state.removesuffix(".0") for entity, state, _ in home.past[before:] if entity == name]
            await home.until(f"{name} shows {tried}, then {back}",
                             lambda tried=tried, back=back: tried in seen() and seen()[-1] == back)
            if tried == back:
                await home.until("the station is unfiltered", lambda: all(
                    self.config()["axes"][axis]["filter"] == "none" for axis in "xyz"))
            else:
                assert json.loads(self.kept[f"seismote/{STATION}/state/config"])["rev"] == revision, name
        assert self.config()["detection"]["sta_lta"]["on"] == 3
        self.say("refused values jump back")

    async def pressed(self):
        home, before = self.home, len(self.home.past)
        since = lambda: json.loads(self.kept[f"seismote/{STATION}/state/summary"])["extremes"]["x"]["since"]
        old = since()
        await home.service("button", "press", entity_id=entity("button", "reset_extremes"))
        await home.until("the extremes are reset", lambda: since() != old)
        seen = lambda: any(name == entity("event", "seismic_event") and attributes.get("test") is True
                           for name, _, attributes in home.past[before:])
        # Not while the ground shakes by itself, which it does often here.
        deadline = time.monotonic() + 120
        while not seen() and time.monotonic() < deadline:
            await home.service("button", "press", entity_id=entity("button", "test_event"))
            try:
                await home.until("a test event", seen, 3)
            except Failure:
                pass
        assert seen(), "the button made no test event"
        self.say("buttons work")

    async def labelled(self):
        """What the last event was, chosen in Home Assistant, stays with the event."""
        home, name, number = self.home, entity("select", "last_event_was"), 0
        last = lambda: json.loads(self.kept[f"seismote/{STATION}/event/last"])["event_id"]
        await home.until("the last event is known", lambda: home.states[name]["attributes"].get("event_id") == last(), 60)
        assert home.state(name) == "unknown", home.state(name)
        await home.service("select", "select_option", entity_id=name, option="footsteps")
        labels = []
        deadline = time.monotonic() + 20
        while not labels and time.monotonic() < deadline:
            number += 1
            await self.client.publish(
                f"seismote/{STATION}/cmd/events", json.dumps({"id": f"labels-{number}", "labelled": True}).encode())
            reply = f"seismote/{STATION}/res/labels-{number}"
            await home.until("a reply", lambda reply=reply: b'"done"' in self.kept.get(reply, b""), 20)
            labels = [one["label"] for one in json.loads(self.kept[reply])["result"]["events"]]
        assert labels == ["footsteps"], labels
        self.say("the last event has a label")

    async def reborn(self):
        """Home Assistant starts again and finds nothing on the broker: its birth message brings everything back."""
        home = self.home
        await home.leave()
        home.stop()
        for topic in self.discovery():
            await self.client.publish(topic, b"", retain=True)
        await home.until("the broker has forgotten the discovery", lambda: not self.discovery())
        home.start()
        await home.up()
        await home.renew()
        await home.watch()
        await home.until("the discovery is sent again after the birth message", self.discovery, 120)
        await home.until("the entities have their values again", self.again, 60)
        self.say("after a restart of Home Assistant all is there again")

    def again(self):
        """Whether two entities have the values that they are to have; what others they have is kept to be told."""
        wanted = {entity("number", "threshold_x"): "0.125", entity("sensor", "sensor_state"): "ok"}
        self.absent = [f"{name} ({self.home.state(name)})" for name, right in wanted.items() if self.home.state(name) != right]
        return not self.absent

    async def other_form(self):
        home = self.home
        old = self.discovery()
        await self.command(mqtt={"home_assistant": {"discovery": self.forms[1]}})
        await home.until("the other form is there, the old one is gone",
                         lambda: self.discovery() and not set(old) & set(self.discovery()), 60)
        await home.until("the entities have their values again", self.again, 60)
        device = await home.device(STATION)
        assert device and len(await home.entities(device)) >= 30, device
        self.say(f"the form is {self.forms[1]} now: {len(self.discovery())} messages")

    async def moved(self):
        """Another prefix, and another id at the next start: nothing is left where it was."""
        home = self.home
        await self.command(mqtt={"home_assistant": {"prefix": "house/ha"}})
        await home.until("the discovery has moved", lambda: self.discovery("house/ha") and not self.discovery(), 60)
        gone = None
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            gone = await home.device(STATION)
            if not gone:
                break
            await asyncio.sleep(0.5)
        assert not gone, "the device is still there"
        await self.command(mqtt={"home_assistant": {"prefix": None}})
        await home.until("it comes back", lambda: self.discovery() and not self.discovery("house/ha"), 60)
        await home.until("the entities are there again", lambda: home.state(entity("sensor", "sensor_state")) == "ok", 60)
        # A start soon after a move empties the former places once more, and Home Assistant would warn of that.
        await home.until("the former places are forgotten", lambda: len(self.places()) == 1, 90)
        self.agent.stop()
        await home.until("nothing is available without the station", lambda: home.state(
            entity("sensor", "sensor_state")) == "unavailable", 30)
        self.agent.settings["station"]["id"] = STATION + "-2"
        self.agent.start()
        await home.until("discovery under the other id alone", lambda: self.discovery() and all(
            STATION + "-2" in topic for topic in self.discovery()), 60)
        self.say("prefix and id were changed, nothing was left behind")

    async def switched_off(self):
        home = self.home
        await home.until("the new device has values", lambda: home.state(entity("sensor", "sensor_state")) == "ok", 60)
        await self.command(STATION + "-2", mqtt={"home_assistant": {"enabled": False}})
        await home.until("no discovery is left", lambda: not self.discovery() and not self.discovery("house/ha"), 60)
        await home.until("no entity is left", lambda: not [
            name for name, state in home.states.items() if ".cellar_" in name], 60)
        self.say("switched off: nothing is left")

    def heard(self):
        """Home Assistant itself has complained of nothing of ours."""
        bad = [line for line in self.home.said().splitlines() if "mqtt" in line.lower() or "template" in line.lower()]
        assert not bad, "Home Assistant's log: " + "\n".join(bad[:10])

    async def end(self):
        await self.client.close()
        await self.home.leave()
        self.home.stop()
        if self.agent:
            self.agent.stop()
        self.broker.stop()


async def main():
    check = Check(*sys.argv[1:])
    try:
        await check.run()
        return 0
    except (AssertionError, TimeoutError, RuntimeError, KeyError) as problem:
        print(f"error: {type(problem).__name__}: {problem}", file=sys.stderr)
        if getattr(check, "absent", None):
            print("without the right value:", " ".join(check.absent), file=sys.stderr)
        print("what the station says:", *(check.agent.words().splitlines()[-15:] if check.agent else []), sep="\n  ",
              file=sys.stderr)
        print("what Home Assistant says:", *check.home.said().splitlines()[-15:], sep="\n  ", file=sys.stderr)
        return 1
    finally:
        hold = float(os.environ.get("SEISMOTE_HOLD", "0"))
        if hold:
            await asyncio.sleep(hold)
        await check.end()


sys.exit(asyncio.run(main()))
