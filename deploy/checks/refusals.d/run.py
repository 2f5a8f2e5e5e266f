"""run.py AGENT FOLDER SECONDS [NAME...]: see deploy/checks/refusals."""

import asyncio
import json
import os
import sys
import time

from agent import Agent
from client import Client, Refused
from kinds import Mosquitto
from readings import Readings
from verdict import Judge, within

# The rights of the documents; `check` reads all.
DOCUMENTED = "user check\ntopic readwrite #\npattern write seismote/%u/#\npattern read seismote/%u/cmd/#\n"
# A station that may read its own topics, so that 3.1.1 can tell.
WHOLE = "user check\ntopic readwrite #\nuser board\ntopic readwrite seismote/board/#\n"
WITHOUT_EVENTS = ("user check\ntopic readwrite #\nuser board\n" + "".join(
    f"topic readwrite seismote/board/{part}/#\n" for part in ("state", "cmd", "data")))


class Case(Judge):
    """One broker with a reader that comes back, and a station or two."""

    def __init__(self, program, folder, name, protocol, broker, twins=1):
        super().__init__()
        self.name, self.broker, self.words = f"{name}, MQTT {protocol}", broker, ""
        self.readings, self.alerts, self.raised, self.task = Readings("board"), {}, [], None
        self.agents = [Agent(program, os.path.join(broker.folder, str(number)), "board", {
            "mqtt": {"uri": f"mqtt://127.0.0.1:{broker.port}", "username": "board", "protocol": protocol},
            "trace": {"rate_hz": 20}}) for number in range(twins)]

    def take(self, message):
        self.readings.take(message)
        if message.topic.startswith("seismote/board/state/alert/"):
            code = message.topic.rsplit("/", 1)[-1]
            if message.payload:
                self.alerts[code] = json.loads(message.payload)
                self.raised.append((time.monotonic(), code, self.alerts[code]))
            else:
                self.alerts.pop(code, None)

    async def read(self):
        while True:
            client = Client("check", version=5, take=self.take)
            try:
                await client.connect(self.broker.port, user="check")
                await client.subscribe("#")
                await client.closed.wait()
            except (OSError, Refused, asyncio.TimeoutError):
                await asyncio.sleep(0.02)
            finally:
                await client.close(politely=False)

    async def start(self):
        await self.broker.start()
        self.task = asyncio.create_task(self.read())
        await asyncio.sleep(0.3)
        for agent in self.agents:
            agent.start()

    def stop(self):
        for agent in self.agents:
            agent.stop()
        if self.task:
            self.task.cancel()
        self.broker.stop()

    def connections(self):
        return sum(agent.words().count("notice connected") for agent in self.agents)

    def numbers(self):
        """Of the messages of events that have come, live or late."""
        return {number for (_, stream), seen in self.readings.streams.items() if stream == "trigger" for number in seen}

    def whole(self, stream):
        """Every message of it, from the first one of the run."""
        numbers = {number for (_, name), seen in self.readings.streams.items() if name == stream for number in seen}
        return bool(numbers) and numbers == set(range(max(numbers) + 1))

    def judge(self, streams=("trigger", "trace")):
        for stream in streams:
            self.expect(self.whole(stream), f"{stream}: {self.readings.holes(stream)[:10]} missing, or the first ones")
        broken = [name for name, _ in self.readings.broken_waveforms()]
        # (That of the last event may be under way.)
        self.expect(len(broken) <= 1, f"waveforms: {broken[:5]}")
        came, _, again = self.readings.account("trigger")
        self.words += f"{came} messages of events ({again} again), {self.connections()} connections"


class HangsUp(Case):
    """The rights of the documents, which do not grant Home Assistant's topics."""

    async def run(self, seconds):
        await asyncio.sleep(2 * seconds)
        alert = self.alerts.get("write_denied")
        if self.expect(alert, f"no alert write_denied, only {sorted(self.alerts)}"):
            self.expect(any(topic.startswith("homeassistant/") for topic in alert["details"]["hangs_up"]), f"{alert}")
            self.expect("home_assistant.enabled" in alert["message"], f"no remedy: {alert['message']}")
        self.expect("event/last" in self.readings.topics, "event/last never came")
        self.expect(self.connections() <= 4 + seconds / 2, f"{self.connections()} connections")
        await within(lambda: self.whole("trace") and self.whole("trigger"), 5)
        self.judge()


