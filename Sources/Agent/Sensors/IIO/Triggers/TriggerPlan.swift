import CIIO
import Glibc
import Instruments

/// Source that paces a device's samples.
enum Pacing: Sendable, Equatable {
    /// The same way, whatever the trigger's name is now.
    func isLike(_ other: Pacing) -> Bool {
        switch (self, other) {
        case (.device, .device), (.assigned, .assigned): true
        default: self == other
        }
    }

    /// The device's own trigger, by its name: data ready.
    case device(String)
    /// The device's own FIFO or thread fills the buffer, without any trigger.
    case own
    /// The trigger that somebody has given to it before.
    case assigned(String)
    /// A timer of the kernel, made through configfs.
    case hrtimer
    /// A trigger that this program fires itself.
    case sysfs
    /// No buffer: its `_raw` files are read one by one.
    case polled
}

/// Which ways to pace a device are worth a try, and in which order.
struct TriggerPlan: Sendable, Equatable {
    /// It has a buffer with x, y and z.
    var hasBuffer = true
    /// It takes a trigger (`trigger/current_trigger`).
    var takesTrigger = true
    /// It has a FIFO (`buffer/hwfifo_watermark`).
    var hasFIFO = false
    /// The trigger that belongs to the device itself.
    var ownTrigger: String?
    /// The trigger that it has now and that nobody here made.
    var assigned: String?
    /// Its rate in Hz, where it is known.
    var assignedRate: Double?
    /// Triggers can be made: the device is on this machine.
    var isLocal = true

    /// - Parameter rate: wanted, in Hz.
    func ways(_ choice: IIOSettings.Trigger, rate: Double) -> [Pacing] {
        guard hasBuffer, choice != .none else { return [.polled] }
        var ways: [Pacing] = []
        if choice == .auto || choice == .device {
            if hasFIFO || !takesTrigger { ways.append(.own) }
            if let ownTrigger, takesTrigger { ways.append(.device(ownTrigger)) }
        }
        var other: Pacing?
        if choice == .auto, takesTrigger, let assigned, assigned != ownTrigger { other = .assigned(assigned) }
        // One of another rate only where none can be made.
        let fits = assignedRate.map { abs($0 / rate - 1) < 0.01 } ?? true
        if let way = other, fits || !isLocal {
            ways.append(way)
            other = nil
        }
        if isLocal, takesTrigger {
            if choice == .auto || choice == .hrtimer { ways.append(.hrtimer) }
            if choice == .auto || choice == .sysfs { ways.append(.sysfs) }
        }
        if let other { ways.append(other) }
        if choice == .auto { ways.append(.polled) }
        return ways
    }
}

/// Gives a device its trigger for the time of a capture, and the former one back afterwards.
struct DeviceTrigger {
    private let device: IIODevice
    private let former: String?
    private var changed = false
    /// One that was made here.
    private(set) var made: LocalTrigger?

    init(_ device: IIODevice) {
        self.device = device
        former = device.trigger.flatMap { LocalTrigger.isOurs($0) ? nil : $0 }
    }

    /// - Parameters:
    ///   - context: for the triggers of a device far away.
    ///   - rate: of a trigger that is made, in Hz.
    mutating func set(_ pacing: Pacing, context: IIOContext, rate: Double) throws(SensorError) {
        switch pacing {
        case .own: if device.takesTrigger, device.trigger != nil { try give("", context) }
        case .device(let name): if device.trigger != name { try give(name, context) }
        case .hrtimer, .sysfs:
            let trigger = try LocalTrigger(pacing == .hrtimer ? .hrtimer : .sysfs, for: device.id, rate: rate)
            made = trigger
            if device.trigger != trigger.name { try give(trigger.name, context) }
            changed = true
        case .assigned, .polled: break
        }
    }

    /// The capture has to have ended.
    mutating func restore(context: IIOContext) {
        if changed {
            do throws(SensorError) { try give(former ?? "", context) } catch {}
        }
        changed = false
        made?.remove()
        made = nil
    }

    private mutating func give(_ name: String, _ context: IIOContext) throws(SensorError) {
        changed = true
        let failure: Int32
        if device.isLocal {
            // An empty line takes the trigger away.
            failure = Sysfs.write("\(device.folder)/trigger/current_trigger", name.isEmpty ? "\n" : name)
        } else {
            let trigger = context.triggers().first { $0.name == name }
            failure = -Int32(clamping: ciio_device_set_trigger(device.pointer, trigger?.pointer))
        }
        guard failure == 0 else {
            let what = name.isEmpty ? "cannot be without a trigger" : "does not take the trigger \(name)"
            throw IIOFailure.error(failure, "\(device.title) \(what)")
        }
    }
}

/// Finds the trigger that belongs to a device itself: its data-ready interrupt.
enum OwnTrigger {
    /// - Parameter triggers: id and name of all.
    static func name(of device: IIODevice, among triggers: [(id: String, name: String)]) -> String? {
        guard device.isLocal else { return byName(device.name, device.id, triggers.map(\.name)) }
        guard let parent = Sysfs.parent(device.folder) else { return nil }
        // Both lie in the folder of the chip.
        return triggers.first { Sysfs.parent("/sys/bus/iio/devices/\($0.id)") == parent }?.name
    }

