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
