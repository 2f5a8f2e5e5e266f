"""For operators: one list of the events of all, notes that others see, an earthquake of many stations, several stations on one axis."""

import contextlib
import datetime
import json
import math
import time

from cases_alarm import quake
from cases_fleet import Speakers, measuring, metrics
from looks import check_looks, coloured
from marks import measures
from quakeml import catalogue
from world import wait_until

# Ten thousand events of a hundred stations and of the network, as a year of hearing leaves them in a browser.
SEED = """async () => {
  await Seismote.archive.ready();
  for (let i = 0; i < 10000; i++) {
    const at = Date.now() - i * 3000000;
    const time = new Date(at).toISOString();
    const network = i % 50 === 0;
    Seismote.archive.put({
      id: `${network ? "net" : "s"}-${i}`, station: network ? "" : `net-${String(i % 20).padStart(4, "0")}`, time, at, state: "end", magnitude: network ? 3 + (i % 300) / 100 : NaN, mmi: 2 + (i % 7), pga: 0.01 * (1 + i % 9),
      kind: i % 3 ? "earthquake" : "disturbance", label: i % 100 === 1 ? "door" : "", latitude: 35 + (i % 10) / 10, longitude: -117, event: { event_id: `s-${i}`, event_type: "end", onset: time, origin_time: time, latitude: 35, longitude: -117, count: 9 } });
  }
}"""
COUNT = "Seismote.catalogueView.rows.length"
# Whether the browser's own store has them.
STORED = """() => new Promise((resolve) => {
  const opening = indexedDB.open("seismote-events");
  opening.onsuccess = () => {
    const counting = opening.result.transaction("events").objectStore("events").count();
    counting.onsuccess = () => (opening.result.close(), resolve(counting.result >= 10000));
  };
})"""


@measures
def case_all_events_in_one_list(world):
    broker = world.another_broker("catalogue")
    with Speakers(world, broker, "station", "contract"):
        page = world.page("#/events", broker=broker, size=(1440, 1000))
        world.until(page, "Seismote.fleet.stations.get('contract')?.info && Seismote.catalogueView")
        page.evaluate(SEED)
        world.until(page, f"{COUNT} >= 10000", 10)
        # Kept in this browser: opened again it is all there, and soon.
        wait_until(lambda: page.evaluate(STORED), 60, "the browser keeps 10 000 events")
        session = measuring(page)
        before = metrics(session)["ThreadTime"]
        page.reload()
        world.until(page, f"{COUNT} >= 10000 && document.querySelectorAll('.catalogue-scroll tbody tr:not(.room)').length > 10")
        # Processor time of the page's thread: beside others the clock on the wall says nothing of the page.
        took = metrics(session)["ThreadTime"] - before
        assert 0 < took < 1, f"{took:.1f} s of processor until 10 000 events are there"
        assert page.evaluate("document.querySelectorAll('.catalogue-scroll tbody tr').length") < 80, "all rows are made"
        check_looks(world, page, "catalogue")
        page.select_option(".catalogue-filter label:has-text('Whose') select", "network")
        world.until(page, f"{COUNT} >= 200 && {COUNT} < 210")
        page.select_option(".catalogue-filter label:has-text('Magnitude') select", "5")
        world.until(page, f"{COUNT} > 0 && {COUNT} < 100 && Seismote.catalogueView.rows.every((row) => row.magnitude >= 5)")
        for name in ("Whose", "Magnitude"):
            page.select_option(f".catalogue-filter label:has-text('{name}') select", index=0)
        page.select_option(".catalogue-filter label:has-text('Label') select", "door")
        world.until(page, f"{COUNT} >= 100 && Seismote.catalogueView.rows.every((row) => row.label === 'door')")
        page.select_option(".catalogue-filter label:has-text('Label') select", index=0)
        # What a station keeps comes into the list; a day, a station.
        page.fill(".catalogue-filter input[type=search]", "contract")
        page.click("button:has-text('Ask the stations')")
        world.until(page, f"{COUNT} > 100 && Seismote.catalogueView.rows.every((row) => row.station === 'contract')", 20)
        day = page.evaluate("Seismote.catalogueView.rows[40].time.slice(0, 10)")
        page.fill(".catalogue-filter input[type=date] >> nth=0", day)
        page.fill(".catalogue-filter input[type=date] >> nth=1", day)
        world.until(page, f"{COUNT} > 0 && Seismote.catalogueView.rows.every((row) => row.time.startsWith('{day}'))")
        shown = page.evaluate(COUNT)
        with page.expect_download() as download:
            page.click(".catalogue-foot button:has-text('CSV')")
        with open(download.value.path(), encoding="utf-8") as file:
            lines = file.read().strip().splitlines()
        assert len(lines) == shown + 1 and lines[0].startswith("event_id,station,time_utc,") and day in lines[1], lines[:2]
        with page.expect_download() as download:
            page.click(".catalogue-foot button:has-text('QuakeML')")
        with open(download.value.path(), "rb") as file:
            saved = catalogue(file.read())
        assert len(saved) == shown and all(str(one.picks[0].time)[:10] == day for one in saved), (len(saved), shown)
        broker.kill()
    return f"10 000 events after {took:.1f} s"


