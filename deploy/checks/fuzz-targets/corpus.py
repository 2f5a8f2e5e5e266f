"""Inputs of a fuzz target as lines of hexadecimal digits, one file instead of hundreds.

    corpus.py unpack FILE FOLDER    each line becomes a file of the folder
    corpus.py pack FOLDER FILE      and back, in the order of their bytes
"""

import hashlib
import pathlib
import sys

verb, source, target = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
if verb == "unpack":
    for line in source.read_text().split():
        data = bytes.fromhex(line)
        (target / hashlib.sha1(data).hexdigest()).write_bytes(data)
elif verb == "pack":
    inputs = sorted(path.read_bytes() for path in source.iterdir())
    target.write_text("".join(data.hex() + "\n" for data in inputs if data))
else:
    sys.exit(f"unpack or pack, not {verb}")
