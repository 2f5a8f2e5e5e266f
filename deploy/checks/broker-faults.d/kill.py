"""kill.py AGENT FOLDER AGENT-KILLS BROKER-KILLS SEED: see deploy/checks/broker-faults."""

import asyncio
import logging
import os
import random
import re
import sys
import time

from agent import Agent
from keeping import Reader
from kinds import Mosquitto, Nats, Unavailable
from readings import Readings, seconds
from stalls import Stalls
from verdict import verdict

STATIONS = 8
# The scenario table-knock knocks 5 s after the sensor was opened, and every 10 s from then on.
KNOCK, PERIOD = 5.0, 10.0
# An event is known from here on after the knock: one block of samples, and the time to write it down.
KNOWN = 0.6
# What a kill may take of an open event's waveform: a segment of 1 s, a block of samples, and the moment itself.
TAIL = 1.6
# What of an event's waveform lies before its onset (the settings of mqtt.d/agent.py).
PRE_EVENT = 1.0
# NATS sends again after so many seconds what a reader has not acknowledged.
RESEND = 5


def opened(agent):
    """When the sensor was opened in the last run, seconds since 1970; None: not yet."""
    times = re.findall(r"^(\S+Z) notice sensor open", agent.words(), re.M)
    return seconds(times[-1]) if times else None


async def kill_often(agent, kills, chance, runs):
    """Starts and kills one agent; notes (opened, killed) of each run."""
    for _ in range(kills):
        agent.start()
        began = time.time()
        if chance.random() < 0.7:
            wait = KNOCK + PERIOD * chance.choice([0, 0, 1]) + chance.uniform(0, 3)
        else:
            wait = chance.uniform(0.02, 9)
        await asyncio.sleep(wait)
        assert agent.running, f"{agent.station} has ended by itself: {agent.words()[-2000:]}"
        agent.kill()
        killed, start = time.time(), opened(agent)
        if start is not None and start > began - 0.5:
            runs.append((start, killed))
    agent.start()
    await asyncio.sleep(3)


async def until_empty(agents, reader, patience):
    """Waits until no station has anything left to send."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if are_empty(agents, reader.readings):
            return True
        await asyncio.sleep(0.5)
    return False


def are_empty(agents, readings):
    last = [readings[agent.station].health[-1:] for agent in agents]
    return all(one and one[0][0] > time.monotonic() - 4 and one[0][1]["outbox"]["messages"] == 0 for one in last)


def told_to(acknowledged, agents):
    """What these messages, which a broker has acknowledged, say of each station."""
    readings = {agent.station: Readings(agent.station) for agent in agents}
    for message in acknowledged:
        for one in readings.values():
            one.take(message)
    return readings


async def until_whole(agents, reader, patience):
    """Waits until no number is missing of what came: the broker may be about to send something again."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if not any(reader.readings[agent.station].holes(stream) for agent in agents for stream in ("trace", "trigger")):
            return
        await asyncio.sleep(0.5)


def account(agents, reader, runs=None):
    """Totals over all stations, and what is wrong; `runs` as `kill_often` notes them, by station."""
    total = {"events": 0, "interrupted": 0, "messages": 0, "missing": 0, "again": 0, "bytes": 0, "young": 0}
    problems = []
    for agent in agents:
        readings = reader.readings[agent.station]
        came, missing, again = readings.account("trigger")
        total["messages"] += came
        total["missing"] += missing
        total["again"] += again
        ended = readings.ended
        total["events"] += len(ended)
        total["interrupted"] += sum(1 for end in ended.values() if end.get("interrupted"))
        total["bytes"] += sum((end.get("waveform") or {}).get("bytes", 0) for end in ended.values())
        if missing:
            problems.append(f"{agent.station}: event messages {readings.holes('trigger')} are missing")
        for name in sorted(readings.onsets - set(ended)):
            problems.append(f"{agent.station}: {name} has no end")
        for name in sorted(set(readings.waveforms) - set(ended)):
            problems.append(f"{agent.station}: {name} has a waveform and no end")
        for name, why in readings.broken_waveforms():
            problems.append(f"{agent.station}: the waveform of {name} is not whole: {why}")
        for name, end in ended.items():
            if end.get("waveform"):
                continue
            if end.get("interrupted") and is_young(end, runs[agent.station] if runs else []):
                total["young"] += 1
            else:
                problems.append(f"{agent.station}: {name} has no waveform")
        if readings.out_of_order:
            problems.append(f"{agent.station}: messages out of order: " + ", ".join(
                f"{stream} {number} after {later}" for stream, number, later in readings.out_of_order[:10]))
    return total, problems


def is_young(end, runs):
    """Whether all of an event's waveform lies within what a kill may take."""
    begin = seconds(end["onset"]) - PRE_EVENT
    return any(begin < killed < begin + TAIL for _, killed in runs)


def lost_events(agent, readings, runs, lost):
    """Knocks that the agent lived long enough to tell and that nobody heard of; and how much of the end of an interrupted
    event is missing, seconds. `lost(from, to)`: of that time the machine stood still."""
    onsets = [seconds(end["onset"]) for end in readings.ended.values()]
    problems, tails = [], []
    for start, killed in runs:
        knock = start + KNOCK
        while knock + KNOWN + lost(knock, killed) < killed:
            if not any(abs(onset - knock) < 0.5 for onset in onsets):
                problems.append(f"{agent.station}: the knock {killed - knock:.2f} s before a kill was never told")
            knock += PERIOD
    for end in readings.ended.values():
        if end.get("interrupted"):
            # The kill that came next after its end.
            after = [killed - seconds(end["end"]) - lost(seconds(end["end"]), killed)
                     for _, killed in runs if killed > seconds(end["onset"])]
            if after:
                tails.append(min(after, key=abs))
    return problems, tails


