import Platform

/// Our side of a DataLink connection over which a ringserver is given all records: bytes in, bytes out.
///
/// A record counts as given when the server has acknowledged it. After a broken connection those that were not are
/// written once more, at most ``mostInFlight`` of them. Reference: DataLink 1.1, as ringserver 4 speaks it.
public struct DataLinkWriter: Sendable {
    /// Records that wait for their acknowledgement at most.
    public static let mostInFlight = 64
    /// Bytes of a reply's text at most; ringserver's have less than 300.
    static let mostReply = 4096

    /// Bytes that wait to be sent; ``takeOutput()`` empties it.
    public private(set) var output: [UInt8] = []
    /// Reason why the connection is of no use; it is to be closed.
    public private(set) var complaint: String?
    /// The server's description of itself, once it has come.
    public private(set) var server: String?
    /// By station, such as `XX_BASE`: the number of the newest record that the server has acknowledged.
    public private(set) var given: [String: UInt64]
    /// Records acknowledged on this connection.
    public private(set) var records = 0

    private var buffer: [UInt8] = []
    /// Written and not acknowledged, in the order in which they were: the server answers in this order.
    private var inFlight: [(station: String, sequence: UInt64)] = []
    private var next: [String: UInt64] = [:]
    private var turn = 0

    /// - Parameters:
    ///   - program: `name:user:process:machine`, for the server's list of clients.
    ///   - given: what former connections have brought there.
    public init(program: String, given: [String: UInt64]) {
        self.given = given
        append(header: "ID \(program)")
    }

    public var waits: Int { inFlight.count }

    public mutating func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    // MARK: What the server says

    public mutating func receive(_ bytes: some Collection<UInt8>) {
        guard complaint == nil else { return }
        buffer += bytes
        var place = 0
        while complaint == nil, let (header, text, length) = reply(at: place) {
            place += length
            take(header, text)
        }
        buffer.removeFirst(min(place, buffer.count))
    }

    /// - Returns: nil where it is not whole yet.
    private mutating func reply(at place: Int) -> (header: [Substring], text: String, length: Int)? {
        let rest = buffer[place...]
        guard rest.count >= 3 else {
            if !rest.elementsEqual("DL".utf8.prefix(rest.count)) { complaint = Self.strange }
            return nil
        }
        guard rest.starts(with: "DL".utf8) else {
            complaint = Self.strange
            return nil
        }
        let length = Int(rest[place + 2])
        guard rest.count >= 3 + length else { return nil }
        let header = String(decoding: rest[(place + 3)..<(place + 3 + length)], as: UTF8.self).split(separator: " ")
        guard let kind = header.first, ["OK", "ERROR"].contains(kind) else { return (header, "", 3 + length) }
        guard header.count == 3, let size = Int(header[2]), (0...Self.mostReply).contains(size) else {
            complaint = Self.strange
            return nil
        }
        guard rest.count >= 3 + length + size else { return nil }
        let text = rest[(place + 3 + length)..<(place + 3 + length + size)]
        return (header, String(decoding: text, as: UTF8.self), 3 + length + size)
    }

    private static let strange = "what answers there does not speak DataLink"

    private mutating func take(_ header: [Substring], _ text: String) {
        switch header.first {
        case "ID":
            let words = header.dropFirst().joined(separator: " ")
            guard header.contains("WRITE") else {
                complaint = "the server does not let us write (\(words)); ringserver needs our address in WriteIP"
                return
            }
            server = words
        case "OK":
            guard !inFlight.isEmpty else { return complaint = "the server acknowledges what was not written" }
            let (station, sequence) = inFlight.removeFirst()
            given[station] = sequence
            records += 1
        case "ERROR":
            complaint = "the server refuses a record of \(inFlight.first?.station ?? "nothing"): \(text.prefix(200))"
        default: complaint = Self.strange
        }
    }

    // MARK: What is written

    /// Writes as many records as may be on their way, the stations in turn.
    public mutating func pump(_ archive: some FeedArchive) {
        guard complaint == nil, server != nil else { return }
        var idle = 0
        while inFlight.count < Self.mostInFlight, idle < archive.stations.count {
            let index = turn % archive.stations.count
            turn = index + 1
            let station = archive.stations[index]
            let from = max(next[station.identifier] ?? (given[station.identifier] ?? 0) + 1, 1)
            // (A ring that was begun anew counts from 1 again.)
            let first = from > station.last + 1 ? station.first : max(from, station.first)
            let most = min(8, Self.mostInFlight - inFlight.count)
            let packets = first <= station.last ? archive.packets(of: index, from: first, most: most) : []
            guard let last = packets.last else {
                idle += 1
                continue
            }
            idle = 0
            for packet in packets { write(packet, station) }
            next[station.identifier] = last.sequence + 1
        }
    }

    private mutating func write(_ packet: FeedPacket, _ station: FeedStation) {
        let name = "\(station.identifier)_\(packet.location)_\(packet.channel)/MSEED"
        // Times are microseconds.
        append(header: "WRITE \(name) \(packet.start / 1000) \(packet.end / 1000) A \(packet.record.count)")
        output += packet.record
        inFlight.append((station.identifier, packet.sequence))
    }

    private mutating func append(header: String) {
        let bytes = Array(header.utf8.prefix(255))
        output += "DL".utf8
        output.append(UInt8(bytes.count))
        output += bytes
    }
}

/// How far another server has been given the records: the server's thread counts, the hub's thread has it on the disk.
public final class Forwarded: Sendable {
    private let contents: Mutex<(given: [String: UInt64], isChanged: Bool, records: Int, isConnected: Bool)>

    /// - Parameter given: by station, such as `XX_BASE`, the number of the newest record that is there.
    public init(given: [String: UInt64]) { contents = Mutex((given, false, 0, false)) }

    public var given: [String: UInt64] { contents.withLock { $0.given } }
    public var records: Int { contents.withLock { $0.records } }
    public var isConnected: Bool { contents.withLock { $0.isConnected } }

    public func set(_ given: [String: UInt64], records: Int) {
        contents.withLock { $0 = (given, true, $0.records + records, $0.isConnected) }
    }

    public func set(connected: Bool) { contents.withLock { $0.isConnected = connected } }

    /// - Returns: what is to be written; nil where nothing has changed.
    public func takeChanged() -> [String: UInt64]? {
        contents.withLock { contents in
            defer { contents.isChanged = false }
            return contents.isChanged ? contents.given : nil
        }
    }
}
