import Instruments
import SignalProcessing

/// Which columns of a table are time, x, y and z, and what their numbers are, as its header says.
struct CSVColumns: Equatable {
    /// Numbers of the columns from 0: t, x, y, z.
    var places = [0, 1, 2, 3]
    /// Columns of the table.
    var count = 4
    /// How a time that is a plain number is written; nil: the header does not say.
    var timeUnit: TimeText.Unit?
    /// Unit of x, y and z; nil: the header does not say.
    var unit: CSVUnit?
    /// The columns' names as the header has them; empty: there is no header.
    var names: [String] = []

    /// A reason why a header cannot be understood.
    struct Failure: Error, Equatable { var text: String }

    init() {}

    /// The columns that a header names.
    /// - Throws: a sentence that names the columns, where it is not clear which ones are meant.
    init(header names: [String]) throws(Failure) {
        self.names = names
        count = names.count
        let columns = names.map { ColumnName($0) }
        let time = try Self.time(columns, names)
        var places = [time]
        var units: [CSVUnit?] = []
        for axis in ["x", "y", "z"] {
            var fitting = columns.indices.filter { $0 != time && columns[$0].axis == axis && !columns[$0].isForeign }
            let accelerations = fitting.filter { if case .other = columns[$0].unit { false } else { true } }
            if !accelerations.isEmpty { fitting = accelerations }
            guard let place = fitting.first else {
                throw Failure(
                    text: "no column for \(axis): the header names \(Self.list(names)); name them t, x, y, z")
            }
            guard fitting.count == 1 else {
                throw Failure(
                    text: "several columns for \(axis): \(Self.list(fitting.map { names[$0] })); "
                        + "a recording needs one for each of t, x, y and z")
            }
            places.append(place)
            units.append(columns[place].unit)
        }
        guard units.allSatisfy({ $0 == units[0] }) else {
            throw Failure(
                text: "x, y and z are of different units: \(Self.list(places.dropFirst().map { names[$0] }))")
        }
        self.places = places
        unit = units[0]
        timeUnit = columns[time].timeUnit
    }

    private static func time(_ columns: [ColumnName], _ names: [String]) throws(Failure) -> Int {
        let fitting = columns.indices.filter { columns[$0].isTime }
        guard fitting.count > 1 else {
            guard let place = fitting.first else {
                throw Failure(text: "no column for the time: the header names \(list(names)); name them t, x, y, z")
            }
            return place
        }
        // Sensor Logger and others write a time and the seconds since the start beside it.
        let clocks = fitting.filter { !columns[$0].isElapsed }
        guard clocks.count == 1 else {
            throw Failure(
                text: "several columns for the time: \(list(fitting.map { names[$0] })); "
                    + "a recording needs one for each of t, x, y and z")
        }
        return clocks[0]
    }

    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(12).map { "\"\($0)\"" }.joined(separator: ", ")
        return names.count > 12 ? "\(shown) and \(names.count - 12) more" : shown
    }

    /// m/s² of one number of x, y and z.
    /// - Parameter isUnitGiven: somebody has said `settings.unit`; it is not the default.
    /// - Throws: a sentence where header and settings contradict each other, or where the unit is none of an
    ///   acceleration.
    func factors(
        _ settings: ReplaySettings, isUnitGiven: Bool
    ) throws(Failure) -> (x: Double, y: Double, z: Double) {
        let named = list(places.dropFirst().map { names.indices.contains($0) ? names[$0] : "" })
        let given = isUnitGiven || settings.unit != .metresPerSecondSquared
        switch unit {
        case .other(let name):
            throw Failure(text: "the columns \(named) are in \(name), which is no acceleration")
        case .counts(let name) where settings.scale == nil:
            throw Failure(
                text: "the columns \(named) are in \(name): give m/s² of one as --scale (sensor.replay.scale)")
        case .acceleration(let factor, let name):
            guard !given || settings.unit.factor == factor else {
                throw Failure(
                    text: "the header says \(name) (\(named)), --unit says \(settings.unit.rawValue): "
                        + "leave --unit away, or correct the header")
            }
            guard let scale = settings.scale else { return (factor, factor, factor) }
            if given { break }
            for axis in 0..<3 where !(0.95...1.05).contains(abs(scale[axis]) / factor) {
                throw Failure(
                    text: "the header says \(name) (\(named)), that is \(factor) m/s² of one, --scale says "
                        + "\(scale[axis]): leave --scale away, or correct the header")
            }
            return (scale.x, scale.y, scale.z)
        case .counts, nil: break
        }
        let scale = settings.scale ?? PerAxis(1)
        let unit = settings.unit.factor
        return (scale.x * unit, scale.y * unit, scale.z * unit)
    }

    private func list(_ names: [String]) -> String { Self.list(names) }
}

