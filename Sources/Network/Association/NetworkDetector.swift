import Messages
import Propagation
import Values

/// Messages of stations in, versions of network events out. Pure: driven by the times in the messages, and by the clock
/// where it is told of it.
public struct NetworkDetector: Sendable {
    /// Stations that are kept; a place costs about 200 bytes.
    static let stationLimit = 100_000

    public let options: AssociationOptions
    /// Whether messages are used in the order in which they come, and waits end by the clock, instead of waiting for late
    /// ones until the watermark has passed. The first warning comes seconds earlier then; what it says may depend on which
    /// messages were late.
    public let isEarly: Bool
    /// Set while a successor is given again what its predecessor has had: it says nothing of that.
    public var isMuted = false {
        didSet {
            if !isMuted { share() }
            for i in regions.indices { if isMuted { regions[i].isMuted = true } else { regions[i].unmute() } }
        }
    }
    private var regions: [Region] = []
    /// Index of the region of each station.
    private var homes: [String: Int] = [:]
    /// Where the stations are that take part.
    private var places: [String: Place] = [:]
    private var believed: StationPlaces
    private var offline: Set<String> = []
    /// Names of those who run stations, as entered.
    private var operators: [String: String] = [:]
    /// Since when stations are online that have not always been so, seconds of UTC.
    private var since: [String: Double] = [:]
    /// Announced by others before this run.
    private var restored: [Announcer.Announced] = []
    /// Messages that were taken, and those that were not, by reason.
    public private(set) var taken = 0
    public private(set) var refused: [RejectionReason: Int] = [:]

    public init(_ options: AssociationOptions = AssociationOptions(), isEarly: Bool = false) {
        (self.options, self.isEarly) = (options, isEarly)
        believed = StationPlaces(tolerance: options.placeKilometres, limit: Self.stationLimit)
    }

    public var stations: Int { places.count }
    var stationNames: [String] { places.keys.sorted() }
    /// Stations that take no part until somebody confirms that they have moved.
    public var moved: [StationPlaces.Moved] { believed.strangers }
    public func isMoved(_ station: String) -> Bool { believed.isMoved(station) }
    public var late: Int { regions.reduce(0) { $0 + $1.late } }
    public var openEvents: Int {
        regions.reduce(0) { $0 + $1.core.events.filter { $0.closed == nil }.count }
    }

    /// The oldest time that anything may still be needed of; nil when nothing is.
    public var oldestNeeded: Int64? {
        regions.compactMap { region in
            [region.core.oldestNeeded, region.pending.first?.onset.time].compactMap(\.self).min()
        }.min()
    }

    // MARK: In

    /// Takes one message of a station.
    /// - Parameters:
    ///   - topic: below the station's id, such as `event/trigger`.
    ///   - arrival: when it came, nanoseconds of UTC; nil where that is not known.
    public mutating func take(
        station: String, topic: String, payload: Value, arrival: Int64?
    ) -> Result<[DueVersion], RejectionReason> {
        do throws(RejectionReason) {
            guard Topics.problem(inID: station) == nil else { throw .topic }
            let versions: [DueVersion]
            switch topic {
            case "event/trigger":
                versions = try take(StationReport(payload, station: station, arrival: arrival), arrival)
            case "state/info":
                guard let identity = InfoReading(payload).station else { throw .syntax }
                guard identity.isOf(station) else { throw .station }
                let made = MessageStamp(payload).time
                let since = [made, arrival].compactMap(\.self).min().map { Double($0) / 1e9 }
                let place = try Place.reading(identity)
                // Also where it is refused: one that has moved takes no part.
                defer { setPlace(believed.place(of: station), of: station, since: since) }
                try believed.state(place, station)
                versions = []
            case "state/online":
                setOnline(payload != .string("offline"), station, at: arrival)
                versions = []
            default: throw .topic
            }
            taken += 1
            return .success(versions)
        } catch {
            refused[error, default: 0] += 1
            return .failure(error)
        }
    }

    /// Bytes of the name of who runs a station.
    static let operatorLimit = 100

    /// Takes what the operator has entered for a station (`network/place/<id>`): an object with `latitude`, `longitude` and
    /// perhaps `elevation_m` and `operator`; nil, an empty message, forgets it.
    public mutating func enterPlace(_ payload: Value?, of station: String, arrival: Int64?) -> Result<
        Void, RejectionReason
    > {
        do throws(RejectionReason) {
            guard Topics.problem(inID: station) == nil else { throw .topic }
            var place: Place?
            let entered = payload.map(StationIdentityReading.init)
            if let entered {
                guard let read = try Place.reading(entered) else { throw .place }
                place = read
            }
            try believed.enter(place, station)
            let name = entered?.runner ?? ""
            operators[station] = name.isEmpty || name.utf8.count > Self.operatorLimit ? nil : name
            setPlace(believed.place(of: station), of: station, since: arrival.map { Double($0) / 1e9 })
            tellOperator(station)
            return .success(())
        } catch {
            refused[error, default: 0] += 1
            return .failure(error)
        }
    }

