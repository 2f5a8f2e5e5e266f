"""`seismote setup` in a real terminal (tmux), on the virtual board: each case is typed as a person would, and what is on the
screen at its end is left as CASE.screen. See deploy/checks/setup.

terminal.py FOLDER     from the environment: line (of `seismote-broker add`), reader (password of the account `eye`)"""
import ctypes
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import time

folder = sys.argv[1]
line = os.environ["line"]
password = shlex.split(line)[-1]
patience = 120  # of the board's own seconds
faults = []


class Terminal:
    """A terminal of 300 columns, where no sentence is broken, and whose screen is long enough for a whole conversation."""

    def __init__(self, name):
        self.name = name
        self.tmux("kill-server", check=False)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "300", "-y", "240", 
                  "env PS1='$ ' PROMPT_COMMAND='echo $? >/run/exit-status' TERM=screen bash --norc --noprofile")
        self.expect(r"^\$ $")

    def tmux(self, *words, check=True):
        return subprocess.run(["tmux", "-L", "setup", *words], check=check, capture_output=True, text=True).stdout

    def screen(self):
        return self.tmux("capture-pane", "-p", "-J").rstrip("\n") + "\n"

    def expect(self, pattern, where="end"):
        """Waits until the end of the screen (or anything on it) is like that."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            text = self.screen().rstrip("\n")
            if re.search(pattern if where == "anywhere" else rf"(?:{pattern})\s*\Z", text, re.M):
                return text
            time.sleep(0.2)
        raise RuntimeError(f"{self.name}: waited for {pattern!r} in\n{self.screen()}")

    def type(self, words):
        self.tmux("send-keys", "-l", words)
        self.tmux("send-keys", "Enter")

    def answer(self, question, words=""):
        """Types that when the question is asked."""
        self.expect(question)
        self.type(words)

    def interrupt(self):
        self.tmux("send-keys", "C-c")
        self.ended(130)

    def ended(self, status):
        """Waits for the shell's prompt."""
        self.expect(r"^\$ ")
        with open("/run/exit-status", encoding="ascii") as file:
            found = int(file.read())
        need(found == status, f"{self.name}: exit status {found}, not {status}")

    def keep(self):
        with open(os.path.join(folder, self.name + ".screen"), "w", encoding="utf-8") as file:
            file.write(self.screen())
        self.tmux("kill-server", check=False)


def need(condition, words):
    if not condition:
        faults.append(words)
        print("WRONG:", words, flush=True)


# --- the world around the board


class Chip:
    """An ADXL345 on an I2C bus of its own, whose wires can be off."""

    def __init__(self):
        self.switches = "/run/switches"
        os.makedirs(self.switches, exist_ok=True)
        os.makedirs("/run/chips", exist_ok=True)
        subprocess.run(["modprobe", "-a", "i2c-dev", "vhci-hcd", "i2c-tiny-usb"], check=True)
        self.switch("missing", True)
        self.process = subprocess.Popen(
            [sys.executable, "-B", "-m", "emulator", "--ready", "/run/chips/ready",
             f"chip=adxl345,world=/board/files/world.csv,noise=0.03,switches={self.switches}"],
            cwd="/run/chips", env={**os.environ, "PYTHONPATH": os.environ["BOARD_CHECKS"]})
        while not (os.path.exists("/run/chips/ready") and os.path.getsize("/run/chips/ready")):
            time.sleep(0.05)
        subprocess.run(["udevadm", "settle"], check=True)

    def switch(self, kind, on):
        path = os.path.join(self.switches, kind)
        if on:
            open(path, "w", encoding="ascii").close()
        elif os.path.exists(path):
            os.remove(path)

    def shake(self):
        """Somebody taps the table."""
        self.process.send_signal(signal.SIGUSR1)

    def end(self):
        self.process.terminate()
        self.process.wait()


def set_clock():
    """What chrony or systemd-timesyncd tells the kernel of a clock that they have set: 5 ms at most."""
    state = bytearray(208)
    struct.pack_into("i4xqqqi4x", state, 0, 0x10 | 0x04 | 0x08, 0, 0, 5000, 0)  # ADJ_STATUS, MAXERROR, ESTERROR
    struct.pack_into("q", state, 24, 5000)
    struct.pack_into("q", state, 32, 1000)
    struct.pack_into("i", state, 40, 1)  # STA_PLL
    need(ctypes.CDLL(None).adjtimex((ctypes.c_char * 208).from_buffer(state)) >= 0, "the kernel takes the clock's state")


class Still:
    """A time in which nobody reads from the host, and that may pass as quickly as it can (see guest.sh)."""

    busy = int(open("/run/busy", encoding="ascii").read())

    def __enter__(self):
        os.kill(self.busy, signal.SIGSTOP)

    def __exit__(self, *_):
        os.kill(self.busy, signal.SIGCONT)


def settings():
    with open("/etc/seismote/seismote.yaml", encoding="utf-8") as file:
        return file.read()


# --- the questions

