"""What the page says is what was measured: how old it is, what a percentage is of, what is drawn between two levels."""

import datetime
import json
import os
import re
import signal
import subprocess
import time

from cases_fleet import Speakers
from cases_rights import guarded, signed_in
from cases_settings import CONFIG, apply, field, settings_page
from looks import check_looks
from marks import early

LIVE = "Seismote.fleet.stations.get('live')"
# Whether anything is drawn in a column of the spectrogram, of those from 0 (left) to 1 (right).
FILLED = """(part) => {
  const canvas = document.querySelector("canvas.spectrogram");
  const left = 62 * devicePixelRatio + part * (canvas.width - 90 * devicePixelRatio);
  // (One of the two may be a line of the grid.)
  return Math.min(...[0, 7].map((more) => {
    const { data } = canvas.getContext("2d").getImageData(Math.round(left + more * devicePixelRatio), 0, 1, canvas.height - 40);
    let count = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i] === 255) count++;
    return count / (data.length / 4);
  }));
}"""
# Of the raw signal's colour, seen through: pixels in a part of the graph from left (0) to right (1).
BAND = """([from, to]) => {
  const canvas = document.querySelector("canvas.graph[data-axis=z]");
  const want = getComputedStyle(document.documentElement).getPropertyValue("--raw").trim();
  const rgb = [1, 3, 5].map((at) => parseInt(want.slice(at, at + 2), 16));
  const left = Math.round((0.1 + 0.85 * from) * canvas.width);
  const { data } = canvas.getContext("2d").getImageData(left, 0, Math.round(0.85 * (to - from) * canvas.width), canvas.height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 20 && data[i + 3] < 200 && rgb.every((value, k) => Math.abs(data[i + k] - value) < 40)) count++;
  return count;
}"""
STATES = "[...document.querySelectorAll('.station-card .states .badge:not([hidden])')].map((e) => e.dataset.state)"
CLASSES = "[...document.querySelectorAll('.class-badge')].map((e) => e.textContent)"


