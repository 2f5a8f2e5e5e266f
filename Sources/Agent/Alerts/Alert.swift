import Messages
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
