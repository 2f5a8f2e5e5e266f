import ArgumentParser
import Messages
import Platform
import ServerOptions
import Settings
import SignalProcessing

/// `seismote filter ...`: filters without an agent.
struct FilterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "filter", abstract: "Inspect filters.", subcommands: [FilterShow.self])
}

/// `seismote filter show SPEC --rate R`
struct FilterShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the coefficients, poles and response of a filter.",
        discussion: """
            seismote filter show '{butterworth: {type: bandpass, corners_hz: [1, 8], order: 2}}' --rate 100

            SPEC is written as in the settings, in quotes: shake:lp5, \
            '{butterworth: {type: bandpass, corners_hz: [1, 8], order: 2}}', \
            '{simple: {type: lowpass, corner_hz: 5}}' or '{chain: [...]}'. Prints the second-order sections with all \
            their digits, the poles, gain, phase and group delay, and a drawing of the gain. When the filter is not \
            allowed, every error goes to standard error and the status is 78.

            The kinds of filters:
            \(FilterText.kinds.joined(separator: "\n"))
            """)

    @Argument(help: ArgumentHelp("The filter, as in the settings.", valueName: "spec"))
    var specification: String

    @Option(help: ArgumentHelp("Samples per second.", valueName: "hz"))
    var rate: Double

    @Option(
        help: ArgumentHelp(
            "Frequencies to give the response at, such as 0.1,1,5, from 0 to half of the rate.", valueName: "hz,..."))
    var at: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard rate > 0, rate <= 1e6 else {
            throw ValidationError("--rate \(rate): must be above 0 and at most 1000000")
        }
        _ = try frequencies()
    }

    /// Frequencies of `--at`; nil without it.
    private func frequencies() throws -> [Double]? {
        guard let at else { return nil }
        let parts = at.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let wrong = parts.filter { part in Double(part).map { !($0 >= 0 && $0 <= rate / 2) } ?? true }
        guard wrong.isEmpty else {
            let list = wrong.map { "`\($0)`" }.joined(separator: ", ")
            throw ValidationError("--at \(list): not a frequency from 0 to \(rate / 2) Hz, half of the rate")
        }
        return parts.compactMap(Double.init)
    }

    func run() throws {
        let filter: FilterSpecification
        do {
            filter = try FilterText.read(specification, rate: rate)
        } catch {
            for var one in error.errors {
                one.source = .file
                printError(one.text(fileName: "spec"))
            }
            throw ExitStatus.settings.code
        }
        let description: FilterDescription
        do {
            description = try FilterDescription(filter, rate: rate, frequencies: try frequencies())
        } catch let error as FilterDesignError {
            throw failure(error.description, .settings)
        }
        if json {
            print(String(decoding: description.value.json(), as: UTF8.self))
        } else {
            print(description.text)
        }
    }
}
