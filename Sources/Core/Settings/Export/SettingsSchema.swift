import Messages
import SignalProcessing
import Values

/// The JSON Schema (2020-12) of a settings file, made from the table.
///
/// It accepts what the decoder accepts, apart from rules between settings and the range of quantities written with a
/// unit. Beside the standard keywords each setting has `x-apply` (when a change takes effect), `x-remote`, `x-secret`
/// and, for bare numbers, `x-unit`; `x-advanced` marks what most stations never need. `title` names settings and groups
/// for people.
public enum SettingsSchema {
    public static let value: Value = {
        let (root, axis) = trees()
        var properties: [Value.Member] = []
        let groups = SettingsTree.children.keys.filter { !$0.isEmpty }.sorted()
        for chapter in SettingsTable.chapters {
            var schema: Value
            if chapter.key == "axes" {
                let one: Value = ["$ref": "#/$defs/axis"]
                schema = object(["all", "x", "y", "z"].map { .init($0, one) })
            } else {
                schema = root.schema(of: chapter.key)
            }
            properties.append(
                .init(
                    chapter.key,
                    schema.with("title", .string(chapter.title)).with("description", .string(chapter.help))))
        }
        properties.append(
            .init(
                "locked",
                [
                    "type": "array",
                    "items": [
                        "enum": .array(
                            (SettingsTable.writableKeys + groups + [Settings.updateLock]).map { .string($0) })
                    ],
                    "title": "Locked settings",
                    "description":
                        "Keys, or groups of keys, that may not be set remotely; `update`: no updates by a command.",
                ]))
        properties.append(
            .init(
                "unlocked",
                [
                    "type": "array", "items": ["enum": .array(SettingsTable.unlockableKeys.map { .string($0) })],
                    "title": "Unlocked settings",
                    "description": "Keys that may be set remotely, though that is not usual.",
                ]))
        let head: Value = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:seismote:settings:1",
            "title": "Settings of a Seismote station",
            "$comment":
                "Not said here: rules between settings, and the range of a quantity that is written with a unit.",
        ]
        guard case .object(let members) = head, case .object(let body) = object(properties) else { return head }
        return .object(
            members + body + [
                .init(
                    "$defs",
                    [
                        "axis": axis, "filter": Codec<FilterSpecification>.filterDefinition,
                        "filter_stage": Codec<FilterSpecification>.filterStageDefinition,
                    ])
            ])
    }()

    /// The schema of one setting with its annotations.
    static func annotated(_ setting: Setting<some SettingsRoot>) -> Value {
        var schema = setting.valueSchema
        if !setting.title.isEmpty { schema = schema.with("title", .string(setting.title)) }
        schema =
            schema.with("description", .string(setting.help))
            .with("default", setting.standard == .null && !setting.takesNull ? nil : setting.standard)
            .with("x-apply", .string(setting.apply.rawValue)).with("x-remote", .bool(setting.isRemote))
            .with("x-secret", .bool(setting.isSecret))
        if let unit = setting.unit { schema = schema.with("x-unit", .string(unit)) }
        if setting.isAdvanced { schema = schema.with("x-advanced", true) }
        return schema
    }

    /// The schema of an object by the rows of a table.
    /// - Parameter levels: first parts of the keys that are left out.
    static func object(by rows: [Setting<some SettingsRoot>], below levels: Int = 0) -> Value {
        var group = Group()
        for row in rows { group.insert(row.key.split(separator: ".").dropFirst(levels), annotated(row)) }
        return group.schema()
    }

    static func object(_ properties: [Value.Member]) -> Value {
        ["type": "object", "additionalProperties": false, "properties": .object(properties)]
    }

    /// Groups of settings, for all chapters and for one axis.
    private static func trees() -> (root: Group, axis: Value) {
        var root = Group()
        var axis = Group()
        for setting in SettingsTable.settings {
            let parts = setting.key.split(separator: ".")
            if setting.isPerAxis {
                axis.insert(parts.dropFirst(2), annotated(setting))
            } else {
                root.insert(parts[...], annotated(setting))
            }
        }
        for chapter in SettingsTable.chapters {
            for (section, title) in chapter.sections {
                let path = section.split(separator: ".")
                if chapter.key == "axes" {
                    axis.entitle(path[...], title)
                } else {
                    root.entitle([Substring(chapter.key)] + path, title)
                }
            }
        }
        return (root, axis.schema())
    }
}

/// An object of the schema while it is put together.
private struct Group {
    enum Child {
        case leaf(Value)
        case group(Group)
    }
    var children: [(key: String, child: Child)] = []
    var title: String?

    /// Names the group at that path.
    mutating func entitle(_ path: ArraySlice<Substring>, _ title: String) {
        guard let key = path.first else { return self.title = title }
        for i in children.indices where children[i].key == key {
            guard case .group(var group) = children[i].child else { continue }
            group.entitle(path.dropFirst(), title)
            children[i].child = .group(group)
        }
    }

    mutating func insert(_ path: ArraySlice<Substring>, _ schema: Value) {
        guard let key = path.first.map(String.init) else { return }
        if path.count == 1 { return children.append((key, .leaf(schema))) }
        let i = children.firstIndex { $0.key == key }
        var group = Group()
        if let i, case .group(let old) = children[i].child { group = old }
        group.insert(path.dropFirst(), schema)
        if let i {
            children[i].child = .group(group)
        } else {
            children.append((key, .group(group)))
        }
    }

    func schema() -> Value {
        let schema = SettingsSchema.object(
            children.map { key, child in
                switch child {
                case .leaf(let schema): .init(key, schema)
                case .group(let group): .init(key, group.schema())
                }
            })
        return title.map { schema.with("title", .string($0)) } ?? schema
    }

    func schema(of key: String) -> Value {
        guard case .group(let group)? = children.first(where: { $0.key == key })?.child else {
            return SettingsSchema.object([])
        }
        return group.schema()
    }
}
