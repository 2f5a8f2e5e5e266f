import Messages
import Values

/// The tree that the dots in keys stand for.
enum SettingsTree {
    /// For each object of the agent's tree, by its key (empty for the root), the keys that may be in it, in the table's order.
    static let children = children(of: SettingsTable.writableKeys)

    /// The same of the keys of another table.
    static func children(of keys: [String]) -> [String: [String]] {
        var children: [String: [String]] = [:]
        for key in keys {
            var parent = ""
            for part in key.split(separator: ".") {
                let part = String(part)
                if children[parent]?.contains(part) != true { children[parent, default: []].append(part) }
                parent = joined(parent, part)
            }
        }
        return children
    }

    static func joined(_ parent: String, _ key: String) -> String { parent.isEmpty ? key : parent + "." + key }

    /// The value at a key such as `axes.x.filter`.
    static func value(at key: String, in tree: Value) -> Value? {
        var node = tree
        for part in key.split(separator: ".") {
            guard let child = node[String(part)] else { return nil }
            node = child
        }
        return node
    }

    /// The tree with a value put at a key; objects on the way are made.
    static func putting(_ value: Value, at key: some Collection<Substring>, into tree: Value) -> Value {
        guard let first = key.first else { return value }
        var object = tree
        if case .object = tree {} else { object = [:] }
        let child = putting(value, at: key.dropFirst(), into: object[String(first)] ?? [:])
        return object.with(String(first), child)
    }

    /// A tree from keys and values, in their order.
    static func build(_ values: some Sequence<(key: String, value: Value)>) -> Value {
        values.reduce([:]) { putting($1.value, at: $1.key.split(separator: "."), into: $0) }
    }
}

/// JSON Merge Patch (RFC 7396): members of the patch replace members of the target, objects are merged member by
/// member, null takes a member away.
public enum MergePatch {
    /// The target with the patch applied.
    ///
    /// - Parameter isWhole: says of a path (keys from the root) whether the value there is replaced as a whole even
    ///   when it is an object. A filter is one value: half of the old one and half of the new one is no filter.
    public static func apply(
        _ patch: Value, to target: Value, isWhole: ([String]) -> Bool = { _ in false }
    ) -> Value {
        apply(patch, to: target, at: [], isWhole)
    }

    private static func apply(
        _ patch: Value, to target: Value, at path: [String], _ isWhole: ([String]) -> Bool
    ) -> Value {
        guard case .object(let changes) = patch, !isWhole(path) else { return patch }
        var members: [Value.Member] = []
        if case .object(let old) = target { members = old }
        for change in changes {
            let i = members.firstIndex { $0.key == change.key }
            if change.value == .null {
                if let i { members.remove(at: i) }
                continue
            }
            let merged = apply(change.value, to: i.map { members[$0].value } ?? .null, at: path + [change.key], isWhole)
            if let i {
                members[i].value = merged
            } else {
                members.append(.init(change.key, merged))
            }
        }
        return .object(members)
    }
}
