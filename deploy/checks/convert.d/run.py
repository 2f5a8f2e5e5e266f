"""run.py AGENT TOOL FOLDER RECORDING: see deploy/checks/convert."""

import asyncio
import csv
import glob
import json
import os
import subprocess
import sys
import time

import numpy as np
import obspy
from obspy.io.stationxml.core import validate_stationxml
from pymseed import MS3Record

from agent import merge, playing
from kinds import Mosquitto
from verdict import expect, finish, wait_until

agent, tool, folder, recording = sys.argv[1:]
SCALES = {"E": 4.674e-06, "N": 4.677e-06, "Z": 4.679e-06}
SCALE = ",".join(str(one) for one in SCALES.values())


def path(name):
    return os.path.join(folder, name)


def run(*words, status=0):
    done = subprocess.run([tool, *words], capture_output=True, text=True)
    expect(done.returncode == status, f"{' '.join(words)}: {done.returncode}, {done.stderr[:300]}")
    return done.stdout if status == 0 else done.stderr


def convert(*words, status=0):
    return run("convert", *words, status=status)


def samples(stream):
    """{channel: {time in ns: value}} of what ObsPy has read."""
    found = {}
    for trace in stream:
        start, step = trace.stats.starttime.ns, 1e9 / trace.stats.sampling_rate
        found.setdefault(trace.id, {}).update(
            (round((start + i * step) / 1000), value) for i, value in enumerate(trace.data.tolist()))
    return found


def version3(name):
    found = {}
    for record in MS3Record.from_file(path(name), unpack_data=True):
        network, station, location, *channel = record.sourceid[5:].split("_")
        step = 1e9 / record.samprate
        found.setdefault(f"{network}.{station}.{location}.{''.join(channel)}", {}).update(
            (round((record.starttime + i * step) / 1000), int(value)) for i, value in enumerate(record.np_datasamples))
    return found


