"""A station's tabs beside the live one, what the page says when something is away, languages, and use without a mouse.
The station `contract` is only its messages (speakers.py); what real agents do is in the other files."""

import json
import os
import re

from cases_fleet import Speakers
from looks import check_looks
from marks import early
from quakeml import catalogue
from world import wait_until

EVENTS = "Seismote.eventsView"
HISTORY = "Seismote.historyView"
BODY = "document.querySelectorAll('.station-events tbody tr')"
LANGUAGES = {"de": "Stationen", "es": "Estaciones", "it": "Stazioni", "ja": "観測点", "tr": "İstasyonlar"}
# What can be reached by the keyboard or is a landmark, and has no name for those who do not see it.
UNNAMED = ("button", "link", "textbox", "searchbox", "combobox", "checkbox", "switch", "radio", "image", "img", "region", "navigation", "group", "dialog")


def contract(world, broker):
    speakers = Speakers(world, broker, "station", "contract").start()
    page = world.page(broker=broker)
    world.until(page, "Seismote.fleet.stations.get('contract')?.info")
    world.close_page(page)
    return speakers


def download(page, selector):
    with page.expect_download() as found:
        page.click(selector)
    with open(found.value.path(), "rb") as file:
        return found.value.suggested_filename, file.read()


def case_month_of_events(world):
    broker = world.another_broker("month")
    with contract(world, broker) as speakers:
        page = world.page("#/station/contract/events", broker=broker, size=(1440, 900))
        world.until(page, f"{EVENTS}.list.length >= 50 && {EVENTS}.matches > 130")
        page.click("button:has-text('Older events')")
        world.until(page, f"{EVENTS}.list.length >= 100")
        page.select_option(".event-filter select >> nth=0", label="V")
        page.select_option(".event-filter select >> nth=1", "earthquake")
        page.click(".event-filter button[type=submit]")
        world.until(page, f"{EVENTS}.list.length > 0 && {EVENTS}.list.length < 50")
        few = page.evaluate(f"{EVENTS}.list.map((e) => [e.intensity[0].value, e.class.likely])")
        assert all(value >= 4.5 and kind == "earthquake" for value, kind in few), few
        world.picture(page, "events-filtered")
        name, text = download(page, ".event-files button:has-text('CSV')")
        rows = text.decode().strip().split("\r\n")
        assert name == "contract-events.csv" and len(rows) == len(few) + 1 and "pga_m_s2" in rows[0], rows[:2]
        name, text = download(page, ".event-files button:has-text('QuakeML')")
        assert name == "contract-events.xml" and len(catalogue(text)) == len(few)
        name, record = download(page, ".station-events tbody button >> nth=0")
        assert name.endswith(".mseed") and len(record) > 10000 and record[6:7] in (b"D", b"R", b"Q", b"M", b"") or record[:2] == b"MS", record[:8]
        assert "events" in speakers.words()
        broker.kill()
    return f"{len(few)} of a month's events"


def case_class_alarm_and_label(world):
    broker = world.another_broker("class")
    # The page is there before the station: it shows of an event's probabilities what it has heard.
    page = world.page("#/station/contract", broker=broker, size=(1440, 900))
    with contract(world, broker) as speakers:
        world.until(page, "Seismote.fleet.stations.get('contract').current")
        event = page.evaluate("Seismote.fleet.stations.get('contract').current")
        page.goto(broker.page + f"#/station/contract/event/{event}")
        world.until(page, "document.querySelectorAll('.class-chart circle').length >= 4 && document.querySelector('.event-title').textContent.includes('93')", 30)
        text = page.inner_text(".event-cards")
        assert "93%" in text and "20 % and 80 %" in text and "Expected peak velocity" in text, text[:400]
        assert "alarm" in page.inner_text(".event-title")
        world.picture(page, "class-and-alarm", whole=True)
        # One that has ended takes a label; an event that the page has not seen is asked of the station.
        page.goto(broker.page + "#/station/contract/events")
        world.until(page, f"{BODY}.length >= 50")
        ended = page.evaluate(f"{EVENTS}.list.filter((e) => e.event_type === 'end')[20].event_id")
        fresh = world.page(f"#/station/contract/event/{ended}", broker=broker, size=(1440, 900))
        world.until(fresh, "document.querySelectorAll('.label-card button:not([disabled])').length > 8")
        fresh.click(".label-card button:has-text('Truck')")
        wait_until(lambda: re.search(r'^label .*"truck"', speakers.words(), re.M), 20, "the station hears the label")
        world.until(fresh, "document.querySelector('.event-title .class-badge').textContent === 'Truck'")
        world.picture(fresh, "event-labelled", whole=True)
        for theme, size in (("dark", (1440, 900)), ("light", (390, 844))):
            other = world.page(f"#/station/contract/event/{event}", broker=broker, size=size, theme=theme)
            other.wait_for_selector(".class-card .class-chart")
            check_looks(world, other, f"class-{size[0]}-{theme}")
            world.close_page(other)
        broker.kill()


