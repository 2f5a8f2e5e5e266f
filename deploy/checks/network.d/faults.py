"""The scenarios with the proxy. Each gets a `Case` and does everything with it but end it."""

import asyncio
import os
import signal
import time

import certificates
from case import DEADLINE, KEEPALIVE, PAUSE_MAX, PAUSE_MIN, SLACK
from kinds import free_port

# A dead connection is noticed within 1.5 times the keepalive.
NOTICED = 1.5 * KEEPALIVE
# The pause after the first broken connection.
FIRST_PAUSE = 3 * PAUSE_MIN


async def calm(case):
    """No fault at all: what the others are to be compared with."""
    await case.usual()
    case.begin()
    await case.fault(10)
    case.end()
    case.attempts()
    case.expect(case.figures["attempts"] == 0, "connects again although nothing is wrong")
    await case.account()


async def latency(case):
    """200 to 300 ms each way: the connection holds, nothing comes late by more than that."""
    _, proxy = await case.usual()
    case.begin()
    proxy.latency, proxy.jitter = 0.2, 0.1
    await case.fault(15)
    case.end()
    case.attempts()
    case.expect(case.figures["attempts"] == 0, "connects again because of latency")
    proxy.latency = proxy.jitter = 0
    await case.account()


async def low_rate(case):
    """32 kbit/s, of which 24 are needed; the birth of 83 kB has to go through it too. What is new is not kept waiting
    for good by what is old."""
    _, proxy = await case.usual(
        proxy={"buffer": 8192}, trace={"signals": ["raw"]}, health={"interval_s": 5},
        sensor={"simulate": {"scenario": "quiet"}},
        mqtt={"keepalive_s": 10})
    case.begin()
    proxy.rate = 4000
    proxy.end()
    at = time.monotonic()
    await case.fault(96)
    late = [behind for when, behind in case.readings.delays if when > at + 79 * case.scale]
    case.expect(len(late) >= 12 * case.scale,
                f"{len(late)} traces in the last {15 * case.scale:.0f} s of the low rate")
    if late:
        case.say(f"{late[0]:.1f} s behind, then {late[-1]:.1f}")
        case.expect(late[-1] < 7 + case.stalls.lost(at, time.monotonic()), f"traces are {late[-1]:.1f} s behind at the end")
    case.end()
    case.attempts()
    case.expect(case.figures["attempts"] == 1, "does not hold the connection at a low rate")
    proxy.rate = 0
    await case.account()


async def dribble(case):
    """Every byte for itself."""
    _, proxy = await case.usual()
    case.begin()
    proxy.chunk = 1
    proxy.end()
    await case.fault(8)
    case.end()
    proxy.chunk = 65536
    await case.recovered(FIRST_PAUSE, since=case.fault_began)
    case.attempts()
    await case.account()


async def half_open(case, up=True, down=True):
    """The path dies without a word; a new connection would get through."""
    _, proxy = await case.usual()
    worst = 0.0
    case.begin()
    for _ in range(max(1, round(2 * case.scale))):
        proxy.half_open(up, down)
        at = time.monotonic()
        if not await case.until(lambda: proxy.attempts[-1] > at, 3 * KEEPALIVE, "a new attempt"):
            break
        worst = max(worst, proxy.attempts[-1] - at - case.stalls.lost(at, proxy.attempts[-1]))
        await asyncio.sleep(1)
    case.end()
    case.say(f"noticed after at most {worst:.1f} s")
    case.expect(worst <= NOTICED + FIRST_PAUSE + 0.3,
                f"new attempt only after {worst:.1f} s, 1.5 × keepalive is {NOTICED} s, pause {FIRST_PAUSE:.1f} s")
    await case.recovered(SLACK, since=proxy.attempts[-1] - 0.05)
    case.attempts()
    await case.account()


async def half_open_up(case):
    """Only what the agent says is lost."""
    await half_open(case, True, False)


async def half_open_down(case):
    """Only what the broker says is lost: no acknowledgements."""
    await half_open(case, False, True)


