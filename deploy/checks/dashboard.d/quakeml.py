"""What a page saves as QuakeML, read by ObsPy and held against its schema."""

import io

import obspy
from obspy.io.quakeml.core import _validate


def catalogue(text):
    """The events of a document (bytes), which has to be valid."""
    assert _validate(io.BytesIO(text)), f"not valid as QuakeML 1.2: {text[:300]}"
    return obspy.read_events(io.BytesIO(text), format="QUAKEML")
