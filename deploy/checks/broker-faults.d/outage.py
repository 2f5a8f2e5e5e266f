"""outage.py AGENT FOLDER RECORDING HOURS SPEED: see deploy/checks/broker-faults."""

import asyncio
import os
import signal
import statistics
import sys
import time

from agent import playing
from keeping import KeepingMosquitto, Reader
from readings import Readings, seconds
from stalls import Stalls
from verdict import verdict

# How much later than before a live block may come while old ones are sent, seconds.
LIVE_LIMIT = 2.0
# Of the blocks: a machine that is busy with other checks may stand still for a moment.
LIVE_SHARE = 0.99


class Broker(KeepingMosquitto):
    # By default it has 20 messages on their way to a reader and lets the others wait, live ones behind late ones: with
    # hundreds a second on a busy machine that would be all one sees.
    more = "max_inflight_messages 0\n"


class Account(Readings):
    """Notes in which order traces come, live and late ones apart."""

    def __init__(self, station):
        super().__init__(station)
        self.live, self.late = [], []

    def json(self, stream, object_, message, late):
        if stream == "trace":
            (self.late if late else self.live).append((message.at, object_["seq"], seconds(object_["t"])))
        super().json(stream, object_, message, late)


def disorder(numbers):
    """Numbers that come after a higher one, those not counted that come again."""
    seen, highest, wrong = set(), -1, 0
    for number in numbers:
        wrong += number not in seen and number < highest
        seen.add(number)
        highest = max(highest, number)
    return wrong


def lateness(live, left, back, speed, lost):
    """Seconds that each live block that was made after the broker was back came later than those of before the outage,
    by the time of its samples, which are played at a constant speed. (What was made just before may still come from
    memory as live, or wait behind that.) `lost(from, to)`: of that time the machine stood still."""
    delays = [(at - time / speed, time / speed) for at, _, time in live]
    usual = statistics.median(delay for delay, time in delays if delay + time < left)
    first = next((at for at, _, _ in live if at > back), back)
    return sorted(delay - usual - lost(usual + time, delay + time) for delay, time in delays if usual + time > first + 2)


async def main(program, folder, recording, hours, speed):
    with Stalls(folder) as stalls:
        return await run(program, folder, recording, hours, speed, stalls)


async def run(program, folder, recording, hours, speed, stalls):
    outage = float(hours) * 3600 / float(speed)
    broker = Broker(folder)
    await broker.start()
    agent = playing(program, folder, "away", recording, speed, {
        "mqtt": {"uri": f"mqtt://127.0.0.1:{broker.port}"}, "storage": {"backfill_per_s": 500}})
    reader = Reader(broker, ["away"])
    reader.readings["away"] = account = Account("away")
    await reader.ready.wait()
    agent.start()
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
    last = account.health[-1][1]
    came, missing, again = account.account("trace")
    events = account.account("trigger")
    behind = lateness(account.live, left, back, float(speed), stalls.lost)
    print(f"outage of {float(hours):g} h at {float(speed):g} times real time ({outage:.0f} s): {came} traces, {missing} "
          f"missing, {again} twice, {len(account.late)} of them late, in {filled:.1f} s; {events[0]} event messages, "
          f"{events[1]} missing, {len(account.ended)} events with whole waveforms")
    print(f"live blocks meanwhile: at most {behind[-1] if behind else float('nan'):.3f} s later than before "
          f"(p99 {behind[int(len(behind) * LIVE_SHARE)] if behind else float('nan'):.3f}, median "
          f"{behind[len(behind) // 2] if behind else float('nan'):.3f}); storage {files / 1e6:.1f} MB, "
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
