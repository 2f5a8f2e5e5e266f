"""The page of the broker's container, through its login, in a real browser."""

from playwright.sync_api import Error, sync_playwright


def look(address, password, picture, fault):
    """Signs in as viewer, waits until the station shakes, and takes a picture."""
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(
                executable_path="/usr/bin/chromium-headless-shell", args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"])
            page = browser.new_context(ignore_https_errors=True, viewport={"width": 1100, "height": 900}).new_page()
            page.goto(address + "index.html")
            form = page.locator("dialog[open]")
            form.wait_for(timeout=60000)
            form.locator("input:not([type=password]):not([type=checkbox])").first.fill("viewer")
            form.locator("input[type=password]").fill(password)
            form.locator("input[type=password]").press("Enter")
            station = page.locator("main").get_by_text("demo").first
            station.wait_for(timeout=60000)
            station.click()
            page.locator("canvas").first.wait_for(timeout=60000)
            page.locator("main").get_by_text("shaking", exact=True).first.wait_for(timeout=180000)
            page.wait_for_timeout(5000)
            page.screenshot(path=picture)
            browser.close()
    except Error as error:
        fault(f"the page: {str(error)[:600]}")
