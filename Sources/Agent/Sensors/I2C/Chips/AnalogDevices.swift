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

// Analog Devices ADXL355 (data sheet ADXL354/ADXL355 Rev. C) and ADXL357 (ADXL356/ADXL357 Rev. B), 20 bits: sections
// "Specifications", "FIFO", "Register map". Cross-checked with the kernel's drivers/iio/accel/adxl355_core.c; that
// driver is in few kernels, so the bare chip matters. Sections, not pages, are meant.
extension Chip {
    public static let adxl355 = adxl35x(
        "adxl355", lookalikes: "adxl357 (five times the range: name it, if it is one)", "ADXL354/ADXL355 Rev. C",
        // 256000, 128000, 64000 counts per g (±8 %).
        [Range(2.048, 1, step: 1 / 256000), Range(4.096, 2, step: 1 / 128000), Range(8.192, 3, step: 1 / 64000)])

    public static let adxl357 = adxl35x(
        "adxl357", lookalikes: "adxl355", "ADXL356/ADXL357 Rev. B",
        [Range(10.24, 1, step: 1 / 51200), Range(20.48, 2, step: 1 / 25600), Range(40.96, 3, step: 1 / 12800)])

    @inline(never)
    private static func adxl35x(_ name: String, lookalikes: String, _ source: String, _ ranges: [Range]) -> Chip {
        Chip(
            name: name, lookalikes: lookalikes, source: source, addresses: [0x1D, 0x53],
            identity: [Identity(0x00, 0xAD), Identity(0x01, 0x1D), Identity(0x02, 0xED)],
            // RESET, a code; then standby. POWER_CTL is 1 after it.
            reset: [Step(0x2F, 0x52, check: 0, wait: 10, mayFail: true), Step(0x2D, 0x01)],
            // STATUS: NVM_BUSY.
            resetDone: Identity(0x04, 0x00, mask: 0x10),
            // RANGE: I2C_HS stays as after the reset, INT_POL active high. FILTER: no high-pass, ODR_LPF.
            // FIFO_SAMPLES counts axes. POWER_CTL: measuring, temperature on (200 µA at every rate).
            start: [
                Step(0x2C, 0xC0, .range), Step(0x28, 0x00, .rate), Step(0x29, 0x00, .watermark), Step(0x2D, 0x00),
            ],
            sentry: 0x2D,
            // 2000 and 4000 Hz are more than I2C at 400 kHz carries: 9 bytes a sample.
            rates: [
                Rate(3.90625, 10), Rate(7.8125, 9), Rate(15.625, 8), Rate(31.25, 7), Rate(62.5, 6), Rate(125, 5),
                Rate(250, 4), Rate(500, 3), Rate(1000, 2),
            ],
            ranges: ranges, format: Format(bytes: 3, bigEndian: true, shift: 4), data: 0x08,
            // 96 axes. FIFO_ENTRIES counts axes; STATUS: FIFO_OVR. The lowest bit marks x.
            fifo: FIFO(
                kind: .marked, depth: 32, register: 0x11, slot: 9, level: FIFO.Level(0x05, mask: 0x7F, unit: 3),
                overrun: Identity(0x04, 0x04, mask: 0x04), watermarkUnit: 3, watermarkLargest: 96),
            // INT_MAP: FULL_EN1.
            interrupt: [Step(0x2A, 0x02)],
            // 12 bits, unsigned: 1885 at 25 °C, -9.05 per °C.
            temperature: Temperature(
                register: 0x06, bigEndian: true, scale: -9.05, unsigned: true, offset: 25 + 1885 / 9.05),
            // Self-test: the data sheets give typical changes (0.3, 0.3, 1.5 g) and no limits, so there is none here.
            errata: [
                "ADXL355 and ADXL357 have the same identity; without a name in the settings the chip counts as an ADXL355",
                "when the FIFO has run over, it may begin with y or z: the driver looks for the mark of x",
                "±8 % of scale (±6 % ADXL357) are within specification: calibrate",
            ])
    }
}
