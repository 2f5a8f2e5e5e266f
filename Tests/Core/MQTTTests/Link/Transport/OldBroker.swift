import Foundation
import TestSupport

/// A gate in front of a broker that treats a CONNECT of MQTT 5 as an old broker does, and lets 3.1.1 through.
final class OldBroker: Sendable {
    enum Manner: String, Sendable, CaseIterable {
        /// As NATS: CONNACK 1 in the form of 3.1.1.
        case connack1
        /// As MQTT 5 says a server may.
        case connack84
        /// As RabbitMQ: no CONNACK.
        case close
        /// As amqtt, which waits for the rest of what it takes for a longer packet.
        case silence
    }

    let port: Int
    private let process: ChildProcess

    /// - Parameter manner: nil: it lets 5 through as well.
    init(_ manner: Manner?, broker: Int) throws {
        port = try FreePort.find()
        process = try ChildProcess(
            "/usr/bin/python3",
            [
                "-c",
                """
                import socket, threading
                answers = {'connack1': bytes([0x20, 2, 0, 1]), 'connack84': bytes([0x20, 3, 0, 0x84, 0]), 'close': b''}
                manner = '\(manner?.rawValue ?? "")'
                s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                s.bind(('127.0.0.1', \(port))); s.listen(50)
                print('ready', flush=True)
                def pump(a, b):
                    try:
                        while True:
                            d = a.recv(65536)
                            if not d: break
                            b.sendall(d)
                    except OSError: pass
                    for x in (a, b):
                        try: x.shutdown(socket.SHUT_RDWR)
                        except OSError: pass
                def serve(a):
                    first = a.recv(65536)
                    level = first[first.index(b'MQTT') + 4]
                    if level == 5 and manner:
                        print('five', flush=True)
                        if manner == 'silence':
                            while a.recv(65536): pass
                            a.close()
                            return
                        a.sendall(answers[manner])
                        a.close()
                        return
                    b = socket.create_connection(('127.0.0.1', \(broker)))
                    b.sendall(first)
                    threading.Thread(target=pump, args=(b, a), daemon=True).start()
                    pump(a, b)
                while True:
                    a, _ = s.accept()
                    threading.Thread(target=serve, args=(a,), daemon=True).start()
                """,
            ])
        guard eventually(within: 20, { process.output.contains("ready") }) else { throw TestFailure("no gate") }
    }

    /// Attempts with MQTT 5.
    var attempts: Int { process.output.components(separatedBy: "five").count - 1 }
    func freeze() { process.signal(SIGSTOP) }
    func thaw() { process.signal(SIGCONT) }
    func kill() { process.signal(SIGKILL) }
}
