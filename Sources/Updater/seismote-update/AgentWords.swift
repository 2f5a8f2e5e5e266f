import Values

/// The agent's own file `status.json`, as far as an update needs it.
package struct AgentWords: Sendable, Equatable {
    package var process = 0
    package var samples: Int64 = 0
    /// Messages that the broker has acknowledged.
    package var acked: Int64 = 0
    package var isConnected = false
    package var isEventOpen = false
    /// Codes of alerts that are errors, and that of damage of the stored data.
    package var errors: Set<String> = []

    package init() {}

    package init?(json: [UInt8]) {
        guard let value = try? JSONReader.read(json), let process = value["process"]?.whole, process > 0 else {
            return nil
        }
        self.process = process
        isConnected = value["connected"] == .bool(true)
        isEventOpen = value["event_open"] == .bool(true)
        let health = value["health"]
        samples = health?["samples"]?.integer ?? 0
        acked = health?["mqtt"]?["acked"]?.integer ?? 0
        guard case .array(let alerts)? = value["alerts"] else { return }
        for alert in alerts {
            guard let code = alert["code"]?.rawText, Self.isCode(code) else { continue }
            if alert["severity"]?.rawText == "error" || code == "storage_set_aside" { errors.insert(code) }
        }
    }

    /// (It comes into a line of words.)
    private static func isCode(_ text: String) -> Bool {
        text.isMade(1...64) { $0.isSmallLetter || $0.isDigit || $0 == 0x5f }
    }
}

/// How the station was before the new version came: nothing has to be better afterwards.
struct StationBefore: Sendable, Equatable {
    /// Samples came.
    var flows = false
    var kilobytes = 0
    var errors: Set<String> = []

    init(flows: Bool, kilobytes: Int, errors: Set<String>) {
        (self.flows, self.kilobytes, self.errors) = (flows, kilobytes, errors)
    }

    /// A line of the job.
    init(line: String) {
        let words = line.split(separator: " ").map(String.init)
        flows = words.first == "flow"
        kilobytes = words.count > 1 ? Int(words[1]) ?? 0 : 0
        errors = Set(words.dropFirst(2))
    }

    var line: String {
        (["\(flows ? "flow" : "still")", "\(kilobytes)"] + errors.sorted()).joined(separator: " ")
    }
}
