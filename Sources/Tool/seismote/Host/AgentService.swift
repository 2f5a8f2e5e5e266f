import Glibc

/// The service on this machine.
enum AgentService {
    enum Start: Equatable {
        case runs
        /// It has not begun, and nothing goes on with former settings: those that are there are in force from its start.
        case later(String)
        /// systemd was not told: an agent that runs goes on with former settings.
        case failed(String)

        /// Reason why it does not run.
        var problem: String? {
            switch self {
            case .runs: nil
            case .later(let why), .failed(let why): why
            }
        }
    }

    /// Seconds that systemd has for each answer. (A board whose system has just started is slow.)
    static let patience = 60.0

    /// Starts it with the settings that are there, now and at each boot.
    /// - Parameter path: the settings file, for an agent that systemd does not supervise.
    static func start(settings path: String) -> Start {
        if access("/run/systemd/system", F_OK) == 0 { return start(seconds: patience) }
        // An agent that somebody else supervises begins anew with what was saved.
        guard let process = AgentProcesses.with(settings: path), kill(pid_t(process), SIGHUP) == 0 else {
            return .later("systemd does not run here; to start it by hand: seismoted --config \(path)")
        }
        return .runs
    }

    /// Starts it by systemd. The order comes first: what systemd has taken, it does, however long that lasts.
    static func start(seconds: Double, by systemctl: String = "systemctl") -> Start {
        func status(_ words: String...) -> Int32? { ProgramRun([systemctl] + words, seconds: seconds)?.status }
        _ = status("daemon-reload")
        _ = status("enable", "seismote")
        guard status("--no-block", "restart", "seismote") == 0 else {
            return .failed("systemctl restart seismote failed: journalctl -u seismote -n 50 says why")
        }
        // (Waits for the order, or finds that it is done.)
        switch status("start", "seismote") {
        case 0?: return .runs
        case nil: return .later("it takes longer than \(Int(seconds)) s: systemctl status seismote")
        default: return .later("it ended: journalctl -u seismote -n 50 says why")
        }
    }
}
