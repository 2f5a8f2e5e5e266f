import Messages
import Platform
import Values

/// Remote settings, as a ledger of revisions above the layers that the process was started with. A value: time is
/// passed in, and the part that must survive a restart is one document.
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
        /// Sender of the change, in his own words.
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
        /// Changed keys that take effect at once, when the sensor is opened again, and with the next start.
        public var live: [String]
        public var restartStream: [String]
        public var needsRestart: [String]
        /// Broker, credentials, TLS, protocol or root change: must be confirmed.
        public var reconnects: Bool
        /// Owners who are asked whether it can be made.
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

    /// Change of the overlay that nobody has asked for.
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
        /// Number of the agent's deaths since.
        var deaths = 0
        /// Part of it takes effect with the next start only: the time counts from there.
        var awaitsStart = false
    }

    /// Number of revisions that are kept, the one in force included.
    static let kept = 10
    /// So many deaths within so long of a change take it back.
    static let deaths = 3
    static let trialTime: Int64 = 600_000_000_000
    /// A refused change longer than this is not kept (bytes).
    static let keptPatch = 16_384

    private let layers: SettingsLayers
    /// The brokers that the settings name without what was set remotely.
    private let named: [String]
    /// The settings that this process began with.
    private var initial: LoadedSettings
    /// The settings in force.
    public private(set) var settings: LoadedSettings
    /// Oldest first, at most ten; the last is in force. Never empty.
    public private(set) var revisions: [Revision]
    public private(set) var pending: Pending?
    public private(set) var lastRejected: Rejected?
    private(set) var trial: Trial?
    /// Since when this process has lived with it (ns of the clock that never jumps).
    private var trialBegan: Int64 = 0
    /// A start that no orderly end has followed.
    private var isRunning = false

    init(_ layers: SettingsLayers, _ base: LoadedSettings) {
        self.layers = layers
        named = base.configuration.mqtt.uris
        initial = base
        settings = base
        revisions = [Revision(number: 0, overlay: [:], time: 0, source: "", changed: [], isGood: true)]
    }

    private var current: Revision {
        get { revisions[revisions.count - 1] }
        set { revisions[revisions.count - 1] = newValue }
    }

    /// The number of the revision in force; 0 before any change.
    public var revision: Int { current.number }

    /// Remote settings, without secrets.
    public var shownOverlay: Value { Secrets.hidden(in: current.overlay) }

    /// Keys whose values in force wait for the next start.
    public var needsRestart: [String] { SettingsDifference(initial.configuration, settings.configuration).restart }
}

extension SettingsLedger {
    /// Proposes a change and lists its effects. Nothing is changed: a dry run ends here.
    ///
    /// - Parameters:
    ///   - ifRevision: refuse unless this is the revision in force.
    ///   - confirm: seconds within which the change is to be confirmed.
    /// - Throws: everything that is wrong. Paths are those of settings, or `/if_rev`, `/confirm_s` and `/to_rev`.
    public func propose(
        _ change: Change, ifRevision: Int? = nil, confirm: Double? = nil
    ) throws(CodedErrors) -> Proposal {
        var errors = requestErrors(change, ifRevision, confirm)
        var overlay = current.overlay
        var patch: Layer?
        switch change {
        case .merge(let value):
            let layer = merge(value, into: &overlay, &errors)
            patch = layer
        case .reset: overlay = [:]
        case .rollback(let number):
            do throws(CodedError) { overlay = try target(number).overlay } catch { errors.append(error) }
        }
        overlay = permitted(overlay)
        var proposal: Proposal
        do throws(CodedErrors) {
            proposal = self.proposal(try layers.load(overlay: overlay, beside: errors), overlay)
            if let patch, let other = withoutOldCredentials(proposal, patch) {
                proposal = self.proposal(try layers.load(overlay: other), other)
            }
        } catch {
            throw CodedErrors(patch.map { asWritten(error.errors, $0) } ?? error.errors)
        }
        guard !isWayBack(change) else { return proposal }
        if let downgrade = downgrade(proposal.settings.configuration) { errors.append(downgrade) }
        if proposal.reconnects, confirm == nil {
            errors.append(
                CodedError(
                    "/confirm_s", .crossField,
                    "A change of the broker, of credentials or of the root needs confirm_s.",
                    allowed: "\(Int(CommandLimits.confirm.lowerBound))…\(Int(CommandLimits.confirm.upperBound)) s"))
        }
        guard errors.isEmpty else { throw CodedErrors(errors) }
        return proposal
    }

