import Glibc
import Platform

/// All that was found on a machine, and what it comes to. Pure: made from what others have read.
public struct Survey: Sendable, Equatable {
    /// An I2C bus.
    public struct Bus: Sendable, Equatable {
        public var number: Int
        /// Name of its adapter.
        public var name: String
        /// Obstacles to looking at it, or reading it.
        public var obstacles: [Obstacle]

        public init(number: Int, name: String, obstacles: [Obstacle] = []) {
            self.number = number
            self.name = name
            self.obstacles = obstacles
        }
    }

    public var findings: [Finding]
    public var buses: [Bus]
    /// Obstacles to a whole kind of sensors: no libiio, no bus.
    public var obstacles: [Obstacle]

    public init(findings: [Finding] = [], buses: [Bus] = [], obstacles: [Obstacle] = []) {
        self.findings = findings
        self.buses = buses
        self.obstacles = obstacles
    }

    /// Sensor that `driver: auto` takes: among certain ones that no other process uses, the devices of the kernel
    /// before bare chips, each kind in its order. Sensors that can be used come before those that perhaps cannot.
    public var choice: Finding? {
        let usable = findings.filter(\.isUsable)
        let clean = usable.filter(\.obstacles.isEmpty)
        for list in [clean, usable] {
            if let best = list.first(where: \.place.isIIO) ?? list.first { return best }
        }
        return nil
    }

    /// Reason why there is no choice: the obstacle of the best that was found, or that nothing was.
    public var problem: SensorError {
        // What is certain says most, then what a bus or the machine lacks.
        for certainty in [Finding.Certainty.certain, .named] {
            for finding in findings where finding.certainty == certainty {
                if let obstacle = finding.obstacles.first(where: \.isFatal) { return obstacle.error }
            }
        }
        for obstacle in buses.flatMap(\.obstacles) + obstacles where obstacle.error.code == .permission {
            return obstacle.error
        }
        let missing = obstacles.map(\.error.message).joined(separator: "; ")
        return SensorError(.missing, "no accelerometer found" + (missing.isEmpty ? "" : ": " + missing))
    }

    /// Every command that mends something, each once.
    public var commands: [String] {
        var commands: [String] = []
        let all = findings.flatMap(\.obstacles) + buses.flatMap(\.obstacles) + obstacles
        for obstacle in all where !obstacle.command.isEmpty && !commands.contains(obstacle.command) {
            commands.append(obstacle.command)
        }
        return commands
    }
}

extension Finding.Place {
    public var isIIO: Bool {
        if case .iio = self { return true }
        return false
    }
}

// From what the kernel and the buses say to findings. Pure.

extension Survey {
    /// Takes the devices of an IIO context. What would make a device work worse, or not for this user, is an obstacle
    /// that its driver judges when it is opened.
    public mutating func take(_ inventory: IIOInventory) {
        for device in inventory.devices {
            let obstacles = device.problems.map {
                Obstacle($0.error, command: $0.command, isFatal: $0.error.code == .missing || device.isCapturing)
            }
            var note = device.isAccelerometer ? "" : "no accelerometer"
            if device.isCapturing { note = "in use: a program is capturing" }
            findings.append(
                Finding(
                    place: .iio(device: device.id), chip: device.name,
                    certainty: device.isAccelerometer ? .certain : .unknown, kernelDriver: device.driver,
                    obstacles: device.isAccelerometer ? obstacles : [], note: note))
        }
    }

    /// Takes a bus and what was found at its addresses.
    public mutating func take(_ bus: I2CBusInfo, _ found: [(address: UInt8, who: I2CIdentification)]) {
        var obstacles: [Obstacle] = []
        switch bus.ability {
        case .plain: break
        case .smbusOnly:
            obstacles.append(
                Obstacle(
                    SensorError(.unsupported, "/dev/i2c-\(bus.number): SMBus transfers only, chips cannot be read")))
        case .unknown(let error):
            obstacles.append(Obstacle(error, command: error.code == .permission ? Obstacle.addToI2CGroup : ""))
        }
        buses.append(Bus(number: bus.number, name: bus.name, obstacles: obstacles))
        for owner in bus.owners { take(owner, bus.number) }
        for (address, who) in found {
            let place = Finding.Place.i2c(bus: bus.number, address: Int(address))
            switch who {
            case .nothing: break
            case .owned(let owner):
                if !bus.owners.contains(where: { $0.address == owner.address }) { take(owner, bus.number) }
            case .chip(let name, let lookalikes):
                findings.append(
                    Finding(
                        place: place, chip: name, certainty: .certain, obstacles: obstacles,
                        note: lookalikes.isEmpty ? "" : "or \(lookalikes), which is read alike"))
            case .unknown:
                findings.append(
                    Finding(
                        place: place, chip: "", certainty: .unknown, note: "a chip answers, but it is not a known one"))
            case .failed(let error):
                findings.append(Finding(place: place, chip: "", certainty: .unknown, obstacles: [Obstacle(error)]))
            }
        }
    }

