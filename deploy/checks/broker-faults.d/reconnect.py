"""reconnect.py AGENT FOLDER CONFIRM_S: see deploy/checks/broker-faults."""

import asyncio
import json
import sys
import time

import certificates
from agent import Agent
from client import Client
from kinds import Mosquitto, free_port
from readings import Readings
from verdict import Judge, within

# Seconds: for the good-bye (3), the longest pause (2), a TLS handshake and a busy machine.
GRACE = 8
RATE = 100


class Guarded(Mosquitto):
    """A plain listener and one with TLS, users, and a root that stations may not write below."""

    def launch(self):
        self.tls_port = free_port()
        certificates.make(self.path("tls"))
        self.rights = "user check\ntopic readwrite #\n\nuser board\ntopic readwrite seismote/#\n"
        self.lines = [
            "max_queued_messages 100000", f"listener {self.tls_port} 127.0.0.1",
            f"cafile {self.path('tls', 'ca.crt')}", f"certfile {self.path('tls', 'good.crt')}",
            f"keyfile {self.path('tls', 'server.key')}"]
        super().launch()


class Case(Judge):
    """One station, and the settings that are sent to it."""

    def __init__(self, name, what, patch, stays=False):
        super().__init__()
        self.name, self.what, self.patch, self.stays = name, what, patch, stays
        self.readings = Readings(name)
        self.replies, self.alerts, self.words = {}, {}, ""

    def take(self, message):
        self.readings.take(message)
        rest = message.topic.split("/", 2)[-1]
        if rest.startswith("res/") and message.payload:
            self.replies.setdefault(rest[4:], []).append((message.at, json.loads(message.payload)))
        elif rest.startswith("state/alert/") and message.payload:
            self.alerts[rest[12:]] = json.loads(message.payload)

    async def ask(self, client, verb, identity, **fields):
        """The last reply to a command; None when there is none in time."""
        await client.publish(f"seismote/{self.name}/cmd/{verb}",
                             json.dumps({"id": identity, "source": "check", **fields}).encode())

        def final():
            return next((r for _, r in self.replies.get(identity, []) if r["phase"] != "accepted"), None)
        return await within(final, 5)

    def since(self, moment, word):
        return next((at for at, text, kept in self.readings.online if at > moment and text == word and not kept), None)

    async def run(self, client, confirm):
        ready = await within(lambda: len(self.readings.health) > 2 and self.readings.health[-1][1]["samples"], 20)
        if not self.expect(ready, "never came up"):
            return
        before = await self.ask(client, "config-get", "before")
        first = self.readings.health[-1]
        began = time.monotonic()
        reply = await self.ask(client, "config", "change", set=self.patch, confirm_s=confirm)
        if not self.expect(reply and reply["phase"] == "done", f"not taken: {reply}"):
            return
        if self.stays:
            await self.confirm(client, began, confirm)
        else:
            await self.revert(client, began, confirm, before)
        await within(lambda: self.readings.health[-1][0] > time.monotonic() - 0.5, 5)
        self.account(first)

    async def confirm(self, client, began, confirm):
        online = await within(lambda: self.since(began, "online"), GRACE)
        if not self.expect(online, "no new connection"):
            return
        reply = await self.ask(client, "config-confirm", "confirm")
        self.expect(reply and reply["phase"] == "done", f"not confirmed: {reply}")
        await asyncio.sleep(max(0.0, began + confirm + 2 - time.monotonic()))
        after = await self.ask(client, "config-get", "after")
        self.expect(after and after["result"]["pending"] is None and after["rev"] == reply["rev"], f"not kept: {after}")
        self.words = f"new connection after {online - began:5.1f} s, confirmed"

    async def revert(self, client, began, confirm, before):
        offline = await within(lambda: self.since(began, "offline"), confirm)
        self.expect(offline, "offline was not said")
        online = await within(lambda: self.since(offline or began, "online"), confirm + GRACE)
        if not self.expect(online, f"not back {confirm + GRACE} s after the change"):
            return
        self.expect(online - began >= confirm - 1, f"back before the time was over: {online - began:.1f} s")
        self.expect(online - began <= confirm + GRACE, f"back only after {online - began:.1f} s")
        alert = await within(lambda: self.alerts.get("config_reverted"), 5)
        self.expect(alert, "no alert config_reverted")
        after = await self.ask(client, "config-get", "after")
        if self.expect(after and before, "no answer afterwards"):
            same = after["result"]["config"] == before["result"]["config"]
            self.expect(same and after["result"]["pending"] is None, "the settings are not those of before")
        self.words = f"back after {online - began:5.1f} s"

    def account(self, first):
        (_, health0), (_, health1) = first, self.readings.health[-1]
        samples = health1["samples"] - health0["samples"]
        # By the agent's own time: health may be said late. It counts whole blocks.
        took = health1["uptime_s"] - health0["uptime_s"]
        self.expect(abs(samples - took * RATE) < 2 * RATE, f"{samples} samples in {took:.1f} s")
        for count in ("gaps", "lost_samples"):
            self.expect(health1[count] == health0[count], f"{count}: {health1[count] - health0[count]}")
        came, missing, again = self.readings.account("trace")
        # What was published below the forbidden root is refused there.
        if "root" not in self.patch["mqtt"]:
            self.expect(missing == 0, f"traces missing: {self.readings.holes('trace')[:20]}")
        self.words += (f", {samples} samples in {took:.1f} s, gaps 0, {came} traces, {missing} missing, "
                       f"{again} twice")