async def agents_part(program, folder, kills, seed, stalls):
    broker = Mosquitto(folder)
    await broker.start()
    names = [f"kill-{number}" for number in range(1, STATIONS + 1)]
    agents = [Agent(program, folder, name, {"mqtt": {"uri": f"mqtt://127.0.0.1:{broker.port}"}}) for name in names]
    reader = Reader(broker, names)
    await reader.ready.wait()
    runs = {name: [] for name in names}
    each = max(1, kills // STATIONS)
    await asyncio.gather(*(
        kill_often(agent, each, random.Random(seed * 1000 + number), runs[agent.station])
        for number, agent in enumerate(agents)))
    empty = await until_empty(agents, reader, 30)
    for agent in agents:
        agent.stop()
    await asyncio.sleep(1)
    total, problems = account(agents, reader, runs)
    tails = []
    for agent in agents:
        lost, tail = lost_events(agent, reader.readings[agent.station], runs[agent.station], lambda since, until: stalls.lost(
            stalls.wall(since), stalls.wall(until)))
        problems += lost
        tails += tail
        for word in ("storage unavailable", "set aside", "damaged", "new ones are created"):
            if word in agent.words():
                problems.append(f"{agent.station}: the log says: {word}")
    if not empty:
        problems.append("not everything was sent within 30 s of the last start")
    tails.sort()
    if tails and tails[-1] > TAIL:
        problems.append(f"an event ends {tails[-1]:.2f} s before its kill, allowed {TAIL}")
    print(f"agents killed {each * STATIONS} times: {total['events']} events from onset to end, {total['interrupted']} of "
          f"them interrupted by a kill; {total['messages']} event messages, {total['missing']} missing, {total['again']} "
          f"twice; waveforms whole, {total['bytes'] / 1e6:.2f} MB"
          + (f", {total['young']} events too young to have one" if total["young"] else "") +
          f"; an interrupted one ends at most "
          f"{tails[-1] if tails else 0:.2f} s before the kill (median {tails[len(tails) // 2] if tails else 0:.2f})")
    if not tails:
        problems.append("no event was interrupted: nothing was tried")
    reader.close()
    broker.stop()
    return problems


async def brokers_part(program, broker, kills, seed, judged):
    folder = broker.folder
    try:
        await broker.start()
    except Unavailable as problem:
        print(f"skipped: {broker.name}: {problem}")
        return []
    names = [f"{broker.name}-{number}" for number in range(1, 4)]
    settings = {"mqtt": {"uri": f"mqtt://127.0.0.1:{broker.port}", "protocol": "3.1.1" if broker.name == "nats" else 5}}
    agents = [Agent(program, folder, name, settings) for name in names]
    reader = Reader(broker, names)
    await asyncio.wait_for(reader.ready.wait(), 20)
    for agent in agents:
        agent.start()
    chance = random.Random(seed)
    for _ in range(kills):
        await asyncio.sleep(chance.uniform(1, 9))
        # With the broker goes what was on its way to the reader.
        await reader.deafen()
        await asyncio.sleep(1)
        broker.stop()
        reader.cut()
        await asyncio.sleep(chance.uniform(0, 2))
        await broker.start()
    await asyncio.sleep(6)
    empty = await until_empty(agents, reader, 40)
    # (It may deliver nothing to its reader from a kill on, of all that it acknowledges.)
    empty = empty or judged and are_empty(agents, told_to(broker.acknowledged(), agents))
    for agent in agents:
        agent.stop()
    await asyncio.sleep(1)
    lost = 0
    if judged:
        await until_whole(agents, reader, 4 * RESEND)
        # (Not all that it has acknowledged outlives its kill, though: that is no loss of the stations'.)
        acknowledged = list(broker.acknowledged())
        for message in acknowledged:
            if (readings := reader.of(message)) and readings.lacks(message):
                lost += 1
                readings.take(message)
        # What its reader has missed it may send after the next. In which order the stations have spoken, its log says.
        for name, told in told_to(acknowledged, agents).items():
            reader.readings[name].out_of_order = told.out_of_order
    total, problems = account(agents, reader)
    traces = [reader.readings[name].account("trace") for name in names]
    gaps = [one["gaps"] for name in names for _, one in reader.readings[name].health[-1:]]
    print(f"{broker.name} killed {kills} times, 3 stations: {total['events']} events, {total['messages']} event messages, "
          f"{total['missing']} missing, {total['again']} twice; {sum(t[0] for t in traces)} traces, "
          f"{sum(t[1] for t in traces)} missing, {sum(t[2] for t in traces)} twice; {sum(gaps)} gaps in sampling"
          + (f"; of what it had acknowledged it lost {lost}" if judged else f" (not judged; {len(problems)} defects)"))
    reader.close()
    broker.stop()
    if not judged:
        return []
    if not empty:
        problems.append(f"{broker.name}: not everything was sent within 40 s of its last start")
    if any(missing for _, missing, _ in traces):
        problems.append(f"{broker.name}: traces are missing: "
                        + ", ".join(str(reader.readings[name].holes("trace")[:10]) for name in names))
    if sum(gaps):
        problems.append(f"{broker.name}: the sampling has gaps")
    return problems


async def main(program, folder, agent_kills, broker_kills, seed):
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # a reader's broker is killed: that is no news
    with Stalls(folder) as stalls:
        results = await asyncio.gather(
            agents_part(program, os.path.join(folder, "agents"), int(agent_kills), int(seed), stalls),
            brokers_part(program, Nats(folder, RESEND, traced=True), int(broker_kills), int(seed), True),
            brokers_part(program, Mosquitto(folder, persistent=True), int(broker_kills), int(seed), False))
    return verdict([problem for result in results for problem in result])


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
