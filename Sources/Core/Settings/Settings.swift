import Instruments
import Messages
import Seismology
import SignalProcessing
import Values

/// Settings that have been read, merged and found valid.
public struct LoadedSettings: Sendable, Equatable {
    /// Where a value was written.
    public struct Origin: Sendable, Equatable {
        public var source: SettingSource
        /// JSON pointer in that source: `/axes/all/filter`.
        public var pointer: String
        /// In a file, from 1.
        public var line: Int?
    }

    /// The snapshot that the agent works with.
    public var configuration: Configuration {
        get { snapshot.configuration }
        set { snapshot = Snapshot(newValue) }
    }
    /// Kept by itself: the many that hold settings are small, and so is the code that copies them.
    private var snapshot: Snapshot
    /// The same as a tree with the keys of the settings file: SI numbers, secrets as `***`.
    public var effective: Value
    /// Where each value comes from, by key (`axes.x.filter`), for every key that a source gives.
    public var origins: [String: Origin]
    /// Keys, or groups of keys, that may not be set remotely, as listed under `locked` in the file.
    public var locked: [String]
    /// Keys that may be set remotely because the file has them under `unlocked`.
    var unlocked: [String]
    /// Words of earlier versions that were taken for those of now, one sentence each.
    public internal(set) var renamed: [String] = []

    init(
        configuration: Configuration, effective: Value, origins: [String: Origin], locked: [String],
        unlocked: [String] = []
    ) {
        snapshot = Snapshot(configuration)
        self.effective = effective
        self.origins = origins
        self.locked = locked
        self.unlocked = unlocked
    }

    private final class Snapshot: Sendable, Equatable {
        let configuration: Configuration
        init(_ configuration: Configuration) { self.configuration = configuration }
        static func == (a: Snapshot, b: Snapshot) -> Bool { a === b || a.configuration == b.configuration }
    }

    /// The sources alone.
    public var sources: [String: SettingSource] { origins.mapValues(\.source) }

    /// Whether a key may be changed over MQTT.
    public func isLocked(_ key: String) -> Bool {
        if SettingsTable.setting(key)?.isRemote == false, !unlocked.contains(key) { return true }
        let declared = SettingsTable.declared(key)
        return locked.contains { lock in
            [key, declared].contains { $0 == lock || $0.hasPrefix(lock + ".") }
        }
    }
}

/// Reading of settings.
public enum Settings {
    /// Under `locked`: the agent may not be updated by a command.
    public static let updateLock = "update"

    /// Puts the layers together, lowest first: defaults, preset, file, overlay, command line. Pure.
    ///
    /// Within each layer `axes.all` is written to x, y and z before the layers are merged. Every layer must be valid
    /// by itself; rules between settings hold for the result.
    ///
    /// - Parameters:
    ///   - file: bytes of the settings file (YAML 1.2, so JSON too), at most 1 MiB; nil when there is none.
    ///   - preset: bytes of a preset, a settings file like any other (see ``Preset``).
    ///   - overlay: what has been set remotely.
    ///   - overrides: `key=value` of the command line, such as `trace.rate_hz=10`; the value is YAML, an empty value
    ///     or `null` takes the key back to its default.
    /// - Throws: every error of every layer.
    public static func load(
        file: [UInt8]? = nil, preset: [UInt8]? = nil, overlay: Value? = nil, overrides: [String] = []
    ) throws(CodedErrors) -> LoadedSettings {
        try load(file: file, preset: preset, overlay: overlay, overrides: overrides, beside: [])
    }

    /// - Parameter known: what is wrong already; it is thrown together with what else is found.
    static func load(
        file: [UInt8]?, preset: [UInt8]?, overlay: Value?, overrides: [String], beside known: [CodedError]
    ) throws(CodedErrors) -> LoadedSettings {
        var findings = Findings()
        findings.add(contentsOf: known)
        var layers: [Layer] = []
        for (source, bytes) in [(SettingSource.preset, preset), (.file, file)] {
            guard let bytes else { continue }
            do throws(CodedError) {
                layers.append(Layer(source, try YAMLReader.read(bytes), &findings))
            } catch {
                findings.add(error.from(source))
            }
        }
        if let overlay { layers.append(Layer(.overlay, Document(root: overlay), &findings)) }
        for override in overrides {
            do throws(CodedError) {
                layers.append(Layer(.commandLine, try CommandLineLayer.document(override), &findings))
            } catch {
                findings.add(error.from(.commandLine))
            }
        }
        return try merge(layers, &findings)
    }

