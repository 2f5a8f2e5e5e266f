"""A plain mosquitto of a check's own, which can be started inside of something else (a network namespace)."""

import asyncio
import getpass
import os
import socket
import subprocess
import time

from kinds import free_port


class Broker:
    """A mosquitto on loopback."""

    def __init__(self, folder, name, lines=(), host="127.0.0.1", command=()):
        self.folder = os.path.join(folder, name)
        os.makedirs(self.folder, exist_ok=True)
        self.host, self.port, self.lines, self.command = host, free_port(), list(lines), list(command)
        self.process = None

    async def start(self, reached=True):
        path = os.path.join(self.folder, "mosquitto.conf")
        own = "\n".join(self.lines)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"listener {self.port} {self.host}\npersistence false\nmax_queued_messages 0\n"
                       f"set_tcp_nodelay true\nuser {getpass.getuser()}\n{own}\n")
            if "password_file" not in own:
                file.write("allow_anonymous true\n")
        with open(os.path.join(self.folder, "broker.log"), "ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *self.command, "mosquitto", "-c", path], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
        deadline = time.monotonic() + 15
        while reached:
            try:
                socket.create_connection((self.host, self.port), 1).close()
                break
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"mosquitto does not start, see {self.folder}") from None
                await asyncio.sleep(0.05)
        return self

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