def stamp(at):
    return datetime.datetime.fromtimestamp(at, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def kept(broker, who, what, at, **body):
    """A message that the broker keeps of a station that has said nothing since."""
    broker.publish(f"seismote/{who}/{what}", json.dumps({"v": 1, "station": who, "boot": "b", "seq": 1, "t": stamp(at), **body}))


def asleep(broker, station, at, online="online"):
    """All that a broker keeps of a station that was heard last at a time, while it shook."""
    broker.publish(f"seismote/{station}/state/online", online)
    kept(broker, station, "state/info", at - 86400, agent={"name": "seismote", "version": "2.0"}, station={"id": station, "description": "Asleep"},
         sensor={"driver": "iio", "chip": "adxl355", "rate_hz": 100}, capabilities={"verbs": ["ping", "events", "history"]})
    kept(broker, station, "state/level", at, pga=0.04, mmi=3.1, jma=1.5, triggered=True, valid=True, synced=True)
    kept(broker, station, "state/summary", at, window_s=10, pga=0.04, pga_pct_g=0.4, pgv=0.002, pgd=0.0001, triggered=True, valid=True,
         intensity=[{"scale": "mmi", "relation": "worden12", "value": 3.1}], tq={"source": "ntp", "synced": True, "error_ms": 1})
    kept(broker, station, "event/current", at, event_type="update", event_id=f"{station}-20260105T102030000Z", onset=stamp(at - 3), pga=0.04, duration_s=3.0)
    kept(broker, station, "event/last", at - 900, event_type="end", event_id=f"{station}-20260105T100030000Z", onset=stamp(at - 960), end=stamp(at - 900), pga=0.04, duration_s=60.0)


def case_past_is_an_envelope(world):
    """Levels are drawn as the band between the smallest and the largest, and are no samples; those come on demand."""
    broker = world.another_broker("levels")
    with Speakers(world, broker, "live", "live"):
        page = world.page("#/station/live", broker=broker, size=(1440, 1000))
        world.until(page, f"{LIVE}?.traces.end > 60 && {LIVE}.traces.value('z', 'raw', -100) > 9")
        page.select_option(".toolbar select[aria-label=Span]", "900")
        page.click(".pause")
        world.until(page, "Seismote.live.graphs.paused")
        page.evaluate("document.querySelector('canvas.spectrogram').scrollIntoView({ block: 'end' }); null")
        page.wait_for_timeout(1500)
        # (It may still show the minute of before.)
        world.until(page, f"({FILLED})(0.5) < 0.2")
        before = page.evaluate(f"[-20, -600, -3000].map((s) => Number.isFinite({LIVE}.traces.value('z', 'raw', Math.round({LIVE}.traces.slot(Date.now() / 1000 + s)))))")
        world.picture(page, "past-as-envelope", whole=True)
        assert before == [True, False, False], f"samples 20, 600 and 3000 s ago: {before}; levels became samples"
        spectrum = [page.evaluate(FILLED, part) for part in (0.2, 0.5, 0.97)]
        assert spectrum[0] < 0.2 and spectrum[1] < 0.2 and spectrum[2] > 0.9, f"spectrogram of levels: {spectrum}"
        band = page.evaluate(BAND, [0.1, 0.6])
        assert band > 2000, f"{band} pixels of a band"
        # It says what it is.
        assert re.search(r"2 s", page.inner_text(".levels-note")), page.inner_text(".levels-note")
        page.click(".levels-note button")
        world.until(page, f"Number.isFinite({LIVE}.traces.value('z', 'raw', Math.round({LIVE}.traces.slot(Seismote.live.graphs.edge - 600))))", 30)
        # A sine of 3 Hz, and not what levels would make of it.
        samples = page.evaluate(f"Array.from({{ length: 200 }}, (_, i) => {LIVE}.traces.value('z', 'raw', Math.round({LIVE}.traces.slot(Seismote.live.graphs.edge - 600)) + i) - 9.81)")
        changes = sum((a < 0) != (b < 0) for a, b in zip(samples, samples[1:]))
        assert 55 <= changes <= 65, f"{changes} changes of sign in 10 s at 3 Hz"
        world.until(page, "document.querySelector('.levels-note').hidden")
        # (What nobody sees is not drawn: the alarm's banner may have moved it away.)
        world.until(page, f"(document.querySelector('canvas.spectrogram').scrollIntoView({{ block: 'center' }}), ({FILLED})(0.5) > 0.9)")
        world.picture(page, "past-as-samples", whole=True)
        # On a phone, and where the reader has gone back by hand.
        phone = world.page("#/station/live", broker=broker, size=(390, 844), theme="dark")
        world.until(phone, f"{LIVE}?.traces.end > 60 && {LIVE}.traces.value('z', 'raw', -100) > 9")
        phone.select_option(".toolbar select[aria-label=Span]", "3600")
        phone.wait_for_selector(".levels-note:not([hidden])")
        phone.wait_for_timeout(1000)
        check_looks(world, phone, "past-phone-dark")
        broker.kill()
    return f"{band} pixels of the band, spectrogram {spectrum[1]:.0%} filled before, {changes / 20:.1f} Hz after"


def case_reader_has_no_levels_to_load(world):
    """Who may not ask the station has neither levels nor a button for samples."""
    broker = guarded(world)
    visitor = signed_in(world, broker, "visitor", "#/station/garage")
    world.until(visitor, "Seismote.fleet.stations.get('garage')?.traces.end > 60")
    visitor.select_option(".toolbar select[aria-label=Span]", "900")
    visitor.wait_for_timeout(1500)
    assert visitor.is_hidden(".levels-note")
    world.stop("garage")
    broker.kill()


@early
def case_trial_is_found_again(world):
    """A page that is opened or loaded again during a trial offers the two ways out of it; the browser asks before it leaves."""
    page = settings_page(world)
    page.fill(field("trace.block_s"), "2")
    apply(world, page, 200)
    page.wait_for_selector(".settings-trial.pending button.primary")
    other = settings_page(world, size=(390, 844), theme="dark")
    other.wait_for_selector(".settings-trial.pending button.primary", timeout=20000)
    check_looks(world, other, "trial-phone-dark")
    asked = []

    def stay(dialog):
        asked.append(dialog.type)
        dialog.accept()
    page.on("dialog", stay)
    page.reload()
    assert asked == ["beforeunload"], f"asked: {asked}"
    world.until(page, f"{CONFIG}?.pending")
    page.wait_for_selector(".settings-trial.pending button.primary", timeout=20000)
    world.picture(page, "trial-after-reload")
    # From another page of the same tab, too: the way out is there alone.
    page.evaluate("location.hash = '#/station/bench'; null")
    page.wait_for_selector("main.station")
    page.click("h1")
    page.reload()
    assert asked == ["beforeunload"] * 2, f"asked: {asked}"
    page.evaluate("location.hash = '#/station/bench/settings'; null")
    page.click(".settings-trial.pending button.primary")
    world.until(page, f"{CONFIG}.pending === null && {CONFIG}.config.trace.block_s === 2")
    # Nothing more to lose.
    page.reload()
    assert len(asked) == 2, f"asked: {asked}"
    world.until(page, f"{CONFIG}")
    page.wait_for_selector(".settings-history tr")
    # Who opens the page in the middle of it may go back as well.
    world.until(page, "!document.querySelector('#setting-trace-block_s').disabled")
    page.fill(field("trace.block_s"), "3")
    apply(world, page, 200)
    world.close_page(page)
    other.wait_for_selector(".settings-trial.pending button.plain")
    other.click(".settings-trial.pending button.plain")
    world.until(other, f"{CONFIG}.pending === null && {CONFIG}.config.trace.block_s === 2")


def case_trial_for_who_may_only_look(world):
    broker = guarded(world)
    operator = signed_in(world, broker, "operator", "#/station/garage/settings")
    operator.evaluate("Seismote.preferences.set('advanced', 'yes')")
    world.until(operator, "document.querySelector('#setting-trace-block_s')?.disabled === false")
    operator.fill(field("trace.block_s"), "4")
    apply(world, operator, 200)
    operator.wait_for_selector(".settings-trial.pending button.primary")
    visitor = signed_in(world, broker, "visitor", "#/station/garage/settings")
    visitor.wait_for_selector(".settings-trial.pending .settings-left")
    world.until(visitor, "document.body.textContent.includes(Seismote.text.settings.readOnly)")
    assert visitor.locator(".settings-trial button").count() == 0
    asked = []
    visitor.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    visitor.click("h1")
    visitor.reload()
    assert asked == [], "a reader is asked although the trial is not theirs to end"
    operator.click(".settings-trial.pending button.plain")
    world.until(operator, "Seismote.fleet.stations.get('garage').config.pending === null")
    world.stop("garage")
    broker.kill()


def case_group_trial_asks_before_leaving(world):
    broker = world.another_broker("group-trial")
    world.agent("room-9", {"station": {"groups": ["class"]}}, broker=broker)
    page = world.page("#/group/class", broker=broker, size=(1280, 900))
    world.until(page, "Seismote.groupView.fields && Seismote.groupView.online.length === 1")
    page.select_option(".group-picks", "trace.rate_hz")
    page.fill("#group-value", "10 Hz")
    page.click(".group-form button[type=submit]")
    world.until(page, "Seismote.groupView.answers.size === 1", 30)
    page.click(".group section button.primary:not([hidden])")
    page.click("dialog button.primary")
    world.until(page, "Seismote.groupView.phase === 'trial' && Seismote.groupView.count('good') === 1", 30)
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.reload()
    assert asked == ["beforeunload"], f"asked: {asked}"
    world.stop("room-9")
    broker.kill()


@early
def case_simulated_fleet_shakes(world):
    """Stations that take part in an earthquake are no quiet rows beside it."""
    broker = world.another_broker("simulated")
    program = os.path.join(os.path.dirname(world.program), "simulate-fleet")
    fleet = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", program, "60", "--broker", f"mqtt://127.0.0.1:{broker.port}",
                              "--magnitude", "6.8", "--radius", "60", "--false-onsets", "0", "--level-seconds", "1"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        page = world.page(broker=broker, size=(1440, 1000))
        world.until(page, "Seismote.overview.rows.filter((row) => row.pga >= 0).length === 60", 60)
        assert page.evaluate("Seismote.overview.rows.every((row) => row.intensity < 3 && !row.triggered)")
        world.until(page, "document.querySelectorAll('.events-card tr.running').length >= 45", 60)
        look = """(() => {
          const open = new Set(Seismote.fleet.newestEvents().filter((one) => !one.ended).map((one) => one.station));
          const rows = Seismote.overview.rows.filter((row) => open.has(row.id));
          return { open: open.size, shaking: rows.filter((row) => row.state === "shaking").length, strong: rows.filter((row) => row.intensity >= 4 && row.pga > 0.05).length };
        })()"""
        world.until(page, f"(({{ open, shaking, strong }}) => open >= 40 && shaking >= open - 2 && strong >= 0.8 * open)({look})", 10)
        found = page.evaluate(look)
        world.picture(page, "fleet-shakes")
        world.until(page, "Seismote.overview.rows.every((row) => !row.triggered)", 60)
    finally:
        fleet.kill()
        fleet.wait()
    broker.kill()
    return json.dumps(found)


def case_silent_station_is_old_at_once(world):
    """What a broker has kept of a station that does not speak is as old as it is from the first moment on."""
    broker = world.another_broker("asleep")
    asleep(broker, "cellar", time.time() - 7200)
    for theme, size in (("light", (1440, 900)), ("dark", (390, 844))):
        page = world.page(broker=broker, size=size, theme=theme)
        page.wait_for_selector(".station-card .facts dd")
        world.until(page, "document.querySelector('.station-card').textContent.includes('III')", 5)
        page.wait_for_timeout(300)
        assert page.evaluate("Seismote.overview.rows[0].state") == "silent", page.evaluate("Seismote.overview.rows[0].state")
        assert page.evaluate("Date.now() - Seismote.link.since") < 6000
        assert page.is_visible(".station-card.away") and "2 h" in page.inner_text(".station-card"), page.inner_text(".station-card")
        assert page.inner_text(".count.silent") == "1 silent"
        # Its event has not lasted for two hours, nor for three seconds: its end was not received.
        world.until(page, "document.querySelector('.events-card tbody tr').textContent.includes(Seismote.text.network.unheard)", 3)
        row = page.inner_text(".events-card tbody tr >> nth=0")
        assert "now" not in row and "3 s" in row, row
        world.picture(page, f"asleep-overview-{theme}")
        page.close()
        page = world.page("#/station/cellar", broker=broker, size=size, theme=theme)
        world.until(page, "document.querySelector('.tiles').textContent.includes('4.08')", 10)
        page.wait_for_timeout(300)
        assert page.evaluate("Date.now() - Seismote.link.since") < 8000
        assert page.is_visible("main.station.stale"), "it looks alive"
        world.until(page, "document.querySelector('.trigger-state').textContent === Seismote.text.station.trigger.unknown", 3)
        assert "2 h" in page.inner_text("main .note:not([hidden]) >> nth=0"), page.inner_text("main .note")
        check_looks(world, page, f"asleep-station-{theme}")
        world.close_page(page)
    # A station that speaks is not called silent for a moment; one whose clock is ahead is, once it has been listened to.
    asleep(broker, "ahead", time.time() + 3600)
    with Speakers(world, broker, "station", "contract"):
        page = world.page(broker=broker)
        world.until(page, "Seismote.fleet.stations.get('contract')?.leveled > 0")
        fresh = world.page(broker=broker)
        states = set()
        for _ in range(40):
            states |= set(fresh.evaluate("(globalThis.Seismote?.overview?.rows ?? []).filter((row) => row.id === 'contract').map((row) => row.state)"))
            fresh.wait_for_timeout(50)
        assert "silent" not in states, states
        world.until(fresh, "Seismote.overview.rows.find((row) => row.id === 'ahead').state === 'silent'", 15)
    broker.kill()
    return f"{sorted(states)}"


@early
def case_open_events_go_on(world):
    """The duration of an open event runs, also between two of its messages."""
    broker = world.another_broker("durations")
    seconds = "((text) => [...text.matchAll(/([\\d.]+) (min|s)\\b/g)].reduce((sum, [, n, unit]) => sum + Number(n) * (unit === 'min' ? 60 : 1), 0))"
    with Speakers(world, broker, "station", "contract"):
        page = world.page(broker=broker, size=(1440, 900))
        world.until(page, "Seismote.fleet.stations.get('contract')?.current && Seismote.fleet.stations.get('contract').leveled > 0")
        event = page.evaluate("Seismote.fleet.stations.get('contract').current")
        onset = page.evaluate(f"Seismote.units.milliseconds(Seismote.fleet.stations.get('contract').events.get('{event}').update.onset) / 1000")
        # Four views beside each other, three seconds of each.
        views = {}
        for where, element in (("#/", ".events-card tr.running .runs"), ("#/station/contract", ".events-card tr.running .runs"),
                               ("#/station/contract/events", ".station-events tr.running .runs"), (f"#/station/contract/event/{event}", ".event-facts .runs")):
            page = world.page(where, broker=broker, size=(1440, 900))
            page.wait_for_selector(element)
            views[where] = page, f"{seconds}(document.querySelector('{element}').textContent)"
        page.wait_for_timeout(1200)
        said = {}
        for where, (view, text) in views.items():
            shown, age = view.evaluate(text), time.time() - onset
            assert abs(shown - age) < 3, f"{where}: {shown} s of {age:.1f}"
            said[where] = shown, time.monotonic()
        # Not back in between either, while the station goes on with its event (which it does in these seconds).
        every = f"all.push({views[where][1]})"
        all_shown = page.evaluate(f"new Promise((done) => {{ const all = []; const timer = setInterval(() => {every}, 20); setTimeout(() => {{ clearInterval(timer); done(all); }}, 3000); }})")
        assert len(all_shown) > 30 and all_shown == sorted(all_shown), all_shown
        for where, (view, text) in views.items():
            later, (shown, at) = view.evaluate(text), said[where]
            assert abs(later - shown - (time.monotonic() - at)) < 2, f"{where}: {shown} s, {time.monotonic() - at:.1f} s later {later}"
        world.picture(page, "duration-runs")
    # The station falls silent: what is not known does not run.
    world.until(page, "document.querySelector('main').classList.contains('stale')", 40)
    # (The page looks at what is silent once a second, and at what runs twice; its timers come in their order.)
    page.evaluate("new Promise((done) => setTimeout(done, 1200))")
    shown = page.inner_text(".event-facts .runs")
    page.wait_for_timeout(2500)
    assert page.inner_text(".event-facts .runs") == shown
    broker.kill()
    return f"{age:.0f} s"


def case_numbers_are_written_as_people_do(world):
    broker = world.another_broker("numbers")
    asleep(broker, "counter", time.time())
    kept(broker, "counter", "state/health", time.time(), sensor="ok", time={"source": "ntp", "synced": True, "error_ms": 1}, rate_hz=100.0, rate_error_ppm=-2.35e8,
         gaps=12345, lost_samples=235000000, clipped=235000000, cpu_pct=1.7e-9, rss_bytes=235000000, uptime_s=1e6, outbox={"messages": 0, "bytes": 0, "dropped": {"full": 1234567}}, mqtt={"connects": 34567})
    for code in ("en", "de"):
        context = world.browser.new_context(viewport={"width": 390, "height": 844}, locale=code)
        page = context.new_page()
        page.goto(broker.page + "#/station/counter/health")
        world.until(page, "document.querySelectorAll('.health dd').length > 10")
        text = page.inner_text("main")
        assert not re.search(r"\de[+-]?\d|\d{5}", re.sub(r"v?\d+\.\d+\.\d+|\d{4}-\d\d-\d\d.*", "", text)), text
        assert ("235,000,000" if code == "en" else "235.000.000") in text, text
        context.close()
    broker.kill()


def case_opens_where_the_data_is(world):
    """Of a recording, or of a station that has been asleep for months, there is nothing of today: its newest is shown, and of when it is."""
    broker = world.another_broker("recording")
    with Speakers(world, broker, "recording", "tape"):
        for theme, size in (("light", (1440, 900)), ("dark", (390, 844))):
            page = world.page("#/station/tape/events", broker=broker, size=size, theme=theme)
            world.until(page, "Seismote.eventsView?.list.length >= 50", 20)
            assert page.input_value(".event-filter input[type=date] >> nth=1") == "2019-07-07"
            assert "2019-07-07" in page.inner_text(".event-foot [role=status]"), page.inner_text(".event-foot [role=status]")
            check_looks(world, page, f"newest-events-{theme}")
            # What the reader chooses stays.
            page.fill(".event-filter input[type=date] >> nth=0", "2026-01-01")
            page.fill(".event-filter input[type=date] >> nth=1", "2026-01-31")
            page.click(".event-filter button[type=submit]")
            world.until(page, "document.querySelector('.event-foot [role=status]').textContent === Seismote.text.events.nothing")
            page.goto(broker.page + "#/station/tape/history")
            world.until(page, "Seismote.historyView?.some", 20)
            assert page.evaluate("Seismote.historyView.day") == "2019-07-07", page.evaluate("Seismote.historyView.day")
            world.until(page, "Seismote.historyView.status.textContent.includes('2019-07-07')")
            check_looks(world, page, f"newest-history-{theme}")
            page.click("a[aria-label='Day before']")
            world.until(page, "Seismote.historyView.day === '2019-07-06' && Seismote.historyView.some")
            page.click(".history .newest")
            world.until(page, "Seismote.historyView.day === '2019-07-07' && Seismote.historyView.some")
            world.close_page(page)
    broker.kill()
    # One that is offline cannot be asked: what was seen of it.
    broker = world.another_broker("long-asleep")
    asleep(broker, "cellar", time.time() - 60 * 86400, "offline")
    newest = stamp(time.time() - 60 * 86400)[:10]
    page = world.page("#/station/cellar/events", broker=broker, size=(1440, 900))
    world.until(page, "Seismote.eventsView?.list.length >= 1", 30)
    assert newest in page.inner_text(".event-foot [role=status]"), page.inner_text(".event-foot [role=status]")
    world.picture(page, "newest-events-offline")
    page.goto(broker.page + "#/station/cellar/history")
    world.until(page, f"Seismote.historyView?.day === '{newest}'", 20)
    broker.kill()


def case_what_is_heard_late_opens_the_newest_too(world):
    """A station of which nothing was heard for longer than the page waits: it showed an empty today, for ever."""
    broker = world.another_broker("late")
    with Speakers(world, broker, "recording", "tape"):
        page = world.page("#/", broker=broker)
        world.until(page, "Seismote.fleet.stations.get('tape')?.info", 20)
        # The broker is slow for a while.
        os.kill(broker.process.pid, signal.SIGSTOP)
        try:
            # (What is under way to the page may still come.)
            page.evaluate("""(() => { const known = Seismote.fleet.stations.get('tape'); for (const name of ['level', 'summary'])
                Object.defineProperty(known, name, { get: () => null, set: () => {}, configurable: true }); })()""")
            page.goto(broker.page + "#/station/tape/history")
            world.until(page, "Seismote.historyView?.day === new Date().toISOString().slice(0, 10)")
            page.evaluate("(() => { const known = Seismote.fleet.stations.get('tape'); delete known.level; delete known.summary; })()")
        finally:
            os.kill(broker.process.pid, signal.SIGCONT)
        world.until(page, "Seismote.historyView.day === '2019-07-07' && Seismote.historyView.some", 20)
    broker.kill()


def case_real_recording_opens_where_its_data_is(world):
    """An agent that plays a recording, with the list that it keeps."""
    world.quake()
    page = world.page("#/station/demo")
    world.until(page, "[...(Seismote.fleet.stations.get('demo')?.events ?? [])].some(([, e]) => e.end)", 150)
    page.goto(world.broker.page + "#/station/demo/events")
    world.until(page, "Seismote.eventsView?.list.length > 0", 20)
    page.goto(world.broker.page + "#/station/demo/history")
    world.until(page, "Seismote.historyView?.day === '2019-07-06' && Seismote.historyView.some", 30)
    world.picture(page, "newest-real-history")


def case_a_day_that_is_open_goes_on(world):
    """A helicorder that stays open shows what has come since, and asks for that alone."""
    world.quake()
    page = world.page("#/")
    world.until(page, "Seismote.fleet.stations.get('demo')?.level", 60)
    page.goto(world.broker.page + "#/station/demo/history")
    world.until(page, "Seismote.historyView?.some && Seismote.historyView.until > 0 && Seismote.historyView.next > 0", 60)
    before = page.evaluate("({ until: Seismote.historyView.until, replies: Seismote.historyView.replies.length })")
    # What its clock does in a minute.
    page.evaluate("Seismote.historyView.ask(true)")
    world.until(page, f"Seismote.historyView.until > {before['until']} && Seismote.historyView.replies.length > {before['replies']}")
    spans = page.evaluate(f"Seismote.historyView.replies.slice({before['replies']}).map((past) => past.step_s * past.z.min.length)")
    assert all(span < 1800 for span in spans), spans


def case_long_texts_do_not_widen_a_page(world):
    """Whatever a station says of itself, at any length and without a space in it."""
    broker = world.another_broker("long")
    text, name, event, now = "W" * 500, "w" * 64, "e" * 128, time.time()
    asleep(broker, name, now)
    # (Where there are several versions, they can be chosen.)
    kept(broker, "other", "state/info", now, agent={"name": "seismote", "version": "x" + text[1:]}, station={"id": "other", "groups": ["i" * 64]})
    kept(broker, "other", "state/alert/" + "l" * 64, now, code="l" * 64, severity="warning", message=text, since=stamp(now))
    kept(broker, name, "state/info", now, agent={"name": "seismote", "version": text, "build": text}, sensor={"driver": text, "chip": text, "rate_hz": 100}, capabilities={"verbs": ["ping"]},
         station={"id": name, "description": text, "network": text, "code": text, "groups": ["g" * 64, "h" * 64], "latitude": 1, "longitude": 2})
    kept(broker, name, "state/alert/long", now, code="long", severity="warning", message=text, since=stamp(now))
    kept(broker, name, "state/health", now, sensor=text, time={"source": text, "synced": True, "error_ms": 1}, gaps=1, lost_samples=1)
    one = {"scale": "mmi", "relation": text, "value": 3.1, "roman": text, "grade": text}
    kept(broker, name, "state/summary", now, window_s=10, pga=0.04, valid=False, reason=text, intensity=[one])
    kept(broker, name, "event/current", now, event_type="update", event_id=event, onset=stamp(now - 3), pga=0.04, label="l" * 32, intensity=[one], detectors=[{"name": text, "signal": text, "axes": [text], "direction": text}])
    kept(broker, name, "state/config", now, rev=1, config={"a": {"b": text}}, sources={"overlay": [text]}, needs_restart=[text], pending={"rev": 1, "deadline": stamp(now + 100)})
    for size in ((390, 844), (1440, 900)):
        page = world.page(broker=broker, size=size)
        world.until(page, "Seismote.fleet.stations.size === 2")
        for where, view in (("", "cards"), ("", "table"), ("", "map"), (f"station/{name}", ""), (f"station/{name}/health", ""), (f"station/{name}/events", ""), (f"station/{name}/history", ""),
                            (f"station/{name}/settings", ""), (f"station/{name}/event/{event}", ""), ("group/" + "g" * 64, "")):
            page.evaluate(f"{{ location.hash = '#/{where}'; Seismote.preferences.set('view', '{view or 'auto'}'); }}")
            page.wait_for_selector("main h1")
            page.wait_for_timeout(700)
            wide = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
            assert wide[0] <= wide[1], f"#/{where[:7]}…{where[-8:]} {view} is {wide[0]} wide, has {wide[1]}"
        world.picture(page, f"long-texts-{size[0]}")
    broker.kill()
