import Values

/// Description of the station (`state/info`).
public struct InfoMessage: Sendable, Equatable {
    public struct Agent: Sendable, Equatable {
        public var name: String
        public var version: String
        public var build: String
        public init(name: String = "seismote", version: String, build: String) {
            self.name = name
            self.version = version
            self.build = build
        }
    }

    public struct Sensor: Sendable, Equatable {
        public var driver: String
        public var chip: String
        public var rate: Double
        public var range: Double?
        public var resolution: Double?
        public var axes: AxisValues<String>
        public var level: Value?
        public var selfTest: Value?
        public var calibration: Value?
        public init(
            driver: String, chip: String, rate: Double, range: Double? = nil, resolution: Double? = nil,
            axes: AxisValues<String> = AxisValues(x: "+x", y: "+y", z: "+z")
        ) {
            self.driver = driver
            self.chip = chip
            self.rate = rate
            self.range = range
            self.resolution = resolution
            self.axes = axes
        }
    }

    public struct Capabilities: Sendable, Equatable {
        public var verbs: [String]
        public var encodings: [String]
        public var scales: [String]
        public init(verbs: [String] = [], encodings: [String] = [], scales: [String] = []) {
            self.verbs = verbs
            self.encodings = encodings
            self.scales = scales
        }
    }

    /// An update from afar, as far as it has come.
    public struct Update: Sendable, Equatable {
        public var phase: UpdateMessage.Phase?
        public var version: String?

        /// - Parameter message: what was last said of an update; nil: nothing. One that has ended is none.
        public init(_ message: UpdateMessage? = nil) {
            guard let message, !message.phase.isEnd else { return }
            (phase, version) = (message.phase, message.version)
        }
    }

    public var agent: Agent
    /// Nil: the station cannot be updated from afar.
    public var update: Update?
    public var station: StationIdentity
    /// Nil until a sensor has been found.
    public var sensor: Sensor?
    public var capabilities: Capabilities

    public init(agent: Agent, station: StationIdentity, sensor: Sensor?, capabilities: Capabilities) {
        self.agent = agent
        self.station = station
        self.sensor = sensor
        self.capabilities = capabilities
    }

    package func fields(topics: Topics, _ f: inout some FieldVisitor) {
        f.object("agent", agent, "The program.") { $0.fields(&$1) }
        f.object(
            "update", update, blank: Update(),
            "An update that is under way, empty while there is none; left out where the station cannot be updated from afar."
        ) { $0.fields(&$1) }
        f.object("station", station, "The station, as in the settings.") { $0.fields(&$1) }
        f.object(
            "sensor", sensor, blank: Sensor(driver: "", chip: "", rate: 0),
            "The sensor; left out until one has been found."
        ) { $0.fields(&$1) }
        f.object("capabilities", capabilities, "What the station can do.") { $0.fields(&$1) }
        f.object("topics", topics, "Where its messages are.") { $0.fields(&$1) }
    }
}

extension InfoMessage.Agent {
    package func fields(_ f: inout some FieldVisitor) {
        f.text("name", name, "Name of the program.")
        f.text("version", version, "Its version.")
        f.text("build", build, "How it was built: system, architecture, configuration.")
    }
}

extension InfoMessage.Update {
    package func fields(_ f: inout some FieldVisitor) {
        f.choice("phase", phase, "Where it stands, as in `state/update`.")
        f.text("version", version, "The version that was asked for.")
        f.integer("progress_pct", phase?.percent, unit: "%", "How much of it is done.")
    }
}

extension InfoMessage.Sensor {
    package func fields(_ f: inout some FieldVisitor) {
        f.text("driver", driver, "Driver: `iio`, `i2c`, `simulate` or `replay`.")
        f.text("chip", chip, "Model of the chip, or name of the recording or scenario.")
        f.number(
            "rate_hz", rate, unit: "Hz",
            "Rate that the filters are made for: the nominal one, or the true one when that is far off.")
        f.number("range", range, unit: "m/s^2", "Full scale; left out when not known.")
        f.number("resolution", resolution, unit: "m/s^2", "Smallest step; left out when not known.")
        f.object("axes", axes, "Which axis of the sensor, with its sign, is the station's: `+x`.") { $0.fields(&$1) }
        f.tree(
            "level", level,
            "How far from level the sensor was found, `tilt_deg`, and the `matrix` that corrects it, by rows; with levelling."
        )
        f.tree(
            "self_test", selfTest,
            "Last self-test of the chip: time `t`, `passed`, and `change`, `min`, `max` of each axis.")
        f.tree(
            "calibration", calibration,
            "Last calibration: time `t`, `method`, `offset`, `matrix` by rows, noise of each axis.")
    }
}

