// InvenSense MPU-6000/MPU-6050. Register map RM-MPU-6000A-00 r4.2 (self-test p. 9 to 11), product specification
// PS-MPU-6000A-00 r3.4 (p. 13, 27). Cross-checked with the kernel's drivers/iio/imu/inv_mpu6050.
extension Chip {
    public static let mpu6050 = Chip(
        name: "mpu6050", lookalikes: "mpu6000, mpu9150", source: "RM-MPU-6000A-00 r4.2, PS-MPU-6000A-00 r3.4",
        addresses: [0x68, 0x69],
        // Bits 6 to 1 only.
        identity: [Identity(0x75, 0x68, mask: 0x7E)],
        reset: mpuReset, resetDone: mpuResetDone,
        start: mpuStart + mpuFIFOStart,
        sentry: 0x23,
        rates: mpuRates, ranges: mpuRanges, format: Format(bigEndian: true), data: 0x3B,
        fifo: mpuFIFO(bytes: 1024, slot: 6),
        temperature: Temperature(register: 0x41, bigEndian: true, scale: 340, offset: 36.53),
        selfTest: SelfTest(
            settings: [
                Step(0x6B, 0x01, wait: 50), Step(0x6C, 0x00), Step(0x19, 0x07), Step(0x1A, 0x03), Step(0x1C, 0x10),
            ],
            on: [Step(0x1C, 0xF0)], off: [Step(0x1C, 0x10)], settle: 100, interval: 9, samples: 20, step: 1 / 4096,
            minimum: (-14, -14, -14), maximum: (14, 14, 14), expected: .factory6050,
            source: "RM-MPU-6000A-00 r4.2 p. 11; limits PS-MPU-6000A-00 r3.4, accelerometer specifications"),
        errata: [
            "the FIFO's 1024 bytes are not a whole number of samples: after an overrun it is emptied, else the axes are mixed up"
        ])

    // PWR_MGMT_1: DEVICE_RESET, which clears itself; 100 ms (RM r4.2, register 107).
    static let mpuReset = [Step(0x6B, 0x80, check: 0, wait: 100, mayFail: true)]
    static let mpuResetDone = Identity(0x6B, 0x00, mask: 0x80)

    // PWR_MGMT_1: awake, clock from the gyroscope's PLL (±1 %), which keeps the rate steadier than the chip's own
    // oscillator (±5 %); PWR_MGMT_2: gyroscope x stays on for it, y and z are off.
    // SMPLRT_DIV: rate = 1000 / (1 + divider) with the low-pass on. CONFIG: DLPF_CFG. ACCEL_CONFIG: AFS_SEL.
    static let mpuStart = [
        Step(0x6B, 0x01, wait: 50), Step(0x6C, 0x03), Step(0x19, 0x00, .rate), Step(0x1A, 0x00, .more),
        Step(0x1C, 0x00, .range),
    ]
    // USER_CTRL: FIFO_RESET (clears itself), FIFO_EN; FIFO_EN: accelerometer.
    static let mpuFIFOStart = [Step(0x6A, 0x04, check: 0, wait: 1), Step(0x6A, 0x40), Step(0x23, 0x08)]

    // The low-pass (184, 94, 44, 21, 10, 5 Hz for 1 to 6) stays below half the rate, but at 5 Hz.
    static let mpuRates = [
        Rate(5, 199, 6), Rate(10, 99, 6), Rate(20, 49, 5), Rate(25, 39, 5), Rate(50, 19, 4), Rate(100, 9, 3),
        Rate(125, 7, 3), Rate(200, 4, 2), Rate(250, 3, 2), Rate(1000 / 3, 2, 2), Rate(500, 1, 1), Rate(1000, 0, 1),
    ]

    static let mpuRanges = [
        Range(2, 0x00, step: 1 / 16384), Range(4, 0x08, step: 1 / 8192), Range(8, 0x10, step: 1 / 4096),
        Range(16, 0x18, step: 1 / 2048),
    ]

    /// FIFO_COUNT, two bytes with the high one first, counts bytes; FIFO_R_W; INT_STATUS: FIFO_OFLOW_INT. It has no
    /// watermark.
    static func mpuFIFO(bytes: Int, slot: Int) -> FIFO {
        FIFO(
            kind: .burst, depth: bytes / slot, register: 0x74, slot: slot,
            level: FIFO.Level(0x72, bytes: 2, bigEndian: true, mask: 0x1FFF, unit: slot),
            overrun: Identity(0x3A, 0x10, mask: 0x10), watermarkLargest: 255,
            flush: [Step(0x6A, 0x04, check: 0, wait: 1), Step(0x6A, 0x40, check: 0)], flushAfterOverrun: true)
    }
}

