/// Who this is (`state/info`).
public struct InfoMessage: Sendable, Equatable {
    public struct Agent: Sendable, Equatable {
        public var name: String
        public var version: String
        /// How it was built: commit, compiler, architecture, in one line.
        public var build: String
        public init(name: String = "seismote", version: String, build: String) {
            self.name = name
            self.version = version
            self.build = build
        }
    }

    public struct Station: Sendable, Equatable {
        public var id = ""
        public var network = ""
        public var code = ""
        public var location = ""
        /// Degrees and metres; nil, and left out, when not given.
        public var latitude: Double?
        public var longitude: Double?
        public var elevation: Double?
        public var description = ""
        public var groups: [String] = []
        public init() {}
    }

    public struct Sensor: Sendable, Equatable {
        public var driver: String
        public var chip: String
        /// Samples per second that the filters are made for: the nominal ones, or the true ones when they are far off.
        public var rate: Double
        /// Full scale and smallest step in m/s²; nil, and left out, when not known.
        public var range: Double?
        public var resolution: Double?
        /// Which sensor axis, with its sign, is the station's x, y and z: `+x`.
        public var axes: AxisValues<String>
        /// How far from level the sensor was found and the matrix that turns it, with levelling; nil while not known.
        public var level: Value?
        /// The chip's last self-test and its last calibration, each with its time `t`; nil, and left out, without one.
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
        /// Commands that are understood.
        public var verbs: [String]
        /// Of traces and waveforms.
        public var encodings: [String]
        /// Intensity relations.
        public var scales: [String]
        public init(verbs: [String] = [], encodings: [String] = [], scales: [String] = []) {
            self.verbs = verbs
            self.encodings = encodings
            self.scales = scales
        }
    }

    public var agent: Agent
    public var station: Station
    /// Nil, and left out, until a sensor has been found.
    public var sensor: Sensor?
    public var capabilities: Capabilities

    public init(agent: Agent, station: Station, sensor: Sensor?, capabilities: Capabilities) {
        self.agent = agent
        self.station = station
        self.sensor = sensor
        self.capabilities = capabilities
    }

    func write(topics: Topics, to json: inout JSONWriter) {
        json.key("agent")
        json.beginObject()
        json.optional("name", agent.name)
        json.optional("version", agent.version)
        json.optional("build", agent.build)
        json.endObject()
        writeStation(to: &json)
        if let sensor { Self.write(sensor, to: &json) }
        json.key("capabilities")
        json.beginObject()
        json.list("verbs", capabilities.verbs)
        json.list("encodings", capabilities.encodings)
        json.list("scales", capabilities.scales)
        json.endObject()
        json.key("topics")
        json.beginObject()
        json.optional("root", topics.root)
        json.optional("state", topics.state)
        json.optional("event", topics.event)
        json.optional("data", topics.data)
        json.optional("cmd", topics.commandPrefix)
        json.optional("res", topics.replyPrefix)
        json.endObject()
    }

    private func writeStation(to json: inout JSONWriter) {
        json.key("station")
        json.beginObject()
        json.optional("id", station.id)
        json.optional("network", station.network)
        json.optional("code", station.code)
        json.optional("location", station.location)
        json.optional("latitude", station.latitude)
        json.optional("longitude", station.longitude)
        json.optional("elevation_m", station.elevation)
        json.optional("description", station.description)
        json.list("groups", station.groups)
        json.endObject()
    }

    private static func write(_ sensor: Sensor, to json: inout JSONWriter) {
        json.key("sensor")
        json.beginObject()
        json.optional("driver", sensor.driver)
        json.optional("chip", sensor.chip)
        json.optional("rate_hz", sensor.rate)
        json.optional("range", sensor.range)
        json.optional("resolution", sensor.resolution)
        json.key("axes")
        json.beginObject()
        json.optional("x", sensor.axes.x)
        json.optional("y", sensor.axes.y)
        json.optional("z", sensor.axes.z)
        json.endObject()
        json.optional("level", sensor.level)
        json.optional("self_test", sensor.selfTest)
        json.optional("calibration", sensor.calibration)
        json.endObject()
    }
}

extension JSONWriter {
    fileprivate mutating func optional(_ name: StaticString, _ tree: Value?) {
        guard let tree else { return }
        key(name)
        value(tree)
    }
}