def case_helicorder(world):
    broker = world.another_broker("day")
    with contract(world, broker):
        page = world.page("#/station/contract/history", broker=broker, size=(1440, 1000))
        world.until(page, f"{HISTORY}.replies.length > 0 && {HISTORY}.some")
        drawn = page.evaluate("""(() => {
          const canvas = document.querySelector("canvas.helicorder");
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          let count = 0;
          for (let i = 3; i < data.length; i += 4) if (data[i] > 128) count++;
          return count;
        })()""")
        assert drawn > 8000, drawn
        world.picture(page, "helicorder", whole=True)
        # Without a mouse: the mark moves by lines and minutes, Enter opens.
        page.focus("canvas.helicorder")
        for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
            page.keyboard.press(key)
        begin = page.evaluate(f"{HISTORY}.begin")
        assert page.evaluate(f"{HISTORY}.mark") == begin + 1800 + 2 * 3600 + 60
        page.keyboard.press("Enter")
        page.wait_for_selector("main.event .event-canvas")
        assert page.evaluate("location.hash").startswith("#/station/contract/at/"), page.evaluate("location.hash")
        page.go_back()
        page.wait_for_selector("canvas.helicorder")
        page.click("a[aria-label='Day before']")
        world.until(page, f"{HISTORY}.day !== new Date().toISOString().slice(0, 10) && {HISTORY}.replies.length > 0")
        for theme, size in (("dark", (820, 1100)), ("light", (390, 844))):
            other = world.page("#/station/contract/history", broker=broker, size=size, theme=theme)
            world.until(other, f"{HISTORY}.some")
            check_looks(world, other, f"helicorder-{size[0]}-{theme}")
            world.close_page(other)
        broker.kill()
    return f"{drawn} pixels"


# What the graph of levels says, and what it is made of: the largest swing in its span of what has been answered and kept.
SWINGS = """(() => {
  const { replies, kept, axis, begin, end, reach } = Seismote.historyView;
  const swings = [...kept, ...replies].flatMap(({ from, step_s: step, [axis]: { min, max } }) => Array.from(min, (low, i) => {
    const at = Date.parse(from.slice(0, 19) + "Z") / 1000 + i * step;
    return at >= begin && at < end ? (max[i] - low) / 2 : NaN;
  })).filter((one) => one >= 0);
  return { step: replies[0].step_s, said: reach.high, largest: Math.max(...swings), steps: swings.length };
})()"""


def largest_swing(page, span):
    one = page.evaluate(SWINGS)
    assert one["steps"] > 0 and abs(one["said"] / one["largest"] - 1) < 1e-9, (span, one)
    return one


