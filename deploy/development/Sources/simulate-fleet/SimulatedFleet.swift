import Association
import CLinux
import Glibc
import MQTT
import Messages
import Platform
import Propagation
import Sensors
import Settings
import Values

/// Many stations in one process: each has a connection of its own to a broker, and sends what an agent would send. One
/// thread serves as many as it has open files for; a larger fleet has several of these.
final class SimulatedFleet {
    struct Options {
        var count = 100
        var centre = Place(latitude: 35, longitude: -117.5)
        /// Kilometres within which they are; denser towards the centre.
        var radius = 200.0
        var seconds: Double?
        var perSecond = 300.0
        /// Stations that are on their way to the broker at a time: more would only wait longer for each other.
        var atOnce = 300
        var levelSeconds = 10.0
        var healthSeconds = 60.0
        var falseOnsetsPerDay = 3.0
        var faultsPerDay = 0.0
        var earthquakeSeconds: Double?
        var magnitudes = 4.0...6.0
        /// Magnitude of one earthquake below the centre when all are connected.
        var magnitude: Double?
        /// m/s².
        var threshold = 0.02
        var rebirthSeconds = 5.0
        var seed: UInt64 = 1
        var prefix = "sim"
    }

    let options: Options
    let access: ConnectionOptions
    let board: FleetBoard
    private let part: Int
    private let parts: Int
    var random: SplitMix64
    /// Random numbers of the earthquakes alone, so that they are the same whatever else happens.
    private var chance: SplitMix64
    private(set) var stations: [SimulatedStation] = []
    private var timers: [(time: Double, body: () -> Void)] = []
    private var epoll: Int32 = -1
    private var happened: [MQTTEvent] = []
    /// Earthquakes that these stations have begun to feel.
    private var felt = 0
    private var isDue = false
    var onEarthquake: (SimulatedEarthquake) -> Void = { _ in }

    var root: String { access.mqtt.root }

    /// How many threads a fleet needs, each of which has a table of open files of its own: a client of libmosquitto has
    /// its connection, and a pair of sockets by which another thread would wake it up. Nil: a thread has too few for any.
    static func threads(for count: Int, openFiles limit: Int) -> Int? {
        let most = (limit - 100) / 3
        return most > 0 ? (count + most - 1) / most : nil
    }

    /// All parts of a fleet. They are run by `run(_:report:)`.
    static func parts(_ access: ConnectionOptions, _ options: Options, _ board: FleetBoard) throws -> [SimulatedFleet] {
        MQTTConnection.initializeLibrary()
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        guard let parts = threads(for: options.count, openFiles: Int(min(limit.rlim_cur, 1 << 30))) else {
            throw ClientError("each station needs three open files; the limit is \(limit.rlim_cur): ulimit -n")
        }
        return try (0..<parts).map { try SimulatedFleet(access, options, board, part: $0, of: parts) }
    }

    private init(_ access: ConnectionOptions, _ options: Options, _ board: FleetBoard, part: Int, of parts: Int) throws
    {
        (self.access, self.options, self.board, self.part, self.parts) = (access, options, board, part, parts)
        random = SplitMix64(seed: options.seed)
        chance = SplitMix64(seed: ~options.seed)
        for i in 0..<options.count {
            let far = options.radius * random.uniform(0...1)
            let angle = random.uniform(0...(2 * .pi))
            let place = Place(offset: SIMD2(far * cos(angle), far * sin(angle)), from: options.centre)
            let scatter = random.normal(0.2)
            guard i % parts == part else { continue }
            let name = String(i)
            let id = options.prefix + String(repeating: "0", count: max(0, 5 - name.count)) + name
            stations.append(
                try SimulatedStation(id, place, number: i, index: stations.count, scatter: scatter, fleet: self))
        }
        random = SplitMix64(seed: random.next() &+ UInt64(part))
    }

    func later(_ seconds: Double, _ body: @escaping () -> Void) {
        let time = monotonicSeconds() + seconds
        // The next one is the last.
        var (low, high) = (0, timers.count)
        while low < high {
            let middle = (low + high) / 2
            if timers[middle].time >= time { low = middle + 1 } else { high = middle }
        }
        timers.insert((time, body), at: low)
    }

    // MARK: The loop

    /// Runs all parts of a fleet until the time is over, or a signal comes; the first one in the calling thread.
    static func run(_ fleets: [SimulatedFleet], report: @escaping () -> Void) throws {
        guard let first = fleets.first else { return }
        for fleet in fleets.dropFirst() {
            if let reason = DetachedThread.start("fleet", { fleet.run {} }) { throw ClientError("a thread: \(reason)") }
        }
        first.run(report: report)
        let end = monotonicSeconds() + 10
        while first.board.ended.count < fleets.count, monotonicSeconds() < end { usleep(10_000) }
    }