    /// From afar only names tell: drivers call it `lis3dh-trigger`, `mma8452-dev0`, `iio:device0`...
    static func byName(_ name: String, _ id: String, _ triggers: [String]) -> String? {
        let number = id.drop { !$0.isNumber }
        return triggers.first {
            !name.isEmpty && ($0 == "\(name)-trigger" || $0 == "\(name)-dev\(number)") || $0 == "\(id)-trigger"
        }
    }
}

/// A trigger that this program makes on this machine and takes away again. Its name is that of the device, so one that a
/// crashed run has left is found again and used.
struct LocalTrigger {
    enum Kind: Sendable, Equatable { case hrtimer, sysfs }

    static let hrtimers = "/sys/kernel/config/iio/triggers/hrtimer"
    static let maker = "/sys/bus/iio/devices/iio_sysfs_trigger"
    private static let devices = "/sys/bus/iio/devices"

    let kind: Kind
    /// Value for `trigger/current_trigger`.
    let name: String
    /// Its folder in sysfs.
    let folder: String
    /// Number that the maker of sysfs triggers knows it by.
    private let number: Int

    /// - Parameters:
    ///   - id: of the device, `iio:device0`.
    ///   - rate: in Hz; a sysfs trigger has none.
    init(_ kind: Kind, for id: String, rate: Double) throws(SensorError) {
        self.kind = kind
        let index = Int(id.drop { !$0.isNumber }) ?? 0
        // Far from the numbers that people choose.
        number = 7300 + index
        name = kind == .hrtimer ? "seismote\(index)" : "sysfstrig\(number)"
        if let found = Self.find(name) {
            folder = found
        } else {
            if let problem = Self.problem(kind) { throw problem.error }
            let failure =
                kind == .hrtimer
                ? mkdir("\(Self.hrtimers)/\(name)", 0o755) == 0 ? 0 : errno
                : Sysfs.write("\(Self.maker)/add_trigger", "\(number)")
            guard failure == 0 || failure == EEXIST, let made = Self.find(name) else {
                throw IIOFailure.error(failure == 0 ? ENODEV : failure, "the trigger \(name) cannot be made")
            }
            folder = made
        }
        guard kind == .hrtimer else { return }
        let failure = Self.patiently { Sysfs.write("\(folder)/sampling_frequency", DeviceAttributes.text(rate)) }
        guard failure == 0 else {
            remove()
            throw IIOFailure.error(failure, "\(folder)/sampling_frequency cannot be set")
        }
    }

    /// Tries again for two seconds what is not permitted: udev gives the files of a new trigger to their group a moment
    /// after they have appeared.
    static func patiently(_ pause: UInt32 = 50_000, _ action: () -> Int32) -> Int32 {
        var failure = action()
        for _ in 0..<40 where failure == EACCES {
            usleep(pause)
            failure = action()
        }
        return failure
    }

    /// Hz as the kernel has taken it; nil for one without.
    var rate: Double? { Sysfs.read("\(folder)/sampling_frequency").flatMap(DeviceAttributes.number) }

    /// The device has to be without it.
    func remove() {
        switch kind {
        case .hrtimer: _ = rmdir("\(Self.hrtimers)/\(name)")
        case .sysfs: _ = Sysfs.write("\(Self.maker)/remove_trigger", "\(number)")
        }
    }

    /// Folder of the trigger with a name.
    static func find(_ name: String) -> String? {
        for entry in Sysfs.names(in: devices) where entry.hasPrefix("trigger") {
            if Sysfs.read("\(devices)/\(entry)/name") == name { return "\(devices)/\(entry)" }
        }
        return nil
    }

    /// Name of a trigger that this program makes, or made before it crashed.
    static func isOurs(_ name: String) -> Bool {
        func hasNumber(_ prefix: String, _ least: Int) -> Bool {
            name.hasPrefix(prefix) && (Int(name.dropFirst(prefix.count)).map { $0 >= least && $0 < 7400 } ?? false)
        }
        return hasNumber("seismote", 0) || hasNumber("sysfstrig", 7300)
    }

    /// Reason why triggers of a kind cannot be made; nil when they can.
    static func problem(_ kind: Kind) -> IIOProblem? {
        switch kind {
        case .hrtimer:
            if access(hrtimers, F_OK) != 0 {
                let isMounted = access("/sys/kernel/config/iio", F_OK) == 0
                return IIOProblem(
                    .missing, "there is no \(hrtimers), which makes triggers from a timer of the kernel",
                    command: (isMounted
                        ? "" : "sudo modprobe configfs; sudo mount -t configfs none /sys/kernel/config; ")
                        + "sudo modprobe iio-trig-hrtimer")
            }
            if access(hrtimers, W_OK) != 0 {
                return IIOProblem(
                    .permission, "\(hrtimers) is not writable by this user",
                    command: "sudo mkdir \(hrtimers)/seismic, and give it the device's trigger/current_trigger")
            }
        case .sysfs:
            if access("\(maker)/add_trigger", F_OK) != 0 {
                return IIOProblem(
                    .missing, "there is no \(maker), which makes triggers that a program fires",
                    command: "sudo modprobe iio-trig-sysfs")
            }
            if access("\(maker)/add_trigger", W_OK) != 0 {
                return IIOProblem(
                    .permission, "\(maker)/add_trigger is not writable by this user",
                    command: "sudo chgrp iio \(maker)/*_trigger && sudo chmod g+w \(maker)/*_trigger")
            }
        }
        return nil
    }
}
