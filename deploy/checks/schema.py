"""Documents from a schema, and a comparison of what the schema and the agent make of them."""

import json
import random
import re
import sys

import jsonschema

# What the agent judges and a schema cannot: see $comment in the schema.
WITH_UNIT = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)? *[a-zA-Z/^0-9²]+")

ODD = [
    None, True, False, 0, 1, -1, 2, 1.5, -0.0, 5.0, 1e300, -1e300, 2**53, 2**63 - 1, 10**15, "", " ", "x", "auto", "5 mg", "2 g",
    "1 s", "200 ms", "0.5 Hz", "1e3 s", "1e-7 s", "5 furlong", "1e100 s", "-1 s", ".5 s", "5. s", "+1 s", "1s", "1 s ",
    "1 s\n", "abc\n", "none", "axes", "***", "group", "0x53", "ä", "a b", "a/b", "a//b", "[x]", [], {}, [1], ["x"], [[]],
    [1, 1], [1, 2], [2, 1], [1, 2, 3], {"x": 1}, {"mode": "none"}, {"sine": {}}, {"chain": []}, "x" * 65, "x" * 300,
]  # fmt: skip

BY_HAND = [
    {}, [], 1, "x", None, {"locked": ["mqtt"]}, {"locked": ["mqtt.uri", "axes.x", "axes.all.filter"]},
    {"unlocked": ["mqtt.home_assistant.prefix"]}, {"unlocked": ["trace.qos"]}, {"unlocked": 1}, {"locked": ["nothing"]}, {"locked": [""]}, {"locked": "mqtt"}, {"locked": None}, {"locked": [1]}, {"nothing": 1},
    {"mqtt": {"password": "p", "username": "u"}}, {"mqtt": {"password": 5}}, {"mqtt": {"password": "x\ny"}},
    {"mqtt": {"uri": "mqtt://[::1]:1883"}}, {"mqtt": {"uri": "mqtt://[1.2.3.4]"}}, {"mqtt": {"uri": "mqtt://h:0"}},
    {"mqtt": {"uri": "mqtt://h:65535"}}, {"mqtt": {"uri": "mqtt://h:65536"}}, {"mqtt": {"uri": "mqtt://h:000080"}},
    {"mqtt": {"uri": "mqtt://h:99999"}}, {"mqtt": {"uri": "mqtt://h:"}}, {"mqtt": {"uri": "mqtt://"}},
    {"mqtt": {"uri": "mqtt://u:p@h"}}, {"mqtt": {"uri": "http://h"}}, {"mqtt": {"uri": []}}, {"mqtt": {"uri": ["mqtt://h"] * 8}},
    {"mqtt": {"uri": ["mqtt://h"] * 9}}, {"mqtt": {"uri": "mqtt://h\n"}}, {"mqtt": {"uri": "mqtts://a_b-c.d:8883"}},
    {"mqtt": {"root": "a/b"}}, {"mqtt": {"root": "a/"}}, {"mqtt": {"root": "/a"}}, {"mqtt": {"root": "a" * 129}},
    {"mqtt": {"root": ""}}, {"mqtt": {"root": "a\n"}}, {"mqtt": {"protocol": 5.0}}, {"mqtt": {"protocol": 4}}, {"mqtt": {"protocol": "auto"}},
    {"mqtt": {"protocol": "3.1.1"}}, {"mqtt": {"tls": {"min_version": 1.2}}}, {"mqtt": {"tls": {"min_version": "1.3"}}},
    {"mqtt": {"tls": {"cert_file": "/c"}}}, {"mqtt": {"tls": None}}, {"mqtt": {"reconnect": {"min_s": 60, "max_s": 30}}},
    {"station": {"id": "group"}}, {"station": {"id": "a b"}}, {"station": {"id": "x" * 64}}, {"station": {"id": "x" * 65}},
    {"station": {"groups": ["a", "a"]}}, {"station": {"groups": []}}, {"station": {"groups": [f"g{i}" for i in range(17)]}},
    {"station": {"latitude": None}}, {"station": {"latitude": 90.5}}, {"station": {"latitude": "1"}},
    {"station": {"network": "xx"}}, {"station": {"network": "XX\n"}}, {"station": {"location": "00"}}, {"station": {"location": 0}},
    {"station": {"description": "ä\"\\" * 10}}, {"station": {"description": "a\u2028b"}}, {"station": {"description": "a\u0085b"}},
    {"sensor": {"rate_hz": 4000.5}}, {"sensor": {"rate_hz": "1 kHz"}}, {"sensor": {"rate_hz": "5 kHz"}}, {"sensor": {"rate_hz": "0.1 kHz"}},
    {"sensor": {"range": 0}}, {"sensor": {"range": "0 g"}}, {"sensor": {"range": "2 m/s²"}}, {"sensor": {"range": "2 m/s^2"}},
    {"sensor": {"mounting": {"x": "x", "y": "x"}}}, {"sensor": {"mounting": {"x": "+w"}}}, {"sensor": {"mounting": {"rotation_deg": [1, 2]}}},
    {"sensor": {"i2c": {"address": 0x53}}}, {"sensor": {"i2c": {"address": "0x53"}}}, {"sensor": {"i2c": {"address": None}}},
    {"sensor": {"simulate": {"seed": 2**53}}}, {"sensor": {"simulate": {"seed": 2**53 - 1}}}, {"sensor": {"simulate": {"seed": 1e3}}},
    {"sensor": {"replay": {"scale": 0}}}, {"sensor": {"replay": {"scale": -0.0}}}, {"sensor": {"replay": {"scale": [1, 2, 0]}}},
    {"sensor": {"replay": {"scale": [1, -2, 1e-9]}}}, {"sensor": {"replay": {"scale": 1e12}}}, {"sensor": {"replay": {"scale": 1.1e12}}},
    {"sensor": {"replay": {"scale": None}}}, {"sensor": {"replay": {"scale": [1, None, 1]}}},
    {"conditioning": {"settle_s": None}}, {"conditioning": {"settle_s": "2 min"}}, {"conditioning": {"settle_s": "2 h"}},
    {"conditioning": {"offset": {"mode": "ema"}}}, {"conditioning": {"offset": {"mode": "ema", "alpha": 0.1, "corner_hz": 1}}},
    {"conditioning": {"offset": {"mode": "none", "order": 2}}}, {"conditioning": {"offset": {"mode": "highpass", "corner_hz": 60}}},
    {"conditioning": {"offset": {"mode": "highpass", "corner_hz": "1 Hz", "order": 3}}}, {"conditioning": {"offset": "none"}},
    {"axes": {"all": {"filter": {"butterworth": {"type": "bandpass", "corners_hz": [1, 1]}}}}},
    {"axes": {"all": {"filter": {"butterworth": {"type": "bandpass", "corners_hz": [1, "1 Hz"]}}}}},
    {"axes": {"all": {"filter": {"butterworth": {"type": "bandpass", "corners_hz": [5, 1]}}}}},
    {"axes": {"all": {"filter": {"butterworth": {"type": "bandpass", "corner_hz": 1}}}}},
    {"axes": {"all": {"filter": {"butterworth": {"type": "lowpass", "corner_hz": 60}}}}},
    {"axes": {"x": {"filter": {"chain": ["none", {"simple": {"type": "lowpass", "corner_hz": 1}}]}}}},
    {"axes": {"x": {"filter": {"chain": [{"chain": ["none"]}]}}}}, {"axes": {"x": {"filter": {"chain": ["none"] * 9}}}},
    {"axes": {"x": {"filter": {"simple": {"type": "bandpass", "corner_hz": 1}}}}}, {"axes": {"x": {"filter": None}}},
    {"axes": {"x": {"filter": {"simple": {"type": "lowpass", "corner_hz": 1}, "chain": ["none"]}}}},
    {"axes": {"x": {"filter": "shake:lp5"}}}, {"axes": {"x": {"filter": "shake:lp6"}}}, {"axes": {"w": {}}}, {"axes": None},
    {"axes": {"x": {"signal": {"sine": {"amplitude": "1 g", "frequency_hz": 1}}}}}, {"axes": {"x": {"signal": {"sine": {}}}}},
    {"axes": {"x": {"signal": {"step": {}}}}}, {"axes": {"x": {"signal": {"step": None}}}}, {"axes": {"x": {"signal": "sine"}}},
    {"axes": {"all": {"detection": {"window": 1}}}}, {"axes": {"all": {"detection": {"window": 65537}}}},
    {"axes": {"all": {"detection": {"window": 1.5}}}}, {"axes": {"all": {"detection": {"window": "0 s"}}}},
    {"axes": {"all": {"detection": {"window": "3601 s"}}}}, {"axes": {"all": {"detection": {"threshold": "-1 mg"}}}},
    {"detection": {"sta_lta": {"sta_s": 10, "lta_s": 5}}}, {"detection": {"sta_lta": {"filter": "axes"}}},
    {"detection": {"event": {"votes": 4}}}, {"intensity": {"scales": []}}, {"intensity": {"scales": ["jma", "jma"]}},
    {"trace": {"rate_hz": 200}}, {"trace": {"signals": ["rms", "raw"]}}, {"trace": {"qos": 2}}, {"trace": {"qos": 1.0}},
    {"trace": {"block_s": "50 ms"}}, {"trace": {"block_s": "500 ms"}}, {"storage": {"directory": ""}}, {"log": {"level": "loud"}},
    {"health": {"interval_s": "1 day"}}, {"health": {"interval_s": "1e1 min"}}, {"health": {"interval_s": "1e0001 s"}},
    {"health": {"interval_s": "1e101 s"}}, {"mqtt": {"keepalive_s": "1.5 min"}}, {"mqtt": {"keepalive_s": "7.5 s"}}, {"mqtt": {"keepalive_s": 7.5}},
]  # fmt: skip