class Denied(Case):
    """`event/#` is denied, and then allowed."""

    async def run(self, seconds):
        alert = await within(lambda: self.alerts.get("write_denied"), seconds - 2)
        if self.expect(alert, "no alert write_denied"):
            self.expect(any("/event/" in topic for topic in alert["details"]["write"]), f"{alert}")
        await asyncio.sleep(max(0.0, self.began + seconds - time.monotonic()))
        self.expect(not self.numbers(), "events came though they are denied")
        self.broker.allow(WHOLE)
        allowed = time.monotonic()
        came = await within(lambda: self.whole("trigger") and "write_denied" not in self.alerts, 2 * seconds + 10)
        if self.expect(came, f"not all events: {sorted(self.numbers())[:5]} ..., alerts {sorted(self.alerts)}"):
            self.words = f"all there {time.monotonic() - allowed:.1f} s after they were allowed, "
        self.expect(self.connections() == 1, f"{self.connections()} connections")
        self.judge(("trigger",))


class Limited(Case):
    """No packets of more than 1000 bytes, and then all."""

    async def run(self, seconds):
        await asyncio.sleep(seconds)
        self.expect("mqtt_too_large" in {code for _, code, _ in self.raised}, "no alert mqtt_too_large")
        self.broker.stop()
        self.broker.lines = []
        await self.broker.start()
        again = time.monotonic()
        came = await within(lambda: self.whole("trigger"), 2 * seconds)
        if self.expect(came, f"not all events: {sorted(self.numbers())[:5]} ..."):
            self.words = f"all there {time.monotonic() - again:.1f} s after the limit was gone, "
        self.judge(("trigger",))


class Twins(Case):
    """Two agents with one id."""

    async def run(self, seconds):
        alert = await within(lambda: self.alerts.get("duplicate_id"), seconds)
        if not self.expect(alert, f"no alert duplicate_id, only {sorted(self.alerts)}"):
            return
        said = time.monotonic()
        self.words = f"noticed after {said - self.began:.1f} s, {self.connections()} connections by then, "
        # The longest pause is now 10 s in place of 2: no more than one connection each in 7 s, when it has grown.
        await asyncio.sleep(8)
        before = self.connections()
        await asyncio.sleep(seconds - 4)
        rate = (self.connections() - before) / (seconds - 4)
        self.expect(rate < 0.5, f"{rate:.2f} connections a second when it is known")
        self.agents[1].stop()
        gone = time.monotonic()
        over = await within(lambda: "duplicate_id" not in self.alerts, 45)
        self.expect(over, "the alert stays though the other is gone")
        self.words += f"{rate:.2f} a second afterwards, solved {time.monotonic() - gone:.0f} s after one of them was gone"


async def main(program, folder, seconds, *only):
    seconds = float(seconds)
    cases = []
    for protocol in ("5", "3.1.1"):
        def broker(name, rights=None, queued=1000, protocol=protocol):
            return Mosquitto(folder, f"{name}-{protocol}", [f"max_queued_messages {queued}"], rights=rights)
        cases += [
            # Without a limit mosquitto 2.0 hangs up on whoever publishes without the right to.
            HangsUp(program, folder, "hangs up", protocol, broker("hang", DOCUMENTED, 0)),
            Denied(program, folder, "denied", protocol, broker("denied", WITHOUT_EVENTS)),
            Twins(program, folder, "twins", protocol, broker("twins"), twins=2),
        ]
    # 3.1.1 knows no limit that a broker could name.
    cases.append(Limited(program, folder, "limited", "5", Mosquitto(folder, "limited", ["max_packet_size 1000"])))
    cases = [case for case in cases if not only or case.broker.name in only]
    try:
        for case in cases:
            await case.start()
            case.began = time.monotonic()
        await asyncio.gather(*(case.run(seconds) for case in cases))
    finally:
        for case in cases:
            case.stop()
    bad = 0
    for case in cases:
        print(f"{case.name:22} {case.words or '-'}{'' if not case.complaints else '  WRONG: ' + '; '.join(case.complaints)}")
        if case.complaints:
            bad += 1
            for agent in case.agents:
                print("    " + "\n    ".join(agent.words().splitlines()[-15:]))
    sys.exit(f"{bad} of {len(cases)} are not as they should be" if bad else 0)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
