import Messages
import Settings
import TestSupport
import Values

/// Changes that are valid whatever was set before.
enum RandomPatch {
    static func make(_ random: inout SeededGenerator) -> Value {
        func number(_ range: ClosedRange<Int>) -> Value { .int(Int64(Int.random(in: range, using: &random))) }
        func one(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
        let axis = ["all", "x", "y", "z"][Int.random(in: 0..<4, using: &random)]
        var members: [Value.Member] = []
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let member: Value.Member
            switch Int.random(in: 0..<10, using: &random) {
            case 0: member = .init("trace", ["rate_hz": number(1...20), "qos": number(0...1)])
            case 1: member = .init("trace", .null)
            case 2:
                member = .init(
                    "axes",
                    .object([
                        .init(
                            axis, ["detection": ["threshold": .string("\(Int.random(in: 1...50, using: &random)) mg")]])
                    ]))
            case 3: member = .init("axes", .object([.init(axis, ["filter": one(["none", "shake:lp5", "shake:hp5"])])]))
            case 4: member = .init("axes", .object([.init(axis, .null)]))
            case 5: member = .init("health", ["interval_s": number(1...86_400)])
            case 6: member = .init("log", ["level": one(["debug", "info", "warning", .null])])
            case 7:
                member = .init(
                    "station", ["description": .string(String(repeating: "ä\"\\ ", count: 40)), "id": .null])
            case 8: member = .init("sensor", ["rate_hz": number(50...400), "range": one([.null, "4 g", 20])])
            default: member = .init("mqtt", ["keepalive_s": number(5...600), "will_delay_s": .null])
            }
            if !members.contains(where: { $0.key == member.key }) { members.append(member) }
        }
        return .object(members)
    }
}
