"""Many clients, some of which nobody wants: crowd.py FEED FOLDER SECONDS CLIENTS BAD MEGABYTES, see deploy/checks/feed.

A feed over a ring of so many megabytes. The good clients ask for INFO, for the web services, or take packets as they come;
the bad ones have 2000 selectors that match nothing, ask for all that the ring has, for one rare channel of it, or for
long answers without reading them. Judged: how long a good client waits, and what the feed itself says of it."""

import asyncio
import itertools
import json
import os
import sqlite3
import ssl
import subprocess
import sys
import time
import types
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import obspy
from obspy.io.stationxml.core import validate_stationxml

from certificates import openssl
from client import Client
from kinds import Mosquitto, free_port
from processors import Processors
from program import Feed
from verdict import Judge, finish, verdict

SELECTORS, STATIONS, WAITING = 2000, 20, 30
judge = Judge(aloud=True)
expect = judge.expect


def fill(folder, megabytes):
    """Records of some hours before now, of several stations; one rare channel has its record at the end."""
    import io
    trace = obspy.Trace((np.arange(400) * 7919 % 3000).astype(np.int32), {
        "network": "XX", "station": "S0", "location": "00", "channel": "HNZ", "sampling_rate": 100})
    file = io.BytesIO()
    trace.write(file, format="MSEED", reclen=512, encoding="STEIM2")
    record = file.getvalue()[:512]
    count = megabytes * 1_000_000 // 620 // STATIONS
    end = time.time_ns() - 10**9
    ring = sqlite3.connect(os.path.join(folder, "feed.db"))
    for station in range(1, STATIONS + 1):
        ring.execute("INSERT INTO station VALUES(?, ?, 'XX', ?, ?)", (station, f"s{station}", f"S{station}", count))
        for channel, code in ((2 * station, "HNZ"), (2 * station + 1, "HNQ")):
            ring.execute("INSERT INTO channel VALUES(?, ?, '00', ?, 100, NULL)", (channel, station, code))
        step = min(4 * 10**9, 5 * 86_400 * 10**9 // count)
        ring.executemany(
            "INSERT INTO packet VALUES(?, ?, ?, ?, ?)",
            ((station << 40 | number, 2 * station + (number == count), end - (count - number) * step,
              end - (count - number) * step + 3_990_000_000, record) for number in range(1, count + 1)))
    ring.commit()
    ring.close()


class Crowd:
    def __init__(self, feed, network=1):
        self.feed, self.waits, self.ending = feed, {"INFO": [], "web": []}, False
        self.packets = self.cut = 0
        self.addresses = (f"127.{network}.{index // 250}.{1 + index % 250}" for index in itertools.count())

    async def open(self, port, limit=1 << 16):
        # Each has an address of its own, as clients have.
        return await asyncio.open_connection("127.0.0.1", port, local_addr=(next(self.addresses), 0), limit=limit)

    async def again(self, body):
        while not self.ending:
            try:
                await body()
            except (OSError, asyncio.IncompleteReadError):
                self.cut += 1
            await asyncio.sleep(0.2)

    # Good ones

    async def inform(self):
        reader, writer = await self.open(self.feed.seedlink)
        while not self.ending:
            start = time.monotonic()
            writer.write(b"INFO ID\r\n")
            while (await reader.readexactly(520)).startswith(b"SLINFO *"):
                pass
            self.waits["INFO"].append((start, time.monotonic()))
            await asyncio.sleep(0.5)
        writer.close()

    async def browse(self):
        paths = ["/metrics", "/fdsnws/station/1/query?format=text", "/fdsnws/event/1/query?minmagnitude=3&nodata=404",
                 "/fdsnws/dataselect/1/version"]
        for path in itertools.cycle(paths):
            if self.ending:
                return
            start = time.monotonic()
            reader, writer = await self.open(self.feed.web)
            writer.write(f"GET {path} HTTP/1.1\r\nHost: check\r\nConnection: close\r\n\r\n".encode())
            await reader.read()
            self.waits["web"].append((start, time.monotonic()))
            writer.close()
            await asyncio.sleep(1)

    async def follow(self):
        reader, writer = await self.open(self.feed.seedlink)
        writer.write(b"STATION * XX\r\nDATA\r\nEND\r\n")
        await reader.readexactly(8)
        while not self.ending:
            try:
                await asyncio.wait_for(reader.readexactly(520), 5)
                self.packets += 1
            except TimeoutError:
                pass
        writer.close()

    # Bad ones

    async def select_nothing(self):
        reader, writer = await self.open(self.feed.seedlink)
        for station in range(1, STATIONS + 1):
            writer.write(f"STATION S{station} XX\r\n".encode())
            writer.write(b"".join(b"SELECT Q%02d.D\r\n" % (number % 100) for number in range(SELECTORS // STATIONS)))
            writer.write(b"DATA 1\r\n")
        writer.write(b"END\r\n")
        while not self.ending and await asyncio.wait_for(reader.read(1 << 16), 600):
            pass

    async def select_all_in_one(self):
        reader, writer = await self.open(self.feed.seedlink)
        writer.write(b"STATION * *\r\n" + b"SELECT QQQ.D\r\n" * SELECTORS + b"DATA 1\r\nEND\r\n")
        while not self.ending and await asyncio.wait_for(reader.read(1 << 16), 600):
            pass

    async def select_rare(self):
        reader, writer = await self.open(self.feed.seedlink)
        writer.write(b"STATION * XX\r\nSELECT HNQ.D\r\nFETCH 1\r\nEND\r\n")
        while not self.ending and await reader.read(1 << 16):
            pass
        writer.close()

    async def take_all(self):
        reader, writer = await self.open(self.feed.seedlink)
        writer.write(b"STATION * XX\r\nFETCH 1\r\nEND\r\n")
        while not self.ending and await reader.read(1 << 18):
            pass
        writer.close()

    async def never_read(self):
        _, writer = await self.open(self.feed.seedlink, limit=1)
        for _ in range(50):
            writer.write(b"INFO STREAMS\r\n" * 100)
            await asyncio.sleep(0.2)
        writer.close()

    async def select_much(self):
        reader, writer = await self.open(self.feed.web)
        start = "2000-01-01T00:00:00"
        writer.write(f"GET /fdsnws/dataselect/1/query?net=XX&longestonly=true&start={start} HTTP/1.1\r\nHost: check\r\n"
                     "Connection: close\r\n\r\n".encode())
        while not self.ending and await reader.read(1 << 18):
            pass
        writer.close()


async def liars(broker, feed):
    """What stations say that is not so harms nobody else, and is counted."""
    client = Client("liars", version=5)
    await client.connect(broker.port)

    async def say(topic, value):
        await client.publish(f"seismote/{topic}", json.dumps(value).encode(), qos=1)

    def stamp(seconds):
        return obspy.UTCDateTime(time.time() + seconds).isoformat() + "Z"

    for name, station in (("good", {"latitude": 35.0}), ("far", {"latitude": 1e308}), ("long", {"code": "ABCDEFGH"}),
                          ("fast", {"latitude": 36.0})):
        await say(f"{name}/state/info", {"station": {"id": name, "network": "LI", "code": name.upper(), "longitude": 10.0,
                                                     **station}, "sensor": {"rate_hz": 100}})
        await say(f"{name}/state/config", {"config": {}})
    await say("good/event/trigger", {"event_type": "end", "event_id": "good-1", "onset": stamp(-9), "pga": 1.25})
    await say("far/event/trigger", {"event_type": "end", "event_id": "good-1", "onset": stamp(-9), "pga": 9.5})
    await say("far/event/trigger", {"event_type": "end", "event_id": "far-1", "onset": "2190-01-01T00:00:00Z"})
    for second in range(12):
        for name in ("good", "far", "long", "fast"):
            late = 3000 if name == "fast" and second < 4 else 0
            await say(f"{name}/data/trace", {"t": stamp(late - 1), "rate_hz": 100, "z": {"raw": [0.01] * 100}})
        await asyncio.sleep(1)
    # (A station is listed from its first whole record on, which a busy machine writes later.)
    end = time.monotonic() + 10
    while len(rows := feed.get("/fdsnws/station/1/query?net=LI&format=text").splitlines()[1:]) < 2 and time.monotonic() < end:
        await asyncio.sleep(0.5)
    expect({row.split("|")[1] for row in rows} == {"GOOD", "FAST"}, f"stations served: {rows}")
    text = feed.get("/fdsnws/station/1/query?net=LI&level=response")
    valid, errors = validate_stationxml(__import__("io").BytesIO(text.encode()))
    expect(valid and "GOOD" in text and "e+308" not in text, f"StationXML beside liars: {errors}")
    events = feed.get("/fdsnws/event/1/query")
    expect("<value>1.25</value>" in events and "<value>9.5</value>" not in events, "an event of another station")
    metrics = feed.get("/metrics")
    for reason, least in (("place", 1), ("codes", 1), ("owner", 1), ("future", 5)):
        found = [line for line in metrics.splitlines() if line.startswith(f'seismote_feed_refused_total{{reason="{reason}"}}')]
        expect(found and float(found[0].split()[1]) >= least, f"refused by {reason}: {found}")
    for words in ("station far: station.latitude", "station long: is not served", "feed.ahead_s"):
        expect(words in feed.words(), f"the log does not say `{words}`")
    await client.close()


def encrypted(program, folder, broker):
    """TLS and accounts: SeedLink 4 and the web services, by the clients of Python."""
    os.makedirs(os.path.join(folder, "tls"), exist_ok=True)
    cert, key, accounts = (os.path.join(folder, "tls", name) for name in ("cert.pem", "key.pem", "accounts"))

    def certify(days):
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", str(days), "-subj",
                "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", folder=folder)

    certify(30)
    # (Rounds that take a processor about a tenth of a second.)
    hashed = subprocess.run(["openssl", "passwd", "-6", "-salt", "rounds=200000$seismote", "sesame"], check=True,
                            capture_output=True, text=True).stdout.strip()
    with open(accounts, "w", encoding="utf-8") as file:
        file.write(f"ali:{hashed}\n")
    first = Feed(program, os.path.join(folder, "tls"), ["--broker", f"127.0.0.1:{broker.port}"])
    ports = {"seedlink": first.seedlink, "web": first.web}
    secure, https = free_port(), free_port()
    first.lines = (f"feed.seedlink_tls_port={secure}", f"feed.web_tls_port={https}", f"feed.tls_cert_file={cert}",
                   f"feed.tls_key_file={key}", f"feed.accounts_file={accounts}", "feed.client_id=tls",
                   "feed.idle_s=1", "feed.proxies=[127.0.0.1]", "feed.without_account=[203.0.113.0/24]")
    feed = first.start(https)
    trust = ssl.create_default_context(cafile=cert)

    def web(url, header=None, context=trust):
        request = urllib.request.Request(url, headers=header or {})
        try:
            with urllib.request.urlopen(request, timeout=10, context=context) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    import base64
    good = {"Authorization": "Basic " + base64.b64encode(b"ali:sesame").decode()}
    bad = {"Authorization": "Basic " + base64.b64encode(b"ali:sesam").decode()}
    url = f"https://localhost:{https}/metrics"
    for header, status in ((None, 401), (bad, 401), (good, 200), (good, 200)):
        expect(web(url, header) == status, f"{url} with {header}: not {status}")
    # Of a proxy that is trusted: for whom it asks counts.
    plain = f"http://127.0.0.1:{ports['web']}/metrics"
    expect(web(plain, {"X-Forwarded-For": "203.0.113.9"}, None) == 200, "an address without account, behind a proxy")
    expect(web(plain, {"X-Forwarded-For": "203.0.113.9, 198.51.100.7"}, None) == 401, "an address that says it is another")

    def talk(*lines):
        import socket
        with trust.wrap_socket(socket.create_connection(("127.0.0.1", secure), 60), server_hostname="localhost") as sock:
            answers = []
            for text in lines:
                sock.sendall(text.encode() + b"\r\n")
                answer = b""
                while not answer.endswith(b"\n"):
                    part = sock.recv(1)
                    if not part:
                        break
                    answer += part
                answers.append(answer.decode().strip().split(" ")[0:2])
            return answers

    expect(talk("SLPROTO 4.0", "STATION XX_A") == [["OK"], ["ERROR", "UNAUTHORIZED"]], "SeedLink without an account")
    expect(talk("SLPROTO 4.0", "AUTH USERPASS ali sesam", "STATION XX_A")[1:] == [["ERROR", "UNAUTHORIZED"]] * 2,
           "SeedLink with another password")
    # Far more passwords than are checked within `feed.idle_s`: who waits for the answer is not cut as idle.
    with ThreadPoolExecutor(WAITING) as threads:
        refused = [["OK"], ["ERROR", "UNAUTHORIZED"]]
        answers = list(threads.map(lambda _: talk("SLPROTO 4.0", "AUTH USERPASS ali sesam") == refused, range(WAITING)))
    expect(all(answers), f"{answers.count(False)} of {WAITING} that waited for their password were cut")
    expect(talk("SLPROTO 4.0", "AUTH USERPASS ali sesame", "STATION XX_A") == [["OK"]] * 3, "SeedLink with an account")
    # A renewed certificate is taken without a restart.
    certify(60)
    trust = ssl.create_default_context(cafile=cert)
    expect(web(url, good, trust) == 200, "a renewed certificate is not taken")
    metrics = [line for line in feed_metrics(https, good, trust) if line.startswith("seismote_feed_failed_logins_total ")]
    expect(metrics and float(metrics[0].split()[1]) == 2 + WAITING, f"failed logins: {metrics}")
    feed.kill()


def feed_metrics(port, header, context):
    request = urllib.request.Request(f"https://localhost:{port}/metrics", headers=header)
    with urllib.request.urlopen(request, timeout=10, context=context) as answer:
        return answer.read().decode().splitlines()


async def nobody_wants(seedlink, web, count):
    """The bad ones, until nobody writes to this program any more; prints how often they were cut."""
    crowd = Crowd(types.SimpleNamespace(seedlink=seedlink, web=web), 2)
    kinds = [crowd.select_nothing, crowd.select_all_in_one, crowd.select_rare, crowd.take_all, crowd.never_read,
             crowd.select_much]
    tasks = [asyncio.create_task(crowd.again(kinds[index % len(kinds)])) for index in range(count)]
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    crowd.ending = True
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    print(crowd.cut)


async def main():
    program, folder, seconds, count, bad, megabytes = *sys.argv[1:3], *map(int, sys.argv[3:])
    broker = Mosquitto(folder, "crowd-broker")
    await broker.start()
    encrypted(program, folder, broker)
    home = os.path.join(folder, "crowd")
    feed = Feed(program, home, ["--broker", f"127.0.0.1:{broker.port}"], "feed.client_id=crowd", "feed.megabytes=2000",
                "feed.clients=600", "feed.stream_idle_s=1000", "feed.ahead_s=10").start()
    feed.kill()
    fill(home, megabytes)
    feed.start()
    await liars(broker, feed)
    crowd = Crowd(feed)
    goods = [crowd.inform, crowd.browse, crowd.follow]
    tasks = [asyncio.create_task(crowd.again(goods[index % 3])) for index in range(count - bad)]
    processors = Processors(feed.process)
    watch = asyncio.create_task(processors.watch())
    await asyncio.sleep(5)

    def told():
        """{INFO, web: (longest, 99 %, longest and 99 % without the time for which there was no processor)}"""
        found = {}
        for name, waits in crowd.waits.items():
            plain = [end - begin for begin, end in waits] or [0]
            own = [processors.without(begin, end) for begin, end in waits] or [0]
            found[name] = (max(plain), float(np.percentile(plain, 99)), max(own), float(np.percentile(own, 99)))
        return found

    alone = told()
    for waits in crowd.waits.values():
        waits.clear()
    # (By a process of their own: who takes a gigabyte keeps his own clock from counting.)
    others = subprocess.Popen([sys.executable, "-B", __file__, "--bad", str(feed.seedlink), str(feed.web), str(bad)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    said, end = {"wait": 0.0, "work": 0.0}, time.monotonic() + seconds
    loop = asyncio.get_running_loop()
    while time.monotonic() < end:
        await asyncio.sleep(min(5, seconds))
        try:
            lines = (await loop.run_in_executor(None, feed.get, "/metrics")).splitlines()
        except OSError as error:
            expect(False, f"/metrics of the feed: {error}")
            continue
        for name, longest in said.items():
            found = [float(line.split()[1]) for line in lines if line.startswith(f"seismote_feed_longest_{name}_seconds ")]
            expect(found, f"/metrics of the feed has no seismote_feed_longest_{name}_seconds")
            said[name] = max([longest, *found])
    expect(others.poll() is None, "the bad clients have ended")
    cut = int(others.communicate(timeout=60)[0] or 0)
    expect(feed.running, f"the feed has died: {feed.words()[-500:]}")
    processor, now, most = feed.cost()
    crowd.ending = True
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(2 * Processors.STEP)
    watch.cancel()
    for name, (longest, usual, own, own_usual) in told().items():
        print(f"{count} clients with {bad} bad ones for {seconds} s, ring {megabytes} MB: {name} of a good one {longest * 1000:.0f} ms "
              f"at most, 99 % {usual * 1000:.0f} ms; with a processor at hand {own * 1000:.0f} ms, 99 % {own_usual * 1000:.0f} ms; "
              f"{len(crowd.waits[name])} requests; without the bad ones {alone[name][0] * 1000:.0f} ms, with a processor at hand "
              f"{alone[name][2] * 1000:.0f} ms")
        # (Other work of this machine does not count; what the clients themselves need does.)
        expect(crowd.waits[name] and own_usual <= 1 and own <= 2, f"{name}: {own * 1000:.0f} ms, 99 % {own_usual * 1000:.0f} ms")
    print(f"by the feed's own account somebody waited for {said['wait'] * 1000:.0f} ms at most, {said['work'] * 1000:.0f} ms at most "
          f"because it worked for others; {processor:.1f} s of processor, {now:.0f} MiB, at most {most:.0f} MiB; {crowd.packets} "
          f"packets, {crowd.cut} times cut, bad ones {cut} times")
    expect(said["work"] <= 0.1, f"the feed worked for others for {said['work'] * 1000:.0f} ms, more than 100 ms")
    expect(most < 300, f"{most:.0f} MiB")
    feed.kill()
    broker.stop()
    if judge.complaints:
        print(feed.words()[-1500:])
    return verdict(judge.complaints)


finish(nobody_wants(*map(int, sys.argv[2:])) if sys.argv[1] == "--bad" else main())