/// Unit of a column of samples.
enum CSVUnit: Equatable {
    /// m/s² of one, and how it is written.
    case acceleration(Double, String)
    /// Counts or volts, of which somebody has to say how much they are.
    case counts(String)
    /// Another quantity: a velocity, an angular rate, a field.
    case other(String)

    static func == (a: CSVUnit, b: CSVUnit) -> Bool {
        switch (a, b) {
        case (.acceleration(let a, _), .acceleration(let b, _)): a == b
        case (.counts(let a), .counts(let b)), (.other(let a), .other(let b)): a == b
        default: false
        }
    }

    /// A unit as people write it; nil: it is none that is known.
    /// - Parameter text: without brackets and blanks around it.
    init?(_ text: String) {
        let word = Self.plain(text)
        let shown = text.trimmed
        if let factor = Self.accelerations[word] {
            self = .acceleration(factor, shown)
        } else if Self.raw.contains(word) {
            self = .counts(shown)
        } else if Self.others.contains(word) {
            self = .other(shown)
        } else {
            return nil
        }
    }

    /// Without blanks, signs of powers and products; `²` is `2`, `µ` is `u`, seconds are `s`.
    static func plain(_ text: String) -> String {
        var word = ""
        for character in text.lowercased() {
            switch character {
            case " ", "\t", "^", "*", "·", "⋅", ".", "{", "}", "(", ")", "_": continue
            case "²": word.append("2")
            case "⁻", "−", "–": word.append("-")
            case "µ", "μ": word.append("u")
            default: word.append(character)
            }
        }
        for (long, short) in [
            ("seconds", "s"), ("second", "s"), ("sec", "s"), ("metres", "m"), ("meters", "m"), ("squared", "2"),
            ("per", "/"),
        ] {
            word = replace(long, with: short, in: word)
        }
        return word
    }

    /// (The standard library's own `replacing` brings its regular expressions along, 1.4 MB of the agent.)
    private static func replace(_ long: String, with short: String, in word: String) -> String {
        let (long, all) = (Array(long), Array(word))
        var (result, place) = ("", 0)
        while place < all.count {
            if all[place...].starts(with: long) {
                result += short
                place += long.count
            } else {
                result.append(all[place])
                place += 1
            }
        }
        return result
    }

    private static let accelerations: [String: Double] = {
        var units: [String: Double] = [
            "g": standardGravity, "gn": standardGravity, "g0": standardGravity, "gs": standardGravity,
            "gforce": standardGravity, "g-force": standardGravity,
            "mg": standardGravity / 1e3, "milli-g": standardGravity / 1e3, "millig": standardGravity / 1e3,
            "mgn": standardGravity / 1e3, "ug": standardGravity / 1e6, "gal": 0.01, "gals": 0.01, "mgal": 1e-5,
        ]
        for (length, factor) in [
            ("m", 1.0), ("cm", 0.01), ("mm", 1e-3), ("um", 1e-6), ("nm", 1e-9), ("ft", 0.3048), ("in", 0.0254),
        ] {
            for form in ["/s2", "/s/s", "s-2", "/ss", "ps2", "s2"] { units[length + form] = factor }
        }
        return units
    }()

