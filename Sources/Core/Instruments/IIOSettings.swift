/// Which accelerometer of the kernel's IIO subsystem, and how its buffer is paced.
public struct IIOSettings: Sendable, Equatable {
    public enum Trigger: String, Sendable, CaseIterable {
        /// Whatever works: own trigger or FIFO, the one that the device has, hrtimer, sysfs, none.
        case auto
        /// The device's own trigger or FIFO.
        case device
        /// A timer of the kernel, made through configfs.
        case hrtimer
        /// A trigger that the agent fires itself.
        case sysfs
        /// No buffer: values are read one by one.
        case none
    }

    /// Name, label or id (`iio:device0`) of the device; `auto`: the first with the channels of an accelerometer.
    public var device = "auto"
    /// Context of libiio: `local:`, `ip:host`, `usb:`.
    public var uri = "local:"
    public var trigger = Trigger.auto

    public init() {}
}