extension InfoMessage.Capabilities {
    package func fields(_ f: inout some FieldVisitor) {
        f.texts("verbs", verbs, "Commands that it understands.")
        f.texts("encodings", encodings, "Encodings of traces and waveforms.")
        f.texts("scales", scales, "Intensity relations.")
    }
}

extension Topics {
    package func fields(_ f: inout some FieldVisitor) {
        f.text("root", root, "What all topics begin with.")
        f.text("state", state, "Prefix of retained states.")
        f.text("event", event, "Prefix of events and log lines.")
        f.text("data", data, "Prefix of traces and waveforms.")
        f.text("cmd", commandPrefix, "Prefix of its commands.")
        f.text("res", replyPrefix, "Prefix of replies.")
    }
}

/// Which station this is and where: the part `station` of the settings, published as it is in `state/info`.
public struct StationIdentity: Sendable, Equatable {
    /// `[A-Za-z0-9_-]{1,64}`; empty until the host name has been put in.
    public var id = ""
    public var network = "XX"
    public var code = ""
    public var location = "00"
    public var latitude: Double?
    public var longitude: Double?
    public var elevation: Double?
    public var description = ""
    public var groups: [String] = []

    public init() {}

    package func fields(_ f: inout some FieldVisitor) {
        f.text("id", id, "Id of the station, part of its topics.")
        f.text("network", network, "Network code (FDSN).")
        f.text("code", code, "Station code (FDSN).")
        f.text("location", location, "Location code (FDSN).")
        f.number("latitude", latitude, unit: "deg", "Degrees north; left out when not given.")
        f.number("longitude", longitude, unit: "deg", "Degrees east; left out when not given.")
        f.number("elevation_m", elevation, unit: "m", "Above sea level; left out when not given.")
        f.text("description", description, "For people.")
        f.texts("groups", groups, "Groups that it belongs to, besides `all`.")
    }
}

/// The settings in force (`state/config`).
public struct ConfigMessage: Sendable, Equatable {
    /// Keys by where their values come from; keys that are nowhere here have their default.
    public struct Sources: Sendable, Equatable {
        public var file: [String]
        public var overlay: [String]
        public var commandLine: [String]
        public init(file: [String] = [], overlay: [String] = [], commandLine: [String] = []) {
            self.file = file
            self.overlay = overlay
            self.commandLine = commandLine
        }
    }

    /// A change that goes back by itself unless it is confirmed in time.
    public struct Pending: Sendable, Equatable {
        public var revision: Int
        /// Nanoseconds of UTC.
        public var deadline: Int64
        public init(revision: Int, deadline: Int64) {
            self.revision = revision
            self.deadline = deadline
        }
    }

    public var revision: Int
    public var config: Value
    public var sources: Sources
    public var pending: Pending?
    public var needsRestart: [String]

    public init(
        revision: Int, config: Value, sources: Sources = Sources(), pending: Pending? = nil,
        needsRestart: [String] = []
    ) {
        self.revision = revision
        self.config = config
        self.sources = sources
        self.pending = pending
        self.needsRestart = needsRestart
    }

    package func fields(_ f: inout some FieldVisitor) {
        f.integer("rev", revision, "Revision of the settings; rises with every applied change.")
        f.text(
            "sha256", SHA256.hexDigest(of: config.canonicalJSON()),
            "Digest of the canonical JSON (RFC 8785) of `config`.")
        f.tree(
            "config", config,
            "The settings in force, in SI units, secrets as `***`; its schema is `state/config/schema`.")
        f.object("sources", sources, "Where values come from; keys that are in none of the lists have their default.") {
            $0.fields(&$1)
        }
        f.object(
            "pending", pending, .nullable, blank: Pending(revision: 0, deadline: 0),
            "A change that is undone unless it is confirmed in time."
        ) { $0.fields(&$1) }
        f.texts("needs_restart", needsRestart, "Keys whose new values need a restart of the agent.")
    }
}

extension ConfigMessage.Sources {
    package func fields(_ f: inout some FieldVisitor) {
        f.texts("file", file, "Keys from the settings file.")
        f.texts("overlay", overlay, "Keys from remote settings.")
        f.texts("command_line", commandLine, "Keys from the command line or a preset named there.")
    }
}

extension ConfigMessage.Pending {
    package func fields(_ f: inout some FieldVisitor) {
        f.integer("rev", revision, "Revision of the change.")
        f.time("deadline", deadline, "When it is undone.")
    }
}

// MARK: As others read it

