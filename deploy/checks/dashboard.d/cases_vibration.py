"""Vibration as standards measure it: the diagram with the limit's curve, the day's levels, the month's modes."""

import json

from cases_fleet import Speakers
from looks import check_looks, coloured


def case_vibration_of_a_building_site(world):
    """What is stored comes in two replies, what is live is added; peaks are drawn where they belong, in every language."""
    broker = world.another_broker("site")
    with Speakers(world, broker, "site", "site"):
        page = world.page("#/station/site/vibration", broker=broker, size=(1280, 1300))
        world.until(page, "Seismote.vibration?.found().intervals.length > 1300 && Seismote.vibration.found().periods.length > 600", 30)
        world.until(page, "Seismote.vibration.found().intervals.at(-1).x.ppv === 4", 10)
        found = page.evaluate("""(() => {
          const { intervals, curve, periods } = Seismote.vibration.found();
          const steps = intervals.slice(1).map((one, i) => one.start - intervals[i].start);
          return { piles: intervals.filter((one) => one.x.frequency === 10).length, twice: steps.filter((step) => step <= 0).length,
                   longest: Math.max(...steps.slice(0, -2)), none: intervals.at(-1).z.frequency, curve: curve.points.length, name: curve.name, modes: periods.at(-1).modes.length };
        })()""")
        # (Four hours of piles, less up to one that is an hour ahead: the day that is asked for ends then.)
        assert 175 <= found["piles"] <= 241 and found["twice"] == 0 and found["longest"] == 60000, found
        assert found["curve"] == 4 and found["name"] == "din4150-3:dwellings:foundation" and found["modes"] == 2, found
        assert "DIN 4150-3: dwellings, foundation" in page.inner_text("main") and "Hz (1.0 % damping), 3.10 Hz (1.2 % damping)" in page.inner_text("main")
        # The piles lie at 10 Hz and 1 mm/s, below the curve; the newest at 4 mm/s.
        for name, axis, least in (("diagram", "x", 100), ("levels", "x", 100), ("diagram", "y", 100)):
            assert page.evaluate(coloured(40), [f"canvas.vibration-{name}", f"--axis-{axis}"]) > least, (name, axis)
        assert page.evaluate(coloured(40), ["canvas.vibration-modes", "--ink"]) > 100
        check_looks(world, page, "vibration")
        world.picture(page, "vibration", whole=True)
        # (Beside each other: they mostly wait for the replies.)
        others = {language: world.page("#/", broker=broker, size=(390, 844)) for language in ("de", "es", "it", "ja", "tr")}
        for language, other in others.items():
            other.evaluate(f"localStorage.setItem('seismote.preferences', JSON.stringify({{ language: '{language}' }})); location.hash = '#/station/site/vibration'")
            other.reload()
        for language, other in others.items():
            world.until(other, "Seismote.vibration?.found().periods.length > 600", 30)
            assert not other.evaluate("document.documentElement.scrollWidth > innerWidth + 1"), language
            world.picture(other, f"vibration-{language}")
        broker.kill()
    return f"{found['piles']} intervals of piles"


def case_vibration_is_hostile_or_off(world):
    """What is no number is left out; a station that has nothing says so."""
    broker = world.another_broker("site-off")
    with Speakers(world, broker, "station", "contract"):
        page = world.page("#/station/contract/vibration", broker=broker, size=(1280, 900))
        world.until(page, "document.querySelector('main > [role=status]').textContent.includes('step_s')", 20)
        kept = page.evaluate("""(() => {
          const { found } = Seismote.vibration;
          return [found().intervals.length, found().periods.length, found().curve];
        })()""")
        assert kept == [0, 0, None], kept
        # One that measures none says so, without empty diagrams.
        broker.publish("seismote/contract/state/config", json.dumps({"v": 1, "boot": "b", "seq": 1, "t": "2026-01-05T10:00:00Z", "rev": 0, "config": {"vibration": {"enabled": False}}, "sources": {}, "pending": None}))
        page.reload()
        world.until(page, "document.querySelector('main > [role=status]').textContent === Seismote.text.vibration.off", 20)
        assert page.is_hidden("canvas.vibration-diagram") and page.is_hidden("canvas.vibration-levels")
        broker.kill()
