import Association
import CLinux
import CMosquitto
import Glibc
import Link
import Messages
import Sensors
import Settings

/// Many stations in one process and one thread: each has a connection of its own to a broker, and sends what an agent
/// would send.
final class SimulatedFleet {
    struct Options {
        var count = 100
        var centre = Place(latitude: 35, longitude: -117.5)
        /// Kilometres within which they are; denser towards the centre.
        var radius = 200.0
        var seconds: Double?
        var perSecond = 300.0
        var levelSeconds = 10.0
        var healthSeconds = 60.0
        var falseOnsetsPerDay = 3.0
        var faultsPerDay = 0.0
        var earthquakeSeconds: Double?
        var magnitudes = 4.0...6.0
        /// m/s².
        var threshold = 0.02
        var rebirthSeconds = 5.0
        var seed: UInt64 = 1
        var prefix = "sim"
    }

    let options: Options
    let access: BrokerAccess
    var random: SplitMix64
    private(set) var stations: [SimulatedStation] = []
    private var timers: [(time: Double, body: () -> Void)] = []
    private let epoll: Int32
    private(set) var acknowledged = 0
    private(set) var published = [0, 0]
    private(set) var drops = 0
    private(set) var onsets = 0
    var resent = 0
    private(set) var earthquakes: [SimulatedEarthquake] = []
    var onEarthquake: (SimulatedEarthquake) -> Void = { _ in }

    var root: String { access.root }
    var connected: Int { stations.reduce(0) { $0 + ($1.isConnected ? 1 : 0) } }

    init(_ access: BrokerAccess, _ options: Options) throws {
        (self.access, self.options) = (access, options)
        random = SplitMix64(seed: options.seed)
        _ = mosquitto_lib_init()
        _ = signal(SIGPIPE, SIG_IGN)
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        // A client of libmosquitto has its connection, and a pair of sockets to wake it up.
        guard epoll >= 0, limit.rlim_cur > UInt(3 * options.count + 50) else {
            throw ClientError(
                "\(options.count) stations need three times as many open files; "
                    + "the limit is \(limit.rlim_cur): ulimit -n")
        }
        for i in 0..<options.count {
            let far = options.radius * random.uniform(0...1)
            let angle = random.uniform(0...(2 * .pi))
            let place = Place(offset: SIMD2(far * cos(angle), far * sin(angle)), from: options.centre)
            let name = String(i)
            let id = options.prefix + String(repeating: "0", count: max(0, 5 - name.count)) + name
            stations.append(
                try SimulatedStation(id, place, index: i, scatter: random.normal(0.2), fleet: self))
        }
    }

    deinit { close(epoll) }

    func count(_ qos: Int) { published[qos > 0 ? 1 : 0] += 1 }

    func later(_ seconds: Double, _ body: @escaping () -> Void) {
        let time = monotonicSeconds() + seconds
        var at = timers.count
        while at > 0, timers[at - 1].time < time { at -= 1 }
        timers.insert((time, body), at: at)
    }

    // MARK: The loop

