"""run.py AGENT TOOL FOLDER [NAME...]: see deploy/checks/doctor."""

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from agent import Agent
from certificates import make, openssl
from client import Client
from kinds import Mosquitto

AGENT, TOOL, WORK = sys.argv[1:4]
CLOCK = os.path.join(WORK, "clock.so")
RIGHTS = ("user reader\ntopic readwrite #\n" + "".join(
    f"pattern write seismote/%u/{part}/#\n" for part in ("state", "event", "data", "res"))
    + "pattern read seismote/%u/cmd/#\npattern readwrite seismote/%u/cmd/selfcheck\n"
    + "pattern read seismote/%u/event/current\n"
    + "pattern read seismote/%u/+/selfcheck\npattern read seismote/%u/+/+/selfcheck\n")


class Case:
    """A fault: `station` makes what is well, `fault` puts the fault in; doctor must say `code` and `remedy` then only."""

    def __init__(self, code, remedy, told=""):
        self.name = self.__class__.__name__
        self.code, self.remedy, self.told = code, remedy, told
        self.folder = os.path.join(WORK, self.name)
        self.options, self.environment, self.agent, self.broker = [], {}, None, None
        self.settings, self.lines, self.accounts = {}, [], None
        self.again, self.program = 0, AGENT
        # As the unit has it: a folder in memory for the agent's own state.
        self.runtime = os.path.join(self.folder, "run")
        # Checks that may be skipped on the station as it is before the fault.
        self.skipped = ()

    async def station(self):
        os.makedirs(self.folder, exist_ok=True)
        os.chmod(self.folder, 0o755)
        self.broker = Mosquitto(self.folder, "broker", self.lines, accounts=self.accounts)
        await self.broker.start()
        settings = {"mqtt": {"uri": f"mqtt://127.0.0.1:{self.broker.port}"}, "sensor": {"simulate": {"scenario": "quiet"}}}
        self.agent = Agent(self.program, self.folder, "board", settings)
        for key, value in self.settings.items():
            self.agent.settings.setdefault(key, {}).update(value)
        self.begin()
        await self.online()

    def begin(self):
        if self.runtime:
            os.makedirs(self.runtime, exist_ok=True)
            self.agent.command = ["env", f"RUNTIME_DIRECTORY={self.runtime}"]
        self.agent.start()

    async def online(self, root="seismote", seconds=15):
        """Until the agent says so to the broker."""
        client = await self.reader()
        await client.subscribe(f"{root}/board/state/online")
        await client.subscribe(f"{root}/board/state/health")
        deadline = time.monotonic() + seconds
        def seen(kind):
            return any(m.topic.endswith(kind) and (m.payload == b"online" or kind == "health") for m in client.messages)
        while not (seen("online") and seen("health")):
            if time.monotonic() > deadline:
                raise RuntimeError(f"the agent does not come: {self.agent.words()[-600:]}")
            await asyncio.sleep(0.1)
        await client.close()

    async def reader(self):
        return await Client("check-reader").connect(self.broker.port)

    async def fault(self):
        raise NotImplementedError

    async def doctor(self):
        environment = {**os.environ, "LD_PRELOAD": CLOCK, "SEISMOTE_CHECK_CLOCK": "synced", **self.environment}
        path = os.path.join(self.agent.folder, "settings.yaml")
        process = await asyncio.create_subprocess_exec(
            TOOL, "doctor", "--config", path, "--json", *self.options, env=environment,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        output, errors = await process.communicate()
        try:
            report = self.report = json.loads(output)
        except ValueError:
            raise RuntimeError(f"doctor ended with {process.returncode}: {errors.decode()}") from None
        if re.search(r"ExitCode|rawValue|Optional\(|Error\(", output.decode() + errors.decode()):
            raise RuntimeError(f"a value of Swift: {output.decode()}{errors.decode()}")
        wrong = [check for check in report["checks"] if check["outcome"] == "wrong"]
        if process.returncode != (1 if wrong else 0) or report["ok"] != (not wrong):
            raise RuntimeError(f"exit status {process.returncode} with {len(wrong)} findings")
        return wrong

    async def run(self):
        try:
            await self.station()
            # Next to what the case itself is for, a station that is well has nothing wrong.
            before = await self.doctor()
            if before:
                return f"{self.name}: before the fault: {before}"
            skipped = {check["check"] for check in self.report["checks"] if check["outcome"] == "skipped"}
            if skipped - set(self.skipped):
                return f"{self.name}: before the fault: skipped: {skipped - set(self.skipped)}: {self.report}"
            await self.fault()
            after = await self.doctor()
            for _ in range(self.again):
                if any(finding["code"] == self.code for finding in after):
                    break
                await asyncio.sleep(1)
                after = await self.doctor()
            found = [finding for finding in after if finding["code"] == self.code]
            if not found:
                return f"{self.name}: {self.code} not found, but {self.report}"
            if not any(re.search(self.remedy, f["remedy"]) and re.search(self.told, f["message"]) for f in found):
                return f"{self.name}: remedy or sentence: {found}"
            print(f"{self.name}: {found[0]['message']}\n    -> {found[0]['remedy']}", flush=True)
            return ""
        except Exception as problem:  # pylint: disable=broad-except
            return f"{self.name}: {problem!r}"
        finally:
            await self.tidy()

    def hold(self):
        """Stops the agent in the midst of its work; its connection stays."""
        os.kill(self.agent.number(), signal.SIGSTOP)

    async def tidy(self):
        if self.agent and self.agent.running:
            os.kill(self.agent.number(), signal.SIGCONT)
            self.agent.stop()
        if self.broker:
            self.broker.stop()


class Permissions(Case):
    """The storage folder belongs to another user than the agent's."""

    def __init__(self):
        super().__init__("file_permissions", r"chown -R nobody", "may not write into the storage folder")

    async def fault(self):
        self.agent.stop()
        os.chmod(self.agent.settings["storage"]["directory"], 0o700)
        self.options = ["--service-user", "nobody"]


class OpenPassword(Case):
    """Everybody may read the password."""

    def __init__(self):
        super().__init__("file_permissions", r"chmod 640", "Every user .* password file .*0644")
        self.secret = os.path.join(self.folder, "password")
        self.settings = {"mqtt": {"username": "board", "password_file": self.secret}}

    async def station(self):
        os.makedirs(self.folder, exist_ok=True)
        with open(self.secret, "w", encoding="utf-8") as file:
            file.write("secret\n")
        os.chmod(self.secret, 0o600)
        await super().station()

    async def fault(self):
        os.chmod(self.secret, 0o644)


class AgentStopped(Case):
    """No agent runs."""

    def __init__(self):
        super().__init__("agent_stopped", "systemctl enable --now seismote", "No seismoted")

    async def fault(self):
        self.agent.stop()


class UnitStopped(Case):
    """systemd says that the unit has failed."""

    def __init__(self):
        super().__init__("unit_stopped", "systemctl enable --now seismote; journalctl", r"failed \(failed, result exit-code")

    async def station(self):
        folder = os.path.join(self.folder, "bin")
        os.makedirs(folder)
        self.environment["PATH"] = folder + ":" + os.environ["PATH"]
        self.say("active", "running", "success")
        await super().station()

    def say(self, active, sub, result):
        path = os.path.join(self.folder, "bin", "systemctl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nprintf 'LoadState=loaded\\nActiveState={active}\\nSubState={sub}\\n"
                       f"UnitFileState=enabled\\nResult={result}\\nExecMainStatus=1\\nNRestarts=0\\n'\n")
        os.chmod(path, 0o755)

    async def fault(self):
        self.agent.stop()
        self.say("failed", "failed", "exit-code")


class ClockNotSet(Case):
    """Nothing steers the clock."""

    def __init__(self):
        super().__init__("clock_not_set", "chrony", "not synchronised")

    async def fault(self):
        self.environment["SEISMOTE_CHECK_CLOCK"] = "free"


class SmallDisk(Case):
    """The storage is on a file system of its own, of 24 MB."""

    async def station(self):
        self.place = os.path.join(self.folder, "disk")
        os.makedirs(self.place)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300M", "check", self.place], check=True)
        self.settings = {"storage": {"directory": os.path.join(self.place, "state")}}
        os.makedirs(self.settings["storage"]["directory"])
        await super().station()

    async def tidy(self):
        await super().tidy()
        subprocess.run(["umount", "-l", self.place], check=False)


class DiskFull(SmallDisk):
    """Somebody fills it."""

    def __init__(self):
        super().__init__("disk_full", "budget_mb", "only .* are free")

    async def fault(self):
        with open(os.path.join(self.place, "filler"), "wb") as file:
            try:
                for _ in range(300):
                    file.write(bytes(1 << 20))
            except OSError:
                pass


class ReadOnly(SmallDisk):
    """It is mounted read-only, as the kernel does after errors."""

    def __init__(self):
        super().__init__("storage_read_only", "remount,rw", "read-only")

    async def fault(self):
        self.agent.stop()
        subprocess.run(["mount", "-o", "remount,ro", self.place], check=True)


class CardErrors(Case):
    """An ext4 file system has counted errors."""

    def __init__(self):
        super().__init__("memory_card_errors", "Save the data now", "has counted 3 errors")
        self.place = os.path.join(self.folder, "card")

    async def fault(self):
        os.makedirs(self.place)
        image = os.path.join(self.folder, "image")
        with open(image, "wb") as file:
            file.truncate(16 << 20)
        for words in (["mkfs.ext4", "-q", image], ["debugfs", "-w", "-R", "set_super_value error_count 3", image],
                      ["mount", "-o", "loop", image, self.place]):
            subprocess.run(words, check=True, capture_output=True)

    async def tidy(self):
        await super().tidy()
        subprocess.run(["umount", self.place], check=False, capture_output=True)


class Undervoltage(Case):
    """The supply was too weak, as the kernel of a Raspberry Pi says."""

    def __init__(self):
        super().__init__("undervoltage", "power supply with a short cable", "was too low .the kernel has reported it 2 times")

    async def fault(self):
        log = os.path.join(self.folder, "kmsg")
        with open(log, "w", encoding="ascii") as file:
            file.write("".join(f"4,{number},{number}00,-;hwmon hwmon1: {words}\n" for number, words in enumerate(
                ("Undervoltage detected!", "Voltage normalised", "Undervoltage detected!"))))
        subprocess.run(["mount", "--bind", log, "/dev/kmsg"], check=True)

    async def tidy(self):
        await super().tidy()
        subprocess.run(["umount", "/dev/kmsg"], check=False, capture_output=True)


class BrokerAway(Case):
    """The broker is stopped."""

    def __init__(self):
        super().__init__("broker_away", "systemctl enable --now mosquitto", "refused")

    async def fault(self):
        self.broker.stop()


class WrongPassword(Case):
    """The broker knows another password."""

    def __init__(self):
        super().__init__("broker_credentials", "seismote-broker invite board", "[Nn]ot authori[sz]ed|[Bb]ad user")
        self.accounts, self.lines = {"board": "right"}, ["allow_anonymous true"]
        self.secret = os.path.join(self.folder, "password")
        self.settings = {"mqtt": {"username": "board", "password_file": self.secret}}

    async def station(self):
        os.makedirs(self.folder, exist_ok=True)
        self.say("right")
        await super().station()

    def say(self, password):
        with open(self.secret, "w", encoding="utf-8") as file:
            file.write(password + "\n")
        os.chmod(self.secret, 0o600)

    async def fault(self):
        self.say("wrong")


class RightsMissing(Case):
    """The account may not write events any more."""

    def __init__(self):
        super().__init__("rights_missing", "seismote-broker invite board", r"write seismote/board/event/selfcheck\.")
        self.skipped = ("leftovers",)
        self.acl = os.path.join(self.folder, "acl")
        self.lines = [f"acl_file {self.acl}", "allow_anonymous true"]
        self.settings = {"mqtt": {"username": "board", "home_assistant": {"enabled": False}}}

    def say(self, text):
        with open(self.acl, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.acl, 0o644)

    async def station(self):
        os.makedirs(self.folder, exist_ok=True)
        self.say(RIGHTS)
        await super().station()

    async def reader(self):
        return await Client("check-reader").connect(self.broker.port, user="reader", password="x")

    async def fault(self):
        self.say(RIGHTS.replace("pattern write seismote/%u/event/#\n", ""))
        self.broker.stop()
        await self.broker.start()


class Packaged(Case):
    """A station as the packages make it: its account may write its own messages and read none of them. Of what doctor
    looks at only leftovers of earlier names are the broker's secret then."""

    def __init__(self, code, remedy, told="", protocol=5):
        super().__init__(code, remedy, told)
        self.acl = os.path.join(self.folder, "acl")
        self.lines = [f"acl_file {self.acl}", "allow_anonymous true"]
        self.settings = {"mqtt": {"username": "board", "protocol": protocol, "home_assistant": {"enabled": False}}}
        self.skipped = ("leftovers",)

    async def station(self):
        os.makedirs(self.folder, exist_ok=True)
        with open(self.acl, "w", encoding="utf-8") as file:
            # `seismote-broker add board`, and somebody for this check.
            file.write("user reader\ntopic readwrite #\nuser board\n" + "".join(
                f"topic write seismote/board/{part}/#\n" for part in ("state", "event", "data", "res"))
                + "topic read seismote/board/event/current\n"
                + "topic read seismote/board/+/selfcheck\ntopic read seismote/board/+/+/selfcheck\n"
                + "topic readwrite seismote/board/cmd/selfcheck\ntopic read seismote/board/cmd/#\n"
                + "topic read seismote/group/+/cmd/#\n")
        os.chmod(self.acl, 0o644)
        await super().station()

    async def reader(self):
        return await Client("check-reader").connect(self.broker.port, user="reader", password="x")


class PackagedAlert(Packaged):
    """Its storage cannot be used: an alert of the agent that the broker does not show to its account."""

    def __init__(self):
        super().__init__("alert_storage_failed", "storage.directory", "storage unavailable")

    async def fault(self):
        self.agent.stop()
        path = os.path.join(self.folder, "file")
        with open(path, "w", encoding="utf-8"):
            pass
        self.agent.settings["storage"]["directory"] = os.path.join(path, "storage")
        self.begin()
        await asyncio.sleep(3)


class AgentHung(Packaged):
    """The agent is stopped in the midst of its work, with its connection and its file as they are."""

    def __init__(self):
        super().__init__("agent_hung", "systemctl restart seismote", r"hangs: its state in .* is (1[5-9]|[2-9]\d)")

    async def fault(self):
        self.hold()
        await asyncio.sleep(15.5)


class StateMissing(Case):
    """systemd runs an agent whose unit is of before: it makes no folder for the state."""

    def __init__(self):
        super().__init__("agent_state_missing", "daemon-reload", "RUNTIME_DIRECTORY")

    async def station(self):
        folder = os.path.join(self.folder, "bin")
        os.makedirs(folder)
        self.environment["PATH"] = folder + ":" + os.environ["PATH"]
        path = os.path.join(folder, "systemctl")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nprintf 'LoadState=loaded\\nActiveState=active\\nSubState=running\\n"
                       "UnitFileState=enabled\\nResult=success\\nExecMainStatus=0\\nNRestarts=0\\n'\n")
        os.chmod(path, 0o755)
        await super().station()

    async def fault(self):
        self.agent.stop()
        self.agent.command = []
        self.agent.start()
        await self.online()


