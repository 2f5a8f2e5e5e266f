"""run.py AGENT FEED FOLDER SECONDS STATIONS CLIENTS FLEET: see deploy/checks/feed."""

import asyncio
import io
import json
import os
import random
import subprocess
import sys
import time
import urllib.request

import numpy as np
import obspy
from obspy.clients.fdsn import Client as FDSN
from obspy.clients.fdsn.header import FDSNNoDataException
from obspy.io.stationxml.core import validate_stationxml

import fleet
import hostile
from agent import Agent
from client import Client
from kinds import Mosquitto
from outputs import DataLink, Shake
from program import Feed
from readers import Light, Reader, fetch4
from samples import UNIT, differences, judge_numbers, judge_order, series
from verdict import Judge, finish, verdict, within

KINDS = [  # encoding, rate of the traces, signals
    ("json", 100, ["raw"]), ("mseed2", 100, ["raw"]), ("cbor", 20, ["raw", "filtered"]), ("json", 25, ["filtered"]),
]
judge = Judge(aloud=True)
expect = judge.expect


def address(broker):
    return ["--broker", f"127.0.0.1:{broker.port}"]


def code(index):
    return f"S{index}"


def stations_of(program, folder, count, port):
    agents = []
    for index in range(count):
        encoding, rate, signals = KINDS[index % len(KINDS)]
        agents.append(Agent(program, folder, f"station{index}", {
            "station": {"code": code(index), "latitude": 35.0 + index, "longitude": -117.0, "elevation_m": 10},
            "trace": {"rate_hz": rate, "signals": signals, "encoding": encoding},
            "mqtt": {"uri": [f"mqtt://127.0.0.1:{port}"]}}))
    return agents


async def snapshot(client, station, begin, end):
    """What the station has on its disk: {channel: {ns: counts of 1 µm/s²}}."""
    got, replies = [], []

    def take(message):
        if "/data/history/waveform/check-" in message.topic:
            got.append(bytes(message.payload))
        elif message.topic.endswith(f"/res/check-{station}"):
            replies.append(json.loads(message.payload))

    client.take = take
    await client.publish(f"seismote/{station}/cmd/snapshot", json.dumps(
        {"id": f"check-{station}", "from": str(begin), "to": str(end)}).encode())
    await within(lambda: any(reply["phase"] != "accepted" for reply in replies), 30, every=0.1)
    final = replies[-1] if replies else {}
    expect(final.get("phase") == "done", f"{station}: no snapshot: {final}")
    await asyncio.sleep(1)
    if not got:
        return {}
    unit, found = final["result"]["unit_per_count"], {}
    for trace in obspy.read(io.BytesIO(b"".join(got))):
        found.setdefault(trace.id, []).append(trace)
    return {name: (series(traces, unit), unit / UNIT) for name, traces in found.items()}


def judge_values(reader, truth):
    """At the full rate the samples are those that the station has on its disk."""
    compared = 0
    for name, (known, unit) in truth.items():
        wrong = differences(series(reader.traces.get(name, [])), known)
        compared += len(wrong)
        # (Traces as JSON are 32-bit floats: half a count of gravity.)
        worst = np.abs(wrong).max(initial=0)
        expect(worst <= 2 + unit, f"{name}: samples differ by up to {worst:.1f} counts from the station's disk")
    return compared