class Maker:
    def __init__(self, schema, seed):
        self.root = schema
        self.random = random.Random(seed)

    def resolve(self, schema):
        while "$ref" in schema:
            schema = self.root["$defs"][schema["$ref"].split("/")[-1]]
        return schema

    def number(self, schema, whole):
        low = schema.get("minimum", schema.get("exclusiveMinimum", -1e6))
        high = schema.get("maximum", 1e6)
        step = 1 if whole else abs(high - low) * 1e-6 + 1e-9
        choice = self.random.randrange(8)
        if choice < 3:
            value = [low, high, low + step][choice]
        elif choice == 3:
            value = high + step
        elif choice == 4:
            value = low - step
        else:
            value = self.random.uniform(low, min(high, low + 100))
        return round(value) if whole else value

    def text(self, schema):
        pattern = schema.get("pattern", "")
        units = re.search(r"\*\(([^)]*)\)", pattern)
        if units:
            unit = self.random.choice(units[1].replace("\\", "").split("|"))
            number = self.random.choice(["1", "0", "-1", "5", ".5", "20.", "1e1", "3e-2", "1e9", "250"])
            return number + self.random.choice(["", " ", "  "]) + unit
        if "mqtts" in pattern:
            return self.random.choice(["mqtt://a", "mqtts://b:8883", "mqtt://[::1]", "mqtt://c:70000", "mqtt:/d"])
        letters = "abcXYZ019_-" if "A-Za-z" in pattern else "ABZ09-" if "A-Z0-9" in pattern else "abc /ä,."
        return "".join(self.random.choice(letters) for _ in range(self.random.choice([0, 1, 2, 5, 8, 9, 64, 65])))

    def value(self, schema, depth=0):
        schema = self.resolve(schema)
        if self.random.random() < 0.04:
            return self.random.choice(ODD)
        if "anyOf" in schema:
            return self.value(self.random.choice(schema["anyOf"]), depth)
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        if "const" in schema:
            return schema["const"]
        kind = schema.get("type", "object")
        if isinstance(kind, list):
            kind = self.random.choice(kind)
        if kind == "null":
            return None
        if kind == "boolean":
            return self.random.random() < 0.5
        if kind in ("number", "integer"):
            return self.number(schema, kind == "integer")
        if kind == "string":
            return self.text(schema)
        if kind == "array":
            least, most = schema.get("minItems", 0), schema.get("maxItems", 4)
            count = self.random.randint(max(0, least - (self.random.random() < 0.1)), min(most, least + 3))
            if self.random.random() < 0.03:
                count = most + 1
            return [self.value(schema["items"], depth + 1) for _ in range(count)]
        required = schema.get("required", [])
        known = schema.get("properties", {})
        share = 0.25 if depth < 2 else 0.5
        chosen = [k for k in known if (k in required and self.random.random() < 0.97) or self.random.random() < share]
        if depth == 0:
            chosen = self.random.sample(sorted(known), self.random.randint(1, 3))
        made = {key: self.value(known[key], depth + 1) for key in chosen}
        if self.random.random() < 0.02:
            made[self.random.choice(["nothing", "rate", "all", "x", "mode"])] = self.random.choice(ODD)
        return made

    def leaves(self, schema, odds, path=()):
        """Every setting with so many odd values, each in a document of its own."""
        schema = self.resolve(schema)
        if "properties" in schema and "x-apply" not in schema:
            for key, below in schema["properties"].items():
                yield from self.leaves(below, odds, path + (key,))
        elif path and path[:2] not in (("axes", "x"), ("axes", "y")):
            for odd in self.random.sample(ODD, min(odds, len(ODD))):
                document = odd
                for key in reversed(path):
                    document = {key: document}
                yield document