SENSOR, NORTH, NAME = r"Sensor \(auto.*\]: *", r"degrees from north \[.*\]: *", r"Name of the station \[.*\]: *"
LATITUDE, LONGITUDE, GROUPS = r"Latitude .*: *", r"Longitude .*: *", r"Groups, .*: *"
BROKER, FINGERPRINT = r"Broker \(.*\]: *", r"Fingerprint .*: *"
USER, PASSWORD = r"User name .*: *", r"Password .*: *"
CLOCK, PRESET, SAVE = r"clock is not set.*\]: *", r"Preset \(.*\]: *", r"Write this \[y\]: *"
TAP = r"  z [█·]+ .*"


def place(terminal):
    """The questions about the place, where the name is the account's."""
    terminal.answer(LATITUDE, "47.5")
    terminal.answer(LONGITUDE, "7.6")
    terminal.answer(GROUPS)


def sensor(terminal):
    terminal.answer(SENSOR)
    terminal.answer(TAP)
    terminal.answer(NORTH)


def quiet(terminal):
    """The minute of quiet."""
    terminal.expect("Leave the sensor alone", "anywhere")
    time.sleep(1)
    with Still():
        terminal.expect("Preset .*", "anywhere")


def tested(terminal):
    """The test event, for which half a minute is waited where the broker does not say that it is refused."""
    terminal.expect("The service (runs|was not started)", "anywhere")
    time.sleep(3)
    with Still():
        terminal.expect("test event (came|within|was|went)|no test event", "anywhere")


def i2c_off():
    t = Terminal("i2c-off")
    t.type("sudo seismote setup")
    t.expect(SENSOR)
    t.interrupt()
    t.keep()


def no_sensor():
    t = Terminal("no-sensor")
    t.type("sudo seismote setup")
    t.answer(SENSOR, "simulate")
    t.answer(TAP)
    t.answer(NORTH)
    t.expect(NAME)
    t.interrupt()
    t.keep()


def wiring(chip):
    t = Terminal("wiring")
    t.type("sudo seismote setup")
    t.expect(SENSOR)
    chip.switch("missing", False)
    t.type("")
    t.expect(r"adxl345 [\s\S]*" + SENSOR)
    t.interrupt()
    t.keep()


def jammed(chip):
    chip.switch("jam", True)
    t = Terminal("jammed")
    t.type("sudo seismote setup")
    t.expect(SENSOR)
    t.interrupt()
    t.keep()
    chip.switch("jam", False)


def clock():
    t = Terminal("clock")
    t.type(line)
    sensor(t)
    place(t)
    t.answer(CLOCK, "n")
    t.answer(SAVE, "n")
    t.ended(1)
    t.keep()


def wrong_broker():
    t = Terminal("wrong-broker")
    t.type("sudo seismote setup")
    sensor(t)
    t.answer(NAME)
    t.answer(LATITUDE, "470")
    t.answer(LATITUDE, "47.5")
    t.answer(LONGITUDE, "7.6")
    t.answer(GROUPS)
    t.answer(BROKER, "mqtts://brokr.local")
    t.answer(FINGERPRINT)
    t.answer(USER)
    t.answer(BROKER, "mqtt://broker.local")
    t.answer(USER)
    t.answer(BROKER, "http://broker.local")
    t.answer(BROKER, "mqtts://broker.local:8883")
    t.answer(FINGERPRINT)
    t.answer(USER)
    t.expect(BROKER)
    t.interrupt()
    t.keep()


def announced():
    subprocess.run(["systemctl", "start", "announce"], check=True)
    deadline = time.monotonic() + patience
    while "=;" not in subprocess.run(["avahi-browse", "-rpt", "_secure-mqtt._tcp"], capture_output=True, text=True, check=False).stdout:
        if time.monotonic() > deadline:
            raise RuntimeError("the broker does not announce itself")
        time.sleep(1)
    t = Terminal("announced")
    t.type("sudo seismote setup --sensor auto --north 0 --latitude 47.5 --longitude 7.6 --groups ''")
    t.answer(TAP)
    t.answer(NAME)
    t.answer(BROKER)
    t.answer(FINGERPRINT, re.search("SHA256:[0-9A-F]*", line)[0])
    t.answer(USER, "basement")
    t.answer(PASSWORD, password)
    t.expect("4 of 5[\\s\\S]*Leave the sensor alone", "anywhere")
    t.interrupt()
    t.keep()
    # Without libnss-mdns the board does not know the name.
    with open("/etc/hosts", encoding="ascii") as file:
        hosts = file.read()
    with open("/etc/hosts", "w", encoding="ascii") as file:
        file.write("127.0.0.1 localhost basement\n")
    t = Terminal("announced-address")
    t.type("sudo seismote setup --sensor auto --north 0 --latitude 47.5 --longitude 7.6 --groups '' --name basement")
    t.answer(TAP)
    t.expect(BROKER)
    t.interrupt()
    need("Found: mqtts://10.9.0.2:8883" in t.screen(), "a broker whose name is not known is found by its address")
    t.tmux("kill-server", check=False)
    with open("/etc/hosts", "w", encoding="ascii") as file:
        file.write(hosts)


