"""The earthquake as programs of seismologists read it from the feed's container: ObsPy's clients of SeedLink and of FDSN."""

import numpy
from obspy import UTCDateTime
from obspy.clients.fdsn import Client as Web
from obspy.clients.seedlink.basic_client import Client as SeedLink


def earthquake(seedlink, web, event):
    """By each service (samples, channels, peak in m/s²) of an event that has ended; whether both have the same samples; and how
    many events the event service has of that time."""
    onset = UTCDateTime(event["onset"])
    span = (onset - 5, onset + 20)
    # (ObsPy's client of SeedLink ends as soon as one channel is past the end: more is asked for, and cut here.)
    longer = (onset - 6, onset + 30)
    services = Web(f"http://127.0.0.1:{web}", timeout=30)
    by_web = services.get_waveforms("XX", "DEMO", "*", "*", *longer)
    codes = by_web[0].stats
    by_seedlink = SeedLink("127.0.0.1", seedlink, timeout=30).get_waveforms("XX", "DEMO", codes.location, codes.channel[:2] + "?", *longer)
    inventory = services.get_stations(network="XX", station="DEMO", level="response")
    scale = {channel.code: channel.response.instrument_sensitivity.value for channel in inventory[0][0]}
    found, result = {}, {}
    for name, stream in (("FDSN dataselect", by_web), ("SeedLink", by_seedlink)):
        stream.merge().trim(*span, nearest_sample=False)
        channels = found[name] = {trace.stats.channel: trace.data for trace in stream}
        peak = max(float(numpy.max(numpy.abs(data - numpy.mean(data)))) / scale[channel] for channel, data in channels.items())
        result[name] = (sum(len(data) for data in channels.values()), sorted(channels), peak)
    one, other = found.values()
    same = one.keys() == other.keys() and all(numpy.array_equal(one[channel], other[channel]) for channel in one)
    return result, same, len(services.get_events(starttime=span[0], endtime=span[1]))
