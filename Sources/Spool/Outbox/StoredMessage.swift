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
        guard let table = Table(rawValue: Int(key & 3)), let content = ContentType(rawValue: row.text(6)) else {
            return nil
        }
        let topic = row.text(2)
        guard row.int64(10) == Int64(Self.checksum(topic, row.blob(11))) else { return nil }
        self.key = key
        made = row.int64(1)
        header = PublicationHeader(
            topic: topic, qos: row.int(3) == 0 ? 0 : 1, retain: row.int(4) != 0, contentType: content,
            expiry: row.isNull(7) ? nil : UInt32(clamping: row.int64(7)), priority: table.priority)
        header.isHistory = row.int(5) != 0
        if !row.isNull(8), let part = EventMark.Part(rawValue: row.int(9)) {
            header.event = EventMark(id: row.text(8), part: part)
        }
        payload = row.bytes(11)
    }

    /// Of topic and payload: flash cards give back wrong bytes now and then, and SQLite does not notice.
    static func checksum(_ topic: String, _ payload: UnsafeRawBufferPointer) -> UInt32 {
        var topic = topic
        let first = topic.withUTF8 { CRC32C.checksum(UnsafeRawBufferPointer($0)) }
        return first ^ CRC32C.checksum(payload)
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

/// What became of a message.
public enum MessageFate: Sendable, Equatable {
    /// The broker has it.
    case delivered
    /// The broker does not want it, or never can have it.
    /// - Parameter reason: MQTT 5 reason code.
    case refused(reason: Int)
}
