import Messages
import Platform
import Settings
import Values

/// The settings in force and what was set remotely, with the file that keeps it. For the main thread only, which does not
/// wait for the disk: see ``ChangeCoordinator`` for what comes first.
public final class SettingsKeeper {
    /// Seconds between two writes that only tell of refused changes (ns).
    private static let rejectionPause: Int64 = 60_000_000_000

    /// Settings that this process works with.
    struct InForce {
        let ledger: SettingsLedger
        /// Without what waits for the next start, and without what the station must not get in with.
        let configuration: Configuration

        init(_ ledger: SettingsLedger) {
            self.ledger = ledger
            configuration = ledger.inForce(ledger.settings)
        }
    }

    public private(set) var ledger: SettingsLedger
    /// They follow the ledger when all owners have made a change.
    private(set) var inForce: InForce
    /// Events of the overlay at the start.
    public private(set) var notes: [SettingsLedger.Note]
    /// Makes the writes; nil: they are made at once, as before there are threads.
    var writes: FileWrites?
    private let store: DurableFile
    /// Content of the file, or its content when all that was handed to `writes` is made; nil when that is not known.
    private var written: Value?
    private var lastRejection: Int64?

    public var settings: LoadedSettings { ledger.settings }

    /// When a change that nobody has confirmed goes back. (Swift 6.0's verifier ends the compiler where the dispatcher, which
    /// is not copyable, looks into `pending` itself.)
    var reverts: Int64? { ledger.pending?.deadlineMonotonic }

    /// Reads what was set remotely from the storage directory that the layers name.
    ///
    /// - Parameter setsAside: a damaged file is put out of the way; false to leave everything as it is.
    /// - Throws: the errors of the layers, which are not valid even without an overlay.
    public convenience init(_ layers: SettingsLayers, setsAside: Bool = true) throws(CodedErrors) {
        let found = try SettingsLedger.stored(layers, now: HostClock.wall(), monotonic: HostClock.monotonic())
        self.init(found.ledger, found.notes, isSealed: found.isSealed, files: SystemFiles())
        let isDamaged = notes.contains { $0.kind == .damaged && $0.errors.first?.code != .unavailable }
        if setsAside, isDamaged { store.setAside() }
    }

    /// - Parameter isSealed: the file has a check sum, or there is none; one without is written anew at the start.
    init(
        _ ledger: SettingsLedger, _ notes: [SettingsLedger.Note], isSealed: Bool = true, files: any FileLayer
    ) {
        self.ledger = ledger
        inForce = InForce(ledger)
        self.notes = notes
        written = notes.isEmpty && isSealed ? ledger.document : nil
        store = SettingsLedger.file(in: ledger.settings.configuration.storage.directory, files: files)
    }

    /// To be called before the agent does anything with the settings; may go back to an earlier revision.
    public func started() {
        var next = ledger
        if let note = next.started(now: HostClock.wall(), monotonic: HostClock.monotonic()) { notes.append(note) }
        adopt(next)
        putInForce()
        save(next)
    }

    /// Writes down that a change has proven good, once it has; to be called now and then while no change is under way.
    /// - Parameter monotonic: nanoseconds of the clock that never jumps.
    func lookAtTrial(_ monotonic: Int64) {
        if ledger.lived(monotonic: monotonic) { save(ledger) }
    }

    /// To be called at an orderly end.
    public func ended() {
        ledger.ended()
        save(ledger)
    }

    /// Effect that a change would have; see ``SettingsLedger/propose(_:ifRevision:confirm:)``.
    public func propose(
        _ change: SettingsLedger.Change, ifRevision: Int? = nil, confirm: Double? = nil
    ) throws(CodedErrors) -> SettingsLedger.Proposal {
        try ledger.propose(change, ifRevision: ifRevision, confirm: confirm)
    }

    /// From now on a ledger counts: what is asked for next is asked of it, and its owners make its change.
    func adopt(_ next: SettingsLedger) { ledger = next }

    /// The owners have made the change.
    func putInForce() { inForce = InForce(ledger) }

    /// Has a ledger written, unless the file has it.
    /// - Returns: the number of the outcome; nil: there is nothing to wait for.
    @discardableResult
    func save(_ next: SettingsLedger) -> Int? {
        let document = next.document
        if document == written { return nil }
        written = document
        let (store, bytes) = (self.store, next.fileBytes)
        let write: @Sendable () -> String? = {
            do throws(FileError) { try store.write(bytes) } catch { return error.message }
            return nil
        }
        if let writes { return writes.put(.settings, write) }
        if write() != nil { isUnknown() }
        return nil
    }

    /// A write has failed: the file may be the old one or the new one.
    func isUnknown() { written = nil }

    /// Remembers a change that was refused: on the disk not more than once a minute, or with what is written next, so
    /// that a flood of them does not wear it out.
    public func reject(_ patch: Value, _ errors: [CodedError], source: String) {
        ledger.reject(patch, errors, source: source, now: HostClock.wall())
        let now = HostClock.monotonic()
        if let lastRejection, now - lastRejection < Self.rejectionPause { return }
        lastRejection = now
        save(ledger)
    }
}