    /// Puts a proposal in force, as a new revision; without one when the overlay is as before.
    ///
    /// - Parameters:
    ///   - confirm: seconds until it goes back by itself; nil: it stays.
    ///   - source: who asked for it.
    ///   - now: nanoseconds of UTC since 1970.
    ///   - monotonic: nanoseconds of the clock that never jumps.
    ///   - connection: number of the link's present connection.
    /// - Returns: the revision in force.
    @discardableResult
    public mutating func adopt(
        _ proposal: Proposal, confirm: Double?, source: String, now: Int64, monotonic: Int64, connection: UInt64
    ) -> Int {
        guard proposal.overlay != current.overlay else { return revision }
        if pending != nil { current.isGood = false }
        pending = nil
        put(proposal, source, now, isGood: confirm == nil)
        trial = Trial(since: now, awaitsStart: !proposal.needsRestart.isEmpty)
        trialBegan = monotonic
        isRunning = true
        if let confirm {
            let wait = Int64(confirm * 1e9)
            pending = Pending(
                revision: revision, deadline: now + wait, deadlineMonotonic: monotonic + wait,
                connection: connection,
                needsNewConnection: proposal.changed.contains { $0.hasPrefix("mqtt.") }, seconds: confirm)
        }
        return revision
    }

    /// Says which connections prove that the station is reachable with the pending change: those with a higher number.
    public mutating func awaitConfirmation(above connection: UInt64) { pending?.connection = connection }

    /// Keeps the pending change.
    ///
    /// A change that makes the link connect anew is confirmed over a connection made after it, and so is proven to
    /// leave the station reachable. Any other change leaves the connection alone, and is confirmed over any.
    ///
    /// - Parameters:
    ///   - revision: the one that is meant; nil: whichever is pending.
    ///   - connection: number of the link's connection over which the confirmation came.
    /// - Returns: the revision in force.
    /// - Throws: `conflict`.
    @discardableResult
    public mutating func confirm(revision wanted: Int?, connection: UInt64) throws(CodedErrors) -> Int {
        guard let pending else {
            throw CodedErrors([CodedError("", .conflict, "No change waits for a confirmation.")])
        }
        if let wanted, wanted != pending.revision {
            throw CodedErrors([
                CodedError(
                    "/rev", .conflict, "Another revision waits for a confirmation.", got: .int(Int64(wanted)),
                    allowed: "\(pending.revision)")
            ])
        }
        guard connection > pending.connection || !pending.needsNewConnection else {
            throw CodedErrors([
                CodedError(
                    "", .conflict, "This came over a connection that was made before the change.",
                    allowed: "a connection made after it")
            ])
        }
        self.pending = nil
        current.isGood = true
        // What takes effect with the next start only has proven nothing yet.
        if trial?.awaitsStart == false { endTrial() }
        return revision
    }

    /// Takes the pending change back: the last good revision comes into force, under a number of its own.
    ///
    /// - Parameter now: nanoseconds of UTC since 1970.
    /// - Returns: what this changes; nil when nothing is pending.
    public mutating func revert(now: Int64) -> Proposal? {
        guard pending != nil else { return nil }
        let (proposal, _) = goBack("not confirmed in time", now)
        trial = nil
        return proposal
    }

