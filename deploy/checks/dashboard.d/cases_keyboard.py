"""Every task by the keyboard alone: Tab and Shift+Tab from where the focus is, Enter, Space, arrows and letters; no click."""

import json

from cases_alarm import BANNER, quake
from cases_fleet import Speakers
from marks import at_night
from world import wait_until

# Notes what a mouse, a pen or a finger did: nothing may. And printing asks nobody.
WATCH = """(() => {
  window.pointed = [];
  window.printed = 0;
  window.print = () => window.printed++;
  for (const kind of ["mousedown", "pointerdown", "touchstart"]) addEventListener(kind, () => window.pointed.push(kind), true);
  addEventListener("click", (event) => event.detail > 0 && window.pointed.push("click"), true);
})()"""
# What has the focus: whether it is the wanted element, whether that is seen, and what it is.
FOCUS = """(wanted) => {
  const e = document.activeElement;
  const ringed = (one) => one && getComputedStyle(one).outlineStyle !== "none" && parseFloat(getComputedStyle(one).outlineWidth) >= 2;
  const box = e.getBoundingClientRect();
  return { is: Boolean(eval(wanted)(e)), ringed: ringed(e) || ringed(e.closest(".card")) || ringed(e.nextElementSibling), inSight: box.bottom > 0 && box.top < innerHeight,
           name: `${e.tagName}.${e.className} ${(e.textContent || e.name || "").slice(0, 30)}` };
}"""
CONFIG = "Seismote.fleet.stations.get('bench').config"


class Keys:
    def __init__(self, world, page):
        self.world, self.page, self.pressed, self.farthest = world, page, 0, (0, "")

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
            self.pressed += 1

    def reach(self, wanted, most=90, back=False):
        """Goes there by Tab. `wanted` is a selector, or a selector and the text of the element."""
        selector, text = wanted if isinstance(wanted, tuple) else (wanted, None)
        test = f"(e) => e.matches({json.dumps(selector)})" + (f" && e.textContent.trim() === {json.dumps(text)}" if text else "")
        passed = []
        for count in range(most):
            self.press("Shift+Tab" if back else "Tab")
            found = self.page.evaluate(FOCUS, test)
            passed.append(found["name"])
            if found["is"]:
                assert found["ringed"], f"the focus on {wanted} is not to be seen"
                assert found["inSight"], f"{wanted} has the focus out of sight"
                self.farthest = max(self.farthest, (count + 1, str(wanted)))
                return count + 1
        raise AssertionError(f"Tab does not reach {wanted} within {most} steps; last: {passed[-12:]}")

    def choose(self, wanted, downs=1, **more):
        """A choice that is closed: the arrow takes the next one."""
        self.reach(wanted, **more)
        self.press(*["ArrowDown"] * downs)

    def enter(self, wanted, **more):
        self.reach(wanted, **more)
        self.press("Enter")

    def write(self, wanted, text, **more):
        self.reach(wanted, **more)
        self.press("Control+a")
        self.page.keyboard.type(text)

    def put_away(self):
        """All alarms, one after the other: the button keeps the focus."""
        keys_back = self.page.evaluate("document.activeElement !== document.body")
        self.reach("#alarm .primary", back=keys_back)
        for _ in range(6):
            self.press("Enter")
            if self.page.evaluate("document.getElementById('alarm').hidden"):
                return
        raise AssertionError("the alarms do not go away")

    def until(self, expression, seconds=20):
        self.world.until(self.page, expression, seconds)


def said(page, key):
    return page.evaluate(f"Seismote.text.{key}")


