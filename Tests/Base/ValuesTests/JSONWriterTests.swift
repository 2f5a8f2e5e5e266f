import Foundation
import TestSupport
import Testing

@testable import Values

private func text(_ body: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    body(&writer)
    return String(decoding: writer.bytes, as: UTF8.self)
}

@Suite struct JSONWriterTests {
    @Test func commasStandBetweenMembersAndElements() {
        let json = text {
            $0.beginObject()
            $0.key("a")
            $0.beginArray()
            $0.int(1)
            $0.beginObject()
            $0.endObject()
            $0.beginArray()
            $0.endArray()
            $0.null()
            $0.endArray()
            $0.key(text: "b\"")
            $0.bool(true)
            $0.key("c")
            $0.string(literal: "d")
            $0.endObject()
        }
        #expect(json == #"{"a":[1,{},[],null],"b\"":true,"c":"d"}"#)
    }

    @Test func removingAllKeepsNothingOfTheMessageBefore() {
        var writer = JSONWriter()
        writer.beginArray()
        writer.int(1)
        writer.removeAll()
        writer.bool(false)
        #expect(writer.bytes == Array("false".utf8))
    }

    @Test(arguments: [
        ("plain", #""plain""#), ("", #""""#), (#"a"b\c"#, #""a\"b\\c""#), ("\u{8}\t\n\u{c}\r", #""\b\t\n\f\r""#),
        ("\u{0}\u{1f}\u{7f}", "\"\\u0000\\u001f\\u007f\""), ("é€😀/", "\"é€😀/\""),
        // C1, marks that turn the direction of text, separators of lines: they went out as they were, and
        // `seismote ctl --json` handed them to the terminal.
        ("\u{80}\u{9b}31m\u{9f}\u{a0}", "\"\\u0080\\u009b31m\\u009f\u{a0}\""),
        ("\u{61b}\u{61c}\u{61d}", "\"\u{61b}\\u061c\u{61d}\""),
        ("\u{200d}\u{200e}\u{200f}\u{2010}", "\"\u{200d}\\u200e\\u200f\u{2010}\""),
        ("\u{2027}\u{2028}\u{202e}\u{202f}", "\"\u{2027}\\u2028\\u202e\u{202f}\""),
        ("\u{2065}\u{2066}\u{2069}\u{206a}", "\"\u{2065}\\u2066\\u2069\u{206a}\""),
    ])
    func stringsAreEscaped(_ plain: String, _ expected: String) throws {
        let json = text { $0.string(plain) }
        #expect(json == expected)
        let back = try JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed)
        #expect(back as? String == plain)
    }

