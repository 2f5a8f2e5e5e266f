import Foundation
import Messages
import TestSupport

@testable import Spool

/// 2026-01-01, and a second and a day, in nanoseconds.
let newYear: Int64 = 1_767_225_600_000_000_000
let second: Int64 = 1_000_000_000
let hour: Int64 = 3600 * second
let day: Int64 = 86_400 * second

extension TemporaryFolder {
    /// Opens the spool of this folder.
    func open(
        budget: Int = 512_000_000, ring: Double = 3600, keep: Double = 30 * 86_400, now: Int64 = newYear,
        boot: String = "a"
    ) throws -> Spool {
        for _ in 0..<50 {
            do throws(SpoolError) {
                return try Spool.open(options(budget: budget, ring: ring, keep: keep), now: now, boot: boot)
            } catch {
                // A test beside this one may be starting a process, which has the lock until it is another program.
                guard error.text.hasPrefix("another process") else { throw error }
                usleep(10_000)
            }
        }
        return try Spool.open(options(budget: budget, ring: ring, keep: keep), now: now, boot: boot)
    }

    func options(
        budget: Int = 512_000_000, ring: Double = 3600, keep: Double = 30 * 86_400
    ) -> SpoolOptions {
        SpoolOptions(directory: path("s"), budgetBytes: budget, ringSeconds: ring, keepEventsSeconds: keep)
    }

    var database: String { path("s/spool.db") }

    /// What a process that is killed now leaves behind, in a folder of its own.
    func killed() throws -> TemporaryFolder {
        let copy = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: path("s"), toPath: copy.path("s"))
        return copy
    }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path("s"))) ?? []).sorted() }
}

extension PublicationHeader {
    static func of(
        _ priority: Priority, _ topic: String = "seismote/a/t", event: String? = nil, part: EventMark.Part = .onset
    ) -> PublicationHeader {
        var header = PublicationHeader(topic: topic, qos: 1, retain: false, priority: priority)
        if let event { header.event = EventMark(id: event, part: part) }
        return header
    }
}

extension Spool {
    @discardableResult
    mutating func put(_ header: PublicationHeader, _ text: String, made: Int64 = newYear) throws -> Int64 {
        try put(header, Array(text.utf8), made: made)
    }

    @discardableResult
    mutating func put(_ header: PublicationHeader, _ bytes: [UInt8], made: Int64 = newYear) throws -> Int64 {
        // (A copy of the value cannot be made, and a closure may not throw its type through here.)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { buffer.deallocate() }
        buffer.copyBytes(from: bytes)
        return try put(header, UnsafeRawBufferPointer(buffer), made: made)
    }

    mutating func texts(_ line: SpoolLine, after key: Int64 = 0) throws -> [String] {
        try next(line, after: key).map { String(decoding: $0.payload, as: UTF8.self) }
    }

    mutating func appendSegment(start: Int64, seconds: Int = 10, bytes: Int = 4000) throws {
        let segment = RingSegment(
            start: start, end: start + Int64(seconds) * second - second / 100, samples: seconds * 100, rate: 100,
            format: .v3)
        try appendSegment(segment, [UInt8](repeating: UInt8(truncatingIfNeeded: start / second), count: bytes))
    }

    mutating func appendSegment(_ segment: RingSegment, _ bytes: [UInt8]) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { buffer.deallocate() }
        buffer.copyBytes(from: bytes)
        try appendSegment(segment, UnsafeRawBufferPointer(buffer))
    }
}
