"""Who may see and who may change, with the access list of deploy/dashboard/README.md; the connection by wss."""

import os
import re

from cases_settings import READY, apply, field
from world import REPOSITORY

USERS = {"garage": "a station", "visitor": "only looks", "operator": "may change"}


def access_list():
    """The lists of the page's document, as they stand there: from the stations' to the end of that indented block."""
    with open(os.path.join(REPOSITORY, "deploy/dashboard/README.md"), encoding="utf-8") as file:
        text = file.read()
    block = text[text.index("    # Each station, whose user name is its id:"):]
    return re.sub("^    ", "", re.split(r"^(?=\S)", block, maxsplit=1, flags=re.M)[0], flags=re.M).rstrip() + "\n"


def guarded(world):
    """A broker with the access list, and a station that is allowed no more than its own topics."""
    broker = world.another_broker("guarded", users=USERS, acl=access_list())
    world.agent("garage", {"mqtt": {"username": "garage", "password": USERS["garage"]}}, broker=broker)
    return broker


def signed_in(world, broker, user, where="#/"):
    page = world.page(where, broker=broker)
    page.wait_for_selector("dialog.sign-in")
    page.fill("dialog input[name=user]", user)
    page.fill("dialog input[name=password]", USERS[user])
    page.click("dialog button.primary")
    world.until(page, "Seismote.link.state === 'online'")
    return page


def case_visitor_looks_operator_changes(world):
    broker = guarded(world)
    station = "Seismote.fleet.stations.get('garage')"
    visitor = signed_in(world, broker, "visitor", "#/station/garage")
    world.until(visitor, f"{station}?.traces.end > 60 && {station}.summary")
    world.until(visitor, "[...document.querySelectorAll('button[disabled]')].some((e) => e.title === Seismote.text.station.extremes.mayNot)")
    visitor.evaluate("location.hash = '#/station/garage/settings'; null")
    world.until(visitor, "document.body.textContent.includes(Seismote.text.settings.readOnly)")
    world.until(visitor, "[...document.querySelectorAll('[data-key] input, [data-key] select')].length > 20")
    free = visitor.evaluate("[...document.querySelectorAll('[data-key] input, [data-key] select')].filter((e) => !e.disabled &&"
                            " !e.readOnly).map((e) => e.outerHTML.slice(0, 80))")
    assert not free, f"a visitor may type: {free[:3]}"
    world.picture(visitor, "settings-read-only")
    rev = visitor.evaluate(f"{station}.config.rev")

    operator = signed_in(world, broker, "operator", "#/station/garage/settings")
    world.until(operator, READY)
    operator.fill(field("trace.rate_hz"), "10 Hz")
    apply(world, operator)
    world.until(operator, f"{station}.config.config.trace.rate_hz === 10")
    # The visitor sees it at once.
    world.until(visitor, f"{station}.config.config.trace.rate_hz === 10 && {station}.config.rev > {rev}")
    world.stop("garage")
    broker.kill()


def case_over_wss(world):
    broker = world.another_broker("encrypted", certificate=True)
    world.agent("vault", broker=broker)
    page = world.page(f"?broker=wss://127.0.0.1:{broker.web}#/station/vault")
    world.until(page, "Seismote.fleet.stations.get('vault')?.traces.end > 60")
    assert page.evaluate("performance.getEntriesByType('navigation')[0].name").startswith("http://")
    world.stop("vault")
    broker.kill()
