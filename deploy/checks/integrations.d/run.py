"""run.py AGENT FOLDER RECORDING [PART...]: see deploy/checks/integrations."""

import asyncio
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import tomli

from agent import playing
from contract import Contract
from kinds import Mosquitto, free_port
from programs import spawn
from verdict import expect, finish, wait_until
from web import Handler, serve

agent, folder, recording, *parts = sys.argv[1:]
parts = parts or ["files", "stores", "mqttwarn"]
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "integrations")
STATION = "integrations-check"
broker, processes = Mosquitto(folder), []


def skipped(part, reason):
    print(f"skipped: {part}: {reason}", flush=True)


def start(words, log, **options):
    process = spawn(words, f"{folder}/{log}", **options)
    processes.append(process)
    return process


def end(process):
    process.terminate()
    process.wait(20)


def until(what, right, seconds=240):
    def found():
        try:
            return right()
        except (OSError, ValueError, KeyError, subprocess.CalledProcessError):
            return None
    return wait_until(found, seconds, what, every=0.3)


def get(address, **query):
    with urllib.request.urlopen(f"{address}?{urllib.parse.urlencode(query)}", timeout=10) as reply:
        return json.load(reply)


class Recorder:
    """All events of the station that have ended, as a plain reader sees them."""

    def __init__(self):
        self.path = f"{folder}/messages"
        processes.append(broker.listener(self.path, "-t", f"seismote/{STATION}/#", "-F", "%t %p"))

    def messages(self, ending):
        with open(self.path, encoding="utf-8", errors="replace") as file:
            lines = [line.split(" ", 1) for line in file]
        return [json.loads(line[1]) for line in lines if len(line) == 2 and line[0].endswith(ending) and line[1].endswith("\n")
                and line[1].strip()]

    def ended(self):
        return [one for one in self.messages("/event/trigger") if one["event_type"] == "end"]


# MARK: Stores

class InfluxDB:
    name = "InfluxDB"

    def __init__(self):
        self.port, other = free_port(), free_port()
        self.place = f"{folder}/influxdb"
        self.address = f"http://127.0.0.1:{self.port}"
        with open(f"{folder}/influxdb.conf", "w", encoding="utf-8") as file:
            file.write(f"""reporting-disabled = true
bind-address = "127.0.0.1:{other}"
[meta]
dir = "{self.place}/meta"
[data]
dir = "{self.place}/data"
wal-dir = "{self.place}/wal"
[http]
bind-address = "127.0.0.1:{self.port}"
[monitor]
store-enabled = false
""")
        self.target = ["--influx", f"{self.address}/write?db=seismote"]

    def start(self):
        self.process = start(["influxd", "-config", f"{folder}/influxdb.conf"], "influxdb.log")
        until("InfluxDB answers", lambda: urllib.request.urlopen(f"{self.address}/ping", timeout=5).status == 204)

    def prepare(self):
        page = open(f"{HERE}/influxdb/README.md", encoding="utf-8").read()
        for words in re.findall(r"influx -execute '(.*)'", page):
            # (The recording is of 2019, and would not be kept.)
            words = words.replace("DURATION 730d", "DURATION INF")
            subprocess.run(["influx", "-port", str(self.port), "-execute", words], check=True)

    def query(self, words):
        result = get(f"{self.address}/query", db="seismote", q=words)["results"][0]
        expect("error" not in result, f"InfluxDB: {words}: {result}")
        return result.get("series", [])

    def events(self):
        series = self.query("SELECT event_id FROM seismote_event")
        return [row[1] for row in series[0]["values"]] if series else []

    def queries(self):
        """Those of the page and of the dashboard."""
        page = open(f"{HERE}/influxdb/README.md", encoding="utf-8").read()
        pages = re.findall(r"-database seismote -execute '(.*)'", page)
        # (The recording is of 2019.)
        answers = [self.query(re.sub(r"WHERE time > now\(\) - 1d ", "", one)) for one in pages]
        expect(len(answers) == 2 and all(answers), f"the page's queries: {answers}")
        board = json.load(open(f"{HERE}/grafana/seismote-influxdb.json", encoding="utf-8"))
        stations = self.query(board["templating"]["list"][1]["query"])
        expect([EVIL, STATION] == [row[1] for row in stations[0]["values"]], f"stations: {stations}")
        queries = [target["query"] for panel in board["panels"] for target in panel["targets"]]
        for one in queries:
            words = one.replace("$timeFilter", "time > 0").replace("$__interval", "10s").replace(
                "/^$station$/", f"/^({STATION})$/")
            # (A recording's chip has no temperature, nor has its time an error.)
            if "temperature_c" not in one and "time_error_ms" not in one:
                expect(self.query(words), f"the dashboard's query has no answer: {words}")
        return len(pages) + len(queries)


