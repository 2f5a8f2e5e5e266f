import Administration
import MQTT

/// A run of another program, found by PATH (and in /usr/sbin and /sbin), with a time limit; Ctrl-C ends it.
struct ProgramRun {
    /// Exit status; nil: ended by a signal, by the time limit or by Ctrl-C.
    let status: Int32?
    let output: String
    let errors: String

    /// Where it is; nil when it is not installed.
    static func path(_ name: String) -> String? { ChildProgram.path(name) }

    /// - Returns: nil when it is not installed or cannot be started.
    init?(_ words: [String], input: String = "", seconds: Double = 10) {
        guard
            let run = ChildProgram(
                words, input: Array(input.utf8), seconds: seconds, isCancelled: { Interrupt.came })
        else { return nil }
        (status, output, errors) = (run.status, run.text, run.errorText)
    }

    /// Lines `KEY=VALUE` of the output.
    var properties: [String: String] {
        var found: [String: String] = [:]
        for line in output.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { found[String(parts[0])] = String(parts[1]) }
        }
        return found
    }
}
