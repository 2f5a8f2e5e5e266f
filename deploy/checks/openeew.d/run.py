"""run.py AGENT FOLDER PYTHON DETECTION RECORDING: see deploy/checks/openeew."""

import ast
import asyncio
import calendar
import json
import sys
import time

from agent import playing
from client import Client
from kinds import Mosquitto
from programs import Program
from verdict import finish, until

# Of the recording: its start, and the onset of the earthquake at the station.
START, ONSET = (calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%S")) for text in
                ("2019-07-06T03:19:23", "2019-07-06T03:19:53"))
# A foreshock comes ten seconds before, with 0.2 gal: openeew-detection has no least level, and triggers on it, too. Before
# that nothing shakes.
FORESHOCK = ONSET - 12
# The recording's peak in gal, of the three axes together at 31.25 Hz.
LEAST_PEAK, MOST_PEAK = 200, 700


async def main():
    agent, folder, python, detection, recording = sys.argv[1:]
    broker = Mosquitto(folder, "broker")
    broker.port = 1883
    await broker.start()
    traces, triggers = [], []
    client = Client("check", take=lambda one: (triggers if one.topic == "/pga-trigger" else traces).append(one.payload))
    await client.connect(1883)
    for topic in ("/traces", "/pga-trigger"):
        await client.subscribe(topic)
    detector = Program(f"{folder}/detection.log", "nice", python, "-u", "-W", "ignore", "detection.py").start(cwd=detection)
    station = None
    try:
        await until(lambda: "Detector started" in detector.words(), 30, "openeew-detection starts")
        station = playing(agent, folder, "openeew-check", recording, 4, {
            "mqtt": {"uri": "mqtt://127.0.0.1:1883", "openeew": {"enabled": True, "country_code": "us"}}}).start()

        def strongest():
            found = [ast.literal_eval(one.decode()) for one in triggers]
            return max((float(one["pga"]) for one in found), default=0)

        await until(lambda: strongest() > LEAST_PEAK, 60, "it triggers on the earthquake")
        await asyncio.sleep(2)
    finally:
        if station:
            station.stop()
        detector.kill()
        print("openeew-detection says:", *detector.words().splitlines()[:6], sep="\n  ")
        await client.close()
        broker.stop()
    first = json.loads(json.loads(traces[0]))
    found = [ast.literal_eval(one.decode()) for one in triggers]
    wrong = [one for one in found if one["device_id"] != "openeew-check"]
    # (What it says of the time is the last value's.)
    early = [one for one in found if START <= float(one["time"]) < FORESHOCK
             or float(one["time"]) < ONSET and float(one["pga"]) > 1]
    strong = next(one for one in found if float(one["pga"]) > 1)
    peak = max(float(one["pga"]) for one in found)
    print(f"{len(traces)} messages, {len(first)} members, {len(first['x'])} values at {first['sr']} Hz")
    print(f"{len(found)} triggers, at the foreshock ({float(found[0]['time']) - ONSET:.1f} s from the onset, "
          f"{found[0]['pga']} gal) and at the earthquake ({float(strong['time']) - ONSET:.1f} s), peak {peak} gal")
    if wrong or early or not 0 < float(strong["time"]) - ONSET < 4 or len(first) != 8 or not LEAST_PEAK < peak < MOST_PEAK:
        print(f"FAILED: others {wrong[:2]}, early {early[:3]}", file=sys.stderr)
        return 1
    return 0


finish(main())
