"""Clients of the feed: ObsPy's of SeedLink 3, and one of our own for version 4."""

import logging
import socket
import struct
import threading
import time

from obspy.clients.seedlink.seedlinkexception import SeedLinkException
from obspy.clients.seedlink.slclient import SLClient
from obspy.clients.seedlink.slpacket import SLPacket

logging.getLogger("obspy.clients.seedlink").setLevel(logging.CRITICAL)


class Reader(SLClient):
    """ObsPy's client in a thread; it connects again by itself and goes on by sequence number."""

    def __init__(self, port, stations):
        super().__init__(timeout=30)
        self.slconn.set_sl_address(f"127.0.0.1:{port}")
        self.slconn.set_net_delay(1)
        self.slconn.set_net_timeout(4)
        self.multiselect = ",".join(f"{one}:???" for one in stations)
        self.initialize()
        self.numbers, self.traces, self.records, self.ending = {}, {}, [], False
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.failure = None
        self.thread.start()

    def follow(self):
        while not self.ending:
            try:
                self.run()
            except SeedLinkException:
                # Nobody listens: ObsPy leaves it to us to try again. It goes on by number.
                self.slconn.disconnect()
                time.sleep(0.3)
            except Exception as error:  # pylint: disable=broad-except  # is judged by the main thread
                self.failure = error
                return

    def packet_handler(self, count, slpack):
        if self.ending:
            return True
        if slpack is None or slpack in (SLPacket.SLNOPACKET, SLPacket.SLERROR):
            return False
        if slpack.get_type() in (SLPacket.TYPE_SLINF, SLPacket.TYPE_SLINFT):
            return False
        trace = slpack.get_trace()
        with self.lock:
            stats = trace.stats
            self.numbers.setdefault(f"{stats.network}_{stats.station}", []).append(slpack.get_sequence_number())
            self.traces.setdefault(trace.id, []).append(trace)
            self.records.append(bytes(slpack.msrecord))
        return False

    def count(self):
        with self.lock:
            return len(self.records)

    def stop(self):
        self.ending = True
        self.slconn.terminate()
        self.thread.join(15)
        return self


class Light:
    """A client of version 3 that costs little: it looks at the numbers alone."""

    def __init__(self, port, stations):
        self.port, self.stations, self.numbers, self.records = port, stations, {}, 0
        self.ending, self.failure = False, None
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def follow(self):
        while not self.ending:
            try:
                self.read()
            except OSError:
                time.sleep(0.3)

    def read(self):
        with socket.create_connection(("127.0.0.1", self.port), 5) as sock:
            for name in self.stations:
                network, station = name.split("_")
                known = self.numbers.get(name)
                words = f"DATA {(known[-1] + 1) & 0xffffff:06X}" if known else "DATA"
                if line(sock, f"STATION {station} {network}") != "OK" or line(sock, words) != "OK":
                    raise OSError("refused")
            sock.sendall(b"END\r\n")
            while not self.ending:
                packet = exactly(sock, 520)
                name = f"{packet[26:28].decode().strip()}_{packet[16:21].decode().strip()}"
                self.numbers.setdefault(name, []).append(int(packet[2:8], 16))
                self.records += 1

    def count(self):
        return self.records

    def stop(self):
        self.ending = True
        self.thread.join(10)
        return self


def line(sock, text):
    sock.sendall(text.encode() + b"\r\n")
    answer = b""
    while not answer.endswith(b"\r\n"):
        part = sock.recv(1)
        if not part:
            raise OSError("closed")
        answer += part
    return answer.decode().strip()


def exactly(sock, count):
    data = bytearray()
    while len(data) < count:
        part = sock.recv(count - len(data))
        if not part:
            raise OSError(f"closed after {len(data)} of {count} bytes")
        data += part
    return bytes(data)


def fetch4(port, station):
    """All that there is of a station, by version 4: [(number, station, record)]."""
    with socket.create_connection(("127.0.0.1", port), 20) as sock:
        for words in ("SLPROTO 4.0", "USERAGENT check/1", f"STATION {station}", "SELECT *", "DATA ALL"):
            answer = line(sock, words)
            if answer != "OK":
                raise SystemExit(f"FAILED: {words}: {answer}")
        sock.sendall(b"ENDFETCH\r\n")
        found = []
        while True:
            head = exactly(sock, 3)
            if head == b"END":
                return found
            rest = exactly(sock, 14)
            length, number, name = struct.unpack("<IQB", rest[1:])
            if head + rest[:1] != b"SE2D":
                raise SystemExit(f"FAILED: a packet of version 4 begins with {head + rest[:1]}")
            found.append((number, exactly(sock, name).decode(), exactly(sock, length)))
