"""What the feed gives away by itself: a DataLink server and a listener of Raspberry Shake's datagrams, as strict as the
real ones and with fewer manners."""

import ast
import random
import re
import socket
import threading

import numpy as np


class DataLink:
    """Takes records as ringserver does; now and then it drops the connection, with or without acknowledging."""

    GREETING = "ID DataLink 2025.120 (check) :: DLPROTO:1.1 PACKETSIZE:512 WRITE"
    WRITE = re.compile(r"WRITE ([A-Z0-9]{1,2})_([A-Z0-9]{1,5})_([A-Z0-9]{0,2})_([A-Z0-9]{3})/MSEED (\d+) (\d+) A 512")

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        # (stream, start and end in microseconds, record) in the order in which they came; connections; what is wrong.
        self.records, self.connections, self.wrong = [], 0, []
        self.dice, self.number = random.Random(2), 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client, _ = self.listener.accept()
            self.connections += 1
            try:
                with client:
                    client.settimeout(60)
                    self.talk(client, client.makefile("rb"))
            except OSError:
                pass

    @staticmethod
    def answer(client, header):
        client.sendall(b"DL" + bytes([len(header)]) + header.encode())

    def talk(self, client, stream):
        left = self.dice.randint(80, 300)
        greeted = False
        while left > 0:
            start = stream.read(3)
            if len(start) < 3:
                return
            if start[:2] != b"DL":
                self.wrong.append(f"a packet begins with {start!r}")
                return
            header = stream.read(start[2]).decode()
            if header.startswith("ID ") and not greeted:
                greeted = True
                self.answer(client, self.GREETING)
                continue
            match = self.WRITE.fullmatch(header)
            if not match or not greeted:
                self.wrong.append(f"header {header!r}")
                return
            record = stream.read(512)
            if len(record) < 512:
                return
            network, station, location, channel, begin, end = match.groups()
            named = (record[18:20].decode().strip(), record[8:13].decode().strip(), record[13:15].decode().strip(),
                     record[15:18].decode())
            if named != (network, station, location, channel) or int(begin) > int(end):
                self.wrong.append(f"{header!r} is of {named}")
            self.records.append((f"{network}.{station}.{location}.{channel}", int(begin), int(end), record))
            left -= 1
            self.number += 1
            # The last record of a connection is taken, and not acknowledged.
            if left:
                self.answer(client, f"OK {self.number} 0")

    def judge(self, reader, expect):
        """All that SeedLink's client has got is there, and little of it twice. Returns how many records there are."""
        for text in self.wrong[:5]:
            expect(False, f"DataLink: {text}")
        expect(self.connections >= 2, "DataLink: one connection only")
        came = {record for *_, record in self.records}
        lacking = [record for record in reader.records if record not in came]
        expect(not lacking, f"DataLink: {len(lacking)} of {len(reader.records)} records did not come")
        twice = len(self.records) - len(came)
        expect(twice <= 64 * (self.connections - 1), f"DataLink: {twice} records came twice")
        return len(came), twice


class Shake:
    """Listens as rsudp does."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.datagrams = []
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            self.datagrams.append(self.socket.recv(4096))

    def judge(self, series, reader, station, expect, differences):
        """The samples are those of SeedLink's client. Returns how many were compared."""
        compared = 0
        found = {}
        for datagram in self.datagrams:
            # The braces make it a set in Python, which has no order: a tuple it is.
            channel, time, *samples = ast.literal_eval("(" + datagram.decode()[1:-1] + ")")
            expect(len(samples) == 25 and len(datagram) < 1500, f"a datagram of {len(samples)} samples")
            found.setdefault(channel, []).append((time, samples))
        expect(set(found) == {"ENE", "ENN", "ENZ"}, f"channels of the Shake: {sorted(found)}")
        for channel, parts in found.items():
            times = [round(time * 1e9) + index * 10_000_000 for time, samples in parts for index in range(len(samples))]
            values = [value for _, samples in parts for value in samples]
            expect(all(one < other for one, other in zip(times, times[1:])), f"{channel}: not in order")
            known = series(reader.traces.get(f"XX.{station}.00.H{channel[1:]}", []))
            wrong = differences(known, (np.array(times), np.array(values)))
            expect(not wrong.any(), f"{channel}: {int((wrong != 0).sum())} samples are others than those of SeedLink")
            compared += len(wrong)
        return compared
