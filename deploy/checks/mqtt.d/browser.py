"""Debian's Chromium without a window, as all checks use it.

browser.py USER PASSWORD STATION PICTURE [SHAKING]    signs in at the page of this machine, sees that the station is live, and takes
                                                      a picture, with SHAKING once the station shakes within so many seconds"""

import sys


def chromium(playwright):
    """Of playwright's two interfaces that which it is given."""
    return playwright.chromium.launch(
        executable_path="/usr/bin/chromium-headless-shell", headless=True,
        args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--mute-audio"])


def look(address, user, password, station, picture, shaking=0.0):
    """Signs in, goes to the station and sees that its graph moves; waits until it shakes; takes a picture."""
    from playwright.sync_api import sync_playwright
    with sync_playwright() as play:
        browser = chromium(play)
        page = browser.new_context(ignore_https_errors=True, viewport={"width": 1100, "height": 900}).new_page()
        page.set_default_timeout(60000)
        page.goto(address)
        form = page.locator("dialog[open]")
        form.wait_for()
        assert not page.locator("main").get_by_text(station).count(), "the station is shown before anybody has signed in"
        form.locator("input:not([type=password]):not([type=checkbox])").first.fill(user)
        form.locator("input[type=password]").fill(password)
        # (An alarm that is not shown lies in the dialog, too.)
        form.locator("button[type=submit]").click()
        page.locator("main").get_by_text(station).first.click()
        graph = page.locator("canvas").first
        graph.wait_for()
        before = graph.screenshot()
        for _ in range(100):
            page.wait_for_timeout(300)
            if graph.screenshot() != before:
                break
        else:
            raise AssertionError("the graph stands still")
        print("live", flush=True)
        if shaking:
            page.locator("main").get_by_text("shaking", exact=True).first.wait_for(timeout=shaking * 1000)
        page.wait_for_timeout(5000)
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    look("https://localhost/", *sys.argv[1:5], *map(float, sys.argv[5:]))
