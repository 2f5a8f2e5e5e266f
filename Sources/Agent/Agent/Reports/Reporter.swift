import Alerts
import Commands
import Glibc
import Instruments
import MQTT
import Messages
import Platform
import Sensors
import Settings
import Station
import Values

/// Publishes what the agent knows of itself: info, config and schema once and when they change, health at its interval
/// and on change, alerts. Lives on the main thread.
final class Reporter {
    private let keeper: SettingsKeeper
    private let log: Log
    private let status: SamplingStatus
    private let storage: StorageStatus
    private let files: FileWrites
    private let link: Link
    private var messenger: Messenger
    private var alerts: AlertBoard
    private var alertMemory: AlertMemory
    private var levelMemory: LevelMemory
    private var health: HealthReport
    private var lastSensor: SensorDescription?
    private var lastRate: Double?
    private var lastState: HealthMessage.SensorState?
    private var lastNotes: [String] = []
    private var lastProblem: SamplingStatus.Problem?
    private var lastConnects: UInt64 = 0
    private var healthDue: Int64
    private var wasRealTime = false
    /// Commands that were refused, for `state/health`.
    var rejectedCommands = 0
    /// Revision of the settings in force.
    var revision: Int { keeper.inForce.ledger.revision }
    var inForce: Configuration { keeper.inForce.configuration }
    /// A change that was taken back, until the next one.
    var reverted: AlertFault?
    private var lastLevel: Level?
    private var lastSelfTest: SelfTestOutcome?
    /// Since when it is known whether the sensor can be used (ns).
    private var sensorKnown: Int64?
    /// There has been a sensor since the start.
    private var hadSensor = false
    /// When the agent began, ns since the start of the machine.
    private let begun = HostClock.sinceBoot()
    /// Earlier results of each chip.
    private var memory: SensorMemory
    /// When Home Assistant is told what.
    private var home: HomeAssistantSchedule
    /// Nil: there is no alarm line.
    var alarm: AlarmThread?
    /// Nil: nothing comes from a network.
    var warnings: WarningService? {
        didSet { warnings?.take(inForce, messenger.topics, &messenger) }
    }
    private var homeMemory: HomeAssistantMemory
    /// How all this is, for this machine.
    private(set) var stateFile = StateFile()
    let updates = UpdateFiles()
    private var update = UpdateCourse()
    private var updateAnswer: UpdateCourse.Answer?
    /// Last update, as `state/info` has it.
    private var lastUpdate: InfoMessage.Update?

    init(
        _ keeper: SettingsKeeper, topics: Topics, boot: String, log: Log, status: SamplingStatus,
        storage: StorageStatus, files: FileWrites, link: Link
    ) {
        self.keeper = keeper
        self.log = log
        self.status = status
        self.storage = storage
        (self.files, self.link) = (files, link)
        messenger = Messenger(topics: topics, boot: boot)
        let now = HostClock.monotonic()
        health = HealthReport(now: now)
        healthDue = now
        let directory = keeper.inForce.configuration.storage.directory
        let kept = SensorMemory.read(directory: directory)
        memory = kept.memory
        alertMemory = AlertMemory(directory: directory)
        levelMemory = LevelMemory(directory: directory)
        alerts = AlertBoard(left: alertMemory.read())
        homeMemory = HomeAssistantMemory(directory: directory)
        home = HomeAssistantSchedule(remembered: homeMemory.read())
        if let problem = kept.problem { log.warning("stored sensor results cannot be read: \(problem)") }
        sayIdentity()
    }

    /// Publishes who the station is, how it is configured, and how it can be.
    private func sayIdentity() {
        let link = self.link
        sayInfo()
        sayConfiguration()
        messenger.send(schema: SettingsSchema.value, to: { link.publish($0, $1) })
    }

    /// Writes down the sensor's level, once an hour and at the end.
    func keepLevel(now: Int64, isEnd: Bool = false) {
        if let write = levelMemory.look(status.rest, now: now, isEnd: isEnd) { files.put(.level, write) }
    }

    private func sayConfiguration() {
        let link = self.link
        messenger.send(Identity.config(keeper.inForce.ledger), time: HostClock.wall(), to: { link.publish($0, $1) })
    }

