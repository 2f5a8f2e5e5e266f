"""Holds every message of a station that a check sees against the interface's declaration (`seismote interface asyncapi`):
topic, quality of service, retained flag, content type and JSON Schema, with the standard library alone. Beside what the
schemas say no member may be there that is not declared. The file is named by SEISMOTE_CONTRACT (deploy/lib.sh); a check
in which a message is wrong fails at its end."""

import atexit
import json
import os
import re
import struct
import sys


def decode_cbor(data):
    """One item as a station writes it (RFC 8949: maps, arrays, texts, numbers, true, false, null)."""
    value, end = cbor_item(data, 0)
    if end != len(data):
        raise ValueError(f"{len(data) - end} bytes behind the item")
    return value


def cbor_item(data, at):
    kind, low = data[at] >> 5, data[at] & 31
    at += 1
    if kind == 7:
        if low in (20, 21, 22):
            return {20: False, 21: True, 22: None}[low], at
        form = {25: ">e", 26: ">f", 27: ">d"}[low]
        return struct.unpack_from(form, data, at)[0], at + struct.calcsize(form)
    if low == 31:
        items = []
        while data[at] != 0xFF:
            item, at = cbor_item(data, at)
            items.append(item)
        return (dict(zip(items[::2], items[1::2])) if kind == 5 else items), at + 1
    if low >= 24:
        size = 1 << low - 24
        low = int.from_bytes(data[at:at + size], "big")
        at += size
    if kind in (0, 1):
        return (low if kind == 0 else -1 - low), at
    if kind in (2, 3):
        text = data[at:at + low]
        return (text.decode() if kind == 3 else text), at + low
    items = []
    for _ in range(low * (2 if kind == 5 else 1)):
        item, at = cbor_item(data, at)
        items.append(item)
    return (dict(zip(items[::2], items[1::2])) if kind == 5 else items), at


def fits(value, kind):
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "integer":
        return fits(value, "number") and value == int(value)
    return isinstance(value, {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}[kind])


def problems(value, schema, at="", strict=True):
    """What is wrong with a value, as texts. `strict`: members that an object does not declare are wrong, too."""
    if "anyOf" in schema:
        found = [problems(value, one, at, strict) for one in schema["anyOf"]]
        return [] if [] in found else found[0]
    kind = schema.get("type")
    if kind and not fits(value, kind):
        return [f"{at or 'the message'} is no {kind}: {str(value)[:60]}"]
    wrong = []
    if "const" in schema and value != schema["const"]:
        wrong.append(f"{at} is not {schema['const']}: {value}")
    if "enum" in schema and value not in schema["enum"]:
        wrong.append(f"{at} is none of {', '.join(schema['enum'])}: {value}")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        wrong.append(f"{at} has not the form {schema['pattern']}: {value[:60]}")
    if "minimum" in schema and value < schema["minimum"] or "maximum" in schema and value > schema["maximum"]:
        wrong.append(f"{at} is outside its range: {value}")
    if kind == "array":
        items = schema.get("items", {})
        if items.keys() <= {"type", "description"} and items.get("type") == "number":
            good = all(type(one) in (int, float) for one in value)
            return wrong if good else wrong + [f"{at}[] has something that is no number"]
        for one in value:
            wrong += problems(one, items, at + "[]", strict)
    if kind == "object":
        properties = schema.get("properties")
        wrong += [f"{at}.{key} is missing" for key in schema.get("required", []) if key not in value]
        others = schema.get("additionalProperties", properties is None or not strict)
        for key, one in value.items():
            if properties and key in properties:
                wrong += problems(one, properties[key], f"{at}.{key}", strict)
            elif others is False:
                wrong.append(f"{at}.{key} is not declared")
            elif isinstance(others, dict):
                wrong += problems(one, others, f"{at}.{key}", strict)
    return wrong


