import Values

/// How the agent is, for programs on the same machine: a file in its `RUNTIME_DIRECTORY`, so that whoever looks after the
/// station needs neither the broker nor rights there. It has the objects of `state/health`, `state/info` and
/// `state/alert/<code>` as they are published.
public struct AgentState: Sendable, Equatable {
    /// Name of the file.
    public static let fileName = "status.json"
    /// Where the unit's agent has it.
    public static let usualPath = "/run/seismote/status.json"
    /// Nanoseconds between two states while nothing changes.
    public static let interval: Int64 = 2_000_000_000
    /// An agent whose newest state is older than this many nanoseconds hangs or is no more.
    public static let patience: Int64 = 15_000_000_000

    /// Number of the process.
    public var process: Int
    /// Time of writing by the monotonic clock, nanoseconds: the age of the file does not depend on the time of day.
    public var written: Int64
    /// Nanoseconds of UTC.
    public var time: Int64
    public var boot: String
    public var agent: InfoMessage.Agent
    public var topics: Topics
    public var isConnected = false
    /// The connection, in a few words.
    public var broker = ""
    /// Version spoken with the broker; nil while there is no connection.
    public var mqtt: String?
    /// Nil until one has been found.
    public var sensor: InfoMessage.Sensor?
    /// Just booted: a sensor that is not there yet is no fault.
    public var isWaiting = false
    /// The recording is over.
    public var isEnded = false
    public var isEventOpen = false
    /// Mean of the last second along the station's axes; nil while no samples come.
    public var mean: AxisValues<Double>?
    public var health: HealthMessage
    public var alerts: [AlertMessage] = []

    public init(
        process: Int, written: Int64, time: Int64, boot: String, agent: InfoMessage.Agent, topics: Topics,
        health: HealthMessage
    ) {
        (self.process, self.written, self.time, self.boot) = (process, written, time, boot)
        (self.agent, self.topics, self.health) = (agent, topics, health)
    }

    public func json() -> [UInt8] { JSONWriter.object { fields(&$0) } }

    package func fields(_ f: inout some FieldVisitor) {
        f.integer("process", process, "Number of the process.")
        f.integer("written_ns", Int(written), unit: "ns", "When, by the monotonic clock.")
        f.time("t", time, "When.")
        f.text("boot", boot, "UUID of this run of the agent.")
        f.object("agent", agent, "The program.") { $0.fields(&$1) }
        f.object("topics", topics, "Where its messages are.") { $0.fields(&$1) }
        f.flag("connected", isConnected, "Whether there is a connection to the broker.")
        f.text("broker", broker, "The connection, in a few words.")
        f.text("mqtt", mqtt, "Version of MQTT that is spoken; left out while there is no connection.")
        f.object(
            "sensor", sensor, blank: InfoMessage.Sensor(driver: "", chip: "", rate: 0),
            "The sensor; left out until one has been found."
        ) { $0.fields(&$1) }
        f.flag("waiting", isWaiting, "Just booted: a sensor that is not there yet is no fault.")
        f.flag("ended", isEnded, "The recording is over.")
        f.flag("event_open", isEventOpen, "An event is open.")
        f.object("mean", mean, blank: .init(0), "Mean of the last second's samples, gravity included.") {
            $0.fields(&$1)
        }
        f.object("health", health, "As in `state/health`.") { $0.fields(&$1) }
        f.objects(
            "alerts", alerts, blank: AlertMessage(code: "", severity: .info, since: 0, message: ""),
            "As in `state/alert/<code>`."
        ) { $0.fields(&$1) }
    }
}

/// The state of an agent of any version as other programs read its file (see ``InfoReading``).
public struct AgentStateReading: Sendable {
    public let tree: Value
    public init(_ tree: Value) { self.tree = tree }

    public var process: Int? { tree["process"]?.whole }
    /// Nanoseconds of the monotonic clock.
    public var written: Double? { tree["written_ns"]?.number }
    public var isConnected: Bool? { tree["connected"]?.flag }
    /// The connection, in a few words.
    public var broker: String? { tree["broker"]?.rawText }
    /// Version of MQTT that is spoken.
    public var mqtt: String? { tree["mqtt"]?.rawText }
    public var isWaiting: Bool { tree["waiting"]?.flag == true }
    public var isEnded: Bool { tree["ended"]?.flag == true }
    public var isEventOpen: Bool { tree["event_open"]?.flag == true }
    /// Mean of the last second along x, y and z; nil where one of them is missing.
    public var mean: [Double]? {
        let mean = ["x", "y", "z"].compactMap { tree["mean"]?[$0]?.number }
        return mean.count == 3 ? mean : nil
    }
    public var health: HealthReading? { tree["health"].map { .init($0) } }
    public var alerts: [AlertReading] { (tree["alerts"]?.list ?? []).map { .init($0) } }
    /// The members of `state/info` that it has.
    public var info: InfoReading { .init(tree) }
}