class VictoriaMetrics:
    name = "VictoriaMetrics"

    def __init__(self):
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.target = ["--influx", f"{self.address}/write"]
        self.program = shutil.which("victoria-metrics") or shutil.which("victoria-metrics-prod")

    def start(self):
        self.process = start([self.program, f"-storageDataPath={folder}/victoria", f"-httpListenAddr=127.0.0.1:{self.port}",
                              "-retentionPeriod=20y", "-search.latencyOffset=0s"], "victoria.log")
        until("VictoriaMetrics answers", lambda: urllib.request.urlopen(f"{self.address}/health", timeout=5).status == 200)

    def prepare(self):
        pass

    def series(self, words):
        """In the time of the recording or, for health, of now."""
        now = time.time()
        for start_, end_ in (("2019-07-06T03:00:00Z", "2019-07-06T12:00:00Z"), (now - 1200, now + 10)):
            found = get(f"{self.address}/api/v1/query_range", query=words, start=start_, end=end_, step="10s")
            expect(found["status"] == "success", f"VictoriaMetrics: {words}: {found}")
            if found["data"]["result"]:
                return found["data"]["result"]
        return None

    def events(self):
        found = get(f"{self.address}/api/v1/export", **{"match[]": "seismote_event_pga", "start": "2019-01-01T00:00:00Z"})
        return [str(one) for one in found["timestamps"]]

    def queries(self):
        page = open(f"{HERE}/victoriametrics/README.md", encoding="utf-8").read()
        pages = re.findall(r"-d 'query=(.*)'", page)
        expect(len(pages) == 2 and all(self.series(one) for one in pages), "the page's queries have no answer")
        board = json.load(open(f"{HERE}/grafana/seismote-victoriametrics.json", encoding="utf-8"))
        queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
        for one in queries:
            words = one.replace("$station", STATION).replace("$__interval", "10s")
            if "temperature_c" not in one and "time_error_ms" not in one:
                expect(self.series(words), f"the dashboard's query has no answer: {words}")
        return len(pages) + len(queries)


class PostgreSQL:
    name = "PostgreSQL"

    def __init__(self):
        self.programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.port, self.place = free_port(), f"{folder}/postgres"
        self.words = f"dbname=seismote host={self.place} port={self.port} user=postgres"
        self.target = ["--postgres", self.words]
        # It does not run as root.
        self.who = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        os.mkdir(self.place)
        if self.who:
            shutil.chown(self.place, "postgres")
        subprocess.run([*self.who, f"{self.programs}/initdb", "-D", f"{self.place}/data", "-U", "postgres", "-A", "trust"],
                       check=True, stdout=subprocess.DEVNULL, cwd="/")

    def start(self):
        self.process = start([*self.who, f"{self.programs}/postgres", "-D", f"{self.place}/data", "-k", self.place, "-p",
                              str(self.port), "-h", ""], "postgres.log", cwd="/")
        until("PostgreSQL answers", lambda: self.psql("SELECT 1", "postgres") is not None)

    def prepare(self):
        self.psql("CREATE DATABASE seismote", "postgres")
        subprocess.run(["psql", "-q", "-v", "ON_ERROR_STOP=1", self.words, "-f", f"{HERE}/postgresql/schema.sql"], check=True)

    def psql(self, query, database="seismote"):
        return subprocess.run(["psql", "-qtA", self.words.replace("dbname=seismote", f"dbname={database}"), "-c", query],
                              check=True, capture_output=True, text=True).stdout.split("\n")[:-1]

    def events(self):
        return self.psql("SELECT event_id FROM seismote_events")

    def queries(self):
        page = open(f"{HERE}/postgresql/README.md", encoding="utf-8").read()
        pages = re.findall(r'psql seismote -c "(.*)"', page)
        for one in pages:
            expect(self.psql(re.sub(r"WHERE time > now.*?interval '1 day' ", "", one)), f"no answer: {one}")
        expect(len(pages) == 2, "the page's queries")
        return len(pages)