def case_levels_of_an_hour_to_a_year(world):
    """Each span opens what is finer in it, to the waveform; of the year there is what this browser has kept, too.
    The station's time is that of its recording: the day on which this runs does not decide how much of a month there is."""
    broker = world.another_broker("spans")
    with Speakers(world, broker, "recording", "contract"):
        page = world.page("#/station/contract/levels/month", broker=broker, size=(1280, 900))
        world.until(page, f"{HISTORY}?.some && {HISTORY}.span === 'month'")
        month = largest_swing(page, "month")
        assert month["step"] == 1800 and month["steps"] > 280, month
        check_looks(world, page, "levels-month")
        # Year, day, hour, waveform: by the keyboard alone, at the last quarter of an hour.
        page.evaluate("location.hash = '#/station/contract/levels/year'; null")
        world.until(page, f"{HISTORY}.span === 'year' && {HISTORY}.some")
        for span in ("month", "day", "hour"):
            page.focus("canvas.levels-graph")
            page.evaluate(f"{HISTORY}.choose({HISTORY}.now - 900, false)")
            page.keyboard.press("Enter")
            world.until(page, f"{HISTORY}.span === '{span}' && {HISTORY}.some && {HISTORY}.replies.length > 0")
            largest_swing(page, span)
        with page.expect_download() as saved:
            page.click(".event-files button:has-text('CSV')")
        with open(saved.value.path(), encoding="utf-8") as file:
            lines = file.read().splitlines()
        assert lines[0].startswith("time_utc,step_s,x_min_m_s2,") and 900 <= len(lines) <= 1801, (lines[0], len(lines))
        page.focus("canvas.levels-graph")
        page.keyboard.press("ArrowLeft")
        assert "RMS" in page.inner_text(".event-foot") and page.is_visible(".event-foot a.button")
        page.keyboard.press("Enter")
        page.wait_for_selector("main.event .event-canvas")
        page.set_viewport_size({"width": 390, "height": 844})
        page.evaluate("location.hash = '#/station/contract/levels/year'; null")
        world.until(page, f"{HISTORY}.span === 'year' && {HISTORY}.replies.length === 1 && {HISTORY}.some")
        check_looks(world, page, "levels-year-phone")
    # Of a station that answers no more the year is still there.
    page.evaluate("location.hash = '#/station/contract/levels/year/20190701T000000Z'; null")
    page.reload()
    world.until(page, f"{HISTORY}?.span === 'year' && {HISTORY}.kept.length >= 31 && {HISTORY}.some && {HISTORY}.replies.length === 0")
    broker.kill()
    return f"{len(lines) - 1} steps of an hour"


def case_levels_where_a_month_and_a_year_begin(world):
    """Four minutes after midnight the day, the month and the year have four minutes, and each says what is in them."""
    for begun in ("2019-01-01", "2020-03-01"):
        broker = world.another_broker(f"begun-{begun}")
        with Speakers(world, broker, "recording", "contract", f"{begun}T00:04:00Z"):
            page = world.page("#/station/contract/levels/year", broker=broker)
            for span in ("year", "month", "week", "day", "hour"):
                page.evaluate(f"location.hash = '#/station/contract/levels/{span}'; null")
                world.until(page, f"{HISTORY}?.span === '{span}' && {HISTORY}.some && {HISTORY}.replies.length > 0")
                largest_swing(page, span)
                assert begun[:4] in page.inner_text(".event-filter h2"), (span, page.inner_text(".event-filter h2"))
        broker.kill()


@early
def case_waveform_of_a_moment(world):
    """On a real station: what its ring has, opened by a time."""
    world.agent("ringed", {"sensor": {"rate_hz": 100}})
    page = world.page("#/station/ringed")
    # What was before the page was opened is in the graphs, too.
    world.until(page, "Seismote.fleet.stations.get('ringed')?.traces.end > 300")
    fresh = world.page("#/station/ringed", size=(1440, 1000))
    world.until(fresh, "Seismote.fleet.stations.get('ringed')?.traces.first < -100 && Number.isFinite(Seismote.fleet.stations.get('ringed').traces.value('z', 'raw', -50))", 40)
    filled = fresh.evaluate("-Seismote.fleet.stations.get('ringed').traces.first / 20")
    world.until(fresh, "!/–/.test(document.querySelector('.color-legend').textContent) && document.querySelector('.color-legend').textContent.length > 4")
    world.picture(fresh, "filled-from-ring")
    time = fresh.evaluate("new Date(Date.now() - 8000).toISOString().replace(/[-:]|\\.\\d+/g, '')")
    fresh.goto(world.broker.page + f"#/station/ringed/at/{time}")
    world.until(fresh, "Seismote.momentView.data()?.shape.count > 300", 40)
    _, text = download(fresh, ".event-files button:has-text('CSV')")
    assert text.decode().splitlines()[1].startswith("# start: "), text[:200]
    world.picture(fresh, "moment")
    world.stop("ringed")
    return f"{filled:.0f} s before the first live sample"


