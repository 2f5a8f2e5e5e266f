/// An accelerometer chip as data: all that the one driver for bare chips has to know of it. Every value stands in the
/// file of its family, with the data sheet it is from. Axes come in the order x, y, z, signed, from all of them. A class
/// that never changes: it is large, and handed about.
public final class Chip: Sendable {
    /// A register, which of its bits count, and what they hold.
    public struct Identity: Sendable {
        public var register: UInt8
        public var value: UInt8
        public var mask: UInt8

        public init(_ register: UInt8, _ value: UInt8, mask: UInt8 = 0xFF) {
            self.register = register
            self.value = value
            self.mask = mask
        }
    }

    /// Values chosen at `open` that go into a register beside its constant bits.
    public struct Choice: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// `Rate.bits`.
        public static let rate = Choice(rawValue: 1)
        /// `Rate.more`.
        public static let more = Choice(rawValue: 2)
        /// `Range.bits`.
        public static let range = Choice(rawValue: 4)
        /// The FIFO's watermark.
        public static let watermark = Choice(rawValue: 8)
    }

    /// A register that is written.
    public struct Step: Sendable {
        public var register: UInt8
        public var value: UInt8
        public var choice: Choice
        /// Bits that must read back as written; 0 where the register does not say what was written.
        public var check: UInt8
        /// Milliseconds to wait afterwards.
        public var wait: UInt8
        /// The chip may not acknowledge this, as some do not when they reset at once.
        var mayFail: Bool

        public init(
            _ register: UInt8, _ value: UInt8, _ choice: Choice = [], check: UInt8 = 0xFF, wait: UInt8 = 0,
            mayFail: Bool = false
        ) {
            self.register = register
            self.value = value
            self.choice = choice
            self.check = check
            self.wait = wait
            self.mayFail = mayFail
        }
    }

    /// An output data rate.
    public struct Rate: Sendable {
        /// Nominal samples per second.
        public var hertz: Double
        public var bits: UInt8
        /// For a second register: a filter, a second rate.
        public var more: UInt8

        public init(_ hertz: Double, _ bits: UInt8, _ more: UInt8 = 0) {
            self.hertz = hertz
            self.bits = bits
            self.more = more
        }
    }

    /// A measuring range.
    public struct Range: Sendable {
        /// Full scale in g.
        public var g: Double
        public var bits: UInt8
        /// g per count, after the shift.
        public var step: Double

        public init(_ g: Double, _ bits: UInt8, step: Double) {
            self.g = g
            self.bits = bits
            self.step = step
        }
    }

    /// How one axis lies in its bytes: two's complement.
    public struct Format: Sendable {
        /// 2 or 3.
        public var bytes: Int
        public var bigEndian: Bool
        /// Bits to the right of the number, where it is left-justified.
        public var shift: Int

        public init(bytes: Int = 2, bigEndian: Bool = false, shift: Int = 0) {
            self.bytes = bytes
            self.bigEndian = bigEndian
            self.shift = shift
        }
    }

    /// Bit that says that a sample waits, and bit that says that one was overwritten; for chips without FIFO, in the
    /// register before the data.
    public struct Ready: Sendable {
        public var register: UInt8
        public var ready: UInt8
        public var overwritten: UInt8
    }

    /// Temperature of the chip: offset + raw / scale, in °C, from two bytes.
    public struct Temperature: Sendable {
        public var register: UInt8
        public var bigEndian: Bool
        /// Counts per °C.
        public var scale: Double
        var unsigned = false
        /// °C at 0 counts.
        public var offset: Double
    }

    /// Name, in lower case: `adxl345`.
    public let name: String
    /// Chips with the same identity registers, which are read alike; empty: the identity is this chip's alone.
    let lookalikes: String
    /// Data sheet: its number and revision.
    public let source: String
    /// Addresses at which it may be, most usual first.
    public let addresses: [UInt8]
    /// All have to match.
    public let identity: [Identity]
    /// Brings the registers to a known state, all measuring off.
    public let reset: [Step]
    /// When the reset is over; nil: after its waiting times.
    let resetDone: Identity?
    /// Sets the chip up and starts it.
    public let start: [Step]
    /// A register of `start` whose value after power-on is another: it tells a chip that has lost its settings.
    let sentry: UInt8
    public let rates: [Rate]
    public let ranges: [Range]
    public let format: Format
    /// Register of the newest sample.
    public let data: UInt8
    public let ready: Ready?
    let fifo: FIFO?
    /// Switches the line for data on, which rises when the FIFO has reached its watermark; empty: the chip has no such.
    public let interrupt: [Step]
    public let temperature: Temperature?
    public let selfTest: SelfTest?
    /// Faults that its maker or its users found, and their effect on this driver.
    let errata: [String]

    init(
        name: String, lookalikes: String = "", source: String, addresses: [UInt8], identity: [Identity], reset: [Step],
        resetDone: Identity? = nil, start: [Step], sentry: UInt8, rates: [Rate], ranges: [Range], format: Format,
        data: UInt8, ready: Ready? = nil, fifo: FIFO? = nil, interrupt: [Step] = [], temperature: Temperature? = nil,
        selfTest: SelfTest? = nil, errata: [String] = []
    ) {
        self.name = name
        self.lookalikes = lookalikes
        self.source = source
        self.addresses = addresses
        self.identity = identity
        self.reset = reset
        self.resetDone = resetDone
        self.start = start
        self.sentry = sentry
        self.rates = rates
        self.ranges = ranges
        self.format = format
        self.data = data
        self.ready = ready
        self.fifo = fifo
        self.interrupt = interrupt
        self.temperature = temperature
        self.selfTest = selfTest
        self.errata = errata
    }
}

