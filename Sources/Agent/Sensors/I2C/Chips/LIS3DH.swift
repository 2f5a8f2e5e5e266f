// STMicroelectronics LIS3DH. Data sheet DocID17530 Rev 2: characteristics Table 4, modes p. 16 to 17, FIFO p. 22 to 23,
// registers from p. 33 on; application note AN3308 for the FIFO's counting and the self-test. Cross-checked with the
// kernel's drivers/iio/accel/st_accel_core.c.
extension Chip {
    public static let lis3dh = Chip(
        name: "lis3dh", lookalikes: "lis2dh12, lis2dh, lsm303agr, lis3de", source: "LIS3DH DocID17530 Rev 2",
        addresses: [0x19, 0x18],
        identity: [Identity(0x0F, 0x33)],
        // There is no soft reset (BOOT loads the factory's trimming only): power-down and the control registers.
        reset: [
            Step(0x20, 0x00), Step(0x21, 0x00), Step(0x22, 0x00), Step(0x23, 0x00), Step(0x24, 0x00),
            Step(0x25, 0x00), Step(0x2E, 0x00),
        ],
        // CTRL_REG4: BDU, HR (12 bits). CTRL_REG5: FIFO_EN. FIFO_CTRL_REG: stream. CTRL_REG1: x, y, z on.
        start: [
            Step(0x23, 0x88, .range), Step(0x24, 0x40), Step(0x2E, 0x80, .watermark), Step(0x20, 0x07, .rate),
        ],
        sentry: 0x20,
        // High resolution: 2, 4, 6, 11, 20, 38, 73, 185 µA (Table 12). 1620 and 5376 Hz are of 8 bits and left out.
        rates: [
            Rate(1, 0x10), Rate(10, 0x20), Rate(25, 0x30), Rate(50, 0x40), Rate(100, 0x50), Rate(200, 0x60),
            Rate(400, 0x70), Rate(1344, 0x90),
        ],
        // Sensitivity in high resolution, Table 4: 1, 2, 4, 12 mg per digit of 12 bits.
        ranges: [
            Range(2, 0x00, step: 0.001), Range(4, 0x10, step: 0.002), Range(8, 0x20, step: 0.004),
            Range(16, 0x30, step: 0.012),
        ],
        // Left-justified. Bit 7 of the register's number lets it count up.
        format: Format(shift: 4), data: 0xA8,
        // Behind the last byte of z the register's number goes back to x (AN3308, FIFO).
        // FIFO_SRC_REG: OVRN_FIFO says 32, which FSS cannot; it is set whether or not a sample was overwritten yet.
        fifo: FIFO(
            kind: .burst, depth: 32, register: 0xA8, slot: 6,
            level: FIFO.Level(0x2F, mask: 0x1F, full: 0x40, overrun: 0x40),
            // WTM comes with FTH + 1 samples (p. 23).
            watermarkLess: 1, flush: [Step(0x2E, 0x00), Step(0x2E, 0x80, .watermark)]),
        // CTRL_REG3: I1_WTM.
        interrupt: [Step(0x22, 0x04)],
        // The temperature sensor only tells changes, and needs the converter of the auxiliary inputs: left out.
        // Normal mode, 50 Hz, ±2 g: a change of 17 to 360 digits of 4 mg (Table 4).
        selfTest: SelfTest(
            settings: [Step(0x23, 0x80), Step(0x20, 0x47)], on: [Step(0x23, 0x82)], off: [Step(0x23, 0x80)],
            settle: 90, interval: 21, samples: 5, step: 0.001, absolute: true, minimum: (0.068, 0.068, 0.068),
            maximum: (1.44, 1.44, 1.44), source: "LIS3DH DocID17530 Rev 2, Table 4 and p. 17; AN3308"),
        errata: [
            "some users find 10 instead of 12 bits in the FIFO; they lie in the same place, so the scale holds",
            "AN3308 makes 1 g 1024 digits, the data sheet and the kernel's driver 1000: 2.4 % apart, calibrate",
            "the OVRN bit is set when the FIFO is just full: a gap may then be declared where there is none",
        ])
}
