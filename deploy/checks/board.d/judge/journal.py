"""The emulator's journal of one chip (see emulator/journal.py)."""

import array
import json


class Journal:
    """`counts` (x, y, z), `taken` and `read` (ns of UTC), each with one entry for each sample in the order of reading."""

    def __init__(self, name):
        with open(name + ".json", encoding="ascii") as file:
            self.about = json.load(file)
        numbers = array.array("q")
        with open(name + ".samples", "rb") as file:
            numbers.frombytes(file.read())
        self.number = numbers[0::6]
        self.taken = numbers[1::6]
        self.read = numbers[2::6]
        self.counts = list(zip(numbers[3::6], numbers[4::6], numbers[5::6]))
        self.count = self.about["count"]
        self.rate = self.about["rate"] * (1 + self.about["clock_error"])
        self.begin = next((event["t"] for event in self.about["events"] if event["what"] == "begin"), None)
