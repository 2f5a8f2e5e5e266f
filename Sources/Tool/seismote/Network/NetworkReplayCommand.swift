import ArgumentParser
import Association
import Glibc
import Messages
import ServerOptions
import Settings
import Values
import Warning

/// `seismote network replay FILE`: the associator alone on recorded messages.
struct NetworkReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Run the associator on recorded messages.",
        discussion: """
            seismote network replay messages.jsonl -o events.jsonl

            Each line of the input is an object {"topic": "seismote/<id>/event/trigger", "payload": {...}, "arrival": \
            seconds}, in order of arrival; "seismote/<id>/state/info" tells the stations' places. Each line of the \
            output is a message as it would be published on seismote/network/event, in the order of event time. The \
            output depends on the messages alone: it has the same bytes for any order of arrival within 3 s. With --warn-at \
            it also says what a station at a place would have warned of (alarm.network), and when.
            """)

    @Argument(help: "Recorded messages, one JSON object a line; - is standard input.")
    var file: String

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write the network events here instead of to standard output.", valueName: "file"))
    var output = "-"

    @Option(help: ArgumentHelp("First levels of every topic.", valueName: "topic"))
    var root = Topics.defaultRoot

    @Flag(
        help: ArgumentHelp(
            """
            Publish versions in the order of arrival, as seismote-network does: late onsets are not waited for, and waits \
            end by the times of arrival.
            """))
    var early = false

    @Option(
        help: ArgumentHelp(
            "Say what a station there would have warned of; may be given again.", valueName: "latitude,longitude"))
    var warnAt: [String] = []

    @Option(help: ArgumentHelp("As alarm.network.mmi.", valueName: "intensity"))
    var warnMmi = Configuration().alarm.network.intensity

    @Option(help: ArgumentHelp("Write the warnings here.", valueName: "file"))
    var warnings = "-"

    @Flag(help: "Do not say on standard error what was taken and refused.")
    var quiet = false

    func validate() throws {
        for text in warnAt where RecordedWarnings.place(text) == nil {
            throw ValidationError("--warn-at \(text): degrees north and east, with a comma between them")
        }
        guard (2...10).contains(warnMmi) else { throw ValidationError("--warn-mmi \(warnMmi): 2 to 10") }
    }

    func run() throws {
        try ending { try replay() }
    }

    private func replay() throws {
        guard let lines = LineReader(path: file) else {
            throw failure("cannot read \(file): \(String(cString: strerror(errno)))", .noInput)
        }
        var recorded = RecordedNetwork(root: root, isEarly: early)
        recorded.warnings = RecordedWarnings(warnAt, root: root, intensity: warnMmi)
        while let line = lines.next() { recorded.take(line) }
        recorded.finish()
        let target = try OutputFile(path: output)
        for line in recorded.lines() {
            line.withUnsafeBytes { target.append($0) }
            target.endLine()
        }
        try target.finish()
        if !warnAt.isEmpty {
            let target = try OutputFile(path: warnings)
            for line in recorded.warnings?.lines ?? [] {
                line.json().withUnsafeBytes { target.append($0) }
                target.endLine()
            }
            try target.finish()
        }
        if !quiet { printError(recorded.report) }
    }
}

/// The detector's output for recorded messages.
struct RecordedNetwork {
    let root: String
    private var detector: NetworkDetector
    private var versions: [DueVersion] = []
    private var unreadable = 0
    private var firstUnreadable: (line: Int, problem: String)?
    private var count = 0
    /// Arrival of the newest message, nanoseconds of UTC.
    private var newest = Int64.min
    /// Warnings that stations would have given.
    var warnings: RecordedWarnings?

    init(root: String, isEarly: Bool) {
        self.root = root
        detector = NetworkDetector(isEarly: isEarly)
    }

    mutating func take(_ line: [UInt8]) {
        count += 1
        guard !line.isEmpty else { return }
        do throws(CodedError) {
            let record: Value
            do throws(ReadingError) { record = try JSONReader.read(line) } catch { throw CodedError(error) }
            guard let topic = record["topic"]?.rawText, let (station, rest) = Topics.split(topic, root: root),
                let payload = record["payload"]
            else { throw CodedError("", .type, "No object with topic and payload.") }
            // Seconds since 1970; smaller numbers count from somewhere else and say nothing of the clock.
            let arrival = record["arrival"]?.number.flatMap { (1e9...9e9).contains($0) ? Int64($0 * 1e9) : nil }
            if let arrival { pass(clock: arrival) }
            if case .success(let new) = detector.take(station: station, topic: rest, payload: payload, arrival: arrival)
            {
                versions += new
                for one in new { warnings?.take(one, arrival: arrival ?? one.time) }
            }
        } catch {
            unreadable += 1
            if firstUnreadable == nil { firstUnreadable = (count, error.message) }
        }
    }

