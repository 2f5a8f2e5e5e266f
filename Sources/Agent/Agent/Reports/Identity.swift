import Commands
import Instruments
import Messages
import Seismology
import Sensors
import Settings
import Station
import Values

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

/// Contents of replies about the configuration.
enum ConfigTelling {
    /// Describes a change, proposed or adopted.
    static func change(_ proposal: SettingsLedger.Proposal, _ ledger: SettingsLedger) -> Value {
        [
            "rev": .int(Int64(ledger.revision)), "changed": list(proposal.changed), "live": list(proposal.live),
            "restart_stream": list(proposal.restartStream), "needs_restart": list(proposal.needsRestart),
            "pending": pending(ledger),
        ]
    }

    /// Describes all settings in force, and where each comes from.
    static func whole(_ ledger: SettingsLedger) -> Value {
        let settings = ledger.settings
        let message = Identity.config(ledger)
        var rejected = Value.null
        if let last = ledger.lastRejected {
            rejected = last.value.with("t", .string(Timestamp(nanoseconds: last.time).description))
        }
        let revisions = ledger.revisions.map { revision -> Value in
            [
                "rev": .int(Int64(revision.number)),
                // What holds without any change was set by nobody at no time.
                "t": revision.number == 0 ? .null : .string(Timestamp(nanoseconds: revision.time).description),
                "source": .string(revision.source), "changed": list(revision.changed),
            ]
        }
        return [
            "rev": .int(Int64(ledger.revision)),
            "sha256": .string(SHA256.hexDigest(of: settings.effective.canonicalJSON())), "config": settings.effective,
            "sources": [
                "file": list(message.sources.file), "overlay": list(message.sources.overlay),
                "command_line": list(message.sources.commandLine),
            ],
            "overlay": ledger.shownOverlay, "pending": pending(ledger), "needs_restart": list(ledger.needsRestart),
            "locked": list(settings.locked), "revisions": .array(revisions), "rejected": rejected,
        ]
    }

    private static func pending(_ ledger: SettingsLedger) -> Value {
        guard let pending = ledger.pending else { return .null }
        return [
            "rev": .int(Int64(pending.revision)),
            "deadline": .string(Timestamp(nanoseconds: pending.deadline).description),
        ]
    }

    private static func list(_ texts: [String]) -> Value { .array(texts.map { .string($0) }) }
}