/// `state/info` of a station of any version. A member of another type counts as missing, and hides no other; texts may have
/// anything in them. So it is with all readings that keep the tree of a message.
public struct InfoReading: Sendable {
    public let tree: Value
    public init(_ tree: Value) { self.tree = tree }

    /// Version of the program.
    public var version: String? { tree["agent"]?["version"]?.rawText }
    /// Whether it names the program, as no other message does.
    public var hasAgent: Bool { tree["agent"] != nil }
    public var station: StationIdentityReading? { tree["station"].map { .init($0) } }
    public var sensor: Sensor? { tree["sensor"].map { .init($0) } }

    public struct Sensor: Sendable {
        public let tree: Value
        init(_ tree: Value) { self.tree = tree }

        public var driver: String? { tree["driver"]?.rawText }
        public var chip: String? { tree["chip"]?.rawText }
        public var rate: Double? { statedRate?.number }
        /// The rate as it was sent, which may be no number.
        public var statedRate: Value? { tree["rate_hz"] }
        public var range: Double? { tree["range"]?.number }
        public var resolution: Double? { tree["resolution"]?.number }
        public var calibration: Value? { tree["calibration"] }
        /// Nanoseconds of UTC.
        public var calibrated: Int64? { calibration?["t"]?.anyTime }
        public var calibrationMethod: String? { calibration?["method"]?.rawText }
    }
}

/// The part `station` of `state/info`, and what an operator enters for a station.
public struct StationIdentityReading: Sendable {
    public let tree: Value
    public init(_ tree: Value) { self.tree = tree }

    public var id: String? { tree["id"]?.rawText }
    /// False where there is an id, and it is another one or no text.
    public func isOf(_ station: String) -> Bool { tree["id"].map { $0 == .string(station) } ?? true }
    public var network: String? { tree["network"]?.rawText }
    public var code: String? { tree["code"]?.rawText }
    public var location: String? { tree["location"]?.rawText }
    public var latitude: Double? { statedLatitude?.number }
    public var longitude: Double? { statedLongitude?.number }
    public var elevation: Double? { statedElevation?.number }
    /// Degrees and metres as they were sent; nil where there are none.
    public var statedLatitude: Value? { stated("latitude") }
    public var statedLongitude: Value? { stated("longitude") }
    public var statedElevation: Value? { stated("elevation_m") }
    private func stated(_ name: String) -> Value? { tree[name].flatMap { $0 == .null ? nil : $0 } }
    public var description: String? { tree["description"]?.rawText }
    public var groups: [String] { tree["groups"]?.rawTexts ?? [] }
    /// The operator of the station, as the operator of the network has entered it.
    public var runner: String? { tree["operator"]?.rawText }
}

/// `state/config` of a station of any version.
public struct ConfigReading: Sendable {
    public let tree: Value
    public init(_ tree: Value) { self.tree = tree }

    public var revision: Int? { tree["rev"]?.whole }
    /// Whether it has a revision, as no other message of `state` has beside settings.
    public var hasRevision: Bool { tree["rev"] != nil }
    public var settings: SettingsReading? { tree["config"].map { .init($0) } }
}

/// Settings of a station as `state/config` and changes have them, as far as other programs need them.
public struct SettingsReading: Sendable {
    public let tree: Value
    public init(_ tree: Value) { self.tree = tree }

    /// URIs of brokers, and the root of topics.
    public var brokers: [String] { (uri?.list ?? [uri].compactMap(\.self)).compactMap(\.rawText) }
    public var root: String? { tree["mqtt"]?["root"]?.rawText }
    private var uri: Value? { tree["mqtt"]?["uri"] }
    /// Degrees clockwise from north to x.
    public var north: Double? { tree["sensor"]?["mounting"]?["north_deg"]?.number }
    public var calibrationOffset: [Double] { numbers("offset") }
    /// By rows.
    public var calibrationMatrix: [Double] { numbers("matrix") }
    public var hasTraces: Bool? { tree["trace"]?["enabled"]?.flag }
    /// The rate of traces as it was sent, which may be no number.
    public var statedTraceRate: Value? { tree["trace"]?["rate_hz"].flatMap { $0 == .null ? nil : $0 } }
    public var traceFilter: String? { tree["trace"]?["filter"]?.rawText }
    /// Name of the limit of vibration.
    public var vibrationLimit: String? { tree["vibration"]?["limit"]?.rawText }
    /// A number among the settings of vibration.
    public func vibration(_ name: String) -> Double? { tree["vibration"]?[name]?.number }

    private func numbers(_ name: String) -> [Double] {
        (tree["sensor"]?["calibration"]?[name]?.list ?? []).compactMap(\.number)
    }
}
