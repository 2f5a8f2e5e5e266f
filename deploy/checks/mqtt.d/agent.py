"""A seismoted under test, with its settings."""

import json
import os

from programs import Program


def merge(into, other):
    for key, value in other.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = value
    return into


class Agent(Program):
    """`settings` are laid over those that all checks share; JSON is YAML too."""

    def __init__(self, program, folder, station, settings, command=()):
        self.program, self.station, self.folder = program, station, os.path.join(folder, station)
        os.makedirs(self.folder, exist_ok=True)
        super().__init__(os.path.join(self.folder, "log"), *command)
        simulated = {"driver": "simulate", "rate_hz": 100,
                     "simulate": {"scenario": "table-knock", "seed": sum(station.encode()) % 1000 + 1}}
        self.settings = merge({
            "station": {"id": station},
            # (A recording has a rate of its own.)
            "sensor": {} if settings.get("sensor", {}).get("driver") == "replay" else simulated,
            "conditioning": {"settle_s": 1},
            "detection": {"event": {"pre_event_s": 1, "post_event_s": 1, "dead_time_s": 0}},
            "waveform": {"chunk_s": 2},
            "mqtt": {"protocol": 5, "keepalive_s": 5, "reconnect": {"min_s": 0.2, "max_s": 2}, "will_delay_s": 0},
            "storage": {"directory": os.path.join(self.folder, "storage")},
            "health": {"interval_s": 1},
        }, settings)
        os.makedirs(self.settings["storage"]["directory"], exist_ok=True)

    def line(self):
        path = os.path.join(self.folder, "settings.yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.settings, file)
        return [*self.command, self.program, "--config", path]

    def number(self):
        """Of the agent itself, which may be the child of the command that it was started with."""
        number = self.process.pid
        while self.command:
            try:
                with open(f"/proc/{number}/comm", encoding="utf-8") as file:
                    if file.read().strip() == os.path.basename(self.program)[:15]:
                        break
                with open(f"/proc/{number}/task/{number}/children", encoding="utf-8") as file:
                    number = int(file.read().split()[0])
            except (OSError, IndexError):
                break
        return number

    def attempts_that_failed(self):
        return self.words().count("not connected")


def playing(program, folder, station, recording, speed, settings):
    """An agent that plays the recording of deploy/recordings in a loop, with all its events and waveforms."""
    return Agent(program, folder, station, merge({
        "sensor": {"driver": "replay", "replay": {
            "file": recording, "speed": float(speed), "loop": True, "scale": [4.674e-06, 4.677e-06, 4.679e-06]}},
        "conditioning": {"settle_s": 5}, "detection": {"event": {"pre_event_s": 10, "post_event_s": 15}},
        "waveform": {"chunk_s": 5}}, settings))