class UserMismatch(Packaged):
    """Its id is changed, and its account is not: the rules have the user name in the place of the id."""

    def __init__(self, protocol=5):
        super().__init__("user_mismatch", "seismote-broker invite attic.*station.id: board", "`board`.*`attic`.*%u",
                         protocol=protocol)

    async def station(self):
        await super().station()
        with open(self.acl, "w", encoding="utf-8") as file:
            file.write(RIGHTS)
        self.broker.send_signal(signal.SIGHUP)

    async def fault(self):
        self.agent.stop()
        self.agent.settings["station"]["id"] = "attic"
        self.begin()
        await asyncio.sleep(3)


class UserMismatchOld(UserMismatch):
    """The same with MQTT 3.1.1, where a broker refuses the station nothing aloud."""

    def __init__(self):
        super().__init__("3.1.1")


class DuplicateId(Case):
    """A second agent with the same id."""

    def __init__(self):
        super().__init__("duplicate_id", "another station.id", "another station has the same id|taken over [0-9]+ times|two agents")
        self.other, self.again = None, 5

    async def fault(self):
        self.other = Agent(AGENT, os.path.join(self.folder, "other"), "board", {"mqtt": self.agent.settings["mqtt"]}).start()
        await asyncio.sleep(6)

    async def tidy(self):
        if self.other:
            self.other.stop()
        await super().tidy()


