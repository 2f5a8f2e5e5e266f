import Values

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
