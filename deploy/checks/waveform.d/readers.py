"""Compares miniSEED files with the list beside them, as ObsPy and pymseed read them."""

import json
import pathlib
import sys

import numpy
import obspy
import pymseed

from verdict import Judge, verdict

folder = pathlib.Path(sys.argv[1])
judge = Judge()
expect = judge.expect


def check(reader, case, source, start, rate, samples):
    """Version 2 keeps microseconds and, for rates that are no simple fraction, single precision."""
    name = f"{case['file']} by {reader}"
    expect(source == case["source"], f"{name}: source {source}")
    expect(abs(start - case["start"]) <= (500 if case["format"] == 2 else 0), f"{name}: start {start}")
    expect(abs(rate / case["rate"] - 1) < (1e-7 if case["format"] == 2 else 1e-15), f"{name}: rate {rate}")
    expect(numpy.array_equal(samples, case["samples"]), f"{name}: {len(samples)} samples differ")


def by_pymseed(case):
    # A record is only valid until the next one is asked for.
    parts, first, position = [], None, 0
    for record in pymseed.MS3Record.from_file(str(folder / case["file"]), unpack_data=True, validate_crc=True):
        parts.append(numpy.array(record.datasamples, dtype=numpy.int64))
        first = first or (record.sourceid, record.starttime, record.samprate)
        expect(record.formatversion == case["format"], f"{case['file']}: format {record.formatversion}")
        wanted = case["start"] + position / case["rate"] * 1e9
        expect(abs(record.starttime - wanted) <= 1001, f"{case['file']}: a record starts at {record.starttime}")
        position += len(parts[-1])
    check("pymseed", case, *first, numpy.concatenate(parts))


def by_obspy(case):
    stream = obspy.read(str(folder / case["file"]))
    stream.merge(method=-1)
    expect(len(stream) == 1, f"{case['file']} by ObsPy: {len(stream)} traces")
    stats = stream[0].stats
    band, kind, orientation = stats.channel
    source = f"FDSN:{stats.network}_{stats.station}_{stats.location}_{band}_{kind}_{orientation}"
    check("ObsPy", case, source, stats.starttime.ns, stats.sampling_rate, stream[0].data)


cases = json.loads((folder / "expected.json").read_text())
read = {"pymseed": 0, "ObsPy": 0}
for case in cases:
    by_pymseed(case)
    read["pymseed"] += 1
    # ObsPy reads version 2 only (its libmseed is of the second series).
    if case["format"] == 2:
        by_obspy(case)
        read["ObsPy"] += 1

if verdict(judge.complaints) or not cases:
    sys.exit(f"{len(judge.complaints)} differences in {len(cases)} files")
print(", ".join(f"{count} files by {reader}" for reader, count in read.items()) + ": all samples, times and rates agree")