def judge_services(feed, count, reader):
    fdsn = FDSN(f"http://127.0.0.1:{feed.web}", timeout=30)
    inventory = fdsn.get_stations(network="XX", level="response")
    stations = {station.code: station for station in inventory[0]}
    raw = [index for index in range(count) if "raw" in KINDS[index % len(KINDS)][2]]
    for index in raw:
        expect(code(index) in stations, f"StationXML has no station {code(index)}")
    channels = {channel.code: channel for channel in stations[code(0)]}
    expect(set(channels) >= {"HNE", "HNN", "HNZ"}, f"channels are {sorted(channels)}")
    vertical = channels.get("HNZ")
    expect(vertical and vertical.dip == -90 and abs(vertical.response.instrument_sensitivity.value * UNIT - 1) < 1e-9,
           "the sensitivity of HNZ is not 1e6 counts for 1 m/s²")
    text = feed.get("/fdsnws/station/1/query?net=XX&level=response")
    valid, errors = validate_stationxml(io.BytesIO(text.encode()))
    expect(valid, f"StationXML: {errors}")
    # Waveforms are the samples that SeedLink has brought, cut to the time.
    name, traces = next((n, t) for n, t in reader.traces.items() if n.endswith("HNZ"))
    begin, end = traces[0].stats.starttime + 1.003, traces[-1].stats.endtime - 1.003
    network, station, location, channel = name.split(".")
    stream = fdsn.get_waveforms(network, station, location, channel, begin, end)
    expect(all(begin <= t.stats.starttime and t.stats.endtime <= end for t in stream), "samples outside of the time")
    times, values = series(traces)
    inside = (times >= begin.ns) & (times <= end.ns)
    found = series(stream)
    wrong = differences((times[inside], values[inside]), found)
    expect(len(wrong) == inside.sum() > 500 and not wrong.any(),
           f"dataselect: {len(found[0])} samples, SeedLink {inside.sum()}, at the same time {len(wrong)}, "
           f"others {np.count_nonzero(wrong)}")
    whole = max((t for t in traces), key=lambda t: t.stats.npts)
    longest = fdsn.get_waveforms(network, station, location, channel, begin, end, longestonly=True)
    longest.merge(-1)
    expect(len(longest) == 1 and longest[0].stats.npts >= whole.stats.npts - 300, f"longestonly: {longest}")
    lasting = longest[0].stats.endtime - longest[0].stats.starttime
    try:
        wrong = fdsn.get_waveforms(network, station, location, channel, begin, end, minimumlength=lasting + 1)
        expect(False, f"minimumlength={lasting + 1}: {wrong}")
    except FDSNNoDataException:
        pass
    near = fdsn.get_stations(latitude=35, longitude=-117, maxradius=0.1, startbefore=obspy.UTCDateTime())
    expect([s.code for s in near[0]] == [code(0)], f"stations within 0.1 degrees: {near}")
    judge_events(fdsn, feed)
    for path, fields in (("station/1/query?level=channel&", 17), ("station/1/query?level=station&", 8),
                         ("station/1/query?level=network&", 5), ("event/1/query?", 13)):
        rows = feed.get(f"/fdsnws/{path}format=text").splitlines()
        expect(len(rows) >= 2 and rows[0][0] == "#" and {len(row.split("|")) for row in rows} == {fields},
               f"{path} as text: {rows[:3]}")
    for path, status in (("/fdsnws/dataselect/1/query?sta=NONE", 204), ("/fdsnws/station/1/query?what=1", 400),
                         ("/fdsnws/event/1/query?start=never", 400), ("/nothing", 404)):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{feed.web}{path}", timeout=10) as answer:
                got = answer.status
        except urllib.error.HTTPError as error:
            got = error.code
        expect(got == status, f"{path}: {got}, not {status}")
    metrics = feed.get("/metrics")
    for wanted in ('seismote_station_online{station="station0"} 1', "seismote_feed_broker_connected 1",
                   "seismote_peak_ground_acceleration_meters_per_second_squared"):
        expect(wanted in metrics, f"/metrics lacks {wanted}")
    checked = subprocess.run(["promtool", "check", "metrics"], input=metrics, capture_output=True, text=True,
                             check=False)
    expect(checked.returncode == 0 and not checked.stdout + checked.stderr,
           f"promtool: {checked.stdout}{checked.stderr}")
    expect(feed.get("/metrics", Accept="application/openmetrics-text").endswith("# EOF\n"), "no OpenMetrics")
    return len(found[0]), len(fdsn.get_events())


def moment(seconds):
    """So many seconds ago."""
    return obspy.UTCDateTime(time.time() - seconds).isoformat() + "Z"


def network_event():
    return json.dumps({
        "event_type": "update", "event_id": "net-check", "version": 2, "origin_time": moment(60),
        "latitude": 35.1, "longitude": -117.2, "depth_km": 8.5, "magnitude": {"value": 4.3, "sigma": 0.3},
        "ellipse": {"semi_major_km": 3.0, "semi_minor_km": 1.5, "azimuth_deg": 40.0},
        "stations": [{"id": "station0", "onset": moment(57), "phase": "P", "residual_s": 0.1,
                      "distance_km": 15.0}]}).encode()


