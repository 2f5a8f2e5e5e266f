"""Real MQTT brokers as child processes on free loopback ports, with their files in a folder of their own.

Each kind says how it is started and what it is known to lack (measured, see deploy/docs/understand/connection.md); what is not
listed there it has to do, or the agent is at fault.
"""

import asyncio
import getpass
import glob
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

from client import Message
from programs import spawn


class Unavailable(Exception):
    """Why this broker cannot be started here."""


kept_ports = []


def free_port():
    """A port that nobody listens on; none of those that the system gives to connections (from 32768 on), which could take
    it until it is used; kept from other checks that run beside this one until this process ends."""
    while True:
        port = random.randrange(20000, 32000)
        name = socket.socket(socket.AF_UNIX)
        try:
            # (A name of the network's, not of a file's: the kernel gives it back.)
            name.bind(f"\0seismote-port-{port}")
            with socket.create_server(("127.0.0.1", port)):
                kept_ports.append(name)
                return port
        except OSError:
            name.close()


def found(*names):
    """The first of these programs that is there; Debian keeps servers out of a user's path."""
    for name in names:
        path = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin:/usr/lib/rabbitmq/bin")
        if path:
            return path
    raise Unavailable(f"{names[0]} is not installed")


class Broker:
    name, lacks, user, password, patience = "", frozenset(), None, None, 20
    # Seconds until a station has to be online, the finding of the version included.
    arrival = 25
    # MQTT version that the readers of this check speak.
    version = 5
    # What its stations are told to speak.
    protocol = 5

    def __init__(self, folder):
        self.folder = os.path.join(folder, self.name)
        os.makedirs(self.folder, exist_ok=True)
        self.port, self.processes = free_port(), []

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def spawn(self, command, **environment):
        # A session of its own, so that all of it can be ended.
        process = spawn(command, self.path("log"), env={**os.environ, **environment}, start_new_session=True, cwd=self.folder)
        self.processes.append(process)
        return process

    def listener(self, into, *options):
        """A plain subscriber, until it is ended: what it hears goes into that file, or where subprocess.PIPE is given, through one."""
        command = ["mosquitto_sub", "-h", "127.0.0.1", "-p", str(self.port), "-q", "1", *options]
        if into is subprocess.PIPE:
            return spawn(command, stdout=into, text=True)
        with open(into, "wb") as file:
            return spawn(command, stdout=file)

    @property
    def process(self):
        """The one that speaks MQTT."""
        return self.processes[-1]

    def send_signal(self, number):
        os.killpg(self.process.pid, number)

    def launch(self):
        raise NotImplementedError

    async def start(self, reached=True):
        """Starts it and waits until it takes connections; `took` is how many seconds that took. Where it cannot be reached
        from here (`reached` is false), it does not wait."""
        began = time.monotonic()
        self.launch()
        while reached:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.close()
                break
            except OSError:
                if self.process.poll() is not None:
                    raise Unavailable(f"ends with {self.process.returncode}: {self.last_words()}") from None
                if time.monotonic() - began > 3 * self.patience:
                    raise Unavailable(f"not up after {3 * self.patience} s: {self.last_words()}") from None
                await asyncio.sleep(0.05)
        self.took = time.monotonic() - began
        return self

    def last_words(self):
        with open(self.path("log"), encoding="utf-8", errors="replace") as file:
            return " / ".join(file.read().strip().splitlines()[-3:])[-300:]

    def memory_mib(self):
        total = 0
        for status in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(status, encoding="utf-8") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
                if int(fields[3]) in (process.pid for process in self.processes):
                    total += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
            except OSError:
                pass
        return total >> 20

    def stop(self, sign=signal.SIGKILL):
        for process in reversed(self.processes):
            try:
                os.killpg(process.pid, sign)
            except ProcessLookupError:
                pass
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.processes.clear()


