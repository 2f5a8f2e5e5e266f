import Glibc

/// Where things are, and how long an update may take.
enum StationPlace {
    static let package = "seismote"
    static let unit = "seismote.service"
    /// The agent's user, as whom everything in its folders is done: a link there leads nowhere where that user may not go.
    static let user = "seismote"
    /// Folder of the agent, and what it asks for.
    static let data = "/var/lib/seismote"
    static let requests = "\(data)/update"
    static let settings = "/etc/seismote/seismote.yaml"
    /// Folder of this program.
    static let kept = "/var/lib/seismote-update"
    static let job = "\(kept)/job"
    /// Folder in memory that the agent reads.
    static let shown = "/run/seismote-update"
    /// The agent's own file.
    static let status = "/run/seismote/status.json"
    static let archives = "/var/cache/apt/archives"
    static let lists = "/var/lib/apt/lists"

    /// Megabytes that have to be free beside the copies.
    static var spare: Int { number("ROOM_MB", 200) }

    static var limits: UpdateLimits {
        var limits = UpdateLimits()
        limits.patience = Double(number("PATIENCE", Int(limits.patience)))
        limits.settle = Double(number("SETTLE", Int(limits.settle)))
        limits.calm = Double(number("CALM", Int(limits.calm)))
        limits.memory = number("MEMORY_MB", limits.memory)
        return limits
    }

    private static func number(_ name: String, _ usual: Int) -> Int {
        guard let text = getenv("SEISMOTE_UPDATE_\(name)"), let number = Int(String(cString: text)),
            (0...1_000_000).contains(number)
        else { return usual }
        return number
    }
}
