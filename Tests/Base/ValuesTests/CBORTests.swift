import Testing

@testable import Values

/// Against the examples of RFC 8949, appendix A.
@Suite struct CBORTests {
    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count, by: 2).map { at in
            UInt8(String(decoding: digits[at..<at + 2], as: UTF8.self), radix: 16) ?? 0
        }
    }

    private func written(_ write: (inout CBORWriter) -> Void) -> [UInt8] {
        var writer = CBORWriter()
        write(&writer)
        return writer.withBytes { Array($0) }
    }

    @Test(arguments: [
        (0, "00"), (1, "01"), (10, "0a"), (23, "17"), (24, "1818"), (25, "1819"), (100, "1864"), (1000, "1903e8"),
        (1_000_000, "1a000f4240"), (1_000_000_000_000, "1b000000e8d4a51000"), (-1, "20"), (-10, "29"), (-100, "3863"),
        (-1000, "3903e7"), (Int.min, "3b7fffffffffffffff"),
    ])
    func integers(value: Int, hex: String) {
        #expect(written { $0.int(value) } == bytes(hex))
        #expect(CBORReader.read(bytes(hex)) == .int(Int64(value)))
    }

    @Test(arguments: [
        (0.0, "f90000"), (-0.0, "f98000"), (1.1, "fb3ff199999999999a"), (100_000.0, "fa47c35000"),
        (3.4028234663852886e+38, "fa7f7fffff"), (1.0e+300, "fb7e37e43c8800759c"), (-4.1, "fbc010666666666666"),
        // Next to numbers that 32 bits can hold: the bits are kept, not the digits.
        (1.0.nextUp, "fb3ff0000000000001"), (100_000.0.nextDown, "fb40f869ffffffffff"),
        (1 + 1e-10, "fb3ff000000006df38"),
    ])
    func numbers(value: Double, hex: String) throws {
        #expect(written { $0.double(value) } == bytes(hex))
        guard case .double(let read)? = CBORReader.read(bytes(hex)) else {
            Issue.record("no number")
            return
        }
        #expect(read.bitPattern == value.bitPattern)
    }

    @Test(arguments: [
        ("f93c00", 1.0), ("f93e00", 1.5), ("f97bff", 65504), ("f90001", 5.960464477539063e-8),
        ("f90400", 0.00006103515625), ("f9c400", -4.0), ("f97c00", Double.infinity), ("fa7f800000", Double.infinity),
    ])
    func otherNumbersAreRead(hex: String, value: Double) { #expect(CBORReader.read(bytes(hex)) == .double(value)) }

    @Test func whatIsNoNumberIsNull() {
        #expect(written { $0.float(.nan) } == [0xf6])
        #expect(written { $0.double(-.infinity) } == [0xf6])
    }

    @Test(arguments: [
        ("", "60"), ("IETF", "6449455446"), ("\"\\", "62225c"), ("\u{fc}", "62c3bc"), ("\u{6c34}", "63e6b0b4"),
    ])
    func texts(value: String, hex: String) {
        #expect(written { $0.string(value) } == bytes(hex))
        #expect(CBORReader.read(bytes(hex)) == .string(value))
    }

    @Test func composites() {
        #expect(
            CBORReader.read(bytes("826161bf61626163ff")) == .array([.string("a"), .object([.init("b", .string("c"))])]))
        #expect(
            CBORReader.read(bytes("bf6346756ef563416d7421ff"))
                == .object([.init("Fun", .bool(true)), .init("Amt", .int(-2))]))
        #expect(CBORReader.read(bytes("7f657374726561646d696e67ff")) == .string("streaming"))
        #expect(CBORReader.read(bytes("9f018202039f0405ffff")) == CBORReader.read(bytes("83018202039f0405ff")))
        #expect(
            CBORReader.read(bytes("c074323031332d30332d32315432303a30343a30305a")) == .string("2013-03-21T20:04:00Z"))
        let long = written { writer in
            writer.beginArray(count: 25)
            for value in 1...25 { writer.int(value) }
            writer.endArray()
        }
        #expect(long == bytes("98190102030405060708090a0b0c0d0e0f101112131415161718181819"))
    }

    /// Any bytes end in a value or in a refusal, soon.
    @Test func whatIsNotWholeIsRefused() {
        let tree: Value = [
            "text": "ü", "list": [1, -70_000, 0.5, 1.1, true, .null], "object": ["empty": [:], "none": []],
            "long": .string(String(repeating: "x", count: 300)),
        ]
        let whole = written { $0.value(tree) }
        #expect(CBORReader.read(whole) == tree)
        for count in 0..<whole.count { #expect(CBORReader.read(Array(whole.prefix(count))) == nil) }
        #expect(CBORReader.read(whole + [0]) == nil)
        let hostile = [
            "1c", "ff", "5f", "9bffffffffffffffff", "bb7fffffffffffffff", "7bffffffffffffffff", "a10102", "62c328",
            "f8ff",
            "1bffffffffffffffff", "4101", "7f6161",
        ]
        for hex in hostile { #expect(CBORReader.read(bytes(hex)) == nil, "\(hex)") }
        #expect(CBORReader.read([UInt8](repeating: 0x81, count: 100_000)) == nil)
    }
}