class Mosquitto(Broker):
    """The mosquitto of all checks.

    name        of its folder
    lines       more lines of its configuration, read at each start
    host        the address that it listens on
    command     what it is started inside of, such as a network namespace
    rights      its file of rights (`allow` changes it while it runs); None: everybody may everything
    persistent  keeps messages and sessions in its folder, saved each second; a SIGKILL costs it messages all the same
    accounts    {user: password}; None: anybody may come in
    """
    name = "mosquitto"

    def __init__(self, folder, name=None, lines=(), host="127.0.0.1", command=(), rights=None, persistent=False, accounts=None):
        self.name = name or self.name
        super().__init__(folder)
        self.lines, self.host, self.command = list(lines), host, list(command)
        self.rights, self.persistent = rights, persistent
        for user, password in (accounts or {}).items():
            self.account(user, password)

    def account(self, user, password):
        """An account, or another password of it; a broker that runs knows it at once."""
        path = self.path("passwords")
        create = [] if os.path.exists(path) else ["-c"]
        subprocess.run([found("mosquitto_passwd"), *create, "-b", path, user, password], check=True, capture_output=True)
        if self.processes:
            self.send_signal(signal.SIGHUP)

    def launch(self):
        lines = [f"listener {self.port} {self.host}", "max_queued_messages 0", "set_tcp_nodelay true",
                 f"user {getpass.getuser()}", f"persistence {str(self.persistent).lower()}"]
        if self.persistent:
            lines += [f"persistence_location {self.folder}/", "autosave_interval 1"]
        has_accounts = os.path.exists(self.path("passwords"))
        if has_accounts:
            lines.append(f"password_file {self.path('passwords')}")
        if not any("allow_anonymous" in line for line in self.lines):
            lines.append(f"allow_anonymous {str(not has_accounts).lower()}")
        if self.rights:
            lines.append(f"acl_file {self.write('acl', self.rights)}")
        self.spawn([*self.command, found("mosquitto"), "-c",
                    self.write("mosquitto.conf", "\n".join(lines + self.lines) + "\n")])

    def allow(self, rights):
        """Other rights from now on; connections stay."""
        self.rights = rights
        self.write("acl", rights)
        self.send_signal(signal.SIGHUP)


class Mosquitto311(Mosquitto):
    """The same, with stations that are told to speak 3.1.1."""
    name, version, protocol = "mosquitto-3.1.1", 4, "3.1.1"


class Nats(Broker):
    """`resend`: seconds after which it sends again what a reader has not acknowledged (30 where nothing is said). `traced`: its log
    says what comes and goes."""
    name, version = "nats", 4
    lacks = frozenset({"MQTT 5"})

    def __init__(self, folder, resend=30, traced=False):
        super().__init__(folder)
        self.resend, self.traced = resend, traced

    def launch(self):
        path = self.write("nats.conf", f"""
server_name: check
listen: 127.0.0.1:{free_port()}
jetstream {{ store_dir: "{self.path('store')}", max_mem: 64M, max_file: 256M }}
mqtt {{
    listen: 127.0.0.1:{self.port}
    ack_wait: "{self.resend}s"
}}
""")
        self.spawn([found("nats-server"), "-c", path, *(["-V"] if self.traced else [])])

    def acknowledged(self):
        """The messages of QoS 1 that it has acknowledged, by its own log (`traced`), each `at` the time that this says."""
        since = time.monotonic() - time.time()
        with open(self.path("log"), "rb") as log:
            coming, taken = {}, {}
            for line in log:
                if not (found := TRACED.search(line)):
                    continue
                connection, what, number = found[1], found[2], found[4]
                if what == b"<<- [PUBLISH ":
                    coming[connection] = message = [found[3].decode(), b""]
                    if number:
                        taken[connection, number] = message
                elif what == b"<<- MSG_PAYLOAD: [":
                    coming[connection][1] = ESCAPE.sub(unescaped, found[5])
                elif (connection, number) in taken:
                    topic, payload = taken.pop((connection, number))
                    message = Message(topic, payload, 1, False, True, {})
                    message.at = since + time.mktime(time.strptime(line.split(b"] ")[1][:19].decode(), "%Y/%m/%d %H:%M:%S"))
                    yield message


# Lines of NATS's log, and what Go writes in a string in place of characters.
TRACED = re.compile(rb'mid:(\d+) - "[^"]*" - (<<- \[PUBLISH |<<- MSG_PAYLOAD: \[|->> \[PUBACK )(?:(\S+) dup.*?)?(?:pi=(\d+)\]|"(.*)"\]|)\s*$')
ESCAPE = re.compile(rb"\\(?:x(..)|u(....)|U(........)|(.))")


def unescaped(found):
    byte, short, long, character = found.groups()
    if byte:
        return bytes([int(byte, 16)])
    if character:
        return {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}.get(character, character)
    return chr(int(short or long, 16)).encode()


class Rumqttd(Broker):
    """Inside the Python package iotcore. `largest`: bytes of a message; it hangs up on larger ones and does not say
    beforehand how large they may be."""
    name, largest = "rumqttd", 1 << 20

    def launch(self):
        try:
            import iotcore  # noqa: F401
        except ImportError:
            raise Unavailable("the Python package iotcore is not installed") from None
        path = self.write("rumqttd.toml", f"""
id = 0
[router]
id = 0
max_connections = 100
max_outgoing_packet_count = 200
max_segment_size = 10485760
max_segment_count = 4
[v5.1]
name = "v5"
listen = "127.0.0.1:{self.port}"
next_connection_delay_ms = 1
    [v5.1.connections]
    connection_timeout_ms = 60000
    max_payload_size = {self.largest}
    max_inflight_count = 100
    dynamic_filters = true
""")
        self.spawn([sys.executable, "-c", "import sys; from iotcore.broker import Broker; "
                    "Broker(config_path=sys.argv[1]).run_forever()", path])


