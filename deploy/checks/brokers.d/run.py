"""Holds the same conversation with every broker, all at a time, and prints what each of them lacks.

run.py AGENT FOLDER [BROKER...]
"""

import asyncio
import signal
import sys
import traceback

import kinds
from conversation import Conversation


# What the agent is known to do wrong, as (broker, feature), None for any: printed, but no failure.
PENDING = set()


async def one(kind, folder, program):
    """The conversation, and why it could not be held or broke off; None when it came to its end."""
    broker = kind(folder)
    talk, trouble = Conversation(broker, folder, program), None
    try:
        await talk.run(210)
    except kinds.Unavailable as error:
        trouble = error
    except Exception:
        trouble = RuntimeError(traceback.format_exc(limit=-3))
    finally:
        await talk.close()
    return talk, trouble


def table(talks):
    rows = list(dict.fromkeys(feature for talk in talks for feature in talk.results))
    width = max(len(talk.broker.name) for talk in talks) + 2
    print(f"{'':20}" + "".join(f"{talk.broker.name:>{width}}" for talk in talks))

    def row(name, values):
        print(f"{name:20}" + "".join(f"{value:>{width}}" for value in values))
    for name in rows:
        row(name, (word(talk, name) for talk in talks))
    for name, unit in (("version", ""), ("start", " s"), ("online", " s"), ("attempts", ""), ("traces", ""),
                       ("acked", ""), ("corrected", " s"), ("will", " s"), ("back", " s"), ("after", ""), ("stop", " s"), ("MiB", "")):
        row(name, (figure(talk.figures.get(name), unit) for talk in talks))


def word(talk, feature):
    if feature not in talk.results:
        return "-"
    if talk.results[feature]:
        return "yes"
    if feature in talk.broker.lacks:
        return "lacks"
    if {(talk.broker.name, feature), (talk.broker.name, None)} & PENDING:
        return "pending"
    return "FAULT"


def figure(value, unit):
    if value is None:
        return "-"
    return f"{value:.1f}{unit}" if isinstance(value, float) else f"{value}"


async def main():
    program, folder, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
    task = asyncio.current_task()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    chosen = [kind for kind in kinds.ALL if not wanted or kind.name in wanted]
    done = await asyncio.gather(*(one(kind, folder, program) for kind in chosen))
    talks = [talk for talk, trouble in done if not isinstance(trouble, kinds.Unavailable)]
    failures = 0
    if talks:
        print("traces: came - missing + came again; after: the same, from the broker's restart on")
        table(talks)
    print()
    for talk, trouble in done:
        name = talk.broker.name
        if isinstance(trouble, kinds.Unavailable):
            needed = name in kinds.NEEDED
            print(f"{'FAILED' if needed else 'skipped:'} {name}: cannot be started here: {trouble}")
            failures += needed
            continue
        if talk.notes:
            print(f"{name}: " + "; ".join(talk.notes))
        faults = [feature for feature in talk.results if word(talk, feature) == "FAULT"]
        more = [feature for feature in talk.broker.lacks if talk.results.get(feature)]
        if more:
            print(f"{name} has what it was known to lack: {', '.join(more)}")
        if not faults and not trouble:
            continue
        failures += 1
        print(f"FAILED {name}: {', '.join(faults)} {trouble or ''}")
        if talk.agent:
            print("  the agent's last words:\n    " + "\n    ".join(talk.agent.words().strip().splitlines()[-8:]))
    print(f"\n{len(talks)} of {len(chosen)} brokers, {failures} failed")
    return 1 if failures or not talks else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
