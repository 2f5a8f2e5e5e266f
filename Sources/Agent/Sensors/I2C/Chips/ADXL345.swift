// Analog Devices ADXL345. Data sheet ADXL345 Rev. E: specifications p. 4, FIFO p. 20 to 21, self-test p. 22, registers
// p. 23 to 28, "Using self-test" p. 31. Cross-checked with the kernel's drivers/iio/accel/adxl345_core.c.
extension Chip {
    public static let adxl345 = Chip(
        name: "adxl345", source: "ADXL345 Rev. E", addresses: [0x53, 0x1D],
        identity: [Identity(0x00, 0xE5)],
        // There is no soft reset: standby, and every register that changes the samples.
        reset: [
            Step(0x2D, 0x00), Step(0x2E, 0x00), Step(0x1E, 0x00), Step(0x1F, 0x00), Step(0x20, 0x00),
            // Bypass empties the FIFO.
            Step(0x38, 0x00),
        ],
        // BW_RATE without LOW_POWER: 140 µA from 100 Hz on, less noise. DATA_FORMAT: FULL_RES, INT active high.
        start: [
            Step(0x2C, 0x00, .rate), Step(0x31, 0x08, .range), Step(0x38, 0x80, .watermark), Step(0x2D, 0x08),
        ],
        sentry: 0x2D,
        rates: adxl3xxRates,
        // Full resolution: 256 counts per g (230 to 282) in every range, Table 1.
        ranges: [
            Range(2, 0, step: 1 / 256), Range(4, 1, step: 1 / 256), Range(8, 2, step: 1 / 256),
            Range(16, 3, step: 1 / 256),
        ],
        format: Format(), data: 0x32,
        fifo: adxl3xxFIFO,
        // INT_MAP: INT1; INT_ENABLE: watermark.
        interrupt: [Step(0x2F, 0x00), Step(0x2E, 0x02)],
        // Limits of Table 1 are for 2.5 V; at 3.3 V the change is 1.77 (x, y) and 1.47 (z) times as large (Table 14).
        // The supply is not known here, so the limits span both.
        selfTest: SelfTest(
            settings: [Step(0x2C, 0x0A), Step(0x31, 0x0B), Step(0x2D, 0x08)],
            on: [Step(0x31, 0x8B)], off: [Step(0x31, 0x0B)], settle: 60, interval: 11, samples: 10, step: 1 / 256,
            minimum: (0.20, -3.72, 0.30), maximum: (3.72, -0.20, 5.00),
            source: "ADXL345 Rev. E, Table 1, Table 14 (2.5 to 3.3 V) and p. 31"),
        errata: [
            "1600 and 3200 Hz need SPI at 2 MHz and more: I2C at 400 kHz carries 800 Hz at most (p. 18), so they are left out",
            "a sample of the FIFO has to be read with one transfer; 5 µs must pass until the next, which the address byte takes (p. 21)",
        ])

    /// Rates of ADXL345 and ADXL313 that I2C at 400 kHz can carry: BW_RATE, Table 7.
    static let adxl3xxRates = [
        Rate(6.25, 6), Rate(12.5, 7), Rate(25, 8), Rate(50, 9), Rate(100, 10), Rate(200, 11), Rate(400, 12),
        Rate(800, 13),
    ]

    /// 32 samples and one more in the output registers; FIFO_STATUS counts both. INT_SOURCE tells the overrun.
    static let adxl3xxFIFO = FIFO(
        kind: .slots, depth: 32, register: 0x32, slot: 6, level: FIFO.Level(0x39, mask: 0x3F),
        overrun: Identity(0x30, 0x01, mask: 0x01), flush: [Step(0x38, 0x00), Step(0x38, 0x80, .watermark)])
}
