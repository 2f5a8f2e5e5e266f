import Messages
import Values

/// Reads the fields of a small object inside a setting, such as a filter's, and notices those that do not belong.
struct Fields {
    let members: [Value.Member]
    let path: String

    /// Nil, with the reason among the findings, when the value is not an object or has other keys.
    init?(_ value: Value, at path: String, keys: [String], _ findings: inout Findings) {
        guard case .object(let members) = value else {
            findings.wrongType(path, "an object", got: value, allowed: "an object with \(keys.joined(separator: ", "))")
            return nil
        }
        self.members = members
        self.path = path
        var isClean = true
        for member in members where !keys.contains(member.key) {
            isClean = false
            findings.add(.unknownKey(member, in: keys, at: path))
        }
        if !isClean { return nil }
    }

    func has(_ key: String) -> Bool { members.contains { $0.key == key } }

    /// A field that may be left out when it has a default.
    func read<T>(_ key: String, _ codec: Codec<T>, default standard: T? = nil, _ findings: inout Findings) -> T? {
        guard let member = members.first(where: { $0.key == key }) else {
            if standard == nil {
                findings.add(path, .type, "The key `\(key)` is missing.", allowed: "\(key): \(codec.allowed)")
            }
            return standard
        }
        return codec.decode(member.value, JSONPointer.appending(key, to: path), &findings)
    }
}

extension CodedError {
    /// A key that does not exist where it was found.
    static func unknownKey(_ member: Value.Member, in known: [String], at path: String) -> CodedError {
        let nearest = Spelling.nearest(to: member.key, in: known)
        let shown = member.key.count > 80 ? member.key.prefix(80) + "…" : member.key[...]
        return CodedError(
            JSONPointer.appending(String(shown), to: path), .unknownKey, "There is no key `\(shown)` here.",
            allowed: known.joined(separator: ", "), nearest: nearest)
    }
}

/// Which word was meant.
public enum Spelling {
    /// The known word with the fewest edits, if they are few for its length; the beginning of a word means that word.
    public static func nearest(to word: String, in known: [String]) -> String? {
        let letters = Array(word.unicodeScalars)
        guard letters.count <= 64 else { return nil }
        var best: (word: String, distance: Int)?
        for candidate in known {
            let begins = letters.count > 2 && candidate.hasPrefix(word)
            let distance = begins ? 1 : edits(letters, Array(candidate.unicodeScalars))
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        guard let best, best.distance <= max(2, best.word.count / 3) else { return nil }
        return best.word
    }

    /// Levenshtein's distance, with one for a swap of neighbours.
    static func edits(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
        var before: [Int] = []
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var cost = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, before[j - 1] + 1) }
                row.append(cost)
            }
            (before, last) = (last, row)
        }
        return last[b.count]
    }
}
