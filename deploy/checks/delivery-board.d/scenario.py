"""The delivery on a whole board; see deploy/checks/delivery-board. In the room of deploy/checks/docs.d.

scenario.py IMAGE WORK [PYTHON]     WORK: repository (signed, of the first version), add-next (a program that adds the next
                                    one), versions (both), along (what Debian has of it), recording, world.csv (what the
                                    sensor feels), broker-package and nginx (unpacked); PYTHON: one that has playwright"""
import io
import json
import os
import re
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time

import machines
from board import Board
from waiting import missing, waiting

image, work = sys.argv[1:3]
python = sys.argv[3] if len(sys.argv) > 3 else ""
old, new = open(os.path.join(work, "versions")).read().split()
# An emulated board on a machine that does something else as well takes its time; what is judged is that it comes.
patience = 600
station = "basement"
course = machines.Course("systemctl status 'seismote*' --no-pager; journalctl -b --no-pager -o short-monotonic -u 'seismote*' | tail -60")
step, need = course.step, course.need


# --- on this machine: packages by http, a broker with accounts, a subscriber


class Broker:
    """That of the package seismote-broker, in the room of deploy/checks/docs.d."""

    folder = "/etc/seismote-broker"

    def account(self, *words):
        said = subprocess.run(["seismote-broker", *words], capture_output=True, text=True)
        need(said.returncode == 0 and said.stderr == "", f"seismote-broker {words[0]} has nothing to complain of: {said.stderr}")
        return said.stdout

    def start(self):
        subprocess.run(["systemctl", "start", "seismote-broker"], check=True)

    def stop(self):
        subprocess.run(["systemctl", "stop", "seismote-broker"], check=True)


# --- on the board


def apt(words):
    """apt-get, with what it recommends as a user's apt has it; what it said."""
    return board.run(f"apt-get {words} -y -o Dpkg::Use-Pty=0 2>&1")


def shown(name):
    return board.run(f"systemctl show -p {name} --value seismote")


def spooled():
    """Messages of events that wait in the station's storage."""
    for _ in range(20):
        found = spooled_once()
        if found is not None:
            return found
    need(False, "the station's storage can be read")


def spooled_once():
    """As above; None: it was written while it was read."""
    # By the network: the console takes minutes for the megabytes.
    with socket.create_server(("127.0.0.1", 9000)) as server:
        server.settimeout(patience)
        board.run("(cd /var/lib/seismote && tar cz spool.db* 2>/dev/null >/dev/tcp/10.0.2.2/9000) & sleep 0.1")
        with server.accept()[0] as connection:
            packed = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder)
        try:
            return waiting(os.path.join(folder, "spool.db"))
        except sqlite3.DatabaseError:
            return None


def settled(moment):
    """Waits until the detectors of the agent that began after that moment are ready."""
    subscriber.wait(moment, f"{station}/state/summary", '"valid":true')
    # (The long window of STA/LTA.)
    time.sleep(12)


