"""run.py AGENT FOLDER RECORDING TABLE: see deploy/checks/interface."""

import copy
import json
import os
import sys

import jsonschema
from pydantic_asyncapi.v3 import AsyncAPI

from agent import playing
from client import Client
from contract import Contract, decode_cbor, problems
from kinds import Mosquitto
from verdict import expect, finish, until

STATION = "interface-check"
# Kinds of message that must have been seen. (The alert is that of a change which nobody confirms.)
KINDS = ["summary", "event", "trace", "health", "info", "config", "reply", "log", "online", "settings", "alert"]
# Members whose own members are not declared: nothing there can be wrong.
FREE = {"config", "result", "details", "fields", "level", "self_test", "calibration", "got", "class_features"}
# Errors of a single member.
SINGLE = {"type", "range", "unknown_key"}


def references(tree):
    if isinstance(tree, dict):
        if isinstance(tree.get("$ref"), str):
            yield tree["$ref"]
        for one in tree.values():
            yield from references(one)
    elif isinstance(tree, list):
        for one in tree:
            yield from references(one)


def read(document):
    """The document by another program's rules, and its references by ours."""
    AsyncAPI.model_validate(document)
    for reference in references(document):
        node = document
        for key in reference.removeprefix("#/").split("/"):
            expect(key in node, f"{reference} is not there")
            node = node[key]
    for name, schema in document["components"]["schemas"].items():
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.Draft7Validator.check_schema(schema)
        expect(schema.get("description"), f"{name} has no description")
    print(f"AsyncAPI {document['asyncapi']}: {len(document['channels'])} channels, "
          f"{len(document['operations'])} operations, {len(document['components']['schemas'])} schemas")


async def messages(agent, port, folder, recording):
    """topic -> the last messages of a station that plays an earthquake and is asked this and that."""
    seen = {}
    client = Client("check", version=5, take=lambda message: seen.setdefault(message.topic, []).append(message))
    await client.connect(port)
    await client.subscribe("seismote/#")
    for number, encoding in enumerate(("json", "cbor")):
        station = playing(agent, folder, f"{STATION}-{number}", recording, 20, {
            "mqtt": {"uri": f"mqtt://127.0.0.1:{port}"}, "trace": {"encoding": encoding}}).start()
        try:
            await until(lambda: any(topic.endswith(f"{number}/state/online") for topic in seen), 20, "the station is online")
            base = f"seismote/{STATION}-{number}"
            for name, payload in [("log", {"level": "debug", "duration_s": 60}), ("ping", {}), ("status", {}),
                                  ("config", {"set": {"trace": {"rat": 1, "qos": 7}}}), ("config-get", {}),
                                  ("config", {"set": {"trace": {"block_s": 0.5}}, "confirm_s": 1}),
                                  ("test-event", {}), ("alerts", {})]:
                payload["id"] = f"{name}-{number}" + ("-again" if "confirm_s" in payload else "")
                await client.publish(f"{base}/cmd/{name}", json.dumps(payload).encode())
            await until(lambda: f"{base}/event/last" in seen and f"{base}/data/trace" in seen
                        and f"{base}/res/alerts-{number}" in seen and f"{base}/state/alert/config_reverted" in seen, 60, "all messages")
        finally:
            station.stop()
    await client.close()
    return seen


def spoiled(value, path=()):
    """Copies of a JSON value, each with one place in it wrong, with a word for what that is."""
    if isinstance(value, dict):
        for key, one in value.items():
            if key in FREE:
                # (The level of an estimate is a number, and what was got may be anything.)
                if key not in ("got", "class_features") and path != ("onsite",):
                    yield f"{'/'.join(path)}/{key} is a number", {**value, key: 5}
                continue
            for what, other in spoiled(one, (*path, key)):
                yield what, {**value, key: other}
    elif isinstance(value, list):
        yield f"{'/'.join(path)} is no list", {"0": 1}
        if value:
            for what, other in spoiled(value[0], (*path, "0")):
                yield what, [other, *value[1:]]
    elif isinstance(value, bool):
        yield f"{'/'.join(path)} is a text", str(value)
        yield f"{'/'.join(path)} is a number", int(value)
    elif isinstance(value, (int, float)):
        yield f"{'/'.join(path)} is a text", str(value)
        yield f"{'/'.join(path)} is true", True
        if path in (("seq",), ("rev",)):
            yield f"{'/'.join(path)} is negative", -1
        if path == ("v",):
            yield "v is 2", 2
    elif isinstance(value, str):
        yield f"{'/'.join(path)} is a number", 7
        yield f"{'/'.join(path)} is a list", [value]
        if path == ("t",):
            yield "t is in words", "yesterday"
        if path == ("boot",):
            yield "boot is no UUID", "0"


def missing(value, schema):
    for key in schema.get("required", []):
        yield f"{key} is missing", {name: one for name, one in value.items() if name != key}


