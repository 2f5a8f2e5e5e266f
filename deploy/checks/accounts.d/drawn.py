"""Drawn names, passwords and client identifiers at a real mosquitto; run in the room by deploy/checks/accounts.

drawn.py names COUNT FOLDER      COUNT accounts with names and passwords of all bytes that are allowed: with what was given each gets
                                 in, with nothing else; then half of them are removed
drawn.py boards COUNT CA         COUNT boards with client identifiers of all bytes, which publish without end, are replaced or
                                 removed: what they publish after the command has ended is counted at the broker
drawn.py flood PEM CA TOPIC SIZE messages of so many bytes, as fast as the broker takes them, until it is ended

Prints what was counted; the exit status is 1 where something is not as it should be.
"""

import concurrent.futures
import json
import os
import random
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time

draw = random.Random(43)
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
# Each printable byte of ASCII as often as the others, and letters of two to four bytes.
PASSWORD = [chr(code) for code in range(0x20, 0x7F)] + list("äß€語𝄞é\u00a0\u2009")
faults = []


def fault(text):
    faults.append(text)
    print("WRONG:", text, flush=True)


def text(data):
    return struct.pack(">H", len(data)) + data


def connect(sock, client, user=None, password=None):
    """A CONNECT of MQTT 3.1.1; the code of its answer, None where the broker hangs up."""
    flags = 2 | (0x80 if user is not None else 0) | (0x40 if password is not None else 0)
    body = text(b"MQTT") + bytes([4, flags]) + struct.pack(">H", 60) + text(client)
    body += (text(user) if user is not None else b"") + (text(password) if password is not None else b"")
    sock.sendall(b"\x10" + length(len(body)) + body)
    answer = b""
    while len(answer) < 4:
        part = sock.recv(4 - len(answer))
        if not part:
            return None
        answer += part
    return answer[3]


def length(number):
    out = b""
    while True:
        number, byte = number >> 7, number & 127
        out += bytes([byte | (128 if number else 0)])
        if not number:
            return out


# --- names and passwords


def broker_command(*words, folder=None, give=None):
    environment = dict(os.environ)
    if folder:
        environment["SEISMOTE_BROKER_FOLDER"] = folder
    return subprocess.run(["seismote-broker", *words], env=environment, input=give, capture_output=True, check=False)


def drawn_name(taken):
    while True:
        kind = draw.randrange(4)
        if kind == 0:  # What a program could take for a number.
            name = draw.choice(["0", "00", "", "-", "0x"]) + str(draw.randrange(200))
        elif kind == 1:
            name = f"{draw.randrange(1, 9)}e{draw.randrange(4)}"
        else:
            name = "".join(draw.choice(LETTERS) for _ in range(draw.choice([1, 2, 3, 8, 64])))
        # (A name that begins with `-` is an option on the command line.)
        if not name.startswith("-") and name not in taken and name not in ("group", "network"):
            return name


def batch(number, accounts, folder):
    os.makedirs(folder)
    for name, password in accounts.items():
        done = broker_command("add", name, "--role", "viewer", "--no-qr", "--json", "--host", "b.test", "--password-file", "-",
                              folder=folder, give=(password + "\nmore\n").encode())
        if done.returncode:
            fault(f"add {name!r}: {done.stderr.decode()}")
        elif json.loads(done.stdout)["password"] != password:
            fault(f"add {name!r} with {password!r} says {json.loads(done.stdout)['password']!r}")
    counts = check(number, accounts, folder)
    gone = list(accounts)[: len(accounts) // 2]
    done = broker_command("remove", *gone, folder=folder)
    if done.returncode:
        fault(f"remove: {done.stderr.decode()}")
    rest = {name: password for name, password in accounts.items() if name not in gone}
    more = check(number, rest, folder, gone={name: accounts[name] for name in gone})
    return [a + b for a, b in zip(counts, more)]


def check(number, accounts, folder, gone=()):
    port = 21000 + number
    with open(folder + "/m.conf", "w", encoding="utf-8") as file:
        file.write(f"listener {port} 127.0.0.1\nallow_anonymous false\nuser root\npassword_file {folder}/passwords\nacl_file {folder}/acl\n")
    server = subprocess.Popen(["mosquitto", "-c", folder + "/m.conf"], stderr=subprocess.DEVNULL)
    right = wrong = 0
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)

        def code(name, password):
            with socket.create_connection(("127.0.0.1", port)) as sock:
                return connect(sock, b"drawn", name.encode(), password)

        others = list(accounts.values())
        for name, password in accounts.items():
            given = password.encode()
            if code(name, given) != 0:
                fault(f"{name!r} is not let in with its password {password!r}")
            right += 1
            tries = {given[:-1], given + b" ", given.strip(), given.split(b":")[0], draw.choice(others).encode(), b""} - {given}
            for other in tries:
                if code(name, other) == 0:
                    fault(f"{name!r} is let in with {other!r} in place of {password!r}")
                wrong += 1
        for name, password in (gone.items() if gone else ()):
            if code(name, password.encode()) == 0:
                fault(f"{name!r} is let in after its removal")
            wrong += 1
    finally:
        server.terminate()
        server.wait()
    return [right, wrong]


