import SignalProcessing

/// Which chip on which bus, and how it is to measure.
public struct I2CSettings: Sendable, Equatable {
    /// N of `/dev/i2c-N`.
    public var bus = 1
    /// Address of 7 bits; nil: each at which the chip may be.
    public var address: UInt8?
    /// Name of the chip, or `auto`.
    public var chip = "auto"
    /// Samples per second; the chip's nearest is taken.
    public var rate = 100.0
    /// Full scale in m/s²; the chip's smallest that holds it is taken.
    public var range = 2 * standardGravity
    /// GPIO line that rises when the FIFO has reached its watermark, `gpiochip0:17`; empty: none.
    public var dataReady = ""

    public init() {}
}