class Contract:
    # What a station sends below its own topic, and what goes below `network`; the rest is others', or Home
    # Assistant's (PREFIX/event/seismote-ID/KEY/config).
    OWN = re.compile(r"^(?!.*/seismote-[^/]+/(?!state/)[^/]+/config$).+/([^/]+/(state|event|data|res)/[^/]|"
                     r"network/(event|status|confirmed|place)(/|$))")

    def __init__(self, document):
        self.schemas, self.seen, self.wrong, self.told = document["components"]["schemas"], 0, 0, set()
        self.names = {}
        messages, self.channels = document["components"]["messages"], []
        for name, operation in document["operations"].items():
            channel = document["channels"][operation["channel"]["$ref"].split("/")[-1]]
            address = channel["address"]
            if address is None:
                continue
            # (What the detector of a network receives is held against it, too: people send it.)
            is_ours = operation["action"] == "send" and "{root}/{id}/" in address
            if not is_ours and "{root}/network/" not in address:
                continue
            pattern = re.escape(address).replace(r"\{root\}", ".+")
            kinds = {messages[one]["contentType"]: messages[one]["payload"] for one in channel["messages"]}
            form = re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", pattern))
            # The topics of `network` come first: they look like those of a station.
            first = "{root}/network/" in address
            self.channels.insert(0 if first else len(self.channels), (form, operation["bindings"]["mqtt"], kinds))

    def channel(self, topic):
        """The first that fits; kept, because there are few topics."""
        if topic not in self.names:
            self.names[topic] = next((one for one in self.channels if one[0].fullmatch(topic)), None)
        return self.names[topic]

    def problems(self, topic, payload, qos=0, retain=False, content_type=None):
        """What is wrong with a message; nil for one that is none of a station's."""
        # (The connection tries its rights with an empty message on topics of that name.)
        if not self.OWN.match(topic) or topic.endswith("/selfcheck") and not payload:
            return None
        channel = self.channel(topic)
        if not channel:
            return ["no such topic is declared"]
        _, binding, kinds = channel
        if not payload:
            # A topic that is left is emptied with QoS 1, whatever its own.
            return [] if binding["retain"] else ["empty"]
        wrong = []
        # (Of a trace the settings say it; the broker rumqttd delivers with the subscription's.)
        if qos > binding["qos"] and "/rumqttd" not in topic and "/amqtt/" not in topic:
            wrong.append(f"QoS {qos}, declared {binding['qos']}")
        if retain and not binding["retain"]:
            wrong.append("retained, which is not declared")
        if content_type is not None and content_type not in kinds:
            return wrong + [f"content type {content_type}"]
        reference = self.payload(payload, kinds, content_type)
        if reference is None:
            return wrong
        schema = self.schemas[reference["$ref"].split("/")[-1]]
        try:
            if schema["type"] == "string":
                value = payload.decode()
            elif reference is kinds.get("application/cbor") and payload[:1] != b"{":
                value = decode_cbor(payload)
            else:
                value = json.loads(payload, parse_constant=lambda word: word)
        except (ValueError, KeyError, IndexError, struct.error) as error:
            return wrong + [f"cannot be read: {error}"]
        return wrong + problems(value, schema)

    @staticmethod
    def payload(payload, kinds, content_type):
        """The schema of a message, by its content type or, where that is not told, by its first bytes; nil: miniSEED."""
        if content_type is None and len(kinds) > 1:
            records = payload[:2] == b"MS" or payload[:6].isdigit()
            content_type = (
                "application/json" if payload[:1] == b"{" else
                "application/vnd.fdsn.mseed" if records else "application/cbor")
        reference = kinds[content_type] if content_type else next(iter(kinds.values()))
        return reference if "$ref" in reference else None

    def look(self, message):
        """One message as client.py has it."""
        kind = message.properties.get(0x03)
        wrong = self.problems(
            message.topic, message.payload, message.qos, message.retain, kind.decode() if kind else None)
        if wrong is None:
            return
        self.seen += 1
        if wrong:
            self.wrong += 1
            for one in wrong[:5]:
                # Each kind of it once.
                key = (message.topic.split("/")[-1], one.split(":")[0])
                if key not in self.told and len(self.told) < 20:
                    self.told.add(key)
                    print(f"NOT AS DECLARED: {message.topic}: {one}", file=sys.stderr, flush=True)

    def end(self):
        if self.seen:
            print(f"{self.seen} messages held against the declared interface, {self.wrong} wrong", flush=True)
        if self.wrong:
            sys.stdout.flush()
            os._exit(1)


def declared():
    """The contract of this check; nil where none is named."""
    path = os.environ.get("SEISMOTE_CONTRACT")
    if not path:
        return None
    with open(path, encoding="utf-8") as file:
        contract = Contract(json.load(file))
    atexit.register(contract.end)
    return contract