    private static let raw: Set<String> = [
        "count", "counts", "cnt", "cnts", "lsb", "lsbs", "raw", "adc", "digit", "digits", "v", "mv", "uv", "volt",
        "volts",
    ]

    private static let others: Set<String> = [
        "m/s", "cm/s", "mm/s", "um/s", "nm/s", "in/s", "ft/s", "km/h", "ms-1", "m", "cm", "mm", "um", "nm", "in", "ft",
        "deg/s", "°/s", "rad/s", "dps", "rads-1", "rad/s2", "deg", "°", "rad", "ut", "mt", "nt", "gauss", "hpa", "pa",
        "°c", "m/s3",
    ]
}

/// The meaning of one column's name.
struct ColumnName {
    /// `x`, `y` or `z`; nil: none of them.
    private(set) var axis: String?
    private(set) var unit: CSVUnit?
    private(set) var timeUnit: TimeText.Unit?
    private(set) var isTime = false
    /// Seconds since the start of the recording.
    private(set) var isElapsed = false
    /// Another sensor's: a gyroscope, a magnetometer, an angle.
    private(set) var isForeign = false

    private static let times: Set<String> = [
        "t", "time", "times", "timestamp", "timestamps", "datetime", "epoch", "unix", "utc", "clock", "elapsed",
        "seconds", "millis", "micros", "millisecond", "milliseconds", "microseconds", "uptime", "sec", "secs",
    ]
    private static let elapsed: Set<String> = ["elapsed", "relative", "since", "uptime"]
    private static let foreign: Set<String> = [
        "gyro", "gyroscope", "gyr", "gy", "gx", "gz", "rot", "rotation", "rotationrate", "omega", "w", "mag",
        "magnetometer", "magnetic", "magn", "mx", "my", "mz", "quaternion", "quat", "qx", "qy", "qz", "euler", "roll",
        "pitch", "yaw", "azimuth", "angle", "orientation", "attitude", "velocity", "vel", "vx", "vy", "vz",
        "displacement", "disp", "dx", "dy", "dz", "position", "pos", "barometer", "temperature", "temp",
        "location", "latitude", "longitude", "abs", "absolute", "magnitude", "norm", "total", "std", "bias",
    ]
    /// Words that stand before an axis letter without a blank: `ax`, `accelx`, `gfx`.
    private static let prefixes = [
        "acceleration", "accelerometer", "accel", "acc", "acl", "useracceleration", "linearacceleration", "linacc",
        "lin",
        "axis", "gf", "a", "ch", "channel", "hn", "en", "bn", "cn", "gforce",
    ]
    private static let axes: [String: String] = [
        "x": "x", "y": "y", "z": "z", "e": "x", "n": "y", "east": "x", "north": "y", "up": "z", "vertical": "z",
        "u": "z", "1": "x", "2": "y", "3": "z", "ew": "x", "ns": "y", "ud": "z",
    ]
    private static let seconds: [String: TimeText.Unit] = [
        "s": .seconds, "sec": .seconds, "secs": .seconds, "second": .seconds, "seconds": .seconds, "ms": .milliseconds,
        "msec": .milliseconds, "millis": .milliseconds, "millisecond": .milliseconds, "milliseconds": .milliseconds,
        "us": .microseconds, "usec": .microseconds, "micros": .microseconds, "microsecond": .microseconds,
        "microseconds": .microseconds, "ns": .nanoseconds, "nanos": .nanoseconds, "nanosecond": .nanoseconds,
        "nanoseconds": .nanoseconds,
    ]

