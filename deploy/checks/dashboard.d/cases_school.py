"""For schools, engineers and everybody: a spectrum, paper, and what axe (Deque Systems) finds in every view of both schemes."""

import importlib.resources
import json
import os
import re
import time

from cases_alarm import quake, warn
from cases_fleet import Speakers
from looks import check_looks, coloured
from marks import at_night, early
from world import wait_until

SERIOUS = """async () => {
  const found = await axe.run(document, { resultTypes: ["violations"] });
  return found.violations.filter((one) => one.impact === "serious" || one.impact === "critical")
    .map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 90)).join(" | ")}`);
}"""


def case_spectrum_of_a_stretch(world):
    """Sines of 1, 2 and 3 Hz: their peaks are named; a shorter part has fewer segments. And the page on paper."""
    broker = world.another_broker("psd")
    with Speakers(world, broker, "live", "live"):
        at = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() - 300))
        page = world.page(f"#/station/live/at/{at}", broker=broker, size=(1280, 1000))
        world.until(page, "Seismote.psd?.found()?.peaks.length === 3", 30)
        hertz = sorted(page.evaluate("Seismote.psd.found().peaks.map(({ hz }) => hz)"))
        assert all(abs(found - wanted) < 0.05 for found, wanted in zip(hertz, (1, 2, 3))), hertz
        # A sine of 1 mm/s² has the power 5e-7 (m/s²)².
        power = page.evaluate("(() => { const { step, density } = Seismote.psd.found().of[0]; return density.reduce((sum, value) => sum + value, 0) * step; })()")
        assert abs(power / 5e-7 - 1) < 0.02, power
        whole = page.evaluate("Seismote.psd.found().of[0].segments")
        page.locator("canvas.psd-graph").scroll_into_view_if_needed()
        assert page.evaluate(coloured(40), ["canvas.psd-graph", "--axis-x"]) > 300
        check_looks(world, page, "psd")
        page.focus("canvas.event-canvas")
        page.keyboard.press("+")
        world.until(page, f"Seismote.psd.found().to - Seismote.psd.found().from < 1300 && Seismote.psd.found().of[0].segments <= {whole}", 3)
        page.emulate_media(media="print")
        assert page.is_hidden(".bar") and page.is_hidden(".tabs") and page.is_visible(".printed-link" if page.locator(".printed-link").count() else "h2")
        world.picture(page, "moment-printed", whole=True)
        broker.kill()
    return f"{', '.join(f'{one:.2f}' for one in hertz)} Hz"


def case_event_on_one_sheet(world):
    """All that there is of an event, on one sheet of the paper of most of the world and of that of North America."""
    broker = world.another_broker("sheet")
    with Speakers(world, broker, "station", "contract"):
        page = world.page("#/station/contract/events", broker=broker, size=(1280, 900))
        world.until(page, "Seismote.eventsView?.list.length >= 50", 40)
        event = page.evaluate("Seismote.eventsView.list.find((one) => one.event_type === 'end').event_id")
        page.evaluate(f"location.hash = '#/station/contract/event/{event}'; null")
        world.until(page, "Seismote.eventView?.data?.shape.count > 1000 && Seismote.psd?.found() && document.querySelectorAll('.event-cards .card').length >= 6", 30)
        sheets = {}
        for paper in ("A4", "Letter"):
            path = os.path.join(world.artifacts, f"event-{paper}.pdf")
            found = page.pdf(path=path, format=paper)
            sheets[paper] = len(re.findall(rb"/Type\s*/Page\b(?!s)", found))
        assert sheets == {"A4": 1, "Letter": 1}, sheets
        broker.kill()
    return json.dumps(sheets)


