"""Tries judge.py and judge_load.py: a run as it has to be passes; of runs in which one thing is wrong each fails, and by
that thing."""

import collections
import contextlib
import copy
import io
import sys
from datetime import datetime, timezone

from judge import Failure, Record, judge
from judge_load import Load, judge_load

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
    yield "a station may not do something", lambda run: run.agents.update({"house-0": "warning the broker refused a message topic=a reason=135"}), "may not"
    yield "a publisher waits", lambda run: setattr(run, "silence", 61), "without an answer"
    yield "there was no earthquake", lambda run: run.quakes.clear() or run.versions.clear(), "no earthquake"
    yield "there were no kills", lambda run: run.kills.clear(), "fewer kills"


def good_load():
    sent, heard = [], {}
    for i in range(6):
        for kind, at in (("onset", 2 + i), ("update", 5 + i), ("end", 20 + i)):
            sent.append({"event_id": f"s{i}", "event_type": kind, "sent": BEGIN + at, "answered": BEGIN + at + 0.5, "reason": 0})
            heard[(f"s{i}", kind)] = [(BEGIN + at + 0.7, False)]
    stations = [{"event_id": f"s{i}"} for i in range(6)]
    version = {"event_id": "net-0", "version": 1, "origin_time": rfc(BEGIN + 0.1), "stations": stations, "event_type": "onset"}
    return Load(stations=6, connected=6, origin=BEGIN, sent=sent, heard=heard, versions=[(BEGIN + 6, version)],
                statuses=[(BEGIN - 1, {"taken": 12}), (BEGIN + 30, {"taken": 30})])


def wrong_load():
    yield "a station is not connected", lambda run: setattr(run, "connected", 5), "5 of 6"
    yield "an onset is lost", lambda run: run.heard.pop(("s3", "onset")), "not delivered"
    yield "an end is lost", lambda run: run.heard.pop(("s3", "end")), "not delivered"
    yield "an onset comes twice", lambda run: run.heard[("s3", "onset")].append((BEGIN + 9, False)), "came twice"
    yield "an onset is refused", lambda run: run.sent[0].update(reason=131), "refused"
    yield "an onset has no answer", lambda run: run.sent[0].update(answered=None), "without an answer"
    yield "nothing was sent", lambda run: run.sent.clear(), "no onset"
    yield "the earthquake is not found", lambda run: run.versions.clear(), "no network event"
    yield "another one is found", lambda run: run.versions[0][1].update(origin_time=rfc(BEGIN + 60)), "no network event"
    yield "it is found twice", lambda run: run.versions.append((BEGIN + 9, {**run.versions[0][1], "event_id": "net-1"})), "found 2 times"


def said_of(judgement, run):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            judgement(run)
        return None
    except Failure as error:
        return str(error)


def main():
    bad = 0
    allowed, repeated = good(), good_load()
    again(allowed, BEGIN + 42)
    again(allowed, BEGIN + 115, marked=True)
    repeated.heard[("s3", "onset")].append((BEGIN + 9, True))
    for name, judgement, run in (
            ("a good run", judge, good()), ("a version twice after a node's death, one marked by the broker", judge, allowed),
            ("a good run of many", judge_load, good_load()), ("an onset twice, marked by the broker", judge_load, repeated)):
        said = said_of(judgement, run)
        if said:
            print(f"the judge fails {name}: {said}")
            bad = 1
    count = 0
    for judgement, good_run, changes in ((judge, good, wrong()), (judge_load, good_load, wrong_load())):
        for name, change, words in changes:
            run, count = good_run(), count + 1
            change(run)
            said = said_of(judgement, run)
            if not said or words not in said:
                print(f"{name}: the judge says {said!r}")
                bad = 1
    print(f"the judge: {count} runs in which one thing is wrong" + ("" if bad else ", all of them found"))
    return bad


if __name__ == "__main__":
    sys.exit(main())