def rows(name):
    with open(path(name), encoding="utf-8") as file:
        lines = list(csv.reader(file))
    return lines[0], {obspy.UTCDateTime(line[0]).ns // 1000: [float(one) for one in line[1:]] for line in lines[1:]}


def files():
    """From file to file."""
    original = samples(obspy.read(recording))
    convert(recording, "--output", path("a.mseed"))
    expect(samples(obspy.read(path("a.mseed"))) == original, "miniSEED 2 is not the recording")
    convert(recording, "--output", path("a.mseed3"), "--scale", SCALE)
    expect(version3("a.mseed3") == original, "miniSEED 3 is not the recording")
    units = {record.sourceid[-1]: json.loads(record.extra)["seismote"]["unit_per_count"]
             for record in MS3Record.from_file(path("a.mseed3"))}
    expect(units == SCALES, f"units of counts: {units}")
    convert(path("a.mseed3"), "--output", path("b.mseed"))
    expect(samples(obspy.read(path("b.mseed"))) == original, "2 to 3 to 2 is not the recording")
    # Day files, also from pieces in any order, some of them twice.
    whole = obspy.read(recording)
    start, names = whole[0].stats.starttime, []
    for number, (begin, end) in enumerate([(60, 120), (0, 50), (40, 70)]):
        names.append(path(f"piece{number}.mseed"))
        whole.slice(start + begin, start + end).write(names[-1], format="MSEED")
    convert(*names, "--output", path("sds/"))
    day = glob.glob(path("sds/2019/CI/CLC/HN?.D/CI.CLC..HN?.D.2019.187"))
    expect(len(day) == 3, f"files of the archive: {day}")
    expect(samples(obspy.read(path("sds/2019/CI/CLC/*.D/*"))) == original, "the archive is not the recording")
    convert(recording, "--output", path("sds/"))
    expect(samples(obspy.read(path("sds/2019/CI/CLC/*.D/*"))) == original, "what is there already is there twice")
    convert(path("sds"), "--output", path("c.mseed"))
    expect(samples(obspy.read(path("c.mseed"))) == original, "from the archive")
    from obspy.clients.filesystem.sds import Client
    expect(samples(Client(path("sds")).get_waveforms("CI", "CLC", "", "HN?", start, start + 200)) == original,
           "ObsPy's client of archives finds something else")
    # A gap, and midnight.
    gap = obspy.Stream([whole.select(channel="HNZ")[0].slice(start, start + 20), whole.select(
        channel="HNZ")[0].slice(start + 30, start + 40)])
    for trace in gap:
        trace.stats.starttime += obspy.UTCDateTime("2019-07-06T23:59:45") - start
    gap.write(path("gap.mseed"), format="MSEED")
    convert(path("gap.mseed"), "--output", path("midnight/"))
    found = sorted(glob.glob(path("midnight/*/*/*/*/*")))
    expect([one[-3:] for one in found] == ["187", "188"], f"files over midnight: {found}")
    expect(samples(obspy.read(path("midnight/*/*/*/*/*"))) == samples(gap), "gap and midnight")
    expect(len(obspy.read(found[1])) == 2, "the gap is gone")
    # CSV and back.
    convert(recording, "--output", path("a.csv"), "--scale", SCALE)
    header, table = rows("a.csv")
    expect(header == ["t", "x", "y", "z"] and len(table) == 12_000, f"CSV: {header}, {len(table)} rows")
    for axis, (orientation, scale) in enumerate(SCALES.items()):
        wanted = original[f"CI.CLC..HN{orientation}"]
        expect(all(abs(table[t][axis] - value * scale) < 1e-12 for t, value in wanted.items()), f"CSV: {orientation}")
    convert(path("a.csv"), "--output", path("d.mseed"), "--codes", "XX.BASE.10", "--count", "1e-7")
    back = samples(obspy.read(path("d.mseed")))
    expect(set(back) == {f"XX.BASE.10.HN{one}" for one in SCALES}, f"channels: {set(back)}")
    for axis, orientation in enumerate(SCALES):
        expect(all(abs(value * 1e-7 - table[t][axis]) <= 0.51e-7 for t, value in back[
            f"XX.BASE.10.HN{orientation}"].items()), "CSV to miniSEED")
    convert(path("d.mseed"), "--output", path("e.csv"), "--scale", "1e-7")
    expect(len(rows("e.csv")[1]) == 12_000, "miniSEED to CSV")
    # A replay of the table is that of the recording.
    plain = run("replay", recording, "--scale", SCALE, "--quiet")
    again = run("replay", path("a.csv"), "--quiet")
    ends = [[line for line in text.splitlines() if '"end"' in line] for text in (plain, again)]
    expect(ends[0] and len(ends[0]) == len(ends[1]), "the replay of the table has other events")
    print("files: miniSEED 2 and 3, SDS, CSV there and back")


def messages(broker):
    """What a station sent."""
    original = samples(obspy.read(recording))
    for encoding in ("json", "cbor", "mseed2", "mseed3"):
        station = f"convert-{encoding}"
        lists = [path(f"{encoding}.{kind}") for kind in ("hex", "json")]
        readers = [broker.listener(name, "-t", f"seismote/{station}/{what}", "-F", form)
                   for name, what, form in zip(lists, ("#", "data/trace"), ("%t %x", "%j"))]
        time.sleep(0.3)
        settings = {"mqtt": {"uri": f"mqtt://127.0.0.1:{broker.port}"}, "trace": {"encoding": encoding, "rate_hz": 100},
                    "station": {"code": "CLC", "network": "CI", "location": "10"}}
        process = playing(agent, folder, station, recording, 20, settings)
        process.settings = merge(process.settings, {"sensor": {"replay": {"loop": False, "scale": 1e-6}}})
        process.start()
        wait_until(lambda: "event/last" in open(lists[0], errors="replace").read(), 60, f"{station}: an event")
        time.sleep(1)
        process.stop()
        for reader in readers:
            reader.terminate()
            reader.wait()
        convert(lists[0], "--only", "traces", "--output", path("t.mseed"))
        found = samples(obspy.read(path("t.mseed")))
        expect(set(found) == {f"CI.CLC.10.HN{one}" for one in SCALES}, f"{encoding}: channels {set(found)}")
        for name, values in found.items():
            wanted = original["CI.CLC.." + name[-3:]]
            expect(len(values) > 10_000 and all(abs(wanted[t] - value) <= 1 for t, value in values.items()),
                   f"{encoding}: {name} is not the recording")
        # The waveform in its own counts, complete.
        convert(lists[0], "--only", "waveforms", "--output", path("w.mseed"))
        found = samples(obspy.read(path("w.mseed")))
        for name, values in found.items():
            wanted = original["CI.CLC.." + name[-3:]]
            expect(len(values) > 3000 and all(wanted[t] == value for t, value in values.items()),
                   f"{encoding}: the waveform of {name} is not the recording")
        convert(lists[0], "--only", "waveforms", "--output", path("w.csv"))
        if encoding == "json":
            convert(lists[0], "--only", "traces", "--output", path("t.csv"))
            convert(lists[1], "--only", "traces", "--output", path("j.csv"))
            expect(rows("t.csv")[1] == rows("j.csv")[1], "the two forms of recorded messages differ")
            # What a station publishes as numbers with six digits.
            table = rows("t.csv")[1]
            expect(all(abs(table[t][2] - value * 1e-6) <= 1e-6 * abs(value * 1e-6) + 1e-12 for t, value in original[
                "CI.CLC..HNZ"].items() if t in table), "numbers of JSON traces")
            # Twice the same, and cut within a line.
            convert(lists[0], lists[0], "--only", "traces", "--output", path("twice.csv"))
            expect(rows("twice.csv")[1] == table, "messages that came twice")
            text = open(lists[0], "rb").read()
            with open(path("cut.hex"), "wb") as file:
                file.write(text[: text.index(b"data/trace") + 501])
            expect("cut.hex:" in convert(path("cut.hex"), "--output", path("x.csv"), status=65), "a cut line")
    print("messages: traces in JSON, CBOR and miniSEED, waveforms")


def refusals():
    with open(path("noise.mseed"), "wb") as file:
        file.write(open(recording, "rb").read()[:300])
    expect("record" in convert(path("noise.mseed"), "--output", path("x.mseed"), status=65), "a cut record alone")
    with open(path("cut.mseed"), "wb") as file:
        file.write(open(recording, "rb").read()[:3000])
    convert(path("cut.mseed"), "--output", path("x.mseed"))
    whole, cut = (obspy.read(name)[0] for name in (recording, path("x.mseed")))
    expect(0 < len(cut) < len(whole) and list(cut.data) == list(whole.data[:len(cut)]), "the records before a cut one")
    expect("No such file" in convert(path("none"), "--output", path("x.mseed"), status=65), "no file")
    expect("--to" in convert(recording, "--output", path("x.what"), status=64), "no form")
    expect("--scale" in convert(recording, "--output", path("x.csv"), status=65), "counts without a scale")
    expect("no samples" in convert(path("broker.txt") if os.path.exists(path("broker.txt")) else empty(), "--output",
                                   path("x.mseed"), status=65), "no samples")
    print("refusals: each with its reason")


def empty():
    with open(path("empty.txt"), "w", encoding="utf-8") as file:
        file.write("seismote/a/state/online 6f6e6c696e65\n")
    return path("empty.txt")


def response():
    """The amplitude of sines that were played, against the response by ObsPy."""
    settings = path("xml.yaml")
    for phase in ("linear-phase", "iir"):
        with open(settings, "w", encoding="utf-8") as file:
            json.dump({"station": {"code": "BASE", "latitude": 1, "longitude": 2},
                       "trace": {"filter": phase, "rate_hz": 20, "signals": ["raw"]}}, file)
        text = run("stationxml", "--config", settings, "--start", "2020-01-01T00:00:00Z")
        with open(path("station.xml"), "w", encoding="utf-8") as file:
            file.write(text)
        valid, errors = validate_stationxml(path("station.xml"))
        expect(valid, f"StationXML: {errors}")
        inventory = obspy.read_inventory(path("station.xml"))
        traces = {one.code: one for one in inventory[0][0]}
        expect(set(traces) == {"HNE", "HNN", "HNZ", "BNE", "BNN", "BNZ"}, f"channels: {set(traces)}")
        whole = traces["BNZ"].response
        worst_gain = worst_phase = 0
        for frequency in (0.5, 2, 5, 7, 8):
            times = np.arange(6000) / 100
            with open(path("sine.csv"), "w", encoding="utf-8") as file:
                file.write("t,x,y,z\n")
                file.writelines(f"{1.6e9 + t:.2f},0,0,{v:.9f}\n" for t, v in zip(
                    times, 10 * np.sin(2 * np.pi * frequency * times)))
            lines = [json.loads(line) for line in run(
                "replay", path("sine.csv"), "--config", settings, "--quiet").splitlines()]
            blocks = [one["payload"] for one in lines if one["topic"].endswith("/trace")]
            value = np.concatenate([one["z"]["raw"] for one in blocks])
            at = np.concatenate([obspy.UTCDateTime(one["t"]).timestamp - 1.6e9 + np.arange(one["n"]) / 20
                                 for one in blocks])
            value, at = value[200:-200], at[200:-200]
            matrix = np.column_stack([np.sin(2 * np.pi * frequency * at), np.cos(2 * np.pi * frequency * at)])
            a, b = np.linalg.lstsq(matrix, value, rcond=None)[0]
            played = (a + 1j * b) / 10
            said = whole.get_evalresp_response_for_frequencies(np.array([float(frequency)]), output="ACC")[0] / 1e6
            # Of a recursive filter the times are corrected by one delay for all frequencies.
            said *= np.exp(2j * np.pi * frequency * (
                whole.response_stages[-1].decimation_correction if phase == "iir" else 0))
            worst_gain = max(worst_gain, abs(abs(played) / abs(said) - 1))
            worst_phase = max(worst_phase, abs(np.angle(played / said)))
        print(f"response, {phase}: gain within {100 * worst_gain:.4f} %, phase within {worst_phase:.6f} rad")
        expect(worst_gain < 1e-3 and worst_phase < 1e-3, "the response is not that of the station")


def main():
    files()
    refusals()
    response()
    broker = Mosquitto(folder)
    asyncio.run(broker.start())
    try:
        messages(broker)
    finally:
        broker.stop()


finish(main)
