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

// Kionix KX134-1211. Specifications Rev. 1.0: sensitivity and self-test p. 5, addresses p. 18; technical reference manual
// Rev. 4.0: registers p. 18 to 45, sample buffer p. 68. Cross-checked with the kernel's
// drivers/iio/accel/kionix-kx022a.c.
extension Chip {
    static let kx134 = Chip(
        name: "kx134-1211", source: "KX134-1211 technical reference manual Rev. 4.0", addresses: [0x1F, 0x1E],
        identity: [Identity(0x13, 0x46)],
        // CNTL1: stand-by. CNTL2: SRST, which is not acknowledged and clears itself; a start takes up to 50 ms.
        reset: [Step(0x1B, 0x00), Step(0x1C, 0x80, check: 0, wait: 50, mayFail: true)],
        resetDone: Identity(0x1C, 0x00, mask: 0x80),
        // ODCNTL: low pass at half the rate. BUF_CNTL2: 16 bits, stream. CNTL1: high performance (148 µA at 400 Hz).
        start: [
            Step(0x21, 0x40, .rate), Step(0x5E, 0x00, .watermark), Step(0x5F, 0xC1), Step(0x1B, 0xC0, .range),
        ],
        sentry: 0x1B,
        // Below 12.5 Hz the watermark would be a single sample, which SMP_TH does not take; above 1600 Hz a read of one
        // sample at 400 kHz lasts too long.
        rates: [
            Rate(12.5, 4), Rate(25, 5), Rate(50, 6), Rate(100, 7), Rate(200, 8), Rate(400, 9), Rate(800, 10),
            Rate(1600, 11),
        ],
        ranges: [
            Range(8, 0x00, step: 1 / 4096), Range(16, 0x08, step: 1 / 2048), Range(32, 0x10, step: 1 / 1024),
            Range(64, 0x18, step: 1 / 512),
        ],
        format: Format(), data: 0x08,
        // BUF_STATUS_1 and 2: SMP_LEV counts bytes; 86 samples. It cannot tell full from run over. A read of BUF_READ must
        // not last longer than from one sample to the next (p. 45): a transfer for each.
        fifo: FIFO(
            kind: .slots, depth: 86, register: 0x63, slot: 6, level: FIFO.Level(0x60, bytes: 2, mask: 0x03FF, unit: 6),
            watermarkLargest: 86),
        // INC1: INT1, active high. INC4: watermark.
        interrupt: [Step(0x22, 0x30), Step(0x25, 0x20)],
        // ±8 g, 100 Hz. Both are written in stand-by; SELF_TEST reads as 0.
        selfTest: SelfTest(
            settings: [Step(0x21, 0x47), Step(0x1B, 0xC0)],
            on: [Step(0x1B, 0x00), Step(0x5D, 0xCA, check: 0), Step(0x1B, 0xC0)],
            off: [Step(0x1B, 0x00), Step(0x5D, 0x00, check: 0)], settle: 150, interval: 11, samples: 10, step: 1 / 4096,
            absolute: true, minimum: (0.1, 0.1, 0.1), maximum: (0.9, 0.9, 0.9),
            source: "KX134-1211 Specifications Rev. 1.0, Table 1; technical reference manual Rev. 4.0 p. 42"),
        errata: [
            "the specifications ask for STPOL = 1 before the self-test, the newer manual for 0, which is taken: the sign of the change does not count"
        ])
}

// NXP (Freescale) MMA8451Q (Rev. 10.3), with FIFO, and MMA8452Q, MMA8453Q (Rev. 10), without: register map section 6,
// FIFO section 6.2 (p. 22 in Rev. 8), AN4073. Cross-checked with the kernel's drivers/iio/accel/mma8452.c.
extension Chip {
    public static let mma8451 = mma845x(
        "mma8451", 0x1A, "MMA8451Q Rev. 10.3", shift: 2, step: 1 / 4096,
        // F_STATUS: F_OVF, F_CNT. Behind the last byte of z the register's number goes back to x.
        fifo: FIFO(
            kind: .burst, depth: 32, register: 0x01, slot: 6,
            level: FIFO.Level(0x00, mask: 0x3F, overrun: 0x80)))

    static let mma8452 = mma845x("mma8452", 0x2A, "MMA8452Q Rev. 10", shift: 4, step: 1 / 1024, fifo: nil)
    static let mma8453 = mma845x("mma8453", 0x3A, "MMA8453Q Rev. 6", shift: 6, step: 1 / 256, fifo: nil)

    @inline(never)
    private static func mma845x(
        _ name: String, _ whoAmI: UInt8, _ source: String, shift: Int, step: Double, fifo: FIFO?
    ) -> Chip {
        Chip(
            name: name, source: source, addresses: [0x1D, 0x1C], identity: [Identity(0x0D, whoAmI)],
            // CTRL_REG2: RST. Chips reset before they acknowledge.
            reset: [Step(0x2B, 0x40, check: 0, wait: 2, mayFail: true)],
            resetDone: Identity(0x2B, 0x00, mask: 0x40),
            // F_SETUP: circular. XYZ_DATA_CFG: range, no high-pass. CTRL_REG2: high resolution (165 µA at every rate).
            // CTRL_REG1: ACTIVE; it has to be set last, the others take effect in standby only.
            start: (fifo == nil ? [] : [Step(0x09, 0x40, .watermark)]) + [
                Step(0x0E, 0x00, .range), Step(0x2B, 0x02), Step(0x2A, 0x01, .rate),
            ],
            sentry: 0x2A,
            rates: [
                Rate(1.56, 0x38), Rate(6.25, 0x30), Rate(12.5, 0x28), Rate(50, 0x20), Rate(100, 0x18), Rate(200, 0x10),
                Rate(400, 0x08), Rate(800, 0x00),
            ],
            ranges: [Range(2, 0, step: step), Range(4, 1, step: 2 * step), Range(8, 2, step: 4 * step)],
            format: Format(bigEndian: true, shift: shift), data: 0x01,
            // STATUS: ZYXDR, ZYXOW.
            ready: Ready(register: 0x00, ready: 0x08, overwritten: 0x80),
            fifo: fifo,
            // CTRL_REG3: INT active high; CTRL_REG5: FIFO on INT1; CTRL_REG4: FIFO.
            interrupt: fifo == nil ? [] : [Step(0x2C, 0x02), Step(0x2E, 0x40), Step(0x2D, 0x40)],
            // The data sheets give typical changes only (181, 255, 1680 counts of 14 bits at ±4 g). An engineer of NXP
            // gives 50 to 1000 counts for x and y, 50 to 6000 for z: 2048 counts per g.
            selfTest: SelfTest(
                settings: [Step(0x0E, 0x01), Step(0x2B, 0x02), Step(0x2A, 0x19)],
                on: [
                    Step(0x2A, 0x18),
                    Step(0x2B, 0x82), Step(0x2A, 0x19),
                ], off: [Step(0x2A, 0x18), Step(0x2B, 0x02)],
                settle: 60, interval: 11, samples: 10, step: 2 * step, absolute: true,
                minimum: (50.0 / 2048, 50.0 / 2048, 50.0 / 2048),
                maximum: (1000.0 / 2048, 1000.0 / 2048, 6000.0 / 2048),
                source: "community.nxp.com td-p/365445, answer of NXP; typical values: MMA8451Q Rev. 10.3"),
            errata: [
                "the reset is not acknowledged by all chips"
            ])
    }
}
