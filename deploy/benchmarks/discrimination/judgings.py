"""Events with what the station judged them by: of an export of labelled events, of recordings of earthquakes, of models of
disturbances. Each is a dictionary: `kind`; `group`, which must not be divided when a fit is tested; `rate`; of exports `triggers`
as in `training.py`, one; of the others `p` at the judgings at 0.5, 1, 2, 3, 5 s; `likely`, `certain`, `alarm`: when (s), or None; of recordings also `distance_km`, `pga_gal`, `pgv` (m/s) and `pgv_time` (s).
"""

import concurrent.futures
import json
import pathlib
import re

import assessment
import field
import numpy as np
import judge_disturbances
import training

COLUMNS = 17  # seconds after the onset and sixteen features
# What people call the kinds that are modelled, where it is another word.
LABELS = {"drag": "furniture", "washing": "machine", "cable": "moved", "pile": "construction"}
STAMP = re.compile(r"-(\d{8}T\d\d)\d{7}Z$")


def exported(folders):
    """What `seismote ctl events --labelled --export FOLDER` has written. One hour's events with one label are one group: a
    single earthquake at several stations, or a single person who walks to and fro."""
    found = []
    for path in sorted(file for folder in folders for file in pathlib.Path(folder).glob("*.json")):
        event = json.loads(path.read_text())
        label, rows = event.get("label"), event.get("class_features") or []
        if not label or event.get("test") or not rows or any(len(row) != COLUMNS for row in rows):
            continue
        stamp, table = STAMP.search(event["event_id"]), np.array(rows, float)
        found.append({
            "kind": label, "group": f"{label} {stamp[1] if stamp else event['event_id']}", "source": "house", "variant": 0,
            "triggers": [{"begin": 0.0, "t": table[:, 0], "x": table[:, 1:], "shift": np.zeros(len(table))}]})
    return found


def recorded(tool, folder):
    """The first event of each recording of a located earthquake, as deploy/checks/field counts it."""
    folder = pathlib.Path(folder)
    records = [r for r in json.loads((folder / "index.json").read_text())["records"] if r.get("p_s") is not None]

    def one(record):
        path = folder / f"{record['record']}.mseed"
        samples, rate = field.read(path)
        for event in assessment.events(tool, path, "--scale", field.COUNT):
            if record["p_s"] - field.EARLY <= event.onset <= record["s_s"] + field.LATE:
                event.pgv, event.pgv_time = assessment.peak_velocity(samples, rate, event.onset)
                return event_of("earthquake", record["record"][:10], rate, event) | {
                    "distance_km": record["distance_km"], "pga_gal": record["pga_gal"], "pgv": event.pgv,
                    "pgv_time": event.pgv_time}
        return None

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return [event for event in pool.map(one, records) if event]


def modelled(tool, count, seed, folder):
    """Of `count` passages of each kind and rate those that begin an event."""
    found = judge_disturbances.passages(tool, count, seed, training.Quiet(pathlib.Path(folder) if folder else None).parts)
    return [event_of(LABELS.get(kind, kind), f"{kind} {i}", rate, event) for i, (kind, rate, event) in enumerate(found) if event]


def event_of(kind, group, rate, event):
    return {"kind": kind, "group": group, "source": "replay", "rate": rate, "p": event.probabilities(rate), "likely": event.likely, "certain": event.certain, "alarm": event.alarm}


def stored(path, make):
    """What `make` gives, or what it gave when the file was written."""
    path = path and pathlib.Path(path)
    if path and path.exists():
        return json.loads(path.read_text())
    found = make()
    if path:
        path.write_text(json.dumps(found))
    return found
