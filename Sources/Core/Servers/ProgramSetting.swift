import Messages

/// A row of the table of settings of a program beside the agent: what is read, what is allowed, what it does.
public struct ProgramSetting<Settings: ProgramSettings>: Sendable {
    /// Below the program's chapter.
    public var key: String
    public var allowed: String
    public var help: String
    /// The default as YAML.
    public var standard: String
    /// - Returns: false for what is not allowed.
    public var read: @Sendable (Value, inout Settings) -> Bool

    public typealias Path<T> = WritableKeyPath<Settings, T> & Sendable

    public init(
        key: String, allowed: String, help: String, standard: String,
        read: @escaping @Sendable (Value, inout Settings) -> Bool
    ) {
        (self.key, self.allowed, self.help, self.standard, self.read) = (key, allowed, help, standard, read)
    }

    public static func number(
        _ key: String, _ path: any Path<Double>, _ range: ClosedRange<Double>, _ unit: String, _ help: String
    ) -> Self {
        func short(_ number: Double) -> String { number == number.rounded() ? "\(Int(number))" : "\(number)" }
        let allowed = Self.words("\(short(range.lowerBound))…\(short(range.upperBound))", unit)
        return Self(key: key, allowed: allowed, help: help, standard: short(Settings()[keyPath: path])) {
            value, settings in
            guard let number = value.number, range.contains(number) else { return false }
            settings[keyPath: path] = number
            return true
        }
    }

    public static func whole(
        _ key: String, _ path: any Path<Int>, _ range: ClosedRange<Int>, _ unit: String, _ help: String
    ) -> Self {
        let allowed = Self.words("\(range.lowerBound)…\(range.upperBound)", unit)
        return Self(key: key, allowed: allowed, help: help, standard: "\(Settings()[keyPath: path])") {
            value, settings in
            guard case .int(let number) = value, let whole = Int(exactly: number), range.contains(whole) else {
                return false
            }
            settings[keyPath: path] = whole
            return true
        }
    }

    public static func flag(_ key: String, _ path: any Path<Bool>, _ help: String) -> Self {
        Self(key: key, allowed: "true or false", help: help, standard: "\(Settings()[keyPath: path])") {
            value, settings in
            guard case .bool(let flag) = value else { return false }
            settings[keyPath: path] = flag
            return true
        }
    }

    public static func text(
        _ key: String, _ path: any Path<String>, _ allowed: String, _ help: String,
        _ isGood: @escaping @Sendable (String) -> Bool
    ) -> Self {
        Self(key: key, allowed: allowed, help: help, standard: "\"\(Settings()[keyPath: path])\"") { value, settings in
            guard case .string(let text) = value, isGood(text) else { return false }
            settings[keyPath: path] = text
            return true
        }
    }

    /// At most 1000 texts.
    public static func list(
        _ key: String, _ path: any Path<[String]>, _ allowed: String, _ help: String,
        _ isGood: @escaping @Sendable (String) -> Bool
    ) -> Self {
        let standard = Settings()[keyPath: path].joined(separator: ", ")
        return Self(key: key, allowed: "a list of \(allowed)", help: help, standard: "[\(standard)]") {
            value, settings in
            guard case .array(let values) = value, values.count <= 1000 else { return false }
            let texts = values.compactMap { if case .string(let text) = $0, isGood(text) { text } else { nil } }
            guard texts.count == values.count else { return false }
            settings[keyPath: path] = texts
            return true
        }
    }

    /// An object whose members have names that are ids of stations: at most 1000.
    /// - Parameters:
    ///   - example: how one is written, such as `{basement: XX.BASE.00}`.
    ///   - read: what stands at an id; nil for what is not allowed there.
    public static func byStation<T: Sendable>(
        _ key: String, _ path: any Path<[String: T]>, _ allowed: String, _ help: String,
        _ read: @escaping @Sendable (String) -> T?
    ) -> Self {
        Self(key: key, allowed: allowed, help: help, standard: "{}") { value, settings in
            guard case .object(let members) = value, members.count <= 1000 else { return false }
            for member in members {
                guard Topics.problem(inID: member.key) == nil, case .string(let text) = member.value,
                    let one = read(text)
                else { return false }
                settings[keyPath: path][member.key] = one
            }
            return true
        }
    }

    private static func words(_ range: String, _ unit: String) -> String { unit.isEmpty ? range : "\(range) \(unit)" }
}
