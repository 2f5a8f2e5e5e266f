/// Connected clients, from what mosquitto has written since it was started. It is shown to people, and decides nothing about
/// rights: client identifiers may hold almost any byte.
package struct BrokerLog {
    package struct Connection: Equatable {
        package var account: String
        /// Seconds since 1970.
        package var since: Int
        package var client: String
        /// Port of the listener; 0: not known.
        package var port: Int
    }

    private var byClient: [String: Connection] = [:]
    private var listeners: [String: Int] = [:]

    package init() {}

    package var connections: [Connection] { Array(byClient.values) }

    /// Takes a line, such as `1795800466: New client connected from 127.0.0.1:44292 as name (p2, c1, k60, u'account').`
    package mutating func take(_ line: String) {
        guard let colon = line.firstIndex(of: ":"), let number = Int(line[..<colon]), line[colon...].hasPrefix(": ")
        else { return }
        // (mosquitto writes 32 bits, which are negative from 2038 to 2106.)
        let time = number < 0 ? number + (1 << 32) : number
        let words = String(line[line.index(colon, offsetBy: 2)...])
        if words.hasPrefix("mosquitto version "), words.hasSuffix(" starting") {
            byClient = [:]
        } else if words.hasPrefix("New connection from ") {
            let fields = words.split(separator: " ")
            if fields.count == 7, let port = Int(fields[6].dropLast()) { listeners[String(fields[3])] = port }
        } else if words.hasPrefix("New client connected from ") {
            connected(words, time)
        } else if words.hasPrefix("Client ") {
            ended(String(words.dropFirst(7)))
        }
    }

    private mutating func connected(_ words: String, _ time: Int) {
        let rest = words.dropFirst(26)
        guard let space = rest.firstIndex(of: " "), rest[space...].hasPrefix(" as "),
            // (What mosquitto itself has written stands at the end, whatever the client is called.)
            let user = Self.last(", u'", in: rest), rest.hasSuffix("')."),
            let open = Self.last(" (p", in: rest[..<user.lowerBound])
        else { return }
        let account = String(rest[user.upperBound...].dropLast(3))
        guard AccountName.isPlain(account) else { return }
        let client = String(rest[rest.index(space, offsetBy: 4)..<open.lowerBound])
        let port = listeners.removeValue(forKey: String(rest[..<space])) ?? 0
        byClient[client] = Connection(account: account, since: time, client: client, port: port)
    }

    private mutating func ended(_ words: String) {
        for mark in [
            " disconnected", " closed its connection", " has exceeded timeout", " already connected",
            " been disconnected",
            ": ", ", disconnecting",
        ] {
            if let range = Self.last(mark, in: words[...]),
                byClient.removeValue(forKey: String(words[..<range.lowerBound])) != nil
            {
                return
            }
        }
    }

    private static func last(_ mark: String, in text: Substring) -> Range<Substring.Index>? {
        let (bytes, wanted) = (text.utf8, Array(mark.utf8))
        var end = bytes.endIndex
        while let start = bytes.index(end, offsetBy: -wanted.count, limitedBy: bytes.startIndex) {
            if bytes[start..<end].elementsEqual(wanted) { return start..<end }
            if end == bytes.startIndex { return nil }
            end = bytes.index(before: end)
        }
        return nil
    }
}
