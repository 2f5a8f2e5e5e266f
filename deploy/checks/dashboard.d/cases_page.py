"""The overview, a station's live page, and the connection."""

import json
import time

from cases_fleet import measuring, metrics
from looks import coloured
from marks import at_night, early, measures

STATION = "Seismote.fleet.stations.get('demo')"
STEADY = {"sensor": {"rate_hz": 100}}
STEADY_STATION = "Seismote.fleet.stations.get('steady')"
# How much of the picture is in a colour of the theme: pixels of a canvas near to the value of a CSS property.
COLOURED = coloured(48)
LOOK = """(selector) => {
  const canvas = document.querySelector(selector);
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let sum = 0;
  for (let i = 0; i < data.length; i += 4) sum = (Math.imul(sum, 31) + data[i] + 3 * data[i + 1] + 7 * data[i + 2] + 11 * data[i + 3]) | 0;
  return sum;
}"""
# Frames that were drawn, where the playhead was at each, for that many milliseconds.
FRAMES = """(milliseconds) => new Promise((resolve) => {
  const positions = [];
  const { graphs } = Seismote.live;
  const began = performance.now(), first = graphs.frames;
  let last = first;
  const look = () => {
    if (graphs.frames !== last) positions.push(graphs.edge);
    last = graphs.frames;
    if (performance.now() - began < milliseconds) requestAnimationFrame(look);
    else resolve({ perSecond: (graphs.frames - first) / (performance.now() - began) * 1000, positions });
  };
  requestAnimationFrame(look);
})"""


def graph(axis):
    return f'canvas.graph[data-axis="{axis}"]'


@measures
def case_first_paint(world):
    page = world.page()
    world.until(page, "performance.getEntriesByName('first-contentful-paint').length > 0 && Seismote.link.state === 'online'")
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    size = page.evaluate("performance.getEntriesByType('resource').reduce((sum, entry) => sum + entry.decodedBodySize, 0)")
    names = page.evaluate("performance.getEntriesByType('resource').map((entry) => entry.name)")
    sent = page.evaluate("performance.getEntriesByType('navigation')[0].encodedBodySize") + size
    assert painted < 5000, f"first paint after {painted:.0f} ms"
    # The rest is in index.html, and nothing comes from elsewhere.
    base = world.broker.page.rsplit("/", 1)[0]
    assert len(names) == 2 and f"{base}/page.json" in names and all(name.startswith(f"{base}/") for name in names), names
    assert sent < 300000, f"{sent / 1000:.0f} kB"
    return f"{painted:.0f} ms; {len(names) + 1} files, {sent / 1000:.0f} kB"


def case_station_appears(world):
    broker = world.another_broker("empty")
    page = world.page(broker=broker)
    world.until(page, "Seismote.link.state === 'online'")
    world.until(page, "document.querySelector('.waiting-note') && !document.querySelector('.station-card')")
    world.agent("first", broker=broker)
    page.wait_for_selector(".station-card[data-id=first] .badge[data-state=good]")
    world.until(page, "/\\d/.test(document.querySelector('.station-card .pga .value').textContent)")
    page.click(".station-card[data-id=first] a.whole")
    page.wait_for_selector("main.station h1")
    world.until(page, "Seismote.fleet.stations.get('first').traces.end > 100")
    assert page.title().startswith("first"), page.title()
    world.stop("first")
    broker.kill()
    return f"MQTT {page.evaluate('Seismote.link.version')}"


@early
def case_earthquake_is_seen(world):
    world.quake()
    page = world.page("#/station/demo", size=(1440, 1000))
    # From its beginning, to see it come: the recording is played in a loop, and begins with half a minute of quiet.
    world.until(page, f"{STATION}?.summary?.triggered === true")
    world.until(page, f"['VII', 'VIII', 'IX'].includes(document.querySelector('.step-now').textContent)")
    page.wait_for_selector(".measures .badge[data-state=bad]")
    page.wait_for_selector(".events tbody tr.running")
    found = {}
    for name in ("--raw", "--filtered", "--rms", "--trigger"):
        world.until(page, f"({COLOURED})({json.dumps([graph('y'), name])}) > 40")
        found[name[2:]] = page.evaluate(COLOURED, [graph("y"), name])
    world.until(page, f"({COLOURED})(['canvas.scope', '--filtered']) > 40")
    world.picture(page, "station-light")
    world.picture(page, "station-light-whole", whole=True)
    world.until(page, "document.querySelector('.events tbody tr:not(.running)')")
    return ", ".join(f"{name} {count}" for name, count in found.items()) + " pixels"


def processors():
    """Time of all processors since the start of the machine, and how much of it they were idle."""
    with open("/proc/stat", encoding="ascii") as file:
        times = [int(word) for word in file.readline().split()[1:9]]
    return sum(times), times[3]


