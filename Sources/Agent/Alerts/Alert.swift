import Instruments
import MQTT
import Messages
import Sensors
import Settings
import Values

/// An alert: what it is, said once for the agent, `seismote doctor`, the documents and whoever lists alerts; and when it is
/// there, as a value that is asked once a second.
///
/// A new one is a struct in the file of its chapter, with its line in the chapter's list.
public protocol Alert: Sendable {
    static var declaration: AlertDeclaration { get }
    init()
    /// - Returns: nil when all is well.
    mutating func look(_ facts: AlertFacts) -> AlertFault?
}

/// Declaration of an alert, the same whether it is raised or not.
public struct AlertDeclaration: Sendable {
    /// `state/alert/<code>`.
    public let code: String
    /// The worst that it can have; a fault may have another.
    public let severity: AlertMessage.Severity
    /// A few words that name the fault.
    public let title: String
    /// When it is raised and what it means, in sentences (Markdown).
    public let meaning: String
    /// Remedy, as a sentence without its full stop (Markdown, without links).
    public let remedy: String
    /// A link that says more, as the page of alerts has it.
    public let see: String?
    /// When it is less severe: "when only some axes do".
    public let lesser: String?
    /// Members of `details`, for programs (Markdown).
    public let details: String?
    /// The check of `seismote doctor` that tells it; nil: the one that tells all others.
    public let check: String?
    /// Its absence is known as soon as it is known whether the sensor can be used; of others after ``AlertBoard/searchTime``.
    let isOfOpening: Bool

    init(
        _ code: String, _ severity: AlertMessage.Severity, _ title: String, _ meaning: String, remedy: String,
        see: String? = nil, lesser: String? = nil, details: String? = nil, check: String? = nil,
        isOfOpening: Bool = false
    ) {
        (self.code, self.severity, self.title, self.meaning) = (code, severity, title, meaning)
        (self.remedy, self.see, self.lesser, self.details) = (remedy, see, lesser, details)
        (self.check, self.isOfOpening) = (check, isOfOpening)
    }
}

/// A fault that an alert reports now.
public struct AlertFault: Sendable, Equatable {
    /// A sentence. Another one is news; other details alone are none.
    public var message: String
    /// For programs: an object.
    public var details: Value
    /// Nil: that of the declaration.
    public var severity: AlertMessage.Severity?

    public init(_ message: String, _ details: Value = .object([]), _ severity: AlertMessage.Severity? = nil) {
        (self.message, self.details, self.severity) = (message, details, severity)
    }
}

/// Alerts that belong together.
public struct AlertChapter: Sendable {
    public let title: String
    public let alerts: [any Alert.Type]

    /// In the order of the documents.
    public static let all = [sensor, clock, settings, alarm, vibration, storage, broker]
}

extension AlertDeclaration {
    /// Declarations of every alert.
    public static var all: [AlertDeclaration] { AlertChapter.all.flatMap { $0.alerts.map { $0.declaration } } }

    public static func of(_ code: String) -> AlertDeclaration? { all.first { $0.code == code } }
}

/// Whether a counter has changed lately: what has happened stays an alert for a while, so that it is seen.
struct RecentChange {
    private var last: UInt64 = 0
    private var until: Int64?

    /// - Parameters:
    ///   - now: of the monotonic clock (ns).
    ///   - time: how long a change counts (ns).
    mutating func note(_ count: UInt64, now: Int64, for time: Int64) -> Bool {
        if count != last { until = now + time }
        last = count
        if let end = until, now >= end { until = nil }
        return until != nil
    }

    mutating func prolong(now: Int64, for time: Int64) { until = now + time }
}

/// Facts from which the agent judges alerts, once a second.
public struct AlertFacts: Sendable {
    /// Time by the monotonic clock (ns).
    public var now: Int64
    /// Since when it is known whether the sensor can be used (monotonic, ns); nil: it is not known yet.
    public var sensorKnown: Int64?
    public var sensor = Sensor()
    /// How good the host's clock is; nil: nobody says.
    public var clock: TimeQuality?
    /// Settings that cannot be used with this sensor: the setting's path, and the whole sentence.
    public var refusedSettings: (path: String, message: String)?
    /// A change of the settings that was taken back, until the next one.
    public var reverted: AlertFault?
    /// Settings of the connection in force.
    public var mqtt: MQTTConfiguration
    public var link: LinkStatistics
    public var storage = Storage()
    /// How the last interval of vibration stands to its limit; nil: there is none, or no limit.
    public var vibration: VibrationMessage.Standing?
    /// Fault of the alarm's line; nil: it works, or there is none.
    public var alarmProblem: String?

    public init(now: Int64, mqtt: MQTTConfiguration, link: LinkStatistics) {
        (self.now, self.mqtt, self.link) = (now, mqtt, link)
    }

    public struct Sensor: Sendable {
        /// Nil while none is open.
        public var description: SensorDescription?
        /// Reason why it cannot be used.
        public var problem: SensorError?
        /// It is too early to raise that.
        public var waits = false
        /// It is open and sends nothing, and should.
        public var isSilent = false
        /// Faults of the samples that come.
        public var watch = SampleReport()
        /// Nil while none has been asked for or made.
        public var selfTest: SelfTestOutcome?
        /// How the driver says that it is; nil while none is open.
        public var condition: SensorCondition?
        /// The samples are put on the nominal rate.
        public var isResampled = false

