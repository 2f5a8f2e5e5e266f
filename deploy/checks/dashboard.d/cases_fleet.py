"""Many stations: what a page of a thousand costs, and how they are found, sorted and set."""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time
import zlib

from looks import check_looks, coloured
from marks import early, measures
from programs import Program
from web import Handler, serve
from world import Broker, free_port, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
STATIONS = int(os.environ.get("SEISMOTE_FLEET", "1000"))
ROWS = "document.querySelectorAll('.stations tbody tr:not(.room)')"


class Speakers(Program):
    """speakers.py, until the end of a case."""

    def __init__(self, world, broker, mode, what, *more):
        super().__init__(os.path.join(world.work, f"{mode}-{what}-{free_port()}.log"), sys.executable, "-B", os.path.join(HERE, "speakers.py"), str(broker.port), mode, what, *more)

    def __enter__(self):
        return self if self.running else self.start()

    def __exit__(self, *_):
        self.kill()


def sent(broker):
    """Bytes that the broker's port of the page has sent to the connections that are open now."""
    text = subprocess.run(["ss", "-tnHi", f"sport = :{broker.web}"], capture_output=True, text=True, check=True).stdout
    return sum(int(number) for number in re.findall(r"bytes_acked:(\d+)", text))


def measuring(page):
    """A session in which `metrics` can be asked for."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    return session


def metrics(session):
    """Chromium's own measures of the page: seconds of its thread, bytes of its heap, and others."""
    return {item["name"]: item["value"] for item in session.send("Performance.getMetrics")["metrics"]}


@early
@measures
def case_thousand_stations(world):
    broker = world.another_broker("thousand")
    with Speakers(world, broker, "fleet", str(STATIONS)) as speakers:
        wait_until(lambda: "ready" in speakers.words(), 60, "a thousand stations are there")
        began = time.monotonic()
        page = world.page(broker=broker, size=(1440, 900))
        world.until(page, f"{ROWS}.length >= 10")
        first = time.monotonic() - began
        world.until(page, f"Seismote.overview.rows.filter((row) => row.pga >= 0).length > {STATIONS * 0.97}")
        whole = time.monotonic() - began
        # What each is called and where it is comes behind, and comes from all of them.
        world.until(page, f"Seismote.overview.rows.filter((row) => row.version).length >= {STATIONS} && Seismote.overview.map.state().placed >= {STATIONS}", 60)
        known = time.monotonic() - began
        # The worst come first, and counts say how many there are.
        world.until(page, "document.querySelector('.stations tbody tr:not(.room) .badge').textContent === Seismote.text.overview.states.shaking")
        shaking = sum(number % 250 == 3 and number % 97 != 5 for number in range(STATIONS))
        assert page.inner_text(".count.shaking") == f"{shaking} shaking", page.inner_text(".count.shaking")
        # Beside those that shake, the list of events says nothing of "none yet".
        world.until(page, f"document.querySelectorAll('.events-card tr.running').length >= {shaking}")
        assert not page.is_visible(".events-card > p.quiet")
        world.picture(page, "thousand-table")
        session = measuring(page)
        # What came at the beginning is over.
        page.wait_for_timeout(4000)
        before, bytes_before, at = metrics(session), sent(broker), time.monotonic()
        page.wait_for_timeout(15000)
        after, bytes_after, took = metrics(session), sent(broker), time.monotonic() - at
        rate = (bytes_after - bytes_before) / took / 1000
        # Processor time of the page's thread: what the clock on the wall says of a task has other programs in it.
        share = (after["ThreadTime"] - before["ThreadTime"]) / took
        heap = after["JSHeapUsedSize"] / 1e6
        nodes = after["Nodes"]
        # (At night there are more than a thousand.)
        thousands = STATIONS / 1000
        assert rate < 300 * thousands, f"{rate:.0f} kB/s"
        # 22 % where nothing else runs. The same work takes more processor time beside others that share the caches.
        assert share < min(0.35 * thousands, 0.9), f"{share:.0%} of a core"
        assert heap < 150 * thousands, f"{heap:.0f} MB"
        # One that is opened gets what it needs; the levels of the others end.
        page.click(".stations tbody tr:not(.room) a")
        page.wait_for_selector("main.station")
        page.wait_for_timeout(3000)
        bytes_before, at = sent(broker), time.monotonic()
        page.wait_for_timeout(5000)
        opened = (sent(broker) - bytes_before) / (time.monotonic() - at) / 1000
        assert opened < 20, f"{opened:.0f} kB/s while one station is open"
        broker.kill()
    return (f"{rate:.0f} kB/s, {share:.0%} of a core, {heap:.0f} MB, {nodes:.0f} nodes; first rows after {first:.1f} s, all after {whole:.1f} s, their places after {known:.1f} s; "
            f"one opened: {opened:.1f} kB/s")


