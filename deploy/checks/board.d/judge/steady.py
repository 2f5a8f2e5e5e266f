"""Is every sample there, and does the agent know when it was taken?

steady.py FOLDER ROOT NAME: against the journal of that chip, whose clock is the truth. The first 30 s are for the agent
to get to know the chip's clock.
"""

import os
import sys

from .journal import Journal
from .match import Match
from .messages import blocks, nanoseconds
from .verdict import each

TIME_LIMIT = 0.2  # samples
RATE_LIMIT = 1e-4
SETTLE = 30e9  # ns
OFF = 0.005  # a rate that is off by more than this is worth an alert


def judge(folder, name, station):
    """Prints what was measured; gives what is not as it must be."""
    journal = Journal(os.path.join(folder, name))
    if station is None:
        return ["nothing was published"]
    problems = []
    match = Match(list(blocks(station)), journal)
    gaps = sum(gap for _, gap, first in match.starts if first)
    # Where the rate is found to be far off, the filters begin anew, once.
    allowed = 1 if abs(journal.about["clock_error"]) > OFF else 0
    if match.lost() or match.strangers() or gaps > allowed:
        problems.append(f"{match.lost()} samples lost, {match.strangers()} that the chip never gave, {gaps} gaps; "
                        f"first {match.breaks[:3]}")
    start = match.starts[0][0]
    errors = [(moment - journal.taken[match.index[first]]) / 1e9 * journal.rate
              for moment, _, first in match.starts
              if moment > start + SETTLE and first < len(match.index) and match.index[first] is not None]
    if not errors:
        return problems + ["too short"]
    errors.sort(key=abs)
    worst, usual = abs(errors[-1]), abs(errors[len(errors) // 2])
    if worst > TIME_LIMIT:
        problems.append(f"the time of a block is off by {worst:.3f} samples")
    health = [report for report in station.of("state/health") if report.get("rate_hz")
              and nanoseconds(report["t"]) > start + 4 * SETTLE]
    if not health:
        health = station.of("state/health")[-1:]
    rates = [report["rate_hz"] / journal.rate - 1 for report in health if report.get("rate_hz")]
    if not rates:
        return problems + ["health has no measured rate"]
    worst_rate = max(rates, key=abs)
    if abs(worst_rate) > RATE_LIMIT:
        problems.append(f"the rate is off by {worst_rate * 100:.4f} %")
    alerts = {code for code, _, _ in station.alerts()}
    expected = {"sensor_rate"} if abs(journal.about["clock_error"]) > OFF else set()
    if alerts & {"sensor_rate"} != expected:
        problems.append(f"alerts {sorted(alerts)}, expected {sorted(expected)}")
    print(f"{name:18} {len(match.index):7} samples, lost {match.lost()}; true rate {journal.rate:.4f} Hz, measured "
          f"{health[-1]['rate_hz']:.4f} ({worst_rate * 100:+.4f} % at worst); block time off by {usual:.3f} sample "
          f"(median), {worst:.3f} (worst)" + (f"; alert {', '.join(sorted(alerts))}" if alerts else ""))
    return problems


def main(folder, root, *names):
    return each(judge, folder, root, names)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