@early
def case_axe_finds_nothing_serious(world):
    source = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    broker = world.another_broker("axe")
    found, count = [], 0
    with Speakers(world, broker, "fleet", "6") as speakers, Speakers(world, broker, "station", "contract"), Speakers(world, broker, "live", "live"):
        wait_until(lambda: "ready" in speakers.words(), 60, "the stations are there")
        at = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() - 300))
        for theme in ("light", "dark"):
            page = world.page(broker=broker, size=(1280, 900), theme=theme, policy=False)
            page.evaluate(source)
            world.until(page, "Seismote.fleet.stations.get('contract')?.lastEvent && Seismote.fleet.stations.get('live')?.info && Seismote.fleet.stations.size === 8")
            event = page.evaluate("Seismote.fleet.stations.get('contract').lastEvent.event_id")
            network = quake(broker, theme)
            world.until(page, "!document.getElementById('alarm').hidden")
            views = ["#/", "#/events", "#/traces", f"#/earthquake/{network}", "#/group/all", "#/station/live", "#/station/contract/events", f"#/station/contract/event/{event}", f"#/station/live/at/{at}",
                     "#/station/contract/history", "#/station/contract/levels/month", "#/station/contract/settings", "#/station/contract/health"]
            # (By day each in one of the two schemes; at night case_axe_in_six_languages has each in both.)
            for view in views[::2] if theme == "light" else views[1::2]:
                page.evaluate(f"location.hash = {json.dumps(view)}; null")
                # What is asked of a station has come.
                page.wait_for_timeout(700)
                found += [f"{theme} {view}: {one}" for one in page.evaluate(SERIOUS)]
                count += 1
            for choice in ("table", "map"):
                page.evaluate(f"location.hash = '#/'; Seismote.preferences.set('view', '{choice}')")
                page.wait_for_timeout(400)
                found += [f"{theme} {choice}: {one}" for one in page.evaluate(SERIOUS)]
                count += 1
            page.click(".alarm-button")
            found += [f"{theme} alarm: {one}" for one in page.evaluate(SERIOUS)]
            count += 1
            world.close_page(page)
        broker.kill()
    assert not found, "\n".join(sorted(set(found)))
    return f"{count} views"


@at_night
def case_axe_in_six_languages(world):
    """The views of every day in each language and both schemes, three of them on a phone, too."""
    source = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    broker = world.another_broker("axe-languages")
    found, count = [], 0
    with Speakers(world, broker, "station", "contract"), Speakers(world, broker, "live", "live"), Speakers(world, broker, "site", "site"):
        for code in ("en", "de", "es", "it", "ja", "tr"):
            for theme in ("light", "dark"):
                page = world.page(broker=broker, size=(1280, 900), theme=theme, policy=False)
                page.evaluate(f"localStorage.setItem('seismote.preferences', JSON.stringify({{ language: '{code}' }}))")
                page.reload()
                page.evaluate(source)
                world.until(page, f"document.documentElement.lang === '{code}' && Seismote.fleet.stations.size === 3 && Seismote.fleet.stations.get('contract').info")
                network = quake(broker, f"{code}-{theme}")
                views = ["#/", "#/events", "#/traces", f"#/earthquake/{network}", "#/group/all", "#/station/live", "#/station/contract/events", "#/station/contract/history",
                         "#/station/contract/levels/month", "#/station/site/vibration", "#/station/contract/settings", "#/station/contract/health"]
                for size, some in (((1280, 900), views), ((390, 844), ["#/", "#/station/live", "#/station/contract/events"])):
                    page.set_viewport_size({"width": size[0], "height": size[1]})
                    for view in some:
                        page.evaluate(f"location.hash = {json.dumps(view)}; null")
                        page.wait_for_timeout(500)
                        found += [f"{code} {theme} {size[0]} {view}: {one}" for one in page.evaluate(SERIOUS)]
                        count += 1
                page.click(".alarm-button")
                found += [f"{code} {theme} alarm: {one}" for one in page.evaluate(SERIOUS)]
                page.keyboard.press("Escape")
                page.click(".menu summary")
                found += [f"{code} {theme} display: {one}" for one in page.evaluate(SERIOUS)]
                count += 2
                world.close_page(page)
        broker.kill()
    assert not found, "\n".join(sorted(set(found)))
    return f"{count} views"


