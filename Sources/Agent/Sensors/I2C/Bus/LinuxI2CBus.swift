import CLinux
import Glibc

/// A bus of the kernel: `/dev/i2c-N`, combined transfers with the ioctl I2C_RDWR
/// (https://docs.kernel.org/i2c/dev-interface.html).
final class LinuxI2CBus: I2CBus {
    /// Longest transfer: 32 samples at 100 kHz take 20 ms; a chip that holds the clock line gets no more than this.
    private static let timeLimit: UInt32 = 100

    let number: Int
    let name: String
    let slotLimit = Int(CLINUX_I2C_SLOTS)
    private var file: Int32 = -1
    private var smbusOnly = false

    init(number: Int) {
        self.number = number
        name = "/dev/i2c-\(number)"
    }

    deinit { close() }

    func open(identifyOnly: Bool) throws(SensorError) {
        close()
        file = Glibc.open(name, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { throw openingError(errno) }
        var functions: UInt = 0
        let code = clinux_i2c_functions(file, &functions)
        guard code == 0 else {
            close()
            throw SensorError(.fault, "\(name): \(String(cString: strerror(code)))")
        }
        smbusOnly = functions & 1 == 0  // I2C_FUNC_I2C
        if smbusOnly, !identifyOnly {
            close()
            throw SensorError(
                .unsupported, "\(name): this adapter has SMBus transfers only, which cannot read a FIFO without loss")
        }
        // Not every adapter takes limits; then its own hold.
        _ = clinux_i2c_limits(file, Self.timeLimit, 1)
    }

    private func openingError(_ code: Int32) -> SensorError {
        switch code {
        case EACCES, EPERM:
            SensorError(
                .permission, "\(name): permission denied; to fix: sudo usermod -aG i2c $USER, then log in again")
        case ENOENT, ENODEV, ENXIO:
            SensorError(.missing, "\(name): there is no such bus: enable I2C and load the module i2c-dev")
        default: SensorError(.fault, "\(name): \(String(cString: strerror(code)))")
        }
    }

    func close() {
        if file >= 0 { _ = Glibc.close(file) }
        file = -1
    }

    func claim(_ address: UInt8) -> Int32 { clinux_i2c_claim(file, UInt16(address)) }

    func read(
        _ address: UInt8, _ register: UInt8, into data: UnsafeMutablePointer<UInt8>, size: Int, slots: Int
    ) -> Int32 {
        guard smbusOnly else {
            return clinux_i2c_read(file, UInt16(address), register, data, UInt16(clamping: size), UInt32(slots))
        }
        let code = clinux_i2c_claim(file, UInt16(address))
        return code == 0 ? clinux_i2c_smbus_read(file, register, data, UInt16(clamping: size)) : code
    }

    func write(_ address: UInt8, _ register: UInt8, _ value: UInt8) -> Int32 {
        smbusOnly ? EOPNOTSUPP : clinux_i2c_write(file, UInt16(address), register, value)
    }

    func owner(of address: UInt8) -> I2COwner? { I2CBusList.owner(bus: number, address: address) }

    var exists: Bool { access(name, F_OK) == 0 }
}

/// A bus that the kernel has.
public struct I2CBusInfo: Sendable, Equatable {
    /// Transfers that the adapter can do.
    enum Ability: Sendable, Equatable {
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
    var ability: Ability
    /// Addresses that drivers of the kernel have.
    public var owners: [I2COwner]
}

/// The I2C buses of this machine, from `/dev` and `/sys`.
enum I2CBusList {
    /// All buses, by number. Nothing is sent over any of them.
    /// - Parameters: folders of device files and of the kernel's devices, for tests.
    static func all(dev: String = "/dev", sys: String = "/sys") -> [I2CBusInfo] {
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
    static func owners(bus: Int, sys: String = "/sys") -> [I2COwner] {
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

/// A GPIO line that rises when the chip has samples; the kernel stamps the edge.
///
/// It goes through the kernel's own interface (linux/gpio.h, uAPI v2, since 5.10), not through libgpiod: versions 1 of
/// Debian 12 and 2 of Debian 13 have different functions, and one program is to run on both.
final class DataReadyLine {
    private var file: Int32 = -1
    /// Edges that came.
    private(set) var edges: UInt32 = 0

    /// - Parameter text: `gpiochip0:17`.
    init(_ text: String) throws(SensorError) {
        let parts = text.split(separator: ":")
        guard parts.count == 2, let line = UInt32(parts[1]), parts[0].hasPrefix("gpiochip") else {
            throw SensorError(.unsupported, "sensor.i2c.data_ready \(text): expected is a line such as gpiochip0:17")
        }
        let chip = open("/dev/" + parts[0], O_RDWR | O_CLOEXEC)
        guard chip >= 0 else { throw Self.error(text, errno) }
        file = clinux_gpio_rising(chip, line, "seismote")
        Glibc.close(chip)
        if file < 0 { throw Self.error(text, -file) }
    }

    deinit { if file >= 0 { Glibc.close(file) } }

    /// Waits for an edge; gives its time in ns of the monotonic clock, nil when none came in time.
    func wait(until deadline: Int64, now: Int64) throws(SensorError) -> Int64? {
        let milliseconds = max(0, min(60_000, (deadline - now + 999_999) / 1_000_000))
        var time: UInt64 = 0
        let code = clinux_gpio_wait(file, Int32(milliseconds), &time, &edges)
        if code < 0 { throw Self.error("data-ready line", -code) }
        return code == 1 ? Int64(clamping: time) : nil
    }

    private static func error(_ text: String, _ code: Int32) -> SensorError {
        let reason = String(cString: strerror(code))
        switch code {
        case EACCES, EPERM:
            return SensorError(.permission, "GPIO \(text): \(reason); sudo usermod -aG gpio $USER grants it")
        case ENOENT, ENODEV, ENXIO: return SensorError(.missing, "GPIO \(text): \(reason)")
        case EBUSY: return SensorError(.busy, "GPIO line \(text) is in use by another process")
        default: return SensorError(.fault, "GPIO \(text): \(reason)")
        }
    }
}