async def mute(case):
    """A peer that accepts and never answers."""
    _, proxy = await case.usual()
    case.begin()
    proxy.mode = "mute"
    proxy.end()
    await case.fault(24)
    proxy.mode = "pass"
    case.end()
    # The attempt of now still waits for its deadline.
    await case.recovered(DEADLINE + PAUSE_MAX)
    case.attempts(to=case.fault_ended)
    waits = [max(DEADLINE, to - began - case.stalls.lost(began, to)) if to - began > DEADLINE else to - began
             for mode, began, to in proxy.lives if mode == "mute"]
    case.expect(waits and all(abs(wait - DEADLINE) < SLACK for wait in waits),
                f"gave attempts up after {', '.join(f'{wait:.1f}' for wait in waits)} s and not {DEADLINE:.0f} s")
    case.say("gives up after " + ", ".join(f"{wait:.1f}" for wait in waits) + " s")
    await case.account()


async def hung_broker(case):
    """The broker stands still, its kernel accepts."""
    broker, _ = await case.usual()
    case.begin()
    broker.send_signal(signal.SIGSTOP)
    await case.fault(15)
    broker.send_signal(signal.SIGCONT)
    case.end()
    since = max(case.fault_began + KEEPALIVE / 2, case.fault_ended - DEADLINE)
    await case.recovered(DEADLINE + PAUSE_MAX, since=since)
    case.figures["back"] = None
    case.attempts(to=case.fault_ended)
    await case.account()


async def cuts(case, polite=False):
    """The connection is cut in mid packet, again and again, sometimes before the broker has said a word."""
    _, proxy = await case.usual(trace={"block_s": 0.5})
    case.begin()
    # Long and short lives: a CONNECT has about 100 bytes, a birth about 60 kB, a block about 1.5 kB.
    proxy.polite, proxy.cut = polite, lambda: int(10 ** proxy.random.uniform(1, 5))
    proxy.end()
    await case.fault(25)
    proxy.cut = None
    for pair in proxy.pairs:
        pair.until_cut = None
    case.end()
    await case.recovered(PAUSE_MAX, since=max(at for at, text, _ in case.readings.online if text == "online") - 0.01)
    case.attempts(to=case.fault_ended)
    case.figures["back"] = None
    case.say(f"{proxy.cuts} cuts")
    case.expect(proxy.cuts >= 5, f"only {proxy.cuts} cuts")
    await case.account()


async def cuts_politely(case):
    """The same with FIN."""
    await cuts(case, polite=True)


async def short_lives(case):
    """Each connection is cut within the birth, for a while: no message may be given up for that. (At night as by day: after
    a minute of it, ten connections in a row may end over a trace that is sent alone: it is given up, and counted.)"""
    _, proxy = await case.usual()
    case.begin()
    proxy.cut = lambda: proxy.random.randrange(200, 4000)
    proxy.end()
    await case.fault(15 / case.scale)
    proxy.cut = None
    case.end()
    proxy.end()
    await case.recovered(PAUSE_MAX)
    case.attempts(to=case.fault_ended)
    case.say(f"{proxy.cuts} cuts")
    await case.account()


async def refused_port(case):
    """TCP to a port that nobody listens on: attempts are counted by the agent's own words."""
    _, proxy = await case.usual()
    case.begin()
    await proxy.refuse()
    proxy.end()
    said = case.agent.attempts_that_failed()
    await case.fault(15)
    failed = case.agent.attempts_that_failed() - said
    await proxy.open()
    case.end()
    await case.recovered(PAUSE_MAX)
    case.attempts()
    lasted = case.figures["fault"]
    case.figures.update(attempts=failed, rate=failed / lasted)
    case.expect(3 <= failed <= 4 + lasted / (0.3 * PAUSE_MAX), f"{failed} attempts in {lasted:.0f} s")
    await case.account()


async def shut_door(case, mode):
    """A peer that takes every connection and spoils it at once."""
    _, proxy = await case.usual()
    case.begin()
    proxy.mode = mode
    proxy.end()
    await case.fault(15)
    proxy.mode = "pass"
    proxy.end()
    case.end()
    await case.recovered(PAUSE_MAX)
    case.attempts(to=case.fault_ended)
    await case.account()
    if proxy.versions[-1] != 5:
        case.say("MQTT 3.1.1 afterwards")