@at_night
def case_axe_in_all_that_is_opened(world):
    """What comes up in a view, and the views that need something first: dialogs, the tour, a hall's screen, other spans, paper, a phone."""
    source = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    broker = world.another_broker("axe-more")
    world.agent("bench", {"sensor": {"simulate": {"scenario": "quiet"}}}, broker=broker)
    found, count = [], 0
    with Speakers(world, broker, "station", "contract"), Speakers(world, broker, "live", "live"), Speakers(world, broker, "site", "site"):
        at = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() - 300))
        for theme in ("light", "dark"):
            page = world.page(broker=broker, size=(1280, 900), theme=theme, policy=False)

            def look(name, on=page, theme=theme):
                nonlocal count
                found.extend(f"{theme} {name}: {one}" for one in on.evaluate(SERIOUS))
                count += 1

            def to(where, ready="true", on=page):
                on.evaluate(f"location.hash = {json.dumps(where)}; null")
                on.wait_for_timeout(300)
                world.until(on, ready, 30)
            def paper(is_paper, page=page):
                # As browsers do it: the page hears of it before its style sheet is that of paper.
                page.evaluate(f"dispatchEvent(new Event('{'before' if is_paper else 'after'}print'))")
                page.emulate_media(media="print" if is_paper else "screen")
            page.evaluate(source)
            world.until(page, "Seismote.fleet.stations.get('contract')?.lastEvent && Seismote.fleet.stations.get('bench')?.info && Seismote.fleet.stations.get('site')?.info && Seismote.fleet.stations.size === 4")
            page.evaluate("Seismote.preferences.set('view', 'cards'); Seismote.preferences.set('advanced', 'yes')")
            event = page.evaluate("Seismote.fleet.stations.get('contract').lastEvent.event_id")
            to("#/station/site/vibration", "Seismote.vibration?.found().periods.length > 600")
            look("vibration")
            paper(True)
            look("vibration on paper")
            paper(False)
            for span in ("hour", "day", "week", "year"):
                to(f"#/station/contract/levels/{span}")
                look(span)
            to(f"#/station/live/at/{at}", "Seismote.psd?.found()?.peaks.length === 3")
            look("spectrum")
            paper(True)
            look("moment on paper")
            to(f"#/station/contract/event/{event}", "document.querySelector('canvas.event-canvas')")
            look("event on paper")
            paper(False)
            network = quake(broker, f"more-{theme}", stations=[{"id": "contract", "event_id": event, "onset": "2026-01-05T10:20:30Z", "residual_s": 0.1, "distance_km": 12.0, "phase": "P"}])
            world.until(page, "document.querySelector('.event-network')", 5)
            look("event of an earthquake")
            to(f"#/earthquake/{network}", "Seismote.earthquakeView?.event")
            page.click(".section-card button")
            world.until(page, "Seismote.section?.traces().length === 1", 30)
            look("record section")
            paper(True)
            look("earthquake on paper")
            paper(False)
            warn(broker, "contract", event=f"net-quake-warn-{theme}")
            world.until(page, "document.getElementById('alarm').dataset.kind === 'warning'", 5)
            look("warning")
            page.evaluate("while (!document.getElementById('alarm').hidden) document.querySelector('#alarm .primary').click()")
            to("#/")
            page.click(".menu summary")
            look("display")
            page.click(".menu .panel button")
            for step in range(10):
                page.wait_for_timeout(400)
                look(f"step {step + 1} of the tour")
                page.keyboard.press("Enter")
            page.click(".connection")
            look("connection")
            page.keyboard.press("Escape")
            to("#/station/nobody", "document.querySelector('.note[role=alert]:not([hidden])')")
            look("a station that is not there")
            to("#/station/bench/settings", "document.querySelectorAll('.setting').length > 50 && !document.querySelector('#setting-trace-rate_hz').disabled")
            page.fill("#setting-station-latitude", "95")
            world.until(page, "document.querySelector('#setting-station-latitude-problem').textContent.length > 5")
            look("a setting that is refused")
            page.fill("#setting-station-latitude", "35" if theme == "light" else "36")
            world.until(page, "document.querySelector('.settings-says.fine')")
            page.click(".settings-bar button.primary")
            page.wait_for_selector("dialog[open]")
            look("a change, asked for")
            page.click("dialog button.primary")
            page.wait_for_selector(".settings-trial.pending button.primary")
            look("a change on trial")
            page.click(".settings-trial.pending button.plain")
            world.until(page, "document.querySelector('.settings-trial').hidden")
            world.close_page(page)
            hall = world.page("?kiosk=600", broker=broker, size=(1280, 720), theme=theme, policy=False)
            hall.evaluate(source)
            # (Where an event of `site` goes on, it is that which the screen shows first.)
            world.until(hall, "document.body.classList.contains('kiosk') && Seismote.fleet.stations.size === 4")
            quake(broker, f"hall-{theme}")
            world.until(hall, "!document.getElementById('alarm').hidden && Seismote.earthquakeView?.event")
            look("a screen in a hall", hall)
            world.close_page(hall)
            phone = world.page(broker=broker, size=(390, 844), theme=theme, policy=False)
            phone.evaluate(source)
            for where in ("#/", "#/events", "#/station/live", f"#/station/contract/event/{event}", "#/station/contract/history", "#/station/bench/settings"):
                to(where, on=phone)
                phone.wait_for_timeout(500)
                look(f"phone {where}", phone)
            world.close_page(phone)
        world.stop("bench")
        broker.kill()
    assert not found, "\n".join(sorted(set(found)))
    return f"{count} views"


