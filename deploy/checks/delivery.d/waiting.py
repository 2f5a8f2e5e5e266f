"""Which messages of events wait for the broker, and which of them have not arrived.

waiting.py list SPOOL.db              a line for each that no broker has acknowledged: boot, seq, type, event
waiting.py missing FILE <PAYLOADS     those lines of FILE whose message is not among the payloads; status 1 if there are any"""
import json
import sqlite3
import sys


def waiting(database):
    """Boot, number, type and event of each message of an event that waits."""
    found = []
    for (payload,) in sqlite3.connect(database).execute(
            "SELECT payload FROM essential WHERE state = 0 AND topic LIKE '%event/trigger' ORDER BY key"):
        try:
            message = json.loads(payload)
        except ValueError:
            continue
        found.append((str(message["boot"]), str(message["seq"]), message["event_type"], message["event_id"]))
    return found


def missing(wanted, payloads):
    """Those of the wanted ones that are in none of the payloads."""
    have = {(str(message["boot"]), str(message["seq"])) for message in map(json.loads, payloads)}
    return [one for one in wanted if tuple(one[:2]) not in have]


if __name__ == "__main__":
    verb, file = sys.argv[1:3]
    if verb == "list":
        lines = waiting(file)
    else:
        lines = missing([tuple(line.split()) for line in open(file)], sys.stdin)
    for line in lines:
        print(*line)
    sys.exit(verb == "missing" and bool(lines))
