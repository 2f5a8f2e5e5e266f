import Foundation
import Seismology

/// Holds the assessment of events against the reference's numbers: every recording of a folder with expected.json, whole
/// and in odd cuts.
///
///     discrimination REFERENCE EXPECTED
///     discrimination features <RECORDINGS >FEATURES
///
/// EXPECTED is what deploy/benchmarks/discrimination/expected.py has made of the recordings in REFERENCE. The second form
/// prints what a fit is made from (``FeaturePrinter``).
@main
struct Main {
    static func main() throws {
        if CommandLine.arguments.dropFirst().first == "features" { return try FeaturePrinter.run() }
        let reference = CommandLine.arguments[1]
        let expected = try JSONSerialization.jsonObject(
            with: Data(contentsOf: URL(fileURLWithPath: CommandLine.arguments[2])))
        guard let parts = expected as? [String: [String: Any]] else {
            throw Failure("expected.json is not what it should be")
        }
        var judge = Judge()
        for (part, entries) in parts {
            for (name, any) in entries.sorted(by: { $0.key < $1.key }) {
                guard let entry = any as? [String: Any], let rate = entry["rate_hz"] as? Double else { continue }
                let path = "\(reference)/\(part)/\(name)"
                let recording =
                    part == "field"
                    ? try Recording(miniSEED: path + ".mseed") : try Recording(csv: path + ".csv", rate: rate)
                try judge.hold(recording, name, entry)
            }
        }
        judge.report()
        if judge.failures > 0 { exit(1) }
    }
}

struct Failure: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}
