import Messages
import Values

/// One source of settings, taken apart by the table: what it gives for which key, and what is wrong with it.
struct Layer {
    struct Given {
        var setting: StationSetting
        /// With `all` spread: `axes.x.filter`.
        var key: String
        var axis: Int
        /// As it was written; null takes the key back to its default.
        var value: Value
        /// Where it was written: `/axes/all/filter`.
        var pointer: String
    }

    let source: SettingSource
    let document: Document
    private(set) var given: [Given] = []
    /// Keys, or groups of keys, that may not be set remotely; only in files.
    private(set) var locked: [String] = []
    /// Keys that may be set remotely, though that is not usual; only in files.
    private(set) var unlocked: [String] = []

    init(_ source: SettingSource, _ document: Document, _ findings: inout Findings) {
        self.source = source
        self.document = document
        let start = findings.errors.count
        var reader = LayerReader(
            nullResets: source == .overlay || source == .commandLine, mayLock: source == .file || source == .preset)
        reader.group(document.root, key: "", pointer: "", &findings)
        // `all` first, so that x, y and z win wherever they stand.
        for (setting, key, value, pointer) in reader.leaves where key == setting.key && setting.isPerAxis {
            given += setting.concreteKeys.map {
                Given(setting: setting, key: $0.key, axis: $0.axis, value: value, pointer: pointer)
            }
        }
        for (setting, key, value, pointer) in reader.leaves where key != setting.key || !setting.isPerAxis {
            let axis = setting.concreteKeys.first { $0.key == key }?.axis ?? 0
            given.removeAll { $0.key == key }
            given.append(Given(setting: setting, key: key, axis: axis, value: value, pointer: pointer))
        }
        (locked, unlocked) = (reader.locked, reader.unlocked)
        findings.locate(from: start) { (source, document.mark(at: $0)) }
    }

    /// Changes by this layer, as a merge patch.
    var patch: Value { SettingsTree.build(given.map { ($0.key, $0.value) }) }
}

/// Walks a tree along the table.
private struct LayerReader: ~Copyable {
    let nullResets: Bool
    let mayLock: Bool
    var leaves: [(setting: StationSetting, key: String, value: Value, pointer: String)] = []
    var locked: [String] = []
    var unlocked: [String] = []
    private var scratch = Configuration()

    init(nullResets: Bool, mayLock: Bool) {
        self.nullResets = nullResets
        self.mayLock = mayLock
    }

    mutating func group(_ value: Value, key: String, pointer: String, _ findings: inout Findings) {
        var known = SettingsTree.children[key] ?? []
        guard case .object(let members) = value else {
            if value == .null, nullResets {
                for child in known { reset(SettingsTree.joined(key, child), JSONPointer.appending(child, to: pointer)) }
                return
            }
            // Who gives the broker's settings as one text or list may have put a password there.
            let got = key.hasPrefix("mqtt") ? .string(Secrets.mask) : value
            findings.add(
                pointer, .type, "This must be an object, not \(value.kind).", got: got,
                allowed: "an object with \(known.joined(separator: ", "))")
            return
        }
        if key.isEmpty, mayLock { known += ["locked", "unlocked"] }
        for member in members {
            let here = JSONPointer.appending(member.key, to: pointer)
            if key.isEmpty, mayLock, member.key == "locked" || member.key == "unlocked" {
                lock(member.value, here, unlocks: member.key == "unlocked", &findings)
                continue
            }
            guard known.contains(member.key) else {
                findings.add(.unknownKey(member, in: known, at: pointer))
                continue
            }
            node(member.value, key: SettingsTree.joined(key, member.key), pointer: here, &findings)
        }
    }

    private mutating func node(_ value: Value, key: String, pointer: String, _ findings: inout Findings) {
        guard let setting = SettingsTable.setting(key) else {
            return group(value, key: key, pointer: pointer, &findings)
        }
        let axis = setting.concreteKeys.first { $0.key == key }?.axis ?? 0
        if value != .null || !nullResets || setting.takesNull {
            let before = findings.errors.count
            setting.read(value, pointer, axis, &scratch, &findings)
            if findings.errors.count > before { return }
        }
        leaves.append((setting, key, value, pointer))
    }

    /// All settings at and below a key go back to their defaults.
    private mutating func reset(_ key: String, _ pointer: String) {
        if let setting = SettingsTable.setting(key) {
            leaves.append((setting, key, .null, pointer))
        }
        for child in SettingsTree.children[key] ?? [] {
            reset(SettingsTree.joined(key, child), JSONPointer.appending(child, to: pointer))
        }
    }

