"""Whether a run of kills was as it has to be. Pure, so that `try_judge.py` can try it on runs that were not."""

import dataclasses
import math
import time
from datetime import datetime

# Seconds and kilometres. On a machine with no processor to spare; figures are printed beside them.
SILENCE = 60
MEDIAN = 10
PLACE = 20
# A command that meets a node's last breath may fail; later ones may not.
BREATH = 10
# So long after a node's death a version may come once more.
AFTERMATH = 20


class Failure(Exception):
    """What was not as it has to be."""


def expect(condition, words):
    if not condition:
        raise Failure(words)


def until(what, patience, words):
    """Waits until that says anything. Seconds that it took; `words`: what was waited for, or a function that says it."""
    began = time.monotonic()
    while not what():
        if time.monotonic() - began > patience:
            raise Failure(f"not within {patience} s: {words() if callable(words) else words}")
        time.sleep(0.2)
    return time.monotonic() - began


def seconds(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def kilometres(a, b):
    north = (a[0] - b[0]) * 111.2
    east = (a[1] - b[1]) * 111.2 * math.cos(math.radians(a[0]))
    return math.hypot(north, east)


def percentile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))] if values else float("nan")


@dataclasses.dataclass
class Record:
    wanted: int  # kills
    kills: list  # (time, what): "detector NAME", "leader nI", "node nI"
    acknowledged: set  # (publisher, number)
    delivered: dict  # the same -> how often it came
    silence: float  # the longest without an acknowledgement
    quakes: list  # as `simulate-fleet --truth` has them
    ended: float  # earthquakes from before have to be found
    versions: list  # (time, network event, marked by the broker as perhaps repeated)
    onsets: list  # (time, event of a station)
    asked: list  # (time, exit status, words) of `seismote ctl`
    agents: dict  # station -> its log
    turns: dict  # detector -> how often it was at work


# What an agent's log says where its account may not do something.
REFUSALS = "the broker refused a message", "subscription refused", "not authorised", "commands do not arrive"


def judge(run):
    deaths = [at for at, what in run.kills if not what.startswith("detector")]
    print(f"{len(run.kills)} of {run.wanted} kills: " + ", ".join(
        f"{sum(what.startswith(kind) for _, what in run.kills)} {kind}" for kind in ("detector", "leader", "node")))
    expect(len(run.kills) == run.wanted or run.kills and run.ended - run.kills[0][0] > 600, "there were fewer kills than asked for")
    messages(run)
    events(run, deaths)
    commands(run, deaths)
    for station, words in run.agents.items():
        # (A node that dies refuses the connection: that is no right which is missing.)
        said = [line for line in words.splitlines() if any(phrase in line for phrase in REFUSALS)]
        expect(not said, f"{station} may not do what it does: {said[-3:]}")
        expect("connected" in words, f"{station} never connected: {words[-300:]}")


def messages(run):
    lost = run.acknowledged - set(run.delivered)
    twice = sum(1 for count in run.delivered.values() if count > 1)
    print(f"{len(run.acknowledged)} messages acknowledged, {len(lost)} of them not delivered, {twice} delivered twice; "
          f"longest silence of a publisher {run.silence:.1f} s")
    expect(run.acknowledged, "nothing was acknowledged")
    expect(not lost, f"acknowledged and not delivered: {sorted(lost)[:20]}")
    expect(run.silence < SILENCE, "a publisher was without an answer for too long")


