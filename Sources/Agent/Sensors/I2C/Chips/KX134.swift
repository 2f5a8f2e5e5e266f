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
