"""From an image with nothing of Seismote on it to a station with a certificate, and power cuts on the way; see
deploy/checks/delivery-board. In the room of deploy/checks/docs.d, beside the broker and the service that signs.

joining.py IMAGE WORK [PYTHON]     WORK: repository (signed), along (what Debian has of it), broker-package and nginx
                                   (unpacked); PYTHON: one that has playwright"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import machines
from board import Board

image, work = sys.argv[1:3]
python = sys.argv[3] if len(sys.argv) > 3 else ""
patience = 900
station = "attic"
state = "/run/seismote-room"
course = machines.Course("ls -lR /etc/seismote; cat /etc/seismote/seismote.yaml; journalctl --no-pager -o short-monotonic -u 'seismote*' -u 'cloud-*' | tail -80")
step, need = course.step, course.need


# --- this machine


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    need(done.returncode == 0, f"{words[:2]} ends with {done.returncode}: {done.stderr}")
    return done.stdout


def service(verb, *units):
    run("systemctl", verb, *units)


def tidy():
    """As seismote-broker-tidy.path does."""
    changed, seen = "/var/lib/seismote-enrol/changed", 0
    while True:
        now = os.stat(changed).st_mtime_ns if os.path.exists(changed) else 0
        if now != seen:
            seen = now
            subprocess.run(["seismote-broker", "tidy"], stderr=subprocess.DEVNULL)
        time.sleep(0.1)


def says(unit, words, already):
    """Waits until the log of a service has these words once more."""
    deadline = time.monotonic() + patience
    while count(unit, words) <= already:
        need(time.monotonic() < deadline, f"{unit} says {words}")
        time.sleep(0.02)


def count(unit, words):
    path = f"{state}/{unit}.log"
    return len(re.findall(words, open(path, errors="replace").read())) if os.path.exists(path) else 0


# --- the board


def until(condition):
    """Waits until something is so on the board."""
    status, said = board.attempt(f"for _ in {{1..18000}}; do if {condition}; then exit 0; fi; sleep 0.05; done; exit 1", patience)
    need(status == 0, f"on the board: {condition} {said}")


cuts = 0
are_cut = os.environ.get("SEISMOTE_JOINING_CUTS", "all") != "none"


def cut(words):
    global cuts
    if not are_cut:
        return step(f"no power cut: {words}")
    board.cut()
    cuts += 1
    step(f"power cut {cuts}: {words}")
    kernel = board.start(patience)
    step(f"on again (its own clock: {kernel:.0f} s)")


signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
machines.packages(work, ["repository", "along"])
threading.Thread(target=tidy, daemon=True).start()
# (What this machine's own package comes from.)
os.makedirs("/etc/apt/keyrings", exist_ok=True)
shutil.copy(os.path.join(work, "repository/key.gpg"), "/etc/apt/keyrings/seismote.gpg")
with open("/etc/apt/sources.list.d/seismote.list", "w") as file:
    file.write("deb [signed-by=/etc/apt/keyrings/seismote.gpg] http://packages/repository trixie main older\n")
data = run("seismote-broker", "invite", station, "--host", "broker", "--user-data", "--install", "--hours", "48")
eye = json.loads(run("seismote-broker", "add", "eye", "--role", "viewer", "--json"))["password"]
# What is true of this board alone: Debian's packages are elsewhere, and no sensor is wired.
data += """  - |
    if ! [ -e /srv/this-board ]; then
        echo 'deb [trusted=yes] http://packages/along ./' >/etc/apt/sources.list.d/debian.list
        mkdir -p /etc/seismote
        echo 'sensor: {driver: simulate}' >/etc/seismote/seismote.yaml
        sync && touch /srv/this-board
    fi
