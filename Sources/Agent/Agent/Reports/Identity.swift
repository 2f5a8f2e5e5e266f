import Commands
import Instruments
import Messages
import Seismology
import Sensors
import Settings
import Station

/// The agent's own description, for `state/info` and `state/config`.
enum Identity {
    static let name = "seismote"
    /// UUID of this run.
    static let boot = HostStatus.uuid()

    static var build: String {
        #if arch(x86_64)
        let architecture = "x86_64"
        #elseif arch(arm64)
        let architecture = "aarch64"
        #else
        let architecture = "other"
        #endif
        #if DEBUG
        return "linux-\(architecture) debug"
        #else
        return "linux-\(architecture) release"
        #endif
    }

    static func info(
        _ configuration: Configuration, sensor: SensorDescription?, level: Level? = nil,
        memory: SensorMemory = SensorMemory()
    ) -> InfoMessage {
        return InfoMessage(
            agent: .init(name: name, version: productVersion, build: build), station: configuration.station,
            sensor: sensor.map { sensor in
                let sources = configuration.sensor.mounting.sources
                var info = InfoMessage.Sensor(
                    driver: sensor.driver, chip: sensor.chip, rate: sensor.rate, range: sensor.range,
                    resolution: sensor.resolution,
                    axes: AxisValues(x: text(sources.x), y: text(sources.y), z: text(sources.z)))
                info.level = level.map { level in
                    .object([
                        .init("tilt_deg", .double(level.tilt)),
                        .init("matrix", .array(level.matrix.rows.map { .double($0) })),
                    ])
                }
                info.selfTest = memory.report(.selfTest, of: sensor.chip)
                info.calibration = memory.report(.calibration, of: sensor.chip)
                return info
            },
            capabilities: .init(
                verbs: Command.all.map(\.name), encodings: TraceConfiguration.Encoding.allCases.map(\.rawValue),
                scales: IntensityRelation.allCases.map(\.rawValue)))
    }

    static func config(_ ledger: SettingsLedger) -> ConfigMessage {
        let settings = ledger.settings
        func keys(_ sources: [SettingSource]) -> [String] {
            settings.sources.filter { sources.contains($0.value) }.keys.sorted()
        }
        return ConfigMessage(
            revision: ledger.revision, config: settings.effective,
            // A preset is chosen on the command line.
            sources: .init(
                file: keys([.file]), overlay: keys([.overlay]), commandLine: keys([.commandLine, .preset])),
            pending: ledger.pending.map { .init(revision: $0.revision, deadline: $0.deadline) },
            needsRestart: ledger.needsRestart)
    }

    private static func text(_ source: MountingConfiguration.Source) -> String {
        let axes = ["x", "y", "z"]
        return (source.sign < 0 ? "-" : "+") + (axes.indices.contains(source.axis) ? axes[source.axis] : "?")
    }
}