    private mutating func lock(_ value: Value, _ pointer: String, unlocks: Bool, _ findings: inout Findings) {
        let names = SettingsTable.unlockableKeys
        let allowed =
            unlocks ? "a list of " + names.joined(separator: ", ") : "a list of keys, such as [mqtt, trace.rate_hz]"
        guard case .array(let keys) = value else {
            return findings.wrongType(pointer, "a list", got: value, allowed: allowed)
        }
        for (i, key) in keys.enumerated() {
            let here = "\(pointer)/\(i)"
            guard case .string(let name) = key else {
                findings.wrongType(here, "the key of a setting", got: key, allowed: allowed)
                continue
            }
            // (No setting, but a command that changes the station.)
            if !unlocks, name == Settings.updateLock {
                locked.append(name)
                continue
            }
            guard SettingsTable.setting(name) != nil || SettingsTree.children[name] != nil, !name.isEmpty else {
                findings.add(
                    here, .unknownKey, "There is no setting `\(name.prefix(80))`.", got: key,
                    nearest: Spelling.nearest(to: name, in: SettingsTable.writableKeys))
                continue
            }
            guard unlocks else {
                locked.append(name)
                continue
            }
            guard names.contains(name) else {
                findings.add(here, .range, "`\(name)` cannot be unlocked.", got: key, allowed: allowed)
                continue
            }
            unlocked.append(name)
        }
    }
}

/// `--set key=value`.
enum CommandLineLayer {
    /// The tree that one such text stands for.
    static func document(_ text: String, example: String = "trace.rate_hz=10") throws(CodedError) -> Document {
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
            throw CodedError(
                "", .syntax, "Not a setting: `\(text.prefix(80))`.", allowed: "key=value, such as \(example)")
        }
        let key = text[..<equals]
        let pointer = JSONPointer.of(key: String(key))
        let parts = key.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= ReadingLimit.depth, parts.allSatisfy({ !$0.isEmpty }) else {
            throw CodedError("", .syntax, "Not the key of a setting: `\(key.prefix(80))`.")
        }
        let written = String(text[text.index(after: equals)...])
        var value = Value.null
        if written.contains(where: { $0 != " " }) {
            do {
                value = try YAMLReader.read(Array(written.utf8)).root
            } catch {
                var located = error
                located.path = pointer + error.path
                (located.line, located.column) = (nil, nil)
                throw located
            }
        }
        return Document(root: SettingsTree.putting(value, at: parts, into: [:]))
    }
}

extension Settings {
    /// The merge patch that texts such as `trace.rate_hz=10` stand for, later ones above earlier ones; an empty value is
    /// null. What the keys and values mean is for the station to judge, which may know other settings.
    ///
    /// - Throws: an error for each text that is not `key=value`, or whose value is not YAML.
    public static func patch(_ texts: [String]) throws(CodedErrors) -> Value {
        var patch: Value = [:]
        var findings = Findings()
        for text in texts {
            do throws(CodedError) {
                let document = try CommandLineLayer.document(text)
                let key = text.prefix { $0 != "=" }.split(separator: ".")
                var value = document.root
                for part in key { value = value[String(part)] ?? .null }
                patch = SettingsTree.putting(value, at: key, into: patch)
            } catch {
                findings.add(error)
            }
        }
        guard findings.errors.isEmpty else { throw CodedErrors(findings.errors) }
        return patch
    }
}

/// Layers that a process was started with: everything below and above the remote settings.
public struct SettingsLayers: Sendable {
    /// Bytes of the settings file (YAML); nil when there is none.
    public var file: [UInt8]?
    /// Bytes of a preset; nil when there is none.
    public var preset: [UInt8]?
    /// `key=value` of the command line.
    public var overrides: [String]
    /// Taken where all of these leave `station.id` empty.
    public var stationID: String

    public init(
        file: [UInt8]? = nil, preset: [UInt8]? = nil, overrides: [String] = [], stationID: String = ""
    ) {
        self.file = file
        self.preset = preset
        self.overrides = overrides
        self.stationID = stationID
    }

    /// The settings with an overlay.
    ///
    /// - Parameter known: what is wrong already; it is thrown together with what else is found.
    func load(overlay: Value?, beside known: [CodedError] = []) throws(CodedErrors) -> LoadedSettings {
        var loaded = try Settings.load(
            file: file, preset: preset, overlay: overlay, overrides: overrides, beside: known)
        if loaded.configuration.station.id.isEmpty, !stationID.isEmpty {
            loaded.configuration.station.id = stationID
            loaded.effective = Settings.effective(loaded.configuration)
        }
        return loaded
    }
}

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