def case_settings_and_alerts_in_another_language(world):
    """Names of all settings of a real station, and an alert with its remedy. (That each language has all of them is seen without a browser.)"""
    broker = world.another_broker("words")
    world.agent("words", broker=broker)
    # Of another station: a real one takes back what others say in its place.
    broker.publish("seismote/saturated/state/online", "online")
    broker.publish("seismote/saturated/state/alert/sensor_saturated", json.dumps({"v": 1, "code": "sensor_saturated", "severity": "warning", "since": "2026-01-05T10:00:00Z", "message": "5 % of a second was at full scale."}))
    page = world.page(broker=broker, size=(1280, 900))
    page.evaluate("localStorage.setItem('seismote.preferences', JSON.stringify({ language: 'de' })); location.hash = '#/station/words/settings'")
    page.reload()
    world.until(page, "document.querySelector('[data-key=\"sensor.rate_hz\"] label')?.textContent.includes('Abtastrate')", 30)
    # The station's own name is found, too.
    page.fill(".settings-find input", "sample rate")
    world.until(page, "document.querySelector('[data-key=\"sensor.rate_hz\"]').checkVisibility()", 5)
    missing = page.evaluate("(() => { const { fields, headings } = Seismote.settingsView; return Seismote.stationWords.missing(fields, headings); })()")
    count = page.evaluate("Seismote.settingsView.fields.length")
    assert count > 100 and not missing, f"without a name in deploy/dashboard/languages/stations.tsv: {missing}"
    lacking = page.evaluate("Seismote.stationWords.missingHelp(Seismote.settingsView.fields)")
    assert len(lacking) < count / 10, f"help in English: {lacking}"
    page.goto(broker.page + "#/station/saturated/health")
    world.until(page, "document.querySelector('.alert-text strong')?.textContent === 'Der Messbereich ist überschritten'", 10)
    remedy = page.inner_text(".alerts .remedy")
    assert "sensor.range" in remedy and "Set a larger" not in remedy, remedy
    world.stop("words")
    broker.kill()
    return f"{count} settings, {count - len(lacking)} with help"