    /// Merges what is valid of the layers, lowest first, and applies the rules between settings.
    static func merge(
        _ layers: [Layer], _ findings: inout Findings
    ) throws(CodedErrors) -> LoadedSettings {
        var tree: Value = [:]
        var origins: [String: LoadedSettings.Origin] = [:]
        for layer in layers {
            tree = MergePatch.apply(layer.patch, to: tree) { path in
                SettingsTable.setting(path.joined(separator: ".")) != nil
            }
            for given in layer.given {
                origins[given.key] =
                    given.value == .null
                    ? nil
                    : .init(
                        source: layer.source, pointer: given.pointer, line: layer.document.mark(at: given.pointer)?.line
                    )
            }
        }
        var configuration = Configuration()
        for setting in SettingsTable.settings {
            for (key, axis) in setting.concreteKeys {
                guard let value = SettingsTree.value(at: key, in: tree) else { continue }
                setting.read(value, JSONPointer.of(key: key), axis, &configuration, &findings)
            }
        }
        let crossed = CrossFieldRules.errors(of: configuration, beside: findings.errors)
        findings.add(contentsOf: CrossFieldRules.located(crossed, layers: layers, origins: origins))
        guard findings.errors.isEmpty else { throw CodedErrors(findings.errors) }
        var loaded = LoadedSettings(
            configuration: configuration, effective: effective(configuration), origins: origins,
            locked: layers.flatMap(\.locked), unlocked: layers.flatMap(\.unlocked))
        loaded.renamed = layers.flatMap { $0.given.compactMap(renamed) }
        return loaded
    }

    /// Note on a word that a codec knows only from earlier versions.
    private static func renamed(_ given: Layer.Given) -> String? {
        guard given.setting.type == "one of", case .string(let word) = given.value else { return nil }
        var (now, findings) = (Configuration(), Findings())
        given.setting.read(given.value, given.pointer, given.axis, &now, &findings)
        let value = given.setting.write(now, given.axis)
        guard case .string(let new) = value, new != word else { return nil }
        return "\(given.key): `\(word)` is from an earlier version and counts as `\(new)`: write `\(new)` instead."
    }

    /// The tree of a snapshot, by the table: SI numbers, secrets as `***`.
    public static func effective(_ configuration: Configuration) -> Value {
        SettingsTree.build(
            SettingsTable.settings.flatMap { setting in
                setting.concreteKeys.map { (key, axis) -> (key: String, value: Value) in
                    let value = setting.write(configuration, axis)
                    return (key, setting.isSecret && value != "" ? .string(Secrets.mask) : value)
                }
            })
    }
}

/// The whole of an agent's settings, decoded and valid: one immutable snapshot that travels through the agent.
/// All numbers are SI (m/s², m/s, Hz, s). The parts are beside their rows in the table of
/// settings; those of the sensor are in `Instruments`, those of the detectors beside what they are for.
public struct Configuration: Sendable, Equatable {
    public var station = StationIdentity()
    public var sensor = SensorConfiguration()
    public var conditioning = ConditioningConfiguration()
    /// x, y and z.
    public var axes = PerAxis(AxisConfiguration())
    public var detection = DetectionConfiguration()
    public var classification = ClassificationConfiguration()
    public var alarm = AlarmConfiguration()
    public var onsite = OnsiteConfiguration()
    public var intensity = IntensityConfiguration()
    public var spectrum = SpectrumConfiguration()
    public var vibration = VibrationConfiguration()
    public var trace = TraceConfiguration()
    public var waveform = WaveformConfiguration()
    public var mqtt = MQTTConfiguration()
    public var storage = StorageConfiguration()
    public var health = HealthConfiguration()
    public var log = LogConfiguration()

    public init() {}
}
