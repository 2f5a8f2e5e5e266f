import ArgumentParser
import Messages

/// Stations that are looked at; without a name all of them.
struct StationNames: ParsableArguments {
    @Argument(help: ArgumentHelp("Only these stations.", valueName: "station"), completion: StationCompletion.kind)
    var stations: [String] = []

    func validate() throws {
        for id in stations {
            if let problem = Topics.problem(inID: id) { throw ValidationError("station \(id): \(problem)") }
        }
    }

    /// One of each of these below every one of the stations.
    func filters(_ root: String, _ below: [String]) -> [String] {
        (stations.isEmpty ? ["+"] : stations).flatMap { name in below.map { "\(root)/\(name)/\($0)" } }
    }
}

/// Options of what is shown as it comes.
struct LiveOptions: ParsableArguments {
    @OptionGroup var names: StationNames

    @Option(help: ArgumentHelp("Stop after this number.", valueName: "n"))
    var count: Int?

    @Option(help: ArgumentHelp("Stop after this time.", valueName: "s"))
    var seconds: Double?

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be at least 1") }
        if let seconds, !(seconds > 0) { throw ValidationError("--seconds must be above 0") }
    }
}
