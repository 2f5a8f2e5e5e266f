"""Runs the cases of the page, each with a name; goes on after one that fails, and fails at the end.

Where SEISMOTE_FAILED names a file, the names of the cases that failed are written there, and cases whose names stand there
at the start are the only ones that are run (deploy/schedule.sh: the second try).

A file of cases has functions called `case_…` that take the world (see world.py). What a case returns, a line of text, is
printed behind its name. Cases mostly wait for what takes its time (events of stations, trials that end, a page that has been
away), so several are run beside each other: each process has a world of its own, with its own broker, browser and stations,
and takes the next case when it has done with one. Groups of files come one after the other, each with worlds of its own. See
marks.py for those that run at night, begin early, or measure.

SEISMOTE_DASHBOARD_BESIDE: how many cases at once, default 4."""

import collections
import ctypes
import importlib
import io
import multiprocessing
import multiprocessing.connection
import os
import resource
import signal
import sys
import time
import traceback
from contextlib import redirect_stdout

from world import World

# Cases of one group may leave a station behind that another one finds (`demo` after its earthquake, `bench` with other settings).
GROUPS = [
    ["cases_true", "cases_alarm", "cases_operators", "cases_school", "cases_vibration"],
    ["cases_page", "cases_fleet", "cases_station", "cases_rights"],
    ["cases_hostile", "cases_event", "cases_settings", "cases_late"],
    ["cases_keyboard"],
]
# Only where they are asked for by their names.
LONG = [["cases_load"]]
BESIDE = int(os.environ.get("SEISMOTE_DASHBOARD_BESIDE", "4"))
PR_SET_PDEATHSIG = 1

Case = collections.namedtuple("Case", "file key name early measures")


def cases(files, words):
    """Those of these files that the words choose, in the order in which they are begun."""
    for file in files:
        for key, value in vars(importlib.import_module(file)).items():
            if not key.startswith("case_") or value.__module__ != file or not any(word in key or word == file for word in words or [""]):
                continue
            named, long, at_night = any(word in key for word in words), os.environ.get("SEISMOTE_DASHBOARD_LONG"), getattr(value, "at_night", False)
            if named or (at_night if long == "only" else long or not at_night):
                yield Case(file, key, key[len("case_"):].replace("_", " "), getattr(value, "early", False), getattr(value, "measures", False))


def failed_before(file):
    """The names of the cases that failed at the first try; none at that try, and where cases are not tried again."""
    if not file or not os.path.exists(file):
        return []
    with open(file, encoding="utf-8") as lines:
        return lines.read().splitlines()


def run(world, case):
    """Whether it passed, and what is to be printed of it."""
    began, said = time.monotonic(), io.StringIO()
    passed = True
    with redirect_stdout(said):
        try:
            result = getattr(importlib.import_module(case.file), case.key)(world) or ""
            world.complain()
        except Exception:
            passed, result = False, "FAILED"
            traceback.print_exc(file=sys.stdout)
            world.picture_of_failure(case.name)
        finally:
            world.close_pages()
    return passed, f"{case.name:<44} {time.monotonic() - began:6.1f} s  {result}\n{said.getvalue()}"


def serve(agent, work, artifacts, www, pipe):
    """A process with a world: takes cases until there are no more."""
    # Ended by the kernel should this check be killed; an interrupt is the check's own.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.makedirs(work)
    os.chmod(work, 0o755)
    with World(agent, work, artifacts, www) as world:
        while case := pipe.recv():
            pipe.send(run(world, case))
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    pipe.send(sum(one.ru_utime + one.ru_stime for one in (own, children)))


class Turns:
    """Which case is next: of those that measure time or cost never two at once."""

    def __init__(self, waiting):
        self.waiting = sorted(waiting, key=lambda case: not case.early)
        self.measuring = 0

    def next(self):
        for case in self.waiting:
            if not case.measures or self.measuring == 0:
                self.waiting.remove(case)
                self.measuring += case.measures
                return case
        return None

    def ended(self, case):
        self.measuring -= case.measures


def side_by_side(waiting, agent, work, artifacts, www):
    """The names of those that failed, and the processor time of all. `work`: what the folders of the worlds begin with."""
    context = multiprocessing.get_context("spawn")
    turns, failed, processor = Turns(waiting), [], 0.0
    processes, busy = {}, {}
    for number in range(min(BESIDE, len(waiting))):
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(agent, f"{work}-{number}", artifacts, www, theirs))
        process.start()
        theirs.close()
        processes[ours] = process
    idle = list(processes)
    while idle or busy:
        for pipe in list(idle):
            if case := turns.next():
                pipe.send(case)
                busy[pipe] = case
                idle.remove(pipe)
            elif not turns.waiting:
                # (It stops its stations while others go on.)
                pipe.send(None)
                idle.remove(pipe)
        for pipe in multiprocessing.connection.wait(list(busy)) if busy else ():
            case = busy.pop(pipe)
            turns.ended(case)
            try:
                passed, said = pipe.recv()
                idle.append(pipe)
            except (EOFError, OSError):
                passed, said = False, f"{case.name:<44} its process has ended\n"
            if not passed:
                failed.append(case.name)
            print(said, end="", flush=True)
    failed += [case.name for case in turns.waiting]
    for pipe, process in processes.items():
        try:
            processor += pipe.recv()
            process.join()
        except (EOFError, OSError):
            process.join()
            failed.append(f"a process ended with {process.exitcode}")
    return failed, processor


def main():
    agent, work, artifacts, *words = sys.argv[1:]
    file = os.environ.get("SEISMOTE_FAILED")
    only = failed_before(file)
    began = time.monotonic()
    words = [word.replace(" ", "_") for word in words]
    failed, count, processor = [], 0, 0.0
    for number, files in enumerate(GROUPS + [files for files in LONG if files[0] in words]):
        waiting = [case for case in cases(files, words) if not only or case.name in only]
        if waiting:
            more, spent = side_by_side(waiting, agent, os.path.join(work, f"world-{number}"), artifacts, os.path.join(work, "www"))
            failed, count, processor = failed + more, count + len(waiting), processor + spent
    print(f"{count} cases, {time.monotonic() - began:.0f} s, {processor:.0f} s of processor time; pictures: {artifacts}")
    if file:
        with open(file, "w", encoding="utf-8") as lines:
            lines.writelines(f"{name}\n" for name in failed)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
