"""What was opened late, and what stands beside another window of time: an alarm, an event, traces, an intensity."""

import json
import re
import time

from cases_fleet import Speakers
from cases_true import asleep, kept
from looks import FAINT, check_looks

LATE = "Seismote.fleet.stations.get('late')"
EVENT = "Seismote.eventView"
BANNER = "!document.getElementById('alarm').hidden"
# Samples of the last minute that are missing.
MISSING = f"""(() => {{
  const {{ traces }} = {LATE};
  return Array.from({{ length: 1200 }}, (_, i) => traces.value("z", "raw", traces.end - 1 - i)).filter(Number.isNaN).length;
}})()"""


def case_opened_in_mid_event(world):
    """An alarm's age is its event's, and it wakes nobody again; the event is there from its beginning, and Live without a hole."""
    broker = world.another_broker("late")
    with Speakers(world, broker, "late", "late"):
        page = world.page("#/station/late", broker=broker, size=(1440, 1000))
        world.until(page, f"{BANNER} && {LATE}.summary", 30)
        page.evaluate("Seismote.preferences.set('sound', 'yes')")
        onset = page.evaluate(f"Seismote.units.milliseconds(Seismote.fleet.newestOf({LATE}.events.get({LATE}.current)).onset) / 1000")
        world.picture(page, "late-alarm")
        for load in (False, True):
            if load:
                page.reload()
                world.until(page, "Seismote.alarm")
                page.evaluate("window.woken = []; Seismote.alarm.on((one) => window.woken.push(one.key))")
                world.until(page, BANNER, 30)
            said = page.inner_text(".alarm-clock")
            # (The clock of the banner shows whole seconds.)
            shown = sum(float(number) * (60 if unit == "min" else 1) for number, unit in re.findall(r"([\d.]+) (min|s)\b", said))
            assert abs(shown - (time.time() - onset)) < 4 and "ms" not in said, f"{said!r}, {time.time() - onset:.0f} s after the onset"
            assert not page.evaluate("Seismote.sound.isPlaying()") and page.evaluate("Seismote.alarm.state().notified") == 0
        # A dialog that is opened after it does not cover it: it is in it, and can be pressed there.
        page.click(".menu summary")
        page.click(".connection")
        page.wait_for_selector("dialog[open]")
        assert page.evaluate("document.querySelector('#alarm').matches('dialog[open] :popover-open')"), "the banner is below the dialog"
        world.picture(page, "late-dialog")
        page.click("#alarm .primary")
        world.until(page, f"!({BANNER})", 2)
        page.keyboard.press("Escape")
        # (A dialog tells of its end by an event of its own, which may come after the key's.)
        world.until(page, "!document.querySelector('dialog[open]') && document.getElementById('alarm').parentNode === document.body", 2)
        # Seen stays seen.
        page.reload()
        world.until(page, f"{LATE}?.summary && {LATE}.current", 30)
        page.wait_for_timeout(500)
        assert page.evaluate(f"!({BANNER})"), "seen, and there again after the page was loaded"
        # Each intensity says of which time it is; a peak and a direction are two things.
        world.until(page, "document.querySelectorAll('.dial-box').length === 2", 10)
        dials = page.evaluate("[...document.querySelectorAll('.dial-box')].map((one) => one.textContent)")
        assert "10 s" in dials[0] and "1 min" in dials[1] and "10 s" not in dials[1], dials
        assert "towards" not in page.inner_text(".scope-card") and "353" in page.inner_text(".scope-card"), page.inner_text(".scope-card")
        check_looks(world, page, "late-live")
        # The event's own page, from the station's: from before the onset, with its peak.
        world.until(page, f"{LATE}.traces.end > 60", 20)
        event = page.evaluate(f"{LATE}.current")
        page.evaluate(f"location.hash = '#/station/late/event/{event}'; null")
        world.until(page, f"{EVENT}?.data && {EVENT}.data.onset > 0 && {EVENT}.data.shape.gaps.length === 0 && 'x' in {EVENT}.data.peaks", 30)
        count = page.evaluate(f"{EVENT}.data.shape.count")
        world.picture(page, "late-event", whole=True)
        world.until(page, f"{EVENT}.data.shape.count > {count} && {EVENT}.data.shape.gaps.length === 0", 20)
        # Live again: what came while another view was open is there.
        page.evaluate("location.hash = '#/station/late'; null")
        world.until(page, f"{LATE}.traces.end > 200 && {MISSING} === 0", 30)
        broker.kill()
    return f"{said.strip()}, {time.time() - onset:.0f} s after the onset"


