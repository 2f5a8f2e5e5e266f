import CLinux

/// A bus that the kernel has.
public struct I2CBusInfo: Sendable, Equatable {
    /// Transfers that the adapter can do.
    public enum Ability: Sendable, Equatable {
        /// Combined transfers: all chips can be read.
        case plain
        /// SMBus transfers only: chips can be identified, not read.
        case smbusOnly
        /// Could not be asked, for this reason.
        case unknown(SensorError)
    }
    /// N of `/dev/i2c-N`.
    public var number: Int
    /// The adapter's name: `bcm2835 (i2c@7e804000)`.
    public var name: String
    public var ability: Ability
    /// Addresses that drivers of the kernel have.
    public var owners: [I2COwner]
}

/// The I2C buses of this machine, from `/dev` and `/sys`.
public enum I2CBusList {
    /// All buses, by number. Nothing is sent over any of them.
    /// - Parameters: folders of device files and of the kernel's devices, for tests.
    public static func all(dev: String = "/dev", sys: String = "/sys") -> [I2CBusInfo] {
        var present = [Bool](repeating: false, count: 1024)
        for name in Sysfs.names(in: dev) {
            if let number = number(name, after: "i2c-", radix: 10), number < present.count { present[number] = true }
        }
        var buses: [I2CBusInfo] = []
        for number in present.indices where present[number] {
            let name =
                Sysfs.read(sys + "/class/i2c-dev/i2c-\(number)/name")
                ?? Sysfs.read(sys + "/bus/i2c/devices/i2c-\(number)/name")
            buses.append(
                I2CBusInfo(
                    number: number, name: name ?? "", ability: ability(of: number, dev: dev),
                    owners: owners(bus: number, sys: sys)))
        }
        return buses
    }

    /// Addresses of a bus that drivers of the kernel have.
    public static func owners(bus: Int, sys: String = "/sys") -> [I2COwner] {
        var found: [I2COwner] = []
        for address in UInt8(0)..<128 {
            if let owner = owner(bus: bus, address: address, sys: sys) { found.append(owner) }
        }
        return found
    }

    /// The driver that is bound to an address; nil when none is.
    static func owner(bus: Int, address: UInt8, sys: String = "/sys") -> I2COwner? {
        let folder = sys + "/bus/i2c/devices/\(bus)-00\(hex(address).dropFirst(2))"
        guard let driver = Sysfs.linkName(folder + "/driver") else { return nil }
        return I2COwner(address: address, driver: driver, device: Sysfs.read(folder + "/name") ?? "")
    }

    private static func ability(of number: Int, dev: String) -> I2CBusInfo.Ability {
        guard dev == "/dev" else { return .plain }
        let bus = LinuxI2CBus(number: number)
        defer { bus.close() }
        do throws(SensorError) {
            try bus.open(identifyOnly: false)
            return .plain
        } catch {
            return error.code == .unsupported ? .smbusOnly : .unknown(error)
        }
    }

    private static func number(_ name: String, after prefix: String, radix: Int) -> Int? {
        name.hasPrefix(prefix) ? Int(name.dropFirst(prefix.utf8.count), radix: radix) : nil
    }
}