    private mutating func take(_ owner: I2COwner, _ bus: Int) {
        let isKnown = Chip.named(owner.device) != nil
        var finding = Finding(
            place: .i2c(bus: bus, address: Int(owner.address)), chip: owner.device,
            certainty: isKnown ? .named : .unknown, kernelDriver: owner.driver, note: "in use by a kernel driver")
        if isKnown {
            let message = "the kernel's driver \(owner.driver) has \(owner.device) at \(finding.placeName)"
            finding.obstacles = [Obstacle(SensorError(.busy, message))]
        }
        findings.append(finding)
    }
}

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

/// One thing that is, or may be, an accelerometer: what it is, where, how surely, and what prevents its use.
public struct Finding: Sendable, Equatable {
    /// Where it was found, and how it would be opened.
    public enum Place: Sendable, Equatable {
        /// A device of the kernel's IIO subsystem, `iio:device0`.
        case iio(device: String)
        /// A chip on a bare bus.
        case i2c(bus: Int, address: Int)
    }

    public enum Certainty: Int, Sendable, Comparable, CaseIterable {
        /// A device answers, or the kernel has it, but it is not known as an accelerometer.
        case unknown
        /// It is one that is known by name; whether it can be read has not been seen.
        case named
        /// It has the channels of an accelerometer, or its identity registers hold what the data sheet says.
        case certain

        public static func < (a: Certainty, b: Certainty) -> Bool { a.rawValue < b.rawValue }
    }

    public var place: Place
    /// Name of the chip; empty when not known.
    public var chip: String
    public var certainty: Certainty
    /// The kernel's driver that has it; empty when none has.
    public var kernelDriver: String
    /// Obstacles to its use; empty: none.
    public var obstacles: [Obstacle]
    /// Notes for people: rates, ranges.
    public var note: String

    public init(
        place: Place, chip: String, certainty: Certainty, kernelDriver: String = "", obstacles: [Obstacle] = [],
        note: String = ""
    ) {
        self.place = place
        self.chip = chip
        self.certainty = certainty
        self.kernelDriver = kernelDriver
        self.obstacles = obstacles
        self.note = note
    }

    /// Where it is, for people.
    public var placeName: String {
        switch place {
        case .iio(let device): device
        case .i2c(let bus, let address): "/dev/i2c-\(bus) " + hex(UInt8(truncatingIfNeeded: address))
        }
    }

    /// Whether the agent can use it as it is.
    public var isUsable: Bool { certainty == .certain && !obstacles.contains { $0.isFatal } }
}

/// Obstacle to the use of a sensor, and the command that removes it.
public struct Obstacle: Sendable, Equatable {
    public var error: SensorError
    /// A command for root; empty where there is none.
    public var command: String
    /// False for what is only a pity.
    public var isFatal: Bool

    public init(_ error: SensorError, command: String = "", isFatal: Bool = true) {
        self.error = error
        self.command = command
        self.isFatal = isFatal
    }

    static let addToI2CGroup = "sudo usermod -aG i2c $USER"
    static let loadI2CDev = "sudo modprobe i2c-dev && echo i2c-dev | sudo tee /etc/modules-load.d/i2c-dev.conf"
    static let enableI2C =
        "sudo raspi-config nonint do_i2c 0   # or dtparam=i2c_arm=on in /boot/firmware/config.txt"
}

/// Files, folders and links of sysfs and configfs.
enum Sysfs {
    /// The text without white space at its ends; nil when it cannot be read.
    static func read(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { memory in
            guard let base = memory.baseAddress else { return nil }
            let count = Glibc.read(file, base, memory.count)
            guard count >= 0 else { return nil }
            return trimmed(String(decoding: UnsafeRawBufferPointer(start: base, count: count), as: UTF8.self))
        }
    }

    /// Returns 0 or an error number.
    static func write(_ path: String, _ text: String) -> Int32 {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return errno }
        defer { close(file) }
        var text = text
        let count = text.withUTF8 { Glibc.write(file, $0.baseAddress, $0.count) }
        return count < 0 ? errno : 0
    }

    /// Where a link leads: the last component; nil where it is none.
    static func linkName(_ path: String) -> String? {
        guard let real = resolve(path), let slash = real.lastIndex(of: "/") else { return nil }
        return String(real[real.index(after: slash)...])
    }

    /// The folder in which a path really lies.
    static func parent(_ path: String) -> String? {
        guard let real = resolve(path), let slash = real.lastIndex(of: "/") else { return nil }
        return String(real[..<slash])
    }

    private static func resolve(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// Names in a folder, in no order; without those that are hidden.
    static func names(in folder: String) -> [String] { FolderNames.all(in: folder).filter { !$0.hasPrefix(".") } }

    static func trimmed(_ text: String) -> String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\n" || $0 == "\t" || $0 == "\0" }
        guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(text[first...last])
    }
}
