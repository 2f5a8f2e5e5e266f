import Glibc
import Values

/// An I2C bus as the drivers need it. Calls give 0 or an errno: what it means for a sensor says `I2CDevice`, which
/// also tries again. None of them waits longer than the bus's time limit, and none takes memory from the heap.
public protocol I2CBus: AnyObject {
    /// Name for people: `/dev/i2c-1`.
    var name: String { get }
    /// Samples of a FIFO that is read slot by slot which one transfer may take; halved by who gets EOPNOTSUPP.
    var slotLimit: Int { get }
    /// Makes the bus ready; `unsupported` when it can only do SMBus transfers and `identifyOnly` is false.
    func open(identifyOnly: Bool) throws(SensorError)
    /// Gives the bus back.
    func close()
    /// EBUSY when a driver of the kernel has the address.
    func claim(_ address: UInt8) -> Int32
    /// Writes the number of a register and reads bytes, without a stop between; so many times, slot after slot.
    func read(
        _ address: UInt8, _ register: UInt8, into data: UnsafeMutablePointer<UInt8>, size: Int, slots: Int
    ) -> Int32
    /// Writes one register.
    func write(_ address: UInt8, _ register: UInt8, _ value: UInt8) -> Int32
    /// The kernel's driver at an address, and what it calls the device; nil when there is none.
    func owner(of address: UInt8) -> I2COwner?
    /// Whether the bus is still there.
    var exists: Bool { get }
}

/// A driver of the kernel that has an address.
public struct I2COwner: Sendable, Equatable {
    public var address: UInt8
    /// Name of the driver: `st-accel-i2c`.
    public var driver: String
    /// Name of the device: `lis3dh`.
    public var device: String
}

/// One address of a bus: transfers that are tried again, and what their failure means.
struct I2CDevice {
    /// Times a transfer is tried.
    static let attempts = 3
    /// Pause between two attempts in ns: long enough for a disturbance to pass.
    private static let pause: Int64 = 500_000

    let bus: any I2CBus
    let address: UInt8
    let clock: any SensorClock
    /// Transfers that were tried again.
    var retries = 0

    /// `0x53 on /dev/i2c-1`.
    var place: String { "\(hex(address)) on \(bus.name)" }

    /// Reads registers that follow each other. Not for a FIFO: its samples may be gone after a failure.
    mutating func read(
        _ register: UInt8, into data: UnsafeMutablePointer<UInt8>, count: Int
    ) throws(SensorError) {
        var code = bus.read(address, register, into: data, size: count, slots: 1)
        var attempt = 1
        while code != 0, attempt < Self.attempts, Self.mayPass(code) {
            waitBeforeRetry()
            attempt += 1
            code = bus.read(address, register, into: data, size: count, slots: 1)
        }
        if code != 0 { throw error(code) }
    }

    mutating func read(_ register: UInt8) throws(SensorError) -> UInt8 {
        var value: UInt8 = 0
        try read(register, into: &value, count: 1)
        return value
    }

    mutating func write(_ register: UInt8, _ value: UInt8) throws(SensorError) {
        var code = bus.write(address, register, value)
        var attempt = 1
        while code != 0, attempt < Self.attempts, Self.mayPass(code) {
            waitBeforeRetry()
            attempt += 1
            code = bus.write(address, register, value)
        }
        if code != 0 { throw error(code) }
    }

    mutating func waitBeforeRetry() {
        retries += 1
        clock.sleep(until: clock.monotonic() + Self.pause)
    }

    /// Whether the same transfer may succeed a moment later.
    static func mayPass(_ code: Int32) -> Bool {
        switch code {
        case ENXIO, EREMOTEIO, EIO, EAGAIN, ETIMEDOUT, EPROTO: true
        default: false
        }
    }

    /// Meaning of a transfer's errno for the sensor (https://docs.kernel.org/i2c/fault-codes.html; adapters do not all
    /// keep to it).
    func error(_ code: Int32) -> SensorError {
        switch code {
        case ENXIO, EREMOTEIO, ENODEV, ESHUTDOWN:
            return SensorError(.missing, "no answer from \(place)")
        case EBUSY:
            let owner = bus.owner(of: address)
            let who = owner.map { "\($0.driver) has \($0.device)" } ?? "another driver has what is"
            return SensorError(.busy, "a kernel driver, \(who) at \(place): use sensor.driver iio, or unbind it")
        case EAGAIN, ETIMEDOUT:
            return SensorError(.fault, "the I2C bus of \(place) is blocked: \(String(cString: strerror(code)))")
        case EACCES, EPERM: return SensorError(.permission, "permission denied: \(place)")
        case EOPNOTSUPP: return SensorError(.unsupported, "the adapter cannot do the transfers for \(place)")
        default:
            // An adapter that was pulled out gives EIO until its file is gone.
            return bus.exists
                ? SensorError(.fault, "transfer with \(place) failed: \(String(cString: strerror(code)))")
                : SensorError(.missing, "\(bus.name) has disappeared")
        }
    }
}

/// `0x53`.
func hex(_ value: UInt8) -> String { "0x" + Hexadecimal.text([value]) }

/// Memory for bytes from a bus, which stays in one place.
final class ByteBuffer {
    let bytes: UnsafeMutablePointer<UInt8>

    init(count: Int) {
        bytes = .allocate(capacity: count)
        bytes.initialize(repeating: 0, count: count)
    }

    deinit { bytes.deallocate() }
}
