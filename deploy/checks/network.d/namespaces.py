"""The scenarios that need a network of their own: two network namespaces with a cable between them, the agent in one,
the broker in the other. Held by processes, so that nothing is left of them afterwards. Root only."""

import asyncio
import ctypes
import os
import re
import socket
import subprocess
import threading
import time

from agent import Agent
from case import DEADLINE, KEEPALIVE, PAUSE_MAX, PAUSE_MIN
from kinds import Mosquitto

HERE, THERE, ELSEWHERE, NOWHERE = "10.231.77.1", "10.231.77.2", "10.231.77.3", "10.231.77.9"
CLONE_NEWNET = 0x40000000
RULES = """
table inet check {
  set tries { type inet_service; flags dynamic; size 65535; }
  chain wall { }
  chain out { type filter hook output priority 0; tcp flags & (syn | ack) == syn add @tries { tcp sport }; jump wall; }
  chain in { type filter hook input priority 0; jump wall; }
}
"""


def run(*command, text=None):
    return subprocess.run(command, check=True, capture_output=True, text=True, input=text).stdout


def unavailable():
    """Why these scenarios cannot be run here; None when they can."""
    if os.geteuid() != 0:
        return "needs root"
    try:
        with Cable() as cable:
            cable.inside(cable.a, "nft", "-f", "-", text=RULES)
    except FileNotFoundError as error:
        return f"there is no {error.filename}"
    except (OSError, subprocess.CalledProcessError) as error:
        said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
        return f"the kernel does not let us: {said[0] if said else error}"
    return None


