import Foundation

/// A broker with a packet of MQTT 5 that has a property that does not exist, at which libmosquitto before 2.0.16 by itself
/// ends the process. It speaks 3.1.1 as it should.
public final class DeadlyBroker: Sendable {
    public let port: Int
    private let process: ChildProcess

    /// - Parameter packet: in hexadecimal: its answer to a CONNECT of MQTT 5, or what it sends behind that.
    public init(packet: String = "20050000027f01") throws {
        let process = try ChildProcess("/usr/bin/python3", ["-c", Self.program, packet])
        guard let port = process.port() else { throw TestFailure("the broker did not start: \(process.errors)") }
        (self.process, self.port) = (process, port)
    }

    private var lines: [Substring] { process.output.split(separator: "\n") }

    /// Protocol level of each CONNECT: 5, or 4 for 3.1.1.
    public var versions: [Int] { lines.filter { $0.hasPrefix("mqtt ") }.compactMap { Int($0.dropFirst(5)) } }

    /// How many traces have come.
    public var traces: Int { lines.count { $0 == "trace" } }

    private static let program = """
        import socket, struct, sys, threading
        server = socket.create_server(("127.0.0.1", 0))
        print("port", server.getsockname()[1], flush=True)
        def packet(file):
            kind, length, shift = file.read(1)[0], 0, 0
            while True:
                byte = file.read(1)[0]
                length |= (byte & 127) << shift
                shift += 7
                if byte < 128: return kind, file.read(length)
        def serve(client):
            file = client.makefile("rb")
            try:
                while True:
                    kind, body = packet(file)
                    if kind == 0x10:
                        print("mqtt", body[6], flush=True)
                        bad = bytes.fromhex(sys.argv[1])
                        good = b"" if bad[0] == 0x20 else b"\\x20\\x03\\0\\0\\0"
                        client.sendall(good + bad if body[6] == 5 else b"\\x20\\x02\\0\\0")
                    elif kind >> 4 == 3:
                        size = struct.unpack(">H", body[:2])[0]
                        if body[2:2 + size].endswith(b"/trace"): print("trace", flush=True)
                        if kind & 6: client.sendall(b"\\x40\\x02" + body[2 + size:4 + size])
                    elif kind == 0x82: client.sendall(b"\\x90\\x03" + body[:2] + b"\\x01")
                    elif kind == 0xc0: client.sendall(b"\\xd0\\x00")
            except (IndexError, OSError): client.close()
        while True: threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
        """
}