class RumqttdSmall(Rumqttd):
    """As it is out of the box: messages of more than 20 KiB, such as the agent's schema, break the connection."""
    name, largest = "rumqttd-20k", 20480
    lacks = frozenset({"schema"})


class Erlang(Broker):
    """What those written in Erlang share: a port mapper of their own, on loopback."""
    patience = 40
    quiet = ["+S", "2:2", "+sbwt", "none", "+sbwtdcpu", "none", "+sbwtdio", "none"]

    def surroundings(self):
        home = self.path("home")
        os.makedirs(home, exist_ok=True)
        cookie = os.path.join(home, ".erlang.cookie")
        if not os.path.exists(cookie):
            with open(cookie, "w", encoding="utf-8") as file:
                file.write("seismote-check")
            os.chmod(cookie, 0o400)
        mapper = free_port()
        self.spawn([found("epmd"), "-address", "127.0.0.1", "-port", str(mapper)])
        return {"HOME": home, "ERL_EPMD_PORT": str(mapper), "ERL_EPMD_ADDRESS": "127.0.0.1",
                "ERL_CRASH_DUMP": self.path("crash.dump")}


class Ejabberd(Erlang):
    name = "ejabberd"
    # Both are asked for even where anyone may come in.
    user, password = "station", "any"

    def launch(self):
        libraries = glob.glob("/usr/lib/*/ejabberd-*/ebin")
        if not libraries:
            raise Unavailable("ejabberd is not installed")
        settings = self.write("ejabberd.yml", f"""
hosts: [localhost]
loglevel: warning
certfiles: []
auth_method: [anonymous]
anonymous_protocol: login_anon
allow_multiple_connections: true
listen:
  - port: {self.port}
    ip: "127.0.0.1"
    module: mod_mqtt
    backlog: 100
modules:
  mod_mqtt: {{}}
""")
        around = self.surroundings()
        os.makedirs(self.path("spool"), exist_ok=True)
        self.spawn(
            [found("erl"), "-noinput", "-sname", "check@localhost", *self.quiet, "-kernel", "inet_dist_use_interface",
             "{127,0,0,1}", "-mnesia", "dir", f'"{self.path("spool")}"', "-s", "ejabberd"],
            **around, EJABBERD_CONFIG_PATH=settings, EJABBERD_LOG_PATH=self.path("ejabberd.log"),
            ERL_LIBS=os.path.dirname(os.path.dirname(libraries[0])))


class RabbitMQ(Erlang):
    name, version = "rabbitmq", 4
    lacks = frozenset({"MQTT 5", "retained, wildcard"})

    def launch(self):
        around = self.surroundings()
        settings = self.write("rabbitmq.conf", f"""
listeners.tcp.1 = 127.0.0.1:{free_port()}
mqtt.listeners.tcp.1 = 127.0.0.1:{self.port}
mqtt.allow_anonymous = true
mqtt.default_user = guest
mqtt.default_pass = guest
log.console = false
""")
        plugins = self.write("plugins", "[rabbitmq_mqtt].\n")
        self.spawn(
            [found("/usr/lib/rabbitmq/bin/rabbitmq-server")], **around, RABBITMQ_NODENAME="check@localhost",
            RABBITMQ_CONFIG_FILE=settings, RABBITMQ_ENABLED_PLUGINS_FILE=plugins,
            RABBITMQ_MNESIA_BASE=self.path("mnesia"), RABBITMQ_LOG_BASE=self.path("logs"),
            RABBITMQ_PID_FILE=self.path("pid"), RABBITMQ_CONF_ENV_FILE="/dev/null",
            RABBITMQ_DIST_PORT=str(free_port()), RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=" ".join(
                self.quiet + ["-kernel", "inet_dist_use_interface", "{127,0,0,1}"]))


class Amqtt(Broker):
    """The broker of the Python package amqtt, which Home Assistant once had built in."""
    # (It says nothing to a CONNECT of 5: two deadlines of 10 s, and one to be sure. And what a reader has asked for with QoS 1 it
    # gets with QoS 1, however it was sent.)
    name, version, arrival = "amqtt", 4, 60
    lacks = frozenset({"MQTT 5"})

    def launch(self):
        try:
            import amqtt  # noqa: F401
        except ImportError:
            raise Unavailable("the Python package amqtt is not installed") from None
        path = self.write("amqtt.yaml", f"""
listeners: {{default: {{type: tcp, bind: "127.0.0.1:{self.port}"}}}}
plugins:
  amqtt.plugins.authentication.AnonymousAuthPlugin: {{allow_anonymous: true}}
""")
        self.spawn([os.path.join(os.path.dirname(sys.executable), "amqtt"), "-c", path])


ALL = [Mosquitto, Mosquitto311, Ejabberd, Nats, RabbitMQ, Rumqttd, RumqttdSmall, Amqtt]
# Without these the check has failed, wherever it runs.
NEEDED = {"mosquitto", "mosquitto-3.1.1"}
