import CIIO
import Glibc

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