@early
@measures
def case_traces_move_smoothly(world):
    world.quake()
    page = world.page("#/station/demo", size=(1440, 1000))
    world.until(page, f"{STATION}?.traces.end > 200")
    before, looks = page.evaluate(f"{STATION}.traces.end"), {page.evaluate(LOOK, graph("x"))}
    for _ in range(4):
        was = page.evaluate("Seismote.live.graphs.frames")
        world.until(page, f"Seismote.live.graphs.frames > {was + 3}")
        looks.add(page.evaluate(LOOK, graph("x")))
    world.until(page, f"{STATION}.traces.end > {before}")
    assert len(looks) >= 4, f"{len(looks)} different pictures of 5"
    # The best of several windows: other work on this machine is not the page's.
    best, still, busy = 0, 1, True
    for _ in range(6):
        idle = processors()
        seen = page.evaluate(FRAMES, 2500)
        idle = [after - before for before, after in zip(idle, processors())]
        busy = busy and idle[1] < 0.25 * idle[0]
        moves = [b - a for a, b in zip(seen["positions"], seen["positions"][1:])]
        assert all(move >= 0 or move < -30 for move in moves), "the playhead went back"
        best = max(best, seen["perSecond"])
        still = min(still, sum(move == 0 for move in moves) / max(1, len(moves)))
        if best >= 25 and still < 0.05:
            break
    # Where the processors were never idle for a quarter of the time, others had them: the number says nothing of the page.
    assert best >= (2 if busy else 15), f"{best:.1f} pictures a second"
    assert still < 0.25, f"{still:.0%} of the pictures did not move"
    return f"{best:.1f} pictures a second, {still:.0%} of them without motion{', on a busy machine' if busy else ''}"


MARKS = "Seismote.fleet.stations.get('turned').traces.marks"


def case_restart_and_other_axes_are_marked(world):
    """Where a station began anew, and where its axes began to point elsewhere, its live graphs have a line."""
    broker = world.another_broker("marked")
    agent = world.agent("turned", {"sensor": {"simulate": {"scenario": "quiet"}}}, broker=broker)
    page = world.page("#/station/turned", broker=broker, size=(1280, 900))
    world.until(page, "Seismote.fleet.stations.get('turned')?.traces.end > 60 && Seismote.fleet.knows('turned', 'config')")
    page.select_option(".toolbar select[aria-label=Span]", "60")
    world.until(page, "Seismote.live.graphs.span === 60")
    assert page.evaluate(MARKS) == []
    lines = coloured(24)
    before = page.evaluate(lines, [graph("x"), "--accent"])
    page.evaluate("Seismote.link.command('turned', 'config', { set: { sensor: { mounting: { x: '+x', y: '-y', z: '-z' } } } }).then(() => null)")
    world.until(page, f"{MARKS}.some(({{ kind }}) => kind === 'axes')", 20)
    agent.stop()
    agent.start()
    world.until(page, f"{MARKS}.some(({{ kind }}) => kind === 'restart')", 30)
    world.until(page, f"({lines})({json.dumps([graph('x'), '--accent'])}) > {before + 40}", 10)
    world.picture(page, "marked")
    kinds = page.evaluate(f"{MARKS}.map(({{ kind }}) => kind)")
    world.stop("turned")
    broker.kill()
    return " ".join(kinds)


@early
@measures
def case_what_it_costs(world):
    if "demo" in world.agents:
        world.stop("demo")
    world.agent("steady", STEADY)
    page = world.page("#/station/steady", size=(1440, 1000))
    world.until(page, f"{STEADY_STATION}?.traces.end > 100")
    session = measuring(page)
    shares = []
    for _ in range(3):
        first, frames, began = metrics(session), page.evaluate("Seismote.live.graphs.frames"), time.monotonic()
        world.until(page, f"Seismote.live.graphs.frames > {frames + 90}")
        last, took = metrics(session), time.monotonic() - began
        shares.append((last["ThreadTime"] - first["ThreadTime"]) / took)
    # Headless, the drawing itself is this thread's work too; where there is a graphics chip it is not.
    assert min(shares) < 0.6, f"{min(shares):.0%} of a core"
    return f"page's thread {min(shares):.0%} of a core with drawing in software, {last['JSHeapUsedSize'] / 1e6:.0f} MB of scripts' memory"