    /// Remembers a change that was refused.
    public mutating func reject(_ patch: Value, _ errors: [CodedError], source: String, now: Int64) {
        let shown = Secrets.hidden(in: patch)
        lastRejected = Rejected(
            time: now, source: Self.short(source), patch: shown.json().count > Self.keptPatch ? .null : shown,
            errors: errors.map(\.value))
    }

    // MARK: parts

    /// Whether a change goes back to where the pending one came from: the only one that is possible meanwhile.
    private func isWayBack(_ change: Change) -> Bool {
        guard pending != nil, case .rollback(let number) = change else { return false }
        return number == nil || number == lastGood?.number
    }

    private func requestErrors(_ change: Change, _ ifRevision: Int?, _ confirm: Double?) -> [CodedError] {
        var errors: [CodedError] = []
        if let ifRevision, ifRevision != revision {
            errors.append(
                CodedError(
                    "/if_rev", .conflict, "The revision in force is \(revision).", got: .int(Int64(ifRevision)),
                    allowed: "\(revision)"))
        }
        if let confirm, !CommandLimits.confirm.contains(confirm) {
            errors.append(
                CodedError(
                    "/confirm_s", .range, "This value is out of range.", got: .shortest(confirm),
                    allowed: "\(Int(CommandLimits.confirm.lowerBound))…\(Int(CommandLimits.confirm.upperBound)) s"))
        }
        if let pending, !isWayBack(change) {
            errors.append(
                CodedError(
                    "", .conflict, "Revision \(pending.revision) waits for its confirmation.",
                    allowed: "config-confirm, or config-rollback to the revision before"))
        }
        return errors
    }

    /// Puts what is valid of a patch into the overlay.
    private func merge(_ patch: Value, into overlay: inout Value, _ errors: inout [CodedError]) -> Layer {
        var findings = Findings()
        let layer = Layer(.overlay, Document(root: patch), &findings)
        var refused: Set<String> = []
        var changes: [(key: String, value: Value)] = []
        for given in layer.given {
            // `***` given back: as it is. Null on a group: for what has been set below it.
            if given.setting.isSecret, given.value == .string(Secrets.mask) { continue }
            if given.value == .null, !isWritten(given.pointer, in: patch),
                SettingsTree.value(at: given.key, in: overlay) == nil
            {
                continue
            }
            guard let reason = lock(on: given.key, given.value) else {
                changes.append((given.key, given.value))
                continue
            }
            guard refused.insert(given.pointer).inserted else { continue }
            let got = given.setting.shown(given.value) ?? .string(Secrets.mask)
            findings.add(CodedError(given.pointer, .locked, reason, got: got, source: .overlay))
        }
        errors += findings.errors
        overlay = MergePatch.apply(SettingsTree.build(changes), to: overlay) { path in
            SettingsTable.setting(path.joined(separator: ".")) != nil
        }
        return layer
    }

    /// Whether a patch has something at a pointer, and not only null on a group above it.
    private func isWritten(_ pointer: String, in patch: Value) -> Bool {
        var node = patch
        for part in pointer.split(separator: "/") {
            guard let child = node[String(part)] else { return false }
            node = child
        }
        return true
    }

    /// Reason why a key cannot be given this value; nil when it can.
    private func lock(on key: String, _ value: Value) -> String? {
        if settings.isLocked(key) {
            guard let setting = SettingsTable.setting(key), !setting.isRemote else {
                return "The settings file locks this."
            }
            return setting.isUnlockable
                ? "This is not to be set remotely, unless the settings file has it under `unlocked`."
                : "This is not to be set remotely."
        }
        if value != .null, settings.origins[key]?.source == .commandLine {
            return "The command line that the agent was started with gives this."
        }
        return nil
    }

    /// Part of an overlay that is allowed today, in the table's order.
    private func permitted(_ overlay: Value) -> Value {
        SettingsTree.build(
            SettingsTable.settings.flatMap(\.concreteKeys).compactMap { (key, _) -> (key: String, value: Value)? in
                guard let value = SettingsTree.value(at: key, in: overlay), !settings.isLocked(key) else {
                    return nil
                }
                return (key, value)
            })
    }

