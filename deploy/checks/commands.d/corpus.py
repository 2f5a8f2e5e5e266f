"""corpus.py FOLDER: the payloads of table.jsonl as inputs of the fuzz target `commands`, which takes the verb from the
first byte."""

import json
import os
import sys

VERBS = ["config", "config-confirm", "config-rollback", "config-reset", "config-get", "snapshot", "stream", "events", "event", "history", "resend", "label",
         "confirm-event", "reset-extremes", "calibrate", "selftest", "test-event", "silence", "alarm-test", "alerts", "status", "rebirth", "log", "log-tail", "ping", "time", "restart", "update", "update-confirm"]

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "table.jsonl"), encoding="utf-8") as file:
    for number, line in enumerate(file):
        row = json.loads(line)
        sent = bytes.fromhex(row["hex"]) if "hex" in row else row.get("send", "").encode()
        verb = VERBS.index(row["cmd"]) if row["cmd"] in VERBS else 31
        with open(os.path.join(sys.argv[1], f"table-{number}"), "wb") as out:
            out.write(bytes([verb | 32]) + sent)
