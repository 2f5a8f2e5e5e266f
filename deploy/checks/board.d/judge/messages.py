"""What came over MQTT: lines `arrival topic payload` of mosquitto_sub."""

import json
import re
from datetime import datetime, timezone


def nanoseconds(text):
    """A time of a message as ns since 1970."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    moment = datetime.strptime(whole, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    return int(moment.timestamp()) * 10**9 + int(fraction.ljust(9, "0")[:9] or 0)


class Station:
    """The messages of one station, in the order of arrival."""

    def __init__(self):
        self.messages = {}
        self.latest = 0

    def of(self, topic):
        """Objects published to a topic below the station; None for an empty payload."""
        return self.messages.get(topic, [])

    def ended(self):
        """`end` messages of events."""
        return [event for event in self.of("event/trigger") if event["event_type"] == "end"]

    def alerts(self):
        """[(code, raised, cleared or None)] in ns. An empty payload, which ends an alert, has no time: it is taken to be
        as late as the latest message before it."""
        found, raised = [], {}
        for code, alert, latest in self.messages.get("alerts", []):
            if alert is not None:
                raised.setdefault(code, nanoseconds(alert["since"]))
            elif code in raised:
                found.append((code, raised.pop(code), latest))
        found += [(code, since, None) for code, since in raised.items()]
        return sorted(found, key=lambda span: span[1])


def stations(path, root):
    """{id: Station} of all that was published below a root."""
    found = {}
    line_form = re.compile(r"^\S+ " + re.escape(root) + r"/([^/ ]+)/(\S+) ?(.*)$")
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            match = line_form.match(line.rstrip("\n"))
            if not match:
                continue
            name, topic, payload = match.groups()
            station = found.setdefault(name, Station())
            value = json.loads(payload) if payload.startswith("{") else None
            if value is not None and topic in ("data/trace", "state/summary", "state/health"):
                station.latest = max(station.latest, nanoseconds(value["t"]))
            if topic.startswith("state/alert/"):
                entry = (topic.rsplit("/", 1)[1], value, station.latest)
                station.messages.setdefault("alerts", []).append(entry)
            elif value is not None:
                station.messages.setdefault(topic, []).append(value)
    return found


def blocks(station):
    """The raw samples that a station has published, block by block: (t in ns, gap, rate, [(x, y, z) in m/s²])."""
    for trace in station.of("data/trace"):
        yield (nanoseconds(trace["t"]), trace["gap"], trace["rate_hz"],
               list(zip(trace["x"]["raw"], trace["y"]["raw"], trace["z"]["raw"])))