def events(run, deaths):
    named, first, repeated, different = {}, {}, [], []
    for at, one, may_repeat in run.versions:
        named.setdefault(one["event_id"], []).append((at, one))
        key = (one["event_id"], one["version"])
        if key not in first:
            first[key] = one
        elif first[key] != one:
            different.append((round(at, 1), *key))
            print("differ:", *({k: v for k, v in each.items() if k not in ("stations", "silent")} for each in (first[key], one)))
        else:
            repeated.append((round(at, 1), *key, may_repeat))
    found, extra, errors = {}, [], []
    for name, versions in named.items():
        last = max(versions, key=lambda pair: pair[1]["version"])[1]
        if "merged_into" in last or last.get("withdrawn"):
            continue
        near = [i for i, one in enumerate(run.quakes) if abs(seconds(one["origin_time"]) - seconds(last["origin_time"])) < 5]
        if near and near[0] not in found:
            found[near[0]] = name
            errors.append(kilometres((last["latitude"], last["longitude"]), (run.quakes[near[0]]["latitude"], run.quakes[near[0]]["longitude"])))
        else:
            extra.append((name, last["origin_time"], len(last["stations"])))
    due = [i for i, one in enumerate(run.quakes) if seconds(one["origin_time"]) < run.ended]
    missing = [run.quakes[i]["origin_time"] for i in due if i not in found]
    times = {name: at for at, name in reversed(run.onsets)}
    waits = []
    for name in found.values():
        stations = max(named[name], key=lambda pair: pair[1]["version"])[1]["stations"]
        arrivals = sorted(times[one["event_id"]] for one in stations if one["event_id"] in times)
        if len(arrivals) > 3:
            waits.append(named[name][0][0] - arrivals[3])
    holes = [name for name, versions in named.items()
             if {one["version"] for _, one in versions} != set(range(1, max(one["version"] for _, one in versions) + 1))]
    print(f"{len(due)} earthquakes, {len(due) - len(missing)} found, {len(missing)} not, {len(extra)} network events that are none or one "
          f"too many; {len(first)} versions, {len(repeated)} came twice with the same bytes ({sum(1 for one in repeated if one[3])} marked "
          f"by the broker as repeated), {len(different)} came twice and differ; worst place {max(errors, default=0):.1f} km; "
          f"most versions of one event {max(map(len, named.values()), default=0)}")
    print(f"from the fourth onset at a reader to the first version: p50 {percentile(waits, .5):.1f} s, p90 {percentile(waits, .9):.1f} s, "
          f"worst {max(waits, default=0):.1f} s")
    print("at work: " + ", ".join(f"{name} {count} times" for name, count in run.turns.items()))
    if run.kills:
        print("kills: " + ", ".join(f"{at - run.kills[0][0]:.0f} s {what}" for at, what in run.kills))
        if repeated:
            print("came twice: " + ", ".join(f"{at - run.kills[0][0]:.0f} s {name} {version}" for at, name, version, _ in repeated[:10]))
    expect(due, "there was no earthquake")
    expect(not missing, f"not found: {missing[:20]}")
    expect(not extra, f"are no earthquake, or one that was found already: {extra[:5]}")
    expect(not different, f"versions came twice and are not the same: {different[:5]}")
    # A node that dies may have given a version to readers and not noted it: it comes again, with the same bytes.
    wrong = [one for one in repeated if not one[3] and not any(0 <= one[0] - at < AFTERMATH for at in deaths)]
    expect(not wrong, f"versions were published twice, and no node had died: {wrong[:5]}")
    expect(len([one for one in repeated if not one[3]]) <= len(deaths), "versions came twice more often than nodes died")
    expect(not holes, f"versions are missing: {holes[:5]}")
    expect(max(errors) < PLACE, "an earthquake is in the wrong place")
    expect(percentile(waits, .5) < MEDIAN, "network events come late")


def commands(run, deaths):
    wrong = [one for one in run.asked if one[1] != 0]
    print(f"seismote ctl was answered by all stations {len(run.asked) - len(wrong)} times of {len(run.asked)}: {[one[2] for one in wrong[:3]]}")
    expect(run.asked, "seismote ctl was not tried")
    wrong = [one for one in wrong if not any(0 <= one[0] - at < BREATH for at in deaths)]
    expect(not wrong, f"seismote ctl failed, and no node had just died: {[one[2] for one in wrong[:3]]}")
