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