    init(_ name: String) {
        let (plain, bracketed) = Self.unbracketed(name)
        var words = Self.words(plain)
        let written = bracketed.map { CSVUnit.plain($0) }
        // A time, by its name or by its unit alone (`millis`, `ms`).
        if let first = words.first, !words.contains(where: { Self.foreign.contains($0) }) {
            let isNamed = words.contains { Self.times.contains($0) }
            let isUnit = words.count == 1 && Self.seconds[first] != nil
            if isNamed || isUnit, Self.axis(of: words.filter { $0 != "t" && Self.seconds[$0] == nil }) == nil {
                isTime = true
                isElapsed = words.contains { Self.elapsed.contains($0) }
                timeUnit = written.flatMap { Self.seconds[$0] } ?? words.lazy.compactMap { Self.seconds[$0] }.first
                return
            }
        }
        if let bracketed { unit = CSVUnit(bracketed) }
        // Physics Toolbox: gFx; a unit behind the name: ax_g, accel_x_mg, x_m_s2.
        if unit == nil {
            if words.count > 1 {
                for length in stride(from: min(4, words.count - 1), through: 1, by: -1) {
                    let tail = words.suffix(length)
                    if let found = CSVUnit(tail.joined(separator: length > 1 ? "/" : "")) ?? CSVUnit(tail.joined()),
                        Self.axis(of: Array(words.dropLast(length))) != nil
                    {
                        unit = found
                        words.removeLast(length)
                        break
                    }
                }
            }
            if unit == nil,
                words.contains(where: { $0 == "gf" || $0.hasPrefix("gforce") })
                    || ["gfx", "gfy", "gfz"].contains(words.first ?? "")
            {
                unit = CSVUnit("g")
            }
        }
        isForeign = words.contains { Self.foreign.contains($0) }
        if unit == nil, let word = words.first(where: { ["raw", "count", "counts", "lsb", "adc"].contains($0) }) {
            unit = .counts(word)
        }
        axis = Self.axis(of: words)
    }

    /// The axis of the words; the last that names one.
    private static func axis(of words: [String]) -> String? {
        for word in words.reversed() {
            if let axis = axes[word] { return axis }
            for prefix in prefixes where word.hasPrefix(prefix) {
                if let axis = axes[String(word.dropFirst(prefix.count))] { return axis }
            }
            for suffix in ["axis", "acc", "accel", "acceleration"] where word.hasSuffix(suffix) && word != suffix {
                if let axis = axes[String(word.dropLast(suffix.count))] { return axis }
            }
        }
        return nil
    }

    /// The name without what stands in its last brackets, and that.
    private static func unbracketed(_ name: String) -> (String, String?) {
        guard let close = name.lastIndex(where: { $0 == ")" || $0 == "]" }) else { return (name, nil) }
        var (open, depth) = (close, 0)
        while true {
            if name[open] == ")" || name[open] == "]" { depth += 1 }
            if name[open] == "(" || name[open] == "[" { depth -= 1 }
            if depth == 0 { break }
            guard open > name.startIndex else { return (name, nil) }
            open = name.index(before: open)
        }
        let inside = String(name[name.index(after: open)..<close])
        return (String(name[..<open] + " " + name[name.index(after: close)...]), inside.trimmed)
    }

    /// Lower-case words: `accelerometerAccelerationX` is three, `gFx` is `gfx`.
    private static func words(_ name: String) -> [String] {
        var words: [String] = []
        var word = ""
        var last: Character = " "
        for character in name {
            let isWordCharacter = character.isLetter || character.isNumber || character == "²" || character == "°"
            if !isWordCharacter || (character.isUppercase && last.isLowercase && word.count > 1) {
                if !word.isEmpty { words.append(word) }
                word = ""
            }
            if isWordCharacter { word += character.lowercased() }
            last = character
        }
        if !word.isEmpty { words.append(word) }
        return words
    }
}

extension String {
    /// Without blanks at its ends.
    var trimmed: String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        var part = self[...]
        while let first = part.first, isBlank(first) { part.removeFirst() }
        while let last = part.last, isBlank(last) { part.removeLast() }
        return String(part)
    }
}
