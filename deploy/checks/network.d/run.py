"""Runs the scenarios of the check beside this folder, several at a time, and prints what came out.

run.py AGENT FOLDER [NAME...]
"""

import asyncio
import inspect
import os
import signal
import sys
import time
import traceback

import faults
import namespaces
from case import Case
from stalls import Stalls

# What the agent is known to do wrong, as scenario -> parts of complaints: printed, but no failure of the check.
PENDING = {}

HEAD = f"{'scenario':21} {'fault':>6} {'tries':>5} {'per s':>5} {'apart':>6} {'CPU':>6} {'back':>6}  " \
       f"{'traces':>14} {'events':>13}"


def number(value, form, none="-"):
    return none if value is None else format(value, form)


def line(case):
    figures = case.figures

    def triple(name):
        came, missing, again = figures.get(name, (0, 0, 0))
        return f"{came}-{missing}+{again}"
    return (f"{case.name:21} {number(figures.get('fault'), '5.1f')}s {number(figures.get('attempts'), '5d'):>5} "
            f"{number(figures.get('rate'), '5.2f'):>5} {number(figures.get('gap'), '5.2f'):>5}s "
            f"{number(figures.get('cpu'), '5.2f')}% {number(figures.get('back'), '5.2f'):>5}s  "
            f"{triple('traces'):>14} {triple('events'):>13}  {'; '.join(case.notes)}")


async def one(scenario, name, folder, program, stalls, scale, turns, pause):
    case = Case(name, folder, program, stalls, scale)
    await asyncio.sleep(pause)
    async with turns:
        began = time.monotonic()
        try:
            await scenario(case)
        except Exception:
            case.complaints.append(traceback.format_exc(limit=-3))
        finally:
            try:
                await case.close()
            except Exception:
                case.complaints.append(traceback.format_exc(limit=-3))
        case.figures["took"] = time.monotonic() - began
    known = PENDING.get(name, ())
    case.pending = [text for text in case.complaints if any(part in text for part in known)]
    case.complaints = [text for text in case.complaints if text not in case.pending]
    print(line(case) + "  PENDING" * bool(case.pending) + "  FAILED" * bool(case.complaints), flush=True)
    return case


async def main():
    program, folder, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    scale = float(os.environ.get("SEISMOTE_NETWORK_SCALE", "1"))
    turns = asyncio.Semaphore(int(os.environ.get("SEISMOTE_NETWORK_TURNS", "32")))
    scenarios = [(each, each.__name__.replace("_", "-")) for each in faults.ALL]
    skipped = namespaces.unavailable()
    if skipped:
        print(f"skipped: what needs network namespaces: {skipped}")
    else:
        scenarios += [(each, each.__name__.replace("_", "-")) for each in namespaces.ALL]
    if wanted:
        scenarios = [pair for pair in scenarios if pair[1] in wanted]
    print("traces and events: came - missing + came again; apart: the shortest time between two attempts\n" + HEAD,
          flush=True)
    with Stalls(folder) as stalls:
        cases = await asyncio.gather(*(
            one(scenario, name, folder, program, stalls, scale, turns, 0.15 * i)
            for i, (scenario, name) in enumerate(scenarios)))
        print(f"the machine stood still for {stalls.lost(0, time.monotonic()):.2f} s")
    failed = [case for case in cases if case.complaints]
    for case in cases:
        for complaint in case.pending:
            print(f"PENDING {case.name}: {complaint}")
    for case in failed:
        scenario = next(scenario for scenario, name in scenarios if name == case.name)
        print(f"\nFAILED {case.name}: {inspect.getdoc(scenario)}")
        for complaint in case.complaints:
            print("  " + complaint.strip().replace("\n", "\n  "))
        if case.agent:
            words = case.agent.words().strip().splitlines()
            print("  the agent's last words:\n    " + "\n    ".join(words[-8:]))
    attempts = sum(case.figures.get("attempts") or 0 for case in cases)
    cpu = max((case.figures.get("cpu") or 0 for case in cases), default=0)
    print(f"\n{len(cases)} scenarios, {attempts} attempts, at most {cpu:.1f} % of a core, {len(failed)} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