def case_many_are_found_sorted_and_grouped(world):
    broker = world.another_broker("sorting")
    with Speakers(world, broker, "fleet", "220") as speakers:
        wait_until(lambda: "ready" in speakers.words(), 60, "the stations are there")
        page = world.page(broker=broker, size=(1440, 1000))
        world.until(page, "Seismote.overview.rows.filter((row) => row.pga >= 0).length > 200")
        # Sorted by the keyboard alone.
        page.focus(".stations th:nth-child(5) button")
        page.keyboard.press("Enter")
        assert page.get_attribute(".stations th:nth-child(5)", "aria-sort") == "descending"
        assert page.inner_text(".stations tbody tr:not(.room) td:nth-child(2) a") == "net-0003"
        page.keyboard.press("Enter")
        assert page.get_attribute(".stations th:nth-child(5)", "aria-sort") == "ascending"
        page.click(".count.offline")
        world.until(page, f"{ROWS}.length === Seismote.overview.rows.filter((row) => row.state === 'offline').length")
        page.click(".count.offline")
        page.select_option(".overview-tools .choice:has-text('Group') select", "sicily")
        world.until(page, f"[...{ROWS}].every((row) => row.lastChild.textContent === 'sicily')")
        page.fill("input[type=search]", "net-0001")
        world.until(page, f"{ROWS}.length === 1")
        page.fill("input[type=search]", "")
        page.select_option(".overview-tools .choice:has-text('Group') select", "")
        # The map: clusters that open, and no label that is cut or covers another.
        page.click(".together button:has-text('Map')")
        world.until(page, "Seismote.overview.map.state().placed >= 215")
        clusters = page.evaluate("document.querySelectorAll('.pin.cluster').length")
        assert 1 <= clusters < 80, clusters
        world.picture(page, "map-world")
        before = page.evaluate("Seismote.overview.map.state().view.pixels")
        page.locator(".pin.cluster").first.press("Enter")
        assert page.evaluate("Seismote.overview.map.state().view.pixels") > 2 * before
        crossing = page.evaluate("""(() => {
          const plane = document.querySelector(".plane").getBoundingClientRect();
          const boxes = [...document.querySelectorAll(".pin-name")].map((e) => e.getBoundingClientRect());
          const cut = boxes.filter((b) => b.left < plane.left || b.right > plane.right || b.top < plane.top || b.bottom > plane.bottom).length;
          const over = boxes.filter((a, i) => boxes.some((b, k) => k > i && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)).length;
          return [boxes.length, cut, over];
        })()""")
        assert crossing[0] > 3 and crossing[1:] == [0, 0], crossing
        world.picture(page, "map-near")
        page.focus(".plane")
        page.keyboard.press("0")
        assert abs(page.evaluate("Seismote.overview.map.state().view.pixels") / before - 1) < 0.01
        # An alert that has been seen is out of the way, in this browser.
        page.click(".together button:has-text('Table')")
        alerts = page.evaluate("Seismote.overview.rows.filter((row) => row.alerts > 0).length")
        page.goto(broker.page + "#/station/net-0007/health")
        page.click(".alerts button")
        page.wait_for_selector(".alerts li.seen")
        page.goto(broker.page + "#/")
        world.until(page, f"Seismote.overview.rows.filter((row) => row.alerts > 0).length === {alerts - 1}")
        for theme, size in (("dark", (1440, 900)), ("light", (820, 1100)), ("light", (390, 844))):
            other = world.page(broker=broker, size=size, theme=theme)
            world.until(other, "Seismote.overview.rows.filter((row) => row.pga >= 0).length > 200")
            check_looks(world, other, f"table-{size[0]}-{theme}")
            world.close_page(other)
        broker.kill()
    return f"{clusters} clusters, {crossing[0]} labels"