        public init() {}
    }

    public struct Storage: Sendable {
        /// Reason why it is unavailable; nil: it works.
        public var problem: String?
        /// Damage that was found since the start, in words.
        public var setAside: String?
        /// The files were taken away while they were in use: what, in words, and when (monotonic, ns).
        public var taken: (words: String, at: Int64)?
        /// Messages that the disk dropped for want of room since the start.
        public var dropped = ClassCounts()
        /// Messages lost by damage, other things, and how often nobody knows what.
        public var (damaged, damagedOthers, unknownLosses) = (0, 0, 0)
        public var (rebuiltIndices, damagedPages) = (0, 0)

        public init() {}
    }
}

/// Report of ``SampleWatch``, with its numbers at the moment of the last change.
public struct SampleReport: Sendable, Equatable {
    public var faults: SampleFaults
    /// Bits 0, 1, 2: the axes that stand still.
    public var stuckAxes: UInt8
    /// Share of a second's samples at full scale.
    public var saturated: Double
    /// Magnitude of a second's mean in m/s²; nil when it has no numbers.
    public var magnitude: Double?

    public init(
        faults: SampleFaults = [], stuckAxes: UInt8 = 0, saturated: Double = 0, magnitude: Double? = nil
    ) {
        (self.faults, self.stuckAxes, self.saturated, self.magnitude) = (faults, stuckAxes, saturated, magnitude)
    }
}

/// Outcome of the chip's self-test.
public struct SelfTestOutcome: Sendable, Equatable {
    /// Nanoseconds of UTC.
    public var time: Int64
    /// Nil when it could not be made.
    public var report: SelfTestReport?
    public var error: SensorError?

    public init(time: Int64, report: SelfTestReport? = nil, error: SensorError? = nil) {
        (self.time, self.report, self.error) = (time, report, error)
    }
}

/// The faults that are there now. Pure: says what has to be published, does not do it.
public struct AlertBoard {
    public enum Change: Equatable {
        case raise(AlertMessage)
        case clear(String)
        /// It has not been there since the start: the broker may still have one that the run before this one raised.
        case empty(String)
    }

    /// The absence of a fault that is found while samples come is known when it was not found in so long a time (ns).
    static let searchTime: Int64 = 60_000_000_000

    /// In the order in which they were raised.
    public private(set) var active: [AlertMessage] = []
    private var alerts: [any Alert]
    /// Codes of which nothing was said yet, and that a run before this one may have left with a broker.
    private var unsaid: Set<String>

    /// - Parameters:
    ///   - alerts: all that there are.
    ///   - left: codes that a run before this one may have left with a broker; nil: all.
    public init(_ alerts: [any Alert.Type] = AlertChapter.all.flatMap(\.alerts), left: Set<String>? = nil) {
        self.alerts = alerts.map { $0.init() }
        let codes = Set(alerts.map { $0.declaration.code })
        unsaid = left.map { codes.intersection($0) } ?? codes
    }

    /// True when no stale alert is left to be cleared.
    public var isEmptied: Bool { unsaid.isEmpty }

    public var codes: [String] { active.map(\.code) }

    /// Asks every alert.
    /// - Parameter wall: nanoseconds of UTC.
    /// - Returns: what is new.
    public mutating func look(_ facts: AlertFacts, wall: Int64) -> [Change] {
        alerts.indices.compactMap { index in
            let declaration = type(of: alerts[index]).declaration
            return update(
                declaration, now: wall, fault: alerts[index].look(facts),
                isKnown: declaration.isAbsenceKnown(facts.sensorKnown, now: facts.now))
        }
    }

    /// Sets or clears one fault; nil when nothing is new. The time of the first sighting stays while the words change.
    /// - Parameters:
    ///   - fault: nil when all is well.
    ///   - isKnown: it would have been found by now, so that nil means something.
    mutating func update(
        _ declaration: AlertDeclaration, now: Int64, fault: AlertFault?, isKnown: Bool = true
    ) -> Change? {
        let code = declaration.code
        let index = active.firstIndex { $0.code == code }
        guard let fault else {
            guard let index else {
                guard isKnown, unsaid.remove(code) != nil else { return nil }
                return .empty(code)
            }
            active.remove(at: index)
            return .clear(code)
        }
        unsaid.remove(code)
        var alert = AlertMessage(
            code: code, severity: fault.severity ?? declaration.severity, since: now, message: fault.message,
            details: fault.details)
        if let index {
            alert.since = active[index].since
            // Details are for the one who looks; they alone are no news.
            let isNew = active[index].message != alert.message
            active[index] = alert
            return isNew ? .raise(alert) : nil
        }
        active.append(alert)
        return .raise(alert)
    }
}

extension AlertDeclaration {
    /// Whether the absence of this fault is known.
    /// - Parameters:
    ///   - sensorKnown: since when it is known whether the sensor can be used (monotonic, ns); nil: it is not.
    ///   - now: of the same clock.
    func isAbsenceKnown(_ sensorKnown: Int64?, now: Int64) -> Bool {
        guard let sensorKnown else { return false }
        return isOfOpening || now - sensorKnown >= AlertBoard.searchTime
    }
}