    /// Errors at the places where the patch has the values: what came from `axes.all` is said once, there.
    private func asWritten(_ errors: [CodedError], _ patch: Layer) -> [CodedError] {
        var written: [CodedError] = []
        for error in errors {
            var error = error
            let given = patch.given.first { JSONPointer.isPrefix(JSONPointer.of(key: $0.key), of: error.path) }
            if error.source == .overlay, let given {
                error.path = given.pointer + error.path.dropFirst(JSONPointer.of(key: given.key).count)
            }
            if !written.contains(error) { written.append(error) }
        }
        return written
    }

    /// The revision that a rollback asks for.
    private func target(_ number: Int?) throws(CodedError) -> Revision {
        if let number {
            if let found = revisions.first(where: { $0.number == number }) { return found }
            throw CodedError(
                "/to_rev", .range, "This revision is not kept.", got: .int(Int64(number)),
                allowed: revisions.map { String($0.number) }.joined(separator: ", "))
        }
        if let lastGood { return lastGood }
        throw CodedError("", .conflict, "There is no other good revision to go back to.")
    }

    /// The newest good revision before the one in force that differs from it.
    private var lastGood: Revision? {
        revisions.dropLast().last { $0.isGood && $0.overlay != current.overlay }
    }

    private func proposal(_ loaded: LoadedSettings, _ overlay: Value) -> Proposal {
        let difference = SettingsDifference(settings.configuration, loaded.configuration)
        let groups = ["mqtt.uri", "mqtt.username", "mqtt.password", "mqtt.root", "mqtt.tls.", "mqtt.protocol"]
        return Proposal(
            settings: loaded, overlay: overlay, changed: difference.changed, live: difference.live,
            restartStream: difference.restartStream, needsRestart: difference.restart,
            reconnects: difference.changed.contains { key in groups.contains { key.hasPrefix($0) } },
            owners: difference.owners)
    }

    /// A new revision in force.
    private mutating func put(_ proposal: Proposal, _ source: String, _ now: Int64, isGood: Bool) {
        settings = proposal.settings
        revisions.append(
            Revision(
                number: revision + 1, overlay: proposal.overlay, time: now, source: Self.short(source),
                changed: proposal.changed, isGood: isGood))
        if revisions.count > Self.kept { revisions.removeFirst(revisions.count - Self.kept) }
    }

    /// Leaves the revision in force for the newest good one that is valid with the layers of today, or for none.
    private mutating func goBack(_ source: String, _ now: Int64) -> (Proposal, to: Revision?) {
        let left = current
        current.isGood = false
        pending = nil
        for candidate in revisions.dropLast().reversed() where candidate.isGood && candidate.overlay != left.overlay {
            let overlay = permitted(candidate.overlay)
            guard let loaded = try? layers.load(overlay: overlay) else { continue }
            let proposal = proposal(loaded, overlay)
            put(proposal, source, now, isGood: true)
            return (proposal, candidate)
        }
        let base = (try? layers.load(overlay: nil)) ?? settings
        let proposal = proposal(base, [:])
        put(proposal, source, now, isGood: true)
        return (proposal, nil)
    }

    private static func short(_ text: String) -> String { text.utf8.count > 256 ? String(text.prefix(64)) : text }
}

