import Messages

/// Brokers that announce themselves on the network (DNS-SD), by `avahi-browse` where it is installed.
enum BrokerFinder {
    static func find() -> [String] {
        let secure = ProgramRun(["avahi-browse", "-rpt", "_secure-mqtt._tcp"], seconds: 6)?.output ?? ""
        let plain = ProgramRun(["avahi-browse", "-rpt", "_mqtt._tcp"], seconds: 6)?.output ?? ""
        return brokers(secure, tls: true) + brokers(plain, tls: false)
    }

    /// The addresses in the lines of `avahi-browse -rp`: `=;eth0;IPv4;Name;_mqtt._tcp;local;host.local;192.168.1.2;1883;…`.
    /// Others may announce anything: what is no address is left out.
    static func brokers(_ lines: String, tls: Bool) -> [String] {
        var found: [String] = []
        for line in lines.split(separator: "\n") where line.hasPrefix("=;") {
            let fields = line.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
            guard fields.count > 8 else { continue }
            let uri = "\(tls ? "mqtts" : "mqtt")://\(fields[6]):\(fields[8])"
            let isPlain = fields[6].utf8.allSatisfy { ($0 | 0x20 >= 97 && $0 | 0x20 <= 122) || (45...57).contains($0) }
            if isPlain, SetupAnswers.problem(.broker, uri) == nil, !found.contains(uri) { found.append(uri) }
        }
        return found
    }
}
