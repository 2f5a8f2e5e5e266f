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
