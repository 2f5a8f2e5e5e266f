"""Clients that nobody wants."""

import socket
import time


def opened(port):
    return socket.create_connection(("127.0.0.1", port), 10)


def is_cut(sock, seconds):
    """Whether the server has ended the connection by then."""
    sock.settimeout(0.5)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if not sock.recv(1 << 16):
                return True
        except TimeoutError:
            continue
        except OSError:
            return True
    return False


def send(sock, data):
    try:
        sock.settimeout(5)
        sock.sendall(data)
    except OSError:
        pass


def attack(seedlink, web, connections):
    """Does all of it, and says what was not as it should be: [text]."""
    wrong = []
    for port, name in ((seedlink, "SeedLink"), (web, "HTTP")):
        one = opened(port)
        send(one, b"A" * (1 << 20))
        if not is_cut(one, 10):
            wrong.append(f"{name}: a line of 1 MB was not cut")
        one.close()
        two = opened(port)
        send(two, bytes(range(256)) * 4000)
        two.close()
    # Commands without end, the answers not read.
    flood = opened(seedlink)
    flood.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    for _ in range(200):
        send(flood, b"INFO STREAMS\r\n" * 500)
    # All data, never read; half a line; nothing at all.
    lazy, half, mute = opened(seedlink), opened(seedlink), opened(web)
    lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    send(lazy, b"STATION * *\r\nFETCH\r\nEND\r\n")
    send(half, b"STATION BA")
    send(mute, b"GET /metrics HT")
    crowd = []
    for _ in range(connections):
        try:
            crowd.append(opened(seedlink))
        except OSError:
            break
    time.sleep(1)
    for one in crowd:
        one.close()
    for one, name in ((half, "half a line"), (mute, "half a request"), (flood, "a flood of commands")):
        if not is_cut(one, 20):
            wrong.append(f"{name} was not cut")
        one.close()
    lazy.close()
    return wrong
