"""The settings of a station: changed, refused, on trial, gone back."""

import json
import re

from looks import check_looks
from marks import at_night

READY = "document.querySelectorAll('.setting').length > 50 && !document.querySelector('#setting-trace-rate_hz').disabled"
CONFIG = "Seismote.fleet.stations.get('bench').config"


def settings_page(world, size=(1280, 900), theme="light"):
    world.agent("bench", {"locked": ["trace.qos"], "sensor": {"simulate": {"scenario": "quiet"}}})
    page = world.page("#/station/bench/settings", size=size, theme=theme)
    world.until(page, "globalThis.Seismote?.started")
    page.evaluate("Seismote.preferences.set('advanced', 'yes')")
    world.until(page, READY)
    return page


def field(key):
    return f"#setting-{key.replace('.', '-')}"


def problem(key):
    return f"document.querySelector('{field(key)}-problem').textContent"


def apply(world, page, trial=None):
    """Applies what has been typed, on trial for so many seconds; as soon as the station has nothing against it."""
    world.until(page, "document.querySelector('.settings-says.fine')")
    page.click(".settings-bar button.primary")
    page.wait_for_selector("dialog[open]")
    if trial is None:
        page.uncheck("#settings-trial")
    else:
        page.fill("#settings-trial-s", str(trial))
    title = page.inner_text("dialog h2")
    page.click("dialog button.primary")
    world.until(page, "!document.querySelector('dialog') && document.querySelector('.settings-bar').hidden")
    return title


def case_setting_is_changed(world):
    page = settings_page(world)
    before = page.evaluate(f"{CONFIG}.rev")
    page.fill(field("trace.rate_hz"), "10 Hz")
    apply(world, page)
    world.until(page, f"{CONFIG}.config.trace.rate_hz === 10")
    assert page.evaluate(f"{CONFIG}.rev") > before
    world.until(page, "document.querySelector('[data-key=\"trace.rate_hz\"] .setting-source.overlay')")
    # Back to what the file says.
    page.click("[data-key='trace.rate_hz'] .setting-buttons button:not([hidden])")
    apply(world, page)
    world.until(page, f"{CONFIG}.config.trace.rate_hz === 20")
    # A filter, out of its parts.
    page.check("input[name=settings-axis][value=y]", force=True)
    page.select_option(field("axes.all.filter"), label="Butterworth low pass")
    page.fill(field("axes.all.filter") + "-0", "4 Hz")
    apply(world, page)
    world.until(page, f"{CONFIG}.config.axes.y.filter.butterworth?.type === 'lowpass'")
    assert page.evaluate(f"{CONFIG}.config.axes.y.filter.butterworth.corner_hz") == 4
    assert page.evaluate(f"{CONFIG}.config.axes.x.filter.butterworth.type") == "bandpass"


def case_setting_is_refused(world):
    page = settings_page(world)
    before = page.evaluate(f"{CONFIG}.rev")
    page.fill(field("trace.rate_hz"), "9999")
    # At once, without asking the station; and beside the button.
    assert "Allowed" in page.evaluate(problem("trace.rate_hz")), page.evaluate(problem("trace.rate_hz"))
    assert page.evaluate(problem("trace.rate_hz")) in page.inner_text(".settings-says"), page.inner_text(".settings-says")
    page.fill(field("detection.sta_lta.sta_s"), "50")
    world.until(page, f"{problem('trace.rate_hz')}.includes('Allowed')")
    # A rule between two settings shows at the one that the station names.
    world.until(page, f"{problem('detection.sta_lta.lta_s')}.length > 10")
    assert page.get_attribute(field("trace.rate_hz"), "aria-invalid") == "true"
    assert page.is_disabled(".settings-bar button.primary")
    page.evaluate(f"document.querySelector('{field('trace.rate_hz')}').scrollIntoView({{ block: 'center' }})")
    world.picture(page, "settings-refused")
    page.fill(field("trace.rate_hz"), "fast")
    world.until(page, f"{problem('trace.rate_hz')} === Seismote.settingsProblem({{ code: 'typed', error: 'number' }})")
    # What cannot be changed from here cannot be typed into.
    for key in ("trace.qos", "mqtt.password_file", "storage.directory"):
        assert page.is_disabled(field(key)), key
    assert page.get_attribute(field("mqtt.password"), "type") == "password"
    page.fill(field("trace.rate_hz"), "20")
    page.fill(field("detection.sta_lta.sta_s"), "50")
    world.until(page, f"document.querySelector('.settings-says.wrong').textContent.includes({problem('detection.sta_lta.lta_s')})"
                      f" && {problem('detection.sta_lta.lta_s')}.length > 10")
    page.fill(field("trace.rate_hz"), "fast")
    page.click(".settings-bar button:text-is('Show where')")
    world.until(page, "document.activeElement?.getAttribute('aria-invalid') === 'true'")
    page.click(".settings-bar button:text-is('Discard')")
    assert page.input_value(field("trace.rate_hz")) == "20"
    assert page.evaluate(f"{CONFIG}.rev") == before
    page.fill("#settings-search", "dead time")
    world.until(page, "[...document.querySelectorAll('.setting')].filter((e) => e.checkVisibility()).length === 1")


