import Glibc
import Testing

@testable import MQTT

struct PortProbeTests {
    @Test func aPortIsRefusedUntilSomebodyListens() throws {
        let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(file) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try #require(bind(file, $0, length) == 0 && getsockname(file, $0, &length) == 0)
            }
        }
        let port = Int(UInt16(bigEndian: address.sin_port))
        #expect(PortProbe.isRefused(host: "127.0.0.1", port: port))
        try #require(listen(file, 1) == 0)
        #expect(!PortProbe.isRefused(host: "127.0.0.1", port: port))
        // A name that there is not is another fault.
        #expect(!PortProbe.isRefused(host: "no-such-host.invalid", port: port))
    }
}