    private func run(report: () -> Void) {
        defer { board.ended.add() }
        let code = part > 0 ? clinux_own_files() : 0
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard code == 0, epoll >= 0 else {
            let reason = String(cString: strerror(code == 0 ? errno : code))
            return printError("\(stations.count) stations do not begin: \(reason)")
        }
        // Files are closed in the thread whose they are.
        defer { close(epoll) }
        let begin = monotonicSeconds()
        for (i, station) in stations.enumerated() {
            station.nextAttempt = begin + Double(i * parts + part) / options.perSecond
            station.nextLevel = begin + random.uniform(0...max(1, options.levelSeconds))
            station.nextHealth = begin + random.uniform(0...max(1, options.healthSeconds))
            scheduleFalse(station)
            scheduleFault(station)
        }
        if part == 0, let every = options.earthquakeSeconds {
            scheduleEarthquake(every, after: Double(options.count) / options.perSecond + 15)
        }
        var nextReport = begin + 10
        var nextSweep = begin
        var events = [epoll_event](repeating: epoll_event(), count: 512)
        while !Interrupt.came, options.seconds.map({ monotonicSeconds() < begin + $0 }) ?? true {
            let wait = min(timers.last.map { max(0, $0.time - monotonicSeconds()) } ?? 0.05, 0.05)
            let ready = epoll_wait(epoll, &events, Int32(events.count), Int32(wait * 1000))
            for i in 0..<max(0, Int(ready)) { serve(stations[Int(events[i].data.u32)], events[i].events) }
            let now = monotonicSeconds()
            while let due = timers.last, due.time <= now {
                timers.removeLast()
                due.body()
            }
            if now >= nextSweep {
                nextSweep = now + 0.05
                for station in stations { sweep(station, now) }
                awaitAll()
                for earthquake in board.earthquakes(after: felt) { feel(earthquake) }
            }
            if now >= nextReport {
                nextReport = now + 10
                report()
            }
        }
        for station in stations {
            if station.isConnected { station.connection?.disconnect() }
            station.leave()
        }
    }

    private func sweep(_ station: SimulatedStation, _ now: Double) {
        guard let connection = station.connection, station.socket >= 0 else {
            if now >= station.nextAttempt, board.arriving.count < options.atOnce { connect(station, now) }
            return
        }
        if now >= station.nextMisc {
            station.nextMisc = now + 1
            connection.tick()
        }
        if station.isConnected, options.levelSeconds > 0, now >= station.nextLevel {
            station.nextLevel = Self.next(after: now, station.nextLevel, every: options.levelSeconds)
            sayLevel(station)
        }
        if station.isConnected, options.healthSeconds > 0, now >= station.nextHealth {
            station.nextHealth = Self.next(after: now, station.nextHealth, every: options.healthSeconds)
            station.sayHealth()
        }
        follow(station, connection)
    }

    private func sayLevel(_ station: SimulatedStation) {
        guard options.levelSeconds > 0 else { return }
        station.sayLevel(noise: random.uniform(0.0005...0.002), at: Double(realNanoseconds()) / 1e9)
    }

    /// Next time of something that is due every so many seconds. Times that passed while a station had no connection
    /// are left out.
    static func next(after now: Double, _ time: Double, every seconds: Double) -> Double {
        time + (max(0, now - time) / seconds).rounded(.down) * seconds + seconds
    }

    private func serve(_ station: SimulatedStation, _ events: UInt32) {
        guard let connection = station.connection else { return }
        connection.socketReady(
            readable: events & EPOLLIN.rawValue != 0, error: events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0)
        follow(station, connection)
    }

    /// Does what follows from what has happened to a connection.
    private func follow(_ station: SimulatedStation, _ connection: MQTTConnection) {
        var happened: [MQTTEvent] = []
        swap(&happened, &self.happened)
        defer {
            happened.removeAll(keepingCapacity: true)
            self.happened = happened
        }
        connection.takeEvents(into: &happened)
        for event in happened {
            switch event {
            case .refused, .lost: return drop(station)
            default: station.take(event)
            }
        }
        if connection.wantsWrite != station.isWriting { watch(station, isNew: false) }
    }

    private func watch(_ station: SimulatedStation, isNew: Bool) {
        station.isWriting = station.connection?.wantsWrite ?? false
        var event = epoll_event()
        event.events = EPOLLIN.rawValue | (station.isWriting ? EPOLLOUT.rawValue : 0)
        event.data.u32 = UInt32(station.index)
        epoll_ctl(epoll, isNew ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, station.socket, &event)
    }

