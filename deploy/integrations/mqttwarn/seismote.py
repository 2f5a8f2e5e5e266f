"""What mqttwarn asks of Seismote's events. LEAST: intensity (Mercalli) from which on a message goes out; EARTHQUAKES: only
what the station takes for an earthquake (setting `classification`)."""

import collections
import json

LEAST = 3.0
EARTHQUAKES = True

told = collections.deque(maxlen=1000)


def is_weak(topic, message):
    """Whether an event's message is to be left out: too weak, no earthquake, told already, or a test."""
    event = json.loads(message)
    likely = event.get("class", {}).get("likely")
    if event.get("test") or event.get("mmi", 0) < LEAST or EARTHQUAKES and likely != "earthquake":
        return True
    if event["event_id"] in told:
        return True
    told.append(event["event_id"])
    return False


def describe(topic, data, srv=None):
    """The text of the message."""
    event = json.loads(data["payload"])
    judged = event.get("class", {})
    kind = judged.get("likely", "not judged")
    # The probability is that of an earthquake, whatever it is taken for.
    sure = f" (earthquake {round(100 * judged['p'])} %)" if "p" in judged else ""
    # A gap of the samples may leave open how strong it was.
    doubt = "" if event.get("velocity_valid", True) else " (not certain)"
    rough = "" if event.get("acceleration_valid", True) else " (not certain)"
    return {"text": f"{event['station']}: intensity {event['mmi']:.1f}{doubt}, {kind}{sure}, {event['pga']:.3f} m/s²{rough}, {event['onset'][:19]} UTC"}
