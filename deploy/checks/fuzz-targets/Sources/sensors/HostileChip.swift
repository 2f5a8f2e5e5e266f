import Checking
import Glibc
import Sensors
import SignalProcessing

/// A clock that goes on only when somebody sleeps or reads it.
final class FuzzClock: SensorClock, @unchecked Sendable {
    var now: Int64 = 1_000_000_000
    var offset: Int64 = 1_700_000_000_000_000_000

    func monotonic() -> Int64 {
        now &+= 1_000
        return now
    }

    func wall() -> Int64 { monotonic() &+ offset }

    func sleep(until deadline: Int64) { now = max(now, deadline) }
}

/// A bus with a chip that says who it is and for the rest answers with the fuzzer's bytes, or not at all.
final class HostileBus: I2CBus {
    let name = "/dev/i2c-fuzz"
    let slotLimit: Int
    private let chip: Chip
    private var bytes: FuzzBytes
    private var registers = [UInt8](repeating: 0, count: 256)
    private var isOpen = false

    init(_ chip: Chip, _ bytes: FuzzBytes) {
        self.chip = chip
        self.bytes = bytes
        slotLimit = 1 + self.bytes.next() % 40
    }

    func open(identifyOnly: Bool) throws(SensorError) { isOpen = true }
    func close() { isOpen = false }
    func claim(_ address: UInt8) -> Int32 { 0 }
    func owner(of address: UInt8) -> I2COwner? { nil }
    var exists: Bool { bytes.left > 0 }

    private func failure() -> Int32 {
        guard bytes.left > 0 else { return ENXIO }
        let choice = bytes.next()
        return choice > 250 ? [ENXIO, EIO, ETIMEDOUT, EAGAIN, EREMOTEIO][choice - 251] : 0
    }

    func read(
        _ address: UInt8, _ register: UInt8, into data: UnsafeMutablePointer<UInt8>, size: Int, slots: Int
    ) -> Int32 {
        check(isOpen, "a closed bus is read")
        check(size > 0 && slots > 0 && size * slots <= 8192, "\(slots) slots of \(size) bytes are read")
        let code = failure()
        if code != 0 { return code }
        for i in 0..<size * slots {
            let place = Int(register) + i % size
            let identity = chip.identity.first { Int($0.register) == place }
            data[i] = identity?.value ?? (bytes.next() & 1 == 0 ? registers[place & 255] : UInt8(bytes.next()))
        }
        return 0
    }

    func write(_ address: UInt8, _ register: UInt8, _ value: UInt8) -> Int32 {
        check(isOpen, "a closed bus is written to")
        let code = failure()
        if code == 0 { registers[Int(register)] = value }
        return code
    }
}

/// The fuzzer's bytes, one after the other; zeros when they are at an end.
struct FuzzBytes {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var left: Int { bytes.count - place }

    mutating func next() -> Int {
        guard place < bytes.count else { return 0 }
        place += 1
        return Int(bytes[place - 1])
    }

    /// Any integer, near zero as often as far.
    mutating func integer() -> Int64 {
        let bits = (0..<8).reduce(UInt64(0)) { bits, _ in bits << 8 | UInt64(next()) }
        return Int64(bitPattern: bits) >> Int64(next() & 63)
    }
}
