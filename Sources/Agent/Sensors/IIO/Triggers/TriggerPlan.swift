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
