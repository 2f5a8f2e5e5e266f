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
    public static let enableI2C =
        "sudo raspi-config nonint do_i2c 0   # or dtparam=i2c_arm=on in /boot/firmware/config.txt"
}
