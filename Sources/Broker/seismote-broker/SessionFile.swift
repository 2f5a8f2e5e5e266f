/// Sessions that stand in the way of a reload, from mosquitto's database (version 6, of mosquitto 2.0).
///
/// mosquitto 2.0 must not read its files anew while a client is away whose session ends some time and which it cannot judge:
/// it keeps a pointer to what it frees later, and another client that gets that memory is thrown out once a second (mended in
/// mosquitto 2.1).
package enum SessionFile {
    package struct Session: Equatable {
        package var client: String
        package var account: String
        /// When it ends, in seconds since 1970, and how long it is kept.
        package var ends: Int
        package var keeps: Int
        /// Port of its listener; 0: it is not connected.
        package var port: Int

        /// When the client has left, or the time of the file.
        package var left: Int { ends - keeps }
    }

    private static let head: [UInt8] = [0, 0xb5, 0] + Array("mosquitto db".utf8)

    /// All sessions that end some time; nil: these are not bytes of this version.
    package static func sessions(_ bytes: [UInt8]) -> [Session]? {
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
    package static func inTheWay(
        _ sessions: [Session], written: Int, started: Int, judged: (String) -> Bool
    ) -> [Session] {
        sessions.filter { session in
            // (In the first second the file does not tell one that has left from one that is connected.)
            if session.port != 0, session.left >= written - 1 { return false }
            return !(judged(session.account) && session.left > started)
        }
    }
}