extension SettingsLedger {
    /// To be told at each start, before anything else is done.
    ///
    /// When the agent has died three times within ten minutes of a change, the change is left for the last good revision.
    /// Should that one be as young, it is on trial in turn.
    ///
    /// - Parameters:
    ///   - now: nanoseconds of UTC since 1970.
    ///   - monotonic: nanoseconds of the clock that never jumps.
    public mutating func started(now: Int64, monotonic: Int64 = 0) -> Note? {
        var note: Note?
        trialBegan = monotonic
        if var young = trial {
            // Boards without a clock of their own start in the past.
            if isRunning, now - young.since < Self.trialTime { young.deaths += 1 }
            if young.awaitsStart {
                young.awaitsStart = false
                young.since = now
            }
            trial = now - young.since < Self.trialTime ? young : nil
            if young.deaths >= Self.deaths {
                let left = revision
                let (_, target) = goBack("the agent died \(young.deaths) times", now)
                trial = target.map(isProven) ?? true ? nil : Trial(since: now)
                note = Note(
                    .died, left,
                    "The agent died \(young.deaths) times within ten minutes of revision \(left): it went back.")
            }
        }
        initial = settings
        isRunning = trial != nil
        return note
    }

    /// To be told at each orderly end.
    public mutating func ended() { isRunning = false }

    /// Ends the trial of a change with which this process has lived for ten minutes. (The next start cannot tell: the clock
    /// of a board without a battery for it begins in the past each time.)
    /// - Parameter monotonic: nanoseconds of the clock that never jumps.
    /// - Returns: whether there is something to write down.
    public mutating func lived(monotonic: Int64) -> Bool {
        guard let trial, !trial.awaitsStart, monotonic - trialBegan >= Self.trialTime else { return false }
        endTrial()
        return true
    }

    /// It has proven good: deaths from now on have other causes.
    private mutating func endTrial() {
        trial = nil
        isRunning = false
    }

    /// Whether a revision was in force for long enough to be trusted.
    private func isProven(_ revision: Revision) -> Bool {
        guard let i = revisions.firstIndex(where: { $0.number == revision.number }), i + 1 < revisions.count else {
            return true
        }
        return revision.number == 0 || revisions[i + 1].time - revision.time >= Self.trialTime
    }
}

/// Which broker gets what the station has to get in with.
extension SettingsLedger {
    /// Settings as the link may use them. What the settings file has to get in with (user, password, certificate, shared
    /// key) goes to the brokers that the file names. As soon as a command names another, none of it leaves, and the
    /// station gets in with what was set remotely, or with nothing.
    func guarded(_ settings: LoadedSettings) -> Configuration {
        var configuration = settings.configuration
        guard !configuration.mqtt.uris.allSatisfy(isNamedByFile) else { return configuration }
        func isRemote(_ key: String) -> Bool { settings.origins[key]?.source == .overlay }
        if !isRemote("mqtt.username") { configuration.mqtt.username = "" }
        if !isRemote("mqtt.password") { configuration.mqtt.password = "" }
        configuration.mqtt.passwordFile = ""
        (configuration.mqtt.tls.certFile, configuration.mqtt.tls.keyFile) = ("", "")
        (configuration.mqtt.tls.pskIdentity, configuration.mqtt.tls.pskFile) = ("", "")
        return configuration
    }

    /// Settings as this process can work with them: those that take effect at the next start only are as they were at this
    /// one, and what the station gets in with goes to no broker that it is not for.
    public func inForce(_ settings: LoadedSettings) -> Configuration {
        var mixed = guarded(settings)
        var findings = Findings()
        for setting in SettingsTable.settings where setting.apply == .restart {
            for (key, axis) in setting.concreteKeys {
                setting.read(
                    setting.write(initial.configuration, axis), JSONPointer.of(key: key), axis, &mixed, &findings)
            }
        }
        return mixed
    }

    /// The revision whose connection is on trial: what a broker takes meanwhile counts once the change is confirmed. 0:
    /// none is.
    public var connectionTrial: Int { pending?.needsNewConnection == true ? revision : 0 }

    private func isNamedByFile(_ uri: String) -> Bool { named.contains { Self.isSame($0, uri) } }

