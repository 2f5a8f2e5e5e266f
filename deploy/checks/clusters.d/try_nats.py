"""A real agent with an account on three nodes of NATS, whose nodes are killed one after the other: it has to be connected
again, the detector has to be at work, and `seismote ctl` has to get its answer once the cluster is whole.

try_nats.py AGENT TOOL FOLDER ROOT KILLS
"""

import json
import os
import signal
import subprocess
import sys
import time

from agent import Agent
from judge import Failure, until
from nats import PASSWORD, Nats


def ctl(tool, nats, path, *words):
    return subprocess.run(
        [tool, "ctl", *(f"--broker={uri}" for uri in nats.uris()), "--mqtt", "3.1.1", "--user", "commander", "--password-file",
         path, "--ca", nats.ca, *words], capture_output=True, text=True, timeout=60, check=False)


def answers(tool, nats, path):
    """Whether the agent answers; in what it says when it does not."""
    done = ctl(tool, nats, path, "ping", "house-0")
    answers.words = done.stdout + done.stderr
    return done.returncode == 0


def connected(house):
    """Whether the last it says of the broker is that it is connected."""
    words = [line for line in house.words().splitlines() if "connected" in line]
    return bool(words) and "not connected" not in words[-1]


def main():
    agent, tool, folder, root, kills = sys.argv[1:]
    # Ended from outside, it ends its nodes, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    nats = Nats(root, folder)
    path = os.path.join(folder, "password")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PASSWORD + "\n")
    mqtt = {"uri": nats.uris(), "password_file": path, "tls": {"ca_file": nats.ca}, "protocol": "3.1.1"}
    house = Agent(agent, folder, "house-0", {
        "station": {"latitude": 35, "longitude": -117, "elevation_m": 0}, "mqtt": {**mqtt, "username": "house-0"}})
    settings = os.path.join(folder, "network.yaml")
    with open(settings, "w", encoding="utf-8") as file:
        json.dump({"mqtt": {**mqtt, "username": "seismote-network"}, "network": {"state": os.path.join(folder, "state")}}, file)
    detector = None
    try:
        print(f"three nodes of NATS are up after {nats.up():.1f} s")
        house.start()
        # The first sessions need a leader; one client at a time.
        until(lambda: answers(tool, nats, path), 20, "the agent answers")
        with open(os.path.join(folder, "detector.log"), "wb") as log:
            detector = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", tool + "-network", "--config", settings],
                                        stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        for i in range(int(kills)):
            began = time.monotonic()
            nats.kill(i % 3)
            # A subscription may be refused while the cluster has no leader: the agent asks again after 10, 20, 40 s.
            until(lambda: answers(tool, nats, path), 120, "the agent answers commands")
            word = f"answers commands after {time.monotonic() - began:.1f} s"
            until(lambda: connected(house), 90, "the agent is connected")
            print(f"n{i % 3} killed: the agent {word}", flush=True)
            nats.start(i % 3)
            until(lambda i=i: nats.is_ready(i % 3), 60, "the node is back")
            until(lambda: answers(tool, nats, path), 120, "the agent answers with the node")
        with open(os.path.join(folder, "detector.log"), encoding="utf-8") as file:
            words = file.read()
        if "connected" not in words or detector.poll() is not None:
            raise RuntimeError(f"the detector is not at work: {words[-300:]}")
        return 0
    except (Failure, RuntimeError) as error:
        print(f"FAILED: {error}\n{getattr(answers, 'words', '')}\n{house.words()[-600:]}\n{nats.last_words()}")
        return 1
    finally:
        if house.running:
            house.kill()
        if detector and detector.poll() is None:
            detector.kill()
            detector.wait()
        nats.down()


if __name__ == "__main__":
    sys.exit(main())
