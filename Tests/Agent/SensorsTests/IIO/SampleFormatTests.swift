import Testing

@testable import Sensors

@Suite("IIO: samples of the buffer") struct IIOSampleFormatTests {
    private func decode(_ format: SampleFormat, _ bytes: [UInt8]) -> Int64 {
        bytes.withUnsafeBytes { $0.baseAddress.map(format.decode) ?? .min }
    }

    @Test("le:s12/16>>4 (LIS3DH), be:s12/16>>4 (MMA8452), le:s14/16>>2 (LIS2DW12)")
    func shifted() {
        let lis3dh = SampleFormat(bytes: 2, bits: 12, shift: 4, isSigned: true, isBigEndian: false)
        #expect(decode(lis3dh, [0x0f, 0x40]) == 1024)
        #expect(decode(lis3dh, [0xff, 0xbf]) == -1025)
        #expect(decode(lis3dh, [0x00, 0x80]) == -2048)
        let mma8452 = SampleFormat(bytes: 2, bits: 12, shift: 4, isSigned: true, isBigEndian: true)
        #expect(decode(mma8452, [0x40, 0x0f]) == 1024)
        #expect(decode(mma8452, [0xbf, 0xf0]) == -1025)
        let lis2dw12 = SampleFormat(bytes: 2, bits: 14, shift: 2, isSigned: true, isBigEndian: false)
        #expect(decode(lis2dw12, [0xff, 0x7f]) == 8191)
        #expect(lis2dw12.text == "le:s14/16>>2")
    }

    @Test("be:u12/16>>4 (KXSD9): no sign")
    func unsigned() {
        let format = SampleFormat(bytes: 2, bits: 12, shift: 4, isSigned: false, isBigEndian: true)
        #expect(decode(format, [0xff, 0xff]) == 4095)
        #expect(decode(format, [0x80, 0x00]) == 2048)
    }

    @Test("8, 32 and 64 bits, 20 of 24 bits")
    func widths() {
        #expect(decode(.init(bytes: 1, bits: 8, shift: 0, isSigned: true, isBigEndian: false), [0x80]) == -128)
        #expect(decode(.init(bytes: 1, bits: 6, shift: 2, isSigned: true, isBigEndian: false), [0x7c]) == 31)
        let wide = SampleFormat(bytes: 4, bits: 20, shift: 12, isSigned: true, isBigEndian: true)
        #expect(decode(wide, [0x80, 0x00, 0x0f, 0xff]) == -524_288)
        #expect(decode(wide, [0x7f, 0xff, 0xf0, 0x00]) == 524_287)
        let full = SampleFormat(bytes: 4, bits: 32, shift: 0, isSigned: false, isBigEndian: false)
        #expect(decode(full, [0xff, 0xff, 0xff, 0xff]) == 4_294_967_295)
        let stamp = SampleFormat(bytes: 8, bits: 64, shift: 0, isSigned: true, isBigEndian: false)
        #expect(decode(stamp, [0x15, 0xcd, 0x5b, 0x07, 0, 0, 0, 0x80]) == Int64.min + 123_456_789)
    }

    @Test(
        "Formats that cannot be decoded are told",
        arguments: [
            SampleFormat(bytes: 3, bits: 24, shift: 0, isSigned: true, isBigEndian: false),
            SampleFormat(bytes: 2, bits: 16, shift: 4, isSigned: true, isBigEndian: false),
            SampleFormat(bytes: 2, bits: 0, shift: 0, isSigned: true, isBigEndian: false),
            SampleFormat(bytes: 16, bits: 64, shift: 0, isSigned: true, isBigEndian: false),
        ])
    func unusable(format: SampleFormat) { #expect(!format.isUsable) }

    @Test("A layout whose elements lie beyond the scan is refused")
    func layout() {
        let format = SampleFormat(bytes: 2, bits: 16, shift: 0, isSigned: true, isBigEndian: false)
        var layout = ScanLayout(
            x: .init(offset: 0, format: format), y: .init(offset: 2, format: format),
            z: .init(offset: 4, format: format), stamp: nil, step: 6)
        #expect(layout.isUsable)
        layout.z.offset = 5
        #expect(!layout.isUsable)
    }

    @Test("Offset is added before the scale (KXSD9: 0 g is 2048 counts)")
    func conversion() {
        var conversion = Conversion()
        conversion.scale = SIMD3(repeating: 0.5)
        conversion.offset = SIMD3(-2048, -2048, 0)
        let value = conversion.apply(2048, 2050, -2)
        #expect(value == (0, 1, -1))
    }
}
