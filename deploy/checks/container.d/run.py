"""The conversation of the check `container`: the containers of compose.yaml from start to end.

run.py PROJECT FOLDER PICTURES SERVICE...
"""

import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request

import browser
import readers
from web import Handler, serve

project, folder, pictures, *services = sys.argv[1:]
ports = {name: int(port) for name, port in json.load(open("ports.json", encoding="utf-8")).items()}
table, faults = [], []

def podman(*words, check=True, limit=120):
    done = subprocess.run(["podman", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=limit, check=False)
    if check and done.returncode:
        raise SystemExit(f"podman {' '.join(words)}: {done.stdout}")
    return done.stdout.strip()

def compose(*words):
    done = subprocess.run(["podman-compose", "-p", project, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    if done.returncode:
        raise SystemExit(f"podman-compose {' '.join(words)}: {done.stdout[-3000:]}")
    return done.stdout

def container(service):
    return f"{project}_{service}_1"

def fault(words):
    faults.append(words)
    print("FAILED:", words, flush=True)

def row(service, what, value):
    table.append((service, what, value))
    print(f"{service:8} {what:28} {value}", flush=True)

def kill(service):
    """As a crash or the kernel does it (podman would not start again what was killed by its own command)."""
    os.kill(int(podman("inspect", "-f", "{{.State.Pid}}", container(service))), signal.SIGKILL)
    killed = time.monotonic()
    until(lambda: podman("inspect", "-f", "{{.State.Running}}", container(service)) == "true", 10, f"{service} is started again by its policy")
    return killed


def well(service):
    """Whether its own health check says so, as the container's runtime asks it."""
    done = subprocess.run(["podman", "healthcheck", "run", container(service)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode == 0

def until(condition, seconds, words):
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > seconds:
            fault(f"{words}: not within {seconds} s")
            return None
        time.sleep(0.2)
    return time.monotonic() - began

def log(service):
    return podman("logs", container(service), check=False)

class Phone(Handler):
    """A server of ntfy, as far as seismote-notify needs one."""

    messages = []

    def do_POST(self):
        self.messages.append((self.path, {name.lower(): value for name, value in self.headers.items()}, self.body()))
        self.answer()

    do_PUT = do_POST

def look(password):
    """The page through its login, until the station shakes."""
    try:
        browser.look(f"https://localhost:{ports['web']}/index.html", "viewer", password, "demo", os.path.join(pictures, "container-page.png"), 180)
    except Exception as error:
        fault(f"the page: {str(error)[:600]}")

class SeedLink:
    """A client of SeedLink 3: the records of one station, all that the server has and what comes."""

    def __init__(self, station):
        self.socket = socket.create_connection(("127.0.0.1", ports["seedlink"]), timeout=20)
        for words in (f"STATION {station[1]} {station[0]}", "SELECT ???", "DATA 000000"):
            self.socket.sendall(words.encode() + b"\r\n")
            answer = self.socket.recv(100)
            if not answer.startswith(b"OK"):
                raise SystemExit(f"SeedLink: {words}: {answer}")
        self.socket.sendall(b"END\r\n")

    def record(self):
        packet = b""
        while len(packet) < 520:
            more = self.socket.recv(520 - len(packet))
            if not more:
                raise ConnectionResetError
            packet += more
        if packet[:2] != b"SL":
            raise SystemExit(f"SeedLink: {packet[:8]}")
        return packet[8:]

def spans(records):
    """Per channel the samples' beginnings and ends in seconds, from records of miniSEED 2 of 512 bytes."""
    channels = {}
    for at in range(0, len(records), 512):
        head = records[at:at + 48]
        channel = head[15:18].decode()
        year, day, hour, minute, second, _, fraction, count, factor, multiplier = struct.unpack(">HHBBBBHHhh", head[20:36])
        rate = (factor if factor > 0 else -1 / factor) * (multiplier if multiplier > 0 else -1 / multiplier)
        start = ((year - 2019) * 366 + day) * 86400 + hour * 3600 + minute * 60 + second + fraction / 1e4
        channels.setdefault(channel, []).append((start, start + count / rate, count, rate))
    return {name: sorted(all_) for name, all_ in channels.items()}


def holes(channels):
    found = []
    for name, all_ in channels.items():
        for one, two in zip(all_, all_[1:]):
            if two[0] - one[1] > 1.5 / one[3]:
                found.append(f"{name}: {two[0] - one[1]:.2f} s")
    return found

def fetch(path):
    with urllib.request.urlopen(f"http://127.0.0.1:{ports['fdsn']}{path}", timeout=30) as answer:
        return answer.read()

def data():
    """What the feed has of the station."""
    return spans(fetch("/fdsnws/dataselect/1/query?net=XX&sta=DEMO&cha=*&starttime=2019-01-01&endtime=2100-01-01"))

class Messages:
    """mosquitto_sub with an account of the page, over TLS."""

    def __init__(self, password):
        authority = os.path.join(folder, "ca.pem")
        with open(authority, "w", encoding="utf-8") as out:
            out.write(podman("exec", container("broker"), "cat", "/data/settings/tls/ca.pem") + "\n")
        self.lines = []
        self.command = ["mosquitto_sub", "-h", "localhost", "-p", str(ports["mqtt"]), "--cafile", authority, "-u", "viewer", "-P", password,
                        "-V", "5", "-q", "1", "-i", "check", "-c", "-x", "3600", "-t", "seismote/+/event/#", "-t", "seismote/+/state/#", "-t",
                        "seismote/network/#", "-F", "%t %p"]
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        while True:
            with subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
                for line in process.stdout:
                    self.lines.append(line.rstrip("\n"))
            time.sleep(0.5)

    def of(self, topic):
        return [line.partition(" ")[2] for line in list(self.lines) if re.fullmatch(topic, line.partition(" ")[0])]

    def events(self, kind):
        found = {}
        for text in self.of("seismote/demo/event/trigger"):
            try:
                event = json.loads(text)
            except ValueError:
                continue
            if event.get("event_type") == kind:
                found[event["event_id"]] = event
        return found

def main():
    serve(Phone, int(ports["phone"]), "0.0.0.0")
    # (The others run since README's line.)
    began = time.monotonic()
    compose("up", "-d", "--no-recreate", "notify", "station")
    row("all", "podman-compose up", f"{time.monotonic() - began:.1f} s")
    for service in services:
        took = until(lambda: well(service), 60, f"{service} is well ({podman('inspect', '-f', '{{.State.Status}}', container(service), check=False)})")
        if took is None:
            print(log(service)[-2000:])
            sys.exit(1)
        row(service, "well after the start", f"{time.monotonic() - began:.1f} s")
    for service in services:
        seen = json.loads(podman("inspect", container(service)))[0]
        if not seen["HostConfig"]["ReadonlyRootfs"]:
            fault(f"{service}: the root is not read-only")
        user = podman("top", container(service), "user", "huser").splitlines()[-1]
        if "root" in user or user.split()[-1] == "0":
            fault(f"{service} runs as {user}")
    words = log("broker")
    password = re.search(r"sign in as viewer with the password (\S+)", words)
    if not password:
        print(words)
        sys.exit("the broker's log does not tell the account of the page")
    password = password[1]

    messages = Messages(password)
    looks = threading.Thread(target=look, args=(password,))
    looks.start()
    reader = SeedLink(("XX", "DEMO")) if "feed" in services else None
    records = []

    def follow():
        try:
            while True:
                records.append(reader.record())
        except OSError:
            # (The feed was killed.)
            pass

    if reader:
        threading.Thread(target=follow, daemon=True).start()

    # The earthquake comes 40 s after the start.
    until(lambda: messages.events("onset"), 120, "an onset as a message")
    row("station", "onset as a message after", f"{time.monotonic() - began:.0f} s")
    until(lambda: messages.events("end"), 240, "the end of the event as a message")
    if not messages.events("end"):
        print(log("station")[-1500:])
        sys.exit(1)
    event, first = next(iter(messages.events("end").items()))
    row("station", "earthquake", f"PGA {first.get('pga')} m/s², {event}")
    if until(lambda: Phone.messages, 60, "a message on the phone") is None:
        print(log("notify")[-1500:])
    else:
        row("notify", "on the phone", json.dumps(Phone.messages[0][1].get("title", "") or Phone.messages[0][2].decode()[:80]))
    looks.join()
    row("broker", "page in a browser", "signed in, the earthquake seen")
    if reader:
        until(lambda: len(records) > 60, 60, "records by SeedLink")
        channels = sorted(spans(b"".join(records)))
        row("feed", "by SeedLink, live", f"{len(records)} records of {', '.join(channels)}")
        try:
            found, same, catalogue = readers.earthquake(ports["seedlink"], ports["fdsn"], first)
        except Exception as error:  # pylint: disable=broad-exception-caught  (ObsPy's are of every kind)
            fault(f"ObsPy does not read the earthquake: {type(error).__name__}: {error}")
        else:
            for name, (samples, channels, peak) in found.items():
                row("feed", f"ObsPy, {name}", f"{samples} samples of {', '.join(channels)}, peak {peak:.3f} m/s²")
                if len(channels) != 3 or not 0.5 < peak / first["pga"] < 2:
                    fault(f"{name}: {channels} with a peak of {peak} m/s² is not the earthquake of {event['pga']} m/s²")
            row("feed", "ObsPy, FDSN event", f"{catalogue} event")
            if not same:
                fault("SeedLink and dataselect have different samples of the earthquake")
            if not catalogue:
                fault("the FDSN event service does not have the earthquake")

    # Killed one after the other, while the station goes on.
    for service in [one for one in services if one != "station"]:
        killed = kill(service)
        if until(lambda: well(service), 60, f"{service} after a kill") is not None:
            row(service, "killed; well after", f"{time.monotonic() - killed:.1f} s, started again by its policy")
    until(lambda: all(well(service) for service in services), 60, "all are well after the kills")

    # What was read before is there still, and what came meanwhile is whole.
    if reader:
        began_hole = time.monotonic()

        def whole():
            found = data()
            return found and not holes(found)
        if until(whole, 240, "the feed's data without a hole after the kills") is None:
            print("\n".join(holes(data())[:10]))
        found = data()
        # (The client of before the kill has its line cut: what it had read has to be there.)
        for name, all_ in spans(b"".join(records)).items():
            if name not in found or found[name][0][0] > all_[0][0] or found[name][-1][1] < all_[-1][1]:
                fault(f"feed: {name}: what was read by SeedLink before the kill is not there any more")
        seconds = min(all_[-1][1] - all_[0][0] for all_ in found.values())
        row("feed", "data after the kills", f"{seconds:.0f} s of {len(found)} channels, {len(holes(found))} holes, after {time.monotonic() - began_hole:.0f} s")

    # The station is killed last: what it has stored goes on.
    killed = kill("station")
    if until(lambda: well("station"), 60, "station after a kill") is not None:
        row("station", "killed; well after", f"{time.monotonic() - killed:.1f} s")

    # One is replaced by a newer image; its data stays.
    updated = "feed" if reader else "network"
    before = {name: (all_[0][0], sum(one[2] for one in all_)) for name, all_ in data().items()} if reader else {}
    image = f"localhost/seismote-{updated}"
    old = podman("inspect", "-f", "{{.Image}}", container(updated))
    with open(os.path.join(folder, "Newer"), "w", encoding="utf-8") as out:
        out.write(f"FROM {image}\nLABEL version=newer\n")
    podman("build", "--format", "docker", "-f", "Newer", "-t", image, ".")
    began = time.monotonic()
    podman("rm", "-f", "-t", "5", container(updated))
    compose("up", "-d", "--no-recreate", updated)
    if until(lambda: well(updated), 60, f"{updated} after its update") is not None:
        row(updated, "updated; well after", f"{time.monotonic() - began:.1f} s")
    if podman("inspect", "-f", "{{.Image}}", container(updated)) == old:
        fault(f"{updated} runs from the old image")
    for name, (start, count) in before.items():
        after = data().get(name, [])
        if not after or after[0][0] > start or sum(one[2] for one in after) < count:
            fault(f"{updated}: {name} had {count} samples before the update, and fewer after it")
    if before:
        row(updated, "samples after the update", f"all {sum(count for _, count in before.values())} of before")

    # An account by the broker's own command, which starts it again.
    told = podman("exec", container("broker"), "seismote-broker", "add", "attic", "--no-qr")
    if "--user attic --password" not in told:
        fault(f"seismote-broker add: {told}")
    until(lambda: all(well(service) for service in services), 60, "all are well after a new account")
    row("broker", "seismote-broker add", "a station's line; all are well again")

    # What the broker keeps outlives its own end, and the station goes on: a later earthquake comes as the first did.
    kept = podman("exec", container("broker"), "mosquitto_sub", "-h", "localhost", "-p", "8883", "--cafile", "/data/settings/tls/ca.pem",
                  "-u", "viewer", "-P", password, "-t", "seismote/demo/event/last", "-C", "1", "-W", "10", check=False)
    if '"event_id"' not in kept:
        fault(f"the broker keeps no last event: {kept[:200]}")
    later = until(lambda: len(messages.events("end")) > 1, 240, "a second earthquake after all this")
    if later is not None:
        row("station", "a later earthquake", f"{len(messages.events('end'))} events, {len(Phone.messages)} messages on the phone")

    # SIGTERM.
    for service in reversed(services):
        began = time.monotonic()
        podman("stop", "-t", "20", container(service))
        took = time.monotonic() - began
        status = podman("inspect", "-f", "{{.State.ExitCode}}", container(service))
        row(service, "SIGTERM: ended after", f"{took:.1f} s, status {status}")
        # (The time has podman's own in it.)
        if took > 5 or status != "0":
            fault(f"{service} took {took:.1f} s to end, with status {status}")
    print(f"\n{len(table)} lines, {len(faults)} failed")
    return 1 if faults else 0

if __name__ == "__main__":
    sys.exit(main())