def judge(contract, seen):
    document = contract.schemas
    kinds, refused = {}, 0
    for topic, all_ in seen.items():
        for message in all_:
            wrong = contract.problems(topic, message.payload, message.qos, message.retain)
            expect(not wrong, f"{topic}: {wrong}")
            channel = contract.channel(topic)
            reference = contract.payload(message.payload, channel[2], None) if channel and message.payload else None
            if reference is None:
                continue
            name = reference["$ref"].split("/")[-1]
            if document[name]["type"] == "string":
                value = message.payload.decode()
            else:
                value = json.loads(message.payload) if message.payload[:1] == b"{" else decode_cbor(message.payload)
            # (An onset and an end, a reply with errors and one without.)
            variety = json.dumps([value.get("event_type"), value.get("errors", [])[:1], value.get("cmd")]) \
                if isinstance(value, dict) else ""
            kinds.setdefault(name, {})[variety] = value
    absent = [name for name in KINDS if name not in kinds]
    expect(not absent, f"no message of the kinds {', '.join(absent)}")
    for name, values in sorted(kinds.items()):
        other = jsonschema.Draft202012Validator(document[name])
        count = 0
        for value in values.values():
            expect(other.is_valid(value), f"{name}: jsonschema says {next(other.iter_errors(value), None)}")
            if name == "settings":
                continue
            if isinstance(value, dict):
                expect(problems({**value, "surprise": 1}, document[name]), f"{name}: an unknown member is not noticed")
                expect(other.is_valid({**value, "surprise": 1}), f"{name}: a reader must let an unknown member pass")
            changes = [*spoiled(value), *(missing(value, document[name]) if isinstance(value, dict) else [("word", "x")])]
            for what, changed in changes:
                if changed is None:
                    continue
                expect(not other.is_valid(changed), f"{name}: jsonschema takes it that {what}")
                expect(problems(changed, document[name], strict=False), f"{name}: the checks take it that {what}")
                count += 1
        refused += count
        print(f"{name}: {len(values)} variants valid, {count} spoiled ones refused")
    # And what is around the payload.
    summary = next(topic for topic in seen if topic.endswith("/state/summary"))
    good = seen[summary][-1].payload
    for what, arguments in {
        "unknown topic": (summary + "x", good), "QoS": (summary, good, 1), "empty": (summary.replace(
            "state/summary", "event/trigger"), b""), "retained": (summary.replace("state/summary", "data/trace"),
            seen[summary.replace("state/summary", "data/trace")][-1].payload, 1, True),
        "cut": (summary, good[:-1]), "content type": (summary, good, 0, True, "text/plain"), "binary": (summary, b"\xff"),
    }.items():
        expect(contract.problems(*arguments), f"{what} is not noticed")
        refused += 1
    expect(refused >= 50, f"only {refused} spoiled messages")
    print(f"{sum(len(all_) for all_ in seen.values())} messages valid; {refused} spoiled ones refused by both validators")


def judge_commands(schemas, table):
    taken = refused = known = 0
    with open(table, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    for line in lines:
        schema = schemas.get(f"command-{line['cmd']}")
        text = line.get("send")
        if schema is None or text is None or not line.get("reply"):
            continue
        if "repeat" in line:
            text = text.replace("REPEAT", line["repeat"][0] * line["repeat"][1])
        try:
            value = json.loads(text or "{}")
        except (ValueError, RecursionError):
            continue
        errors = line["reply"].get("errors", [])
        if any(one["code"] in ("syntax", "too_large") for one in errors):
            continue
        valid = not problems(value, schema)
        expect(valid == jsonschema.Draft202012Validator(schema).is_valid(value), f"the validators differ: {text}")
        # What a member may be that is judged by the rules of the settings is not declared.
        own = [one for one in errors if one["code"] in SINGLE and one["path"].count("/") <= 1
               and (one["path"][1:] in ("", *schema["properties"]) or "in this command" in one["message"])
               and schema["properties"].get(one["path"][1:], {}).keys() != {"description"}]
        if not own:
            expect(valid, f"{line['cmd']}: the station takes {text[:100]}, the schema not: {problems(value, schema)}")
            taken += 1
        elif not valid:
            refused += 1
        else:
            expect("is not a time" in own[0]["message"] or "is not kept" in own[0]["message"],
                   f"{line['cmd']}: the schema takes {text[:100]}: {own[0]}")
            known += 1
    expect(taken >= 30 and refused >= 30, f"{taken} taken, {refused} refused: the table is too small")
    print(f"commands: {taken} taken and {refused} refused as the station does, {known} (times, revisions) that only it can judge")


async def main():
    agent, folder, recording, table = sys.argv[1:]
    with open(os.environ["SEISMOTE_CONTRACT"], encoding="utf-8") as file:
        document = json.load(file)
    read(copy.deepcopy(document))
    contract = Contract(document)
    broker = await Mosquitto(folder).start()
    try:
        judge(contract, await messages(agent, broker.port, folder, recording))
    finally:
        broker.stop()
    judge_commands(contract.schemas, table)


finish(main())
