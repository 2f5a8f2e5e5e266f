import Testing
import Values

@Suite struct ValueReadingTests {
    private static let all: [Value] = [
        .null, true, 7, 2.0, 2.5, .double(.nan), .double(.infinity), 1e300, "text", "7", [7], ["a": 7],
    ]

    @Test func aNumberIsFinite() {
        #expect(Self.all.map(\.number) == [nil, nil, 7, 2, 2.5, nil, nil, 1e300, nil, nil, nil, nil])
    }

    @Test func aWholeNumberMayBeWrittenWithAPoint() {
        let expected: [Int64?] = [nil, nil, 7, 2, nil, nil, nil, nil, nil, nil, nil, nil]
        #expect(Self.all.map(\.integer) == expected)
        #expect(Self.all.map(\.whole) == expected.map { $0.map { Int($0) } })
        #expect(Value.int(.max).integer == .max && Value.int(.min).integer == .min)
        // 2⁶³ is one too many.
        #expect(Value.double(9_223_372_036_854_775_808).integer == nil)
    }

    @Test func textAndFlagsAreOnlyThemselves() {
        let texts: [String?] = [nil, nil, nil, nil, nil, nil, nil, nil, "text", "7", nil, nil]
        #expect(Self.all.map(\.rawText) == texts)
        #expect(Self.all.compactMap(\.flag) == [true])
        // As it was sent, whatever that is.
        #expect(Value.string("\u{1B}[2J\0").rawText == "\u{1B}[2J\0")
    }
}
