import Values

/// Every topic of one station, put together once.
public struct Topics: Sendable, Equatable {
    /// `seismote` unless the settings say otherwise; may have levels of its own.
    public let root: String
    /// The station's id.
    public let id: String
    /// `<root>/<id>`.
    public let base: String

    public let online: String
    public let info: String
    public let config: String
    public let configSchema: String
    public let summary: String
    public let health: String
    public let trigger: String
    public let last: String
    public let current: String
    public let warning: String
    /// Topic of the network's detector, of no station.
    public let networkEvent: String
    public let level: String
    public let digest: String
    /// Progress of an update.
    public let update: String
    public let trace: String
    /// Traces for a while, by command.
    public let stream: String
    public let vibration: String
    public let modes: String
    /// Prefixes, without the slash that follows them.
    public let state: String
    public let event: String
    public let data: String
    public let alertPrefix: String
    let logPrefix: String
    public let waveformPrefix: String
    public let historyPrefix: String
    let replyPrefix: String
    public let commandPrefix: String

    /// Root of topics unless a setting names another.
    public static let defaultRoot = "seismote"

    /// - Parameters:
    ///   - root: one or more topic levels, such as `seismote` or `school/seismote`.
    ///   - id: `[A-Za-z0-9_-]{1,64}`, neither `group` nor `network`.
    public init(root: String = defaultRoot, id: String) throws(TopicError) {
        if let problem = Self.problem(inRoot: root) { throw TopicError(name: "root", got: root, allowed: problem) }
        if let problem = Self.problem(inID: id) { throw TopicError(name: "station id", got: id, allowed: problem) }
        self.root = root
        self.id = id
        base = "\(root)/\(id)"
        state = "\(base)/state"
        event = "\(base)/event"
        data = "\(base)/data"
        online = "\(state)/online"
        info = "\(state)/info"
        config = "\(state)/config"
        configSchema = "\(state)/config/schema"
        summary = "\(state)/summary"
        health = "\(state)/health"
        alertPrefix = "\(state)/alert"
        trigger = "\(event)/trigger"
        last = "\(event)/last"
        current = "\(event)/current"
        warning = "\(event)/warning"
        networkEvent = "\(root)/network/event"
        level = "\(state)/level"
        digest = "\(state)/digest"
        update = "\(state)/update"
        logPrefix = "\(event)/log"
        trace = "\(data)/trace"
        stream = "\(data)/stream"
        vibration = "\(data)/vibration"
        modes = "\(data)/modes"
        waveformPrefix = "\(data)/waveform"
        historyPrefix = "\(data)/history"
        replyPrefix = "\(base)/res"
        commandPrefix = "\(base)/cmd"
    }

    /// Topic of one fault.
    public func alert(_ code: String) -> String { "\(alertPrefix)/\(code)" }

    /// Topic of the full-rate samples of one event.
    public func waveform(eventID: String) -> String { "\(waveformPrefix)/\(eventID)" }

    /// Where a message of a topic of this station goes that is sent late: `event/trigger` to `data/history/event/trigger`,
    /// `data/trace` to `data/history/trace`, `state/summary` to `data/history/summary`. One that was made below a former
    /// root stays there.
    public func history(of topic: String) -> String {
        let base = topic.utf8.starts(with: "\(self.base)/".utf8) ? self.base : formerBase(of: topic)
        guard let base else { return topic }
        for prefix in ["\(base)/data", "\(base)/state", base] where topic.utf8.starts(with: "\(prefix)/".utf8) {
            return "\(base)/data/history" + topic.utf8.dropFirst(prefix.utf8.count).text
        }
        return topic
    }

    /// Base of the topic of a message of this station below another root; nil: it is none of ours.
    private func formerBase(of topic: String) -> String? {
        let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
        let kinds = ["state", "event", "data"]
        guard
            let index = levels.indices.dropLast().last(where: {
                $0 > 0 && levels[$0] == id && kinds.contains(String(levels[$0 + 1]))
            })
        else { return nil }
        return levels[...index].joined(separator: "/")
    }

    /// Topic of log lines of one level.
    public func log(level: String) -> String { "\(logPrefix)/\(level)" }

    /// Where replies go that have no response topic.
    public func reply(requestID: String) -> String { "\(replyPrefix)/\(requestID)" }

    /// Where replies go to commands that came over MQTT 3.1.1 and have no id.
    public var replyWithoutID: String { reply(requestID: "no-id") }

    /// Topic of one command to this station.
    public func command(_ verb: String) -> String { "\(commandPrefix)/\(verb)" }

    /// The name of an event: the station's id and the onset, without dots.
    public func eventID(onset: Int64) -> String { "\(id)-\(Timestamp(nanoseconds: onset).stamp)" }

