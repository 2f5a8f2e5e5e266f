import CLinux
import Glibc

/// A bus that the kernel has.
public struct I2CBusInfo: Sendable, Equatable {
    /// What transfers the adapter can do.
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
        names(in: dev).compactMap { number(of: $0) }.sorted().map { number in
            I2CBusInfo(
                number: number, name: name(of: number, dev: dev, sys: sys), ability: ability(of: number, dev: dev),
                owners: owners(bus: number, sys: sys))
        }
    }

    /// Addresses of a bus that drivers of the kernel have.
    public static func owners(bus: Int, sys: String = "/sys") -> [I2COwner] {
        let prefix = "\(bus)-00"
        let found = names(in: sys + "/bus/i2c/devices").compactMap { entry -> I2COwner? in
            guard entry.hasPrefix(prefix), let address = UInt8(entry.dropFirst(prefix.count), radix: 16) else {
                return nil
            }
            return owner(bus: bus, address: address, sys: sys)
        }
        return found.sorted { $0.address < $1.address }
    }

    /// The driver that is bound to an address; nil when none is.
    static func owner(bus: Int, address: UInt8, sys: String = "/sys") -> I2COwner? {
        let folder = sys + "/bus/i2c/devices/\(bus)-00\(hex(address).dropFirst(2))"
        guard let driver = target(of: folder + "/driver") else { return nil }
        return I2COwner(address: address, driver: driver, device: line(folder + "/name") ?? "")
    }

    private static func name(of number: Int, dev: String, sys: String) -> String {
        line(sys + "/class/i2c-dev/i2c-\(number)/name") ?? line(sys + "/bus/i2c/devices/i2c-\(number)/name") ?? ""
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

    private static func number(of entry: String) -> Int? {
        entry.hasPrefix("i2c-") ? Int(entry.dropFirst(4)) : nil
    }

    private static func names(in folder: String) -> [String] {
        guard let handle = opendir(folder) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    /// Last part of where a symbolic link leads.
    private static func target(of path: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { buffer -> String? in
            guard let base = buffer.baseAddress else { return nil }
            let count = readlink(path, base, 1023)
            guard count > 0 else { return nil }
            base[count] = 0
            return String(cString: base).split(separator: "/").last.map(String.init)
        }
    }

    /// First line of a small file.
    private static func line(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 128) { buffer -> String? in
            let count = Glibc.read(file, buffer.baseAddress, 128)
            guard count > 0 else { return nil }
            let bytes = buffer[..<count].prefix { $0 != 10 }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}