def case_versions_and_their_updates(world):
    """Who runs what, who is being updated, who has gone back and why; and the same of one station."""
    broker = world.another_broker("versions")
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    def say(name, what, /, **members):
        broker.publish(f"seismote/{name}/state/{what}", json.dumps({"v": 1, "station": name, "boot": "b", "seq": 0, "t": at, **members}))

    versions = {"attic": "0.9.0", "barn": "0.10.0", "cellar": "0.10.0", "door": "0.9.0"}
    for station, version in versions.items():
        broker.publish(f"seismote/{station}/state/online", "online")
        say(station, "info", agent={"version": version, "build": "check"}, station={"id": station, "groups": ["house"]})
    say("attic", "update", phase="watching", since=at, version="0.10.0~deb13", progress_pct=60)
    say("door", "update", phase="returned", since=at, version="0.10.0~deb13", reason="no samples come <b>at all</b>")
    say("barn", "update", phase="updated", since=at, version="0.10.0~deb13")
    page = world.page(broker=broker, size=(1280, 900))
    page.click(".together button:has-text('Table')")
    choice = ".overview-tools .choice:has-text('Version') select"
    world.until(page, "Seismote.overview.rows.filter((row) => row.version).length === 4 && Seismote.overview.rows.filter((row) => row.update).length === 2")
    assert page.locator(choice + " option").all_inner_texts() == ["all versions", "0.10.0 (2)", "0.9.0 (2)"]
    cells = lambda: dict(page.evaluate(f"[...{ROWS}].map((row) => [row.cells[1].querySelector('a').textContent, row.cells[8].innerText.replace(/\\s+/g, ' ').trim()])"))
    assert cells() == {"attic": "0.9.0 on trial 0.10.0~deb13", "barn": "0.10.0", "cellar": "0.10.0", "door": "0.9.0 went back no samples come <b>at all</b>"}, cells()
    assert page.get_attribute(".stations .update-state:not([hidden]) >> nth=1", "title") == "Update to 0.10.0~deb13: went back. Reason: no samples come <b>at all</b>"
    world.picture(page, "versions")
    page.select_option(choice, "0.10.0")
    world.until(page, f"{ROWS}.length === 2")
    assert sorted(cells()) == ["barn", "cellar"]
    page.select_option(choice, "")
    for name, words, station in (("updating", "1 updating", "attic"), ("returned", "1 went back", "door")):
        assert page.inner_text(f".count.{name}") == words
        page.click(f".count.{name}")
        world.until(page, f"{ROWS}.length === 1")
        assert list(cells()) == [station]
        page.click(f".count.{name}")
    page.click(".together button:has-text('Cards')")
    page.wait_for_selector("li[data-id=door] .update-state:has-text('no samples come')")
    # A long reason makes no card wider.
    assert page.evaluate("[...document.querySelectorAll('.station-card')].every((card) => card.scrollWidth <= card.clientWidth + 1)")
    world.picture(page, "versions-cards")
    # It ends while one looks on; what went back stands at the station as well.
    say("attic", "update", phase="updated", since=at, version="0.10.0~deb13")
    world.until(page, "document.querySelector('.count.updating').hidden && document.querySelector('li[data-id=attic] .update-state').hidden")
    page.goto(broker.page + "#/station/door/health")
    page.wait_for_selector(".health dd:has-text('went back'):has-text('no samples come <b>at all</b>')")
    broker.kill()