    /// A change that takes the encryption away which a command must not take away; nil: it does not.
    func downgrade(_ new: Configuration) -> CodedError? {
        let old = settings.configuration.mqtt
        let plain = new.mqtt.uris.first { uri in
            !Self.isEncrypted(uri) && !isNamedByFile(uri) && !old.uris.contains { Self.isSame($0, uri) }
        }
        guard let plain, old.uris.contains(where: Self.isEncrypted) else { return nil }
        return CodedError(
            "/mqtt/uri", .downgrade, "A command must not replace an encrypted connection by an unencrypted one.",
            got: .string(plain), allowed: "mqtts://, or a broker that the settings file names", source: .overlay)
    }

    /// An overlay without the user and the password that were set remotely for other brokers than those that the patch
    /// names; nil: there are none.
    private func withoutOldCredentials(_ proposal: Proposal, _ patch: Layer) -> Value? {
        let old = settings.configuration.mqtt.uris
        let isNew = proposal.settings.configuration.mqtt.uris.contains { uri in
            !old.contains { Self.isSame($0, uri) }
        }
        guard isNew else { return nil }
        let stale = ["mqtt.username", "mqtt.password"].filter { key in
            SettingsTree.value(at: key, in: proposal.overlay) != nil
                && !patch.given.contains { $0.key == key && $0.value != .string(Secrets.mask) }
        }
        guard !stale.isEmpty else { return nil }
        return MergePatch.apply(SettingsTree.build(stale.map { ($0, .null) }), to: proposal.overlay)
    }

    private static func isEncrypted(_ uri: String) -> Bool { uri.hasPrefix("mqtts://") }

    /// Whether two addresses (that are valid) are those of one broker.
    private static func isSame(_ a: String, _ b: String) -> Bool { full(a) == full(b) }

    /// With its port.
    private static func full(_ uri: String) -> String {
        let uri = uri.lowercased()
        // `mqtt://host`, or an IPv6 address in brackets, with nothing behind.
        let isBare = uri.last == "]" || !uri.contains("[") && uri.count(where: { $0 == ":" }) == 1
        return isBare ? "\(uri):\(MQTTConfiguration.standardPort(isEncrypted: isEncrypted(uri)))" : uri
    }
}

extension SettingsLedger {
    /// Version of the document's form.
    private static let version: Int64 = 1
    /// All keys of the document.
    static let documentKeys = ["v", "revisions", "pending", "rejected", "trial"]

    /// The ledger of a process that starts.
    ///
    /// Settings that were valid never keep the agent from starting: what cannot be used of the document is left aside,
    /// and the notes say so.
    ///
    /// - Parameters:
    ///   - layers: what the process was started with.
    ///   - document: what ``document`` was; nil when there is none.
    ///   - now: nanoseconds of UTC since 1970.
    ///   - monotonic: nanoseconds of the clock that never jumps.
    /// - Throws: the errors of the layers, which are not valid even without an overlay.
    public static func open(
        _ layers: SettingsLayers, document: Value?, now: Int64, monotonic: Int64 = 0
    ) throws(CodedErrors) -> (ledger: SettingsLedger, notes: [Note]) {
        var ledger = SettingsLedger(layers, try layers.load(overlay: nil))
        guard let document else { return (ledger, []) }
        var notes: [Note] = []
        guard ledger.read(document) else {
            return (
                SettingsLedger(layers, ledger.settings),
                [Note(.damaged, 0, "What was set remotely cannot be read: the settings file alone holds.")]
            )
        }
        let overlay = ledger.permitted(ledger.current.overlay)
        do throws(CodedErrors) {
            let proposal = ledger.proposal(try layers.load(overlay: overlay), overlay)
            if overlay == ledger.current.overlay {
                ledger.settings = proposal.settings
            } else {
                notes.append(
                    Note(
                        .locked, ledger.revision,
                        "Revision \(ledger.revision) sets what is locked or unknown now: that was taken out of it."))
                ledger.put(proposal, "start", now, isGood: ledger.current.isGood)
                let number = ledger.revision
                ledger.pending?.revision = number
            }
        } catch {
            let left = ledger.revision
            _ = ledger.goBack("start", now)
            ledger.trial = nil
            notes.append(
                Note(.refused, left, "Revision \(left) is not valid with the settings file of today.", error.errors))
        }
        if var pending = ledger.pending {
            let left = min(pending.deadline - now, Int64(pending.seconds * 1e9))
            if left <= 0 {
                _ = ledger.revert(now: now)
                notes.append(
                    Note(.ranOut, pending.revision, "Revision \(pending.revision) was not confirmed in time."))
            } else {
                (pending.deadlineMonotonic, pending.connection) = (monotonic + left, 0)
                ledger.pending = pending
            }
        }
        ledger.initial = ledger.settings
        return (ledger, notes)
    }

