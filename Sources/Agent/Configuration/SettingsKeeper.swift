import Messages
import Settings

/// The settings in force and what was set remotely, with the file that keeps it. For the main thread only.
///
/// What is adopted is on the disk before it is said to be; what cannot be written down is refused.
public final class SettingsKeeper {
    /// Seconds between two writes that only tell of refused changes (ns).
    private static let rejectionPause: Int64 = 60_000_000_000

    public private(set) var ledger: SettingsLedger
    /// What happened to the overlay at the start.
    public private(set) var notes: [SettingsLedger.Note]
    private let store: DurableFile
    /// What the file has; nil when it is not what it should be.
    private var written: Value?
    private var lastRejection: Int64?

    public var settings: LoadedSettings { ledger.settings }

    /// Reads what was set remotely from the storage directory that the layers name.
    ///
    /// - Parameter setsAside: a damaged file is put out of the way; false to leave everything as it is.
    /// - Throws: the errors of the layers, which are not valid even without an overlay.
    public convenience init(_ layers: SettingsLayers, setsAside: Bool = true) throws(CodedErrors) {
        let found = try SettingsLedger.stored(layers, now: HostClock.wall(), monotonic: HostClock.monotonic())
        self.init(found.ledger, found.notes, files: SystemFiles())
        let isDamaged = notes.contains { $0.kind == .damaged && $0.errors.first?.code != .unavailable }
        if setsAside, isDamaged { store.setAside() }
    }

    init(_ ledger: SettingsLedger, _ notes: [SettingsLedger.Note], files: any FileLayer) {
        self.ledger = ledger
        self.notes = notes
        written = notes.isEmpty ? ledger.document : nil
        store = DurableFile(
            directory: ledger.settings.configuration.storage.directory, name: SettingsLedger.fileName, files: files)
    }

    /// To be called before the agent does anything with the settings; may go back to an earlier revision.
    public func started() {
        var next = ledger
        if let note = next.started(now: HostClock.wall()) { notes.append(note) }
        _ = write(next)
    }

    /// To be called at an orderly end.
    public func ended() {
        var next = ledger
        next.ended()
        _ = write(next)
    }

    /// What a change would do; see ``SettingsLedger/propose(_:ifRevision:confirm:)``.
    public func propose(
        _ change: SettingsLedger.Change, ifRevision: Int? = nil, confirm: Double? = nil
    ) throws(CodedErrors) -> SettingsLedger.Proposal {
        try ledger.propose(change, ifRevision: ifRevision, confirm: confirm)
    }

    /// Writes a change down and puts it in force; see ``SettingsLedger/adopt(_:confirm:source:now:monotonic:connection:)``.
    ///
    /// - Returns: the revision in force.
    /// - Throws: `unavailable` when the disk does not take it; then nothing has changed.
    public func adopt(
        _ proposal: SettingsLedger.Proposal, confirm: Double?, source: String, connection: UInt64
    ) throws(CodedErrors) -> Int {
        var next = ledger
        let revision = next.adopt(
            proposal, confirm: confirm, source: source, now: HostClock.wall(), monotonic: HostClock.monotonic(),
            connection: connection)
        try commit(next)
        return revision
    }

    /// Keeps the pending change; see ``SettingsLedger/confirm(revision:connection:)``.
    ///
    /// - Throws: `conflict`, or `unavailable` when the disk does not take it.
    public func confirm(revision: Int?, connection: UInt64) throws(CodedErrors) -> Int {
        var next = ledger
        let revision = try next.confirm(revision: revision, connection: connection)
        try commit(next)
        return revision
    }

    /// Takes the pending change back when its time is over.
    ///
    /// - Returns: what this changes; nil when nothing is due.
    public func revertIfDue() -> SettingsLedger.Proposal? {
        guard let pending = ledger.pending, HostClock.monotonic() >= pending.deadlineMonotonic else { return nil }
        return revert()
    }

    /// Takes the pending change back now. It goes back even when the disk does not take that: then the file has a change
    /// whose time is over.
    public func revert() -> SettingsLedger.Proposal? {
        var next = ledger
        let proposal = next.revert(now: HostClock.wall())
        _ = write(next)
        return proposal
    }

    /// Remembers a change that was refused: on the disk not more than once a minute, or with what is written next, so
    /// that a flood of them does not wear it out.
    public func reject(_ patch: Value, _ errors: [CodedError], source: String) {
        ledger.reject(patch, errors, source: source, now: HostClock.wall())
        let now = HostClock.monotonic()
        if let lastRejection, now - lastRejection < Self.rejectionPause { return }
        lastRejection = now
        _ = write(ledger)
    }

    private func commit(_ next: SettingsLedger) throws(CodedErrors) {
        let before = ledger
        guard let error = write(next) else { return }
        // The failure may have come when the new file was in its place already.
        _ = write(before)
        throw CodedErrors([CodedError("", .unavailable, "This cannot be written down: \(error.message).")])
    }

    /// Puts a ledger in force and on the disk, unless it is there already.
    private func write(_ next: SettingsLedger) -> FileError? {
        ledger = next
        let document = next.document
        if document == written { return nil }
        do throws(FileError) {
            try store.write(document)
            written = document
            return nil
        } catch {
            written = nil
            return error
        }
    }
}
