"""Three nodes of NATS on this machine, from Debian 13's package and the files of deploy/fleet/nats as they are; only what
is each node's own, names and ports, is written here, and a password that the check knows."""

import os
import re
import shutil
import socket
import subprocess
import time

import certificates
from kinds import free_port

FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "fleet", "nats")
# bcrypt of "seismote-check"
KNOWN = "$2b$05$SAJkYmXVfXboiMaAg./CC.FmOJK68n7BxwucUTEUHSZjnavOghqXe"
PASSWORD = "seismote-check"


class Nats:
    def __init__(self, root, folder, size=3):
        self.root, self.folder, self.size = root, os.path.join(folder, "nats"), size
        self.inside = "/srv/nats"
        self.nodes = [None] * size
        self.ports = {kind: [free_port() for _ in range(size)] for kind in ("mqtts", "own", "peer", "webs")}
        self.kills = 0
        os.makedirs(self.folder)
        self.tls = certificates.make(os.path.join(folder, "nats-tls"))
        self.ca = os.path.join(self.tls, "ca.crt")
        self.furnish()

    def text(self, name):
        with open(os.path.join(FILES, name), encoding="utf-8") as file:
            return file.read()

    def furnish(self):
        subprocess.run(["umount", "-q", self.root + self.inside], check=False, stderr=subprocess.DEVNULL)
        os.makedirs(self.root + self.inside, exist_ok=True)
        subprocess.run(["mount", "--bind", self.folder, self.root + self.inside], check=True)
        certificate = self.root + "/etc/nats-tls"
        shutil.rmtree(certificate, ignore_errors=True)
        os.makedirs(certificate)
        for source, name in (("ca.crt", "ca.crt"), ("good.crt", "node.crt"), ("server.key", "node.key")):
            shutil.copy(os.path.join(self.tls, source), f"{certificate}/{name}")
        accounts = re.sub(r'password: "[^"]*"', f'password: "{KNOWN}"', self.text("nats-accounts.conf"))
        for i in range(self.size):
            own = f"{self.folder}/n{i}"
            os.makedirs(own)
            node = self.text("nats-node.conf").replace("server_name: broker1", f"server_name: n{i}")
            node = node.replace("127.0.0.1:4222", f"127.0.0.1:{self.ports['own'][i]}")
            node = node.replace("0.0.0.0:6222", f"127.0.0.1:{self.ports['peer'][i]}")
            for k in range(self.size):
                node = node.replace(f"broker{k + 1}:6222", f"localhost:{self.ports['peer'][k]}")
            whole = self.text("nats-server.conf").replace("port: 8883", f"listen: 127.0.0.1:{self.ports['mqtts'][i]}")
            whole = whole.replace("port: 8443", f"listen: 127.0.0.1:{self.ports['webs'][i]}")
            whole = whole.replace("/var/lib/nats", f"{self.inside}/n{i}/store")
            whole = whole.replace("20G", "1G")
            for name, text in (("nats-node.conf", node), ("nats-accounts.conf", accounts), ("nats-server.conf", whole)):
                with open(f"{own}/{name}", "w", encoding="utf-8") as file:
                    file.write(text)

    def start(self, i):
        with open(f"{self.folder}/n{i}/out", "ab") as log:
            self.nodes[i] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "chroot", self.root, "/usr/sbin/nats-server", "-c",
                 f"{self.inside}/n{i}/nats-server.conf"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)

    def alive(self):
        return [i for i in range(self.size) if self.nodes[i] and self.nodes[i].poll() is None]

    def kill(self, i):
        if i in self.alive():
            self.nodes[i].kill()
            self.nodes[i].wait()
            self.kills += 1

    def is_ready(self, i):
        try:
            socket.create_connection(("127.0.0.1", self.ports["mqtts"][i]), 1).close()
            return True
        except OSError:
            return False

    def up(self, seconds=60):
        began = time.monotonic()
        for i in range(self.size):
            self.start(i)
        while not all(self.is_ready(i) for i in range(self.size)):
            if time.monotonic() - began > seconds or len(self.alive()) < self.size:
                raise RuntimeError(f"NATS does not start: {self.last_words()}")
            time.sleep(0.1)
        return time.monotonic() - began

    def last_words(self):
        words = []
        for i in range(self.size):
            with open(f"{self.folder}/n{i}/out", encoding="utf-8", errors="replace") as file:
                words += file.read().strip().splitlines()[-4:]
        return " / ".join(words)

    def uris(self):
        return [f"mqtts://localhost:{port}" for port in self.ports["mqtts"]]

    def down(self):
        for i in self.alive():
            self.kill(i)
        subprocess.run(["umount", "-q", "-l", self.root + self.inside], check=False)
