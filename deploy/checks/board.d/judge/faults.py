"""Does the agent find out what is wrong with the chip, say so, mark the data, and is it well again soon?

faults.py FOLDER ROOT NAME TIMETABLE: against the timetable of the emulator (emulator/faults.py).
"""

import os
import sys

from .journal import Journal
from .messages import nanoseconds, stations
from .verdict import verdict

# What each fault has to be called; where the driver cannot know more, one of several.
ALERTS = {
    "missing": {"sensor_missing", "sensor_fault"},
    "unplug": {"sensor_missing", "sensor_fault"},
    "jam": {"sensor_fault", "sensor_missing"},
    "identity": {"sensor_identity"},
    "saturate": {"sensor_saturated"},
    "freeze": {"sensor_stuck"},
}
# Those that leave nothing to read.
SILENT = {"missing", "unplug", "jam", "identity"}
BACK_LIMIT = 2.0  # s
ALERT_LIMIT = 8.0  # s after the beginning: as long as the agent may take to be sure


def judge(folder, root, name, timetable):
    """Prints a line for each fault; gives what is not as it must be."""
    station = stations(os.path.join(folder, "received"), root).get(name)
    if station is None:
        return ["nothing was published"]
    begin = Journal(os.path.join(folder, name)).begin
    problems = []
    alerts = station.alerts()
    traces = [(nanoseconds(trace["t"]), trace["n"], trace["rate_hz"], trace) for trace in station.of("data/trace")]
    for entry in timetable.split("+"):
        kind, start, length = entry.split(":")
        start, end = float(start), float(start) + float(length)
        found = [(code, first, last) for code, first, last in alerts
                 if code in ALERTS[kind] and start <= (first - begin) / 1e9 <= end + ALERT_LIMIT]
        if not found:
            problems.append(f"{kind}: no alert, only "
                            + str([(code, round((first - begin) / 1e9, 1)) for code, first, _ in alerts]))
            continue
        first = found[0][1]
        last = None if any(cleared is None for _, _, cleared in found) else max(cleared for _, _, cleared in found)
        raised = (first - begin) / 1e9 - start
        text = f"{name:12} {kind:9} {', '.join(dict.fromkeys(code for code, _, _ in found))} after {raised:.1f} s"
        if last is None:
            problems.append(f"{kind}: the alert is never cleared")
        else:
            text += f", cleared {(last - begin) / 1e9 - end:+.1f} s after the end"
        if kind in SILENT:
            inside = [moment for moment, n, rate, _ in traces
                      if start + 0.5 < (moment - begin) / 1e9 and (moment - begin) / 1e9 + n / rate < end]
            after = next((trace for trace in traces if (trace[0] - begin) / 1e9 >= end - 0.05), None)
            if inside:
                problems.append(f"{kind}: {len(inside)} blocks of samples from the time without a sensor")
            if after is None:
                problems.append(f"{kind}: no samples any more")
            else:
                back = (after[0] - begin) / 1e9 - end
                text += f", first sample {back:.2f} s after, gap {'said' if after[3]['gap'] else 'NOT SAID'}"
                if back > BACK_LIMIT:
                    problems.append(f"{kind}: samples only {back:.2f} s after the end")
                if not after[3]["gap"]:
                    problems.append(f"{kind}: the gap is not said")
        else:
            marks = [summary for summary in station.of("state/summary")
                     if start + 2 < (nanoseconds(summary["t"]) - begin) / 1e9 < end]
            invalid = sum(not summary["valid"] for summary in marks)
            reasons = sorted({str(summary.get("reason")) for summary in marks if not summary["valid"]})
            text += f", summaries not valid {invalid} of {len(marks)} {' '.join(reasons)}"
            if kind == "freeze" and not invalid:
                problems.append(f"{kind}: the summaries do not say so")
            if kind == "saturate":
                clipped = max((report.get("clipped", 0) for report in station.of("state/health")), default=0)
                text += f", clipped {clipped}"
                if not clipped:
                    problems.append(f"{kind}: no sample is counted as clipped")
        print(text)
    return problems


def main(folder, root, name, timetable):
    return verdict(judge(folder, root, name, timetable), name)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
