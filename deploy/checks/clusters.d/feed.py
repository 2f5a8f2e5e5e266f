"""`seismote-feed` on three nodes of RabbitMQ or NATS, with an account of its own: ObsPy's SeedLink client reads real
stations while each node is killed in turn. Each sample comes once and in order, or is declared missing.

feed.py KIND AGENT FEED FOLDER ROOT     KIND: rabbitmq or nats
"""

import json
import os
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "feed.d"))

# pylint: disable=wrong-import-position
from agent import Agent  # noqa: E402
from judge import Failure, expect, until  # noqa: E402
from program import Feed  # noqa: E402
from readers import Reader  # noqa: E402
from samples import judge_order  # noqa: E402

# (nats-accounts.conf has one station.)
STATIONS = {"rabbitmq": [("json", "HOUSE"), ("mseed2", "BARN")], "nats": [("mseed2", "HOUSE")]}
RATE = 100


def cluster_of(kind, root, folder):
    """(cluster, what everybody's settings of mqtt have, password file of a role and name)"""
    if kind == "nats":
        from nats import PASSWORD, Nats
        cluster = Nats(root, folder)
        path = os.path.join(folder, "password")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PASSWORD + "\n")
        return cluster, {"uri": cluster.uris(), "tls": {"ca_file": cluster.ca}, "protocol": "3.1.1"}, lambda role, name: path
    from rabbit import Cluster
    cluster = Cluster(root, folder)
    return cluster, {"uri": cluster.uris("mqtts"), "tls": {"ca_file": cluster.ca}}, cluster.account


def main():
    kind, program, feed_program, folder, root = sys.argv[1:]
    stations = STATIONS[kind]
    cluster, mqtt, account = cluster_of(kind, root, folder)
    agents, feed, reader = [], None, None
    try:
        print(f"three nodes of {kind} are up after {cluster.up():.0f} s", flush=True)
        for i, (encoding, code) in enumerate(stations):
            name = f"house-{i}"
            agents.append(Agent(program, folder, name, {
                "station": {"code": code, "latitude": 35.0 + i, "longitude": -117.0, "elevation_m": 10},
                "trace": {"rate_hz": RATE, "signals": ["raw"], "encoding": encoding},
                "mqtt": {**mqtt, "username": name, "password_file": account("station", name)}}).start())
        settings = os.path.join(folder, "feed.yaml")
        with open(settings, "w", encoding="utf-8") as file:
            json.dump({"mqtt": {**mqtt, "username": "seismote-feed", "password_file": account("feed", "seismote-feed")}}, file)
        feed = Feed(feed_program, os.path.join(folder, "feed"), ["--config", settings]).start()
        known = until(lambda: feed.get("/metrics").count('seismote_station_online{station="house-') == len(stations), 60,
                      lambda: f"the feed knows the stations: {feed.words()[-800:]}")
        print(f"the feed knows the stations {known:.1f} s after its start", flush=True)
        began = time.monotonic()
        reader = Reader(feed.seedlink, [f"XX_{code}" for _, code in stations])
        until(lambda: reader.count() > 10, 30, lambda: f"ObsPy reads something: {feed.words()[-500:]}")
        for i in range(cluster.size):
            cluster.kill(i)
            before = reader.count()
            time.sleep(4)
            cluster.start(i)
            until(lambda i=i: cluster.is_ready(i), 120, cluster.last_words)
            wait = until(lambda before=before: reader.count() > before + 10, 90, lambda: f"ObsPy reads on: {feed.words()[-800:]}")
            print(f"n{i} killed and back; ObsPy reads on ({wait:.1f} s after that)", flush=True)
            time.sleep(8)
        # What is missing is declared after feed.patience_s.
        time.sleep(18)
        lasted = time.monotonic() - began
        expect(reader.failure is None, f"ObsPy's client ended: {reader.failure!r}")
        reader.stop()
        wrong = []
        samples, gaps = judge_order(reader, feed.missing(), lambda right, text: right or wrong.append(text))
        expect(not wrong, "; ".join(wrong[:5]))
        # (While the broker elects and the agents come back traces are lost: they have QoS 0.)
        wanted = len(stations) * 3 * RATE * lasted
        print(f"{samples} samples, {100 * samples / wanted:.0f} % of what was measured, each once and in order; {gaps} gaps, all declared; "
              f"stations {', '.join(sorted(reader.numbers))}", flush=True)
        expect(len(reader.numbers) == len(stations), f"only {', '.join(reader.numbers)}")
        expect(samples > 0.4 * wanted, "less than two fifths of the samples came")
        os.kill(feed.process.pid, signal.SIGTERM)
        expect(feed.process.wait(15) == 0, "the feed did not end in order")
    finally:
        if reader and not reader.ending:
            reader.ending = True
        for one in agents:
            if one.running:
                one.kill()
        if feed and feed.process.poll() is None:
            feed.kill()
        cluster.down()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"error: {failure}")
