import Messages
import Propagation

/// Stations that may feel the same earthquakes: cells of 4 by 4 degrees that touch each other. It has an associator and
/// a watermark of its own, so that a region whose messages are late does not make another wait or miss something.
struct Region: Sendable {
    /// Number of a cell: row and column.
    struct Cell: Hashable, Sendable {
        static let degrees = 4.0
        var row: Int
        var column: Int

        init(_ place: Place) {
            row = Int((place.latitude / Self.degrees).rounded(.down))
            column = Int((place.longitude / Self.degrees).rounded(.down))
        }

        /// Whether less than 150 km lie between the two.
        func isNear(_ other: Cell) -> Bool {
            guard abs(row - other.row) <= 1 else { return false }
            let columns = Int(360 / Self.degrees)
            let apart = abs(column - other.column)
            // Towards the poles cells become narrow; 4 degrees are 150 km at 70 degrees of latitude.
            let reach = max(abs(row), abs(other.row)) >= 17 ? columns : 1
            return min(apart, columns - apart) <= reach
        }
    }

    var cells: Set<Cell> = []
    var core: Associator
    var announcer = Announcer()
    /// Its input has been published before: nothing is published.
    var isMuted = false
    /// True without waiting: onsets are used in the order in which they come.
    let isEarly: Bool
    /// Newer than the watermark, in order.
    private(set) var pending: [StationReport] = []
    /// Usual delay of what is used at once.
    private var punctuality = Punctuality()
    /// Newest onset, nanoseconds of UTC.
    private var newest = Int64.min
    /// Event time of the last versions.
    private var said = Int64.min
    /// Reports that were older than what had been taken already.
    private(set) var late = 0

    init(_ options: AssociationOptions, isEarly: Bool) {
        core = Associator(options)
        self.isEarly = isEarly
        announcer.isEarly = isEarly
    }

    /// Nanoseconds by the clock after which a message that is waited for in event time is late all the same.
    private static let settledPatience: Int64 = 10_000_000_000

    /// Nanoseconds by which the clock is ahead of what is taken for missing.
    private var patience: Int64 { isEarly ? punctuality.patience : Self.settledPatience }

    /// Takes in another region, which a new station has connected with this one.
    mutating func merge(_ other: Region) {
        cells.formUnion(other.cells)
        core.merge(other.core)
        announcer.merge(other.announcer)
        for report in other.pending { hold(report) }
        newest = max(newest, other.newest)
        said = max(said, other.said)
        late += other.late
    }

    /// Takes a report, and does what follows of all up to the watermark.
    /// - Parameter arrival: when it came, nanoseconds of UTC; nil where that is not known.
    mutating func take(_ report: StationReport, arrival: Int64?) -> [DueVersion] {
        if isEarly {
            if let arrival { punctuality.note(arrival - report.time) }
            if report.time < core.now { late += 1 }
            let versions = pass(to: report.time)
            feed(report, &core)
            return versions + dueVersions()
        }
        if report.time < core.now { late += 1 }
        hold(report)
        if report.isFirst { newest = max(newest, report.onset.time) }
        if newest == .min { return [] }
        return settle(to: newest - Int64(core.options.watermark * 1e9))
    }

    /// Uses all onsets up to this time; none older is waited for any more.
    mutating func settle(to watermark: Int64) -> [DueVersion] {
        var versions: [DueVersion] = []
        let count = pending.prefix { $0.time <= watermark }.count
        for report in pending.prefix(count) {
            versions += pass(to: report.time)
            feed(report, &core)
            versions += dueVersions()
        }
        pending.removeFirst(count)
        return versions + pass(to: watermark)
    }

    /// From now on it says again what is new.
    mutating func unmute() {
        isMuted = false
        announcer.look(from: core.now, core.options)
    }

    /// Uses all onsets that waited, then lets time pass until all events have ended.
    mutating func finish() -> [DueVersion] {
        var versions = pending.last.map { settle(to: $0.time) } ?? []
        while core.events.contains(where: { $0.closed == nil }) || core.isWaiting || announcer.deadline != nil {
            guard let next = nextDeadline else { break }
            versions += pass(to: next)
        }
        return versions
    }

    /// The clock says that it is so late: waits that are over by now end, whether or not anything has come.
    /// - Parameter now: nanoseconds of UTC.
    mutating func pass(clock now: Int64) -> [DueVersion] {
        let time = now - patience
        var versions: [DueVersion] = []
        if time >= core.now || next.map({ $0 <= time }) == true { versions = settle(to: max(time, core.now)) }
        if let pause = endOfPause, pause <= now { versions += dueVersions(at: pause) }
        return versions
    }

    /// When ``pass(clock:)`` has something to do next, nanoseconds of UTC; nil: not by itself.
    var due: Int64? { [next.map { $0 + patience }, endOfPause].compactMap(\.self).min() }

    /// When a version that waits because the last one is too new is published. No station is waited for meanwhile.
    private var endOfPause: Int64? { isEarly && !isMuted ? announcer.deadline : nil }

    /// Event time of what is done next without another message.
    private var next: Int64? { [nextDeadline, pending.first?.time].compactMap(\.self).min() }

    private var nextDeadline: Int64? { [core.deadline, announcer.deadline].compactMap(\.self).min() }

    private mutating func pass(to time: Int64) -> [DueVersion] {
        var versions: [DueVersion] = []
        while let next = nextDeadline, next <= time {
            core.advance(to: next)
            versions += dueVersions()
        }
        core.advance(to: time)
        return versions
    }

    /// - Parameter time: of the versions, where event time is not so late yet.
    private mutating func dueVersions(at time: Int64 = .min) -> [DueVersion] {
        guard !isMuted else { return [] }
        said = max(said, core.now, time)
        let now = said
        return announcer.observe(core, now: now).map { DueVersion(message: $0, time: now) }
    }

    private func feed(_ report: StationReport, _ core: inout Associator) {
        core.process(report.onset, isFirst: report.isFirst, at: report.time)
    }

    private mutating func hold(_ report: StationReport) {
        var at = pending.count
        while at > 0, StationReport.precedes(report, pending[at - 1]) { at -= 1 }
        if at > 0, pending[at - 1] == report { return }
        pending.insert(report, at: at)
    }
}

/// A version of a network event that is to be published.
public struct DueVersion: Sendable, Equatable {
    public var message: NetworkEventMessage
    /// Event time, nanoseconds of UTC.
    public var time: Int64
}
