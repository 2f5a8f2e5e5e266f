import Glibc

extension Survey {
    /// Looks at this machine. Devices of the kernel are read from its files; on the buses nothing but the identity
    /// registers of chips that are known is read, and only where no driver of the kernel is. Nothing is written.
    /// - Parameters:
    ///   - uri: IIO context.
    ///   - everything: false: the buses are left alone when the kernel has an accelerometer that works.
    public static func ofThisMachine(uri: String = "local:", everything: Bool) -> Survey {
        var survey = Survey()
        do throws(SensorError) { survey.take(try IIODiscovery.inventory(uri: uri)) } catch {
            survey.obstacles.append(
                Obstacle(error, command: error.code == .unsupported ? "apt install libiio0" : "", isFatal: false))
        }
        if !everything, let choice = survey.choice, choice.obstacles.isEmpty { return survey }
        let buses = I2CBusList.all()
        for bus in buses { survey.take(bus, identities(on: bus)) }
        if buses.isEmpty { survey.obstacles.append(noBus(hasAdapter: hasAdapter)) }
        return survey
    }

    private static func identities(on info: I2CBusInfo) -> [(address: UInt8, who: I2CIdentification)] {
        if case .unknown = info.ability { return [] }
        let bus = LinuxI2CBus(number: info.number)
        guard (try? bus.open(identifyOnly: true)) != nil else { return [] }
        defer { bus.close() }
        var found: [(address: UInt8, who: I2CIdentification)] = []
        for address in I2CIdentification.addresses where !info.owners.contains(where: { $0.address == address }) {
            let who = I2CIdentification.identify(bus, address: address)
            found.append((address, who))
            // A jammed bus is so at all addresses, and each takes its time.
            if case .failed = who { break }
        }
        return found
    }

    /// Obstacle when there is no `/dev/i2c-N`.
    static func noBus(hasAdapter: Bool) -> Obstacle {
        hasAdapter
            ? Obstacle(SensorError(.missing, "the module i2c-dev is not loaded"), command: Obstacle.loadI2CDev)
            : Obstacle(SensorError(.missing, "no I2C bus is enabled"), command: Obstacle.enableI2C)
    }

    /// Whether the kernel has a bus, with or without a file.
    private static var hasAdapter: Bool {
        for number in 0..<32 where access("/sys/bus/i2c/devices/i2c-\(number)", F_OK) == 0 { return true }
        return false
    }
}
