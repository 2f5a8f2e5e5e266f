import Messages

/// What has been set remotely, as a ledger of revisions above the layers that the process was started with. A value:
/// time is passed in, and what must survive a restart is one document.
///
/// A change is proposed, which finds all that is wrong with it, and then adopted. It may have to be confirmed; until
/// then it is pending, and goes back by itself.
public struct SettingsLedger: Sendable {
    /// The overlay after a change.
    public struct Revision: Sendable, Equatable {
        public var number: Int
        /// With its secrets; see ``Secrets``.
        public var overlay: Value
        /// Nanoseconds of UTC since 1970.
        public var time: Int64
        /// Who asked for it, in his own words.
        public var source: String
        /// Keys whose values it changed.
        public var changed: [String]
        /// False while it waits for its confirmation, and when it had to be left.
        public var isGood: Bool
    }

    /// A change that goes back by itself unless it is confirmed.
    public struct Pending: Sendable, Equatable {
        public var revision: Int
        /// Nanoseconds of UTC since 1970.
        public var deadline: Int64
        /// The same by the clock that never jumps; this one counts while the process lives.
        public var deadlineMonotonic: Int64
        /// The number of the link's connection at the change; 0 after a restart.
        public var connection: UInt64
        /// The change makes the link connect anew, so that an older connection proves nothing.
        public var needsNewConnection: Bool
        /// Seconds that were given.
        var seconds: Double
    }

    public enum Change: Sendable, Equatable {
        /// JSON Merge Patch (RFC 7396) on the overlay: null takes a key out of it.
        case merge(Value)
        /// Without an overlay.
        case reset
        /// To a revision that is kept; nil: the last good one that differs.
        case rollback(to: Int?)
    }

    /// A change that has nothing wrong with it, and what it would do.
    public struct Proposal: Sendable {
        public var settings: LoadedSettings
        /// With its secrets; see ``Secrets``.
        public var overlay: Value
        /// Keys whose values change, such as `axes.x.filter`.
        public var changed: [String]
        /// Those of them that take effect at once, when the sensor is opened again, and with the next start.
        public var live: [String]
        public var restartStream: [String]
        public var needsRestart: [String]
        /// Broker, credentials, TLS, protocol or root change: must be confirmed.
        public var reconnects: Bool
        /// Who is to be asked whether it can be made.
        public var owners: [SettingOwner]
    }

    /// A change that was refused.
    public struct Rejected: Sendable, Equatable {
        /// Nanoseconds of UTC since 1970.
        public var time: Int64
        public var source: String
        /// As it was sent, without secrets; null when it was too long to keep.
        public var patch: Value
        /// Error objects as in replies.
        public var errors: [Value]

        /// For replies: `t` is left to the caller.
        public var value: Value {
            ["source": .string(source), "set": patch, "errors": .array(errors)]
        }
    }

    /// What happened to the overlay without anybody having asked for it.
    public struct Note: Sendable, Equatable {
        public enum Kind: String, Sendable {
            /// The document could not be read.
            case damaged
            /// With the present settings file the overlay is not valid.
            case refused
            /// Parts of the overlay may not be set remotely any more.
            case locked
            /// A pending change was not confirmed in time.
            case ranOut = "not_confirmed"
            /// The agent died three times soon after a change.
            case died
        }
        public var kind: Kind
        /// The revision that was left; 0 when it is not known.
        public var revision: Int
        /// For people.
        public var message: String
        public var errors: [CodedError]

        public init(_ kind: Kind, _ revision: Int, _ message: String, _ errors: [CodedError] = []) {
            self.kind = kind
            self.revision = revision
            self.message = message
            self.errors = errors
        }
    }

    /// A young change that the agent has yet to outlive.
    struct Trial: Sendable, Equatable {
        /// When it took effect, nanoseconds of UTC since 1970.
        var since: Int64
        /// How often the agent has died since.
        var deaths = 0
        /// Part of it takes effect with the next start only: the time counts from there.
        var awaitsStart = false
    }

    /// How many revisions are kept, the one in force included.
    static let kept = 10
    /// So many deaths within so long of a change take it back.
    static let deaths = 3
    static let trialTime: Int64 = 600_000_000_000
    /// A refused change longer than this is not kept (bytes).
    static let keptPatch = 16_384

    let layers: SettingsLayers
    /// The brokers that the settings name without what was set remotely.
    let named: [String]
    /// The settings that this process began with.
    var initial: LoadedSettings
    /// The settings in force.
    public internal(set) var settings: LoadedSettings
    /// Oldest first, at most ten; the last is in force. Never empty.
    public internal(set) var revisions: [Revision]
    public internal(set) var pending: Pending?
    public internal(set) var lastRejected: Rejected?
    var trial: Trial?
    /// Since when this process has lived with it (ns of the clock that never jumps).
    var trialBegan: Int64 = 0
    /// A start that no orderly end has followed.
    var isRunning = false

    init(_ layers: SettingsLayers, _ base: LoadedSettings) {
        self.layers = layers
        named = base.configuration.mqtt.uris
        initial = base
        settings = base
        revisions = [Revision(number: 0, overlay: [:], time: 0, source: "", changed: [], isGood: true)]
    }

    var current: Revision {
        get { revisions[revisions.count - 1] }
        set { revisions[revisions.count - 1] = newValue }
    }

    /// The number of the revision in force; 0 before any change.
    public var revision: Int { current.number }

    /// What has been set remotely, without secrets.
    public var shownOverlay: Value { Secrets.hidden(in: current.overlay) }

    /// Keys whose values in force wait for the next start.
    public var needsRestart: [String] { SettingsDifference(initial.configuration, settings.configuration).restart }
}
