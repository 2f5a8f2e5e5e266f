"""outage.py AGENT FOLDER RECORDING HOURS SPEED: see deploy/checks/broker-faults."""

import asyncio
import bisect
import itertools
import os
import signal
import statistics
import sys
import time

from agent import playing
from client import Client, Refused
from keeping import Reader
from kinds import Mosquitto
from processors import Processors
from readings import Readings, seconds
from verdict import verdict

# How much later than before a live block may come while old ones are sent, seconds.
LIVE_LIMIT = 2.0
# Of the blocks: a machine that is busy with other checks may stand still for a moment.
LIVE_SHARE = 0.99


class Account(Readings):
    """Notes in which order traces come, live and late ones apart."""

    def __init__(self, station):
        super().__init__(station)
        self.live, self.late = [], []

    def json(self, stream, object_, message, late):
        if stream == "trace":
            (self.late if late else self.live).append((message.at, object_["seq"], seconds(object_["t"])))
        super().json(stream, object_, message, late)


class Way:
    """How long a message takes from the broker to the reader, who have less time than a station that plays an hour in a
    minute: what a second publisher sends meanwhile, and when the reader has it."""

    TOPIC, STEP = "seismote/way", 0.1

    def __init__(self, broker):
        self.broker, self.sent, self.came, self.took = broker, {}, [], []

    async def send(self):
        numbers = itertools.count()
        while True:
            client = Client("way", version=4)
            try:
                await client.connect(self.broker.port)
                while not client.closed.is_set():
                    number = b"%d" % next(numbers)
                    self.sent[number] = time.monotonic()
                    await client.publish(self.TOPIC, number, qos=1, seconds=60)
                    await asyncio.sleep(self.STEP)
            except (OSError, Refused, asyncio.TimeoutError, asyncio.IncompleteReadError):
                await asyncio.sleep(self.STEP)
            finally:
                await client.close(politely=False)

    def take(self, message):
        sent = self.sent.pop(message.payload, None)
        if sent is not None:
            self.came.append(message.at)
            self.took.append(message.at - sent)

    def long(self, at):
        """Seconds, of what came just before and after."""
        next_ = bisect.bisect(self.came, at)
        return max(self.took[max(0, next_ - 1):next_ + 1], default=0.0)


class Listener(Reader):
    def __init__(self, broker, stations):
        self.way = Way(broker)
        super().__init__(broker, stations)

    def take(self, message):
        if message.topic == Way.TOPIC:
            self.way.take(message)
        else:
            super().take(message)


def disorder(numbers):
    """Numbers that come after a higher one, those not counted that come again."""
    seen, highest, wrong = set(), -1, 0
    for number in numbers:
        wrong += number not in seen and number < highest
        seen.add(number)
        highest = max(highest, number)
    return wrong


def lateness(live, left, back, speed, without):
    """Seconds that each live block that was made after the broker was back came later than those of before the outage,
    by the time of its samples, which are played at a constant speed. (What was made just before may still come from
    memory as live, or wait behind that.) `without(from, to)`: what of that time was the agent's own."""
    delays = [(at - time / speed, time / speed) for at, _, time in live]
    usual = statistics.median(delay for delay, time in delays if delay + time < left)
    first = next((at for at, _, _ in live if at > back), back)
    return sorted(without(usual + time, delay + time) if delay > usual else delay - usual
                  for delay, time in delays if usual + time > first + 2)


async def main(program, folder, recording, hours, speed):
    outage = float(hours) * 3600 / float(speed)
    # By default it has 20 messages on their way to a reader and lets the others wait, live ones behind late ones: with
    # hundreds a second on a busy machine that would be all one sees.
    broker = Mosquitto(folder, lines=["max_inflight_messages 0"], persistent=True)
    await broker.start()
    agent = playing(program, folder, "away", recording, speed, {
        "mqtt": {"uri": f"mqtt://127.0.0.1:{broker.port}"}, "storage": {"backfill_per_s": 500}})
    reader = Listener(broker, ["away"])
    reader.readings["away"] = account = Account("away")
    await reader.ready.wait()
    agent.start()
    processors = Processors(agent.process)
    tasks = [asyncio.create_task(reader.way.send()), asyncio.create_task(processors.watch())]
    await asyncio.sleep(8)
    left = time.monotonic()
    broker.stop(signal.SIGTERM)
    await asyncio.sleep(outage)
    files = sum(entry.stat().st_size for entry in os.scandir(agent.settings["storage"]["directory"]))
    memory = agent.memory_kib()
    await broker.start()
    back = time.monotonic()
    deadline = back + 60 + outage * float(speed) / 100
    while time.monotonic() < deadline:
        await asyncio.sleep(1)
        health = account.health[-1:]
        if health and health[0][0] > back + 3 and health[0][1]["outbox"]["messages"] < 3 * float(speed):
            break
    filled = account.late[-1][0] - back if account.late else 0
    await asyncio.sleep(3)
    agent.stop()
    await asyncio.sleep(2)
    for task in tasks:
        task.cancel()
    last = account.health[-1][1]
    came, missing, again = account.account("trace")
    events = account.account("trigger")

    def own(begin, end):
        # Neither the time in which it had no processor, nor that which the broker and the reader took.
        arrived = end - reader.way.long(end)
        return processors.without(begin, arrived) if arrived > begin else 0.0

    behind = lateness(account.live, left, back, float(speed), own)
    plain = lateness(account.live, left, back, float(speed), lambda begin, end: end - begin)
    print(f"outage of {float(hours):g} h at {float(speed):g} times real time ({outage:.0f} s): {came} traces, {missing} "
          f"missing, {again} twice, {len(account.late)} of them late, in {filled:.1f} s; {events[0]} event messages, "
          f"{events[1]} missing, {len(account.ended)} events with whole waveforms")
    print(f"live blocks meanwhile: at most {behind[-1] if behind else float('nan'):.3f} s later than before "
          f"(p99 {behind[int(len(behind) * LIVE_SHARE)] if behind else float('nan'):.3f}, median "
          f"{behind[len(behind) // 2] if behind else float('nan'):.3f}; with the time without a processor and that of broker "
          f"and reader at most {plain[-1] if plain else float('nan'):.3f}); storage {files / 1e6:.1f} MB, "
          f"agent {memory} KiB; dropped {last['outbox']['dropped']}")
    problems = []
    if missing:
        problems.append(f"traces missing: {account.holes('trace')[:20]}")
    if events[1]:
        problems.append(f"event messages missing: {account.holes('trigger')[:20]}")
    problems += [f"{name}: {why}" for name, why in account.broken_waveforms()]
    for what, numbers in (("late", account.late), ("live", account.live)):
        if disorder([seq for _, seq, _ in numbers]):
            problems.append(f"{what} traces come in disorder")
    if len(account.late) < 0.7 * outage * float(speed):
        problems.append(f"only {len(account.late)} late traces: nothing was tried")
    if not behind or behind[int(len(behind) * LIVE_SHARE)] > LIVE_LIMIT:
        problems.append("live data is late")
    # (Each turn of the recording is a gap.)
    if any(last["outbox"]["dropped"].values()) or last["lost_samples"]:
        problems.append(f"something was dropped: {last}")
    reader.close()
    broker.stop()
    return verdict(problems)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