# A station whose name has what line protocol takes for signs of its own.
EVIL = "evil, one=a"
NOW = '"t":"2026-11-27T09:00:00Z"'
# What a stranger, or a station that is broken, may publish: a store passes over what it cannot read, and goes on.
HOSTILE = {
    "state/digest": [
        b"\xff\xfe\x00", b"[1,2]", b"null", b"[" * 100_000, b'{"t":5}', b'{"t":null}', b'{"t":"0001-01-01T00:00:00Z","pga":1}',
        b'{"t":"0000-01-01T00:00:00Z"}', b'{"t":"9999-01-01T00:00:00Z","pga":1}', b'{%b,"pga":1%b}' % (NOW.encode(), b"0" * 400),
        b'{%b,"pga":%b}' % (NOW.encode(), b"1" * 5000), b'{%b,"pga":1e999}' % NOW.encode(), b'{%b,"pga":NaN}' % NOW.encode(),
        b'{%b,"pga":{"a":1}}' % NOW.encode(), b'{%b,"pga":1,"more":1e999}' % NOW.encode(), b'{%b,"v3":[1]}' % NOW.encode(),
    ],
    "state/health": [b'{%b,"sensor":"\\ud800"}' % NOW.encode(), b'{%b,"sensor":"a\\u0000b"}' % NOW.encode(),
                     b'{%b,"sensor":"a\\nb,c=1 2"}' % NOW.encode()],
    "event/trigger": [b'{"event_type":"end","onset":7}', b'{"event_type":["end"]}', b"{}"],
}


def bad_neighbours():
    """Publishes all of it."""
    for topic, payloads in HOSTILE.items():
        for payload in payloads:
            subprocess.run(["mosquitto_pub", "-p", str(broker.port), "-t", f"seismote/{EVIL}/{topic}", "-q", "1", "-s"], input=payload,
                           check=True)


def stores(recorder):
    wanted = []
    for kind in (InfluxDB, VictoriaMetrics, PostgreSQL):
        try:
            store = kind()
            store.start()
        except (OSError, IndexError, TypeError) as error:
            skipped(kind.name, f"could not be installed or started here: {error}")
            continue
        store.prepare()
        store.bridge = start(["/usr/bin/python3", "-B", f"{HERE}/store/seismote-store", "--broker", f"127.0.0.1:{broker.port}",
                              "--client-id", f"store-{kind.name}", *store.target], f"{kind.name}.bridge")
        wanted.append(store)
    time.sleep(2)
    # (Other parts have had theirs.)
    known = len(recorder.ended())
    station = play()
    until("an event", lambda: len(recorder.ended()) > known, 90)
    for store in wanted:
        until(f"{store.name} has an event", store.events)
    bad_neighbours()
    for store in wanted:
        # Away for a while, with an event meanwhile.
        end(store.process)
    before = len(recorder.ended())
    until("another event", lambda: len(recorder.ended()) > before, 90)
    for store in wanted:
        store.start()
    before = len(recorder.ended())
    until("a third event", lambda: len(recorder.ended()) > before, 90)
    station.stop()
    time.sleep(1)
    ended = recorder.ended()[known:]
    for store in wanted:
        expect(store.bridge.poll() is None, f"the program that writes into {store.name} goes on after messages that nobody can read")
        until(f"{store.name} has all {len(ended)} events", lambda store=store: len(store.events()) == len(ended))
        count = store.queries()
        print(f"{store.name}: {len(ended)} events, each once, over a stop of the store; {count} queries of the pages have "
              "answers", flush=True)
        end(store.bridge)
        end(store.process)


def play():
    return playing(agent, folder, STATION, recording, 10, {
        "mqtt": {"uri": f"mqtt://127.0.0.1:{broker.port}"}, "detection": {"event": {"post_event_s": 5}}}).start()


# MARK: mqttwarn

def mqttwarn(recorder):
    got = []
    program = os.path.join(os.environ["cache"], "mqttwarn/bin/mqttwarn")
    if not os.path.exists(program):
        return skipped("mqttwarn", "it could not be installed")

    class Sink(Handler):
        def do_POST(self):
            got.append(json.loads(self.body()))
            self.answer()

    server = serve(Sink)
    place = f"{folder}/mqttwarn"
    shutil.copytree(f"{HERE}/mqttwarn", place)
    text = open(f"{place}/mqttwarn.ini", encoding="utf-8").read()
    text = text.replace("port      = 1883", f"port      = {broker.port}").replace(
        "'ntfy://localhost/seismote'", f"'json://127.0.0.1:{server.server_port}/'")
    expect(f"json://127.0.0.1:{server.server_port}" in text and f"= {broker.port}" in text, "mqttwarn.ini is another one")
    open(f"{place}/mqttwarn.ini", "w", encoding="utf-8").write(text)
    process = start([program], "mqttwarn.log", cwd=place,
                    env={**os.environ, "MQTTWARNINI": "mqttwarn.ini"})
    time.sleep(4)
    station, before = play(), len(recorder.ended())
    try:
        until("a message", lambda: got, 90)
        until("the end of the event", lambda: len(recorder.ended()) > before, 90)
        time.sleep(2)
    finally:
        station.stop()
        print("".join(open(f"{folder}/mqttwarn.log", encoding="utf-8").readlines()[-3:]) if not got else "", end="")
    strong = {one["event_id"] for one in recorder.messages("/event/trigger") if one.get("mmi", 0) >= 3
              and one.get("class", {}).get("likely") == "earthquake"}
    expect(len(got) <= len(strong), f"{len(got)} messages of {len(strong)} events")
    expect(got[0]["title"] == "Seismote" and re.match(rf"{STATION}: intensity \d.*earthquake.*m/s²", got[0]["message"]), got[0])
    print(f"mqttwarn and Apprise: {got[0]['message']}", flush=True)
    end(process)