class Cable:
    """Two namespaces, a and b, with addresses HERE and THERE."""

    def __init__(self):
        self.holders = []
        self.a = self.b = 0

    def __enter__(self):
        try:
            for _ in range(2):
                self.holders.append(subprocess.Popen(
                    ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "sleep", "infinity"],
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            self.a, self.b = (holder.pid for holder in self.holders)
            ours = os.readlink("/proc/self/ns/net")
            deadline = time.monotonic() + 5
            for number in (self.a, self.b):
                while os.readlink(f"/proc/{number}/ns/net") == ours:
                    if time.monotonic() > deadline:
                        raise OSError("no network namespace can be made")
                    time.sleep(0.01)
            run("ip", "link", "add", "cable", "netns", str(self.a), "type", "veth", "peer", "name", "cable", "netns",
                str(self.b))
            for number, address in ((self.a, HERE), (self.b, THERE)):
                self.inside(number, "ip", "addr", "add", address + "/24", "dev", "cable")
                for device in ("lo", "cable"):
                    self.inside(number, "ip", "link", "set", device, "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for holder in self.holders:
            holder.kill()
            holder.wait()

    @staticmethod
    def inside(number, *command, text=None):
        return run("nsenter", "-t", str(number), "-n", *command, text=text)

    def wall(self, up):
        """Drops every packet of the agent's, both ways, without a word."""
        self.inside(self.a, "nft", *(("add", "rule", "inet", "check", "wall", "drop") if up else
                                     ("flush", "chain", "inet", "check", "wall")))

    def tries(self):
        """How many connections the agent has begun: source ports of its SYNs."""
        listed = self.inside(self.a, "nft", "list", "set", "inet", "check", "tries")
        found = re.search(r"elements = \{([^}]*)\}", listed)
        return len(found.group(1).split(",")) if found else 0

    def connect(self, address, port):
        """A socket that was connected inside the broker's namespace."""
        found = []

        def dial():
            libc = ctypes.CDLL(None, use_errno=True)
            with open(f"/proc/{self.b}/ns/net", "rb") as file:
                if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
                    found.append(OSError(ctypes.get_errno(), "setns"))
                    return
            deadline = time.monotonic() + 10
            while not found:
                try:
                    found.append(socket.create_connection((address, port), 1))
                except OSError as error:
                    if time.monotonic() > deadline:
                        found.append(error)
                    time.sleep(0.05)
        # Only this thread is in the other namespace, and it ends here; the socket stays there.
        thread = threading.Thread(target=dial)
        thread.start()
        thread.join()
        if isinstance(found[0], OSError):
            raise found[0]
        found[0].setblocking(False)
        return found[0]


async def usual(case, cable, name=None):
    """Broker there, agent here; with `name`, by that name in a hosts file of the agent's own, which is handed back."""
    cable.inside(cable.a, "nft", "-f", "-", text=RULES)
    broker = Mosquitto(case.folder, case.name + ".broker", host="0.0.0.0",
                    command=["nsenter", "-t", str(cable.b), "-n"])
    case.brokers.append(await broker.start(reached=False))
    await case.listen(broker.port, sock=await asyncio.to_thread(cable.connect, "127.0.0.1", broker.port))
    command, hosts = ["nsenter", "-t", str(cable.a), "-n"], None
    if name:
        hosts = os.path.join(case.folder, case.name + ".hosts")
        write(hosts, f"{THERE} {name}\n")
        resolver = os.path.join(case.folder, case.name + ".resolver")
        # A name server that never answers: as with a dead line, asking takes its time.
        write(resolver, f"nameserver {NOWHERE}\n")
        command += ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                    'mount --bind "$1" /etc/hosts && mount --bind "$2" /etc/resolv.conf && shift 2 && exec "$@"',
                    "sh", hosts, resolver]
    case.agent = Agent(case.program, case.folder, case.name, {
        "mqtt": {"uri": f"mqtt://{name or THERE}:{broker.port}"}}, command).start()
    await case.flowing()
    return hosts


def write(path, text):
    # In place: the file is bound elsewhere.
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def judge(case, tried, lasted):
    """As Case.attempts, from the number alone."""
    case.figures.update(attempts=tried, rate=tried / lasted)
    most = 4 + lasted / (0.3 * PAUSE_MAX)
    case.expect(tried <= most, f"{tried} attempts in {lasted:.0f} s, at most {most:.0f} expected")


async def ns_moment(case):
    """Every packet is dropped for 3 s, which TCP mends: no new connection."""
    with Cable() as cable:
        await usual(case, cable)
        before = cable.tries()
        case.begin()
        cable.wall(True)
        await asyncio.sleep(3)
        cable.wall(False)
        await asyncio.sleep(5)
        case.end()
        judge(case, cable.tries() - before, case.figures["fault"])
        case.expect(case.figures["attempts"] == 0, "connects again although the old connection lives")
        await case.account()


async def ns_partition(case):
    """Every packet is dropped, both ways, SYNs too."""
    with Cable() as cable:
        await usual(case, cable)
        before = cable.tries()
        case.begin()
        cable.wall(True)
        await case.fault(25)
        tried = cable.tries() - before
        cable.wall(False)
        case.end()
        judge(case, tried, case.figures["fault"])
        case.expect(tried >= 1, "has not noticed that the connection is dead")
        await case.recovered(DEADLINE + PAUSE_MAX)
        await case.account()


async def ns_link_down(case):
    """The cable is pulled: the network is unreachable, at once."""
    with Cable() as cable:
        await usual(case, cable)
        said = case.agent.attempts_that_failed()
        case.begin()
        cable.inside(cable.a, "ip", "link", "set", "cable", "down")
        await case.fault(20)
        failed = case.agent.attempts_that_failed() - said
        cable.inside(cable.a, "ip", "link", "set", "cable", "up")
        case.end()
        judge(case, failed, case.figures["fault"])
        await case.recovered(PAUSE_MAX + 1)
        await case.account()


async def ns_address_change(case):
    """The broker moves: its name means another address, the old one is dead."""
    with Cable() as cable:
        hosts = await usual(case, cable, "broker.test")
        before = cable.tries()
        case.begin()
        cable.inside(cable.b, "ip", "addr", "add", ELSEWHERE + "/24", "dev", "cable")
        cable.inside(cable.b, "ip", "addr", "del", THERE + "/24", "dev", "cable")
        # The first address of a network takes those that came after it along.
        if ELSEWHERE not in cable.inside(cable.b, "ip", "addr"):
            cable.inside(cable.b, "ip", "addr", "add", ELSEWHERE + "/24", "dev", "cable")
        write(hosts, f"{ELSEWHERE} broker.test\n")
        at = time.monotonic()
        await case.recovered(1.5 * KEEPALIVE + 3 * PAUSE_MIN, since=at)
        case.end()
        judge(case, cable.tries() - before, case.figures["fault"])
        await case.account()


async def ns_no_name(case):
    """The name cannot be resolved, and asking takes long; then it can."""
    with Cable() as cable:
        hosts = await usual(case, cable, "broker.test")
        before = cable.tries()
        case.begin()
        write(hosts, "127.0.0.1 localhost\n")
        cable.wall(True)
        await asyncio.sleep(2 * KEEPALIVE + 1)
        cable.wall(False)
        await case.fault(15)
        tried = cable.tries() - before
        write(hosts, f"{THERE} broker.test\n")
        case.end()
        judge(case, tried, case.figures["fault"])
        # A question that is under way is given up by the resolver after 2 × 5 s.
        await case.recovered(10 + PAUSE_MAX)
        await case.account()


ALL = [ns_moment, ns_partition, ns_link_down, ns_address_change, ns_no_name]