    /// All that must survive a restart, secrets included: for a file that nobody else may read.
    public var document: Value {
        var members: [Value.Member] = [
            .init("v", .int(Self.version)),
            .init(
                "revisions",
                .array(
                    revisions.map { revision in
                        [
                            "rev": .int(Int64(revision.number)), "t": .int(revision.time),
                            "source": .string(revision.source),
                            "changed": .array(revision.changed.map { .string($0) }), "good": .bool(revision.isGood),
                            "overlay": revision.overlay,
                        ]
                    })),
        ]
        if let pending {
            members.append(
                .init(
                    "pending",
                    [
                        "deadline": .int(pending.deadline), "seconds": .shortest(pending.seconds),
                        "reconnects": .bool(pending.needsNewConnection),
                    ]))
        }
        if let rejected = lastRejected {
            members.append(
                .init(
                    "rejected",
                    [
                        "t": .int(rejected.time), "source": .string(rejected.source), "set": rejected.patch,
                        "errors": .array(rejected.errors),
                    ]))
        }
        if let trial {
            members.append(
                .init(
                    "trial",
                    [
                        "since": .int(trial.since), "deaths": .int(Int64(trial.deaths)),
                        "awaits_start": .bool(trial.awaitsStart), "running": .bool(isRunning),
                    ]))
        }
        return .object(members)
    }

    /// Takes a document over; false when it is none, and then the ledger is of no use.
    private mutating func read(_ document: Value) -> Bool {
        guard document["v"] == .int(Self.version), case .array(let list)? = document["revisions"], !list.isEmpty,
            list.count <= Self.kept
        else { return false }
        revisions = []
        for one in list {
            guard let number = one["rev"]?.integer, number >= 0, number < 1 << 53, let time = Self.time(one["t"]),
                case .string(let source)? = one["source"], case .array(let keys)? = one["changed"],
                case .bool(let isGood)? = one["good"], let overlay = one["overlay"], case .object = overlay,
                revisions.last.map({ $0.number < number }) ?? true
            else { return false }
            let changed = keys.compactMap { key in
                if case .string(let name) = key { name } else { nil }
            }
            revisions.append(
                Revision(
                    number: Int(number), overlay: overlay, time: time, source: source, changed: changed,
                    isGood: isGood))
        }
        if let rejected = document["rejected"] {
            guard let time = Self.time(rejected["t"]), case .string(let source)? = rejected["source"],
                case .array(let errors)? = rejected["errors"]
            else { return false }
            lastRejected = Rejected(time: time, source: source, patch: rejected["set"] ?? .null, errors: errors)
        }
        return readPending(document["pending"]) && readTrial(document["trial"])
    }

    /// Nanoseconds since 1970; the bound keeps differences from overflowing.
    private static func time(_ value: Value?) -> Int64? {
        value?.integer.flatMap { (0..<1 << 62).contains($0) ? $0 : nil }
    }