def case_setting_of_all_axes(world):
    page = settings_page(world)
    page.check("input[name=settings-axis][value=x]", force=True)
    page.fill(field("axes.all.detection.threshold"), "9 mg")
    assert apply(world, page) == page.evaluate("Seismote.text.settings.applyTitle")
    world.until(page, f"Math.abs({CONFIG}.config.axes.x.detection.threshold - 0.08825985) < 1e-9")
    page.check("input[name=settings-axis][value=all]", force=True)
    shown = page.inner_text("[data-key='axes.all.detection.threshold'] .setting-other")
    assert re.search(r"x 9 mg.*y 5 mg", shown), shown
    page.fill(field("axes.all.detection.threshold"), "7 mg")
    world.until(page, "document.querySelector('.settings-says.fine')")
    page.click(".settings-bar button.primary")
    page.wait_for_selector("dialog[open] table tbody tr >> nth=2")
    world.picture(page, "settings-all-axes")
    page.click("dialog .actions button:not(.primary)")
    world.until(page, "!document.querySelector('dialog')")
    assert abs(page.evaluate(f"{CONFIG}.config.axes.x.detection.threshold") - 0.08825985) < 1e-9, "applied although cancelled"
    assert apply(world, page) == page.evaluate("Seismote.text.settings.applyAll")
    for axis in "xyz":
        world.until(page, f"Math.abs({CONFIG}.config.axes.{axis}.detection.threshold - 0.06864655) < 1e-9")


def case_setting_on_trial(world):
    page = settings_page(world)
    # Confirmed in time it stays.
    page.fill(field("trace.block_s"), "2")
    apply(world, page, 120)
    page.wait_for_selector(".settings-trial.pending button.primary")
    world.picture(page, "settings-on-trial")
    assert re.search(r"\d+ s", page.inner_text(".settings-left"))
    page.click(".settings-trial button.primary")
    world.until(page, f"{CONFIG}.pending === null && {CONFIG}.config.trace.block_s === 2")
    # Taken back at once.
    page.fill(field("trace.block_s"), "3")
    apply(world, page, 120)
    world.until(page, f"{CONFIG}.config.trace.block_s === 3")
    page.click(".settings-trial.pending button.plain")
    world.until(page, f"{CONFIG}.config.trace.block_s === 2 && {CONFIG}.pending === null")
    # Not confirmed it goes back by itself, and the page says so.
    page.fill(field("trace.block_s"), "4")
    apply(world, page, 5)
    world.until(page, f"{CONFIG}.config.trace.block_s === 4 || document.querySelector('.went-back')")
    world.until(page, f"{CONFIG}.config.trace.block_s === 2 && document.querySelector('.went-back')")
    assert page.input_value(field("trace.block_s")) == "2"
    world.picture(page, "settings-went-back")
    return page.inner_text(".went-back")


def case_setting_is_rolled_back(world):
    page = settings_page(world)
    page.fill(field("spectrum.window_s"), "30")
    apply(world, page)
    world.until(page, f"{CONFIG}.config.spectrum.window_s === 30")
    rev = page.evaluate(f"{CONFIG}.rev")
    page.fill(field("spectrum.window_s"), "40")
    apply(world, page)
    world.until(page, f"{CONFIG}.config.spectrum.window_s === 40")
    row = f".settings-history tr:has(th:text-is('{rev}'))"
    page.wait_for_selector(f"{row} button")
    assert page.inner_text(f"{row} td >> nth=1") == "dashboard"
    page.click(f"{row} button")
    page.wait_for_selector("dialog[open]")
    assert "spectrum.window_s" in page.inner_text("dialog table")
    page.uncheck("#settings-trial")
    page.click("dialog button.primary")
    world.until(page, f"{CONFIG}.config.spectrum.window_s === 30")
    page.click(".settings-history button.danger")
    page.wait_for_selector("dialog[open]")
    page.uncheck("#settings-trial")
    page.click("dialog button.primary")
    world.until(page, f"{CONFIG}.sources.overlay.length === 0 && {CONFIG}.config.spectrum.window_s === 20")
    page.locator(".settings-history").scroll_into_view_if_needed()
    world.picture(page, "settings-revisions")


def case_settings_to_look_at(world):
    """A station that does not answer this user: everything is shown, nothing can be changed."""
    page = settings_page(world)
    config, schema = page.evaluate(f"[JSON.stringify({CONFIG}), JSON.stringify(Seismote.fleet.stations.get('bench').schema)]")
    ghost = json.loads(config)
    ghost["config"]["mqtt"]["password"] = "***"
    world.broker.publish("seismote/ghost/state/online", "online")
    world.broker.publish("seismote/ghost/state/config", json.dumps(ghost))
    world.broker.publish("seismote/ghost/state/config/schema", schema)
    page = world.page("#/station/ghost/settings")
    world.until(page, "document.querySelector('.settings-banner').textContent === Seismote.text.settings.readOnly")
    assert page.evaluate("[...document.querySelectorAll('.setting input, .setting select, .setting textarea')].every((e) => e.disabled)")
    assert page.input_value(field("mqtt.password")) == ""
    assert page.get_attribute(field("mqtt.password"), "placeholder") == page.evaluate("Seismote.text.settings.secretSet")
    world.picture(page, "settings-to-look-at")
    for what in ("state/online", "state/config", "state/config/schema"):
        world.broker.publish(f"seismote/ghost/{what}", "")


@at_night
def case_settings_widths_and_themes(world):
    for theme in ("light", "dark"):
        for name, size in (("desktop", (1440, 900)), ("phone", (390, 844))):
            page = settings_page(world, size, theme)
            page.fill(field("trace.rate_hz"), "10")
            page.fill(field("station.latitude"), "95")
            world.until(page, f"{problem('station.latitude')}.length > 5")
            check_looks(world, page, f"settings-{name}-{theme}")
            page.fill(field("station.latitude"), "35")
            world.until(page, "document.querySelector('.settings-says.fine')")
            page.click(".settings-bar button.primary")
            page.wait_for_selector("dialog[open]")
            check_looks(world, page, f"settings-apply-{name}-{theme}")
            world.close_page(page)
