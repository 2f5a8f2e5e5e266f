import Testing
import Values

@Suite struct CRC32CTests {
    @Test func theStandardsExample() {
        Array("123456789".utf8).withUnsafeBytes { #expect(CRC32C.checksum($0) == 0xE306_9283) }
    }

    @Test func whatIsLeftOutCountsAsZero() {
        let whole = Array("12\0\056789".utf8)
        let sum = Array("123456789".utf8).withUnsafeBytes { CRC32C.checksum($0, zeroed: 2..<4) }
        #expect(sum == whole.withUnsafeBytes { CRC32C.checksum($0) })
    }
}
