"""Did the service live under systemd as it should, and did its samples come out whole?

unit.py FOLDER ROOT: what the scenario `unit` has left there.
"""

import json
import os
import re
import sys

from .journal import Journal
from .match import Match
from .messages import blocks, stations
from .verdict import verdict

RATE = 50  # Hz, of all three


class Folder:
    """What the scenario has left."""

    def __init__(self, path):
        self.path = path

    def text(self, name):
        """A file, without what is no text."""
        with open(os.path.join(self.path, name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def show(self, unit, moment):
        """{property: value} of `systemctl show`."""
        lines = self.text(f"show.{unit}.{moment}").splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)


def expect(problems, what, found, wanted):
    """Notes what is not as it must be."""
    if found != wanted:
        problems.append(f"{what} is {found}, expected {wanted}")


def life(folder):
    """Whether nothing died but what was killed on purpose, and systemd was content."""
    problems = []
    for unit in ("seismote", "iio", "slow"):
        minute = folder.show(unit, "minute")
        for key, value in (("ActiveState", "active"), ("NRestarts", "0"), ("Result", "success")):
            expect(problems, f"{unit}: {key} after a minute", minute.get(key), value)
        # The watchdog has been fed far beyond its time: it would have bitten otherwise. (The two others run for less than
        # that: they have fed it at least.)
        fed = int(minute["WatchdogTimestampMonotonic"]) - int(minute["ActiveEnterTimestampMonotonic"])
        if fed < (40e6 if unit == "seismote" else 10e6):
            problems.append(f"{unit}: the watchdog was fed last {fed / 1e6:.0f} s after the start")
        stop = folder.show(unit, "stop")
        for key, value in (("ActiveState", "inactive"), ("Result", "success")):
            expect(problems, f"{unit}: {key} after the stop", stop.get(key), value)
    minute, reload, restart, watchdog = (
        folder.show("seismote", moment) for moment in ("minute", "reload", "restart", "watchdog"))
    expect(problems, "process after the reload", reload.get("MainPID"), minute.get("MainPID"))
    for name, found, restarts in (("reload", reload, "0"), ("restart", restart, "0"), ("watchdog", watchdog, "1")):
        expect(problems, f"ActiveState after the {name}", found.get("ActiveState"), "active")
        expect(problems, f"NRestarts after the {name}", found.get("NRestarts"), restarts)
    if restart.get("MainPID") == minute.get("MainPID"):
        problems.append("the restart left the process as it was")
    expect(problems, "state of the clock's process", folder.show("seismote-clock", "minute").get("ActiveState"), "active")
    expect(problems, "the same after the stop", folder.show("seismote-clock", "stop").get("ActiveState"), "inactive")
    journal = folder.text("journal")
    for line in journal.splitlines():
        if re.search(r"SIGSYS|status=31|SECCOMP|audit.*type=1326", line):
            problems.append(f"killed by its system calls: {line}")
        if re.search(r"Fatal error|Main process exited", line) and "seismote.service: Main process exited, code=killed" not in line:
            problems.append(f"it died: {line}")
    expect(problems, "times that the watchdog has bitten", journal.count("Watchdog timeout"), 1)
    return problems


def rights(folder):
    """Who owns what it has stored, which threads run in real time, what the sandbox refuses."""
    problems = []
    storage = [line.split() for line in folder.text("storage").splitlines()]
    for mode, owner, path in storage:
        expect(problems, path, f"{mode} {owner}",
               ("700" if path == "/var/lib/seismote" else "600") + " seismote:seismote")
    names = {os.path.basename(path) for _, _, path in storage}
    if "spool.db" not in names:
        problems.append(f"nothing is stored: {sorted(names)}")
    # For root and the group: what `seismote doctor` reads.
    expect(problems, "the state for this machine", folder.text("runtime").split("\n")[:2],
           ["750 seismote:seismote /run/seismote", "640 seismote:seismote /run/seismote/status.json"])
    state = json.loads(folder.text("status.json") or "{}")
    expect(problems, "the sensor in it", state.get("health", {}).get("sensor"), "ok")
    expect(problems, "the connection in it", state.get("connected"), True)
    expect(problems, "threads in real time", folder.text("priorities").count("SCHED_FIFO"), 1)
    tried = folder.text("sandbox").splitlines()
    problems += [f"sandbox: {line}" for line in tried if line.startswith("WRONG")]
    allowed = sum(line.endswith(": allowed") for line in tried)
    if allowed < 10 or len(tried) - allowed < 30:
        problems.append(f"sandbox: {allowed} things allowed and {len(tried) - allowed} refused are too few")
    print(f"sandbox: {allowed} things that a sensor needs are allowed, {len(tried) - allowed} others refused")
    return problems


def first_run(station):
    """The traces of the station's first process."""
    traces = station.of("data/trace")
    return [trace for trace in traces if trace["boot"] == traces[0]["boot"]]


def raw(traces):
    """As `blocks`, of these traces only."""
    one = type("One", (), {"of": lambda self, topic: traces})
    return list(blocks(one()))


def whole(name, traces, journal, seconds):
    """Whether each sample that the chip gave is there."""
    match = Match(raw(traces), journal)
    gaps = sum(gap for _, gap, first in match.starts if first)
    print(f"{name}: {len(match.index)} samples of the first process, lost {match.lost()}, {gaps} gaps")
    problems = []
    if match.lost() or match.strangers() or gaps:
        problems.append(f"{name}: {match.lost()} samples lost, {match.strangers()} strangers, {gaps} gaps")
    if len(match.index) < 0.95 * RATE * seconds:
        problems.append(f"{name}: only {len(match.index)} samples")
    return problems


def alerts(name, station):
    """A problem where there were any."""
    found = sorted({code for code, _, _ in station.alerts()})
    return [f"{name}: alerts {found}"] if found else []


def main_station(folder, station, seconds):
    """The one that goes through all: samples, events, clock, presence."""
    traces = first_run(station)
    problems = whole("seismote", traces, Journal(os.path.join(folder.path, "seismote")), seconds)
    kinds = {event["event_type"] for event in station.of("event/trigger")}
    if not {"onset", "end"} <= kinds:
        problems.append(f"seismote: of events there came {sorted(kinds)}")
    unsure = [trace["tq"] for trace in traces[5:] if not trace["tq"]["synced"] or not 5 <= trace["tq"]["error_ms"] <= 200]
    if unsure:
        problems.append(f"seismote: the clock's quality is told wrong: {unsure[0]}, {len(unsure)} times")
    problems += alerts("seismote", station)
    boots = list(dict.fromkeys(trace["boot"] for trace in station.of("data/trace")))
    # Start, reload, restart, watchdog.
    expect(problems, "processes that sent samples", len(boots), 4)
    spoken = station.presence
    # Offline is said at the reload, at the restart and at the stop; a process that is killed says it by its last will.
    if spoken.count("offline") < 3 or spoken[-1] != "offline":
        problems.append(f"seismote: presence was {spoken}")
    print(f"seismote: {len(boots)} processes, events {sorted(kinds)}, presence {' '.join(spoken)}, "
          f"clock {traces[-1]['tq']}")
    return problems


def slow_station(folder, station, seconds):
    """What a bus carries that is too slow."""
    traces = first_run(station)
    match = Match(raw(traces), Journal(os.path.join(folder.path, "slow")))
    gaps = sum(gap for _, gap, _ in match.starts)
    alert = next((alert for code, alert, _ in station.messages.get("alerts", []) if code == "sensor_overrun" and alert), None)
    problems = []
    if not alert:
        return [f"slow: no alert sensor_overrun, but {[code for code, _, _ in station.alerts()]}"]
    carried = alert["details"]["bus_hz"]
    span = (match.starts[-1][0] - match.starts[0][0]) / 1e9
    share = len(match.index) / span / carried
    print(f"slow: {len(match.index)} samples, {gaps} gaps; alert: {alert['message']}")
    if match.strangers() or not gaps or span < 0.8 * seconds or not 0.3 <= share <= 1:
        problems.append(f"slow: {match.strangers()} strangers, {gaps} gaps, {share:.2f} of what the bus carries came out in {span:.0f} s")
    if not 0.45 <= carried / RATE <= 0.62:
        problems.append(f"slow: the bus is said to carry {carried} samples/s")
    whole_runs = [place for place in match.breaks if place[0] not in {first for _, gap, first in match.starts if gap}]
    if whole_runs:
        problems.append(f"slow: samples do not follow each other where no gap is declared: {whole_runs[:3]}")
    return problems


def iio_station(folder, station, seconds):
    """A sensor of the kernel, through its buffer, paced by a timer that the agent has made."""
    traces = first_run(station)
    count = sum(trace["n"] for trace in traces)
    gaps = sum(trace["gap"] for trace in traces[1:])
    timers = folder.text("timers").split()
    print(f"iio: {count} samples, {gaps} gaps, timers {' '.join(timers)}")
    problems = []
    if count < 0.95 * RATE * seconds or gaps:
        problems.append(f"iio: {count} samples, {gaps} gaps")
    if not timers:
        problems.append("iio: no timer of the kernel paces it")
    return problems + alerts("iio", station)


def main(path, root, seconds):
    """Prints what was measured; the exit status says whether all is well."""
    folder = Folder(path)
    received = os.path.join(path, "received")
    found = stations(received, root)
    for name, station in found.items():
        with open(received, encoding="utf-8", errors="replace") as file:
            station.presence = [line.split()[2] for line in file if f" {root}/{name}/state/online " in line]
    problems = life(folder) + rights(folder)
    for name, judge in (("seismote", main_station), ("slow", slow_station), ("iio", iio_station)):
        if name in found and found[name].of("data/trace"):
            problems += judge(folder, found[name], float(seconds if name == "seismote" else folder.text("beside")))
        else:
            problems.append(f"{name}: nothing was published")
    return verdict(problems)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