def judge_events(fdsn, feed):
    """Those of stations, and one of a network with its place and magnitude."""
    end = time.monotonic() + 10
    while "net-check" not in feed.get("/fdsnws/event/1/query") and time.monotonic() < end:
        time.sleep(0.1)
    events = fdsn.get_events()
    expect(any(not event.origins and event.picks[0].waveform_id.network_code == "XX" for event in events),
           "no events of stations")
    located = fdsn.get_events(minmagnitude=4, maxlatitude=36)
    expect(len(located) == 1, f"{len(located)} events with a magnitude")
    # The newest event has no magnitude: conditions hold before the limit counts.
    for words in ({"minmagnitude": 4, "limit": 1}, {"latitude": 35, "longitude": -117, "maxradius": 0.5, "minmagnitude": 4},
                  {"orderby": "magnitude", "limit": 1}, {"updatedafter": obspy.UTCDateTime() - 300, "mindepth": 1},
                  {"eventid": "net-check", "limit": 1}):
        found = fdsn.get_events(**words)
        expect(len(found) == 1 and found[0].preferred_magnitude().mag == 4.3, f"events by {words}: {found}")
    first, second = (fdsn.get_events(limit=1, offset=number)[0].resource_id for number in (1, 2))
    expect(first != second, "offset=2 is the same event as offset=1")
    if len(located) == 1:
        event = located[0]
        origin, magnitude = event.preferred_origin(), event.preferred_magnitude()
        expect((origin.latitude, origin.longitude, origin.depth, magnitude.mag) == (35.1, -117.2, 8500, 4.3),
               f"network event: {origin} {magnitude}")
        expect(event.picks[0].waveform_id.station_code == code(0) and origin.arrivals[0].phase == "P"
               and origin.origin_uncertainty.max_horizontal_uncertainty == 3000, f"network event: {event}")


async def judge_beyond(program, folder, broker, name, known):
    """A feed that has just begun fetches from the station's disk what was before it: all that is there. Returns the
    number of samples."""
    young = Feed(program, os.path.join(folder, "young"), address(broker), "feed.idle_s=60",
                 "feed.client_id=young").start()
    fdsn = FDSN(f"http://127.0.0.1:{young.web}", timeout=40)
    network, station, location, channel = name.split(".")
    await within(lambda: f"|{station}|" in young.get("/fdsnws/station/1/query?format=text"), 40, every=0.5)
    # (What was on the way to the disk when the station was killed is not there.)
    times, values = known
    begin = obspy.UTCDateTime(ns=int(max(times[0], times[-1] - 60e9))) + 1.003
    finish = begin + 20

    def read():
        return fdsn.get_waveforms(network, station, location, channel, begin, finish)

    stream = await asyncio.get_running_loop().run_in_executor(None, read)
    inside = (times >= begin.ns) & (times <= finish.ns)
    found = series(stream)
    wrong = differences((times[inside], values[inside]), found)
    expect(len(wrong) == inside.sum() > 500 and np.abs(wrong).max(initial=0) <= 3,
           f"dataselect beyond the ring: {len(found[0])} samples, the station's disk {inside.sum()}, "
           f"same time {len(wrong)}, differ by {np.abs(wrong).max(initial=0):.1f}")
    # Once more: they are in the ring now, and each is there once.
    again = await asyncio.get_running_loop().run_in_executor(None, read)
    expect(sum(len(t) for t in again) == len(found[0]), "fetched samples come twice")
    young.kill()
    return len(found[0])


