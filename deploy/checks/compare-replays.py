"""Compares two replays of one recording by two machines: OUTPUT.jsonl and SERIES.csv of each.

    compare-replays.py FIRST SECOND        (the paths without .jsonl and .csv)

All text must be the same. Numbers may differ by rounding (a machine's mathematical library, fused multiply-add):
the series by 1e-12 of the column's peak, numbers in messages by 1e-9 relative. Says where they are not equal to the
last bit; exit status 1 where they differ by more.
"""

import csv
import json
import sys


def compare_series(first, second):
    worst, columns, bad = 0.0, {}, []
    with open(first) as a, open(second) as b:
        rows = [list(csv.reader(f)) for f in (a, b)]
    if rows[0][0] != rows[1][0] or len(rows[0]) != len(rows[1]):
        return ["the series have not the same columns or number of samples"]
    for index, name in enumerate(rows[0][0]):
        pairs = [(float(p[index]), float(q[index])) for p, q in zip(rows[0][1:], rows[1][1:])]
        peak = max(abs(p) for p, _ in pairs) or 1.0
        different = sum(p != q for p, q in pairs)
        if different:
            off = max(abs(p - q) for p, q in pairs) / peak
            columns[name] = (different, off)
            worst = max(worst, off)
            if off > 1e-12 or name.endswith("_triggered"):
                bad.append(f"series {name}: {off:.1e} of its peak")
    total = len(rows[0]) - 1
    if not columns:
        print(f"series: {total} samples, equal to the last bit")
    for name, (different, off) in columns.items():
        print(f"series {name}: {different} of {total} values differ, at most by {off:.1e} of the peak")
    return bad


def compare_values(path, p, q, differences, bad):
    number = (int, float)
    if isinstance(p, dict) and isinstance(q, dict) and p.keys() == q.keys():
        for key in p:
            compare_values(f"{path}/{key}", p[key], q[key], differences, bad)
    elif isinstance(p, list) and isinstance(q, list) and len(p) == len(q):
        for one, other in zip(p, q):
            compare_values(path, one, other, differences, bad)
    elif isinstance(p, number) and isinstance(q, number) and not isinstance(p, bool) and not isinstance(q, bool):
        if p != q:
            off = abs(p - q) / max(abs(p), abs(q))
            differences[path] = max(differences.get(path, 0.0), off)
            if off > 1e-9:
                bad.append(f"{path}: {p} and {q}")
    elif p != q:
        bad.append(f"{path}: {str(p)[:80]} and {str(q)[:80]}")


def compare_messages(first, second):
    with open(first) as a, open(second) as b:
        messages = [[json.loads(line) for line in f] for f in (a, b)]
    if len(messages[0]) != len(messages[1]):
        return [f"{len(messages[0])} messages and {len(messages[1])}"]
    differences, bad = {}, []
    for p, q in zip(*messages):
        compare_values(p["topic"], p, q, differences, bad)
    if not differences and not bad:
        print(f"messages: {len(messages[0])}, equal to the last bit")
    for path, off in differences.items():
        print(f"message {path}: differs by up to {off:.1e} relative")
    return bad


first, second = sys.argv[1:3]
bad = compare_series(first + ".csv", second + ".csv") + compare_messages(first + ".jsonl", second + ".jsonl")
for line in bad:
    print("NOT EQUAL:", line)
sys.exit(1 if bad else 0)