    private mutating func readPending(_ value: Value?) -> Bool {
        guard let value else { return true }
        guard let deadline = Self.time(value["deadline"]), let seconds = value["seconds"]?.number,
            CommandLimits.confirm.contains(seconds), case .bool(let reconnects)? = value["reconnects"]
        else { return false }
        pending = Pending(
            revision: revision, deadline: deadline, deadlineMonotonic: 0, connection: 0,
            needsNewConnection: reconnects, seconds: seconds)
        return true
    }

    private mutating func readTrial(_ value: Value?) -> Bool {
        guard let value else { return true }
        guard let since = Self.time(value["since"]), let deaths = value["deaths"]?.integer,
            (0..<100).contains(deaths), case .bool(let awaitsStart)? = value["awaits_start"],
            case .bool(let running)? = value["running"]
        else { return false }
        trial = Trial(since: since, deaths: Int(deaths), awaitsStart: awaitsStart)
        isRunning = running
        return true
    }
}

extension SettingsLedger {
    /// Name of the file in the storage directory that keeps the document.
    public static let fileName = "settings.json"

    /// The file of a storage directory.
    public static func file(in directory: String, files: any FileLayer = SystemFiles()) -> DurableFile {
        DurableFile(directory: directory, name: fileName, keepsFormer: true, files: files)
    }

    /// The bytes of the file.
    public var fileBytes: [UInt8] { SealedDocument.bytes(document) }

    /// The ledger with the document that the storage directory of the layers has; where that is damaged, with the one before
    /// it, and a note that says so. Nothing is written.
    ///
    /// - Returns: `isSealed`: the file has a check sum, or there is none.
    /// - Throws: the errors of the layers, which are not valid even without an overlay.
    public static func stored(
        _ layers: SettingsLayers, now: Int64, monotonic: Int64 = 0
    ) throws(CodedErrors) -> (ledger: SettingsLedger, notes: [Note], isSealed: Bool) {
        let (base, _) = try open(layers, document: nil, now: now)
        let file = file(in: base.settings.configuration.storage.directory)
        guard SettingsFile.exists(file.path) else { return (base, [], true) }
        let problem: CodedError
        switch read(file.path) {
        case .success(let (document, isSealed)):
            let (ledger, notes) = try open(layers, document: document, now: now, monotonic: monotonic)
            guard notes.contains(where: { $0.kind == .damaged }) else { return (ledger, notes, isSealed) }
            problem = CodedError("", .syntax, "It is not a document of this version.")
        case .failure(let error): problem = error
        }
        let words = "\(file.path) cannot be read: \(problem.message)"
        if case .success(let (document, _)) = read(file.formerPath) {
            let (ledger, others) = try open(layers, document: document, now: now, monotonic: monotonic)
            if !others.contains(where: { $0.kind == .damaged }) {
                let message = "\(words) The file before it holds, with revision \(ledger.revision)."
                return (ledger, [Note(.damaged, ledger.revision, message, [problem])] + others, false)
            }
        }
        return (base, [Note(.damaged, 0, "\(words) The settings file alone holds.", [problem])], false)
    }

    private static func read(_ path: String) -> Result<(document: Value, isSealed: Bool), CodedError> {
        do throws(CodedError) {
            return .success(try SealedDocument.read(try SettingsFile.read(path, isOwn: true), known: documentKeys))
        } catch { return .failure(error) }
    }
}

extension SettingsLayers {
    /// Reads the files.
    ///
    /// - Parameters:
    ///   - path: of the settings file; nil for none.
    ///   - preset: name of a preset, or path of a file; nil for none.
    ///   - stationID: taken where nothing gives one.
    public init(
        path: String?, preset: String? = nil, overrides: [String] = [], stationID: String = ""
    ) throws(CodedErrors) {
        self.init(overrides: overrides, stationID: stationID)
        do throws(CodedError) {
            if let preset { self.preset = try Preset.bytes(preset) }
            if let path { file = try SettingsFile.read(path) }
        } catch {
            // That lists what else is wrong.
            _ = try Settings.load(path: path, preset: preset, overrides: overrides)
            throw CodedErrors([error])
        }
    }
}
