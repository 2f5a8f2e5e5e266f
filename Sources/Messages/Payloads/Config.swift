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

    /// Rises with every applied change.
    public var revision: Int
    /// The effective tree, SI numbers, secrets as `***`.
    public var config: Value
    public var sources: Sources
    public var pending: Pending?
    /// Keys whose new values need a restart.
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

    func write(to json: inout JSONWriter) {
        json.key("rev")
        json.int(revision)
        json.key("sha256")
        json.string(SHA256.hexDigest(of: config.canonicalJSON()))
        json.key("config")
        json.value(config)
        json.key("sources")
        json.beginObject()
        json.list("file", sources.file)
        json.list("overlay", sources.overlay)
        json.list("command_line", sources.commandLine)
        json.endObject()
        json.key("pending")
        if let pending {
            json.beginObject()
            json.key("rev")
            json.int(pending.revision)
            json.key("deadline")
            json.time(pending.deadline)
            json.endObject()
        } else {
            json.null()
        }
        json.list("needs_restart", needsRestart)
    }
}
