/// Connected clients, from what mosquitto has written since it was started. It is shown to people, and decides nothing about
/// rights: client identifiers may hold almost any byte.
struct BrokerLog {
    struct Connection: Equatable {
        var account: String
        /// Seconds since 1970.
        var since: Int
        var client: String
        /// Port of the listener; 0: not known.
        var port: Int
    }

    private var byClient: [String: Connection] = [:]
    private var listeners: [String: Int] = [:]

    init() {}

    var connections: [Connection] { Array(byClient.values) }

    /// Takes a line, such as `1795800466: New client connected from 127.0.0.1:44292 as name (p2, c1, k60, u'account').`
    mutating func take(_ line: String) {
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

/// Sessions that stand in the way of a reload, from mosquitto's database (version 6, of mosquitto 2.0).
///
/// mosquitto 2.0 must not read its files anew while a client is away whose session ends some time and which it cannot judge:
/// it keeps a pointer to what it frees later, and another client that gets that memory is thrown out once a second (mended in
/// mosquitto 2.1).
enum SessionFile {
    struct Session: Equatable {
        var client: String
        var account: String
        /// When it ends, in seconds since 1970, and how long it is kept.
        var ends: Int
        var keeps: Int
        /// Port of its listener; 0: it is not connected.
        var port: Int

        /// When the client has left, or the time of the file.
        var left: Int { ends - keeps }
    }

    private static let head: [UInt8] = [0, 0xb5, 0] + Array("mosquitto db".utf8)

    /// All sessions that end some time; nil: these are not bytes of this version.
    static func sessions(_ bytes: [UInt8]) -> [Session]? {
        func number(_ at: Int, _ size: Int) -> Int { bytes[at..<at + size].reduce(0) { $0 << 8 | Int($1) } }
        // The mark, a checksum, the version; then pieces: kind, length, content.
        guard bytes.count >= 23, Array(bytes.prefix(15)) == head, number(19, 4) == 6 else { return nil }
        var found: [Session] = []
        var place = 23
        while place + 8 <= bytes.count {
            let (kind, length) = (number(place, 4), number(place + 4, 4))
            let start = place + 8
            guard length <= bytes.count - start else { break }
            place = start + length
            guard kind == 6, length >= 24 else { continue }
            // (The time of its end is in the order of this machine; 0: mosquitto 2.0.11 has it connected.)
            let ends = Int(
                bytes[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) } & 0x7fff_ffff_ffff)
            let keeps = number(start + 8, 4)
            let (name, port, user) = (number(start + 14, 2), number(start + 16, 2), number(start + 18, 2))
            guard keeps != 0, keeps != 0xffff_ffff, ends != 0, 24 + name + user <= length else { continue }
            func text(_ at: Int, _ count: Int) -> String { String(decoding: bytes[at..<at + count], as: UTF8.self) }
            found.append(
                Session(
                    client: text(start + 24, name), account: text(start + 24 + name, user), ends: ends, keeps: keeps,
                    port: port))
        }
        return found
    }

    /// Returns the absent sessions that are in the way of a reload.
    /// - Parameters:
    ///   - written: when the file was, in seconds since 1970.
    ///   - started: when the broker was.
    ///   - judged: accounts whose password the broker knows, before and after.
    static func inTheWay(
        _ sessions: [Session], written: Int, started: Int, judged: (String) -> Bool
    ) -> [Session] {
        sessions.filter { session in
            // (In the first second the file does not tell one that has left from one that is connected.)
            if session.port != 0, session.left >= written - 1 { return false }
            return !(judged(session.account) && session.left > started)
        }
    }
}