def case_slow_traces_and_first_events(world):
    """Of traces of 2 Hz it is said what a spectrum takes; the open first event of a recording is listed."""
    broker = world.another_broker("slow")
    with Speakers(world, broker, "slow", "slow"), Speakers(world, broker, "first", "first"):
        page = world.page("#/station/slow", broker=broker, size=(1440, 1000))
        world.until(page, "Seismote.fleet.stations.get('slow')?.traces.end > 4", 20)
        world.until(page, "document.querySelector('.three .card:nth-child(2)').textContent.includes('32 s')", 5)
        world.picture(page, "slow-traces", whole=True)
        # Without a column there is no scale of colours.
        page.goto(broker.page + "#/station/first")
        page.wait_for_selector(".spectrogram-card")
        assert page.is_hidden(".color-legend")
        page.goto(broker.page + "#/station/first/events")
        world.until(page, "Seismote.eventsView?.list.length === 1", 20)
        assert page.input_value(".event-filter input[type=date] >> nth=1").startswith("2019-07")
        world.picture(page, "first-event")
        broker.kill()


def case_old_values_can_be_read(world):
    """Chips of a station that is away, as a card, in the table and on the map, and its own page, in both themes."""
    broker = world.another_broker("away")
    at = time.time() - 7200
    asleep(broker, "cellar", at, "offline")
    nine = [{"scale": "mmi", "relation": "worden12", "value": 9.1}]
    kept(broker, "cellar", "state/summary", at, window_s=10, pga=4.0, triggered=True, valid=True, intensity=nine)
    kept(broker, "cellar", "state/level", at, pga=4.0, mmi=9.1, triggered=True, valid=True, synced=True)
    kept(broker, "cellar", "event/current", at, event_type="update", event_id="cellar-20260105T102030000Z", onset="2026-01-05T10:20:30Z", pga=4.0, intensity=nine)
    for theme in ("light", "dark"):
        page = world.page(broker=broker, size=(1280, 900), theme=theme)
        world.until(page, "Seismote.overview", 20)
        for view in ("cards", "table", "map"):
            page.evaluate(f"Seismote.preferences.set('view', '{view}'); null")
            world.until(page, "document.querySelector('main').textContent.includes('IX')", 20)
            faint = page.evaluate(FAINT)
            assert not faint, f"{view} {theme}: {faint}"
        page.goto(broker.page + "#/station/cellar")
        page.wait_for_selector("main.stale .dial")
        ink = page.evaluate("[...document.querySelectorAll('.dial .step')].map((one) => getComputedStyle(one).fill)")
        assert len(set(ink)) == 1, "a grey dial has names for coloured steps"
        check_looks(world, page, f"away-{theme}")
        world.close_page(page)
    broker.kill()
    return json.dumps(ink[:1])


def case_many_labels_at_once(world):
    """Ten events are labelled by two clicks and a key, and by keys alone."""
    broker = world.another_broker("labels")
    with Speakers(world, broker, "station", "contract") as speakers:
        page = world.page("#/station/contract/events", broker=broker, size=(1280, 900))
        world.until(page, "Seismote.eventsView?.list.length >= 50", 40)
        boxes = page.locator("input[data-event]")
        boxes.nth(0).click()
        boxes.nth(9).click(modifiers=["Shift"])
        assert page.evaluate("Seismote.eventsView.labels.chosen.size") == 10
        check_looks(world, page, "many-labels")
        page.keyboard.press("f")
        said = page.evaluate("Seismote.text.class.labels.footsteps")
        world.until(page, f"document.querySelector('.many-labels [role=status]').textContent === '10 events labelled: {said}.'", 40)
        assert page.evaluate("Seismote.eventsView.list.filter((one) => one.label === 'footsteps').length") == 10
        assert speakers.words().count('"label": "footsteps"') == 10
        # By keys alone: a row down, chosen, labelled.
        boxes.nth(9).focus()
        for key in ("ArrowDown", "Space", "ArrowDown", "Space", "d"):
            page.keyboard.press(key)
        world.until(page, "Seismote.eventsView.list.filter((one) => one.label === 'door').length === 2", 20)
        broker.kill()
    return "3 actions for ten events"
