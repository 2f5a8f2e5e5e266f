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

    public init(address: UInt8, driver: String, device: String) {
        self.address = address
        self.driver = driver
        self.device = device
    }
}
