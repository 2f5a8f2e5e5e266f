// Analog Devices ADXL313. Data sheet ADXL313 Rev. C: specifications p. 3, FIFO p. 15 to 16, self-test p. 23. Registers as
// the ADXL345's, with a soft reset and other ranges. Cross-checked with the kernel's drivers/iio/accel/adxl313_core.c.
extension Chip {
    public static let adxl313 = Chip(
        name: "adxl313", source: "ADXL313 Rev. C", addresses: [0x53, 0x1D],
        identity: [Identity(0x00, 0xAD), Identity(0x01, 0x1D), Identity(0x02, 0xCB)],
        // SOFT_RESET, a code.
        reset: [Step(0x18, 0x52, check: 0, wait: 5, mayFail: true), Step(0x2D, 0x00)],
        start: [
            Step(0x2C, 0x00, .rate), Step(0x31, 0x08, .range), Step(0x38, 0x80, .watermark), Step(0x2D, 0x08),
        ],
        sentry: 0x2D, rates: adxl3xxRates,
        // Full resolution: 1024 counts per g in every range.
        ranges: [
            Range(0.5, 0, step: 1 / 1024), Range(1, 1, step: 1 / 1024), Range(2, 2, step: 1 / 1024),
            Range(4, 3, step: 1 / 1024),
        ],
        format: Format(), data: 0x32, fifo: adxl3xxFIFO,
        interrupt: [Step(0x2F, 0x00), Step(0x2E, 0x02)],
        // ±4 g, 100 Hz, 2.0 to 3.6 V.
        selfTest: SelfTest(
            settings: [Step(0x2C, 0x0A), Step(0x31, 0x0B), Step(0x2D, 0x08)],
            on: [Step(0x31, 0x8B)], off: [Step(0x31, 0x0B)], settle: 60, interval: 11, samples: 10, step: 1 / 1024,
            minimum: (0.20, -2.36, 0.30), maximum: (2.36, -0.20, 3.70), source: "ADXL313 Rev. C, Table 1 and p. 23"),
        errata: ["1600 and 3200 Hz are more than I2C at 400 kHz carries: left out"])
}