def case_pause_zoom_span_and_keys(world):
    # On a station whose time goes on: a recording in a loop begins again.
    world.agent("steady", STEADY)
    page = world.page("#/station/steady", size=(1280, 900))
    world.until(page, f"{STEADY_STATION}?.traces.end > 100")
    page.focus(graph("x"))
    page.keyboard.press("Space")
    assert page.evaluate("Seismote.live.graphs.paused")
    assert page.inner_text(".pause") == page.evaluate("Seismote.text.station.graphs.resume")
    frames = page.evaluate("Seismote.live.graphs.frames")
    world.until(page, f"Seismote.live.graphs.frames > {frames + 3}")
    edge = page.evaluate("Seismote.live.graphs.edge")
    end = page.evaluate(f"{STEADY_STATION}.traces.end")
    world.until(page, f"{STEADY_STATION}.traces.end > {end} + 40")
    assert page.evaluate("Seismote.live.graphs.edge") == edge, "moves although paused"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("Seismote.live.graphs.edge") < edge, "did not go back"
    page.keyboard.press("+")
    assert page.evaluate("Seismote.live.graphs.zoom") == 2
    page.keyboard.press("0")
    assert page.evaluate("Seismote.live.graphs.zoom") == 1
    page.keyboard.press("]")
    assert page.evaluate("Seismote.live.graphs.span") == 30
    page.keyboard.press("Space")
    assert not page.evaluate("Seismote.live.graphs.paused")
    for value in ("3600", "10.24"):
        page.select_option(".toolbar select[aria-label=Span]", value)
        frames = page.evaluate("Seismote.live.graphs.frames")
        world.until(page, f"Seismote.live.graphs.frames > {frames + 2}")
    page.click(".legend .signal.raw")
    world.until(page, f"({COLOURED})({json.dumps([graph('y'), '--raw'])}) < 15")
    page.select_option(".graphs .choice:has-text('Unit') select", "m/s²")
    world.until(page, "document.querySelector('.measures .value').textContent.includes('m/s²')")
    page.select_option(".graphs .choice:has-text('Unit') select", "%g")
    world.until(page, "document.querySelector('.measures .value').textContent.includes('% g')")
    world.stop("steady")


def case_extremes_are_reset(world):
    world.quake()
    page = world.page("#/station/demo", size=(1280, 900))
    world.until(page, f"{STATION}?.summary?.extremes")
    page.wait_for_selector(".card:has-text('Vector and components') button:not([disabled])")
    since = page.evaluate(f"{STATION}.summary.extremes.x.since")
    page.click(".card:has-text('Vector and components') button")
    world.until(page, f"{STATION}.summary.extremes.x.since !== '{since}'")


def case_broker_killed_and_back(world):
    world.quake()
    page = world.page("#/station/demo")
    world.until(page, f"{STATION}?.traces.end > 40")
    world.broker.kill()
    world.until(page, "document.querySelector('.connection').dataset.state !== 'online'")
    world.picture(page, "disconnected")
    end = page.evaluate(f"{STATION}.traces.end")
    generation = page.evaluate(f"{STATION}.traces.generation")
    world.broker.start()
    began = time.monotonic()
    world.until(page, "document.querySelector('.connection').dataset.state === 'online'")
    back = time.monotonic() - began
    world.until(page, f"{STATION}.traces.end > {end} || {STATION}.traces.generation > {generation}")
    return f"back after {back:.1f} s, traces after {time.monotonic() - began:.1f} s"


def case_credentials_wrong_and_right(world):
    broker = world.another_broker("closed", users={"ada": "right-one"})
    broker.publish("seismote/attic/state/online", "online", user="ada")
    page = world.page(broker=broker)
    page.wait_for_selector("dialog.sign-in")
    world.picture(page, "sign-in")
    page.fill("dialog input[name=user]", "ada")
    page.fill("dialog input[name=password]", "wrong-one")
    page.keyboard.press("Enter")
    world.until(page, "document.querySelector('dialog [role=alert]')?.textContent === Seismote.text.link.denied")
    assert page.input_value("dialog input[name=user]") == "ada"
    page.fill("dialog input[name=password]", "right-one")
    page.click("dialog button.primary")
    page.wait_for_selector(".station-card[data-id=attic]")
    assert page.evaluate("document.querySelector('dialog') === null")
    # The next visit in this tab needs no sign-in; a restart of the broker neither.
    page.reload()
    page.wait_for_selector(".station-card[data-id=attic]")
    broker.kill()
    world.until(page, "Seismote.link.state === 'waiting'")
    broker.start()
    world.until(page, "Seismote.link.state === 'online'")
    broker.kill()


@at_night
def case_widths_and_themes(world):
    world.quake()
    for theme in ("light", "dark"):
        for name, size in (("desktop", (1440, 900)), ("tablet", (820, 1100)), ("phone", (390, 844))):
            for view, where in (("overview", "#/"), ("station", "#/station/demo")):
                page = world.page(where, size=size, theme=theme)
                ready = "document.querySelector('.station-card .pga .value')?.textContent.length > 2" if view == "overview" \
                    else f"{STATION}?.traces.end > 60 && document.querySelector('.dial')"
                world.until(page, ready)
                wide = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
                assert wide[0] <= wide[1], f"{view} on a {name} is {wide[0]} wide, has {wide[1]}"
                nameless = page.evaluate(
                    "[...document.querySelectorAll('button, a, input, select, canvas, svg[role]')].filter((e) => e.ariaHidden !== 'true' && !(e.textContent.trim()"
                    " || e.ariaLabel || e.getAttribute('aria-label') || e.labels?.length)).map((e) => e.outerHTML.slice(0, 80))")
                assert not nameless, f"without a name: {nameless}"
                world.picture(page, f"{view}-{name}-{theme}")
                if name == "phone":
                    world.picture(page, f"{view}-{name}-{theme}-whole", whole=True)
                world.close_page(page)