"""
page = machines.Page(work, "/etc/seismote-broker")
subscriber = machines.Subscriber("/etc/seismote-broker/tls/ca.pem", eye, patience, need)
board = course.board = Board(image, os.path.join(work, "joining"), cloud=True)
for name, text in (("user-data", data), ("meta-data", "instance-id: fresh\n")):
    with open(os.path.join(work, name), "w") as file:
        file.write(text)
    subprocess.run(["mcopy", "-i", board.boot, os.path.join(work, name), "::/" + name], check=True)
service("stop", "seismote-broker")
try:
    kernel = board.start(patience)
    step(f"a fresh image with user-data is on (its own clock: {kernel:.0f} s)")
    need(board.attempt("dpkg -s seismote")[0] != 0, "nothing of Seismote is on it")
    until("grep -q 'half-installed seismote:' /var/log/dpkg.log")
    cut("apt unpacks the package")
    until("grep -q 'half-configured seismote:' /var/log/dpkg.log")
    cut("dpkg sets the package up")
    until("journalctl -q -u seismote-join -o cat | grep -q 'does not answer; waiting'")
    cut("the broker is away")
    service("stop", "seismote-broker-enrol")
    service("start", "seismote-broker")
    until("ls /etc/seismote/joining/????????.pem")
    cut("the key is made, and nobody signs")
    signed = f"certificate [0-9a-f]+ for {station}"
    service("start", "seismote-broker-enrol")
    says("seismote-broker-enrol", signed, 0)
    cut("the certificate is signed, and on its way")
    until("[ -e /etc/seismote/certificate/station.pem ]")
    cut("the board has it")
    connected = f"u'{station}'"
    says("seismote-broker", connected, 0)
    cut("it has connected with its certificate")
    until("grep -q 8884 /etc/seismote/seismote.yaml")
    cut("the settings are written")
    moment = time.monotonic()
    subscriber.wait(moment, f"{station}/data/trace")
    step("it publishes")
    until("[ ! -e /etc/seismote/joining ]")
    cut("it is a station")
    moment = time.monotonic()
    subscriber.wait(moment, f"{station}/data/trace")
    step("it publishes again, and nothing was typed on it")
    # (The power may have gone before it was on the disk that all was over: then it is gone through once more.)
    until("[ ! -e /etc/seismote/joining ] && ! systemctl is-active --quiet seismote-join")
    step("the way in is closed")

    need(board.run("ls /etc/seismote/joining 2>&1 || true").endswith("No such file or directory"), "nothing is left of joining")
    need(board.run("stat -c '%a %U' /etc/seismote/certificate/station.pem") == "600 seismote", "the key is for the service alone")
    need(board.run("grep -c BEGIN /etc/seismote/certificate/station.pem") == "2", "certificate and key")
    need(board.run("systemctl --failed --no-legend --plain") == "", "no unit has failed: " + board.run("systemctl --failed --no-legend"))
    need(board.run("dpkg --audit") == "", "dpkg is content")
    print("    " + board.run("openssl x509 -in /etc/seismote/certificate/station.pem -noout -subject -issuer -enddate").replace("\n", ", "))
    need(board.run("openssl x509 -in /etc/seismote/certificate/station.pem -noout -subject").replace(" ", "") == f"subject=CN={station}", "the certificate is the station's")
    need(count("seismote-broker-enrol", signed) == 1, "one certificate was signed, whatever was cut")
    listed = next(line for line in run("seismote-broker", "list").splitlines() if line.startswith(station))
    need("certificate until" in listed and "connected since" in listed, listed)
    print("    " + listed)
    need("enrol-" not in open("/etc/seismote-broker/passwords").read().replace("seismote-enrol", ""), "the invitation is used up")
    kept = run("mosquitto_sub", "-h", "localhost", "-p", "8883", "--cafile", "/etc/seismote-broker/tls/ca.pem", "-u", "eye", "-P", eye,
               "-t", f"seismote/{station}/state/online", "-C", "1", "-W", "20", "-F", "%r %p")
    need(kept.startswith("1 ") and "offline" not in kept, f"the broker retains that it is online: {kept}")
    if python:
        browser = page.picture(python, ("eye", eye), station)
        need(browser.stdout.readline() == "live\n", "the page shows the live station after the login")
        need(browser.wait(patience) == 0, "the picture is made")
        step("the page shows the live station, in a browser after the login")
finally:
    board.cut()
    page.stop()
print(f"\n{cuts} power cuts; {course.seconds:.0f} s")
