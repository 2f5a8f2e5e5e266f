import ArgumentParser
import Messages

/// Stations that are looked at; without a name all of them.
struct StationNames: ParsableArguments {
    @Argument(help: ArgumentHelp("Only these.", valueName: "station"))
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

    @Option(help: ArgumentHelp("End after so many.", valueName: "n"))
    var count: Int?

    @Option(help: ArgumentHelp("End after so long.", valueName: "s"))
    var seconds: Double?

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count is a whole number from 1 on") }
        if let seconds, !(seconds > 0) { throw ValidationError("--seconds is a number above 0") }
    }
}