    /// The clock goes on until a message comes, and what is due in between happens when it is due. (Without `--early` the
    /// output depends on event time alone.)
    private mutating func pass(clock arrival: Int64) {
        guard detector.isEarly else { return }
        newest = max(newest, arrival)
        while let due = detector.due, due < arrival {
            let new = detector.pass(clock: due)
            versions += new
            for one in new { warnings?.take(one, arrival: due) }
        }
    }

    /// Seconds that the clock goes on after the last message.
    private static let afterwards: Int64 = 300

    mutating func finish() {
        if newest != .min { pass(clock: newest + Self.afterwards * 1_000_000_000) }
        let last = detector.finish()
        versions += last
        for one in last { warnings?.take(one, arrival: one.time) }
        warnings?.finish()
    }

    /// The messages as published. Regions do not wait for each other: their messages are put in the order of event time.
    func lines() -> [[UInt8]] {
        let ordered = versions.enumerated().sorted { a, b in
            let (x, y) = (a.element, b.element)
            if detector.isEarly || x.time == y.time && x.message.eventID == y.message.eventID {
                return a.offset < b.offset
            }
            return x.time != y.time ? x.time < y.time : x.message.eventID < y.message.eventID
        }
        return ordered.enumerated().map { number, one in
            one.element.message.json(
                boot: "00000000-0000-0000-0000-000000000000", number: number, time: one.element.time)
        }
    }

    var report: String {
        var text = "\(detector.taken) messages of \(detector.stations) stations, "
        text += "\(versions.filter { $0.message.kind == .onset }.count) network events, \(detector.late) late"
        let refused = RejectionReason.allCases.compactMap { reason in
            detector.refused[reason].map { "\($0) \(reason.rawValue)" }
        }
        if !refused.isEmpty { text += "; refused: " + refused.joined(separator: ", ") }
        if let first = firstUnreadable { text += "; unreadable: \(unreadable), line \(first.line): \(first.problem)" }
        return text
    }
}

/// Lines of a file or of standard input (`-`), each at most a mebibyte.
final class LineReader {
    private static let limit = 1 << 20
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false

    init?(path: String) {
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit { if descriptor > STDIN_FILENO { close(descriptor) } }

    /// Nil at the end. A line that is too long comes in pieces, which are no JSON.
    func next() -> [UInt8]? {
        while true {
            if let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return Array(buffer[start..<end])
            }
            if isAtEnd || buffer.count - start > Self.limit {
                guard start < buffer.count else { return nil }
                defer { start = buffer.count }
                return Array(buffer[start...])
            }
            fill()
        }
    }

    private func fill() {
        buffer.removeFirst(start)
        start = 0
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(descriptor, &piece, piece.count)
        if count > 0 { buffer += piece.prefix(count) } else if count == 0 || errno != EINTR { isAtEnd = true }
    }
}

/// Warnings that stations at some places would have given, had they read the versions of network events as they came.
struct RecordedWarnings {
    private var stations: [(place: String, warning: NetworkWarning)]
    private let topic: String
    private(set) var lines: [Value] = []

    /// - Parameter places: degrees north and east, with a comma between them.
    init(_ places: [String], root: String, intensity: Double) {
        let topic = "\(root)/network/event"
        self.topic = topic
        stations = places.compactMap { text in
            guard let (latitude, longitude) = Self.place(text) else { return nil }
            let options = NetworkWarning.Options(
                topic: topic, latitude: latitude, longitude: longitude, intensity: intensity,
                stations: Configuration().alarm.network.stations)
            return (text, NetworkWarning(options))
        }
    }

    static func place(_ text: String) -> (latitude: Double, longitude: Double)? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard parts.count == 2, let latitude = parts[0], let longitude = parts[1], (-90...90).contains(latitude),
            (-180...180).contains(longitude)
        else { return nil }
        return (latitude, longitude)
    }

    /// - Parameter arrival: when it came, nanoseconds of UTC.
    mutating func take(_ version: DueVersion, arrival: Int64) {
        guard !stations.isEmpty else { return }
        let tree = try? JSONReader.read(version.message.json(boot: "", number: 0, time: version.time))
        for i in stations.indices {
            let now = NetworkWarning.Moment(wall: arrival, monotonic: arrival, isSynchronized: true)
            var said = stations[i].warning.advance(now)
            said += stations[i].warning.take(topic: topic, isRetained: false, tree, at: now).messages
            for message in said { note(message, stations[i].place) }
        }
    }

    mutating func finish() {
        for i in stations.indices {
            while let due = stations[i].warning.due {
                let now = NetworkWarning.Moment(wall: due, monotonic: due, isSynchronized: true)
                for message in stations[i].warning.advance(now) { note(message, stations[i].place) }
            }
        }
    }

    private mutating func note(_ message: WarningMessage, _ place: String) {
        guard let tree = try? JSONReader.read(message.json()) else { return }
        lines.append(.object([.init("place", .string(place)), .init("warning", tree)]))
    }
}
