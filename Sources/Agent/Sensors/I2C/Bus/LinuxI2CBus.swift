import CLinux
import Glibc

/// A bus of the kernel: `/dev/i2c-N`, combined transfers with the ioctl I2C_RDWR
/// (https://docs.kernel.org/i2c/dev-interface.html).
public final class LinuxI2CBus: I2CBus {
    /// Longest transfer: 32 samples at 100 kHz take 20 ms; a chip that holds the clock line gets no more than this.
    private static let timeLimit: UInt32 = 100

    public let number: Int
    public let name: String
    public let slotLimit = Int(CLINUX_I2C_SLOTS)
    private var file: Int32 = -1
    private var smbusOnly = false

    public init(number: Int) {
        self.number = number
        name = "/dev/i2c-\(number)"
    }

    deinit { close() }

    public func open(identifyOnly: Bool) throws(SensorError) {
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

    public func close() {
        if file >= 0 { _ = Glibc.close(file) }
        file = -1
    }

    public func claim(_ address: UInt8) -> Int32 { clinux_i2c_claim(file, UInt16(address)) }

    public func read(
        _ address: UInt8, _ register: UInt8, into data: UnsafeMutablePointer<UInt8>, size: Int, slots: Int
    ) -> Int32 {
        guard smbusOnly else {
            return clinux_i2c_read(file, UInt16(address), register, data, UInt16(clamping: size), UInt32(slots))
        }
        let code = clinux_i2c_claim(file, UInt16(address))
        return code == 0 ? clinux_i2c_smbus_read(file, register, data, UInt16(clamping: size)) : code
    }

    public func write(_ address: UInt8, _ register: UInt8, _ value: UInt8) -> Int32 {
        smbusOnly ? EOPNOTSUPP : clinux_i2c_write(file, UInt16(address), register, value)
    }

    public func owner(of address: UInt8) -> I2COwner? { I2CBusList.owner(bus: number, address: address) }

    public var exists: Bool { access(name, F_OK) == 0 }
}
