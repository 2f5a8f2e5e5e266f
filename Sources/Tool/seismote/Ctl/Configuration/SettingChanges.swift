import Settings
import Values

/// Differences between two trees of settings, setting by setting.
struct SettingChanges {
    struct Change {
        var path: [String]
        /// Nil: not there.
        var old: Value?
        var new: Value?
        var key: String { path.joined(separator: ".") }
    }

    private(set) var changes: [Change] = []

    init(from old: Value, to new: Value) { compare(old, new, []) }

    var isEmpty: Bool { changes.isEmpty }

    /// As a merge patch; what is not there any more becomes null, its default.
    var patch: Value {
        changes.reduce([:]) { Self.putting($1.new ?? .null, at: $1.path[...], into: $0) }
    }

    /// Two lines for each, in the order of the new tree: `- trace.rate_hz: 20`, `+ trace.rate_hz: 10`.
    var text: String {
        changes.map { change in
            let key = safe(change.key)
            let before = change.old.map { "- \(key): \(safe(YAMLDocument.line($0)))\n" } ?? ""
            return before + "+ \(key): " + (change.new.map { safe(YAMLDocument.line($0)) } ?? "(default)")
        }.joined(separator: "\n")
    }

    private mutating func compare(_ old: Value?, _ new: Value?, _ path: [String]) {
        if let before = old?.members, let after = new?.members,
            SettingsTable.setting(path.joined(separator: ".")) == nil
        {
            for member in after { compare(old?[member.key], member.value, path + [member.key]) }
            for member in before where new?[member.key] == nil { compare(member.value, nil, path + [member.key]) }
        } else if !Self.same(old, new) {
            // A group that has gone goes setting by setting: null for a group the station may not take.
            if new == nil, let before = old?.members, SettingsTable.setting(path.joined(separator: ".")) == nil {
                for member in before { compare(member.value, nil, path + [member.key]) }
            } else {
                changes.append(Change(path: path, old: old, new: new))
            }
        }
    }

    /// Equal, 20 and 20.0 as well.
    private static func same(_ a: Value?, _ b: Value?) -> Bool {
        switch (a, b) {
        case (nil, nil): true
        case (.array(let a)?, .array(let b)?): a.count == b.count && zip(a, b).allSatisfy { same($0, $1) }
        case (.object(let a)?, .object(let b)?):
            a.count == b.count && a.allSatisfy { one in same(one.value, b.first { $0.key == one.key }?.value) }
        case (let a?, let b?): a == b || a.number != nil && a.number == b.number
        default: false
        }
    }

    private static func putting(_ value: Value, at path: ArraySlice<String>, into tree: Value) -> Value {
        guard let first = path.first else { return value }
        var members = tree.members ?? []
        let i = members.firstIndex { $0.key == first }
        let child = putting(value, at: path.dropFirst(), into: i.map { members[$0].value } ?? [:])
        if let i { members[i].value = child } else { members.append(.init(first, child)) }
        return .object(members)
    }
}
