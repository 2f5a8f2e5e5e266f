"""The page through its login, in a real browser.

page.py USER PASSWORD STATION PICTURE [SHAKING]     SHAKING: the picture is made when the page says that the station shakes; so
                                                    many seconds are waited for that"""
import sys

from playwright.sync_api import sync_playwright

user, password, station, picture = sys.argv[1:5]
with sync_playwright() as play:
    browser = play.chromium.launch(executable_path="/usr/bin/chromium-headless-shell", args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"])
    page = browser.new_context(ignore_https_errors=True, viewport={"width": 1100, "height": 800}).new_page()
    page.goto("https://localhost/")
    form = page.locator("dialog[open]")
    form.wait_for(timeout=30000)
    if page.locator("main").get_by_text(station).count():
        sys.exit("the station is shown before anybody has signed in")
    fields = form.locator("input")
    form.locator("input:not([type=password]):not([type=checkbox])").first.fill(user)
    form.locator("input[type=password]").fill(password)
    # (An alarm that is not shown lies in the dialog, too.)
    form.locator("button[type=submit]").click()
    page.locator("main").get_by_text(station).first.wait_for(timeout=30000)
    page.locator("main").get_by_text(station).first.click()
    page.locator("canvas").first.wait_for(timeout=30000)
    # Live: the graph is another one a moment later.
    before = page.locator("canvas").first.screenshot()
    for _ in range(100):
        page.wait_for_timeout(300)
        if page.locator("canvas").first.screenshot() != before:
            break
    else:
        sys.exit("the graph stands still")
    print("live", flush=True)
    if len(sys.argv) > 5:
        page.locator("main").get_by_text("shaking", exact=True).first.wait_for(timeout=float(sys.argv[5]) * 1000)
        page.wait_for_timeout(10000)
    page.wait_for_timeout(5000)
    page.screenshot(path=picture)
    browser.close()