    /// Levels of the topics beside those of the stations: commands to groups, and what the detector of a network says.
    public static let reserved = ["group", "network"]

    /// Rule that an id breaks; nil when it is good.
    public static func problem(inID id: String) -> String? {
        guard id.isMade(1...64, of: { $0.isOfID }) else { return "1 to 64 characters of A-Z, a-z, 0-9, _ and -" }
        return reserved.contains(id) ? "any id but '\(id)', which is reserved" : nil
    }

    /// Rule that a root breaks; nil when it is good.
    public static func problem(inRoot root: String) -> String? {
        let allowed =
            "1 to 128 bytes of topic levels between slashes, none empty, no +, # or control character, no $ in front"
        let bytes = root.utf8
        guard (1...128).contains(bytes.count), bytes.first != UInt8(ascii: "$") else { return allowed }
        var previous = UInt8(ascii: "/")
        for byte in bytes {
            let empty = byte == UInt8(ascii: "/") && previous == UInt8(ascii: "/")
            if empty || byte < 0x20 || byte == 0x7f || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "#") {
                return allowed
            }
            previous = byte
        }
        return previous == UInt8(ascii: "/") ? allowed : nil
    }

    /// The host's name as a station id: what an id must not have becomes `-`.
    public static func id(fromHostName name: String) -> String {
        let first = name.split(separator: ".").first ?? ""
        let id = String(
            first.unicodeScalars.prefix(64).map { $0.isASCII && UInt8($0.value).isOfID ? Character($0) : "-" })
        return problem(inID: id) == nil ? id : "station"
    }
}

extension Substring.UTF8View {
    fileprivate var text: String { String(Substring(self)) }
}

/// A name that cannot be part of a topic.
public struct TopicError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Purpose of the name.
    public var name: String
    public var got: String
    public var allowed: String
    public var description: String { "\(name) '\(got)' is not allowed: \(allowed)" }
}

// Topics that come from outside, taken apart.
extension Topics {
    /// Station and what comes after it: of `seismote/basement/state/info` `basement` and `state/info`.
    /// - Parameter root: what topics begin with, one level or several.
    /// - Returns: nil where the topic is of no station below this root; those of groups and of a network are not.
    public static func split(_ topic: String, root: String) -> (station: String, rest: String)? {
        guard let below = rest(of: topic, below: root)?.utf8, let slash = below.firstIndex(of: UInt8(ascii: "/")) else {
            return nil
        }
        let station = String(Substring(below[..<slash]))
        guard problem(inID: station) == nil else { return nil }
        return (station, String(Substring(below[below.index(after: slash)...])))
    }

    /// Where the operator of a network enters the place of a station; of all for `+`.
    public static func place(of station: String, root: String) -> String { "\(root)/network/place/\(station)" }

    /// The station whose place is entered on a topic, whatever its name; nil: the topic is another one.
    public static func stationPlaced(by topic: String, root: String) -> String? {
        rest(of: topic, below: "\(root)/network/place")
    }

    /// Rest of a topic behind its first levels and their slash. Bytes are compared, because a slash and an accent after
    /// it are one letter of Swift.
    /// - Returns: nil where the topic begins otherwise.
    public static func rest(of topic: String, below levels: String) -> String? {
        guard topic.utf8.starts(with: levels.utf8) else { return nil }
        let rest = topic.utf8.dropFirst(levels.utf8.count)
        guard rest.first == UInt8(ascii: "/") else { return nil }
        return String(Substring(rest.dropFirst()))
    }
}

/// The kinds of message the agent sends; each counts its own `seq`.
public enum Stream: Int, Sendable, CaseIterable {
    case online, info, config, configSchema, summary, health, alert, trigger, last, trace, waveform, reply, log
    /// Traces that a command asked for.
    case stream
    /// The open event, and the few numbers that an overview shows.
    case current, level
    /// A summary now and then, for those who write down all that they get.
    case digest
    /// Vibration of one interval, and natural modes of a period.
    case vibration, modes
    /// Progress of an update.
    case update
    /// Expectation of an earthquake that the network has seen.
    case warning

