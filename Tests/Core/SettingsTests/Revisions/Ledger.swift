import Messages
import Values

@testable import Settings

let minute: Int64 = 60_000_000_000
/// A moment in 2026 (ns).
let today: Int64 = 1_770_000_000_000_000_000

/// A ledger with what the tests would repeat.
struct Bench {
    var layers = SettingsLayers()
    var ledger: SettingsLedger
    var notes: [SettingsLedger.Note]
    var now = today

    init(file: String? = nil, overrides: [String] = [], document: Value? = nil, now: Int64 = today) throws {
        layers = SettingsLayers(
            file: file.map { Array($0.utf8) }, overrides: overrides, stationID: "host")
        self.now = now
        (ledger, notes) = try SettingsLedger.open(layers, document: document, now: now)
    }

    /// The process ends, in order or not, and the next one begins with what was written down.
    mutating func restart(orderly: Bool = false, after: Int64 = 0, file: String? = nil) throws {
        if orderly { ledger.ended() }
        now += after
        if let file { layers.file = Array(file.utf8) }
        let written = try JSONReader.read(ledger.document.json())
        (ledger, notes) = try SettingsLedger.open(layers, document: written, now: now)
        if let note = ledger.started(now: now) { notes.append(note) }
    }

    /// Proposes and adopts.
    @discardableResult
    mutating func set(_ patch: Value, confirm: Double? = nil) throws -> Int {
        try change(.merge(patch), confirm: confirm)
    }

    @discardableResult
    mutating func change(_ change: SettingsLedger.Change, confirm: Double? = nil) throws -> Int {
        let proposal = try ledger.propose(change, confirm: confirm)
        return ledger.adopt(
            proposal, confirm: confirm, source: "test", now: now, monotonic: 0, connection: 1)
    }

    func errors(
        _ change: SettingsLedger.Change, ifRevision: Int? = nil, confirm: Double? = nil
    ) -> [CodedError] {
        do throws(CodedErrors) {
            _ = try ledger.propose(change, ifRevision: ifRevision, confirm: confirm)
            return []
        } catch {
            return error.errors
        }
    }

    func errors(_ patch: Value) -> [CodedError] { errors(.merge(patch)) }

    /// Codes with which a confirmation would be refused.
    func confirmation(_ revision: Int?, _ connection: UInt64) -> [CodedError.Code] {
        var copy = ledger
        do throws(CodedErrors) {
            try copy.confirm(revision: revision, connection: connection)
            return []
        } catch {
            return error.errors.map(\.code)
        }
    }
}