    /// Other settings are in force.
    func takeSettings(_ topics: Topics) {
        if topics != messenger.topics {
            var other = Messenger(topics: topics, boot: messenger.boot)
            other.takeOver(messenger)
            messenger = other
        }
        warnings?.take(inForce, topics, &messenger)
        sayConfiguration()
        sayInfo()
        healthDue = min(healthDue, HostClock.monotonic() + Int64(inForce.health.interval * 1e9))
    }

    private func sayInfo() {
        var told = lastSensor
        if let rate = lastRate { told?.rate = rate }
        let link = self.link
        var info = Identity.info(inForce, sensor: told, level: lastLevel, memory: memory)
        (info.update, lastUpdate) = (updateNow, updateNow)
        messenger.send(info, time: HostClock.wall(), to: { link.publish($0, $1) })
        wantHomeAssistant(inForce)
    }

    func note(_ problem: String) { log.warning(problem) }

    func say(_ alert: AlertMessage) {
        let link = self.link
        messenger.send(alert, time: HostClock.wall(), to: { link.publish($0, $1) })
    }

    /// Publishes warnings of the network, before all else.
    func warn() { warnings?.round(&messenger) }

    /// When there is something to warn of, or to end (ns of the monotonic clock); nil: not by itself.
    var due: Int64? { warnings?.due }

    /// Looks at everything and publishes what is new; to be called once a second and when something has changed.
    func look() {
        let now = HostClock.monotonic()
        let words = status.now
        let statistics = link.statistics
        let state = HealthReport.sensorState(status, now: now, stallTime: stallTime(words.sensor))
        if SensorPatience.hasSensor(words) { hadSensor = true }
        let waits = SensorPatience.waits(
            words.problem, hadSensor: hadSensor, begun: begun, sinceBoot: HostClock.sinceBoot())
        noteSensor(words, waits)
        let clock = HostStatus.timeQuality()
        let time = words.sensor?.clock == .recording ? TimeQuality.replay : clockQuality(clock)
        if sensorKnown == nil, Self.isSensorKnown(words, state, waits, samples: status.samples.load(ordering: .relaxed))
        {
            sensorKnown = now
        }
        let changedAlerts = updateAlerts(words, state, statistics, clock, waits, now)
        let write = alertMemory.look(isEmptied: alerts.isEmptied, isConnected: statistics.connected, now: now)
        if let write { files.put(.alerts, write) }
        keepLevel(now: now)
        let isNew = changedAlerts || state != lastState || statistics.connects != lastConnects
        if isNew || now >= healthDue {
            let link = self.link
            var message = health.message(
                status, statistics, storage.now, sensor: state, time: time, alerts: alerts.codes, now: now)
            message.mqtt.rejectedCommands = rejectedCommands
            message.warnings = warnings?.report
            messenger.send(message, time: HostClock.wall(), to: { link.publish($0, $1) })
            healthDue = now + Int64(inForce.health.interval * 1e9)
        }
        if stateFile.isDue(isNew: isNew, now: now) {
            let problem = stateFile.write(stateNow(state, time, waits: waits, now))
            if let problem { log.warning(problem) }
        }
        lookForUpdate(now)
        if state != lastState { log.info("sensor \(state.rawValue)", ["ended": words.ended ? "yes" : "no"]) }
        if let notes = self.status.condition?.notes, notes != lastNotes {
            // (Of a recording: what was left out or resampled. Of a chip: what it took other than asked.)
            for note in notes where !lastNotes.contains(note) { log.notice("sensor: \(note)") }
            lastNotes = notes
        }
        lastState = state
        lastConnects = statistics.connects
        tellHomeAssistant(isConnected: statistics.connected)
    }

    /// One line for `systemctl status`.
    var summary: String {
        let state = lastState?.rawValue ?? "starting"
        return "sensor \(state), broker \(link.statistics.summary), "
            + "\(status.samples.load(ordering: .relaxed)) samples"
    }

    /// - Parameter host: what the host says; nil where it says nothing.
    private func clockQuality(_ host: TimeQuality?) -> TimeQuality {
        var quality = host ?? TimeQuality(synced: false, source: .free)
        if let error = status.condition?.timeError, let host = quality.errorMs { quality.errorMs = host + error * 1e3 }
        let sources = TimeQuality.Source.allCases
        status.clockSource.store(sources.firstIndex(of: quality.source) ?? 0, ordering: .relaxed)
        status.clockSynced.store(quality.synced, ordering: .relaxed)
        status.clockErrorBits.store((quality.errorMs ?? .nan).bitPattern, ordering: .relaxed)
        return quality
    }

