"""Finds each sample that the agent published among those that the chip handed out."""


class Match:
    """`index[i]` is the place in the journal of the agent's sample i (None: the chip has never handed it out);
    `starts` are (t in ns, gap, number of the block's first sample among the agent's)."""

    def __init__(self, blocks, journal, count=None):
        count = count or journal.count
        self.journal = journal
        self.index, self.starts, self.values = [], [], []
        self.breaks = []
        place = None
        for moment, gap, _, values in blocks:
            self.starts.append((moment, gap, len(self.index)))
            counts = [tuple(round(axis / count) for axis in sample) for sample in values]
            self.values.extend(values)
            for i, sample in enumerate(counts):
                if place is None or place >= len(journal.counts) or journal.counts[place] != sample:
                    found = self.find(journal, counts[i:i + 8], place or 0)
                    if place is not None or found is None:
                        self.breaks.append((len(self.index), place, found))
                    if found is None:
                        self.index.append(None)
                        continue
                    place = found
                self.index.append(place)
                place += 1

    @staticmethod
    def find(journal, samples, place):
        """Where these samples follow each other, from a place on."""
        counts, first, length = journal.counts, samples[0], len(samples)
        for start in range(place, len(counts) - length + 1):
            if counts[start] == first and counts[start:start + length] == samples:
                return start
        return None

    def first(self):
        """Place in the journal of the agent's first sample."""
        return self.index[0]

    def lost(self):
        """Samples that the chip took between the agent's first and its last and that are not among its own: handed out
        and not published, or never handed out because the FIFO ran over."""
        known = [place for place in self.index if place is not None]
        if not known:
            return 0
        number = self.journal.number
        return number[known[-1]] - number[known[0]] + 1 - len({number[place] for place in known})

    def unpublished(self):
        """Samples that were handed out between the agent's first and its last and are not among its own. What a chip
        without FIFO takes between two readings is not among them."""
        known = [place for place in self.index if place is not None]
        return known[-1] - known[0] + 1 - len(set(known)) if known else 0

    def strangers(self):
        """Samples that the chip never handed out."""
        return sum(place is None for place in self.index)
