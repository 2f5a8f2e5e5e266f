"""What a table of commands and replies cannot show."""

import asyncio
import json

from asking import Asker, station


class Rules:
    def __init__(self):
        self.wrong = self.passed = 0

    def expect(self, name, holds, got=None):
        self.passed += bool(holds)
        if not holds:
            self.wrong += 1
            print(f"FAILED {name}: {got}")


def body(**members):
    return json.dumps(members).encode()


def code(reply):
    return reply["errors"][0]["code"] if reply and reply["errors"] else None


async def retained(rules, asker):
    # With 3.1.1 a broker does not say so to those who have subscribed before; it does at the next connect.
    verb = "restart" if asker.version == 5 else "ping"
    reply = await asker.ask(verb, body(id="kept"), retain=True)
    if asker.version == 5:
        rules.expect("a retained command is refused", code(reply) == "retained_command", reply)
    # Away again; nobody takes the empty message for a command.
    await asker.send(verb, b"", retain=True)
    await asyncio.sleep(0.2)
    if asker.version == 5:
        rules.expect("taking a retained command away is none", await asker.fence() == [])


async def flood(rules, asker):
    before = await asker.health()
    asker.heard.clear()
    for number in range(2000):
        await asker.client.publish(f"{asker.base}/cmd/ping", body(id=f"flood-{number}"), qos=0)
    for number in range(5):
        await asker.client.publish(f"{asker.base}/cmd/config", b"x" * 60000, qos=0)
    await asyncio.sleep(3)
    answers = [reply for _, reply in asker.heard if reply.get("id", "").startswith("flood-")]
    limited = [reply for reply in answers if code(reply) == "rate_limited"]
    # As many as may come at once, less what the check itself has just asked, and 20 for each second that it takes.
    rules.expect("a flood is answered in part", 30 <= len(answers) - len(limited) < 600, len(answers))
    rules.expect("and told so now and then", 0 < len(limited) < 100, len(limited))
    after = await asker.health()
    counted = after["mqtt"]["rejected_commands"] - before["mqtt"]["rejected_commands"]
    rules.expect("and counted", counted >= 2000 - len(answers), counted)
    rules.expect("and sampling goes on", after["gaps"] == before["gaps"] and after["lost_samples"] == 0, after["gaps"])
    print(f"flood of 2005 commands: {len(answers) - len(limited)} done, {len(limited)} told, {counted} counted")


async def restarts(rules, agent, asker):
    """Ids are remembered over a kill at the moment of the reply, and over a restart by command."""
    kept = {}
    for number in range(6):
        reply = await asker.ask("reset-extremes", body(id=f"kill-{number}"))
        # (What has failed may be asked again, and is not remembered over a kill.)
        rules.expect(f"kill-{number} is done", reply and reply["phase"] == "done", reply)
        kept[f"kill-{number}"] = reply
        if number % 2 == 0:
            agent.kill()
            agent.start()
            await asker.until(lambda: asker.state["online"].payload == b"online")
            asker.state.clear()
            await asker.ready()
    for name, reply in kept.items():
        again = await asker.ask("reset-extremes", body(id=name))
        rules.expect(f"{name} is remembered over kills", again == reply, f"{again} instead of {reply}")
    boot = reply["boot"]
    reply = await asker.ask("restart", body(id="restart"))
    rules.expect("restart is answered", reply and reply["phase"] == "done", reply)
    for _ in range(100):
        if not agent.running:
            break
        await asyncio.sleep(0.1)
    rules.expect("and ends the agent", not agent.running and agent.process.returncode == 0, agent.process.returncode)
    rules.expect("which says so", asker.state["online"].payload == b"offline")
    agent.start()
    asker.state.clear()
    await asker.ready()
    again = await asker.ask("restart", body(id="restart"))
    rules.expect("and not once more", again == reply and agent.running, again)
    ping = await asker.ask("ping", body(id="alive"))
    rules.expect("it is another run", ping["boot"] != boot, ping)


async def lines(rules, asker):
    """The log over MQTT."""
    heard = []
    old = asker.client.take

    def take(message):
        if message.topic.startswith(f"{asker.base}/event/log/"):
            heard.append((message.topic, json.loads(message.payload)))
        else:
            old(message)

    asker.client.take = take
    await asker.client.subscribe(f"{asker.base}/event/log/#")
    await asker.ask("log", body(id="log", level="debug", duration_s=3600))
    await asker.ask("ping", body(id="logged"))
    await asyncio.sleep(0.5)
    rules.expect("the log comes over MQTT",
                 any(topic.endswith("/debug") and line["fields"].get("id") == "logged" for topic, line in heard), heard)
    await asker.ask("log", body(id="quiet", duration_s=0))
    await asyncio.sleep(1.2)
    heard.clear()
    await asker.ask("ping", body(id="unlogged"))
    await asyncio.sleep(0.5)
    rules.expect("and ends when it is over", heard == [], heard)
    asker.client.take = old


async def run(program, folder, broker):
    rules = Rules()
    for version in (5, 4):
        name = f"rules{version}"
        agent = station(program, folder, name, broker.port, version)
        asker = await Asker(broker.port, name, version).connect()
        agent.start()
        try:
            await asker.ready()
            for rule in (retained, lines):
                await rule(rules, asker)
                await asyncio.sleep(1)
            await flood(rules, asker)
            await restarts(rules, agent, asker)
        finally:
            await asker.close()
            agent.stop()
    print(f"rules: {rules.passed} hold, {rules.wrong} do not")
    return rules.wrong
