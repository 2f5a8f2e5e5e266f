import Glibc
import Messages
import MiniSEED
import Spool

/// What the spool writes to a disk in a day, how long its calls take and what memory it needs: lines `name value`.
///
///     storage FOLDER [HOURS]
@main struct Storage {
    static let second: Int64 = 1_000_000_000
    static let begin: Int64 = 1_767_225_600_000_000_000

    static func main() {
        guard CommandLine.arguments.count > 1 else {
            print("usage: storage FOLDER [HOURS]")
            exit(64)
        }
        let folder = CommandLine.arguments[1]
        let hours = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2]) ?? 24 : 24
        do {
            try memory(folder + "/memory")
            try day(folder + "/quiet", "ring", hours, Load(ring: true))
            try day(folder + "/minute", "ring-commit-60s", hours, Load(ring: true, commitEvery: 60))
            try day(folder + "/online", "ring-and-state", hours, Load(ring: true, state: true))
            try day(folder + "/outage", "outage-traces-commit-1s", hours, Load(trace: true, commitEvery: 1))
            try day(folder + "/outage10", "outage-traces-commit-10s", hours, Load(trace: true))
            try day(folder + "/all", "outage-all-commit-10s", hours, Load(ring: true, state: true, trace: true))
            try large(folder + "/large")
            try latency(folder + "/latency")
        } catch {
            print("error: \(error)")
            exit(1)
        }
    }

    struct Load {
        var ring = false
        /// A summary a minute; settled at once unless there are traces that wait too.
        var state = false
        /// A trace a second, which nobody fetches.
        var trace = false
        /// Seconds.
        var commitEvery = 10
    }

    // MARK: Bytes of a day

    static func day(_ folder: String, _ name: String, _ hours: Int, _ load: Load) throws {
        var spool = try Spool.open(SpoolOptions(directory: folder), now: begin)
        var noise = Noise(rate: 100)
        let trace = [UInt8](repeating: 0x31, count: 2600)
        let state = [UInt8](repeating: 0x31, count: 1400)
        let before = writeBytes()
        let start = now()
        var raw = 0
        for second in 0..<hours * 3600 {
            let time = begin + Int64(second) * Self.second
            if load.ring, second % 10 == 9 {
                let records = try noise.records(start: time - 9 * Self.second)
                raw += records.count
                let segment = RingSegment(
                    start: time - 9 * Self.second, end: time + 990_000_000, samples: 1000, rate: 100, format: .v3,
                    unit: 1e-6)
                try records.withUnsafeBytes { try spool.appendSegment(segment, $0) }
            }
            if load.trace {
                raw += trace.count
                _ = try trace.withUnsafeBytes { try spool.put(header(.trace), $0, made: time) }
            }
            if load.state, second % 60 == 0 {
                raw += state.count
                let key = try state.withUnsafeBytes { try spool.put(header(.state), $0, made: time) }
                if !load.trace {
                    try spool.commit()
                    if key > 0 { try spool.settle(key, .delivered) }
                }
            }
            if second % load.commitEvery == load.commitEvery - 1 {
                try spool.commit()
                try spool.checkpoint()
            }
            if second % 60 == 0 { try spool.trim(now: time) }
            // As the agent does it.
            if second % 600 == 599 { try spool.checkpoint(whole: true) }
        }
        try spool.commit()
        let statistics = spool.statistics
        let scale = 24 / Double(hours) / 1e6
        func line(_ what: String, _ value: Double) { print("\(name)-\(what) \(rounded(value))") }
        line("payload-mb-a-day", Double(raw) * scale)
        line("written-mb-a-day", Double(statistics.bytesWritten) * scale)
        line("disk-mb-a-day", Double(writeBytes() - before) * scale)
        line("file-mb", Double(statistics.fileBytes) / 1e6)
        line("cpu-ms-an-hour", Double(now() - start) / 1e6 / Double(hours))
        try spool.close()
    }

    static func header(_ priority: Priority) -> PublicationHeader {
        PublicationHeader(topic: "seismote/station-1/data/trace", qos: 1, retain: false, priority: priority)
    }

    // MARK: A large file

    static func large(_ folder: String) throws {
        let trace = [UInt8](repeating: 0x31, count: 2600)
        let options = SpoolOptions(directory: folder)
        do {
            var spool = try Spool.open(options, now: begin)
            let start = now()
            for index in 0..<140_000 {
                _ = try trace.withUnsafeBytes { try spool.put(header(.trace), $0, made: begin) }
                if index % 100 == 0 { try spool.commit() }
            }
            try spool.commit()
            let statistics = spool.statistics
            print("full-messages \(statistics.messages.total)")
            print("full-dropped \(statistics.dropped.total)")
            print("full-file-mb \(rounded(Double(statistics.fileBytes) / 1e6))")
            print("full-put-us \(rounded(Double(now() - start) / 140_000 / 1e3))")
            try spool.close()
        }
        let before = resident()
        let start = now()
        var spool = try Spool.open(options, now: begin)
        print("full-open-ms \(rounded(Double(now() - start) / 1e6))")
        print("full-open-rss-kb \(resident() - before)")
        let reading = now()
        var key: Int64 = 0
        var count = 0
        while let last = try spool.next(.rest, after: key, messages: 32, bytes: 256 << 10).last {
            key = last.key
            count += 32
            if count >= 9600 { break }
        }
        print("read-us-a-message \(rounded(Double(now() - reading) / Double(max(1, count)) / 1e3))")
        try spool.close()
    }

    // MARK: How long calls take

    static func latency(_ folder: String) throws {
        var spool = try Spool.open(SpoolOptions(directory: folder), now: begin)
        let event = [UInt8](repeating: 0x31, count: 2000)
        var puts: [Int64] = []
        var syncs: [Int64] = []
        for index in 0..<500 {
            let start = now()
            let key = try event.withUnsafeBytes { try spool.put(header(.essential), $0, made: begin) }
            try spool.commit()
            let committed = now()
            try spool.makeDurable()
            puts.append(committed - start)
            syncs.append(now() - committed)
            if key > 0 { try spool.settle(key, .delivered) }
            if index % 20 == 0 { try spool.checkpoint() }
        }
        puts.sort()
        syncs.sort()
        print("put-commit-median-us \(puts[250] / 1000)")
        print("put-commit-p99-us \(puts[495] / 1000)")
        print("make-durable-median-us \(syncs[250] / 1000)")
        print("make-durable-p99-us \(syncs[495] / 1000)")
        try spool.close()
    }

    // MARK: Memory

    static func memory(_ folder: String) throws {
        var noise = Noise(rate: 100)
        let records = try noise.records(start: begin)
        let before = resident()
        let anonymous = number(in: "/proc/self/status", after: "RssAnon:")
        var spool = try Spool.open(SpoolOptions(directory: folder), now: begin)
        print("open-rss-kb \(resident() - before)")
        print("open-rss-anonymous-kb \(number(in: "/proc/self/status", after: "RssAnon:") - anonymous)")
        let trace = [UInt8](repeating: 0x31, count: 2600)
        for index in 0..<2000 {
            let time = begin + Int64(index) * 10 * second
            let segment = RingSegment(
                start: time, end: time + 9_990_000_000, samples: 1000, rate: 100, format: .v3, unit: 1e-6)
            try records.withUnsafeBytes { try spool.appendSegment(segment, $0) }
            let key = try trace.withUnsafeBytes { try spool.put(header(.trace), $0, made: time) }
            if key > 0, index % 2 == 0 { try spool.settle(key, .delivered) }
            try spool.commit()
            try spool.checkpoint()
        }
        print("writing-rss-kb \(resident() - before)")
        print("writing-rss-anonymous-kb \(number(in: "/proc/self/status", after: "RssAnon:") - anonymous)")
        try spool.close()
    }

    // MARK: Tools

    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * second + Int64(time.tv_nsec)
    }

    static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }

    /// kB of this process in memory.
    static func resident() -> Int { number(in: "/proc/self/status", after: "VmRSS:") }

    /// Bytes that this process has had written to a disk; 0 on a file system in memory.
    static func writeBytes() -> Int { number(in: "/proc/self/io", after: "write_bytes:") }

    static func number(in path: String, after name: String) -> Int {
        guard let file = fopen(path, "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.utf8.starts(with: name.utf8), !text.hasPrefix("cancelled") else { continue }
            let digits = text.drop { !$0.isNumber }.prefix { $0.isNumber }
            return Int(digits) ?? 0
        }
        return 0
    }
}

/// Noise of a good sensor at rest, as counts: about six bits of it, as an ADXL355 has at 100 Hz.
struct Noise {
    private var state: UInt64 = 88_172_645_463_325_252
    private let rate: Double
    private var counts = [Int32](repeating: 0, count: 1000)

    init(rate: Double) { self.rate = rate }

    mutating func records(start: Int64) throws -> [UInt8] {
        var writer = try MiniSEEDWriter(format: .v3)
        var output: [UInt8] = []
        for axis in 0..<3 {
            for index in counts.indices { counts[index] = next() }
            let source = SourceIdentifier(
                network: "XX", station: "BASE", location: "00", band: "H", source: "N",
                subsource: ["E", "N", "Z"][axis])
            _ = try counts.withUnsafeBufferPointer {
                try writer.encode($0, start: start, rate: rate, source: source, into: &output)
            }
        }
        return output
    }

    private mutating func next() -> Int32 {
        var sum: Int32 = 0
        for _ in 0..<4 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            sum += Int32(state & 31)
        }
        return sum - 62
    }
}