async def door_closed(case):
    """Each connection is reset as soon as it is accepted."""
    await shut_door(case, "close")


async def nonsense(case):
    """Something else than a broker answers."""
    await shut_door(case, "nonsense")


async def brief(case):
    """Every connection is taken with CONNACK and closed at once: no storm."""
    await shut_door(case, "brief")


async def long_outage(case):
    """Nothing gets through for a while, neither old connections nor new ones, and no end is seen."""
    _, proxy = await case.usual()
    case.begin()
    proxy.half_open()
    proxy.mode = "mute"
    await case.fault(30)
    proxy.mode = "pass"
    case.end()
    await case.recovered(DEADLINE + PAUSE_MAX)
    case.attempts(to=case.fault_ended)
    await case.account()


async def second_broker(case):
    """The first broker is away: the second at once; when that goes, the first again."""
    first, second = await case.broker(), await case.broker()
    doors = [await case.proxy(first), await case.proxy(second)]
    for broker in (first, second):
        await case.listen(broker.port)
    case.start([f"mqtt://127.0.0.1:{door.port}" for door in doors])
    await case.flowing()
    case.expect(len(doors[1].attempts) == 0, "goes to the second broker although the first is there")
    case.begin()
    doors[0].mode = "close"
    doors[0].end()
    await case.recovered(FIRST_PAUSE + PAUSE_MIN, since=case.fault_began)
    await case.fault(4)
    doors[0].mode, doors[1].mode, at = "pass", "close", time.monotonic()
    doors[1].end()
    case.end()
    await case.recovered(PAUSE_MAX, since=at)
    case.attempts()
    await case.account()


async def credentials(case):
    """The broker refuses the password for a while."""
    broker = await case.broker(accounts={"reader": "reads", "station": "right"})
    mine = broker.write("mine", "right\n")
    os.chmod(mine, 0o600)
    proxy = await case.proxy(broker)
    await case.listen(broker.port, "reader", "reads")
    case.start(f"mqtt://127.0.0.1:{proxy.port}",
               mqtt={"username": "station", "password_file": mine})
    await case.flowing()
    case.begin()
    broker.account("station", "another")
    proxy.end()
    await case.fault(12)
    broker.account("station", "right")
    case.end()
    await case.recovered(PAUSE_MAX)
    case.attempts(to=case.fault_ended)
    case.expect("right" not in case.agent.words(), "the password is in the log")
    await case.account()


async def tls_cut(case):
    """TLS connections end without a good-bye, and in mid record."""
    made = certificates.make(os.path.join(case.folder, case.name + ".certificates"))
    secure = free_port()
    # (The reader needs no TLS.)
    broker = await case.broker([f"listener {secure} 127.0.0.1", f"certfile {made}/good.crt", f"keyfile {made}/server.key"])
    await case.listen(broker.port)
    proxy = await case.proxy(broker, port=secure)
    case.start(f"mqtts://127.0.0.1:{proxy.port}", mqtt={"tls": {"ca_file": os.path.join(made, "ca.crt")}})
    await case.flowing()
    case.begin()
    proxy.cut = lambda: int(10 ** proxy.random.uniform(1, 5))
    proxy.polite = True
    proxy.end(reset=False)
    await case.fault(20)
    proxy.cut = None
    for pair in proxy.pairs:
        pair.until_cut = None
    case.end()
    case.attempts(to=case.fault_ended)
    case.say(f"{proxy.cuts} cuts")
    await case.recovered(PAUSE_MAX, since=max(at for at, text, _ in case.readings.online if text == "online") - 0.01)
    case.figures["back"] = None
    await case.account()


ALL = [calm, latency, low_rate, dribble, half_open, half_open_up, half_open_down, mute, hung_broker, cuts, cuts_politely,
       short_lives, refused_port, door_closed, nonsense, brief, long_outage, second_broker, credentials, tls_cut]
