import CIIO
import Glibc

/// Lists the devices of an IIO context. It only reads: nothing is set, no device opened.
enum IIODiscovery {
    /// - Parameter uri: `local:`, `ip:host`, `usb:` and whatever else libiio takes.
    /// - Throws: `unsupported` where libiio is not installed, `missing` where there is no such context.
    static func inventory(uri: String = "local:") throws(SensorError) -> IIOInventory {
        let context = try IIOContext(uri: uri)
        context.setTimeout(milliseconds: 3000)
        var inventory = IIOInventory(uri: uri)
        for trigger in context.triggers() {
            let rate = trigger.read("sampling_frequency").flatMap(DeviceAttributes.number)
            inventory.triggers.append(IIOTriggerReport(id: trigger.id, name: trigger.name, rate: rate))
        }
        for device in context.devices() {
            inventory.devices.append(report(device, triggers: inventory.triggers))
        }
        if context.isLocal {
            inventory.isLocal = true
            inventory.hrtimerProblem = LocalTrigger.problem(.hrtimer)
            inventory.sysfsTriggerProblem = LocalTrigger.problem(.sysfs)
        }
        return inventory
    }

    private static func report(_ device: IIODevice, triggers: [IIOTriggerReport]) -> IIODeviceReport {
        var channels: [IIOChannelReport] = []
        for channel in device.channels {
            channels.append(IIOChannelReport(id: channel.id, format: channel.format))
        }
        let acceleration = device.acceleration
        var report = IIODeviceReport(
            id: device.id, name: device.name, label: device.label, driver: "", modalias: "", channels: channels,
            isAccelerometer: acceleration != nil, hasBuffer: device.hasBuffer,
            hasTimestamp: device.channel("timestamp")?.isScanElement ?? false,
            hasFIFO: device.hasBufferAttribute("hwfifo_watermark"),
            isCapturing: device.readBufferAttribute("enable") == "1", rate: nil, scale: nil, rates: nil, scales: nil,
            mountMatrix: "", trigger: device.trigger, ownTrigger: nil, problems: [])
        if device.isLocal, let parent = Sysfs.parent(device.folder) {
            report.driver = Sysfs.linkName("\(parent)/driver") ?? ""
            report.modalias = Sysfs.read("\(parent)/modalias") ?? ""
        }
        report.ownTrigger = OwnTrigger.name(of: device, among: triggers.map { ($0.id, $0.name) })
        guard let x = acceleration?.first else { return report }
        let attributes = DeviceAttributes(device: device, channel: x)
        report.rate = attributes.number("sampling_frequency")
        report.scale = attributes.number("scale")
        report.rates = attributes.available("sampling_frequency")
        report.scales = attributes.available("scale")
        report.mountMatrix = attributes.read("mount_matrix") ?? ""
        report.problems = problems(device, attributes)
        return report
    }

    /// Obstacles that would keep this process from capturing.
    private static func problems(_ device: IIODevice, _ attributes: DeviceAttributes) -> [IIOProblem] {
        var problems: [IIOProblem] = []
        if !device.hasBuffer {
            problems.append(
                IIOProblem(
                    .unsupported, "\(device.title) has no buffer: its values are read one by one, with more jitter"))
        } else if let format = attributes.channel.format, !format.isUsable {
            problems.append(
                IIOProblem(.unsupported, "\(device.title) has samples of the unsupported format \(format.text)"))
        }
        guard device.isLocal else { return problems }
        var isRefused = false
        func check(_ file: String, _ mode: Int32, _ what: String) {
            guard !isRefused, access(file, F_OK) == 0, access(file, mode) != 0 else { return }
            // One is enough: one command grants them all.
            isRefused = true
            problems.append(
                IIOProblem(.permission, "\(file) is not \(what) by this user", command: IIOFailure.grantCommand))
        }
        if device.hasBuffer {
            let node = "/dev/\(device.id)"
            if access(node, F_OK) != 0 {
                problems.append(IIOProblem(.missing, "there is no \(node)"))
            }
            check(node, R_OK | W_OK, "readable and writable")
            check("\(device.folder)/buffer/enable", W_OK, "writable")
            check("\(device.folder)/scan_elements/in_accel_x_en", W_OK, "writable")
            check("\(device.folder)/trigger/current_trigger", W_OK, "writable")
        }
        check(attributes.file("sampling_frequency"), W_OK, "writable")
        check(attributes.file("scale"), W_OK, "writable")
        return problems
    }
}

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
    var modalias: String
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
    var ownTrigger: String?
    /// Obstacles that would keep the agent from using it; empty: it would work.
    public var problems: [IIOProblem]

    var candidate: DeviceChoice.Candidate {
        DeviceChoice.Candidate(
            id: id, name: name, label: label, isAccelerometer: isAccelerometer, hasBuffer: hasBuffer)
    }
}
