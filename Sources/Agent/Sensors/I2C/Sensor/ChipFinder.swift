import Glibc
import Instruments

/// Finds the chip that the settings ask for, by reading only.
struct ChipFinder {
    private let settings: I2CSettings
    /// The one that the settings name.
    private let address: UInt8?
    private let bus: any I2CBus
    private let clock: any SensorClock

    init(_ settings: I2CSettings, bus: any I2CBus, clock: any SensorClock) {
        (self.settings, self.bus, self.clock) = (settings, bus, clock)
        address = settings.address.map { UInt8(clamping: $0) }
    }

    func find() throws(SensorError) -> (Chip, I2CDevice) {
        settings.chip == "auto" ? try findAny() : try findNamed()
    }

    private func findNamed() throws(SensorError) -> (Chip, I2CDevice) {
        guard let chip = Chip.named(settings.chip) else {
            throw SensorError(.unsupported, "sensor.i2c.chip \(settings.chip): known are \(Chip.names)")
        }
        var worst: SensorError?
        for address in address.map({ [$0] }) ?? chip.addresses {
            var device = I2CDevice(bus: bus, address: address, clock: clock)
            do throws(SensorError) {
                let code = bus.claim(address)
                if code != 0 { throw device.error(code) }
                try device.confirm(chip)
                return (chip, device)
            } catch {
                // The error of an address that answers is preferred to that of one that is silent.
                if worst == nil || worst?.code == .missing { worst = error }
            }
        }
        throw worst ?? SensorError(.missing, "no \(chip.name) on \(bus.name)")
    }

    private func findAny() throws(SensorError) -> (Chip, I2CDevice) {
        let addresses = address.map { [$0] } ?? I2CIdentification.addresses
        var owner: I2COwner?
        var stranger: UInt8?
        for address in addresses {
            let device = I2CDevice(bus: bus, address: address, clock: clock)
            switch I2CIdentification.identify(bus, address: address, clock: clock) {
            case .chip(let name, _):
                if let chip = Chip.named(name) { return (chip, device) }
            case .owned(let found): owner = owner ?? found
            case .unknown: stranger = stranger ?? address
            case .failed(let error): throw error
            case .nothing: break
            }
        }
        if let owner {
            throw SensorError(
                .busy,
                "a kernel driver, \(owner.driver), has \(owner.device) at \(hex(owner.address)) on \(bus.name): use sensor.driver iio, or unbind it"
            )
        }
        if let stranger {
            throw SensorError(
                .identity, "what answers at \(hex(stranger)) on \(bus.name) is none of \(Chip.names)")
        }
        throw SensorError(
            .missing, "no known chip answers on \(bus.name) at \(addresses.map(hex).joined(separator: ", "))")
    }
}

/// Device at an address of a bus, as far as reading tells.
public enum I2CIdentification: Sendable, Equatable {
    /// No chip answers.
    case nothing
    /// A driver of the kernel has it; nothing was read.
    case owned(I2COwner)
    /// All identity registers match this chip; `lookalikes` are those that have the same and are read alike, empty
    /// when the identity is the chip's alone.
    case chip(name: String, lookalikes: String)
    /// Somebody answers whom no identity register tells.
    case unknown
    /// The bus failed.
    case failed(SensorError)

    /// Asks who is at an address. Only identity registers are read, and only those of chips that may be there; nothing
    /// but their numbers is written. The bus has to be open.
    public static func identify(
        _ bus: any I2CBus, address: UInt8, clock: any SensorClock = SystemSensorClock()
    ) -> I2CIdentification {
        var device = I2CDevice(bus: bus, address: address, clock: clock)
        let code = bus.claim(address)
        if code == EBUSY {
            return .owned(bus.owner(of: address) ?? I2COwner(address: address, driver: "", device: ""))
        }
        guard code == 0 else { return .failed(device.error(code)) }
        for chip in Chip.all where chip.addresses.contains(address) {
            do throws(SensorError) {
                if try device.mismatch(chip.identity) == nil {
                    return .chip(name: chip.name, lookalikes: chip.lookalikes)
                }
            } catch {
                return error.code == .missing && bus.exists ? .nothing : .failed(error)
            }
        }
        return .unknown
    }

    /// Addresses at which a known chip may be, in ascending order.
    public static var addresses: [UInt8] { Set(Chip.all.flatMap(\.addresses)).sorted() }
}

extension I2CDevice {
    /// The first register that does not hold what it should, and what it holds; nil when all match.
    mutating func mismatch(_ wanted: [Chip.Identity]) throws(SensorError) -> (Chip.Identity, UInt8)? {
        for identity in wanted {
            let value = try read(identity.register)
            if value & identity.mask != identity.value & identity.mask { return (identity, value) }
        }
        return nil
    }

    /// Fails when the identity is not a chip's.
    mutating func confirm(_ chip: Chip) throws(SensorError) {
        guard let (wanted, value) = try mismatch(chip.identity) else { return }
        throw SensorError(
            .identity,
            "\(chip.name) at \(place): register \(hex(wanted.register)) holds \(hex(value)), expected \(hex(wanted.value))"
        )
    }
}
