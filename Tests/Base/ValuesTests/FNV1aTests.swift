import Testing
import Values

@Suite struct FNV1aTests {
    /// Published values (http://www.isthe.com/chongo/tech/comp/fnv).
    @Test(
        arguments: [
            ("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8),
        ] as [(String, UInt64)])
    func publishedValues(_ text: String, _ expected: UInt64) {
        var hash = FNV1a()
        hash.add(text)
        #expect(hash.value == expected)
    }

    @Test func aNumberIsItsBytes() {
        var (number, bytes) = (FNV1a(), FNV1a())
        number.add(1.0)
        for byte: UInt8 in [0, 0, 0, 0, 0, 0, 0xF0, 0x3F] { bytes.add(byte) }
        #expect(number.value == bytes.value)
    }
}
