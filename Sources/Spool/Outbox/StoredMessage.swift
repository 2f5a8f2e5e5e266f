import Messages
import MiniSEED

/// A message as it was put into the spool.
public struct StoredMessage: Sendable, Equatable {
    /// Its number in the spool: rises for ever, and is never used again.
    public var key: Int64
    public var header: PublicationHeader
    public var payload: [UInt8]
    /// When it was made, nanoseconds of UTC.
    public var made: Int64

    /// Nil when the row is not what was written.
    init?(_ row: borrowing Statement) {
        let key = row.int64(0)
        guard let table = Table(rawValue: Int(key & 3)), let content = StoredContent(row.text(6)) else { return nil }
        self.key = key
        made = row.int64(1)
        header = PublicationHeader(
            topic: row.text(2), qos: row.int(3), retain: row.int(4) != 0, contentType: content.type,
            expiry: row.isNull(7) ? nil : UInt32(clamping: row.int64(7)), priority: table.priority)
        header.correlation = content.correlation
        header.isHistory = row.int(5) != 0
        if !row.isNull(8), let part = EventMark.Part(rawValue: row.int(9)) {
            header.event = EventMark(id: row.text(8), part: part)
        }
        guard row.int64(10) == Self.checksum(key, header, row.blob(11), made: made) else { return nil }
        payload = row.bytes(11)
    }

    static func checksum(
        _ key: Int64, _ header: PublicationHeader, _ payload: UnsafeRawBufferPointer, made: Int64
    ) -> Int64 {
        var sum = RowSum(key: key)
        sum.mix(made)
        sum.mix(UInt64(truncatingIfNeeded: header.qos) << 2 | (header.retain ? 2 : 0) | (header.isHistory ? 1 : 0))
        sum.mix(header.expiry.map { UInt64($0) + 1 } ?? 0)
        sum.mix(UInt64(checksum(StoredContent.text(header))))
        sum.mix(UInt64(checksum(header.topic)))
        if let event = header.event { sum.mix(UInt64(checksum(event.id)) << 3 | UInt64(event.part.rawValue) + 1) }
        sum.mix(payload)
        return sum.value
    }

    private static func checksum(_ text: String) -> UInt32 {
        var text = text
        return text.withUTF8 { CRC32C.checksum(UnsafeRawBufferPointer($0)) }
    }

    /// Of a name and what is kept under it.
    static func checksum(_ name: String, _ value: UnsafeRawBufferPointer) -> Int64 {
        Int64(checksum(name) ^ CRC32C.checksum(value))
    }

    /// What the message counts for the budget.
    static func size(_ header: PublicationHeader, _ payload: Int) -> Int {
        payload + header.topic.utf8.count + Schema.overhead
    }
}

/// Which messages are asked for.
public enum SpoolLine: Sendable {
    /// Class 0: life cycle, replies, events and their waveforms.
    case essential
    /// Classes 1 and 2 together.
    case rest
}

/// What became of a message. (The link has more to say: whatever is not delivered and shall not be tried again is refused
/// here.)
public enum MessageFate: Sendable, Equatable {
    /// The broker has it.
    case delivered
    /// The broker does not want it, or never can have it.
    /// - Parameter reason: MQTT 5 reason code.
    case refused(reason: Int)
}
