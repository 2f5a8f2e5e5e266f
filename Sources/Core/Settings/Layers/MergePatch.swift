import Values

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