# MARK: Files

def files(recorder):
    station = play()
    until("an event", recorder.ended, 90)
    station.stop()
    with open(os.environ["SEISMOTE_CONTRACT"], encoding="utf-8") as file:
        contract = Contract(json.load(file))
    # Telegraf: each path is a member of the message, by the declaration.
    with open(f"{HERE}/telegraf/telegraf.conf", "rb") as file:
        telegraf = tomli.load(file)
    paths = 0
    for one in telegraf["inputs"]["mqtt_consumer"]:
        topic = one["topics"][0].replace("+", "x")
        channel = contract.channel(topic)
        expect(channel, f"Telegraf: {topic} is not declared")
        schema = contract.schemas[channel[2]["application/json"]["$ref"].split("/")[-1]]
        parsing = one["json_v2"][0]
        for entry in [{"path": parsing["timestamp_path"]}, *parsing["field"], *parsing.get("tag", [])]:
            node, required = schema, True
            for key in entry["path"].split("."):
                required = required and key in node.get("required", [])
                expect(key in node["properties"], f"Telegraf: {entry['path']} is not declared on {topic}")
                node = node["properties"][key]
            expect(required or entry.get("optional"), f"Telegraf: {entry['path']} may be missing, and is not optional")
            paths += 1
    if shutil.which("telegraf"):
        subprocess.run(["telegraf", "--config", f"{HERE}/telegraf/telegraf.conf", "config", "check"], check=True)
    else:
        skipped("Telegraf", "there is none here")
    skipped("Grafana", "there is none in Debian")
    # Node-RED: wires, and the functions as they are.
    with open(f"{HERE}/node-red/flow.json", encoding="utf-8") as file:
        nodes = {node["id"]: node for node in json.load(file)}
    for node in nodes.values():
        for target in sum(node.get("wires", []), []):
            expect(target in nodes, f"Node-RED: {node['id']} leads to {target}, which is not there")
        expect(node.get("broker") in (None, "localhost", *nodes), f"Node-RED: the broker of {node['id']}")
    run = """const [code, list] = JSON.parse(require('fs').readFileSync(0, 'utf8')); const kept = {};
        const context = { get: (key) => kept[key], set: (key, value) => { kept[key] = value; } };
        const body = new Function('msg', 'context', code);
        console.log(JSON.stringify(list.map((msg) => body(msg, context) ?? null)));"""

    def function(name, ending):
        list_ = [{"topic": f"seismote/{STATION}{ending}", "payload": one} for one in recorder.messages(ending)]
        done = subprocess.run(["node", "-e", run], input=json.dumps([nodes[name]["func"], list_]), check=True,
                              capture_output=True, text=True)
        return [one for one in json.loads(done.stdout) if one]

    told = function("seismote-strong", "/event/trigger")
    events = {one["event"]["event_id"] for one in told}
    expect(told and len(told) == len(events), f"Node-RED: {len(told)} messages of {len(events)} events")
    numbers = function("seismote-numbers", "/state/digest")
    expect(numbers and all(one["topic"] == STATION and one["payload"] >= 0 for one in numbers), "Node-RED: numbers")
    skipped("Node-RED", "there is none in Debian; its functions were run")
    print(f"files: {paths} paths of Telegraf are declared; Node-RED's functions: {told[0]['payload']!r}, {len(numbers)} numbers",
          flush=True)


def main():
    asyncio.run(broker.start())
    recorder = Recorder()
    time.sleep(0.5)
    try:
        for part in parts:
            {"stores": stores, "mqttwarn": mqttwarn, "files": files}[part](recorder)
    finally:
        for process in processes:
            if process.poll() is None:
                process.terminate()
        broker.stop()


finish(main)