class OtherMachine(Case):
    """The station's id is sending, but from another machine."""

    def __init__(self):
        super().__init__("duplicate_id", "another station.id", "no agent with these settings runs")

    async def fault(self):
        # The same settings in another file: that is what this machine would start.
        folder = os.path.join(self.folder, "here")
        os.makedirs(folder)
        shutil.copy(os.path.join(self.agent.folder, "settings.yaml"), folder)
        self.moved, self.agent.folder = self.agent.folder, folder


class WrongMounting(Case):
    """The sensor stands on its side."""

    def __init__(self):
        super().__init__("wrong_mounting", r"sensor.mounting: \{x: \+y, y: \+z, z: \+x\}|sensor.mounting: \{x: ", r"along [+-][xy]")

    async def fault(self):
        self.agent.stop()
        self.agent.settings["sensor"]["mounting"] = {"x": "+z", "y": "+y", "z": "-x"}
        self.begin()
        await asyncio.sleep(2)
        await self.online()


class Stuck(Case):
    """The sensor gives the same values again and again."""

    def __init__(self):
        super().__init__("sensor_stuck", "wiring and power", "same values")

    async def fault(self):
        self.agent.stop()
        self.agent.settings["sensor"]["simulate"] = {"scenario": "sine", "amplitude": 0, "noise": 0}
        # Agents believe a simulated sensor; doctor reads it itself where none runs.
        self.begin()
        await asyncio.sleep(1)
        self.agent.stop()


