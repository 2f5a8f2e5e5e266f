import Messages
import Settings

@testable import Agent

extension SettingsKeeper {
    /// Takes a change through the coordinator that concerns nobody but the disk, as the agent does.
    func adopt(
        _ proposal: SettingsLedger.Proposal, confirm: Double?, source: String, connection: UInt64
    ) throws(CodedErrors) -> Int {
        var next = ledger
        next.adopt(
            proposal, confirm: confirm, source: source, now: HostClock.wall(), monotonic: HostClock.monotonic(),
            connection: connection)
        let files = FileWrites(wake: nil, answered: nil)
        writes = files
        defer { writes = nil }
        var (changes, events) = (ChangeCoordinator(), [ChangeCoordinator.Event.start([], isForced: false)])
        var refused: [CodedError] = []
        while !events.isEmpty {
            for action in changes.handle(events.removeFirst(), now: 0) {
                switch action {
                case .persist:
                    _ = save(next)
                    files.work()
                    let problem = files.takeOutcomes().last?.problem
                    if problem != nil { isUnknown() }
                    events.append(.persisted(problem))
                case .restore:
                    _ = save(ledger)
                    files.work()
                case .adopt: adopt(next)
                case .answer(let refusal):
                    refused = refusal?.errors ?? []
                    if refusal == nil { events.append(.answered) }
                default: break
                }
            }
        }
        guard refused.isEmpty else { throw CodedErrors(refused) }
        return ledger.revision
    }
}