    /// Three blocks, at least two seconds; a replay in slow motion has longer blocks.
    private func stallTime(_ sensor: SensorDescription?) -> Int64 {
        guard let sensor, sensor.rate > 0 else { return 2_000_000_000 }
        let speed = SensorChoice.speed(inForce.sensor)
        let size = SamplingThread.blockSize(rate: sensor.rate, seconds: inForce.sensor.block)
        let block = Double(size) / sensor.rate / (speed > 0 ? speed : 1)
        return Int64(min(max(3 * block, 2), 1e6) * 1e9)
    }

    /// Whether the sensor has shown that it works, or does not.
    private static func isSensorKnown(
        _ words: SamplingStatus.Words, _ state: HealthMessage.SensorState, _ waits: Bool, samples: Int
    ) -> Bool {
        if words.problem != nil { return !waits }
        return samples > 0 || state == .stalled
    }

    private func noteSensor(_ words: SamplingStatus.Words, _ waits: Bool) {
        if words.realTime != wasRealTime {
            wasRealTime = words.realTime
            log.debug("sampling with real-time priority")
        }
        if words.problem != lastProblem {
            switch words.problem {
            case .sensor(let error) where waits: log.info("waits for the sensor: \(error)")
            case .sensor(let error): log.warning("sensor: \(error)", ["code": .text(error.code.rawValue)])
            case .settings(let error): log.error("settings refused: \(error)")
            case nil: log.notice("sensor works again")
            }
            lastProblem = words.problem
        }
        if words.rate != lastRate, let rate = words.rate {
            log.notice("filters are made for the measured rate", ["rate_hz": .number(rate)])
        }
        let isOther = words.sensor != lastSensor
        noteSelfTest(words)
        guard isOther || words.rate != lastRate || words.level != lastLevel || words.selfTest != lastSelfTest else {
            return
        }
        (lastSensor, lastRate, lastLevel, lastSelfTest) = (words.sensor, words.rate, words.level, words.selfTest)
        sayInfo()
        if isOther, let sensor = words.sensor {
            log.notice(
                "sensor open",
                ["driver": .text(sensor.driver), "chip": .text(sensor.chip), "rate_hz": .number(sensor.rate)])
        }
    }

    /// Takes a new self-test into the memory, and its file.
    private func noteSelfTest(_ words: SamplingStatus.Words) {
        guard words.selfTest != lastSelfTest, let outcome = words.selfTest, let chip = words.sensor?.chip else {
            return
        }
        guard let report = outcome.report else {
            log.warning("no self-test: \(outcome.error?.message ?? "")")
            return
        }
        let value = report.value(time: outcome.time)
        log.notice("self-test \(report.passed ? "passed" : "failed")", ["chip": .text(chip)])
        keep(.selfTest, of: chip, value)
    }

    /// Takes what a `calibrate` gave into the memory and its file, and publishes it. A recording has no chip that
    /// anything could be known of.
    func keep(calibration result: Value) {
        guard let sensor = status.now.sensor, sensor.clock == .host, case .object(let members) = result else { return }
        keep(.calibration, of: sensor.chip, .object(members.filter { $0.key != "noise" }))
        sayInfo()
    }

    private func keep(_ report: SensorMemory.Report, of chip: String, _ value: Value) {
        memory.set(report, of: chip, value)
        let directory = inForce.storage.directory
        files.put(report == .selfTest ? .selfTest : .calibration) {
            do throws(FileError) { try SensorMemory.keep(report, of: chip, value, directory: directory) } catch {
                return "\(report.rawValue) of the sensor not saved: \(error.message)"
            }
            return nil
        }
    }

