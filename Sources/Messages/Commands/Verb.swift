/// The commands, by the last level of their topic.
public enum Verb: String, Sendable, CaseIterable {
    case config
    case configConfirm = "config-confirm"
    case configRollback = "config-rollback"
    case configReset = "config-reset"
    case configGet = "config-get"
    case snapshot, stream
    case resetExtremes = "reset-extremes"
    case calibrate, selftest
    case testEvent = "test-event"
    case alerts, status, rebirth, log, ping, restart

    /// Only tells: asked twice, nothing is different from asked once.
    public var onlyTells: Bool {
        switch self {
        case .configGet, .alerts, .status, .ping: true
        default: false
        }
    }
}
