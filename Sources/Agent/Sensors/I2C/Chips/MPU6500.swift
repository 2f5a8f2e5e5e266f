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