def shake():
    """The ground moves, and once more when it is still and nobody has noticed: beside other work the emulated bus carries so
    few samples that the strongest second may be in a gap. The first message of the event."""
    for played in range(1, patience // 60):
        moment = time.monotonic()
        board.run("systemctl kill -s USR1 chip")
        # (It moves for 50 s.)
        onset = subscriber.look(moment, "event/trigger", '"event_type":"onset"', 70)
        if onset:
            print(f"    noticed at time {played}, after {onset.time - moment:.0f} s: {shown('StatusText')}")
            return onset
    need(False, f"the earthquake is noticed, which was played {played} times: {shown('StatusText')}")


def quiet_start(began, when):
    """No alert of a sensor that udev has not yet given to its group."""
    alerts = [one.payload for one in subscriber.since(began, f"{station}/state/alert/sensor_permission") if one.payload]
    need(not alerts, f"the agent waits quietly for the sensor's device {when}: {alerts}")
    print("    " + (board.run("journalctl -b -u seismote -o short-monotonic --no-pager | grep -iE 'sensor' | head -6") or "no word of the sensor").replace("\n", "\n    "))


def on_card(*words):
    subprocess.run([words[0], "-i", board.boot, *words[1:]], check=True)


def whole(when):
    """Nothing failed, packages and settings are as they were."""
    need(board.run("systemctl --failed --no-legend --plain") == "", f"units failed {when}: " + board.run("systemctl --failed --no-legend"))
    need(board.run("dpkg --audit") == "", f"dpkg is not content {when}")
    need(board.run("cat /etc/seismote/seismote.yaml") == settings, f"the settings have changed {when}")


# (As the first process of its namespace it would not hear this otherwise.)
signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
machines.packages(work, ["repository", "along"])
broker = Broker()
line = re.search(r"^ +sudo (seismote setup .*)$", broker.account("add", station, "--host", "broker", "--no-qr"), re.M)[1]
eye = json.loads(broker.account("add", "eye", "--role", "viewer", "--json"))["password"]
page = machines.Page(work, broker.folder)
board = course.board = Board(image, work)
try:
    kernel = board.start(patience)
    subscriber = machines.Subscriber(os.path.join(broker.folder, "tls/ca.pem"), eye, patience, need)
    step(f"the board is on (its own clock: {kernel:.0f} s)")
    state = board.attempt("systemctl is-system-running --wait")[1]
    step(f"Debian 13's systemd is up: {state}, kernel {board.run('uname -rm')}")

    machines.sensor(board, work)
    step("the sensor is there: " + board.run("cat /run/chips/ready"))

    board.put("/etc/apt/keyrings/seismote.gpg", open(os.path.join(work, "repository/key.gpg"), "rb").read())
    board.run("""echo 'deb [trusted=yes] http://packages/along ./' >/etc/apt/sources.list.d/debian.list
        echo 'deb [signed-by=/etc/apt/keyrings/seismote.gpg] http://packages/repository trixie main older' >/etc/apt/sources.list.d/seismote.list""")
    need("W:" not in apt("update"), "apt takes the signed repository")
    step("apt update")
    said = apt("install seismote")
    step(f"apt install seismote: {said.count('Setting up ')} packages")
    need(board.run("dpkg-query -W -f '${Version}' seismote") == old, "the first version is there")
    for unit in ("seismote", "seismote-boot"):
        need(board.attempt(f"systemctl is-enabled {unit}")[1] == "enabled", f"{unit} is enabled by the package")
    need(board.attempt("systemctl is-active seismote")[1] == "active", "the service runs")

    # (This bus carries no more.)
    board.run("printf 'sensor:\\n  rate_hz: 25\\ndetection:\\n  sta_lta:\\n    lta_s: 10\\n' >>/etc/seismote/seismote.yaml")
    moment = time.monotonic()
    said = board.run(f"{line} --yes --latitude 47.5 --longitude 7.6 --noise-seconds 10 2>&1")
    print("\n".join("    " + words for words in said.splitlines()))
    settings = board.run("cat /etc/seismote/seismote.yaml")
    for words in (f"id: {station}", "mqtts://broker:8883", "ca_file", "password_file", "driver: auto"):
        need(words in settings, f"setup wrote {words}: {settings}")
    need(board.run("stat -c '%U:%G %a' /etc/seismote/mqtt-password") in ("root:seismote 640", "seismote:seismote 600"), "the password is for the agent alone")
    step("seismote setup --yes: " + shown("StatusText"))
    subscriber.wait(moment, f"{station}/data/trace")
    step("the first trace has arrived, over TLS with the station's own account")
    browser = page.picture(python, ("eye", eye), station, patience) if python else None
    if browser:
        need(browser.stdout.readline() == "live\n", "the page shows the live station after the login")
        step("the page shows the live station, in a browser after the login")
    settled(moment)
    step("the detector is ready")
    shake()
    step("the earthquake has arrived")
    if browser:
        need(browser.wait(patience) == 0, "the page shows the earthquake")
        step("and is on the page")
    print("    " + board.run("systemctl show -p MemoryCurrent seismote; grep -E 'VmRSS|Uid' /proc/$(systemctl show -p MainPID --value seismote)/status").replace("\n", ", "))

    began = time.monotonic()
    board.reboot(patience)
    moment = time.monotonic()
    step("rebooted")
    subscriber.wait(moment, f"{station}/data/trace")
    step("the agent publishes by itself")
    whole("after the reboot")
    quiet_start(began, "after the reboot")

    settled(moment)
    # In the midst of an event: its first message has arrived, its last has not.
    event = json.loads(shake().payload)["event_id"]
    step("another earthquake begins")
    moment = time.monotonic()
    board.cut()
    subscriber.wait(moment, f"{station}/state/online", "offline", 60)
    step("power cut; the broker says that the station is offline")
    began = time.monotonic()
    board.start(patience)
    moment = time.monotonic()
    step("on again")
    subscriber.wait(moment, f"{station}/data/trace")
    step("the agent publishes by itself")
    # (The agent may be there before the shell is.)
    end = subscriber.wait(began, "event/trigger", f'"event_type":"end","event_id":"{event}"').payload
    need(json.loads(end).get("interrupted") is True, f"the end of the event that was cut off says so: {end}")
    step("the event that was cut off has its end")
    whole("after the power cut")
    quiet_start(began, "after the power cut")
    print("    " + board.run("dmesg | grep -iE 'ext4|recover' | tail -3; journalctl -b -u seismote -o cat --no-pager | head -8").replace("\n", "\n    "))

    # --- upgrade while the broker is away
    board.put("/srv/recording.mseed", open(os.path.join(work, "recording"), "rb").read())
    settings = settings.replace("driver: auto", "driver: replay\n  replay: {file: /srv/recording.mseed, speed: 20, loop: true, "
                                "scale: [4.674e-06, 4.677e-06, 4.679e-06]}")
    board.put("/etc/seismote/seismote.yaml", (settings + "\n").encode())
    board.run("seismote config check /etc/seismote/seismote.yaml")
    board.run("systemctl restart seismote")
    moment = time.monotonic()
    subscriber.wait(moment, f"{station}/data/trace")
    step("a recording is played at 20 times its speed")
    broker.stop()
    deadline = time.monotonic() + patience
    while len(spooled()) < 6 and time.monotonic() < deadline:
        time.sleep(3)
    step(f"the broker is away, {len(spooled())} messages of events wait")
    subprocess.run([os.path.join(work, "add-next")], check=True)
    apt("update")
    process, wanted = shown("MainPID"), spooled()
    need(len(wanted) >= 6, f"6 messages wait: {wanted}")
    said = apt("install seismote")
    step("upgrade: " + next((words for words in said.splitlines() if words.startswith("Setting up")), said[-200:]))
    need(board.run("dpkg-query -W -f '${Version}' seismote") == new, "the next version is there")
    need(shown("MainPID") not in ("0", process), "the upgrade starts the new agent")
    need("dpkg" not in board.run("ls /etc/seismote"), "dpkg does not take the settings for its own")
    whole("after the upgrade")
    broker.start()
    moment, lost = time.monotonic(), wanted
    while lost and time.monotonic() < moment + patience:
        time.sleep(0.5)
        lost = missing(wanted, [one.payload for one in list(subscriber.heard) if one.topic.endswith("event/trigger")])
    need(not lost, f"these events have not arrived: {lost}")
    step(f"the broker is back, all {len(wanted)} have arrived")

    apt(f"install --allow-downgrades seismote={old}")
    need(board.run("dpkg-query -W -f '${Version}' seismote") == old, "the first version is there again")
    whole("after the downgrade")
    moment = time.monotonic()
    subscriber.wait(moment, f"{station}/data/trace")
    step("downgrade: the older agent publishes")

    apt("remove seismote")
    need(board.attempt("systemctl is-active seismote")[1] in ("inactive", "unknown"), "removed: it does not run")
    need(board.run("cat /etc/seismote/seismote.yaml") == settings, "removed: the settings are there")
    need(board.attempt("test -s /var/lib/seismote/spool.db")[0] == 0, "removed: the events are there")
    step("removed; settings and events are there")
    apt("purge seismote")
    left = board.run("find / -xdev -iname '*seismote*' -not -path '/etc/apt/*' -not -path '/var/lib/apt/*' -not -path '/var/cache/apt/*' -not -path '/var/log/*'")
    need(left == "", f"left after the purge: {left}")
    step("purged, no file is left")

    # --- a new board, set up by a file that another computer has put on its boot partition
    apt("install seismote")
    board.off(patience)
    secret = shlex.split(line)[-1]
    with open(os.path.join(work, "seismote.yaml"), "w") as file:
        file.write(f"""# The station in the attic.
station: {{id: {station}, groups: [school]}}
sensor: {{rate_hz: 25}}
mqtt:
  uri: mqtts://broker:8883
  username: {station}
  password: {secret}
  tls:
    ca_file: /boot/firmware/ca.pem
""")
    on_card("mcopy", os.path.join(work, "seismote.yaml"), "::/seismote.yaml")
    on_card("mcopy", os.path.join(broker.folder, "tls/ca.pem"), "::/ca.pem")
    need(secret.encode() in open(board.boot, "rb").read(), "the password is on the boot partition")
    step("installed again and switched off; seismote.yaml and ca.pem are on the boot partition")
    board.start(patience)
    moment = time.monotonic()
    subscriber.wait(moment, f"{station}/data/trace")
    step("on: it has taken the file over and publishes")
    need("# The station in the attic." in board.run("cat /etc/seismote/seismote.yaml"), "the settings are those of the file")
    need(secret not in board.run("cat /etc/seismote/seismote.yaml"), "the password is not in the settings")
    need(board.run("ls /boot/firmware") == "", "nothing is left on the boot partition: " + board.run("ls /boot/firmware"))
    board.off(patience)
    need(secret.encode() not in open(board.boot, "rb").read(), "the password is on no block of the boot partition")
    # One that is wrong stays, with what is wrong beside it.
    with open(os.path.join(work, "seismote.yaml"), "w") as file:
        file.write("statoin: {id: attic}\n")
    on_card("mcopy", os.path.join(work, "seismote.yaml"), "::/seismote.yaml")
    board.start(patience)
    moment = time.monotonic()
    subscriber.wait(moment, f"{station}/data/trace")
    need("did you mean `station`" in board.run("cat /boot/firmware/seismote-errors.txt"), "what is wrong is beside it")
    said = board.attempt("seismote doctor")[1]
    need("boot_file" in said, f"doctor says it: {said}")
    print("    " + "\n    ".join(board.run("cat /boot/firmware/seismote-errors.txt").splitlines()))
    step("a file that is wrong is left there, the station goes on as it was; seismote doctor names it")
finally:
    board.cut()
    page.stop()
print(f"\nAll of it: {course.seconds:.0f} s")