def case_group_is_set_on_trial(world):
    """Real stations: a dry run of all, on trial, confirmed; one refuses."""
    broker = world.another_broker("grouped")
    settings = {"station": {"groups": ["class"]}}
    for name in ("room-1", "room-2"):
        world.agent(name, settings, broker=broker)
    world.agent("locked", {**settings, "locked": ["trace.rate_hz"]}, broker=broker)
    page = world.page("#/group/class", broker=broker, size=(1280, 900))
    world.until(page, "Seismote.groupView.fields && Seismote.groupView.online.length === 3")
    page.fill(".group-choose input[type=search]", "trace.rate_hz")
    page.select_option(".group-picks", "trace.rate_hz")
    page.fill("#group-value", "10 Hz")
    page.click(".group-form button[type=submit]")
    world.until(page, "Seismote.groupView.answers.size === 3", 30)
    assert page.evaluate("Seismote.groupView.answers.get('locked').reply.phase") == "failed"
    world.picture(page, "group-dry-run")
    page.click(".group section button.primary:not([hidden])")
    page.wait_for_selector("dialog[open]")
    page.click("dialog button.primary")
    world.until(page, "Seismote.groupView.phase === 'trial' && Seismote.groupView.count('good') === 2", 30)
    world.picture(page, "group-trial")
    page.click(".group section button.primary:not([hidden])")
    world.until(page, "Seismote.groupView.phase === 'settled' && Seismote.groupView.count('good') === 2", 30)
    page.goto(broker.page + "#/station/room-1/settings")
    world.until(page, "Seismote.fleet.stations.get('room-1')?.config?.config.trace.rate_hz === 10 && !Seismote.fleet.stations.get('room-1').config.pending")
    world.stop("room-1", "room-2", "locked")
    broker.kill()


class Tiles(Handler):
    """A server of tiles, each one colour; remembers who asked for which."""
    asked = []

    @staticmethod
    def png(color):
        """One pixel of a colour."""
        def part(name, data):
            return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) + part(b"IDAT", zlib.compress(b"\0" + bytes(color))) + part(b"IEND", b"")

    def do_GET(self):
        Tiles.asked.append((self.path, self.headers.get("Referer")))
        # Neighbours in two greens, like a chessboard.
        x, y = (int(number) for number in re.findall(r"(\d+)/(\d+)\.png", self.path)[0])
        tile = self.png((170, 210, 160) if (x + y) % 2 else (200, 225, 190))
        self.answer(tile, Content_Type="image/png")


def case_map_has_names_and_tiles_where_they_are_wanted(world):
    """The map has names of places; without page.json's word nothing is fetched, with it tiles come from there alone, with whose they are."""
    www = os.path.join(world.work, "www-tiles")
    shutil.copytree(world.www, www)
    server = serve(Tiles)
    broker = Broker(os.path.join(world.work, "tiles"), www)
    world.brokers.append(broker.start())
    where = {"id": "here", "latitude": 48.137, "longitude": 11.575}
    for name, place in (("here", where), ("there", {**where, "id": "there", "latitude": 48.2})):
        broker.publish(f"seismote/{name}/state/info", json.dumps({"v": 1, "station": place}))
        broker.publish(f"seismote/{name}/state/online", "online")
    try:
        page = world.page(broker=broker)
        world.until(page, "Seismote.preferences.set('view', 'map') ?? true")
        world.until(page, "Seismote.overview.map.state().marks === 2")
        world.until(page, "Seismote.overview.map.state().places.includes('Munich') && /Natural Earth/.test(document.querySelector('.credit').textContent)", 20)
        assert not Tiles.asked, Tiles.asked
        check_looks(world, page, "map-names")
        world.close_page(page)
        with open(os.path.join(www, "page.json"), "w", encoding="utf-8") as file:
            json.dump({"tiles": f"http://127.0.0.1:{server.server_port}/osm/{{z}}/{{x}}/{{y}}.png", "attribution": "© OpenStreetMap contributors"}, file)
        page = world.page(broker=broker)
        world.until(page, "Seismote.preferences.set('view', 'map') ?? true")
        world.until(page, "document.querySelector('.plane.tiled') && document.querySelector('.credit').textContent === '© OpenStreetMap contributors'")
        # (What came from elsewhere cannot be read out of a canvas, but seen.)
        wait_until(lambda: len(Tiles.asked) >= 4, 10, "tiles are asked for")
        page.wait_for_timeout(500)
        assert all(re.fullmatch(r"/osm/1[0-4]/\d+/\d+\.png", path) and referrer == f"http://127.0.0.1:{broker.web}/" for path, referrer in Tiles.asked), Tiles.asked[:3]
        count = len(Tiles.asked)
        check_looks(world, page, "map-tiles")
        blocked = page.evaluate("new Promise((resolve) => { const one = new Image(); one.onload = () => resolve(false); one.onerror = () => resolve(true); one.src = 'http://127.0.0.1:%d/other.png'; })" % free_port())
        assert blocked and any("Content Security Policy" in line for line in world.trouble), world.trouble
        world.trouble.clear()
    finally:
        server.shutdown()
    broker.kill()
    return f"{count} tiles"


