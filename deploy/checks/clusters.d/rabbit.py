"""Three nodes of RabbitMQ 4 on this machine, from Debian 13's package and the files of deploy/fleet/rabbitmq as they are;
only 20-node.conf, which is each node's own, is written here: names and ports of this machine."""

import os
import re
import shutil
import signal
import socket
import subprocess
import time

import certificates
from kinds import free_port
from programs import descendants

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = os.path.join(HERE, "..", "..", "fleet", "rabbitmq")
BIN = "/usr/lib/rabbitmq/bin/"
# Of a virtual machine that shares two cores with others: schedulers do not spin while they wait.
QUIET = "+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none -start_epmd false -kernel inet_dist_use_interface {127,0,0,1}"


class Cluster:
    """`root` is a tree of Debian 13 with rabbitmq-server, of which the nodes see /work in a folder of their own."""

    def __init__(self, root, folder, size=3):
        self.root, self.folder, self.size = root, os.path.join(folder, "rabbitmq"), size
        self.inside = "/srv/check"
        self.nodes = [None] * size
        self.ports = {kind: [free_port() for _ in range(size)]
                      for kind in ("mqtt", "mqtts", "amqp", "amqps", "web", "webs", "peer")}
        self.mapper_port = free_port()
        self.kills = 0
        os.makedirs(self.folder)
        self.tls = certificates.make(os.path.join(folder, "tls"))
        self.ca = os.path.join(self.tls, "ca.crt")
        self.furnish()
        self.mapper = subprocess.Popen(
            self.enter("epmd", "-address", "127.0.0.1", "-port", str(self.mapper_port)), env=self.surroundings(),
            stdin=subprocess.DEVNULL)

    def furnish(self):
        """Puts the files where the README says."""
        subprocess.run(["umount", "-q", self.root + self.inside], check=False)
        os.makedirs(self.root + self.inside, exist_ok=True)
        subprocess.run(["mount", "--bind", self.folder, self.root + self.inside], check=True)
        etc = self.root + "/etc/rabbitmq"
        shutil.rmtree(etc)
        os.makedirs(etc + "/tls")
        for name in ("seismote.json", "enabled_plugins"):
            shutil.copy(os.path.join(FILES, name), etc)
        for source, name in (("ca.crt", "ca.crt"), ("good.crt", "node.crt"), ("server.key", "node.key")):
            shutil.copy(os.path.join(self.tls, source), f"{etc}/tls/{name}")
        home = self.folder + "/home"
        os.makedirs(home)
        with open(home + "/.erlang.cookie", "w", encoding="utf-8") as file:
            file.write("seismote-check")
        os.chmod(home + "/.erlang.cookie", 0o400)
        with open(os.path.join(FILES, "20-node.conf"), encoding="utf-8") as file:
            lines = file.read()
        for i in range(self.size):
            own = f"{etc}/conf{i}.d"
            os.makedirs(own)
            shutil.copy(os.path.join(FILES, "10-seismote.conf"), own)
            text = lines
            for old, new in (
                    *((f"rabbit@broker{k + 1}", f"rabbit{k}@localhost") for k in range(self.size)),
                    # Beside TLS without it, too, for thousands of stations on two cores.
                    ("mqtt.listeners.tcp = none", f"mqtt.listeners.tcp.1 = 127.0.0.1:{self.ports['mqtt'][i]}"),
                    ("listeners.tcp = none", f"listeners.tcp.1 = 127.0.0.1:{self.ports['amqp'][i]}"),
                    ("mqtt.listeners.ssl.default = 8883", f"mqtt.listeners.ssl.1 = 127.0.0.1:{self.ports['mqtts'][i]}"),
                    ("listeners.ssl.default = 5671", f"listeners.ssl.1 = 127.0.0.1:{self.ports['amqps'][i]}"),
                    ("127.0.0.1:15675", f"127.0.0.1:{self.ports['web'][i]}"),
                    ("web_mqtt.ssl.port = 15676", f"web_mqtt.ssl.port = {self.ports['webs'][i]}")):
                if old not in text:
                    raise RuntimeError(f"20-node.conf has no {old}")
                text = text.replace(old, new)
            with open(own + "/20-node.conf", "w", encoding="utf-8") as file:
                # The test machine's disk is not a broker's.
                file.write(text + "\ndisk_free_limit.absolute = 50MB\n")
            os.makedirs(f"{self.folder}/n{i}")

    def enter(self, *command):
        return ["setpriv", "--pdeathsig", "KILL", "chroot", self.root, *command]

    def surroundings(self, i=0):
        return {
            "HOME": self.inside + "/home", "LANG": "C.UTF-8", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "ERL_EPMD_PORT": str(self.mapper_port), "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_CRASH_DUMP": f"{self.inside}/n{i}/crash.dump", "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_NODENAME": f"rabbit{i}@localhost", "RABBITMQ_CONFIG_FILES": f"/etc/rabbitmq/conf{i}.d",
            "RABBITMQ_ENABLED_PLUGINS_FILE": "/etc/rabbitmq/enabled_plugins",
            "RABBITMQ_MNESIA_BASE": f"{self.inside}/n{i}", "RABBITMQ_LOG_BASE": f"{self.inside}/n{i}",
            "RABBITMQ_PID_FILE": f"{self.inside}/n{i}/pid", "RABBITMQ_DIST_PORT": str(self.ports["peer"][i]),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": QUIET,
            "RABBITMQ_CTL_ERL_ARGS": "-start_epmd false -kernel inet_dist_use_interface {127,0,0,1}",
        }

    # --- nodes

    def start(self, i):
        with open(f"{self.folder}/n{i}/out", "ab") as log:
            self.nodes[i] = subprocess.Popen(
                self.enter(BIN + "rabbitmq-server"), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=self.surroundings(i), start_new_session=True)

    def alive(self):
        return [i for i in range(self.size) if self.nodes[i] and self.nodes[i].poll() is None]

    def kill(self, i):
        if i in self.alive():
            for number in descendants(self.nodes[i].pid):
                try:
                    os.kill(number, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.nodes[i].wait()
            self.kills += 1

    def stand_still(self, i, still):
        for number in descendants(self.nodes[i].pid):
            os.kill(number, signal.SIGSTOP if still else signal.SIGCONT)

    def is_ready(self, i):
        """The broker has begun its work: its last listener is there."""
        for kind in ("mqtt", "amqp", "webs"):
            try:
                socket.create_connection(("127.0.0.1", self.ports[kind][i]), 1).close()
            except OSError:
                return False
        return True

    def up(self, seconds=180):
        """All at a time: a node alone waits for its peers. Seconds that it took."""
        began = time.monotonic()
        for i in range(self.size):
            if i not in self.alive():
                self.start(i)
        while not all(self.is_ready(i) for i in range(self.size)):
            if time.monotonic() - began > seconds or len(self.alive()) < self.size:
                raise RuntimeError(f"the cluster does not start: {self.last_words()}")
            time.sleep(0.2)
        return time.monotonic() - began

    def last_words(self):
        words = []
        for i in range(self.size):
            with open(f"{self.folder}/n{i}/out", encoding="utf-8", errors="replace") as file:
                words += [f"n{i}: {line}" for line in file.read().strip().splitlines()[-4:]]
        return " / ".join(words)

    def refusals(self):
        """What the nodes' logs say of rights, and other errors."""
        found = []
        for i in range(self.size):
            for name in os.listdir(f"{self.folder}/n{i}"):
                if name.endswith(".log"):
                    with open(f"{self.folder}/n{i}/{name}", encoding="utf-8", errors="replace") as file:
                        found += [f"n{i}: {line.strip()[:300]}" for line in file if "refused" in line or "[error]" in line]
        return found

    def down(self):
        for i in range(self.size):
            if self.nodes[i]:
                self.kill(i)
        self.mapper.kill()
        self.mapper.wait()
        subprocess.run(["umount", "-q", "-l", self.root + self.inside], check=False)

    # --- what they say

    def ctl(self, *command, node=None, check=True):
        node = (self.alive() or [0])[0] if node is None else node
        done = subprocess.run(self.enter(BIN + "rabbitmqctl", "-q", *command), env=self.surroundings(node),
                              capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
        if check and done.returncode:
            raise RuntimeError(f"rabbitmqctl {' '.join(command)}: {done.stdout[-300:]}{done.stderr[-300:]}")
        return done.stdout

    def everybody(self):
        """The account "everybody" (password "everybody-secret") may do everything: for what is not tried. A file with its password."""
        self.ctl("add_user", "everybody", "everybody-secret")
        self.ctl("set_permissions", "everybody", ".*", ".*", ".*")
        path = os.path.join(self.folder, "everybody.password")
        with open(path, "w", encoding="utf-8") as file:
            file.write("everybody-secret\n")
        return path

    def account(self, role, name):
        """As the README says; the file with its password."""
        path = os.path.join(self.folder, name + ".password")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{name}-secret\n")
        # What everybody on the machine sees of the programs that it starts.
        seen, control = os.path.join(self.folder, "arguments"), os.path.join(self.folder, "rabbitmqctl")
        with open(control, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\necho "$@" >>{seen}\nexec {" ".join(self.enter(BIN + "rabbitmqctl"))} "$@"\n')
        os.chmod(control, 0o755)
        done = subprocess.run([os.path.join(FILES, "account"), role, name, path], capture_output=True, text=True,
                              env={**os.environ, **self.surroundings(), "RABBITMQCTL": control}, check=False)
        if done.returncode:
            raise RuntimeError(f"account {role} {name}: {done.stdout}{done.stderr}")
        with open(seen, encoding="utf-8") as file:
            if f"{name}-secret" in file.read():
                raise RuntimeError(f"account {role} {name}: the password is among the arguments of a program")
        return path

    def queues(self):
        """{name: (leader's node, messages, type)}; empty where nobody answers."""
        try:
            text = self.ctl("list_queues", "name", "leader", "messages", "type", check=False)
        except subprocess.TimeoutExpired:
            return {}
        found = {}
        for line in text.splitlines():
            match = re.match(r"(\S+)\trabbit(\d)@localhost\t(\d+)\t(\S+)", line)
            if match:
                found[match[1]] = (int(match[2]), int(match[3]), match[4])
        return found

    def uris(self, kind):
        scheme = {"mqtt": "mqtt", "mqtts": "mqtts", "amqp": "amqp", "amqps": "amqps"}[kind]
        return [f"{scheme}://localhost:{port}" if kind.endswith("s") else f"{scheme}://127.0.0.1:{port}"
                for port in self.ports[kind]]

    def cost(self):
        """Seconds of processor time and MiB of anonymous memory of the nodes that are there."""
        ticks, memory = 0, 0
        for i in self.alive():
            for number in descendants(self.nodes[i].pid):
                try:
                    with open(f"/proc/{number}/stat", encoding="utf-8") as file:
                        fields = file.read().rsplit(")", 1)[1].split()
                    ticks += int(fields[11]) + int(fields[12])
                    with open(f"/proc/{number}/status", encoding="utf-8") as file:
                        memory += int((re.search(r"RssAnon:\s+(\d+)", file.read()) or [0, 0])[1])
                except OSError:
                    pass
        return ticks / os.sysconf("SC_CLK_TCK"), memory / 1024