extension Chip {
    /// Where samples wait until they are read.
    public struct FIFO: Sendable {
        public enum Kind: Sendable, Equatable {
            /// Each sample has to be read with a transfer of its own, from the number of the register on.
            case slots
            /// Samples follow each other in one long read.
            case burst
            /// As `burst`; each sample is preceded by a byte that says what it is: these bits are this value.
            case tagged(mask: UInt8, value: UInt8)
            /// As `burst`; the lowest bit of an axis's last byte marks x, the second lowest that nothing was there.
            case marked
        }

        /// Register that says how many samples wait.
        public struct Level: Sendable {
            public var register: UInt8
            /// 1 or 2.
            public var bytes: Int
            public var bigEndian: Bool
            public var mask: UInt16
            /// Counts per sample: 6 where bytes are counted.
            public var unit: Int
            /// Bit that says that the FIFO is full, where the number cannot.
            public var full: UInt16
            /// Bits that say that samples were overwritten.
            var overrun: UInt16

            public init(
                _ register: UInt8, bytes: Int = 1, bigEndian: Bool = false, mask: UInt16, unit: Int = 1,
                full: UInt16 = 0, overrun: UInt16 = 0
            ) {
                self.register = register
                self.bytes = bytes
                self.bigEndian = bigEndian
                self.mask = mask
                self.unit = unit
                self.full = full
                self.overrun = overrun
            }
        }

        public var kind: Kind
        /// Samples that fit.
        public var depth: Int
        /// Register to read the samples from.
        public var register: UInt8
        /// Bytes of a sample.
        public var slot: Int
        /// Bytes of a sample before x.
        public var offset = 0
        public var level: Level
        /// Bit of another register that says that samples were overwritten; asked for when the FIFO is full. Nil where
        /// `level` says it; where nothing says it, full means overwritten.
        var overrun: Identity?
        /// Counts per sample and what is taken off in the watermark's register.
        var watermarkUnit = 1
        var watermarkLess = 0
        /// Largest number that the watermark's register takes.
        var watermarkLargest = 31
        /// Empties it; where there are none the chip is set up anew.
        public var flush: [Step] = []
        /// Erratum: after an overrun its content is not to be used.
        var flushAfterOverrun = false
    }

    /// The self-test: the chip moves its own mass, and the difference is measured.
    public struct SelfTest: Sendable {
        /// Value that the difference is compared with.
        public enum Expected: Sendable {
            /// Limits in g.
            case limits
            /// Change in % of the factory's value, by the formula for the MPU-6050.
            case factory6050
            /// The same by the formula for the MPU-6500 and those after it.
            case factory6500
        }
        /// From standby, FIFO off, to the state that the procedure asks for.
        public var settings: [Step]
        /// For the second mean.
        public var on: [Step]
        public var off: [Step]
        /// Milliseconds before each mean, and between two samples.
        public var settle: Int
        public var interval: Int
        /// Samples of a mean.
        public var samples: Int
        /// g per count in that state.
        public var step: Double
        /// Whether only the size of the change counts.
        public var absolute = false
        /// g, or %.
        public var minimum: (Double, Double, Double)
        public var maximum: (Double, Double, Double)
        public var expected = Expected.limits
        /// Where this stands.
        public var source: String
    }
}

extension Chip {
    /// The rate nearest to one asked for, by ratio; of two as near, the higher.
    public func rate(nearest asked: Double) -> Rate {
        var best = rates[0]
        for rate in rates where Self.distance(rate.hertz, asked) < Self.distance(best.hertz, asked) { best = rate }
        return best
    }

    private static func distance(_ a: Double, _ b: Double) -> Double { a > b ? a / b : b / a }

    /// The smallest range that holds what is asked for (g); the largest when none does.
    public func range(for asked: Double) -> Range {
        for range in ranges where range.g >= asked * 0.999 { return range }
        return ranges[ranges.count - 1]
    }
}

extension Chip {
    /// Every chip that the driver knows. Of chips with the same identity the first is taken.
    public static let all: [Chip] = [
        adxl345, lis3dh, mpu6050, mpu6500, mpu9250, mpu9255, mpu6886, icm20600, icm20602, icm20608, mma8451, mma8452,
        mma8453, adxl355, adxl357, lis2dw12, lsm6dso, adxl313, bmi160,
        kx134,
    ]

    /// A chip by its name, in any case.
    public static func named(_ name: String) -> Chip? {
        let wanted = name.lowercased()
        return all.first { $0.name == wanted }
    }

    /// All names, for people.
    static var names: String { all.map(\.name).joined(separator: ", ") }
}
