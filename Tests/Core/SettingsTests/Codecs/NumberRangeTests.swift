import Messages
import Testing
import Values

@testable import Settings

/// Whole numbers, bare numbers and quantities refuse by one rule: another type first, then what is out of range.
@Suite struct NumberRangeTests {
    private static func read<T>(_ codec: Codec<T>, _ value: Value) -> (value: T?, error: CodedError?, count: Int) {
        var findings = Findings()
        let number = codec.decode(value, "/a", &findings)
        return (number, findings.errors.first, findings.errors.count)
    }

    private static let outside: [Value] = [4, -1, .int(.max), .int(.min), .double(1e300), .double(3.5)]

    @Test func endsAreInside() {
        for number in [1, 2, 3] {
            #expect(Self.read(.integer(1...3), .int(Int64(number))).value == number)
            #expect(Self.read(.number(.from(1, to: 3)), .int(Int64(number))).value == Double(number))
            #expect(Self.read(.time(.from(1, to: 3)), .string("\(number) s")).value == Double(number))
        }
        #expect(Self.read(.integer(1...3), .double(2)).value == 2)
        #expect(Self.read(.number(.above(1, to: 3)), 1).value == nil)
        #expect(Self.read(.time(.above(1, to: 3)), "1000 ms").error?.got == "1000 ms")
    }

    @Test func whatIsOutside() {
        for value in Self.outside {
            let found = [
                Self.read(.number(.from(1, to: 3), unit: "s"), value).error,
                Self.read(.time(.from(1, to: 3)), value).error,
            ]
            for error in found {
                let expected = CodedError("/a", .range, "This value is out of range.", got: value, allowed: "1…3 s")
                #expect(error == expected, "\(value)")
            }
        }
        for value: Value in [0, 4, .int(.max), .int(.min)] {
            let expected = CodedError("/a", .range, "This value is out of range.", got: value, allowed: "1…3")
            let found = Self.read(.integer(1...3), value)
            #expect(found.error == expected && found.count == 1 && found.value == nil, "\(value)")
        }
    }

    @Test func whatIsNoNumber() {
        for value: Value in [.null, true, [], ["x": 1]] {
            let names = [
                Self.read(.integer(1...3), value).error, Self.read(.number(.from(1, to: 3)), value).error,
                Self.read(.time(.from(1, to: 3)), value).error,
            ].map { $0?.message.split(separator: ",").first }
            #expect(
                names == ["This must be a whole number", "This must be a number", "This must be a time"], "\(value)")
        }
        #expect(Self.read(.number(.from(1, to: 3)), "2").error?.code == .type)
        #expect(Self.read(.integer(1...3), 2.5).error?.message == "This must be a whole number.")
    }
}