    private mutating func take(_ report: StationReport, _ arrival: Int64?) throws(RejectionReason) -> [DueVersion] {
        guard let home = homes[report.onset.station] else {
            throw believed.isMoved(report.onset.station) ? .moved : .unplaced
        }
        if report.isFirst, regions[home].core.isBusy(report.onset) { throw .rate }
        return regions[home].take(report, arrival: arrival)
    }

    /// Does all that time alone brings: ends waits that are over, and events that have had nothing new for long. To be
    /// called when it is ``due``; called at other times as well, the same follows.
    /// - Parameter now: nanoseconds of UTC; what came before has been taken, or is taken for late.
    public mutating func pass(clock now: Int64) -> [DueVersion] {
        regions.indices.flatMap { regions[$0].pass(clock: now) }
    }

    /// When time alone brings something next, nanoseconds of UTC; nil: not before another message.
    public var due: Int64? { regions.compactMap(\.due).min() }

    /// No more messages will come.
    public mutating func finish() -> [DueVersion] {
        regions.indices.flatMap { regions[$0].finish() }
    }

    /// Goes on with a message that was published before this run, by this program or another one.
    public mutating func restore(_ message: Value) {
        guard let event = NetworkEventReading(message), let stations = event.stations, let time = event.made else {
            return
        }
        let one = Announcer.Announced(
            id: event.eventID, version: event.version, onsets: Set(stations.compactMap(\.eventID)),
            station: stations.first?.id ?? "", time: time, content: NetworkEventMessage.contentJSON(of: message),
            isEnded: event.kind == .end)
        restored.removeAll { $0.id == one.id && $0.version <= one.version }
        if !restored.contains(where: { $0.id == one.id }) { restored.append(one) }
        for i in regions.indices { regions[i].announcer.restore(one) }
    }

    /// Gives each restored event to the region of its stations, now that they are known, and to no region that comes
    /// later.
    private mutating func share() {
        for i in regions.indices { regions[i].announcer.keep { homes[$0, default: 0] == i } }
        restored = []
    }

    // MARK: Stations

    private mutating func setOnline(_ isOnline: Bool, _ station: String, at time: Int64?) {
        if isOnline {
            // Where no clock is known, it is as late as the newest message.
            let now = time ?? homes[station].map { regions[$0].core.now } ?? .min
            if offline.remove(station) != nil, now != .min { since[station] = Double(now) / 1e9 }
        } else if places[station] != nil {
            offline.insert(station)
        }
        tellOnline(station)
    }

    private mutating func tellOperator(_ station: String) {
        guard let home = homes[station] else { return }
        regions[home].core.setOperator(operators[station], of: station)
    }

    /// Each region knows how many stations there are in all.
    private mutating func tellCount() {
        for i in regions.indices { regions[i].core.allStations = places.count }
    }

    private mutating func tellOnline(_ station: String) {
        guard let home = homes[station] else { return }
        regions[home].core.setOnline(
            !offline.contains(station), station, since: since[station] ?? -.infinity)
    }

    /// - Parameter begin: when the station said so, seconds of UTC: one that is new was not there before.
    private mutating func setPlace(_ place: Place?, of station: String, since begin: Double?) {
        guard places[station] != place else { return }
        guard let place else {
            if let home = homes.removeValue(forKey: station) { regions[home].core.setPlace(nil, of: station) }
            places[station] = nil
            since[station] = nil
            tellCount()
            return
        }
        if places[station] == nil, let begin { since[station] = begin }
        let cell = Region.Cell(place)
        let home = region(of: cell)
        if let old = homes[station], old != home { regions[old].core.setPlace(nil, of: station) }
        places[station] = place
        homes[station] = home
        regions[home].core.setPlace(place, of: station)
        tellOnline(station)
        tellOperator(station)
        tellCount()
    }

    /// The region that has a cell; the cell connects what it touches.
    private mutating func region(of cell: Region.Cell) -> Int {
        if let known = regions.firstIndex(where: { $0.cells.contains(cell) }) { return known }
        let near = regions.indices.filter { regions[$0].cells.contains { $0.isNear(cell) } }
        guard let first = near.first else {
            var region = Region(options, isEarly: isEarly)
            region.cells = [cell]
            region.isMuted = isMuted
            for one in restored { region.announcer.restore(one) }
            regions.append(region)
            return regions.count - 1
        }
        regions[first].cells.insert(cell)
        for other in near.dropFirst().reversed() {
            regions[first].merge(regions[other])
            regions.remove(at: other)
            for (station, home) in homes {
                if home == other { homes[station] = first } else if home > other { homes[station] = home - 1 }
            }
        }
        return first
    }
}

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