async def main():
    agent, program, folder, seconds, count, clients, size = *sys.argv[1:4], *map(int, sys.argv[4:])
    broker = Mosquitto(folder, "broker")
    await broker.start()
    agents = stations_of(agent, folder, count, broker.port)
    taker, shake = DataLink(), Shake()
    feed = Feed(program, os.path.join(folder, "feed"), address(broker), f"feed.datalink=127.0.0.1:{taker.port}",
                f'feed.shake={{station0: "127.0.0.1:{shake.port}"}}').start()
    for one in agents:
        one.start()
    names = [f"XX_{code(index)}" for index in range(count)]
    await within(lambda: feed.get("/metrics").count("seismote_station_online") >= count + 2, 40, every=0.2)
    # A client that asks for a station that is not there yet is refused nothing: it comes when it comes.
    reader = Reader(feed.seedlink, names)
    second = Reader(feed.seedlink, names)
    others = [Light(feed.seedlink, names) for _ in range(clients)]
    dice = random.Random(1)
    began, kills = time.monotonic(), {"feed": 0, "broker": 0, "station": 0}
    plan = ["feed", "broker", "station"]
    wrong = []
    attacked = asyncio.get_running_loop().run_in_executor(None, hostile.attack, feed.seedlink, feed.web, 300)
    pause = max(8, seconds / 40)
    await asyncio.sleep(6)
    while time.monotonic() - began < seconds - pause:
        kind = plan.pop(0) if plan else dice.choice(["feed", "broker", "station"])
        kills[kind] += 1
        if kind == "feed":
            if not attacked.done():
                wrong += await attacked
            feed.kill()
            await asyncio.sleep(dice.uniform(0.2, 2))
            feed.start()
        elif kind == "broker":
            broker.stop()
            await asyncio.sleep(dice.uniform(0.2, 2))
            await broker.start()
        else:
            one = dice.choice(agents)
            one.kill()
            await asyncio.sleep(dice.uniform(0.2, 2))
            one.start()
        await asyncio.sleep(pause)
    if not attacked.done():
        wrong += await attacked
    for text in wrong:
        expect(False, text)
    await asyncio.sleep(16)
    expect(feed.running, f"the feed has died: {feed.words()[-800:]}")
    processor, now, most = feed.cost()
    client = Client("check", version=5)
    await client.connect(broker.port)
    for pattern in ("seismote/+/res/+", "seismote/+/data/history/waveform/+"):
        await client.subscribe(pattern)
    await client.publish("seismote/station0/cmd/test-event", b'{"id": "check-event"}')
    truth = {}
    for index, one in enumerate(agents):
        if KINDS[index % len(KINDS)][1] != 100:
            continue
        times = [t.stats for n, ts in reader.traces.items() if f".{code(index)}." in n for t in ts]
        expect(times, f"no data of {code(index)}")
        if times:
            truth.update(await snapshot(client, one.station, min(t.starttime for t in times),
                                        max(t.endtime for t in times)))
    for _ in range(200):
        try:
            if "quakeml" in feed.get("/fdsnws/event/1/query"):
                break
        except OSError:
            pass
        await asyncio.sleep(0.1)
    await client.publish("seismote/network/event", network_event())
    pulled, events = judge_services(feed, count, reader)
    vertical = f"XX.{code(0)}.00.HNZ"
    beyond = await judge_beyond(program, folder, broker, vertical, truth[vertical][0])
    for one in (reader, second, *others):
        expect(one.failure is None, f"ObsPy's client ended: {one.failure!r}")
    for one in (reader, second, *others):
        one.stop()
    given, twice = taker.judge(reader, expect)
    cast = shake.judge(series, reader, code(0), expect, differences)
    expect(cast > 300 * 0.5 * seconds, f"only {cast} samples of the Shake's datagrams compared")
    missing = feed.missing()
    samples, gaps = judge_order(reader, missing, expect)
    judge_order(second, missing, expect)
    for one in others:
        judge_numbers(one, expect)
        expect(one.records > 0.8 * len(reader.records), f"a client has {one.records} records only")
    compared = judge_values(reader, truth)
    expect(set(reader.numbers) == set(names), f"stations read: {sorted(reader.numbers)}")
    expect(compared > 0.5 * 300 * seconds, f"only {compared} samples compared with the stations' disks")
    four = fetch4(feed.seedlink, names[0])
    known = {number: record for number, station, record in four if station == names[0]}
    same = [record for record in reader.records if record[8:13].strip() == code(0).encode()]
    expect(all(known.get(number) == record for number, record in zip(reader.numbers[names[0]], same)) and same,
           "version 4 has other records than version 3")
    for one in agents:
        one.stop()
    feed.stop(10)
    expect(feed.process.returncode == 0, "the feed did not end politely")
    print(f"{count} stations, 2 ObsPy clients and {clients} others, {seconds} s, kills {kills}: {samples} samples in "
          f"{len(reader.records)} records, each once and in order; {gaps} gaps, all declared; {compared} samples are "
          f"those of the stations' disks; dataselect {pulled} samples, and {beyond} from a station's disk; {events} events; DataLink {given} "
          f"records, {twice} twice, {taker.connections} connections; {cast} samples as a Shake's; feed {processor:.2f} s of "
          f"processor since its last start, {now:.0f} MiB, at most {most:.0f} MiB")
    if size:
        await fleet.measure(Feed, program, folder, broker, size, expect)
    broker.stop()
    if judge.complaints:
        print(feed.words()[-1500:])
    return verdict(judge.complaints)


finish(main())