    /// How the messages of this stream travel: the one table of quality of service, retention, content type, expiry
    /// and priority.
    public var delivery: Delivery {
        switch self {
        case .online: Delivery(qos: 1, retain: true, content: .text, expiry: nil, priority: .essential)
        case .info, .update: Delivery(qos: 1, retain: true, content: .json, expiry: nil, priority: .essential)
        case .config: Delivery(qos: 1, retain: true, content: .json, expiry: nil, priority: .essential)
        case .configSchema: Delivery(qos: 1, retain: true, content: .json, expiry: nil, priority: .essential)
        case .summary, .digest: Delivery(qos: 0, retain: true, content: .json, expiry: nil, priority: .state)
        case .health: Delivery(qos: 1, retain: true, content: .json, expiry: nil, priority: .state)
        case .alert: Delivery(qos: 1, retain: true, content: .json, expiry: nil, priority: .essential)
        // The expiry of onsets and updates; ends do not expire, see `Messenger`.
        case .trigger: Delivery(qos: 1, retain: false, content: .json, expiry: 3600, priority: .essential)
        // The next run of the agent reads it back, to close an event that a power cut has interrupted: it may be long.
        case .current: Delivery(qos: 1, retain: true, content: .json, expiry: 30 * 86_400, priority: .essential)
        case .level: Delivery(qos: 0, retain: true, content: .json, expiry: nil, priority: .state)
        case .last: Delivery(qos: 1, retain: true, content: .json, expiry: nil, priority: .essential)
        case .trace, .stream: Delivery(qos: 1, retain: false, content: .json, expiry: 60, priority: .trace)
        // (Not retained: what is goes past the disk, and these are stored.)
        case .vibration, .modes: Delivery(qos: 1, retain: false, content: .json, expiry: nil, priority: .essential)
        // (Who connects during one has to know of it; after it, nobody.)
        case .warning: Delivery(qos: 1, retain: true, content: .json, expiry: 300, priority: .essential)
        case .waveform: Delivery(qos: 1, retain: false, content: .mseed, expiry: nil, priority: .essential)
        case .reply: Delivery(qos: 1, retain: false, content: .json, expiry: 3600, priority: .essential)
        case .log: Delivery(qos: 0, retain: false, content: .json, expiry: nil, priority: .trace)
        }
    }

    /// Its numbers are written as 32-bit floats, which is what a sensor can tell; those of others keep all digits.
    var isSingle: Bool {
        switch self {
        case .summary, .level, .trace, .stream, .vibration, .modes: true
        default: false
        }
    }
}

/// One line of that table.
public struct Delivery: Sendable, Equatable {
    public var qos: Int
    public var retain: Bool
    public var content: ContentType
    /// Seconds after which a broker may drop the message; nil: never.
    public var expiry: UInt32?
    public var priority: Priority

    /// The header of a message on a topic.
    public func header(topic: String) -> PublicationHeader {
        PublicationHeader(
            topic: topic, qos: qos, retain: retain, contentType: content, expiry: expiry, priority: priority)
    }
}

/// Decides when a program publishes its own value on a retained topic again, after another client has written one. Pure.
///
/// A bridge of two brokers brings the last will of an earlier connection late, or an old value; any account with the right
/// may write. Readers believe what they find. The program's value follows after a moment, in which it may come back behind
/// an older one by itself. Pauses double, so that two programs of one name do not fight.
public struct RetainedCorrection: Sendable, Equatable {
    /// From another value to the correction (ns).
    public static var moment: UInt64 { 300_000_000 }
    /// Between two corrections: at first, and at most (ns).
    public static var shortest: UInt64 { 1_000_000_000 }
    public static var longest: UInt64 { 300_000_000_000 }
    /// Corrections are forgotten after this time without another (ns).
    public static var memory: UInt64 { 600_000_000_000 }

    /// When the next correction is due; nil: the value stands.
    public private(set) var due: UInt64?
    private var corrected: UInt64?
    private var pause = RetainedCorrection.shortest

    public init() {}

    /// Takes a message on the topic.
    /// - Parameter now: nanoseconds of a clock that does not go back.
    public mutating func heard(isOwn: Bool, now: UInt64) {
        if isOwn {
            due = nil
        } else if due == nil {
            due = max(now + Self.moment, corrected.map { $0 + pause } ?? 0)
        }
    }

    /// Returns whether the value is to be published again now.
    /// - Parameter isPresence: pauses do not grow, so that who is there never counts as gone for long.
    public mutating func takeDue(now: UInt64, isPresence: Bool = false) -> Bool {
        guard let due, now >= due else { return false }
        if isForgotten(at: now) {
            pause = Self.shortest
        } else if !isPresence {
            pause = min(2 * pause, Self.longest)
        }
        (self.due, corrected) = (nil, now)
        return true
    }

    /// Whether nothing is due, and there has been no correction for long.
    public func isOver(now: UInt64) -> Bool { due == nil && isForgotten(at: now) }

    private func isForgotten(at now: UInt64) -> Bool {
        corrected.map { now - min(now, $0) >= Self.memory } ?? true
    }

    /// A connection is over: all is published anew in the next one.
    public mutating func disconnected() { due = nil }
}
