/// Which chip on which I2C bus.
public struct I2CSettings: Sendable, Equatable {
    /// N of `/dev/i2c-N`.
    public var bus = 1
    /// Address of 7 bits; nil: each at which the chip may be.
    public var address: Int?
    /// Name of the chip, or `auto`.
    public var chip = "auto"
    /// GPIO line that rises when the FIFO has reached its watermark, `gpiochip0:17`; empty: none.
    public var dataReady = ""

    public init() {}
}
