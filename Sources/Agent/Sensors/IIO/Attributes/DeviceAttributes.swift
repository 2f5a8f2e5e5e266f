/// Attributes of an accelerometer, wherever its driver has put them: at the channel (`in_accel_scale`), or at the device
/// (`sampling_frequency`).
struct DeviceAttributes {
    let device: IIODevice
    /// Its x channel, which has what the three share.
    let channel: IIOChannel

    /// Where an attribute is.
    enum Place {
        case channel
        case device(String)
    }

    func place(of name: String) -> Place? {
        if channel.has(name) { return .channel }
        for candidate in [name, "in_accel_\(name)", "accel_\(name)", "in_\(name)"] where device.has(candidate) {
            return .device(candidate)
        }
        return nil
    }

    func read(_ name: String) -> String? {
        switch place(of: name) {
        case .channel: channel.read(name)
        case .device(let name): device.read(name)
        case nil: nil
        }
    }

    func number(_ name: String) -> Double? { read(name).flatMap(Self.number) }

    /// The first number of a text.
    static func number(_ text: String) -> Double? {
        guard let word = text.split(separator: " ").first, let value = Double(word), value.isFinite else { return nil }
        return value
    }

    func available(_ name: String) -> AvailableValues? { read("\(name)_available").flatMap { AvailableValues($0) } }

    /// Name of the file, for people.
    func file(_ name: String) -> String {
        let file =
            switch place(of: name) {
            case .channel: channel.file(name)
            case .device(let name): name
            case nil: name
            }
        return device.isLocal ? "\(device.folder)/\(file)" : "\(file) of \(device.id)"
    }

    /// Returns 0 or an error number.
    func write(_ name: String, _ value: Double) -> Int32 {
        let text = Self.text(value)
        switch place(of: name) {
        case .channel: return channel.write(name, text)
        case .device(let name): return device.write(name, text)
        case nil: return 0
        }
    }

    /// A decimal number as the kernel reads it: no exponent, at most nine decimals.
    static func text(_ value: Double) -> String {
        let bounded = min(max(value, -9e8), 9e8)
        let billionths = Int64((bounded * 1e9).rounded())
        let (whole, rest) = (abs(billionths) / 1_000_000_000, abs(billionths) % 1_000_000_000)
        var text = billionths < 0 ? "-\(whole)" : "\(whole)"
        guard rest > 0 else { return text }
        var digits = String(rest)
        digits = String(repeating: "0", count: 9 - digits.count) + digits
        while digits.hasSuffix("0") { digits.removeLast() }
        text += "."
        text += digits
        return text
    }
}

/// Values that an attribute can have, as its `_available` file lists them: `1 10 25 50` or `[0.5 0.5 100]`, lowest,
/// step and highest (Documentation/ABI/testing/sysfs-bus-iio).
public enum AvailableValues: Sendable, Equatable {
    case list([Double])
    case range(lowest: Double, step: Double, highest: Double)

    /// Nil for a text without a number that can be used.
    public init?(_ text: String) {
        var numbers: [Double] = []
        for word in text.split(whereSeparator: { " \t\n[]".contains($0) }) {
            guard let number = Double(word), number.isFinite else { continue }
            numbers.append(number)
        }
        if text.contains("["), numbers.count == 3, numbers[2] >= numbers[0] {
            self = .range(lowest: numbers[0], step: numbers[1], highest: numbers[2])
        } else if numbers.isEmpty {
            return nil
        } else {
            self = .list(numbers)
        }
    }

    /// The value nearest to one, by ratio: to 100, 200 is as far as 50. Not more than 0 is never chosen.
    public func nearest(to wanted: Double) -> Double? {
        switch self {
        case .list(let values):
            return values.filter { $0 > 0 }.min { Self.distance($0, wanted) < Self.distance($1, wanted) }
        case .range(let lowest, let step, let highest):
            let inside = min(max(wanted, lowest), highest)
            let onStep = step > 0 ? lowest + ((inside - lowest) / step).rounded() * step : inside
            let value = min(onStep, highest)
            return value > 0 ? value : nil
        }
    }

    /// The smallest value that is not below one, or else the largest.
    public func atLeast(_ wanted: Double) -> Double? {
        switch self {
        case .list(let values):
            let good = values.filter { $0 > 0 }
            return good.filter { $0 >= wanted * 0.999 }.min() ?? good.max()
        case .range(let lowest, let step, let highest):
            guard wanted > lowest, wanted < highest, step > 0 else { return nearest(to: wanted) }
            return min(lowest + ((wanted - lowest) / step - 1e-6).rounded(.up) * step, highest)
        }
    }

    private static func distance(_ a: Double, _ b: Double) -> Double { a > b ? a / b : b / a }
}

/// How the chip is soldered onto the board: 3×3, rows, from the chip's axes to the board's. From the device tree or
/// ACPI, by the kernel's `mount_matrix` (Documentation/devicetree/bindings/iio/mount-matrix.txt).
struct MountMatrix: Sendable, Equatable {
    var rows: (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>)

    static let identity = MountMatrix(
        rows: (SIMD3(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1)))

    static func == (a: Self, b: Self) -> Bool {
        a.rows.0 == b.rows.0 && a.rows.1 == b.rows.1 && a.rows.2 == b.rows.2
    }

    init(rows: (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>)) { self.rows = rows }

    /// `0, 1, 0; -1, 0, 0; 0, 0, 1`. Nil for another text, and for a matrix that loses an axis: some firmware says
    /// all zeros.
    init?(_ text: String) {
        var numbers: [Double] = []
        for word in text.split(whereSeparator: { " ,;\t\n".contains($0) }) {
            guard let number = Double(word), abs(number) <= 1000 else { return nil }
            numbers.append(number)
        }
        guard numbers.count == 9 else { return nil }
        rows = (
            SIMD3(numbers[0], numbers[1], numbers[2]), SIMD3(numbers[3], numbers[4], numbers[5]),
            SIMD3(numbers[6], numbers[7], numbers[8])
        )
        guard abs(determinant) > 1e-6 else { return nil }
    }

    private var determinant: Double {
        let (a, b, c) = rows
        let first = a.x * (b.y * c.z - b.z * c.y)
        let second = a.y * (b.x * c.z - b.z * c.x)
        let third = a.z * (b.x * c.y - b.y * c.x)
        return first - second + third
    }
}
