import Messages
import Settings

/// All that the checks judge. Gathered by the files in `Gather`; in tests written down.
struct Facts {
    /// Nanoseconds since 1970, of the wall clock.
    var now: Int64 = 0
    var settings = SettingsFacts()
    var files: Known<FileFacts> = .unknown("not looked at")
    var service: Known<ServiceFacts> = .unknown("not looked at")
    var agent: Known<AgentFacts?> = .unknown("not looked at")
    /// State of the agent on this machine in its own words, however old.
    var state: Known<StateFacts> = .unknown("not looked at")
    /// The running agent has no file of its state, though it should.
    var isStateMissing = false
    /// Version of the program that is installed, from its own words.
    var installed: Known<String> = .unknown("not looked at")
    var clock: Known<ClockFacts> = .unknown("not looked at")
    var disk: Known<DiskFacts> = .unknown("not looked at")
    var broker: Known<BrokerFacts> = .unknown("not looked at")
    /// The broker's retained messages of this station.
    var station: Known<StationFacts> = .unknown("not looked at")
    var rights: Known<[TopicRight]> = .unknown("not looked at")
    /// The account has the rights of a station that is named as it is, and this one is named otherwise.
    var isBoundToUser = false
    var certificates: Known<[CertificateFacts]> = .unknown("not looked at")
    var leftovers: Known<LeftoverFacts> = .unknown("not looked at")
    var sensor: Known<SensorFacts> = .unknown("not looked at")

    /// Facts that one check alone looks at.
    private var looked: [ObjectIdentifier: Any] = [:]

    /// Fact that a check has looked at.
    subscript<Check: OwnCheck>(check: Check.Type) -> Known<Check.Fact> {
        get { looked[ObjectIdentifier(check)] as? Known<Check.Fact> ?? .unknown("not looked at") }
        set { looked[ObjectIdentifier(check)] = newValue }
    }

    /// The agent's own state, while it can be believed.
    var own: StateFacts? { state.fact.flatMap { $0.age <= StateFacts.patience ? $0 : nil } }
    /// All that is known of the station: from its agent, else from the broker.
    var view: StationView? { own?.view ?? station.fact?.view }
}

/// Content of the agent's file `AgentState`.
struct StateFacts {
    static let patience = Double(AgentState.patience) / 1e9

    var path = AgentState.usualPath
    /// Seconds since it was written.
    var age = 0.0
    var view = StationView()
    /// The connection, in a few words.
    var broker = ""
    /// Version of MQTT that the agent speaks; nil: it is not connected.
    var mqtt: String?
    /// Just booted: a sensor that is not there yet is no fault.
    var isWaiting = false
    /// The recording is over.
    var isEnded = false
    /// Mean of the raw acceleration along the station's axes, m/s².
    var gravity: [Double]?
}

struct SettingsFacts {
    /// Path of the settings file.
    var path = ""
    var exists = true
    /// One line for each.
    var errors: [String] = []
    var configuration = Configuration()
    var given = 0
    /// A settings file on the boot partition that has not been taken over; nil: there is none.
    var bootFile: String?
    /// Why not, in its first line; nil: nobody has tried.
    var bootProblem: String?
}

/// A file or folder, as `stat` has it.
struct FileFact {
    enum Need { case read, write, search }

    var path: String
    /// Its role for the agent: "the settings file".
    var role: String
    var need: Need
    /// True for a file that nobody else may read.
    var isSecret = false
    /// Nil: it is not there.
    var mode: UInt32?
    var uid: UInt32 = 0
    var gid: UInt32 = 0
}

struct FileFacts {
    /// The user that the agent runs as.
    var user: String
    var uid: UInt32
    var groups: [UInt32]
    var files: [FileFact]
}

/// State of the unit in systemd.
struct ServiceFacts {
    var load = ""
    var active = ""
    var sub = ""
    /// `enabled`, `disabled` ...
    var file = ""
    var result = ""
    var exitStatus = 0
    var restarts = 0
}

/// The agent's process.
struct AgentFacts {
    var process: Int
    var program: String
    /// The file it was started from has been replaced or deleted.
    var isReplaced = false
}

struct ClockFacts {
    var isSynchronised: Bool
    /// Upper bound, milliseconds.
    var errorMs: Double
    /// Nanoseconds since 1970.
    var now: Int64
    /// Programs that steer the clock and run: chronyd, systemd-timesyncd ...
    var daemons: [String]
}

struct DiskFacts {
    /// The storage folder, or the nearest folder above it that is there.
    var path: String
    /// Bytes.
    var total: Int64
    var free: Int64
    /// Nil where the file system has no fixed number.
    var freeFiles: Int64?
    var isReadOnly: Bool
    var device: String
}

struct BrokerFacts {
    /// Its name in sentences.
    var name: String
    /// Nil: connected.
    var problem: String?
    var user: String
    /// The tool could not have MQTT 5 with it.
    var isOld = false
}

/// Messages of one station that come from the broker.
struct StationFacts {
    var view: StationView
    /// The runs whose live messages came, in their order, each change once.
    var boots: [String] = []
    /// Mean of the raw acceleration along the station's axes, m/s².
    var gravity: [Double]?

    /// A message of the station was seen at all.
    var isSeen: Bool { view.isOnline != nil || view.info != nil || view.health != nil }
}

/// Whether a topic may be written.
struct TopicRight: Equatable {
    var topic: String
    /// Nil: cannot be known.
    var isGranted: Bool?
}

struct CertificateFacts {
    /// "the broker's certificate", "the CA file /etc/…".
    var what: String
    /// Nanoseconds since 1970; nil: the reason is in `problem`.
    var from: Int64?
    var until: Int64?
    var problem = ""
}

struct LeftoverFacts {
    /// Retained topics below another prefix or id, with all that is retained there.
    struct Base {
        var base: String
        var isOnline: Bool
        /// Reason why it is thought to be an earlier name of this station.
        var reason: String
        var topics: [String]
    }
    var bases: [Base]
    /// Alerts that are retained though the station does not have them.
    var staleAlerts: [String]
    /// Arguments of mosquitto_pub for this broker.
    var publish: String
}

struct SensorFacts {
    /// Nil: it could be opened.
    var problem: String?
    var code = ""
    var remedies: [String] = []
    var chip = ""
    var isStuck = false
    var stuckAxes = ""
    /// Mean of the samples along the station's axes, m/s².
    var gravity: [Double]?
}
