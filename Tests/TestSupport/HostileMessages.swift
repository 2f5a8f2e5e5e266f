import Foundation
import Values

/// Messages that somebody makes who wants to break what reads them: a good one with members that are missing, of another
/// type, out of any range, or too many; and bytes that are none. The same in every run.
public struct HostileMessages: Sequence, IteratorProtocol {
    private let good: [Value]
    private var dice: SplitMix64
    private var left: Int

    /// - Parameters:
    ///   - good: what they are made of.
    ///   - count: how many follow.
    public init(_ good: [Value], count: Int, seed: UInt64) {
        (self.good, left, dice) = (good, count, SplitMix64(state: seed))
    }

    /// What the fuzzers have kept, for all who read messages.
    public static func corpora() throws -> [[UInt8]] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../deploy/checks/fuzz-targets/corpus")
        var inputs: [[UInt8]] = []
        for name in ["commands.hex", "feed.hex"] {
            let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            for line in text.split(separator: "\n") {
                var bytes: [UInt8] = []
                var digits = line.utf8.makeIterator()
                while let high = digits.next(), let low = digits.next() {
                    bytes.append(UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16) ?? 0)
                }
                inputs.append(bytes)
            }
        }
        return inputs
    }

    public mutating func next() -> [UInt8]? {
        guard left > 0 else { return nil }
        left -= 1
        var tree = good.randomElement(using: &dice) ?? .null
        for _ in 0..<Int.random(in: 1...3, using: &dice) { tree = changed(tree, depth: 0) }
        var bytes = tree.json()
        // One in eight is none of the JSON that it was.
        guard Int.random(in: 0..<8, using: &dice) == 0, !bytes.isEmpty else { return bytes }
        for _ in 0..<Int.random(in: 1...4, using: &dice) {
            let at = Int.random(in: 0..<bytes.count, using: &dice)
            switch Int.random(in: 0..<3, using: &dice) {
            case 0: bytes[at] = .random(in: 0...255, using: &dice)
            case 1: bytes.insert(Array("0919-e{}[],:\"\\".utf8).randomElement(using: &dice) ?? 0, at: at)
            default: if bytes.count > 1 { bytes.remove(at: at) }
            }
        }
        return bytes
    }

    /// The tree with one place of it changed, on average not far below its root.
    private mutating func changed(_ tree: Value, depth: Int) -> Value {
        switch tree {
        case .object(var members) where !members.isEmpty:
            let at = Int.random(in: 0..<members.count, using: &dice)
            switch Int.random(in: 0..<8, using: &dice) {
            case 0: members.remove(at: at)
            case 1: members[at].value = wild(depth)
            case 2: members[at].key = members.randomElement(using: &dice)?.key ?? "x"
            default: members[at].value = changed(members[at].value, depth: depth + 1)
            }
            var seen: Set<String> = []
            return .object(members.filter { seen.insert($0.key).inserted })
        case .array(var elements) where !elements.isEmpty:
            let at = Int.random(in: 0..<elements.count, using: &dice)
            switch Int.random(in: 0..<6, using: &dice) {
            case 0: elements.remove(at: at)
            case 1: elements.append(wild(depth))
            case 2: elements = Array(repeating: elements[at], count: [0, 2, 300].randomElement(using: &dice) ?? 0)
            default: elements[at] = changed(elements[at], depth: depth + 1)
            }
            return .array(elements)
        default: return wild(depth)
        }
    }

    private static let numbers: [Double] = [
        0, -0.0, 1, -1, 0.5, 9.6, 12.6, 90.000001, -90.1, 180.5, 701, 1e-308, 2.5e-308, 1e19, -1e19, 1e300, -1e308,
        .greatestFiniteMagnitude, 9_007_199_254_740_992, 2_147_483_648, 4_294_967_296,
    ]
    private static let texts = [
        "", " ", "net-", "net-1", "NET-1", "-", "good", "end", "\u{0}x", "\u{1B}[2J", "a\nb", "é", "\u{202E}", "../..",
        "1677-09-21T00:12:43.145224193Z", "2262-04-11T23:47:16.854775807Z", "1970-01-01T00:00:00Z",
        "0000-00-00T00:00:00Z", "9999-12-31T23:59:60Z", String(repeating: "9", count: 70_000),
        String(repeating: "a-", count: 64),
    ]

    private mutating func wild(_ depth: Int) -> Value {
        switch Int.random(in: 0..<10, using: &dice) {
        case 0: return .null
        case 1: return .bool(.random(using: &dice))
        case 2: return .int([.min, .max, 0, -1, 1 << 53, 4_294_967_296].randomElement(using: &dice) ?? 0)
        case 3, 4: return .double(Self.numbers.randomElement(using: &dice) ?? 0)
        case 5, 6: return .string(Self.texts.randomElement(using: &dice) ?? "")
        case 7 where depth < 20:
            return .array((0..<Int.random(in: 0...3, using: &dice)).map { _ in wild(depth + 6) })
        case 8 where depth < 20: return .object([.init("value", wild(depth + 6)), .init("id", wild(depth + 6))])
        default: return .double(.random(in: -1000...1000, using: &dice))
        }
    }
}
