import Foundation
import Platform

/// A port that takes connections, answers nothing, and shows the first bytes that each client sends.
final class RawListener: @unchecked Sendable {
    /// What a client began with: CONNECT of MQTT, or the ClientHello of TLS.
    struct Greeting {
        var bytes: [UInt8]

        func hasBytes(_ wanted: [UInt8]) -> Bool {
            guard wanted.count <= bytes.count else { return false }
            return (0...bytes.count - wanted.count).contains { bytes[$0...].starts(with: wanted) }
        }
        func hasText(_ text: String) -> Bool { hasBytes(Array(text.utf8)) }

        /// Where the protocol's name ends.
        private var name: Int? {
            bytes.indices.first { bytes[$0...].starts(with: [0, 4] + Array("MQTT".utf8)) }.map { $0 + 6 }
        }
        /// 4: 3.1.1, 5: 5.
        var level: UInt8? { name.map { bytes[$0] } }
        var keepalive: Int? { name.map { Int(bytes[$0 + 2]) << 8 | Int(bytes[$0 + 3]) } }
    }

    let port: Int
    private let socket: Int32
    private let found = Mutex<[[UInt8]]>([])
    private let isOver = Atomic<Bool>(false)
    private let finished = DispatchSemaphore(value: 0)

    init() throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = self.socket
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(socket, pointer, length) == 0 && listen(socket, 16) == 0
                    ? getsockname(socket, pointer, &length) : -1
            }
        }
        guard code == 0 else { throw POSIXError(.EADDRINUSE) }
        port = Int(UInt16(bigEndian: address.sin_port))
        let weakly = Unmanaged.passUnretained(self)
        Thread.detachNewThread { weakly.takeUnretainedValue().run() }
    }

    deinit {
        isOver.store(true, ordering: .releasing)
        finished.wait()
        close(socket)
    }

    /// What came over each connection so far.
    var greetings: [Greeting] { found.withLock { $0 }.filter { !$0.isEmpty }.map { Greeting(bytes: $0) } }

    private func run() {
        var clients: [Int32] = []
        defer {
            for client in clients { close(client) }
            finished.signal()
        }
        while !isOver.load(ordering: .acquiring) {
            var waited = ([socket] + clients).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&waited, nfds_t(waited.count), 20) > 0 else { continue }
            if waited[0].revents != 0 {
                let client = accept(socket, nil, nil)
                if client >= 0 {
                    clients.append(client)
                    found.withLock { $0.append([]) }
                }
            }
            for (index, one) in waited.dropFirst().enumerated() where one.revents != 0 {
                var chunk = [UInt8](repeating: 0, count: 4096)
                let count = read(one.fd, &chunk, chunk.count)
                // (A connection that has ended is not asked any more.)
                if count > 0 { found.withLock { $0[index] += chunk[..<count] } } else { usleep(2000) }
            }
        }
    }
}
