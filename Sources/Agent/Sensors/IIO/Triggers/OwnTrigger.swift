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
