"""Runs the cases of the page, each with a name; goes on after one that fails, and fails at the end.

Where SEISMOTE_FAILED names a file, the names of the cases that failed are written there, and cases whose names stand there
at the start are the only ones that are run (deploy/schedule.sh: the second try).

A file of cases has functions called `case_…` that take the world (see world.py); they are run in their order in the file.
What a case returns, a line of text, is printed behind its name. Cases that take long are marked `at_night`: they run where
SEISMOTE_DASHBOARD_LONG is set, or where a word names them."""

import importlib
import os
import sys
import time
import traceback

from world import World

FILES = ["cases_page", "cases_fleet", "cases_station", "cases_rights", "cases_hostile", "cases_event", "cases_settings", "cases_true", "cases_late", "cases_alarm", "cases_operators", "cases_school", "cases_vibration", "cases_keyboard"]
# Only where they are asked for by their names.
LONG = ["cases_load"]


def cases(words):
    for name in FILES + [name for name in LONG if name in words]:
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
            continue
        for key, value in list(vars(module).items()):
            if not key.startswith("case_") or not any(word in key or word == name for word in words or [""]):
                continue
            named = any(word in key for word in words)
            if named or os.environ.get("SEISMOTE_DASHBOARD_LONG") or not getattr(value, "at_night", False):
                yield key[len("case_"):].replace("_", " "), value


def failed_before(file):
    """The names of the cases that failed at the first try; none at that try, and where cases are not tried again."""
    if not file or not os.path.exists(file):
        return []
    with open(file) as lines:
        return lines.read().splitlines()


def main():
    agent, work, artifacts, *words = sys.argv[1:]
    file = os.environ.get("SEISMOTE_FAILED")
    only = failed_before(file)
    failed = []
    with World(agent, work, artifacts) as world:
        for name, case in cases([word.replace(" ", "_") for word in words]):
            if only and name not in only:
                continue
            began = time.monotonic()
            try:
                said = case(world) or ""
                world.complain()
                print(f"{name:<44} {time.monotonic() - began:6.1f} s  {said}", flush=True)
            except Exception:
                failed.append(name)
                print(f"{name:<44} {time.monotonic() - began:6.1f} s  FAILED", flush=True)
                traceback.print_exc(file=sys.stdout)
                world.picture_of_failure(name)
            finally:
                world.close_pages()
        print(f"pictures: {artifacts}")
    if file:
        with open(file, "w") as lines:
            lines.writelines(f"{name}\n" for name in failed)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


main()