    /// The same set everywhere: what is unprintable is escaped, and nothing else.
    @Test func exactlyTheUnprintableIsEscaped() {
        for value in UInt32(0)..<0x3100 {
            guard let scalar = Unicode.Scalar(value), value != 0x22, value != 0x5c else { continue }
            let json = text { $0.string(String(scalar)) }
            #expect((json == "\"\(scalar)\"") != scalar.isUnprintable, "\(value)")
            if scalar.isUnprintable, !scalar.isASCII { #expect(json == "\"\(scalar.escape)\"") }
        }
    }

    /// Digests are made of RFC 8785's form, in which only what JSON forbids is escaped.
    @Test func theCanonicalFormKeepsItsBytes() {
        let value = Value.object([.init("\u{9b}", .string("\u{202e}\u{1}\u{7f}"))])
        #expect(String(decoding: value.canonicalJSON(), as: UTF8.self) == "{\"\u{9b}\":\"\u{202e}\\u0001\u{7f}\"}")
        #expect(String(decoding: value.json(), as: UTF8.self) == #"{"\u009b":"\u202e\u0001\u007f"}"#)
    }

    @Test(
        arguments: [
            (0, "0"), (7, "7"), (10, "10"), (-1, "-1"), (Int64.max, "9223372036854775807"),
            (Int64.min, "-9223372036854775808"), (1_000_000, "1000000"),
        ] as [(Int64, String)])
    func integers(_ number: Int64, _ expected: String) {
        #expect(text { $0.int(number) } == expected)
    }

    @Test func theLargestUnsignedIntegerFits() {
        #expect(text { $0.int(UInt64.max) } == "18446744073709551615")
    }

    @Test(
        arguments: [
            (0, "0.0"), (-0.0, "-0.0"), (5, "5.0"), (-5, "-5.0"), (0.1, "0.1"), (1e-5, "1e-05"), (1e16, "1e+16"),
            (100, "100.0"),
            (9.80665, "9.80665"), (.leastNonzeroMagnitude, "5e-324"),
            (1.7976931348623157e308, "1.7976931348623157e+308"),
            (10.5, "10.5"),
            (.nan, "null"), (.infinity, "null"), (-.infinity, "null"), (1e15, "1000000000000000.0"),
        ] as [(Double, String)])
    func doubles(_ number: Double, _ expected: String) {
        #expect(text { $0.double(number) } == expected)
    }

    @Test(
        arguments: [
            (0, "0.0"), (-0.0, "-0.0"), (5, "5.0"), (0.1, "0.1"), (9.80665, "9.80665"), (1e-5, "1e-05"), (.nan, "null"),
            (.infinity, "null"), (3.4028235e38, "3.4028235e+38"), (16_777_216, "16777216.0"),
        ] as [(Float, String)])
    func floats(_ number: Float, _ expected: String) {
        #expect(text { $0.float(number) } == expected)
    }

    /// Every bit pattern reads back, and another reader (Foundation's) takes the text as JSON.
    @Test func numbersReadBackToTheSameBits() throws {
        var generator = SplitMix64(state: 7)
        let patterns = (0..<20_000).map { _ in generator.next() }
        let doubles = patterns.map { Double(bitPattern: $0) }.filter(\.isFinite)
        let floats = patterns.map { Float(bitPattern: UInt32(truncatingIfNeeded: $0)) }.filter(\.isFinite)
        let readBack = doubles.allSatisfy { number in
            Double(text { $0.double(number) })?.bitPattern == number.bitPattern
        }
        #expect(readBack)
        let floatsReadBack = floats.allSatisfy { number in
            Float(text { $0.float(number) })?.bitPattern == number.bitPattern
        }
        #expect(floatsReadBack)
        let list = text {
            $0.beginArray()
            for double in doubles { $0.double(double) }
            $0.endArray()
        }
        let back = try #require(try JSONSerialization.jsonObject(with: Data(list.utf8)) as? [Double])
        // Foundation itself rounds some of them in the last place.
        let near = back.count == doubles.count && zip(back, doubles).allSatisfy { abs($0 / $1 - 1) < 1e-14 }
        #expect(near)
    }

    /// The ratio of a shock to a sensor that gave zeros was written as null: a 32-bit float cannot hold it.
    @Test func whatIsLargerThanASingleFloatIsTheLargest() {
        let written = text {
            $0.isSingle = true
            $0.beginArray()
            for number in [1e39, -1e300, .infinity, .nan] { $0.double(number) }
            $0.endArray()
        }
        #expect(written == "[3.4028235e+38,-3.4028235e+38,null,null]")
    }
}

@Suite struct ValueJSONTests {
    @Test func aTreeKeepsTheOrderOfItsKeys() {
        let tree = Value.object([
            .init("b", .array([.null, .bool(true), .int(-3), .double(2.5)])), .init("a", .string("x\ny")),
        ])
        #expect(String(decoding: tree.json(), as: UTF8.self) == #"{"b":[null,true,-3,2.5],"a":"x\ny"}"#)
        #expect(String(decoding: tree.canonicalJSON(), as: UTF8.self) == #"{"a":"x\ny","b":[null,true,-3,2.5]}"#)
    }

    /// RFC 8785, section 3.2.3.
    @Test func canonicalMembersAreSortedByUTF16() {
        let keys = ["\u{20ac}", "\r", "\u{fb33}", "1", "\u{1f600}", "\u{80}", "\u{f6}"]
        let tree = Value.object(keys.map { .init($0, .int(0)) })
        let expected = ["\\r", "1", "\u{80}", "\u{f6}", "\u{20ac}", "\u{1f600}", "\u{fb33}"]
        #expect(
            String(decoding: tree.canonicalJSON(), as: UTF8.self)
                == "{" + expected.map { "\"\($0)\":0" }.joined(separator: ",") + "}")
    }

    /// RFC 8785, appendix B.
    @Test(
        arguments: [
            (0x0000_0000_0000_0000, "0"), (0x8000_0000_0000_0000, "0"), (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"), (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"), (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"), (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"), (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"), (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"), (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"), (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"), (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"), (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
            (0x7ff0_0000_0000_0000, "null"),
        ] as [(UInt64, String)])
    func canonicalNumbers(_ bits: UInt64, _ expected: String) {
        let text = String(decoding: Value.double(Double(bitPattern: bits)).canonicalJSON(), as: UTF8.self)
        #expect(text == expected)
    }
}