def case_network_event_on_the_map(world):
    """An earthquake that a network detector has put together: the list, its versions, the map with ellipse and waves."""
    broker = world.another_broker("together")
    with Speakers(world, broker, "fleet", "60") as speakers:
        wait_until(lambda: "ready" in speakers.words(), 60, "the stations are there")
        page = world.page(broker=broker, size=(1440, 1100))
        world.until(page, "Seismote.overview.map.state().placed === 60")
        assert page.is_hidden(".network-card")
        begun = time.time() - 9

        def say(version, kind, longitude):
            at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(begun))
            stations = [{"id": f"net-{number:04}", "event_id": f"net-{number:04}-20260105T102030000Z", "onset": f"{at}.500Z", "residual_s": 0.1 * number,
                         "distance_km": 10.0 + number} for number in (3, 9, 15, 21)]
            broker.publish("seismote/network/event", json.dumps({
                "v": 1, "boot": "b", "seq": version, "t": f"{at}Z", "event_type": kind, "event_id": "net-20260105T102030000Z", "version": version, "origin_time": f"{at}Z",
                "latitude": 35.8, "longitude": longitude, "depth_km": 8.0, "ellipse": {"semi_major_km": 9.0, "semi_minor_km": 4.0, "azimuth_deg": 40.0}, "rms_s": 0.2,
                "magnitude": {"value": 5.1, "sigma": 0.3, "relation": "x"}, "pga": {"value": 0.9, "station": "net-0003"}, "mmi": {"value": 5.9, "station": "net-0003"},
                "class": "earthquake", "stations": stations, "silent": ["net-0033"]}), False)

        say(1, "onset", -117.4)
        page.wait_for_selector(".network-card tbody tr.running")
        say(3, "update", -117.6)
        say(2, "update", -110.0)  # An older version that comes late.
        world.until(page, "document.querySelector('.network-card tbody tr').textContent.includes('117.6') && document.querySelectorAll('.network-card table').length === 2")
        page.click(".network-card .missing summary")
        text = page.inner_text(".network-card")
        assert "5.1 ± 0.3" in text and "net-0033" in text and "18 km × 8 km" in text, text
        button = ".network-card tbody button >> nth=0"
        page.click(button)
        page.click(button)
        red = page.evaluate(coloured(40), ["canvas.above", "--bad"])
        assert red > 40, f"{red} pixels of the ellipse and the star"
        world.picture(page, "network-event")
        say(4, "end", -117.6)
        world.until(page, "!document.querySelector('.network-card tbody tr.running')")
        assert page.is_visible(button), "the place of one that has ended can be shown"
        broker.kill()
    return f"{red} pixels"


def case_network_events_that_are_no_more(world):
    """One that was withdrawn, one that became another, one whose end did not come: over, and only the earthquake is drawn."""
    broker = world.another_broker("no-more")
    with Speakers(world, broker, "fleet", "20") as speakers:
        wait_until(lambda: "ready" in speakers.words(), 60, "the stations are there")
        page = world.page(broker=broker, size=(1440, 1100))
        world.until(page, "Seismote.overview.map.state().placed === 20")
        now = time.time()

        def stamp(at):
            return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))

        def say(number, version, kind, **more):
            broker.publish("seismote/network/event", json.dumps({
                "v": 1, "boot": "b", "seq": 0, "t": stamp(now - 9), "event_type": kind, "event_id": f"net-20260105T10203000{number}Z", "version": version,
                "origin_time": stamp(now - 20 + number), "latitude": 35.8, "longitude": -117.0 - number, "depth_km": 8.0,
                "ellipse": {"semi_major_km": 9.0, "semi_minor_km": 4.0, "azimuth_deg": 40.0}, "rms_s": 0.2, "magnitude": None,
                "pga": {"value": 0.9, "station": "net-0003"}, "mmi": None, "class": {"likely": "earthquake"}, "stations": [], "silent": [], **more}), False)

        def row(number):
            return page.locator(".network-card table").first.locator("tbody tr", has_text=f"{117 + number}°")

        for number in (1, 2, 3):
            say(number, 1, "onset")
        world.until(page, "document.querySelectorAll('.network-card tbody tr.running').length === 3")
        # The newest is on the map; it turns out to be the one before.
        assert page.evaluate("document.querySelectorAll('.network-card [aria-pressed=true]').length") == 1
        say(3, 2, "end", merged_into="net-20260105T102030002Z")
        world.until(page, "document.querySelectorAll('.network-card tbody tr.running').length === 2")
        assert "belongs to the earthquake of" in row(3).inner_text(), row(3).inner_text()
        assert row(2).locator("[aria-pressed=true]").count() == 1, "what it has become is not on the map"
        assert row(3).locator("button").count() == 0, "what has become another can still be shown"
        say(2, 2, "end", withdrawn=True)
        world.until(page, "document.querySelectorAll('.network-card tbody tr.running').length === 1")
        assert "withdrawn" in row(2).inner_text(), row(2).inner_text()
        assert page.evaluate("document.querySelectorAll('.network-card [aria-pressed=true]').length") == 0
        red = page.evaluate(coloured(40), ["canvas.above", "--bad"])
        assert red == 0, f"{red} pixels of what is none are on the map"
        # The detector has no open event: the end was missed.
        assert row(1).locator(".badge").inner_text() == "in progress"
        broker.publish("seismote/network/status", json.dumps({"v": 1, "t": stamp(now), "online": True, "open_events": 0}))
        world.until(page, "!document.querySelector('.network-card tbody tr.running')")
        assert "its end was not received" in row(1).inner_text(), row(1).inner_text()
        check_looks(world, page, "network-no-more")
        broker.kill()


