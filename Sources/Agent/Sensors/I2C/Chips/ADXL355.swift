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
