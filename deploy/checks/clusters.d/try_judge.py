"""Tries judge.py: a run as it has to be passes; of runs in which one thing is wrong each fails, and by that thing."""

import collections
import contextlib
import copy
import io
import sys
from datetime import datetime, timezone

from judge import Failure, Record, judge

BEGIN = 1_760_000_000.0


def rfc(at):
    return datetime.fromtimestamp(at, timezone.utc).isoformat().replace("+00:00", "Z")


def good():
    versions, onsets, quakes = [], [], []
    for number in range(6):
        origin = BEGIN + 20 * number
        place = {"latitude": 35 + 0.1 * number, "longitude": -117.5}
        quakes.append({"origin_time": rfc(origin), **place})
        stations = [{"event_id": f"s{i}-{number}"} for i in range(6)]
        onsets += [(origin + 2 + i, f"s{i}-{number}") for i in range(6)]
        for version in (1, 2, 3):
            versions.append((origin + 5 + version, {
                "event_id": f"net-{number}", "version": version, "origin_time": rfc(origin + 0.1), **place, "stations": stations,
                "event_type": "end" if version == 3 else "update"}, False))
    sent = {("p0", i) for i in range(50)}
    return Record(
        wanted=3, kills=[(BEGIN + 10, "detector one"), (BEGIN + 40, "leader n1"), (BEGIN + 70, "node n2")], acknowledged=sent,
        delivered=collections.Counter(sent), silence=3.0, quakes=quakes, ended=BEGIN + 130, versions=versions, onsets=onsets,
        asked=[(BEGIN + 15, 0, "house-0: answered"), (BEGIN + 140, 0, "house-0: answered")], agents={"house-0": "connected to n1"},
        turns={"one": 2, "two": 1})


def event(run, number, change):
    run.versions = [(at, change(copy.deepcopy(one)) if one["event_id"] == f"net-{number}" else one, dup) for at, one, dup in run.versions]


def again(run, at, change=lambda one: one, marked=False):
    run.versions.append((at, change(copy.deepcopy(run.versions[3][1])), marked))


def wrong():
    """What is wrong, how a run gets it, and a part of what has to be said."""
    yield "a message is lost", lambda run: run.delivered.pop(("p0", 7)), "acknowledged and not delivered"
    yield "an earthquake is not found", lambda run: setattr(run, "versions", [one for one in run.versions if one[1]["event_id"] != "net-2"]), "not found"
    yield "one is found twice", lambda run: run.versions.append((BEGIN + 50, {**run.versions[6][1], "event_id": "net-x", "version": 1}, False)), "found already"
    yield "one that there was not", lambda run: run.versions.append(
        (BEGIN + 50, {**run.versions[6][1], "event_id": "net-x", "version": 1, "origin_time": rfc(BEGIN + 10)}, False)), "are no earthquake"
    yield "one is withdrawn", lambda run: event(run, 2, lambda one: {**one, "withdrawn": True}), "not found"
    yield "a version is missing", lambda run: run.versions.pop(4), "versions are missing"
    yield "a version comes twice long after a death", lambda run: again(run, BEGIN + 115), "published twice"
    yield "a version comes twice after the death of a detector alone", lambda run: again(run, BEGIN + 12), "published twice"
    yield "a version comes twice and differs", lambda run: again(run, BEGIN + 42, lambda one: {**one, "latitude": 35.2}), "not the same"
    yield "versions come twice all the time", lambda run: [again(run, BEGIN + 42) for _ in range(3)], "more often than nodes died"
    yield "a place is wrong", lambda run: event(run, 2, lambda one: {**one, "latitude": 34.0}), "wrong place"
    yield "all come late", lambda run: setattr(run, "versions", [(at + 15, one, dup) for at, one, dup in run.versions]), "late"
    yield "a station does not answer", lambda run: run.asked.append((BEGIN + 150, 2, "house-0: offline")), "ctl failed"
    yield "a station may not do something", lambda run: run.agents.update({"house-0": "connected, refused"}), "may not"
    yield "a publisher waits", lambda run: setattr(run, "silence", 61), "without an answer"
    yield "there was no earthquake", lambda run: run.quakes.clear() or run.versions.clear(), "no earthquake"
    yield "there were no kills", lambda run: run.kills.clear(), "fewer kills"


def result(run):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            judge(run)
        return None
    except Failure as error:
        return str(error)


def main():
    bad = 0
    allowed = good()
    again(allowed, BEGIN + 42)
    again(allowed, BEGIN + 115, marked=True)
    for name, run in (("a good run", good()), ("a version twice after a node's death, one marked by the broker", allowed)):
        said = result(run)
        if said:
            print(f"the judge fails {name}: {said}")
            bad = 1
    count = 0
    for name, change, words in wrong():
        run, count = good(), count + 1
        change(run)
        said = result(run)
        if not said or words not in said:
            print(f"{name}: the judge says {said!r}")
            bad = 1
    print(f"the judge: {count} runs in which one thing is wrong" + ("" if bad else ", all of them found"))
    return bad


if __name__ == "__main__":
    sys.exit(main())