def wrong_fingerprint():
    t = Terminal("wrong-fingerprint")
    other = re.sub("SHA256:..", "SHA256:00", line)
    t.type(f"{other} --sensor auto --north 0 --latitude 47.5 --longitude 7.6 --groups ''")
    t.answer(TAP)
    t.answer(BROKER)
    t.answer(FINGERPRINT, "SHA256:12")
    t.answer(FINGERPRINT, re.search("SHA256:[0-9A-F]*", line)[0])
    t.answer(USER)
    t.answer(PASSWORD, password)
    t.expect("4 of 5[\\s\\S]*Leave the sensor alone", "anywhere")
    t.interrupt()
    t.keep()


def wrong_password():
    t = Terminal("wrong-password")
    t.type(line.replace(password, "k7mq-2222-3333-4444-5555-6666"))
    sensor(t)
    place(t)
    t.answer(USER)
    t.answer(PASSWORD, password)
    t.expect("4 of 5[\\s\\S]*Leave the sensor alone", "anywhere")
    t.interrupt()
    text = t.screen()
    t.keep()
    need(text.count(password) == 0, "a password that is typed is not shown")


def closed():
    """The terminal is closed while the sensor is looked at: the service has to go on all the same."""
    t = Terminal("closed")
    t.type("sudo seismote setup")
    t.answer(SENSOR)
    t.expect(TAP)
    t.tmux("kill-server", check=False)
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline and subprocess.run(["pidof", "seismote"], capture_output=True, check=False).returncode == 0:
        time.sleep(0.2)


def finished(t):
    """From the measured quiet to the end."""
    quiet(t)
    t.answer(PRESET)
    t.answer(SAVE)
    tested(t)
    t.ended(0)
    t.keep()


def normal(chip):
    t = Terminal("normal")
    t.type(line)
    t.answer(SENSOR)
    t.expect(TAP)
    chip.shake()
    # The bar of x jumps: 1.5 m/s² at the most.
    t.expect(r"  x █.* (0\.[1-9]|1\.)[0-9]* m/s²", "anywhere")
    time.sleep(8)
    t.type("")
    t.answer(NORTH)
    t.answer(LATITUDE, "47.5")
    t.answer(LONGITUDE, "7.6")
    t.answer(GROUPS, "school")
    finished(t)


def second_run():
    t = Terminal("second-run")
    t.type("sudo seismote setup")
    sensor(t)
    t.answer(NAME)
    t.answer(LATITUDE)
    t.answer(LONGITUDE, "7.7")
    t.answer(GROUPS)
    t.answer(BROKER)
    t.answer(USER)
    t.answer(PASSWORD)
    finished(t)


def options():
    with open("/root/password", "w", encoding="ascii") as file:
        file.write(password + "\n")
    os.chmod("/root/password", 0o600)
    os.remove("/etc/seismote/mqtt-password")
    os.remove("/etc/seismote/broker-ca.pem")
    shutil.copy("/board/files/seismote.yaml", "/etc/seismote/seismote.yaml")
    t = Terminal("options")
    words = line.replace(f" --password {password}", " --password-file /root/password")
    t.type(f"{words} --yes --sensor i2c:0:0x53 --latitude 47.5 --longitude 7.6 --noise-seconds 10")
    t.ended(0)
    t.keep()


def doctor():
    t = Terminal("doctor")
    t.type("sudo seismote doctor")
    t.ended(0)
    t.keep()


def heard(seconds):
    """Topics of the station that arrive, with the viewer's account over TLS."""
    done = subprocess.run(
        ["mosquitto_sub", "-h", "broker.local", "-p", "8883", "--cafile", "/etc/seismote-broker/tls/ca.pem", "-u", "eye",
         "-P", os.environ["reader"], "-t", "seismote/basement/data/trace", "-C", "1", "-W", str(seconds)], capture_output=True, check=False)
    return done.stdout


def case(function, *words):
    begun = time.monotonic()
    before = settings()
    try:
        function(*words)
    except (RuntimeError, subprocess.CalledProcessError) as error:
        faults.append(str(error))
        print("WRONG:", error, flush=True)
    if function in (i2c_off, no_sensor, wiring, jammed, clock, wrong_broker, announced, wrong_fingerprint, wrong_password, closed):
        need(settings() == before, f"{function.__name__}: nothing was saved")
    active = subprocess.run(["systemctl", "is-active", "seismote"], capture_output=True, text=True, check=False).stdout.strip()
    need(active == "active", f"{function.__name__}: the service runs again at the end: {active}")
    print(f"[{time.monotonic():7.1f}] {function.__name__}: {time.monotonic() - begun:.0f} s of the board", flush=True)


case(i2c_off)
chip = Chip()
case(no_sensor)
case(wiring, chip)
case(jammed, chip)
case(clock)
set_clock()
case(wrong_broker)
case(announced)
case(wrong_fingerprint)
case(wrong_password)
case(closed)
case(normal, chip)
need(heard(20), "traces of the station arrive at the broker")
case(second_run)
set_clock()
case(doctor)
case(options)
need(heard(20), "traces of the station arrive at the broker after the run with options alone")
chip.end()
print(f"{len(faults)} faults", flush=True)
sys.exit(1 if faults else 0)