def case_what_is_away_is_said(world):
    broker = world.another_broker("away")
    with contract(world, broker):
        page = world.page("#/station/contract", broker=broker, size=(1440, 900))
        world.until(page, "Seismote.fleet.stations.get('contract').summary")
        assert page.is_hidden("#banner")
        nobody = world.page("#/station/nobody", broker=broker)
        world.until(nobody, "document.querySelector('.station-head .note') && !document.querySelector('.station-head .note').hidden", 10)
        world.picture(nobody, "unknown-station")
        overview = world.page(broker=broker, size=(1440, 900))
        overview.wait_for_selector(".station-card")
        broker.kill()
        for one in (page, overview):
            world.until(one, "/data from \\d+ s ago/.test(document.querySelector('#banner').textContent) && document.body.classList.contains('stale')", 15)
        world.picture(page, "broker-away-station")
        world.picture(overview, "broker-away-overview")
        check_looks(world, overview, "broker-away")
    broker.start()
    world.until(overview, "document.querySelector('#banner').hidden && !document.body.classList.contains('stale')", 40)
    broker.kill()


def case_silent_station_is_said(world):
    broker = world.another_broker("silence")
    speakers = contract(world, broker)
    page = world.page(broker=broker)
    page.wait_for_selector(".station-card.shaking")
    speakers.__exit__()
    # It dies without a will: nobody says that it is offline.
    page.wait_for_selector(".station-card.away .facts dd[data-state=warn]", timeout=40000)
    assert page.inner_text(".count.silent") == "1 silent"
    page.click(".station-card a.whole")
    page.wait_for_selector("main.station.stale .note:not([hidden])")
    world.picture(page, "silent-station")
    broker.kill()


def case_settings_of_most_people(world):
    """Basic settings, a preset, other drivers' blocks, units as people write them."""
    world.agent("bench2", {"sensor": {"simulate": {"scenario": "quiet"}}})
    page = world.page("#/station/bench2/settings", size=(1440, 1000))
    world.until(page, "document.querySelectorAll('.setting:not([hidden])').length > 10 && !document.querySelector('#setting-trace-rate_hz').disabled")
    visible = "[...document.querySelectorAll('.setting')].filter((e) => e.checkVisibility()).map((e) => e.dataset.key)"
    basic = page.evaluate(visible)
    assert page.input_value("#setting-axes-all-detection-threshold") == "5 mg"
    page.select_option(".settings-tools select >> nth=0", "yes")
    every = page.evaluate(visible)
    assert len(every) > len(basic) + 30, (len(basic), len(every))
    assert not [key for key in every if re.match(r"sensor\.(iio|i2c|replay)\.", key)], "blocks of other drivers"
    # Typed as it is, it is no change.
    page.fill("#setting-axes-all-detection-threshold", "0.005 g")
    world.until(page, "document.querySelector('.settings-bar').hidden === false || true")
    page.fill("#setting-axes-all-detection-threshold", "5 mg")
    assert page.is_hidden(".settings-bar")
    page.select_option(".settings-tools select >> nth=1", "classroom")
    world.until(page, "document.querySelector('.settings-says.fine')", 20)
    world.picture(page, "settings-preset")
    page.click(".settings-bar button.primary")
    page.wait_for_selector("dialog[open]")
    page.uncheck("#settings-trial")
    page.click("dialog button.primary")
    world.until(page, "Seismote.fleet.stations.get('bench2').config.config.detection.sta_lta.enabled === false")
    threshold = page.evaluate("Seismote.fleet.stations.get('bench2').config.config.axes.z.detection.threshold")
    assert abs(threshold - 0.0980665) < 1e-9, threshold
    world.stop("bench2")
    return f"{len(basic)} basic settings of {len(every)}"