def names(count, folder):
    size = 250
    work, taken = [], set()
    for number in range((count + size - 1) // size):
        accounts = {}
        for _ in range(min(size, count - number * size)):
            name = drawn_name(accounts)
            taken.add(name)
            accounts[name] = "".join(draw.choice(PASSWORD) for _ in range(draw.choice([8, 9, 12, 30, 256])))
        work.append((number, accounts, f"{folder}/{number}"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        sums = list(pool.map(lambda one: batch(*one), work))
    print(f"{count} drawn names and passwords: {sum(s[0] for s in sums)} times let in with what was given, "
          f"{sum(s[1] for s in sums)} times refused with something else or after the removal", flush=True)


# --- boards that are replaced or removed while they publish


def openssl(*words, give=None):
    return subprocess.run(["openssl", *words], input=give, capture_output=True, check=True).stdout


class Board:
    """Publishes without end, as fast as the broker takes it, and comes back at once when it is thrown out."""

    def __init__(self, name, authority, pem):
        self.name, self.pem = name, pem
        # What mosquitto takes of MQTT's UTF-8: no control characters.
        self.client = "".join(chr(draw.choice([draw.randrange(0x20, 0x7F), draw.randrange(0xA1, 0x2000), draw.randrange(0x1F300, 0x1F600)]))
                              for _ in range(draw.choice([1, 3, 23, 60])))
        if draw.randrange(4) == 0:
            self.client = draw.choice(["old board ", "a (p2, c1, k60, u'x'). ", "x: ", "[1] as "]) + self.client
        self.context = ssl.create_default_context(cafile=authority)
        self.context.check_hostname = False
        self.context.load_cert_chain(pem)
        self.sent = self.taken = 0
        self.ended = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.ended:
            try:
                with self.context.wrap_socket(socket.create_connection(("localhost", 8884), timeout=10)) as sock:
                    if connect(sock, self.client.encode()) != 0:
                        time.sleep(0.02)
                        continue
                    self.taken += 1
                    while not self.ended:
                        body = text(f"seismote/{self.name}/event/forged".encode()) + struct.pack(">H", 1) + str(time.time()).encode()
                        sock.sendall(b"\x32" + length(len(body)) + body)
                        if not sock.recv(4):
                            break
                        self.sent += 1
                        time.sleep(0.005)
            except OSError:
                time.sleep(0.02)


def certificate(line, name, authority):
    """Joins by a line, as the tool does."""
    import paho.mqtt.client as mqtt

    token = line.split("#")[1].split("@")[0]
    key = openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
    path = f"/run/home/{name}-{token[:8]}"
    with open(path + ".key", "wb") as file:
        file.write(key)
    request = openssl("req", "-new", "-key", path + ".key", "-subj", f"/CN={name}")
    answers = []

    def client(port):
        one = mqtt.Client(protocol=mqtt.MQTTv311)
        one.tls_set(authority, *((path + ".pem",) * 2 if port == 8884 else ()))
        if port == 8883:
            one.username_pw_set("enrol-" + token[:8], token[8:])
        one.on_message = lambda _client, _data, message: answers.append(json.loads(message.payload))
        one.connect("localhost", port)
        one.loop_start()
        return one

    asking = client(8883)
    asking.subscribe(f"enrol/{token[:8]}/cert", 1)
    for _ in range(20):
        asking.publish(f"enrol/{token[:8]}/csr", request, 1)
        for _ in range(60):
            if answers:
                break
            time.sleep(0.05)
        if answers:
            break
    asking.disconnect()
    asking.loop_stop()
    with open(path + ".pem", "wb") as file:
        file.write(answers[0]["certificate"].encode() + key)
    there = client(8884)
    there.publish(f"renew/{name}/joined", token[:8], 1, True).wait_for_publish()
    there.disconnect()
    there.loop_stop()
    for _ in range(400):
        if os.path.exists(f"/var/lib/seismote-enrol/joined/{token[:8]}"):
            return path + ".pem"
        time.sleep(0.05)
    raise SystemExit(f"{name} has not joined")


def invite(*names_and_options):
    said = broker_command("invite", *names_and_options, "--json", "--no-qr", "--host", "localhost")
    if said.returncode:
        raise SystemExit(said.stderr.decode())
    return {one["name"]: one["line"] for one in json.loads(said.stdout)}


def boards(count, authority):
    import paho.mqtt.client as mqtt

    heard = {}  # name: newest time that one of its messages was published at
    eye = json.loads(broker_command("add", "drawn-eye", "--role", "viewer", "--json", "--no-qr", "--host", "localhost").stdout)["password"]

    def take(_client, _data, message):
        name = message.topic.split("/")[1]
        heard.setdefault(name, []).append(float(message.payload))

    def watch():
        one = mqtt.Client(protocol=mqtt.MQTTv311)
        one.tls_set(authority)
        one.username_pw_set("drawn-eye", eye)
        one.on_connect = lambda client, *_: client.subscribe("seismote/+/event/forged", 1)
        one.on_message = take
        one.connect("localhost", 8883)
        one.loop_start()
        return one

    watcher = watch()
    size, tries, late, times = 20, 0, 0, {"removed": [], "replaced": []}
    while tries < count:
        lines = invite(f"drawn-{tries}", "--count", str(size))
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            pems = dict(zip(lines, pool.map(lambda name: certificate(lines[name], name, authority), lines)))
        if broker_command("tidy").returncode:
            raise SystemExit("tidy")
        all_of_them = {name: Board(name, authority, pem) for name, pem in pems.items()}
        end = time.time() + 30
        while time.time() < end and not all(heard.get(name) for name in lines):
            time.sleep(0.1)
        for name, board in all_of_them.items():
            if not heard.get(name):
                fault(f"{name} with the client identifier {board.client!r} does not publish: this shows nothing")
        ordered = list(lines)
        for kind, part in (("removed", ordered[: size // 2]), ("replaced", ordered[size // 2:])):
            if kind == "replaced":
                for name in part:
                    certificate(invite(name)[name], name, authority)
            began = time.time()
            done = broker_command(*(["remove", *part] if kind == "removed" else ["tidy"]))
            over = time.time()
            times[kind].append(over - began)
            if done.returncode:
                fault(f"{kind}: {done.stderr.decode()}")
            time.sleep(1)
            for name in part:
                after = [moment for moment in heard.get(name, []) if moment > over]
                if after:
                    late += 1
                    fault(f"{name}, client identifier {all_of_them[name].client!r}, was {kind}, and {len(after)} messages came afterwards")
            tries += len(part)
        for board in all_of_them.values():
            board.ended = True
        for board in all_of_them.values():
            board.thread.join()
        broker_command("remove", *ordered[size // 2:])
        heard.clear()
    watcher.disconnect()
    for kind, all_times in times.items():
        print(f"{kind}, {size // 2} at a time: {sum(all_times) / len(all_times):.1f} s, at most {max(all_times):.1f} s")
    print(f"{tries} boards with drawn client identifiers replaced or removed while they published: {late} published afterwards", flush=True)


def flood(pem, authority, topic, size):
    context = ssl.create_default_context(cafile=authority)
    context.check_hostname = False
    context.load_cert_chain(pem)
    body = text(topic.encode()) + os.urandom(size)
    message = b"\x30" + length(len(body)) + body
    while True:
        try:
            with context.wrap_socket(socket.create_connection(("localhost", 8884))) as sock:
                connect(sock, b"flood")
                while True:
                    sock.sendall(message)
                    time.sleep(max(size / 1e6, 0.001))
        except OSError:
            time.sleep(0.1)


if __name__ == "__main__":
    if sys.argv[1] == "flood":
        flood(*sys.argv[2:5], int(sys.argv[5]))
    elif sys.argv[1] == "names":
        names(int(sys.argv[2]), sys.argv[3])
    else:
        boards(int(sys.argv[2]), sys.argv[3])
    sys.exit(1 if faults else 0)
