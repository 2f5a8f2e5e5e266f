import Glibc
import SignalProcessing

/// Which of the devices is the accelerometer. One chip can be several devices, the gyroscope first: only the channels
/// tell.
enum DeviceChoice {
    /// Facts needed to choose a device.
    struct Candidate: Sendable, Equatable {
        var id: String
        var name: String
        var label: String
        /// It has accel_x, accel_y and accel_z as inputs.
        var isAccelerometer: Bool
        /// They can be captured into its buffer.
        var hasBuffer: Bool
    }

    /// Index of the device that is asked for. `auto`: the first accelerometer with a buffer, or else the first.
    /// - Parameter wanted: name, label, id, or `auto`.
    static func index(_ wanted: String, of devices: [Candidate]) throws(SensorError) -> Int {
        if wanted == "auto" || wanted.isEmpty {
            if let found = devices.firstIndex(where: { $0.isAccelerometer && $0.hasBuffer })
                ?? devices.firstIndex(where: { $0.isAccelerometer })
            {
                return found
            }
            throw SensorError(
                .missing, "none of the \(devices.count) IIO devices has the channels accel_x, accel_y and accel_z")
        }
        func fits(_ device: Candidate) -> Bool {
            device.id == wanted || device.label == wanted || device.name == wanted
        }
        // A chip's name can stand on its gyroscope, too.
        if let found = devices.firstIndex(where: { fits($0) && $0.isAccelerometer }) { return found }
        if let other = devices.first(where: fits) {
            throw SensorError(
                .identity, "IIO device \(wanted) (\(other.id)) is no accelerometer: it has no accel_x, accel_y, accel_z"
            )
        }
        var names = ""
        for device in devices where device.isAccelerometer {
            names += names.isEmpty ? "; accelerometers here: " : ", "
            names += device.name.isEmpty ? device.id : device.name
        }
        throw SensorError(.missing, "there is no IIO device \(wanted)\(names)")
    }
}

/// Prepares an accelerometer for a capture: nobody else reads it, its scale is the nearest to what is asked, and what
/// its counts mean is known.
struct DeviceSetup {
    let device: IIODevice
    /// x, y and z.
    let acceleration: [IIOChannel]
    let attributes: DeviceAttributes
    private(set) var conversion = Conversion()
    /// Full scale in m/s²; nil where the number of bits is not known.
    private(set) var range: Double?
    private(set) var notes: [String] = []

    /// - Parameter range: wanted full scale in m/s².
    init(_ device: IIODevice, range: Double) throws(SensorError) {
        guard let acceleration = device.acceleration else {
            throw SensorError(.identity, "\(device.title) is no accelerometer")
        }
        self.device = device
        self.acceleration = acceleration
        attributes = DeviceAttributes(device: device, channel: acceleration[0])
        try free()
        // Stamps by the clock that gives UTC; drivers without it have it so by default.
        if device.has("current_timestamp_clock"), device.read("current_timestamp_clock") != "realtime" {
            _ = device.write("current_timestamp_clock", "realtime")
        }
        try setScale(range)
        try readConversion()
        if let got = self.range, abs(got / range - 1) > 0.03 {
            notes.append("range \(Self.short(got)) m/s², the nearest to \(Self.short(range)) m/s²")
        }
    }

    /// Makes sure that nobody reads the device, and ends a capture that a crashed run has left.
    private func free() throws(SensorError) {
        guard device.isLocal, device.hasBuffer else { return }
        let node = "/dev/\(device.id)"
        // The kernel lets one open it at a time.
        let file = open(node, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw IIOFailure.error(errno, "\(node) cannot be opened") }
        close(file)
        guard device.readBufferAttribute("enable") == "1" else { return }
        let failure = Sysfs.write("\(device.folder)/buffer/enable", "0")
        guard failure == 0 else { throw IIOFailure.error(failure, "\(device.folder)/buffer/enable cannot be set") }
    }

    private mutating func setScale(_ wanted: Double) throws(SensorError) {
        let format = acceleration[0].format
        guard let format, format.bits < 63, let available = attributes.available("scale") else { return }
        let fullScale = Double(Int64(1) << Int64(format.bits - 1))
        guard let scale = available.nearest(to: wanted / fullScale) else { return }
        try set("scale", scale)
    }

    /// Sets an attribute, also to what the kernel believes that it is: a chip that was without power has forgotten it.
    private mutating func set(_ name: String, _ value: Double) throws(SensorError) {
        let now = attributes.number(name)
        let number = attributes.write(name, value)
        guard number != 0 else { return }
        let failure = IIOFailure.error(number, "\(attributes.file(name)) cannot be set")
        // The chip does not answer: not a matter of what it can.
        if [EIO, ENXIO, EREMOTEIO, ETIMEDOUT, ENODEV].contains(number) { throw failure }
        if now != value, !notes.contains(failure.message) { notes.append(failure.message) }
    }

    private mutating func readConversion() throws(SensorError) {
        for axis in 0..<3 {
            let own = DeviceAttributes(device: device, channel: acceleration[axis])
            guard let scale = own.number("scale"), scale != 0 else {
                throw SensorError(.unsupported, "\(device.title) does not say its scale (\(own.file("scale")))")
            }
            conversion.scale[axis] = scale
            conversion.offset[axis] = own.number("offset") ?? 0
            if let bias = own.number("calibbias"), bias != 0 {
                notes.append("\(acceleration[axis].id) has a calibration bias of \(Self.short(bias)) in the chip")
            }
        }
        if let format = acceleration[0].format, format.bits < 63 {
            range = abs(conversion.scale.x) * Double(Int64(1) << Int64(format.bits - 1))
        }
        if let text = attributes.read("mount_matrix") {
            guard let matrix = MountMatrix(text) else {
                notes.append("mount matrix ignored because it is invalid: \(text)")
                return
            }
            if matrix != .identity {
                conversion.mount = matrix
                notes.append("mount matrix \(text) applied")
            }
        }
    }

    /// Sets the rate of the chip. Returns what it has then, in Hz; nil for a chip that does not say.
    /// - Parameters:
    ///   - wanted: in Hz.
    ///   - paced: something else takes the samples, so that the chip must not be slower.
    mutating func setRate(_ wanted: Double, paced: Bool) throws(SensorError) -> Double? {
        let available = attributes.available("sampling_frequency")
        let value = (paced ? available?.atLeast(wanted) : available?.nearest(to: wanted)) ?? wanted
        guard attributes.place(of: "sampling_frequency") != nil else { return nil }
        try set("sampling_frequency", value)
        guard let got = attributes.number("sampling_frequency"), got > 0 else { return nil }
        return got
    }

    /// A number with about three digits, for people.
    static func short(_ value: Double) -> String {
        let digits = abs(value) >= 100 ? 1.0 : abs(value) >= 1 ? 100.0 : 1e6
        return DeviceAttributes.text((value * digits).rounded() / digits)
    }
}

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