def make(schema, count):
    documents = list(BY_HAND)
    maker = Maker(schema, 1)
    documents += maker.leaves(schema, count // 100)
    documents += [maker.value(schema) for _ in range(count)]
    for document in documents:
        print(json.dumps(document, ensure_ascii=True))


def is_beyond_a_schema(error):
    """Whether one error of the agent is of a kind that the schema says nothing of."""
    if error["code"] == "cross_field":
        return "rule between settings"
    got = error.get("got")
    if error["code"] in ("range", "type") and isinstance(got, str) and WITH_UNIT.fullmatch(got):
        return "range of a quantity with a unit"
    return None


def compare(schema, documents, decisions):
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    counts = {"both accept": 0, "both refuse": 0}
    differences = []
    assert len(documents) == len(decisions), f"{len(documents)} documents, {len(decisions)} decisions"
    for text, decision in zip(documents, decisions):
        document, decision = json.loads(text), json.loads(decision)
        accepts = validator.is_valid(document)
        if accepts == decision["ok"]:
            counts["both accept" if accepts else "both refuse"] += 1
            continue
        kinds = [is_beyond_a_schema(error) for error in decision.get("errors", [])]
        if accepts and kinds and all(kinds):
            key = "only the agent refuses: " + kinds[0]
            counts[key] = counts.get(key, 0) + 1
            continue
        differences.append(
            f"schema {'accepts' if accepts else 'refuses'}, agent {'accepts' if decision['ok'] else 'refuses'}: "
            f"{text[:300]} {json.dumps(decision.get('errors', [])[:2])[:400]}"
        )
    for key, count in counts.items():
        print(f"{count:6} {key}")
    for difference in differences[:40]:
        print(difference)
    print(f"{len(documents)} documents, {len(differences)} differences")
    return 1 if differences or min(counts["both accept"], counts["both refuse"]) < 300 else 0


def lines(path):
    with open(path, encoding="utf-8") as file:
        return file.read().split("\n")[:-1]


if __name__ == "__main__":
    with open(sys.argv[2], encoding="utf-8") as file:
        schema = json.load(file)
    if sys.argv[1] == "make":
        make(schema, int(sys.argv[3]))
    else:
        sys.exit(compare(schema, lines(sys.argv[3]), lines(sys.argv[4])))
