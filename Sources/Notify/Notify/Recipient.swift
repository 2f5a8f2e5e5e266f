import Messages
import Propagation
import Settings
import Values

/// Somebody who gets messages: by which service, of what, and when not.
public struct Recipient: Sendable, Equatable {
    public enum Service: Sendable, Equatable {
        /// The topic's address, such as `https://ntfy.sh/my-topic`. `updates`: the server replaces a message by a later one
        /// with the same `sequence_id`; older ones show both, and get one message for each event.
        case ntfy(base: String, topic: String, updates: Bool)
        /// A configuration file of Apprise, which has the addresses: a path, or the name of a credential.
        case apprise(file: String)
        case mail(address: String)
    }

    /// Reasons for a message. Nothing that is off is one.
    public struct Rules: Sendable, Equatable {
        /// Network events from this magnitude on; those whose magnitude is not known count as large enough.
        public var magnitude: Double?
        /// Network events within this distance of ``Recipient/here``, km; those whose place is not known count as near.
        public var distance: Double?
        /// Network events from this Mercalli intensity on that is expected at ``Recipient/here``; those of which magnitude
        /// or place is not known do not count.
        public var expected: Double?
        /// Network events that are disputed, too. A message of one is never urgent.
        public var disputed = false
        /// A station's events from this Mercalli intensity on.
        public var intensity: Double?
        /// A station's events that it takes for an earthquake, whatever their intensity.
        public var earthquake = false
        /// A station's alarm.
        public var alarm = true
        /// A station that has been offline for ten minutes.
        public var offline = false
        /// Alerts from this severity on.
        public var alerts: Severity?
        /// Alerts with these codes, whatever their severity.
        public var codes: [String] = []

        /// Whether network events are worth a message at all.
        var namesNetwork: Bool { magnitude != nil || distance != nil || expected != nil }
    }

    public enum Severity: String, Sendable, CaseIterable, Comparable {
        case info, warning, error
        public static func < (a: Self, b: Self) -> Bool {
            (allCases.firstIndex(of: a) ?? 0) < (allCases.firstIndex(of: b) ?? 0)
        }
    }

    public var name: String
    public var service: Service
    /// File with an access token for ntfy, a path or the name of a credential; empty: none.
    public var tokenFile = ""
    public var rules = Rules()
    /// Stations it is about; empty: all.
    public var stations: [String] = []
    /// Where somebody is, for the distance and the expected intensity of network events; degrees.
    public var here: Place?
    public var quiet: DayTime?
    /// Ordinary messages an hour at most, and as many urgent ones.
    var hourly = 20
    /// Names of stations and their ids may be in the text.
    public var names = false
    /// Coordinates may be in the text.
    public var places = false

    /// Reads one of the list.
    /// - Throws: a sentence that names what is wrong and what is allowed.
    public init(_ value: Value) throws(RecipientError) {
        guard case .object(let members) = value else {
            throw RecipientError("a recipient is an object with name, one of ntfy, apprise, mail, and rules")
        }
        guard let name = value["name"]?.rawText, Topics.problem(inID: name) == nil else {
            throw RecipientError("name is missing, or not 1 to 64 of letters A-Z a-z, digits, _ and -")
        }
        self.name = name
        func wrong(_ key: String, _ allowed: String) -> RecipientError {
            RecipientError("\(name): \(key) is \(Self.shown(value[key])); allowed: \(allowed)")
        }
        var services: [Service] = []
        if let given = value["ntfy"] {
            guard let text = given.rawText, let address = Self.address(text) else {
                throw wrong("ntfy", "https://SERVER/TOPIC (http:// for a server on this network)")
            }
            services.append(.ntfy(base: address.base, topic: address.topic, updates: value["updates"]?.flag ?? false))
        }
        if let given = value["apprise"] {
            guard let text = given.rawText, Self.isFile(text) else {
                throw wrong(
                    "apprise", "the absolute path of a configuration file of Apprise, or the name of a credential")
            }
            services.append(.apprise(file: text))
        }
        if let given = value["mail"] {
            guard let text = given.rawText, Self.isMail(text) else {
                throw wrong("mail", "an address such as me@example.org")
            }
            services.append(.mail(address: text))
        }
        guard services.count == 1 else {
            throw RecipientError("\(name): exactly one of ntfy, apprise and mail is needed, not \(services.count)")
        }
        service = services[0]
        for member in members {
            switch member.key {
            case "name", "ntfy", "apprise", "mail": break
            case "updates", "names", "places":
                guard let flag = member.value.flag else { throw wrong(member.key, "true or false") }
                if member.key == "names" { names = flag }
                if member.key == "places" { places = flag }
            case "token_file":
                guard let text = member.value.rawText, Self.isFile(text) else {
                    throw wrong("token_file", "an absolute path, or the name of a credential")
                }
                tokenFile = text
            case "rules": rules = try Self.rules(member.value, name)
            case "stations":
                guard case .array(let ids) = member.value, ids.count <= 1000 else {
                    throw wrong("stations", "a list of ids")
                }
                stations = ids.compactMap { id in id.rawText.flatMap { Topics.problem(inID: $0) == nil ? $0 : nil } }
                guard stations.count == ids.count else { throw wrong("stations", "a list of ids of stations") }
            case "here":
                guard case .array(let list) = member.value, list.count == 2, let latitude = list[0].number,
                    let longitude = list[1].number, abs(latitude) <= 90, abs(longitude) <= 180
                else { throw wrong("here", "[latitude, longitude] in degrees, such as [46.23, 7.36]") }
                here = Place(latitude: latitude, longitude: longitude)
            case "quiet":
                guard let text = member.value.rawText, let time = DayTime(text) else {
                    throw wrong("quiet", "HH:MM-HH:MM, such as 22:00-07:00")
                }
                quiet = time
            case "hourly":
                guard let number = member.value.whole, (1...1000).contains(number) else {
                    throw wrong("hourly", "1…1000")
                }
                hourly = number
            default:
                throw RecipientError(
                    "\(name): there is no \(member.key); there are name, ntfy, apprise, mail, token_file, updates, rules, stations, here, quiet, hourly, names, places"
                )
            }
        }
        if here == nil, rules.distance != nil || rules.expected != nil {
            throw RecipientError(
                "\(name): rules.distance_km and rules.expected_intensity need here: [latitude, longitude]")
        }
        if !tokenFile.isEmpty, value["ntfy"] == nil {
            throw RecipientError("\(name): token_file is for ntfy; Apprise has its secrets in its own file")
        }
    }