def packet(data):
    """Bytes of the first MQTT packet; 0 where it has not come whole."""
    length = 0
    for i, byte in enumerate(data[1:5]):
        length |= (byte & 127) << 7 * i
        if byte < 128:
            return 2 + i + length if len(data) >= 2 + i + length else 0
    return 0


@early
def case_missed_event_is_asked_for(world):
    """An event of which nothing reaches the page: it sees that in the numbers of the next one, and asks for it."""
    broker = world.another_broker("missed")
    world.agent("room", {"sensor": {"simulate": {"scenario": "quiet"}}, "waveform": {"enabled": False}}, broker=broker)
    page = world.page("#/group/all", broker=broker, size=(1280, 900))
    dropped = {"now": False, "count": 0}

    def connect(socket):
        server = socket.connect_to_server()

        waiting = bytearray()

        def hand_on(message):
            # Whole packets, so that the rest of the stream stays what it is.
            waiting.extend(message if isinstance(message, bytes) else message.encode())
            whole = bytearray()
            while size := packet(waiting):
                one = bytes(waiting[:size])
                del waiting[:size]
                if dropped["now"] and one[0] >> 4 == 3 and b"room/event/" in one[:64]:
                    dropped["count"] += 1
                else:
                    whole += one
            if whole:
                socket.send(bytes(whole))
        server.on_message(hand_on)
        socket.on_message(server.send)

    page.route_web_socket(re.compile("^ws"), connect)
    page.reload()
    world.until(page, "Seismote.fleet.knows('room', 'resend') && Seismote.fleet.stations.get('room').online")
    ended = "[...Seismote.fleet.stations.get('room').events.values()].filter((entry) => entry.end && entry.onset).length"

    def make_event():
        """One event from its onset to its end; not before the filters have settled."""
        done = broker.listener(os.devnull, "-t", "seismote/room/event/last", "-R", "-C", "1", "-W", "40")
        world.until(page, "Seismote.fleet.now(Seismote.fleet.stations.get('room'))?.valid")
        page.evaluate("Seismote.link.command('room', 'test-event')")
        while done.poll() is None:
            page.wait_for_timeout(200)
        assert done.returncode == 0, "no event ended within 40 s"

    make_event()
    world.until(page, f"{ended} === 1")
    dropped["now"] = True
    make_event()
    page.wait_for_timeout(500)
    dropped["now"] = False
    assert dropped["count"] >= 2, f"{dropped['count']} dropped"
    known = page.evaluate("[...Seismote.fleet.stations.get('room').events.values()].map((entry) => Object.keys(entry).join())")
    assert page.evaluate(ended) == 1, known
    began = time.monotonic()
    make_event()
    world.until(page, f"{ended} >= 3", 30)
    world.stop("room")
    broker.kill()
    return f"{dropped['count']} messages dropped, whole again {time.monotonic() - began:.1f} s after the next event was asked for"