// InvenSense MPU-6500, MPU-9250 and what came after them: read as the MPU-6050, with a low-pass of its own for the
// accelerometer. Register map RM-MPU-6500A-00 r2.1, RM-MPU-9250A-00 r1.6, ICM-20602 DS-000176 r1.1, MPU-6886
// DS-000193 r1.1; self-test AN-MPU-9250A-03 r1.0. WHO_AM_I and FIFO sizes cross-checked with the kernel's
// drivers/iio/imu/inv_mpu6050. Sections, not pages, are meant: the pages were not at hand.
extension Chip {
    public static let mpu6500 = mpuFamily("mpu6500", 0x70, "RM-MPU-6500A-00 r2.1")
    static let mpu9250 = mpuFamily("mpu9250", 0x71, "RM-MPU-9250A-00 r1.6")
    static let mpu9255 = mpuFamily("mpu9255", 0x73, "RM-MPU-9255 r1.1")
    static let icm20608 = mpuFamily("icm20608", 0xAF, "ICM-20608-G RM-000030 r1.0", scale: 326.8, offset: 25)

    // Chips from ICM-20600 on put the temperature behind each sample: ACCEL_FIFO_EN writes both.
    static let icm20600 = mpuFamily(
        "icm20600", 0x11, "ICM-20600 DS-000184 r1.0", bytes: 1008, slot: 8, scale: 326.8, offset: 25)
    static let icm20602 = mpuFamily(
        "icm20602", 0x12, "ICM-20602 DS-000176 r1.1", bytes: 1008, slot: 8, scale: 326.8, offset: 25)
    /// MPU-6886. Its register map says that its FIFO is as the ICM-20602's; no chip was at hand.
    static let mpu6886 = mpuFamily(
        "mpu6886", 0x19, "MPU-6886 DS-000193 r1.1", bytes: 1008, slot: 8, scale: 326.8, offset: 25)

    @inline(never)
    private static func mpuFamily(
        _ name: String, _ whoAmI: UInt8, _ source: String, bytes: Int = 512, slot: Int = 6, scale: Double = 333.87,
        offset: Double = 21
    ) -> Chip {
        Chip(
            name: name, source: source, addresses: [0x68, 0x69], identity: [Identity(0x75, whoAmI)], reset: mpuReset,
            resetDone: mpuResetDone,
            // CONFIG: 92 Hz for the gyroscope, so that the rate is 1 kHz; ACCEL_CONFIG2: A_DLPF_CFG, whose 1 to 6 are 184
            // (218 in later chips), 92 (99), 41 (45), 20 (21), 10, 5 Hz.
            start: [
                Step(0x6B, 0x01, wait: 50), Step(0x6C, 0x03), Step(0x19, 0x00, .rate), Step(0x1A, 0x02, check: 0x7F),
                Step(0x1C, 0x00, .range), Step(0x1D, 0x00, .more),
            ] + mpuFIFOStart,
            sentry: 0x23, rates: mpuRates, ranges: mpuRanges, format: Format(bigEndian: true), data: 0x3B,
            fifo: mpuFIFO(bytes: bytes, slot: slot),
            temperature: Temperature(register: 0x41, bigEndian: true, scale: scale, offset: offset),
            // 1 kHz, 92 Hz, ±2 g; the change over the factory's value is between a half and one and a half.
            selfTest: SelfTest(
                settings: [
                    Step(0x6B, 0x01, wait: 50), Step(0x6C, 0x00), Step(0x19, 0x00), Step(0x1A, 0x02), Step(0x1C, 0x00),
                    Step(0x1D, 0x02),
                ],
                on: [Step(0x1C, 0xE0)], off: [Step(0x1C, 0x00)], settle: 25, interval: 1, samples: 200,
                step: 1 / 16384, minimum: (-50, -50, -50), maximum: (50, 50, 50), expected: .factory6500,
                source: "AN-MPU-9250A-03 r1.0, section 3"),
            errata: ["the FIFO is not a whole number of samples: after an overrun it is emptied"])
    }
}
