"""A node of RabbitMQ dies on which a reader had a session of QoS 1: RabbitMQ answers all messages that the reader was to have
with 131 from then on, though all others get them. What must be: everybody else has each event as soon as ever, no right is
said to be wanting, and when the node is back all is acknowledged.

passing.py AGENT FOLDER ROOT [SECONDS]
"""

import collections
import json
import os
import subprocess
import sys
import time

from agent import Agent
from judge import Failure, expect, until
from rabbit import Cluster

NAME = "house"
TOPIC = f"seismote/{NAME}"


class Reader:
    """mosquitto_sub with what has come to it, and when (s)."""

    def __init__(self, folder, name, port):
        self.path = os.path.join(folder, name + ".messages")
        with open(self.path, "wb") as out:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "mosquitto_sub", "-p", str(port), "-u", "everybody", "-P", "everybody-secret", "-q", "1",
                 "-t", f"{TOPIC}/event/+", "-t", f"{TOPIC}/state/alert/+", "-t", f"{TOPIC}/state/config", "-t", f"{TOPIC}/state/health",
                 "-F", "%U %t %p"], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL)

    def messages(self):
        with open(self.path, encoding="utf-8") as file:
            for line in file:
                if line.endswith("\n"):
                    at, topic, payload = line.split(" ", 2)
                    yield float(at), topic, json.loads(payload) if payload.strip() else None

    def events(self):
        """(sequence number, kind): when it came each time."""
        found = collections.defaultdict(list)
        for at, topic, payload in self.messages():
            if topic == f"{TOPIC}/event/trigger":
                found[payload["seq"], payload["event_type"]].append(at)
        return found

    def alerts(self):
        """Codes of the alerts that were raised, and of those that there are now."""
        seen, now = set(), set()
        for _, topic, payload in self.messages():
            if "/state/alert/" in topic:
                code = topic.rsplit("/", 1)[1]
                if payload and payload.get("active", True):
                    seen.add(code)
                    now.add(code)
                else:
                    now.discard(code)
        return seen, now


def main():
    program, folder, root, *rest = sys.argv[1:]
    away = float(rest[0]) if rest else 90
    cluster, agent, readers = Cluster(root, folder), None, []
    try:
        print(f"three nodes of RabbitMQ are up after {cluster.up():.0f} s", flush=True)
        cluster.everybody()
        on_dead, other = (Reader(folder, name, cluster.ports["mqtt"][node]) for name, node in (("dead", 0), ("other", 1)))
        readers = [on_dead, other]
        agent = Agent(program, folder, NAME, {
            "waveform": {"enabled": False},
            "mqtt": {"uri": [cluster.uris("mqtts")[2]], "username": NAME, "password_file": cluster.account("station", NAME),
                     "tls": {"ca_file": cluster.ca}}}).start()
        until(lambda: len(on_dead.events()) >= 3 and len(other.events()) >= 3, 60, lambda: f"events: {agent.words()[-500:]}")

        cluster.kill(0)
        killed = time.time()
        time.sleep(away)
        back = time.time()
        words = agent.words()
        refused = words.count("reason=131")
        print(f"n0 dead for {back - killed:.0f} s; refusals with 131 that the log has (1st, 2nd, 4th ...): {refused}", flush=True)
        expect(refused, "RabbitMQ refused nothing: this tries nothing")
        during = {key: times[0] for key, times in other.events().items() if times[0] > killed + 5}
        onsets = sorted(key[0] for key in during if key[1] == "onset")
        seen, _ = other.alerts()
        print(f"the other reader got {len(during)} messages of {len(onsets)} events meanwhile; alerts: {', '.join(sorted(seen)) or 'none'}", flush=True)
        expect("write_denied" not in seen, "a right is said to be wanting")
        expect("mqtt_refused" in seen, "nothing says that the broker refuses messages")

        cluster.start(0)
        wait = until(lambda: cluster.is_ready(0), 120, cluster.last_words)
        print(f"n0 is ready after {wait:.0f} s", flush=True)
        # What was made while the node was away, by the station's own count: a hole would be seen in its numbers.
        wait = until(lambda: not other.alerts()[1] & {"mqtt_refused", "write_denied"}, 180, lambda: f"alerts: {other.alerts()[1]}")
        print(f"no alert any more {wait:.0f} s later", flush=True)
        events = other.events()
        late = [key for key in events if key[0] > min(k[0] for k in events)]
        numbers = {key[0] for key in events}
        holes = [one for one in range(min(numbers), max(numbers)) if one not in numbers]
        expect(not holes, f"{len(holes)} messages of {len(late)} never came to the other reader: {holes[:10]}")
        # Each one is made 1 s after the one before or later: by the order of the first arrivals nothing was held back.
        firsts = sorted((times[0], key[0]) for key, times in events.items())
        overtaken = sum(1 for one, next_ in zip(firsts, firsts[1:]) if next_[1] < one[1])
        twice = sum(len(times) - 1 for times in events.values())
        print(f"{len(events)} messages of events, each came; {overtaken} came after a later one; {twice} came again", flush=True)
        expect(overtaken == 0, f"{overtaken} messages of events were held back")
        agent.process.terminate()
        expect(agent.process.wait(30) == 0, "the agent ends in order")
    finally:
        if agent and agent.running:
            agent.kill()
        for one in readers:
            one.process.kill()
        cluster.down()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"error: {failure}")