    private static func rules(_ value: Value, _ name: String) throws(RecipientError) -> Rules {
        guard case .object(let members) = value else { throw RecipientError("\(name): rules is an object") }
        var rules = Rules()
        for member in members {
            func wrong(_ allowed: String) -> RecipientError {
                RecipientError("\(name): rules.\(member.key) is \(shown(member.value)); allowed: \(allowed)")
            }
            switch member.key {
            case "magnitude":
                guard let number = member.value.number, (0...10).contains(number) else { throw wrong("0…10") }
                rules.magnitude = number
            case "distance_km":
                guard let number = member.value.number, (1...20_000).contains(number) else { throw wrong("1…20000 km") }
                rules.distance = number
            case "expected_intensity":
                guard let number = member.value.number, (1...12).contains(number) else {
                    throw wrong("1…12 (Mercalli)")
                }
                rules.expected = number
            case "codes":
                guard case .array(let list) = member.value, list.count <= 100 else { throw wrong("a list of alerts") }
                rules.codes = list.compactMap { $0.rawText }
                guard rules.codes.count == list.count else { throw wrong("a list of alerts such as [vibration_limit]") }
            case "intensity":
                guard let number = member.value.number, (1...12).contains(number) else {
                    throw wrong("1…12 (Mercalli)")
                }
                rules.intensity = number
            case "earthquake", "alarm", "offline", "disputed":
                guard let flag = member.value.flag else { throw wrong("true or false") }
                switch member.key {
                case "disputed": rules.disputed = flag
                case "earthquake": rules.earthquake = flag
                case "alarm": rules.alarm = flag
                default: rules.offline = flag
                }
            case "alerts":
                guard let severity = member.value.rawText.flatMap(Severity.init(rawValue:)) else {
                    throw wrong("info, warning or error")
                }
                rules.alerts = severity
            default:
                throw RecipientError(
                    "\(name): there is no rules.\(member.key); there are magnitude, distance_km, expected_intensity, disputed, intensity, earthquake, alarm, offline, alerts, codes"
                )
            }
        }
        return rules
    }

    /// Server and topic of an ntfy address.
    private static func address(_ text: String) -> (base: String, topic: String)? {
        guard text.hasPrefix("https://") || text.hasPrefix("http://"), isPlain(text),
            let slash = text.lastIndex(of: "/")
        else {
            return nil
        }
        let (base, topic) = (String(text[..<slash]), String(text[text.index(after: slash)...]))
        let authority = base.dropFirst(text.hasPrefix("https") ? 8 : 7).prefix { $0 != "/" }
        guard (try? NetworkAddress(authority, allowsZone: false)) != nil, !base.hasSuffix("/"),
            topic.isMade(1...64, of: { $0.isOfID })
        else { return nil }
        return (base, topic)
    }

    private static func isPlain(_ text: String) -> Bool {
        (1...1000).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != 0x22 && $0 != 0x5C }
    }

    /// A path, or the name of a credential.
    private static func isFile(_ text: String) -> Bool {
        guard isPlain(text) else { return false }
        return text.hasPrefix("/")
            || text.utf8.count <= 100 && !text.hasPrefix(".") && !text.contains("/")
    }

    private static func isMail(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[0].isEmpty && !parts[1].isEmpty && isPlain(text)
            && text.utf8.allSatisfy { ![0x2C, 0x3A, 0x3B, 0x3C, 0x3E].contains($0) } && !text.hasPrefix("-")
    }

    private static func shown(_ value: Value?) -> String {
        guard let value else { return "missing" }
        return String(decoding: value.json().prefix(80), as: UTF8.self)
    }
}

/// A fault of a recipient's settings; a sentence.
public struct RecipientError: Error, Equatable {
    public var message: String
    init(_ message: String) { self.message = message }
}
