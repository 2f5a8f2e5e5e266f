import ArgumentParser
import Messages

/// Which stations a command is for.
enum Targets {
    case stations([String])
    case group(String)
}

/// A group of stations, or all of them.
struct GroupOptions: ParsableArguments {
    @Option(help: ArgumentHelp("All stations of this group.", valueName: "name"))
    var group: String?

    @Flag(help: "All stations.")
    var all = false

    func targets(_ stations: [String]) throws -> Targets {
        if group != nil || all {
            guard stations.isEmpty else { throw ValidationError("station names, --group and --all exclude each other") }
            guard group == nil || !all else { throw ValidationError("--group and --all exclude each other") }
            let name = group ?? "all"
            if Topics.problem(inID: name) != nil { throw ValidationError("--group \(name): not a valid group name") }
            return .group(name)
        }
        guard !stations.isEmpty else {
            throw ValidationError(
                "no station given: name one, or use --group or --all; `seismote ctl list` shows the stations")
        }
        for id in stations {
            if let problem = Topics.problem(inID: id) { throw ValidationError("station \(id): \(problem)") }
        }
        var unique: [String] = []
        for id in stations where !unique.contains(id) { unique.append(id) }
        return .stations(unique)
    }
}

/// Stations as arguments, or a group.
struct TargetOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("One or several stations.", valueName: "station"), completion: StationCompletion.kind)
    var stations: [String] = []

    @OptionGroup var several: GroupOptions

    // Here, and not when they are needed: only now is it known whose usage to show.
    func validate() throws { _ = try targets() }

    func targets() throws -> Targets { try several.targets(stations) }
}
