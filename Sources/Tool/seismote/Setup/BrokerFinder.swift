import Glibc
import Messages

/// Brokers that announce themselves on the network (DNS-SD), by `avahi-browse` where it is installed.
enum BrokerFinder {
    /// - Returns: nil where it is not installed, or the network's own service (avahi-daemon) does not run.
    static func find() -> [String]? {
        guard let secure = ProgramRun(["avahi-browse", "-rpt", "_secure-mqtt._tcp"], seconds: 6),
            let plain = ProgramRun(["avahi-browse", "-rpt", "_mqtt._tcp"], seconds: 6),
            // (Its time is over when somebody announces what cannot be resolved.)
            secure.status ?? 0 == 0
        else { return nil }
        return brokers(secure.output, tls: true, isKnown) + brokers(plain.output, tls: false, isKnown)
    }

    /// Whether this machine finds a name. (Names that end in .local need libnss-mdns.)
    private static func isKnown(_ name: String) -> Bool {
        var found: UnsafeMutablePointer<addrinfo>?
        defer { if let found { freeaddrinfo(found) } }
        return getaddrinfo(name, nil, nil, &found) == 0
    }

    /// The addresses in the lines of `avahi-browse -rp`: `=;eth0;IPv4;Name;_mqtt._tcp;local;host.local;192.168.1.2;1883;…`.
    /// Others may announce anything: what is no address is left out.
    /// - Parameter isKnown: whether a name can be used; else the address of IPv4 is taken.
    static func brokers(_ lines: String, tls: Bool, _ isKnown: (String) -> Bool = { _ in true }) -> [String] {
        var found: [String] = []
        for line in lines.split(separator: "\n") where line.hasPrefix("=;") {
            let fields = line.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
            guard fields.count > 8 else { continue }
            func isPlain(_ text: String) -> Bool {
                text.utf8.allSatisfy { ($0 | 0x20 >= 97 && $0 | 0x20 <= 122) || (45...57).contains($0) }
            }
            guard isPlain(fields[6]) else { continue }
            let host = isKnown(fields[6]) ? fields[6] : fields[7]
            let uri = "\(tls ? "mqtts" : "mqtt")://\(host):\(fields[8])"
            // (An address of IPv6 is not plain: such a line has one of IPv4 beside it.)
            if isPlain(host), SetupAnswers.problem(.broker, uri) == nil, !found.contains(uri) { found.append(uri) }
        }
        return found
    }
}