    private func connect(_ station: SimulatedStation, _ now: Double) {
        station.nextAttempt = now + random.uniform(2...6)
        station.end()
        // Each knows all nodes of a cluster and begins with one of them.
        let broker = access.brokers[(station.number + station.attempts) % access.brokers.count]
        station.attempts += 1
        var attempt = access
        (attempt.clientID, attempt.mqtt.keepalive, attempt.inboundBytes) = (station.id, 60, BrokerClient.payloadLimit)
        attempt.will = .init(topic: "\(root)/\(station.id)/state/online", payload: Array("offline".utf8))
        guard let connection = try? MQTTConnection(attempt, to: broker) else { return }
        station.connection = connection
        do throws(MQTTFailure) { try connection.connectWaiting() } catch { return board.drops.add() }
        station.socket = connection.socket
        station.isArriving = true
        station.nextMisc = now + 1
        watch(station, isNew: true)
    }

    private func drop(_ station: SimulatedStation) {
        board.drops.add()
        station.end()
        station.nextAttempt = monotonicSeconds() + random.uniform(0.3...3)
    }

    // MARK: What happens

    private func scheduleFalse(_ station: SimulatedStation) {
        let wait = random.wait(perDay: options.falseOnsetsPerDay)
        guard wait < 1e7 else { return }
        // (Ids name the millisecond, and no station has two onsets in one.)
        later(max(0.1, wait)) { [unowned self, unowned station] in
            let now = Double(realNanoseconds()) / 1e9
            let peak = random.uniform(0.03...0.2)
            let shaking = SimulatedEarthquake.Shaking(p: now, s: now + 2, firstPeak: 0.03, peak: peak, distance: 0)
            station.feel(shaking)
            event(of: station, at: now, shaking)
            scheduleFalse(station)
        }
    }

    private func scheduleFault(_ station: SimulatedStation) {
        let wait = random.wait(perDay: options.faultsPerDay)
        guard wait < 1e7 else { return }
        later(wait) { [unowned self, unowned station] in
            if random.uniform(0...1) < 0.5 { station.loseNext() } else if station.isConnected { drop(station) }
            scheduleFault(station)
        }
    }

    private func scheduleEarthquake(_ every: Double, after: Double) {
        later(after) { [unowned self] in
            let offset = SIMD2(chance.uniform(-0.6...0.6), chance.uniform(-0.6...0.6)) * options.radius
            strike(
                SimulatedEarthquake(
                    place: Place(offset: offset, from: options.centre), depth: chance.uniform(5...20),
                    magnitude: chance.uniform(options.magnitudes), origin: Double(realNanoseconds()) / 1e9))
            scheduleEarthquake(every, after: every)
        }
    }

    /// One earthquake when all are connected.
    private func awaitAll() {
        guard part == 0, !isDue, let magnitude = options.magnitude, board.connected.count == options.count else {
            return
        }
        isDue = true
        later(15) { [unowned self] in
            strike(
                SimulatedEarthquake(
                    place: options.centre, depth: 10, magnitude: magnitude, origin: Double(realNanoseconds()) / 1e9))
        }
    }

    private func strike(_ earthquake: SimulatedEarthquake) {
        onEarthquake(earthquake)
        board.strike(earthquake)
    }

    /// The levels of all stations follow the waves; those that feel it trigger when they are there.
    private func feel(_ earthquake: SimulatedEarthquake) {
        felt += 1
        let now = Double(realNanoseconds()) / 1e9
        for station in stations {
            var shaking = earthquake.shaking(at: station.place, scatter: station.scatter + random.normal(0.1))
            shaking.p += random.normal(0.1)
            station.feel(shaking)
            guard shaking.peak > options.threshold, random.uniform(0...1) > 0.05 else { continue }
            later(max(0, shaking.p - now)) { [shaking, unowned self, unowned station] in
                event(of: station, at: shaking.p, shaking)
            }
        }
    }

    /// Onset, update with the peak of the S wave, end; with each of them a level, so that they agree.
    private func event(of station: SimulatedStation, at onset: Double, _ shaking: SimulatedEarthquake.Shaking) {
        board.onsets.add()
        let time = Int64(onset * 1e9)
        func say(_ kind: EventMessage.Kind, seconds: Double, peak: Double) {
            station.sayEvent(kind, onset: time, seconds: seconds, peak: peak)
            sayLevel(station)
        }
        let after = max(0.2, shaking.s - onset)
        say(.onset, seconds: 0, peak: shaking.firstPeak)
        later(after + 1) { say(.update, seconds: after + 1, peak: shaking.peak) }
        later(after + 15) { say(.end, seconds: after + 15, peak: shaking.peak) }
    }
}