async def main(program, folder, confirm):
    confirm = float(confirm)
    broker = Guarded(folder, accounts={"board": "right", "check": "check"})
    await broker.start()
    secret = broker.write("secret", "right\n")
    cases = [
        Case("address", "wrong address", {"mqtt": {"uri": f"mqtt://127.0.0.1:{free_port()}"}}),
        Case("user", "refused password", {"mqtt": {"password": "wrong"}}),
        Case("authority", "unknown authority", {"mqtt": {"uri": f"mqtts://127.0.0.1:{broker.tls_port}"}}),
        Case("root", "forbidden root", {"mqtt": {"root": "forbidden"}}),
        # Another name than the file's: the file's password is not for it.
        Case("bare", "stranger", {"mqtt": {"uri": f"mqtt://localhost:{broker.port}"}}),
        Case("good", "what works", {"mqtt": {
            "uri": f"mqtt://localhost:{broker.port}", "username": "board", "password": "right"}}, stays=True),
    ]
    strangers = []

    def take(message):
        name = message.topic.split("/")[1] if message.topic.startswith("seismote/") else ""
        case = next((case for case in cases if case.name == name), None)
        case.take(message) if case else strangers.append(message.topic)

    client = Client("check", version=5, take=take)
    await client.connect(broker.port, user="check", password="check")
    await client.subscribe("#")
    agents = [Agent(program, folder, case.name, {
        "mqtt": {"uri": f"mqtt://127.0.0.1:{broker.port}", "username": "board", "password_file": secret,
                 "tls": {"ca_file": broker.path("tls", "other.crt")}, "will_delay_s": 2},
        "trace": {"rate_hz": 20}}).start() for case in cases]
    try:
        await asyncio.gather(*(case.run(client, confirm) for case in cases))
    finally:
        for agent in agents:
            agent.stop()
        broker.stop()
    bad = 0
    for case, agent in zip(cases, agents):
        print(f"{case.what:18} {case.words or '-'}{'' if not case.complaints else '  WRONG: ' + '; '.join(case.complaints)}")
        if case.complaints:
            bad += 1
            print("    " + "\n    ".join(agent.words().splitlines()[-12:]))
    if strangers:
        bad += 1
        print(f"below a forbidden root: {sorted(set(strangers))[:5]}")
    sys.exit(f"{bad} of {len(cases)} stations are not as they should be" if bad else 0)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