@early
def case_languages(world):
    broker = world.another_broker("languages")
    with contract(world, broker):
        for code, stations in LANGUAGES.items():
            context = world.browser.new_context(viewport={"width": 1280, "height": 900}, locale=code)
            page = context.new_page()
            page.on("pageerror", lambda error: world.trouble.append(f"{error}"))
            page.goto(broker.page)
            world.until(page, f"document.documentElement.lang === '{code}' && document.querySelector('h1')?.textContent === '{stations}'")
            page.wait_for_selector(".station-card.shaking")
            world.picture(page, f"language-{code}")
            for where, ready in (("#/station/contract/events", f"{BODY}.length > 20"), ("#/station/contract", "document.querySelector('.dial')"), ("#/station/contract/health", "document.querySelector('.alerts li')")):
                page.goto(broker.page + where)
                world.until(page, ready)
                wide = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
                assert wide[0] <= wide[1], f"{code} {where} is {wide[0]} wide, has {wide[1]}"
            decimal = page.evaluate("Seismote.units.digits(1.5)")
            assert decimal == ("1.50" if code == "ja" else "1,50"), decimal
            context.close()
        # Chosen by the reader, whatever the browser says.
        page = world.page(broker=broker)
        page.click(".menu summary")
        with page.expect_navigation():
            page.select_option(".menu .choice:has-text('Language') select", "ja")
        world.until(page, "document.documentElement.lang === 'ja'")
        broker.kill()


def case_names_for_screen_readers(world):
    broker = world.another_broker("names")
    found = {}
    with contract(world, broker):
        for where in ("#/", "#/station/contract", "#/station/contract/events", "#/station/contract/history", "#/station/contract/health", "#/group/all"):
            page = world.page(where, broker=broker)
            world.until(page, "Seismote.fleet.stations.get('contract')?.info && document.querySelector('h1')")
            page.wait_for_timeout(500)
            session = page.context.new_cdp_session(page)
            nodes = session.send("Accessibility.getFullAXTree")["nodes"]
            roles = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node.get("ignored") and "role" in node]
            unnamed = [role for role, name in roles if role in UNNAMED and not name.strip()]
            headings = [name for role, name in roles if role == "heading"]
            assert not [role for role in unnamed if role not in ("group", "image", "img")], f"{where}: {unnamed}"
            assert headings and any(role == "main" for role, _ in roles), where
            found[where] = len(roles)
            world.close_page(page)
        # By the keyboard alone: past the bar, into the first station, to its second tab.
        page = world.page(broker=broker)
        page.wait_for_selector(".station-card")
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('.station-card a.whole')"):
                break
        else:
            raise AssertionError("the card is not reached by Tab")
        page.keyboard.press("Enter")
        page.wait_for_selector("main.station h1")
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent === Seismote.text.frame.tabs.events"):
                break
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid", outline
        page.keyboard.press("Enter")
        page.wait_for_selector("main.station-events")
        broker.kill()
    return f"{sum(found.values())} nodes on {len(found)} pages"


def case_old_browser_gets_plain_scripts(world):
    """Without a way to unpack, and without the checksum's script: the same page from seismote.js."""
    page = world.browser.new_context().new_page()
    page.add_init_script("delete globalThis.DecompressionStream")
    page.goto(world.broker.page)
    world.until(page, "Seismote.link.state === 'online'")
    names = page.evaluate("performance.getEntriesByType('resource').map((entry) => entry.name.split('/').pop())")
    assert "seismote.js" in names, names
    page.context.close()
    # Nobody's other script runs: not even one that is put into the page.
    page = world.page()
    world.until(page, "globalThis.Seismote?.started")
    ran = page.evaluate("""(() => { const script = document.createElement("script"); try { script.text = "globalThis.intruder = 1"; document.body.append(script); } catch (error) { return String(error).slice(0, 60); } return globalThis.intruder ?? "blocked"; })()""")
    world.trouble.clear()
    assert ran != 1, ran
    sizes = {name: os.path.getsize(os.path.join(world.www, name)) for name in os.listdir(world.www)}
    packed = sum(size for name, size in sizes.items() if name == "index.html" or re.match(r"seismote-.*\.bin$", name))
    assert packed < 260000, json.dumps(sizes)
    return f"{packed / 1000:.0f} kB instead of {(sizes['seismote.js'] + sizes['index.html']) / 1000:.0f}"