class NoSensor(Case):
    """There is no bus."""

    def __init__(self):
        super().__init__("sensor_missing", "modprobe i2c-dev|raspi-config|probe", "")

    async def fault(self):
        self.agent.stop()
        self.agent.settings["sensor"] = {"driver": "i2c", "i2c": {"bus": 250}}
        self.begin()
        await asyncio.sleep(3)


class SettingsBroken(Case):
    """A key is misspelt."""

    def __init__(self):
        super().__init__("settings_broken", "seismote config check", "station/idd.*did you mean `id`")

    async def fault(self):
        with open(os.path.join(self.agent.folder, "settings.yaml"), "w", encoding="utf-8") as file:
            file.write("station: {idd: board}\n")


class NoSettings(Case):
    """There is no settings file under that name."""

    def __init__(self):
        super().__init__("settings_missing", "seismote setup", "There is no settings file")

    async def fault(self):
        os.unlink(os.path.join(self.agent.folder, "settings.yaml"))


class BootFile(Case):
    """A file on the boot partition could not be taken over."""

    def __init__(self):
        super().__init__("boot_file", "Correct it there .*systemctl start seismote-boot", "was not taken over: .*statoin.*did you mean `station`")

    async def fault(self):
        boot = os.path.join(self.folder, "boot")
        os.makedirs(boot)
        with open(os.path.join(boot, "seismote.yaml"), "w", encoding="utf-8") as file:
            file.write("statoin: {id: board}\n")
        done = subprocess.run([TOOL, "setup", "--from-boot", "--boot", boot, "--config", os.path.join(self.folder, "new.yaml")],
                              capture_output=True, check=False)
        if done.returncode != 78:
            raise RuntimeError(f"setup --from-boot ended with {done.returncode}: {done.stderr}")
        self.options = ["--boot", boot]


