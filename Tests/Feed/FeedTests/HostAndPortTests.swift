import Testing

@testable import Feed

/// Addresses of other programs that the feed sends to.
@Suite struct HostAndPortTests {
    @Test(arguments: [
        ("a:1", "a", 1), ("192.168.1.20:8888", "192.168.1.20", 8888), ("[fd00::2]:8888", "fd00::2", 8888),
        ("[fe80::1%eth0]:8888", "fe80::1%eth0", 8888),
    ])
    func addresses(text: String, host: String, port: Int) {
        let address = HostAndPort(text)
        #expect(address?.host == host && address?.port == port && address?.description == text)
    }

    /// A defect: any characters were a host.
    @Test(arguments: [
        "", "a", "a:", "a:0", ":1", "a:65536", "fd00::2:8888", "[fd00::2]", "a..b:1", "a,b:1", "[a]:1", "a b:1",
    ])
    func thoseThatAreNone(text: String) { #expect(HostAndPort(text) == nil) }
}