    /// Until the time is over, or a signal comes.
    func run(report: (SimulatedFleet) -> Void) {
        let begin = monotonicSeconds()
        for (i, station) in stations.enumerated() {
            station.nextAttempt = begin + Double(i) / options.perSecond
            station.nextLevel = begin + random.uniform(0...max(1, options.levelSeconds))
            station.nextHealth = begin + random.uniform(0...max(1, options.healthSeconds))
            scheduleFalse(station)
            scheduleFault(station)
        }
        if let every = options.earthquakeSeconds {
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
            }
            if now >= nextReport {
                nextReport = now + 10
                report(self)
            }
        }
        for station in stations where station.isConnected {
            if let handle = station.handle { mosquitto_disconnect_v5(handle, 0, nil) }
        }
    }

    private func sweep(_ station: SimulatedStation, _ now: Double) {
        guard let handle = station.handle, station.socket >= 0 else {
            if now >= station.nextAttempt { connect(station, now) }
            return
        }
        if now >= station.nextMisc {
            station.nextMisc = now + 1
            if mosquitto_loop_misc(handle) != 0 { return drop(station) }
        }
        if station.isConnected, options.levelSeconds > 0, now >= station.nextLevel {
            station.nextLevel += options.levelSeconds
            station.sayLevel(random.uniform(0.0005...0.002))
        }
        if station.isConnected, options.healthSeconds > 0, now >= station.nextHealth {
            station.nextHealth += options.healthSeconds
            station.sayHealth()
        }
        if mosquitto_want_write(handle) != station.isWriting { watch(station, isNew: false) }
    }

    private func serve(_ station: SimulatedStation, _ events: UInt32) {
        guard let handle = station.handle else { return }
        var code: Int32 = 0
        if events & (EPOLLIN.rawValue | EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 {
            code = mosquitto_loop_read(handle, 20)
        }
        if code == 0, mosquitto_want_write(handle) { code = mosquitto_loop_write(handle, 1) }
        if code != 0 { return drop(station) }
        if mosquitto_want_write(handle) != station.isWriting { watch(station, isNew: false) }
    }

    private func watch(_ station: SimulatedStation, isNew: Bool) {
        guard let handle = station.handle else { return }
        station.isWriting = mosquitto_want_write(handle)
        var event = epoll_event()
        event.events = EPOLLIN.rawValue | (station.isWriting ? EPOLLOUT.rawValue : 0)
        event.data.u32 = UInt32(station.index)
        epoll_ctl(epoll, isNew ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, station.socket, &event)
    }

    private func connect(_ station: SimulatedStation, _ now: Double) {
        station.nextAttempt = now + random.uniform(2...6)
        if let old = station.handle { mosquitto_destroy(old) }
        guard let handle = mosquitto_new(station.id, true, Unmanaged.passUnretained(station).toOpaque()) else { return }
        station.handle = handle
        // Each knows all nodes of a cluster and begins with one of them.
        let broker = access.brokers[(station.index + drops) % access.brokers.count]
        mosquitto_int_option(
            handle, MOSQ_OPT_PROTOCOL_VERSION, access.version == .v311 ? MQTT_PROTOCOL_V311 : MQTT_PROTOCOL_V5)
        mosquitto_int_option(handle, MOSQ_OPT_TCP_NODELAY, 1)
        if broker.tls, TransportSecurity.configure(handle, access.tls) != nil { return }
        if !access.username.isEmpty { mosquitto_username_pw_set(handle, access.username, access.password) }
        mosquitto_will_set_v5(handle, "\(root)/\(station.id)/state/online", 7, "offline", 1, true, nil)
        mosquitto_connect_v5_callback_set(handle) { handle, context, code, _, _ in
            guard let context, code == 0 else { return }
            let station = Unmanaged<SimulatedStation>.fromOpaque(context).takeUnretainedValue()
            station.isConnected = true
            mosquitto_subscribe_v5(handle, nil, "\(station.fleet.root)/\(station.id)/cmd/+", 1, 0, nil)
            mosquitto_subscribe_v5(handle, nil, "\(station.fleet.root)/group/all/cmd/+", 1, 0, nil)
            station.sayWhoIAm()
        }
        mosquitto_message_v5_callback_set(handle) { _, context, message, _ in
            guard let context, let message = message?.pointee, !message.retain else { return }
            let bytes = UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))
            Unmanaged<SimulatedStation>.fromOpaque(context).takeUnretainedValue().take(
                String(cString: message.topic), try? JSONReader.read(Array(bytes)))
        }
        mosquitto_publish_v5_callback_set(handle) { _, context, _, reason, _ in
            guard let context, reason < 128 else { return }
            Unmanaged<SimulatedStation>.fromOpaque(context).takeUnretainedValue().fleet.acknowledged += 1
        }
        guard mosquitto_connect_bind_v5(handle, broker.host, Int32(broker.port), 60, nil, nil) == 0 else {
            drops += 1
            return
        }
        station.socket = mosquitto_socket(handle)
        station.nextMisc = now + 1
        watch(station, isNew: true)
    }

    private func drop(_ station: SimulatedStation) {
        drops += 1
        (station.isConnected, station.socket) = (false, -1)
        if let handle = station.handle { mosquitto_destroy(handle) }
        station.handle = nil
        station.nextAttempt = monotonicSeconds() + random.uniform(0.3...3)
    }

    // MARK: What happens

    private func scheduleFalse(_ station: SimulatedStation) {
        let wait = random.wait(perDay: options.falseOnsetsPerDay)
        guard wait < 1e7 else { return }
        later(wait) { [unowned self, unowned station] in
            event(of: station, at: Double(realNanoseconds()) / 1e9, peaks: (0.03, random.uniform(0.03...0.2)), after: 2)
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
            let offset = SIMD2(random.uniform(-0.6...0.6), random.uniform(-0.6...0.6)) * options.radius
            shake(
                SimulatedEarthquake(
                    place: Place(offset: offset, from: options.centre), depth: random.uniform(5...20),
                    magnitude: random.uniform(options.magnitudes), origin: Double(realNanoseconds()) / 1e9))
            scheduleEarthquake(every, after: every)
        }
    }

    /// All stations that feel it trigger when the wave is there.
    func shake(_ earthquake: SimulatedEarthquake) {
        earthquakes.append(earthquake)
        onEarthquake(earthquake)
        let now = Double(realNanoseconds()) / 1e9
        for station in stations {
            let felt = earthquake.shaking(at: station.place, scatter: station.scatter + random.normal(0.1))
            guard felt.peak > options.threshold, random.uniform(0...1) > 0.05 else { continue }
            let onset = felt.p + random.normal(0.1)
            later(max(0, onset - now)) { [unowned self, unowned station] in
                event(of: station, at: onset, peaks: (felt.firstPeak, felt.peak), after: felt.s - onset)
            }
        }
    }

    /// Onset, update with the peak of the S wave, end.
    private func event(of station: SimulatedStation, at onset: Double, peaks: (Double, Double), after: Double) {
        onsets += 1
        let time = Int64(onset * 1e9)
        station.sayEvent(.onset, onset: time, seconds: 0, peak: peaks.0)
        later(max(0.2, after + 1)) { [unowned station] in
            station.sayEvent(.update, onset: time, seconds: max(0.2, after + 1), peak: peaks.1)
        }
        later(max(0.2, after) + 15) { [unowned station] in
            station.sayEvent(.end, onset: time, seconds: max(0.2, after) + 15, peak: peaks.1)
        }
    }
}