    /// True when an alert was raised or cleared.
    private func updateAlerts(
        _ words: SamplingStatus.Words, _ state: HealthMessage.SensorState, _ statistics: LinkStatistics,
        _ clock: TimeQuality?, _ waits: Bool, _ now: Int64
    ) -> Bool {
        var facts = AlertFacts(now: now, mqtt: inForce.mqtt, link: statistics)
        facts.sensorKnown = sensorKnown
        facts.sensor.description = words.sensor
        switch words.problem {
        case .sensor(let error): facts.sensor.problem = error
        case .settings(let error): facts.refusedSettings = (error.path, error.description)
        case nil: facts.sensor.isSilent = state == .stalled && !words.ended
        }
        facts.sensor.waits = waits
        (facts.sensor.watch, facts.sensor.selfTest) = (words.faults, words.selfTest)
        (facts.sensor.condition, facts.sensor.isResampled) = (status.condition, inForce.sensor.resample)
        (facts.clock, facts.reverted, facts.alarmProblem) = (clock, reverted, alarm?.problem)
        facts.vibration = words.vibration
        facts.storage = AlertFacts.Storage(storage.now)
        let changes = alerts.look(facts, wall: HostClock.wall())
        for change in changes { publish(change) }
        return changes.contains { if case .empty = $0 { false } else { true } }
    }

    private func publish(_ change: AlertBoard.Change) {
        let link = self.link
        let sink: PublicationSink = { link.publish($0, $1) }
        switch change {
        case .raise(let alert):
            if let write = alertMemory.raise(alert.code) { files.put(.alerts, write) }
            messenger.send(alert, time: HostClock.wall(), to: sink)
            log.warning("alert \(alert.code): \(alert.message)")
        case .clear(let code):
            messenger.clearAlert(code, to: sink)
            log.notice("alert \(code) solved")
        case .empty(let code): messenger.clearAlert(code, to: sink)
        }
    }
}

/// Publications on request.
extension Reporter {
    /// The faults that are there now.
    var activeAlerts: [AlertMessage] { alerts.active }

    /// The same as `state/health`, as of now; what that counts from one message to the next goes on undisturbed.
    func statusNow() -> Value {
        let now = HostClock.monotonic()
        let words = status.now
        let message = healthNow(
            HealthReport.sensorState(status, now: now, stallTime: stallTime(words.sensor)),
            words.sensor?.clock == .recording ? .replay : clockQuality(HostStatus.timeQuality()), now)
        var members: [Value.Member] = [
            .init("online", .bool(link.statistics.connected)), .init("rev", .int(Int64(revision))),
        ]
        if case .object(let rest)? = try? JSONReader.read(message.json()) { members += rest }
        return .object(members)
    }

    private func healthNow(
        _ sensor: HealthMessage.SensorState, _ time: TimeQuality, _ now: Int64
    ) -> HealthMessage {
        let late = status.worstLateness.load(ordering: .relaxed)
        var health = self.health
        var message = health.message(
            status, link.statistics, storage.now, sensor: sensor, time: time, alerts: alerts.codes, now: now)
        message.mqtt.rejectedCommands = rejectedCommands
        message.warnings = warnings?.report
        status.worstLateness.max(late, ordering: .relaxed)
        return message
    }

    /// State of the agent for this machine's other programs.
    /// - Parameter waits: it is too early for an alert of a sensor that cannot be opened.
    private func stateNow(_ sensor: HealthMessage.SensorState, _ time: TimeQuality, waits: Bool, _ now: Int64)
        -> AgentState
    {
        let (words, statistics) = (status.now, link.statistics)
        let info = Identity.info(inForce, sensor: words.sensor, level: lastLevel, memory: memory)
        var state = AgentState(
            process: Int(getpid()), written: now, time: HostClock.wall(), boot: messenger.boot, agent: info.agent,
            topics: messenger.topics, health: healthNow(sensor, time, now))
        state.isConnected = statistics.connected
        state.broker = statistics.summary
        state.mqtt = statistics.version.map { $0 == .v5 ? "5" : "3.1.1" }
        state.sensor = info.sensor
        (state.isWaiting, state.isEnded) = (waits, words.ended)
        state.isEventOpen = status.isEventOpen.load(ordering: .relaxed)
        state.mean = status.mean
        state.alerts = alerts.active
        return state
    }

    /// Says info, configuration, schema, health and alerts anew; the link sends everything that is retained again.
    func sayAllAgain() {
        sayIdentity()
        for alert in alerts.active { say(alert) }
        healthDue = 0
        look()
    }
}

/// Messages to and from Home Assistant.
extension Reporter {
    /// Home Assistant says on this topic when it has started.
    func isFromHomeAssistant(_ message: InboundMessage) -> Bool {
        home.place != nil && message.topic == inForce.mqtt.homeAssistant.birth
    }