@at_night
def case_every_task_by_the_keyboard(world):
    broker = world.another_broker("keyboard")
    world.agent("bench", {"sensor": {"simulate": {"scenario": "quiet"}}}, broker=broker)
    with Speakers(world, broker, "station", "contract"), Speakers(world, broker, "fleet", "3") as speakers:
        wait_until(lambda: "ready" in speakers.words(), 60, "the stations are there")
        page = world.page("#/", broker=broker, size=(1280, 900))
        page.context.add_init_script(WATCH)
        page.reload()
        keys = Keys(world, page)
        keys.until("Seismote.fleet.stations.get('contract')?.lastEvent && Seismote.fleet.stations.get('bench')?.info && document.querySelectorAll('.station-card').length === 5")
        # The first Tab is the way past the bar.
        keys.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        keys.press("Enter")
        # Find, filter, and open a station.
        keys.write("input[type=search]", "contr")
        keys.until("document.querySelectorAll('.station-card').length === 1")
        keys.enter(".station-card[data-id=contract] a.whole")
        keys.until("location.hash === '#/station/contract'")
        # Each of its tabs.
        for tab in ("history", "vibration", "settings", "health", "events"):
            keys.enter(f".tabs a[href$='/{tab}']")
            keys.until(f"location.hash.endsWith('/{tab}')")
        # Its events: filtered, saved, opened; said what it was, printed.
        keys.until("Seismote.eventsView?.list.length > 50")
        keys.choose(".event-filter label:last-of-type select")
        keys.enter(".event-filter button.primary")
        keys.until("Seismote.eventsView.list.length > 0 && new Set(Seismote.eventsView.list.map((one) => one.class?.likely)).size === 1")
        with page.expect_download():
            keys.enter((".event-files button", said(page, "event.csv")))
        keys.enter("table.events tbody tr:nth-child(2) a")
        keys.until("document.querySelector('main.event canvas.event-canvas') && document.querySelector('.label-buttons button:not([disabled])')")
        keys.reach("canvas.event-canvas")
        keys.press("ArrowRight", "+", "0")
        keys.enter((".event-files button", said(page, "print")), back=True)
        assert page.evaluate("window.printed") == 1
        keys.enter(".label-buttons button:first-child")
        keys.until("document.querySelector('.label-buttons button').getAttribute('aria-pressed') === 'true'")
        # An alert is acknowledged.
        keys.enter(".tabs a[href$='/health']", back=True)
        keys.enter((".alerts button", said(page, "health.acknowledge")))
        keys.until("document.querySelector('.alerts li.seen')")
        # Live: the graphs stop, and go back and forth.
        keys.enter(".tabs a[href='#/station/contract']", back=True)
        keys.reach("canvas.graph")
        keys.press("Space")
        assert page.evaluate("Seismote.live.graphs.paused")
        keys.press("Space")
        # The past: a minute of the day is opened.
        keys.enter(".tabs a[href$='/history']", back=True)
        keys.until("document.querySelector('canvas.helicorder')")
        keys.reach("canvas.helicorder")
        keys.press("ArrowRight", "Enter")
        keys.until("location.hash.includes('/at/')")
        # A setting is changed on another station, kept, changed on trial and gone back.
        keys.enter(".brand", back=True)
        # (Past a long list of events: what is found is opened by Enter.)
        keys.write("input[type=search]", "bench")
        keys.press("Enter")
        keys.until("location.hash === '#/station/bench'")
        keys.enter(".tabs a[href$='/settings']")
        keys.until("document.querySelectorAll('.setting').length > 50 && !document.querySelector('#setting-trace-rate_hz').disabled", 60)
        # (Of basic and all settings.)
        keys.reach(".settings-tools select")
        keys.press("End")
        for value, way, rest in (("2", "button.primary", 2), ("3", "button.plain", 2)):
            keys.write("#settings-search", "trace.block_s", back=value == "3")
            keys.write("#setting-trace-block_s", value)
            keys.until("document.querySelector('.settings-says.fine')")
            keys.enter(".settings-bar button.primary")
            keys.until("document.querySelector('dialog[open]')")
            keys.enter("dialog button.primary", most=12)
            keys.until(f"document.querySelector('.settings-trial.pending {way}') && !document.querySelector('dialog')")
            keys.enter(f".settings-trial.pending {way}", back=True)
            keys.until(f"{CONFIG}.pending === null && {CONFIG}.config.trace.block_s === {rest}")
        # Back to what the file says, by the list of versions.
        keys.write("#settings-search", " ")
        keys.enter(".settings-history button.danger", most=400)
        keys.until("document.querySelector('dialog[open]')")
        keys.press("Escape")
        keys.until("!document.querySelector('dialog')")
        # The alarm: switched on, tried, seen.
        keys.enter(".alarm-button", most=400, back=True)
        keys.choose("dialog select")
        keys.reach("dialog .tick input")
        keys.press("Space")
        keys.until("Seismote.sound.state() === 'ready'")
        keys.enter(("dialog button", said(page, "alarm.tryIt")))
        # (Among what the station's own event may have brought.)
        keys.until("Seismote.alarm.state().alarms.some((key) => key.startsWith('test'))")
        keys.press("Escape")
        keys.put_away()
        # An earthquake: from its alarm to its page; seen, noted, saved, printed.
        event = quake(broker, 1)
        keys.until(BANNER)
        keys.reach("#alarm a.button", back=True)
        keys.until("document.querySelector('#alarm a.button').getAttribute('href').startsWith('#/earthquake/')")
        keys.press("Enter")
        keys.until(f"location.hash === '#/earthquake/{event}'")
        with page.expect_download():
            keys.enter((".event-tools button", said(page, "event.quakeml")))
        keys.enter((".event-tools button", said(page, "print")), back=True)
        assert page.evaluate("window.printed") == 2
        keys.write(".note-form input", "Ada")
        keys.write(".note-form textarea", "Felt in the harbour")
        keys.enter(".note-form button[type=submit]")
        keys.until("document.querySelector('.notes li')?.textContent.includes('Felt in the harbour')")
        keys.enter((".note-form button", said(page, "notes.seenNow")))
        keys.until("document.querySelector('.notes-card').textContent.includes('Seen by Ada')")
        # The map moves.
        keys.reach(".plane", back=True)
        before = page.evaluate("Seismote.earthquakeView.map.state().view.pixels")
        keys.press("+")
        keys.until(f"Seismote.earthquakeView.map.state().view.pixels > {before}")
        # The alarm is put away; all events: filtered and saved.
        keys.put_away()
        keys.enter(".brand")
        keys.enter("a[href='#/events']")
        keys.until("Seismote.catalogueView?.rows.length > 3")
        keys.choose((".catalogue-filter label:nth-of-type(3) select", None))
        keys.until("Seismote.catalogueView.rows.length > 0 && Seismote.catalogueView.rows.every((row) => row.station === '')")
        with page.expect_download():
            keys.enter((".catalogue-foot button", said(page, "event.csv")))
        keys.enter(".catalogue-scroll tbody a")
        keys.until("location.hash.startsWith('#/earthquake/')")
        # The units, the way a page is looked at, all settings of a group.
        keys.enter(".menu summary", back=True)
        keys.choose(".menu select")
        keys.press("Escape")
        assert not page.evaluate("document.querySelector('.menu').open")
        keys.enter(".brand", back=True)
        keys.enter(("button", said(page, "overview.views.table")))
        keys.until("document.querySelector('.stations-scroll').checkVisibility()")
        keys.enter(".stations-scroll thead button")
        keys.enter("a[href='#/group/all']", back=True)
        keys.until("Seismote.groupView?.fields", 30)
        keys.choose(".group-picks")
        keys.reach("#group-value, .group-form input, .group-form select:not(.group-picks)")
        assert page.evaluate("window.pointed") == [], page.evaluate("window.pointed")
        # A screen in a hall is taken over by a key.
        page.goto(broker.page + "?kiosk=5")
        keys.until("document.body.classList.contains('kiosk') && Seismote.fleet.stations.size === 5")
        quake(broker, 2)
        keys.until(BANNER)
        keys.put_away()
        at = page.evaluate("location.hash")
        page.wait_for_timeout(6000)
        assert page.evaluate("location.hash") == at, "it went on although somebody has it"
        assert page.evaluate("window.pointed") == [], page.evaluate("window.pointed")
        world.stop("bench")
        broker.kill()
    return f"{keys.pressed} keys; the longest way {keys.farthest[0]} to {keys.farthest[1]}"