class OldVersion(Case):
    """The program was replaced while the agent runs."""

    def __init__(self):
        super().__init__("old_version", "systemctl restart seismote", "replaced or deleted")

    async def station(self):
        os.makedirs(self.folder, exist_ok=True)
        self.program = os.path.join(self.folder, "seismoted")
        shutil.copy(AGENT, self.program)
        await super().station()

    async def fault(self):
        shutil.copy(AGENT, self.program + ".new")
        os.replace(self.program + ".new", self.program)


class Leftovers(Case):
    """The station had another prefix before, and its broker still has what it said then."""

    def __init__(self):
        super().__init__("retained_leftovers", r"mosquitto_pub -h 127.0.0.1 .* -r -n -t", "below school/board")

    async def fault(self):
        client = await self.reader()
        for topic, words in (("online", b"offline"), ("info", b"{}"), ("health", b"{}")):
            await client.publish(f"school/board/state/{topic}", words, retain=True)
        await client.close()


class EarlierId(Case):
    """The station had another id before, at the same place."""

    def __init__(self):
        super().__init__("retained_leftovers", "seismote/cellar/state/info", "below seismote/cellar.*same place")
        self.settings = {"station": {"latitude": 47.5, "longitude": 7.6}}

    async def fault(self):
        client = await self.reader()
        info = {"station": {"id": "cellar", "latitude": 47.5, "longitude": 7.6}}
        await client.publish("seismote/cellar/state/online", b"offline", retain=True)
        await client.publish("seismote/cellar/state/info", json.dumps(info).encode(), retain=True)
        await client.close()


