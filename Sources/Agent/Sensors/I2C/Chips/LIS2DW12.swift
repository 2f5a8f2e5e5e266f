// STMicroelectronics LIS2DW12. Data sheet DocID029682 Rev 3, application note AN5038 Rev 5: sections "FIFO", "Self-test",
// "Register mapping". Cross-checked with the kernel's drivers/iio/accel/st_accel_core.c and ST's own driver
// (lis2dw12_reg.c). Sections, not pages, are meant.
extension Chip {
    public static let lis2dw12 = Chip(
        name: "lis2dw12", lookalikes: "iis2dlpc, ais2dw12", source: "LIS2DW12 DocID029682 Rev 3",
        addresses: [0x19, 0x18], identity: [Identity(0x0F, 0x44)],
        // CTRL2: SOFT_RESET, which clears itself.
        reset: [Step(0x21, 0x40, check: 0, wait: 1)], resetDone: Identity(0x21, 0x00, mask: 0x40),
        // CTRL2: BDU, IF_ADD_INC. CTRL6: bandwidth ODR/2, FS, LOW_NOISE. FIFO_CTRL: continuous. CTRL1: ODR, high
        // performance (14 bits, 90 µA, with LOW_NOISE 120 µA at every rate).
        start: [
            Step(0x21, 0x0C), Step(0x25, 0x04, .range), Step(0x2E, 0xC0, .watermark), Step(0x20, 0x04, .rate),
        ],
        sentry: 0x20,
        rates: [
            Rate(12.5, 0x20), Rate(25, 0x30), Rate(50, 0x40), Rate(100, 0x50), Rate(200, 0x60), Rate(400, 0x70),
            Rate(800, 0x80), Rate(1600, 0x90),
        ],
        // Left-justified; 0.244, 0.488, 0.976, 1.952 mg per digit of 14 bits.
        ranges: [
            Range(2, 0x00, step: 0.000244), Range(4, 0x10, step: 0.000488), Range(8, 0x20, step: 0.000976),
            Range(16, 0x30, step: 0.001952),
        ],
        format: Format(shift: 2), data: 0x28,
        // FIFO_SAMPLES: FIFO_OVR, Diff. Behind the last byte of z the register's number goes back to x.
        fifo: FIFO(
            kind: .burst, depth: 32, register: 0x28, slot: 6,
            level: FIFO.Level(0x2F, mask: 0x3F, overrun: 0x40),
            flush: [Step(0x2E, 0x00), Step(0x2E, 0xC0, .watermark)]),
        // CTRL4_INT1_PAD_CTRL: INT1_FTH.
        interrupt: [Step(0x23, 0x02)],
        // OUT_T: 12 bits left-justified, 16 digits per °C, 0 at 25 °C.
        temperature: Temperature(register: 0x0D, bigEndian: false, scale: 256, offset: 25),
        // ±4 g, 50 Hz, high performance; ST = 01.
        selfTest: SelfTest(
            settings: [Step(0x21, 0x0C), Step(0x25, 0x10), Step(0x20, 0x44)], on: [Step(0x22, 0x40)],
            off: [Step(0x22, 0x00)], settle: 100, interval: 21, samples: 5, step: 0.000488, absolute: true,
            minimum: (0.070, 0.070, 0.070), maximum: (1.5, 1.5, 1.5),
            source: "LIS2DW12 DocID029682 Rev 3, mechanical characteristics; AN5038 Rev 5, self-test"))
}
