/// Devices on an IIO context, for people who look for their accelerometer. Made by reading alone.
public struct IIOInventory: Sendable {
    /// `local:`, `ip:host`.
    public var uri: String
    public var devices: [IIODeviceReport] = []
    /// All triggers there are.
    public var triggers: [IIOTriggerReport] = []
    /// The devices are this machine's: triggers can be made, unless there is a problem with it.
    var isLocal = false
    var hrtimerProblem: IIOProblem?
    var sysfsTriggerProblem: IIOProblem?

    /// Index of the device that `sensor.iio.device` means.
    /// - Parameter wanted: name, label, id, or `auto`.
    public func index(of wanted: String) throws(SensorError) -> Int {
        try DeviceChoice.index(wanted, of: devices.map(\.candidate))
    }
}

/// Reason why something would not work, and what to do about it.
public struct IIOProblem: Sendable, Equatable {
    public var error: SensorError
    /// A command that mends it; empty where there is none.
    public var command: String

    init(_ code: SensorError.Code, _ message: String, command: String = "") {
        error = SensorError(code, message)
        self.command = command
    }
}

public struct IIOTriggerReport: Sendable, Equatable {
    /// `trigger0`.
    public var id: String
    /// Value for `trigger/current_trigger`.
    public var name: String
    /// Hz; nil where it has none that can be set.
    public var rate: Double?
}

public struct IIOChannelReport: Sendable {
    /// `accel_x`.
    public var id: String
    /// How its values lie in the buffer; nil when it is not captured there.
    public var format: SampleFormat?
}

public struct IIODeviceReport: Sendable {
    /// `iio:device0`.
    public var id: String
    public var name: String
    public var label: String
    /// Name of the kernel's driver, and the module alias of the chip; empty where not known.
    public var driver: String
    public var modalias: String
    public var channels: [IIOChannelReport]
    /// It has accel_x, accel_y and accel_z.
    var isAccelerometer: Bool
    /// They can be captured into its buffer.
    var hasBuffer: Bool
    var hasTimestamp: Bool
    var hasFIFO: Bool
    /// Somebody captures now.
    var isCapturing: Bool
    /// Hz and m/s² per count, as they are, and what they can be.
    public var rate: Double?
    public var scale: Double?
    public var rates: AvailableValues?
    public var scales: AvailableValues?
    /// Text of the mount matrix; empty without one.
    var mountMatrix: String
    /// Trigger that it has now; its own one.
    public var trigger: String?
    public var ownTrigger: String?
    /// Obstacles that would keep the agent from using it; empty: it would work.
    public var problems: [IIOProblem]

    var candidate: DeviceChoice.Candidate {
        DeviceChoice.Candidate(
            id: id, name: name, label: label, isAccelerometer: isAccelerometer, hasBuffer: hasBuffer)
    }
}
