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

// STMicroelectronics LSM6DSO, LSM6DSOX. Data sheet DS12140 Rev 2: rates and self-test p. 10, FIFO p. 33 to 34, registers
// section 9; application note AN5192. Cross-checked with the kernel's drivers/iio/imu/st_lsm6dsx. The gyroscope stays
// off.
extension Chip {
    public static let lsm6dso = Chip(
        name: "lsm6dso", lookalikes: "lsm6dsox", source: "LSM6DSO DS12140 Rev 2", addresses: [0x6A, 0x6B],
        identity: [Identity(0x0F, 0x6C)],
        // CTRL3_C: SW_RESET, which clears itself.
        reset: [Step(0x12, 0x01, check: 0, wait: 1)], resetDone: Identity(0x12, 0x00, mask: 0x01),
        // CTRL3_C: BDU, IF_INC. FIFO_CTRL1: watermark. FIFO_CTRL3: the accelerometer's rate into the FIFO. FIFO_CTRL4:
        // continuous. CTRL1_XL: ODR, FS, high performance (170 µA at every rate).
        start: [
            Step(0x12, 0x44), Step(0x07, 0x00, .watermark), Step(0x09, 0x00, .more), Step(0x0A, 0x06),
            Step(0x10, 0x00, [.rate, .range]),
        ],
        sentry: 0x10,
        // 3332 and 6664 Hz are more than I2C at 400 kHz carries.
        rates: [
            Rate(12.5, 0x10, 1), Rate(26, 0x20, 2), Rate(52, 0x30, 3), Rate(104, 0x40, 4), Rate(208, 0x50, 5),
            Rate(416, 0x60, 6), Rate(833, 0x70, 7), Rate(1666, 0x80, 8),
        ],
        // 0.061, 0.122, 0.244, 0.488 mg per digit.
        ranges: [
            Range(2, 0x00, step: 0.000061), Range(4, 0x08, step: 0.000122), Range(8, 0x0C, step: 0.000244),
            Range(16, 0x04, step: 0.000488),
        ],
        format: Format(), data: 0x28,
        // FIFO_STATUS1 and 2: DIFF_FIFO, FIFO_OVR_IA, FIFO_OVR_LATCHED. FIFO_DATA_OUT_TAG: 2 is the accelerometer;
        // behind the seventh byte the register's number goes back to the tag.
        fifo: FIFO(
            kind: .tagged(mask: 0xF8, value: 0x10), depth: 512, register: 0x78, slot: 7, offset: 1,
            level: FIFO.Level(0x3A, bytes: 2, mask: 0x03FF, overrun: 0x4800), watermarkLargest: 255,
            flush: [Step(0x0A, 0x00), Step(0x0A, 0x06)]),
        // INT1_CTRL: INT1_FIFO_TH.
        interrupt: [Step(0x0D, 0x08)],
        // OUT_TEMP: 256 digits per °C, 0 at 25 °C.
        temperature: Temperature(register: 0x20, bigEndian: false, scale: 256, offset: 25),
        // ±4 g, 52 Hz; CTRL5_C: ST_XL = 01.
        selfTest: SelfTest(
            settings: [Step(0x12, 0x44), Step(0x10, 0x38)], on: [Step(0x14, 0x01)], off: [Step(0x14, 0x00)],
            settle: 100, interval: 20, samples: 5, step: 0.000122, absolute: true, minimum: (0.050, 0.050, 0.050),
            maximum: (1.7, 1.7, 1.7), source: "LSM6DSO DS12140 Rev 2 p. 10; AN5192, self-test"))
}