def case_one_station_and_a_phone(world):
    """No empty map above a single station; on a phone the stations come first; tabs that do not fit show that there are more."""
    broker = world.another_broker("one")
    with Speakers(world, broker, "station", "contract"):
        page = world.page(broker=broker, size=(1280, 800))
        world.until(page, "Seismote.overview.map.state().placed === 1 && document.querySelector('.station-card') && document.querySelectorAll('.events-card tbody tr').length > 0")
        page.wait_for_timeout(400)
        assert page.is_hidden(".map-card"), "a map of one station"
        boxes = [page.locator(selector).first.bounding_box()["y"] for selector in (".station-card", ".events-card")]
        assert boxes[0] < boxes[1], f"the station comes after the events: {boxes}"
        # By choice, and for an earthquake, there is one.
        page.click(".together button:has-text('Map')")
        page.wait_for_selector(".map-card", state="visible")
        page.click(".together button:has-text('Cards')")
        page.wait_for_selector(".map-card", state="hidden")
        quake(broker, 1)
        page.wait_for_selector(".map-card", state="visible")
        phone = world.page("#/station/contract", broker=broker, size=(390, 844))
        world.until(phone, "document.querySelector('.tabs').classList.contains('more')", 5)
        check_looks(world, phone, "phone-tabs")
        phone.evaluate("document.querySelector('.tabs').scrollLeft = 1000")
        world.until(phone, "!document.querySelector('.tabs').classList.contains('more')", 3)
        broker.kill()
    broker = world.another_broker("phone")
    with Speakers(world, broker, "fleet", "30") as speakers:
        wait_until(lambda: "ready" in speakers.words(), 60, "the stations are there")
        phone = world.page(broker=broker, size=(390, 844))
        world.until(phone, "Seismote.overview.map.state().placed >= 29")
        boxes = [phone.locator(selector).first.bounding_box()["y"] for selector in (".stations-scroll", ".map-card")]
        assert boxes[0] < boxes[1], f"the map comes before the stations: {boxes}"
        wide = world.page(broker=broker, size=(1280, 800))
        world.until(wide, "Seismote.overview.map.state().placed >= 29")
        boxes = [wide.locator(selector).first.bounding_box()["y"] for selector in (".station-card", ".map-card")]
        assert boxes[0] > boxes[1], f"many stations, and the map below them: {boxes}"
        broker.kill()


def case_guided_tour(world):
    """Ten steps, by the keyboard alone, each with something that it shows; in every language."""
    broker = world.another_broker("tour")
    with Speakers(world, broker, "live", "live"):
        page = world.page(broker=broker, size=(1280, 900))
        world.until(page, "Seismote.fleet.stations.get('live')?.online && document.querySelector('.station-card')")
        page.evaluate("Seismote.preferences.set('alarmStation', 'off')")
        page.focus(".menu summary")
        page.keyboard.press("Enter")
        page.focus(".menu .panel button")
        page.keyboard.press("Enter")
        titles, shown = [], []
        for step in range(10):
            world.until(page, f"document.querySelector('.tour .quiet')?.textContent.includes('{step + 1} of 10') && document.querySelector('.toured')", 6)
            titles.append(page.inner_text(".tour h2"))
            shown.append(page.evaluate("document.querySelector('.toured').id || document.querySelector('.toured').className"))
            assert page.evaluate("document.activeElement.closest('.tour') !== null"), f"step {step + 1} has lost the focus"
            if step in (3, 7):
                check_looks(world, page, f"tour-{step + 1}")
            page.keyboard.press("Enter")
        assert page.locator(".tour").count() == 0 and page.locator(".toured").count() == 0, "it does not end"
        assert len(set(titles)) == 10, titles
        assert sum(one == "main" for one in shown) <= 1, f"what they show: {shown}"
        page.evaluate("localStorage.setItem('seismote.preferences', JSON.stringify({ language: 'tr', alarmStation: 'off' }))")
        page.goto(broker.page + "#/")
        page.reload()
        page.click(".menu summary")
        page.click(".menu .panel button")
        world.until(page, "document.querySelector('.tour h2')?.textContent === 'İstasyonlar'", 5)
        page.keyboard.press("Escape")
        assert page.locator(".tour").count() == 0
        broker.kill()
    return ", ".join(titles)