    /// One of its own messages. One that was kept is from before our connection, after which everything is sent anyway.
    func take(fromHomeAssistant message: InboundMessage, random: UInt64) {
        if isBirth(message) { home.born(now: HostClock.monotonic(), random: random) }
    }

    func isBirth(_ message: InboundMessage) -> Bool {
        !message.isRetained && message.payload.elementsEqual(inForce.mqtt.homeAssistant.birthPayload.utf8)
    }

    /// A change of settings was not taken.
    func wasRefused() { home.refused(now: HostClock.monotonic()) }

    /// - Parameter configuration: as it is in force, with the id that topics have.
    private func wantHomeAssistant(_ configuration: Configuration) {
        let wanted = configuration.mqtt.homeAssistant
        var place: HomeAssistantPlace?
        if wanted.enabled {
            place = HomeAssistantPlace(prefix: wanted.prefix, id: configuration.station.id, form: wanted.discovery)
        }
        let chip = lastSensor?.chip ?? ""
        let settings = keeper.inForce.ledger.settings
        let keys = settings.locked.isEmpty ? [] : Messenger.keys(of: SettingsTable.homeAssistant)
        var station = HomeAssistantStation(
            name: configuration.station.description, model: chip, version: productVersion,
            page: wanted.page(of: configuration.station.id), relations: configuration.intensity.scales,
            locked: keys.filter { settings.isLocked($0) }, healthInterval: configuration.health.interval)
        station.hasVibration = configuration.vibration.enabled
        home.want(station, at: place, base: messenger.topics.base, now: HostClock.monotonic())
    }

    private func tellHomeAssistant(isConnected: Bool) {
        let link = self.link
        let sink: PublicationSink = { link.publish($0, $1) }
        for action in home.due(now: HostClock.monotonic(), isConnected: isConnected) {
            switch action {
            case .retract(let place): Messenger.retract(place, settings: SettingsTable.homeAssistant, to: sink)
            case .announce(let station, let place):
                messenger.announce(station, settings: SettingsTable.homeAssistant, at: place, to: sink)
            case .repeatStates: _ = link.sendRetainedAgain()
            case .repeatConfiguration: sayConfiguration()
            case .remember(let places):
                if let write = homeMemory.keep(places) { files.put(.homeAssistant, write) }
            }
        }
    }
}

/// Updates, which another program carries out.
extension Reporter {
    /// Obstacles to an update.
    var updateSituation: UpdateSituation {
        var situation = UpdateSituation()
        situation.isPossible = updates.isPossible
        situation.isLocked = keeper.inForce.ledger.settings.isLocked(Settings.updateLock)
        (situation.underWay, situation.onTrial) = (update.underWay, update.onTrial)
        situation.isEventOpen = status.isEventOpen.load(ordering: .relaxed)
        situation.waiting = HealthReport.waiting(link.statistics, storage.now)
        situation.isClockSynced = HostStatus.timeQuality()?.synced == true
        return situation
    }

    /// A request for one is on the disk.
    func updateWasAsked(_ id: String?) { update.ask(id, now: HostClock.monotonic()) }

    /// The updater's answer to the last request, for the command that it came with: once.
    func takeUpdateAnswer() -> UpdateCourse.Answer? {
        defer { updateAnswer = nil }
        return updateAnswer
    }

    /// Nil: this station cannot be updated.
    private var updateNow: InfoMessage.Update? { updates.isPossible ? InfoMessage.Update(update.told) : nil }

    private func lookForUpdate(_ now: Int64) {
        guard updates.folder != nil else { return }
        defer { if updateNow != lastUpdate { sayInfo() } }
        let (message, answer) = update.look(updates.state(), isWaiting: updates.isWaiting, now: now)
        if let message { say(message) }
        if let answer { updateAnswer = answer }
        if case .unheard(let reason)? = answer {
            files.put(.update, updates.withdraw())
            log.warning("update: \(reason)")
        }
    }

    private func say(_ message: UpdateMessage) {
        let link = self.link
        messenger.send(message, time: HostClock.wall(), to: { link.publish($0, $1) })
        let fields: KeyValuePairs<String, Log.Field> = [
            "version": .text(message.version ?? ""), "reason": .text(message.reason ?? ""),
        ]
        log.notice("update: \(message.phase.rawValue)", fields)
    }
}
