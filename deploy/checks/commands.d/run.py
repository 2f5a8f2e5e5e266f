"""run.py AGENT FOLDER REPOSITORY: see deploy/checks/commands."""

import asyncio
import json
import os
import re
import sys
import time

import documented
import rules
from asking import Asker, station
from kinds import Mosquitto

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "table.jsonl")
STORE = os.environ.get("SEISMOTE_STORE_TABLE") == "1"
# A line says what it sends as text, or as text that is repeated; and the reply without what differs each time.
WILD = {"seed", "uptime_s", "boot", "until", "deadline", "t", "since", "version", "cpu_pct", "rss_bytes", "loop_late_ms",
        "samples", "others"}
# Of `time`: as the clock of the machine is.
CLOCK = {"synced", "source", "offset_ms"}


def changed(value, before):
    """Of a tree, what is not as it was before."""
    if not isinstance(value, dict) or not isinstance(before, dict):
        return value
    return {key: changed(value.get(key), before.get(key)) for key in sorted(value.keys() | before.keys())
            if value.get(key) != before.get(key)}


def shown(reply, before):
    """The reply as the table has it: what differs from run to run is a star, and of whole settings only what differs
    from those before the first command."""
    def plain(value, key=""):
        if key in WILD and value is not None:
            return "*"
        if isinstance(value, dict):
            if key == "config" and "mqtt" in value:
                value = changed(value, before)
            return {name: plain(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [plain(inner) for inner in value]
        if key == "allowed":
            return re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "*", value)
        return value

    if reply["cmd"] == "time" and reply["result"]:
        reply["result"] = {key: "*" if key in CLOCK else value
                           for key, value in reply["result"].items() if key != "error_ms"}
    return {key: plain(value, key) for key, value in reply.items() if key not in ("v", "boot", "seq", "t", "station")}


def differences(got, wanted, path=""):
    """Where two trees differ, a line each."""
    if isinstance(got, dict) and isinstance(wanted, dict):
        for key in sorted(got.keys() | wanted.keys()):
            yield from differences(got.get(key), wanted.get(key), f"{path}/{key}")
    elif isinstance(got, list) and isinstance(wanted, list) and len(got) == len(wanted):
        for number, pair in enumerate(zip(got, wanted)):
            yield from differences(*pair, f"{path}/{number}")
    elif got != wanted:
        yield f"{path}: got {json.dumps(got)[:300]}, wanted {json.dumps(wanted)[:300]}"


def payload(line):
    if "hex" in line:
        return bytes.fromhex(line["hex"])
    text = line.get("send", "")
    if "repeat" in line:
        part, count = line["repeat"]
        text = text.replace("REPEAT", part * count)
    return text.encode()


async def table(program, folder, broker, lines):
    """Sends every line, waits for its last reply, compares. The replies, in the table's form."""
    agent = station(program, folder, "table", broker.port)
    asker = await Asker(broker.port, "table", 5).connect()
    agent.start()
    found, wrong = [], 0
    try:
        await asker.ready()
        before = (await asker.ask("config-get", b'{"id":"before"}'))["result"]["config"]
        # Not faster than a station takes commands.
        pace = 0.06
        for line in lines:
            began = time.monotonic()
            wants = None if STORE else line["reply"]
            silent = not STORE and wants is None
            if silent:
                await asker.send(line["cmd"], payload(line))
                replies = await asker.fence()
            else:
                replies = [await asker.ask(line["cmd"], payload(line))]
            got = [shown(reply, before) for reply in replies if reply]
            if STORE:
                found.append(got[-1] if got else None)
            elif got != ([] if silent else [wants]):
                wrong += 1
                print(f"{line['cmd']} {payload(line)[:120]!r}")
                for one in differences(got, [] if silent else [wants]):
                    print(f"  {one}")
            await asyncio.sleep(max(0, pace - (time.monotonic() - began)))
        health = await asker.health()
    finally:
        await asker.close()
        agent.stop()
    print(f"{len(lines)} commands, {wrong} replies are wrong; "
          f"{health['mqtt']['rejected_commands']} refused, {health['gaps']} gaps")
    if health["gaps"] or health["lost_samples"]:
        wrong += 1
        print("sampling was disturbed")
    return found, wrong


async def main(program, folder, repository):
    with open(TABLE, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    broker = await Mosquitto(folder, "broker").start()
    try:
        found, wrong = await table(program, folder, broker, lines)
        if STORE:
            with open(TABLE, "w", encoding="utf-8") as file:
                for line, reply in zip(lines, found):
                    line["reply"] = reply
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")
        wrong += await rules.run(program, folder, broker)
        wrong += await documented.run(program, folder, broker, repository)
    finally:
        broker.stop()
    sys.exit(f"{wrong} of the above are wrong" if wrong else 0)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