class Secure(Case):
    """A broker with TLS, whose certificate is `crt`."""

    async def station(self):
        self.tls = make(os.path.join(self.folder, "tls"))
        openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "400",
                "-extfile", "names", "-out", "long.crt", folder=self.tls)
        openssl("req", "-x509", "-key", "ca.key", "-days", "900", "-out", "ca.crt", "-subj", "/CN=Check ca", folder=self.tls)
        self.use("long")
        path = os.path.join(self.folder, "tls", "used.crt")
        key = os.path.join(self.folder, "tls", "server.key")
        for name in ("used.crt", "server.key", "ca.crt"):
            os.chmod(os.path.join(self.tls, name), 0o644)
        self.lines = [f"certfile {path}", f"keyfile {key}"]
        ca = os.path.join(self.tls, "ca.crt")
        self.settings = {"mqtt": {"tls": {"ca_file": ca}}}
        os.makedirs(self.folder, exist_ok=True)
        self.broker = Mosquitto(self.folder, "broker", self.lines)
        await self.broker.start()
        self.agent = Agent(AGENT, self.folder, "board", {
            "mqtt": {"uri": f"mqtts://127.0.0.1:{self.broker.port}", "tls": {"ca_file": ca}},
            "sensor": {"simulate": {"scenario": "quiet"}}})
        self.begin()
        deadline = time.monotonic() + 15
        while "connected" not in self.agent.words() and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
        await asyncio.sleep(1.5)

    def use(self, name):
        shutil.copy(os.path.join(self.tls, f"{name}.crt"), os.path.join(self.tls, "used.crt"))

    async def other(self, name):
        self.use(name)
        self.broker.stop()
        await self.broker.start()


class CertificateExpired(Secure):
    """The broker's certificate has expired."""

    def __init__(self):
        super().__init__("certificate_expired", "new one", "expired on")

    async def fault(self):
        await self.other("expired")


class CertificateSoon(Secure):
    """It expires in ten days."""

    def __init__(self):
        super().__init__("certificate_soon", "new one", r"expires in (9|10) days")

    async def fault(self):
        openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "10",
                "-extfile", "names", "-out", "soon.crt", folder=self.tls)
        await self.other("soon")


CASES = [Permissions, OpenPassword, AgentStopped, UnitStopped, ClockNotSet, DiskFull, ReadOnly, CardErrors, Undervoltage,
         BrokerAway, WrongPassword, RightsMissing, DuplicateId, OtherMachine, WrongMounting, Stuck, NoSensor, SettingsBroken,
         NoSettings, PackagedAlert, AgentHung, StateMissing, UserMismatch, UserMismatchOld, BootFile, OldVersion, Leftovers,
         EarlierId, CertificateExpired, CertificateSoon]


async def main():
    chosen = [case for case in CASES if len(sys.argv) < 5 or case.__name__ in sys.argv[4:]]
    few = asyncio.Semaphore(4)

    async def one(case):
        async with few:
            return await case().run()

    # What the kernel shows is everybody's: those that change it run alone.
    alone = [case for case in chosen if case in (CardErrors, Undervoltage)]
    problems = await asyncio.gather(*(one(case) for case in chosen if case not in alone))
    for case in alone:
        problems.append(await one(case))
    problems = [problem for problem in problems if problem]
    for problem in problems:
        print("WRONG:", problem)
    print(f"{len(chosen) - len(problems)} of {len(chosen)} faults found, each with its remedy")
    sys.exit(1 if problems else 0)


asyncio.run(main())
