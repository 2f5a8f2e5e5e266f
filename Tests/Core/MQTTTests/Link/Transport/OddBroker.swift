import Foundation
import TestSupport

/// A broker of MQTT 5 whose CONNACK has the properties that a test wants, and that keeps to them: it hangs up on who does not.
final class OddBroker: Sendable {
    let port: Int
    private let process: ChildProcess

    /// - Parameters:
    ///   - flags: of the CONNACK; 1: the session was there.
    ///   - properties: of the CONNACK, in hexadecimal.
    ///   - receives: unacknowledged messages that it allows.
    ///   - bytes: of the largest packet that it takes.
    ///   - manner: `slow`: its answers come byte by byte; `deaf`: it answers no subscription.
    init(flags: Int = 0, properties: String = "", receives: Int = 65535, bytes: Int = 1 << 20, manner: String = "")
        throws
    {
        let process = try ChildProcess(
            "/usr/bin/python3", ["-c", Self.program, "\(flags)", properties, "\(receives)", "\(bytes)", manner])
        guard let port = process.port() else { throw TestFailure("the broker did not start: \(process.errors)") }
        (self.process, self.port) = (process, port)
    }

    private var lines: [Substring] { process.output.split(separator: "\n") }
    private func count(_ word: String) -> Int { lines.count { $0 == word } }

    var connections: Int { count("connect") }
    var pings: Int { count("ping") }
    var messages: Int { count("message") }
    /// What clients have done that the CONNACK does not allow.
    var faults: [String] { lines.filter { $0.hasPrefix("fault") }.map(String.init) }

    private static let program = """
        import socket, struct, sys, threading, time
        flags, properties, receives, limit, manner = int(sys.argv[1]), bytes.fromhex(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
        server = socket.create_server(("127.0.0.1", 0))
        print("port", server.getsockname()[1], flush=True)
        def number(n):
            out = b""
            while True:
                out += bytes([n % 128 | (128 if n > 127 else 0)])
                n //= 128
                if not n: return out
        def packet(file):
            kind, length, shift, size = file.read(1)[0], 0, 0, 1
            while True:
                byte = file.read(1)[0]
                size += 1
                length |= (byte & 127) << shift
                shift += 7
                if byte < 128: return kind, file.read(length), size + length
        def serve(client):
            file, open_, lock = client.makefile("rb"), 0, threading.Lock()
            def send(data):
                with lock:
                    for part in ([data[i:i + 1] for i in range(len(data))] if manner == "slow" else [data]):
                        client.sendall(part)
                        if manner == "slow": time.sleep(0.002)
            waiting = []
            def acknowledge():
                # Late, so that more than are allowed would be seen.
                while True:
                    time.sleep(0.02)
                    try:
                        # (Before it is acknowledged: the next one may be there at once.)
                        if waiting: send(b"\\x40\\x02" + waiting.pop(0))
                    except OSError: return
            threading.Thread(target=acknowledge, daemon=True).start()
            try:
                while True:
                    kind, body, size = packet(file)
                    if kind == 0x10:
                        print("connect", flush=True)
                        body = bytes([flags, 0]) + number(len(properties)) + properties
                        send(b"\\x20" + number(len(body)) + body)
                        continue
                    if size > limit:
                        print("fault: a packet of", size, "bytes", flush=True)
                        return client.close()
                    if kind >> 4 == 3:
                        print("message", flush=True)
                        length = struct.unpack(">H", body[:2])[0]
                        if kind & 6:
                            waiting.append(body[2 + length:4 + length])
                            if len(waiting) > receives:
                                print("fault:", len(waiting), "on their way", flush=True)
                                return client.close()
                    elif kind == 0x82 and manner != "deaf": send(b"\\x90\\x04" + body[:2] + b"\\x00\\x01")
                    elif kind == 0xc0:
                        print("ping", flush=True)
                        send(b"\\xd0\\x00")
            except (IndexError, OSError, struct.error): client.close()
        while True: threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
        """
}
