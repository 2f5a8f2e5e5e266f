"""Whether a run of many stations was as it has to be: what must hold on a machine however slow, and beside it how fast it
was. Pure, so that `try_judge.py` can try it on runs that were not."""

import dataclasses

from judge import expect, percentile, seconds


@dataclasses.dataclass
class Load:
    stations: int
    connected: int
    origin: float  # of the earthquake
    sent: list  # as `simulate-fleet --sent` has them: event_id, event_type, sent, answered, reason
    heard: dict  # (event_id, event_type) -> [(time, marked by the broker as perhaps repeated)] at a reader of QoS 1
    versions: list  # (time, network event)
    statuses: list  # (time, network/status)


def judge_load(run):
    answered = {(one["event_id"], one["event_type"]): one for one in run.sent if one["answered"] and one["reason"] < 128}
    refused = [one for one in run.sent if one["reason"] >= 128]
    # (Those of the last seconds may be on their way.)
    ended = max((one["sent"] for one in run.sent), default=0)
    late = [one for one in run.sent if not one["answered"] and one["sent"] < ended - 5]
    stages(run, answered)
    events = of_the_earthquake(run)
    missing = set(answered) - set(run.heard)
    twice = [key for key, times in run.heard.items() if sum(1 for _, repeated in times if not repeated) > 1]
    onsets = [key for key in answered if key[1] == "onset"]
    print(f"{len(answered)} messages of events acknowledged, {len(onsets)} of them onsets; {len(missing)} of them did not come to the reader, "
          f"{len(twice)} came twice; {len(refused)} refused, {len(late)} without an answer")
    expect(run.connected == run.stations, f"{run.connected} of {run.stations} stations were connected")
    expect(onsets, "no onset was acknowledged")
    expect(not refused, f"refused: {refused[:5]}")
    expect(not late, f"without an answer: {late[:5]}")
    expect(not missing, f"acknowledged and not delivered: {sorted(missing)[:5]}")
    expect(not twice, f"came twice: {sorted(twice)[:5]}")
    expect(events, "no network event")
    lasting = [versions for versions in events.values() if "merged_into" not in versions[-1][1] and not versions[-1][1].get("withdrawn")]
    expect(len(lasting) == 1, f"the earthquake was found {len(lasting)} times")


def stages(run, answered):
    """How many messages of events had been sent, acknowledged, and had come to the reader, so long after the origin."""
    times = {"sent": [one["sent"] for one in run.sent], "acknowledged": [one["answered"] for one in answered.values()],
             "at the reader": [times[0][0] for times in run.heard.values()]}
    before = [one["taken"] for at, one in run.statuses if at < run.origin]
    end = max(at for all_of_it in times.values() for at in all_of_it or [run.origin])
    steps = [at for at in (5, 10, 20, 30, 45, 60, 90, 120, 180, 240, 300, 450, 600, 900) if run.origin + at < end] + [end - run.origin]
    print("messages of events, seconds after the origin: sent, acknowledged, at the reader; taken by the detector")
    for step in steps:
        until = run.origin + step
        taken = [one["taken"] for at, one in run.statuses if at < until]
        counts = [sum(1 for at in all_of_it if run.origin <= at <= until) for all_of_it in times.values()]
        print(f"  {step:5.0f} s: {', '.join(map(str, counts))}; {taken[-1] - (before[-1] if before else 0) if taken else 0}")
    waits = [one["answered"] - one["sent"] for one in answered.values()]
    behind = [run.heard[key][0][0] - one["sent"] for key, one in answered.items() if key in run.heard]
    print(f"from sent to acknowledged p50 {percentile(waits, .5):.2f} s, p99 {percentile(waits, .99):.2f} s, worst {max(waits, default=0):.2f} s; to the "
          f"reader p50 {percentile(behind, .5):.2f} s, p99 {percentile(behind, .99):.2f} s, worst {max(behind, default=0):.2f} s")


def of_the_earthquake(run):
    """Versions of the network events of it, by their name."""
    events, waits = {}, {}
    sent = {one["event_id"]: one["sent"] for one in run.sent if one["event_type"] == "onset"}
    for at, one in run.versions:
        if abs(seconds(one["origin_time"]) - run.origin) < 10:
            events.setdefault(one["event_id"], []).append((at, one))
            for station in one["stations"]:
                if station["event_id"] in sent:
                    waits.setdefault(station["event_id"], at - sent[station["event_id"]])
    first = min((versions[0][0] for versions in events.values()), default=float("nan"))
    last = max(events.values(), key=len)[-1][1] if events else {"stations": []}
    in_20 = sum(1 for at in sent.values() if run.origin <= at < run.origin + 20)
    print(f"{len(sent)} onsets sent, {in_20} in the first 20 s after the origin; network events: {len(events)}, the first version "
          f"{first - run.origin:.1f} s after the origin, {sum(map(len, events.values()))} versions, the last with {len(last['stations'])} "
          f"stations; from an onset to the first version that has it p50 {percentile(waits.values(), .5):.2f} s, "
          f"p99 {percentile(waits.values(), .99):.2f} s")
    return events
