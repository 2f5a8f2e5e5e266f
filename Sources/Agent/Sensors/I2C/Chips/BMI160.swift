// Bosch BMI160. Data sheet BST-BMI160-DS000-07 Rev 0.8: FIFO p. 21 to 22, FIFO_LENGTH p. 54, registers section 2.11.
// Cross-checked with the kernel's drivers/iio/imu/bmi160 and Bosch's driver (bmi160.c). The gyroscope stays suspended.
// The BMI270 is left out: it needs 8 KB of the maker's firmware loaded at each start.
extension Chip {
    public static let bmi160 = Chip(
        name: "bmi160", source: "BST-BMI160-DS000-07 Rev 0.8", addresses: [0x68, 0x69],
        identity: [Identity(0x00, 0xD1)],
        // CMD: softreset.
        reset: [Step(0x7E, 0xB6, check: 0, wait: 15, mayFail: true)],
        // CMD: accelerometer on (3.8 ms). ACC_CONF: normal filter, 180 µA at every rate. FIFO_CONFIG: accelerometer, no
        // headers. CMD: FIFO empty.
        start: [
            Step(0x7E, 0x11, check: 0, wait: 10), Step(0x40, 0x20, .rate), Step(0x41, 0x00, .range, check: 0x0F),
            Step(0x47, 0x40), Step(0x7E, 0xB0, check: 0, wait: 1),
        ],
        sentry: 0x47,
        rates: [
            Rate(12.5, 5), Rate(25, 6), Rate(50, 7), Rate(100, 8), Rate(200, 9), Rate(400, 10), Rate(800, 11),
            Rate(1600, 12),
        ],
        ranges: [
            Range(2, 0x03, step: 1 / 16384), Range(4, 0x05, step: 1 / 8192), Range(8, 0x08, step: 1 / 4096),
            Range(16, 0x0C, step: 1 / 2048),
        ],
        format: Format(), data: 0x12,
        // FIFO_LENGTH counts bytes; 1024. It cannot tell full from run over.
        fifo: FIFO(
            kind: .burst, depth: 170, register: 0x24, slot: 6,
            level: FIFO.Level(0x22, bytes: 2, mask: 0x07FF, unit: 6), watermarkLargest: 255,
            flush: [Step(0x7E, 0xB0, check: 0, wait: 1)], flushAfterOverrun: true),
        // 512 counts per °C, 0 at 23 °C; each 1.28 s while the gyroscope is suspended.
        temperature: Temperature(register: 0x20, bigEndian: false, scale: 512, offset: 23),
        // ±8 g, ACC_CONF 0x2C; ACC_SELF_TEST: high amplitude, negative and positive: the difference is 0.8 g at least.
        // An upper limit is not given: the range stands for it.
        selfTest: SelfTest(
            settings: [
                Step(0x7E, 0x11, check: 0, wait: 10), Step(0x41, 0x08), Step(0x40, 0x2C), Step(0x6D, 0x09),
            ],
            on: [Step(0x6D, 0x0D)], off: [Step(0x6D, 0x00)], settle: 60, interval: 2, samples: 10, step: 1 / 4096,
            absolute: true, minimum: (0.8, 0.8, 0.8), maximum: (8, 8, 8),
            source: "BST-BMI160-DS000-07 Rev 0.8, section self-test (accelerometer)"))
}
