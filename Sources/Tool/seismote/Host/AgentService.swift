import Glibc

/// The service on this machine.
enum AgentService {
    /// Starts it with the settings that are there, now and at each boot.
    /// - Parameter path: the settings file, for an agent that systemd does not supervise.
    /// - Returns: why it was not started; nil: it was.
    static func start(settings path: String) -> String? {
        if access("/run/systemd/system", F_OK) == 0 {
            _ = ProgramRun(["systemctl", "daemon-reload"])
            _ = ProgramRun(["systemctl", "enable", "seismote"])
            guard let run = ProgramRun(["systemctl", "restart", "seismote"], seconds: 60), run.status == 0 else {
                return "systemctl restart seismote failed: journalctl -u seismote -n 50 says why"
            }
            return nil
        }
        // An agent that somebody else supervises begins anew with what was saved.
        guard let process = AgentProcesses.with(settings: path), kill(pid_t(process), SIGHUP) == 0 else {
            return "systemd does not run here; to start it by hand: seismoted --config \(path)"
        }
        return nil
    }
}
