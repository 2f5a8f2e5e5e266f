"""One scenario: a broker, a proxy before it, an agent behind that, a reader beside it, and what is held to be right."""

import asyncio
import time

from agent import Agent
from client import Client
from kinds import Mosquitto
from proxy import Proxy
from readings import Readings
from verdict import Judge, within

# As in agent.py.
KEEPALIVE, PAUSE_MIN, PAUSE_MAX, DEADLINE = 5, 0.2, 2.0, 10.0
# What a busy machine may add to a time (s).
SLACK = 1.0
CPU_LIMIT = 10.0


class Case(Judge):
    """The figures of one scenario, and what was wrong with them."""

    def __init__(self, name, folder, program, stalls, scale=1.0):
        self.name, self.folder, self.program, self.stalls, self.scale = name, folder, program, stalls, scale
        super().__init__()
        self.pending, self.notes, self.figures = [], [], {}
        self.brokers, self.proxies, self.clients, self.tasks = [], [], [], []
        self.agent = None
        self.readings = Readings(name)
        self.fault_began = self.fault_ended = 0.0

    # MARK: setting up

    async def broker(self, lines=(), **options):
        broker = await Mosquitto(self.folder, f"{self.name}.broker{len(self.brokers)}", lines, **options).start()
        self.brokers.append(broker)
        return broker

    async def proxy(self, broker, port=None, **options):
        proxy = await Proxy(port or broker.port, seed=len(self.name), **options).open()
        self.proxies.append(proxy)
        return proxy

    async def listen(self, port, user=None, password=None, **options):
        """A reader straight at the broker, which sees what arrives there."""
        client = Client(f"reader-{self.name}-{len(self.clients)}", take=self.readings.take)
        # A broker that has stood still for long would first of all end those that it has not heard of.
        await client.connect(port, user=user, password=password, keepalive=0, **options)
        await client.subscribe("seismote/#")
        self.clients.append(client)

    def start(self, uri, **settings):
        mqtt = {"uri": uri, **settings.pop("mqtt", {})}
        self.agent = Agent(self.program, self.folder, self.name, {"mqtt": mqtt, **settings}).start()

    async def usual(self, lines=(), proxy=None, scheme="mqtt", **settings):
        """Broker, proxy, reader and agent, until traces flow."""
        broker = await self.broker(lines)
        between = await self.proxy(broker, **(proxy or {}))
        await self.listen(broker.port)
        self.start(f"{scheme}://127.0.0.1:{between.port}", **settings)
        await self.flowing()
        return broker, between

    async def until(self, condition, seconds, what):
        came = await within(lambda: condition() or not self.agent.running, seconds)
        self.expect(self.agent.running, f"the agent has ended with {self.agent.process.poll()}")
        return self.agent.running and self.expect(came, f"not within {seconds:.1f} s: {what}")

    async def flowing(self, seconds=20):
        await self.until(lambda: self.readings.last_trace and self.readings.health, seconds, "traces and health")
        await asyncio.sleep(1.5)

    def say(self, text):
        self.notes.append(text)

    # MARK: the fault

    def begin(self):
        self.fault_began = time.monotonic()
        self.cpu_before = self.agent.cpu()
        self.before = self.readings.health[-1][1] if self.readings.health else None

    async def fault(self, seconds):
        await asyncio.sleep(seconds * self.scale)

    def end(self):
        """The fault is over from here on."""
        self.fault_ended = time.monotonic()
        lasted = self.fault_ended - self.fault_began
        self.figures["fault"] = lasted
        self.figures["cpu"] = 100 * (self.agent.cpu() - self.cpu_before) / lasted if self.agent.running else 0.0
        self.expect(self.figures["cpu"] <= CPU_LIMIT,
                    f"takes {self.figures['cpu']:.1f} % of a core, {CPU_LIMIT:.0f} % are allowed")

    async def recovered(self, limit, since=None):
        """Online again and traces of now, not later than `limit` after the fault (or `since`)."""
        since = self.fault_ended if since is None else since

        def online():
            return next((at for at, text, retained in self.readings.online
                         if at > since and text == "online" and not retained), None)
        if await self.until(lambda: online() is not None, limit + SLACK + 15, "online again"):
            self.figures["back"] = online() - since
            allowed = limit + SLACK + self.stalls.lost(since, online())
            self.expect(self.figures["back"] <= allowed,
                        f"online only {self.figures['back']:.1f} s after the fault, {allowed:.1f} s allowed")
        await self.until(lambda: self.readings.last_trace > (online() or since), 15, "traces after the fault")

    def attempts(self, proxies=None, floor=PAUSE_MIN, since=None, to=None):
        """Judges the connection attempts: none sooner than the shortest pause after the one before, and so many in
        all as pauses that grow to the longest allow."""
        since, to = since or self.fault_began, to or time.monotonic()
        worst, count = None, 0
        for proxy in proxies or self.proxies:
            times = [at for at in proxy.attempts if since <= at <= to]
            count += len(times)
            # One that came late because the machine stood still is nearer to the next one.
            gaps = [later - earlier + self.stalls.lost(earlier - 1, later) for earlier, later in zip(times, times[1:])]
            if gaps:
                worst = min(gaps) if worst is None else min(worst, *gaps)
        lasted = max(0.1, to - since)
        self.figures.update(attempts=count, rate=count / lasted, gap=worst)
        self.expect(worst is None or worst >= floor * 0.9,
                    f"two attempts {1000 * (worst or 0):.0f} ms apart, the shortest pause is {1000 * floor:.0f} ms")
        most = 4 + lasted / (0.3 * PAUSE_MAX)
        self.expect(count <= most, f"{count} attempts in {lasted:.0f} s, at most {most:.0f} expected")

    # MARK: what arrived

    async def account(self, missing_allowed=0, drain=4.0, sampling=True):
        """Every trace and event message is there, sampling never stopped."""
        begun = self.readings.trace_times[-1] if self.readings.trace_times else None
        await self.until(lambda: self.settled(begun), 30, "outbox empty again")
        await asyncio.sleep(drain)
        await self.birth()
        for stream, name in (("trace", "traces"), ("trigger", "events")):
            came, missing, again = self.readings.account(stream)
            self.figures[name] = (came, missing, again)
            self.expect(missing <= missing_allowed,
                        f"{missing} of {stream}: {self.readings.holes(stream)[:12]}")
        self.expect(self.figures["traces"][0] > 0, "no trace at all")
        for name, why in self.readings.broken_waveforms():
            self.expect(False, f"waveform of {name}: {why}")
        self.figures["waveforms"] = len(self.readings.ended)
        if self.readings.out_of_order:
            self.say(f"{self.readings.out_of_order} late ones among the live ones")
        if sampling:
            self.sampling()

    async def birth(self):
        """A station that reconnects publishes its retained messages again. A state over which connections broke may come
        later, since it was given up for a while: for as long again as that went on, at most, because each wait is twice
        the one before."""
        last = max((at for at, text, kept in self.readings.online if text == "online" and not kept), default=None)

        def unsaid():
            return [topic for topic in ("info", "config", "config/schema", "health", "summary")
                    if last is not None and self.readings.latest.get("state/" + topic, 0) <= last]
        await within(lambda: not unsaid(), max(15, self.figures.get("fault") or 0), every=0.1)

        def ago(at):
            return f"{time.monotonic() - at:.1f} s ago"
        self.expect(not unsaid(), "not said again: " + ", ".join(
            f"{topic} ({ago(self.readings.latest.get('state/' + topic, 0))})" for topic in unsaid())
            + "; online was said " + ", ".join(
                ago(at) for at, text, kept in self.readings.online[-4:] if text == "online" and not kept))

    def settled(self, begun):
        """Health after the fault says that nothing waits."""
        after = [health for at, health in self.readings.health if at > self.fault_ended]
        return after and after[-1].get("outbox", {}).get("messages", 0) == 0 \
            and self.readings.trace_times[-1] != begun

    def sampling(self):
        if not self.readings.health:
            return
        last = self.readings.health[-1][1]
        self.expect(last.get("gaps", 0) == 0 and last.get("lost_samples", 0) == 0,
                    f"{last.get('gaps')} gaps and {last.get('lost_samples')} lost samples in the sampling")
        first = self.before or self.readings.health[0][1]
        seconds = last["uptime_s"] - first["uptime_s"]
        samples = last["samples"] - first["samples"]
        self.expect(abs(samples - 100 * seconds) < 100 + seconds,
                    f"{samples} samples in {seconds:.1f} s at 100 Hz")
        dropped = sum(last.get("outbox", {}).get("dropped", {}).values())
        self.expect(dropped == 0, f"{dropped} messages dropped by the agent")
        refused = last.get("mqtt", {}).get("refused") or {}
        if refused:
            # A state that was given up for a while; what is missing for good is found above.
            self.say(f"refused {refused}")
            self.expect(set(refused) <= {"connection_broken"}, f"refused: {refused}")
        self.figures["connects"] = last.get("mqtt", {}).get("connects")

    async def close(self):
        if self.agent and self.agent.running:
            # In a thread: what the agent says at its end goes through the proxy.
            self.figures["stop"] = await asyncio.to_thread(self.agent.stop)
        for client in self.clients:
            await client.close()
        for proxy in self.proxies:
            await proxy.close()
        for broker in self.brokers:
            broker.stop()
