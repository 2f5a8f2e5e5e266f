"""What the scenarios need around the board: their steps, a server of packages, the page, a subscriber, and the sensor on it."""
import collections
import functools
import io
import os
import subprocess
import tarfile
import tempfile
import threading
import time

from web import Files, serve

checks = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def packages(work, names):
    """These folders of `work`, by http on port 80."""
    site = tempfile.mkdtemp(prefix="site-", dir=work)
    for name in names:
        os.symlink(os.path.join(work, name), os.path.join(site, name))
    serve(functools.partial(Files, directory=site), 80)


def sensor(board, work):
    """Solders the sensor on, so to say: an ADXL345 that is a program, which starts with the board from now on."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        archive.add(os.path.join(checks, "board.d/emulator"), "emulator", filter=lambda one: None if "__pycache__" in one.name else one)
        archive.add(os.path.join(work, "world.csv"), "world.csv")
    board.put("/srv/sensor.tar.gz", packed.getvalue())
    board.run("cd /srv && tar xzf sensor.tar.gz && systemctl start chip && until [ -s /run/chips/ready ]; do sleep 0.2; done")


class Course:
    """The steps of a scenario, each with its time."""

    def __init__(self, look):
        """`look`: what is asked of ``board``, once there is one, where something is not so."""
        self.look, self.board = look, None
        self.begun = self.last = time.monotonic()

    @property
    def seconds(self):
        return time.monotonic() - self.begun

    def step(self, words):
        now = time.monotonic()
        print(f"{now - self.begun:6.1f} s  +{now - self.last:5.1f} s  {words}", flush=True)
        self.last = now

    def need(self, condition, words):
        if not condition:
            told = self.board.attempt(self.look)[1] if self.board and self.board.shell else ""
            raise SystemExit(f"{told}\nNOT SO: {words}")


class Page:
    """nginx with the configuration and the page of the package seismote-broker."""

    def __init__(self, work, settings):
        """`settings`: the folder of the broker's."""
        self.work, folder = work, os.path.join(work, "web")
        os.makedirs(folder, exist_ok=True)
        site = open(os.path.join(checks, "../broker/nginx.conf")).read()
        site = site.replace("/etc/seismote-broker", settings)
        site = site.replace("/usr/share/seismote-broker", os.path.join(work, "broker-package/usr/share/seismote-broker"))
        types = os.path.join(work, "nginx/etc/nginx/mime.types")
        types = types if os.path.exists(types) else "/etc/nginx/mime.types"
        with open(os.path.join(folder, "nginx.conf"), "w") as file:
            file.write(f"user root;\ndaemon off;\nerror_log {work}/web.log;\npid {folder}/pid;\nevents {{}}\nhttp {{\n"
                       + (f"include {types};\n" if os.path.exists(types) else "types { text/html html; text/css css; text/javascript js; }\n")
                       + "access_log off;\n"
                       + "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
                       + site + "}\n")
        self.process = subprocess.Popen([os.path.join(work, "nginx/usr/sbin/nginx"), "-p", folder, "-e", f"{work}/web.log", "-c", f"{folder}/nginx.conf"])

    def picture(self, python, user, station, *seconds):
        """A browser that signs in, says `live`, and makes a picture; with seconds, when the station shakes within them."""
        words = [user[0], user[1], station, os.path.join(self.work, station + ".png"), *map(str, seconds)]
        return subprocess.Popen([python, "-B", os.path.join(checks, "mqtt.d/browser.py"), *words], stdout=subprocess.PIPE, text=True)

    def stop(self):
        self.process.terminate()
        self.process.wait()


Heard = collections.namedtuple("Heard", "time topic retained payload")


class Subscriber:
    """mosquitto_sub, over TLS, with the account of somebody who looks on. It connects again by itself, but for errors of TLS
    (a broker that goes in the midst of a record), which end it: then it is started again."""

    def __init__(self, authority, password, patience, need):
        """`need(found, words)` ends the check where nothing is found within `patience` seconds."""
        self.authority, self.patience, self.need = authority, patience, need
        self.heard, self.password = [], password
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            self.once()
            time.sleep(0.5)

    def once(self):
        process = subprocess.Popen(
            ["mosquitto_sub", "-h", "localhost", "-p", "8883", "--cafile", self.authority, "-u", "eye", "-P", self.password,
             "-q", "1", "-c", "-i", "eye", "-k", "5", "-t", "seismote/#", "-T", "seismote/+/data/waveform/#", "-F", "%t\t%r\t%p"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace")
        for line in process.stdout:
            topic, retained, payload = line.rstrip("\n").split("\t", 2)
            self.heard.append(Heard(time.monotonic(), topic, retained == "1", payload))
        process.wait()

    def since(self, moment, part):
        return [one for one in list(self.heard) if one.time >= moment and not one.retained and part in one.topic]

    def look(self, moment, part, having, limit):
        """The first message after that moment whose topic has the part and whose payload has the text; None: there is none."""
        deadline = time.monotonic() + limit
        while time.monotonic() < deadline:
            for one in self.since(moment, part):
                if having in one.payload:
                    return one
            time.sleep(0.1)
        return None

    def wait(self, moment, part, having="", limit=None):
        """As above; the check ends where none comes."""
        limit = limit or self.patience
        found = self.look(moment, part, having, limit)
        self.need(found, f"{part} {having} arrives within {limit} s; there were {sorted({one.topic for one in self.since(moment, '')})}")
        return found