def case_seen_and_noted_by_others(world):
    """Who marks an event as seen is seen by others; who may not write is told."""
    users = {"operator": "secret", "visitor": "secret", "net": "secret"}
    broker = world.another_broker("noted", users=users, acl="user net\ntopic readwrite seismote/#\nuser operator\ntopic read seismote/#\ntopic write seismote/network/note/#\nuser visitor\ntopic read seismote/#\n")

    def publish(topic, payload, retain=True):
        type(broker).publish(broker, topic, payload, retain, "net")
    pages = {}
    stand_in = type("As", (), {"publish": staticmethod(publish)})
    event = quake(stand_in, 1)
    broker.publish("seismote/network/event/last", json.dumps({"v": 1, "t": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "event_type": "onset", "event_id": event, "version": 1,
                                                               "origin_time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 30)), "latitude": 35.8, "longitude": -117.6}), True, "net")
    for user in ("operator", "visitor"):
        page = pages[user] = world.page(f"#/earthquake/{event}", broker=broker)
        page.wait_for_selector("dialog.sign-in")
        page.fill("dialog input[name=user]", user)
        page.fill("dialog input[name=password]", "secret")
        page.click("dialog .primary")
        world.until(page, "Seismote.earthquakeView?.event")
    operator, visitor = pages["operator"], pages["visitor"]
    operator.fill(".note-form input", "Ada")
    operator.fill(".note-form textarea", "Felt in the harbour <b>")
    operator.click(".note-form button[type=submit]")
    world.until(visitor, "document.querySelector('.notes li')?.textContent.includes('Felt in the harbour <b>')", 5)
    operator.click(".note-form button:has-text('Mark as seen')")
    world.until(visitor, "document.querySelector('.notes-card').textContent.includes('Seen by Ada')", 5)
    visitor.fill(".note-form input", "Eve")
    visitor.click(".note-form button:has-text('Not seen')")
    world.until(visitor, "document.querySelector('.note-form .problem').textContent !== ''", 5)
    said = visitor.inner_text(".note-form .problem")
    assert "not authorised" in said, said
    assert "Seen by Ada" in operator.inner_text(".notes-card")
    # Whoever comes later sees it, too.
    visitor.reload()
    world.until(visitor, "document.querySelector('.notes-card')?.textContent.includes('Seen by Ada') && document.querySelectorAll('.notes li').length === 1", 15)
    broker.kill()


def case_earthquake_of_many_stations(world):
    """The map first, the epicentre above the stations, discs in the colours of the shaking, waves that grow, what is missing as a count."""
    broker = world.another_broker("many-shake")
    with Speakers(world, broker, "fleet", "220") as speakers:
        wait_until(lambda: "ready" in speakers.words(), 60, "the stations are there")
        page = world.page(broker=broker, size=(1440, 1100))
        world.until(page, "Seismote.overview.map.state().placed >= 215")
        region = [{"latitude": [36.0, 36.2, 35.9, 35.6, 35.5], "longitude": [-118.0, -117.4, -117.1, -117.2, -117.9]}]
        event = quake(broker, 1, place={"quality": "good", "azimuth_deg": 310.0, "distance_km": 20.0, "extent_km": 60.0, "region": region, "others": []}, silent=[f"net-{i:04}" for i in range(100, 180)])
        page.wait_for_selector(".network-card tbody tr.running")
        boxes = [page.locator(selector).first.bounding_box()["y"] for selector in (".map-card", ".network-card")]
        assert boxes[0] < boxes[1], f"the map comes after the list: {boxes}"
        missing = page.locator(".network-card .missing")
        assert "80 stations" in missing.inner_text() and "net-0150" not in missing.inner_text(), missing.inner_text()
        # The star is above the mark of the stations that lie below it.
        assert page.evaluate(coloured(40), ["canvas.above", "--bad"]) > 40
        page.click(".network-card tbody a")
        world.until(page, "Seismote.earthquakeView?.map.state().placed >= 215 && document.querySelector('.plane.discs')")
        red = page.evaluate(coloured(40), ["canvas.above", "--bad"])
        assert red > 100, f"{red} pixels of the region and the star"
        world.until(page, "Seismote.earthquakeView.strength('net-0003') >= 5", 5)
        blue = page.evaluate(coloured(60), ["canvas.above", "--rms"])
        page.wait_for_timeout(1500)
        grown = page.evaluate(coloured(60), ["canvas.above", "--rms"])
        assert grown > blue > 20, f"the circle of P does not grow: {blue}, then {grown} pixels"
        # A page that is opened with it, and learns later where the stations are, has all of them in sight.
        other = world.page(f"#/earthquake/{event}", broker=broker, size=(1280, 900))
        world.until(other, "Seismote.link.state === 'online'")
        quake(broker, 1, version=2, place={"quality": "good", "azimuth_deg": 310.0, "distance_km": 20.0, "extent_km": 60.0, "region": region, "others": []}, silent=[f"net-{i:04}" for i in range(100, 180)])
        spread = """(() => { const { view } = Seismote.earthquakeView.map.state(); const plane = document.querySelector(".plane");
          const places = ["net-0003", "net-0009", "net-0015"].map((id) => Seismote.fleet.stations.get(id)?.info?.station);
          return places.every((one) => one && Math.abs(one.latitude - view.latitude) * view.pixels < plane.clientHeight / 2 && Math.abs(one.longitude - view.longitude) * view.pixels * 0.6 < plane.clientWidth / 2); })()"""
        world.until(other, spread, 10)
        world.close_page(other)
        check_looks(world, page, "earthquake")
        # Beyond the network: an arrow, no star and no waves; the other places as outlines.
        quake(broker, 1, version=3, magnitude=None, place={"quality": "outside", "azimuth_deg": 310.0, "distance_km": 80.0, "extent_km": 160.0, "region": region, "others": [{"latitude": 36.6, "longitude": -118.3}]})
        world.until(page, "document.querySelector('.note')?.textContent.includes('outside the network') && document.querySelector('.event-facts').textContent.includes('to the NW')", 3)
        page.wait_for_timeout(300)
        assert page.evaluate(coloured(60), ["canvas.above", "--rms"]) == 0, "waves are drawn from a place that nobody knows"
        world.picture(page, "earthquake-outside")
        # As a file.
        with page.expect_download() as download:
            page.click(".event-tools button:has-text('QuakeML')")
        with open(download.value.path(), "rb") as file:
            (saved,) = catalogue(file.read())
        assert (saved.origins[0].latitude, saved.origins[0].depth, len(saved.picks), len(saved.origins[0].arrivals)) == (35.8, 8000, 3, 3), saved
        assert any("MULTIPOLYGON (((-118 36, " in comment.text for comment in saved.comments) and not saved.magnitudes, saved.comments
        # For paper all is laid out anew, narrower and light, and the map shows what it has shown; then it is as before.
        look = "[document.querySelector('.plane').clientWidth, Seismote.earthquakeView.map.state().view.pixels, document.querySelector('.plane canvas').getBoundingClientRect().width]"
        wide = page.evaluate(look)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        narrow = page.evaluate(look)
        assert 500 < narrow[0] < 660 and narrow[2] == narrow[0] and narrow[1] < wide[1], (wide, narrow)
        assert page.evaluate("document.documentElement.dataset.theme") == "light"
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.evaluate(look) == wide and page.evaluate("document.documentElement.dataset.theme ?? ''") == "", (wide, page.evaluate(look))
        # As on paper.
        page.emulate_media(media="print")
        assert page.is_hidden(".bar") and page.is_hidden(".map-tools") and page.is_hidden(".note-form") and page.is_visible("h1")
        world.picture(page, "earthquake-printed", whole=True)
        broker.kill()
    return f"{red} pixels of region and star, P from {blue} to {grown} pixels"


# Where the brightest row of the newest columns of the spectrogram is: 0 (below) to 1 (above).
BRIGHTEST = """(() => {
  const canvas = document.querySelector("canvas.spectrogram");
  const ratio = devicePixelRatio, bottom = canvas.height - 24 * ratio, top = 6 * ratio;
  const { data } = canvas.getContext("2d").getImageData(canvas.width - 60 * ratio, top, 1, bottom - top);
  // (Yellow is the brightest; the lines of the axes are white or grey.)
  const light = (i) => data[4 * i] + data[4 * i + 1] - 2 * data[4 * i + 2];
  let most = 0;
  for (let i = 0; i < data.length / 4; i++) if (light(i) > light(most)) most = i;
  const same = Array.from({ length: data.length / 4 }, (_, i) => i).filter((i) => light(i) === light(most));
  return 1 - (same[0] + same.at(-1) + 1) / 2 / (bottom - top);
})()"""


# (What nobody sees is not drawn.)
SEEN = "(document.querySelector('canvas.spectrogram').scrollIntoView({ block: 'center' }), !document.querySelector('.color-legend').hidden)"


def case_spectrogram_has_a_logarithmic_axis(world):
    """A sine of 3 Hz lies where the axis says so, linear and logarithmic; what was chosen is still chosen in the next visit."""
    broker = world.another_broker("logarithmic")
    with Speakers(world, broker, "live", "live"):
        page = world.page("#/station/live", broker=broker, size=(1280, 1000))
        found = {}
        for kind, wanted in (("linear", 3 / 10), ("logarithmic", math.log(3 / (20 / 128)) / math.log(10 / (20 / 128)))):
            page.wait_for_selector("canvas.spectrogram")
            world.until(page, f"Seismote.fleet.stations.get('live')?.traces.end > 60 && {SEEN}", 30)
            if kind == "logarithmic":
                page.select_option(".spectrogram-card .choice:has-text('Frequency') select", kind)
            world.until(page, f"{SEEN} && Math.abs({BRIGHTEST} - {wanted}) < 0.03", 10)
            found[kind] = round(page.evaluate(BRIGHTEST), 3)
        assert "0.156 Hz" in page.inner_text(".spectrogram-foot") and "10.0 Hz" in page.inner_text(".spectrogram-foot"), page.inner_text(".spectrogram-foot")
        check_looks(world, page, "spectrogram-logarithmic")
        page.reload()
        world.until(page, "document.querySelector('.spectrogram-card .choice:nth-child(3) select')?.value === 'logarithmic'")
        world.until(page, f"{SEEN} && Math.abs({BRIGHTEST} - {wanted}) < 0.03", 30)
        broker.kill()
    return json.dumps(found)


def case_record_section(world):
    """Several stations on one axis of time, by their distance."""
    broker = world.another_broker("section")
    names = [f"school-{i}" for i in (1, 2, 3, 5)]
    with contextlib.ExitStack() as stack:
        for name in names:
            stack.enter_context(Speakers(world, broker, "station", name))
        page = world.page("#/events", broker=broker, size=(1280, 1000))
        world.until(page, f"{json.dumps(names)}.every((name) => Seismote.fleet.stations.get(name)?.info && Seismote.fleet.stations.get(name).online)")
        ids = {}
        for name in names:
            reply = page.evaluate("(name) => Seismote.link.command(name, 'events', { limit: 1 }).then((reply) => reply.result.events[0].event_id)", name)
            ids[name] = reply
        # The waveform that each of them sends is one of 6 July 2019, 10:37 UTC.
        origin = datetime.datetime(2019, 7, 6, 10, 37, 12, tzinfo=datetime.timezone.utc).timestamp()
        at = datetime.datetime.fromtimestamp(origin, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        event = quake(broker, 1, at=origin, latitude=35.6, longitude=139.7,
                      stations=[{"id": name, "event_id": ids[name], "onset": at, "residual_s": 0.1, "distance_km": 10.0, "phase": "P"} for name in reversed(names)])
        page.evaluate(f"location.hash = '#/earthquake/{event}'; null")
        page.click(".section-card button")
        world.until(page, "Seismote.section?.traces().length === 4", 30)
        found = page.evaluate("Seismote.section.traces().map(({ id, distance, largest }) => [id, distance, largest])")
        assert [one[0] for one in found] == names, found
        assert all(b[1] - a[1] > 5 for a, b in zip(found, found[1:])) and all(one[2] > 0.001 for one in found), found
        drawn = page.evaluate(coloured(30), ["canvas.record-section", "--filtered"])
        assert drawn > 1500, f"{drawn} pixels of traces"
        page.locator(".section-card").scroll_into_view_if_needed()
        check_looks(world, page, "record-section")
        # The event of one of its stations says what the network knows of it; after the page was loaded again from what was kept here.
        page.evaluate(f"location.hash = '#/station/{names[0]}/event/{ids[names[0]]}'; null")
        world.until(page, "/M 5.1 [^]*km [NESW]+ of [A-Z][^]*10 km/.test(document.querySelector('.event-network').innerText)", 10)
        page.wait_for_timeout(1500)
        page.reload()
        world.until(page, f"document.querySelector('.event-network a[href$=\"{event}\"]') && document.querySelector('.event-network').textContent.includes('M 5.1')", 10)
        broker.kill()
    return f"4 stations, {drawn} pixels"
