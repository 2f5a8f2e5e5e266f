import ArgumentParser
import Association
import Glibc
import MQTT
import Messages
import Platform
import Propagation
import ServerOptions
import Values

/// `simulate-fleet N`: stations without sensors, to try a broker with.
@main
struct SimulateFleet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate-fleet", abstract: "Put many simulated stations on a broker, to try it.",
        discussion: """
            simulate-fleet 50 --broker mqtt://localhost --magnitude 6

            Each station has a connection of its own and sends what an agent sends: who it is, levels, health, events. \
            It answers rebirth and resend. Earthquakes shake all of them by distance (Cua and Heaton 2009, iasp91). One \
            process, with a thread for as many stations as a third of its open files (ulimit -n). Only for brokers of your \
            own: the names of the stations begin with --prefix.
            """)

    @Argument(help: "How many stations.")
    var count: Int

    @OptionGroup var broker: BrokerOptions

    @Option(help: "Degrees north and east of the centre, with a comma between them.")
    var centre = "35,-117.5"

    @Option(help: ArgumentHelp("Kilometres around the centre; more stations near it.", valueName: "km"))
    var radius = 200.0

    @Option(help: ArgumentHelp("Ends after so many seconds; else with Ctrl-C.", valueName: "s"))
    var seconds: Double?

    @Option(help: ArgumentHelp("Connections begun in a second.", valueName: "n"))
    var perSecond = 300.0

    @Option(help: ArgumentHelp("Connections that wait for the broker at a time.", valueName: "n"))
    var atOnce = 300

    @Option(help: ArgumentHelp("Seconds between two levels of a station; 0: none.", valueName: "s"))
    var levelSeconds = 10.0

    @Option(help: ArgumentHelp("False onsets of a station in a day.", valueName: "n"))
    var falseOnsets = 3.0

    @Option(help: ArgumentHelp("Faults of a station in a day: a lost connection or a lost message.", valueName: "n"))
    var faults = 0.0

    @Option(help: ArgumentHelp("An earthquake so often.", valueName: "s"))
    var earthquakeEvery: Double?

    @Option(help: ArgumentHelp("Magnitudes of those: smallest,largest.", valueName: "M,M"))
    var magnitudes = "4,6"

    @Option(
        help: ArgumentHelp(
            "One earthquake below the centre of this magnitude, 15 s after all are connected.", valueName: "M"))
    var magnitude: Double?

    @Option(help: ArgumentHelp("Write each earthquake as a line of JSON when it begins.", valueName: "file"))
    var truth: String?

    @Option(
        help: ArgumentHelp(
            "Write each message of an event as a line of JSON: when it was sent and answered.", valueName: "file"))
    var sent: String?

    @Option(help: "The same seed makes the same stations and earthquakes.")
    var seed: UInt64 = 1

    @Option(help: "What the ids of the stations begin with.")
    var prefix = "sim"

    func validate() throws {
        guard (1...50_000).contains(count) else { throw ValidationError("\(count) stations: 1 to 50000") }
        guard Topics.problem(inID: prefix + "00000") == nil, prefix.count <= 40 else {
            throw ValidationError("--prefix: letters, digits, _ and -, at most 40")
        }
        guard (1...1000).contains(radius) else { throw ValidationError("--radius: 1 to 1000 km") }
        guard (1...5000).contains(perSecond) else { throw ValidationError("--per-second: 1 to 5000") }
        guard (1...50_000).contains(atOnce) else { throw ValidationError("--at-once: 1 to 50000") }
        _ = try options()
    }

    private func options() throws -> SimulatedFleet.Options {
        func pair(_ text: String, _ name: String, _ first: ClosedRange<Double>, _ second: ClosedRange<Double>) throws
            -> (
                Double, Double
            )
        {
            let parts = text.split(separator: ",").map { Double($0) }
            guard parts.count == 2, let a = parts[0], let b = parts[1], first.contains(a), second.contains(b) else {
                throw ValidationError("--\(name) \(text): two numbers with a comma between them")
            }
            return (a, b)
        }
        var options = SimulatedFleet.Options()
        let (north, east) = try pair(centre, "centre", -90...90, -180...180)
        let (low, high) = try pair(magnitudes, "magnitudes", 1...9, 1...9)
        options.count = count
        options.centre = Place(latitude: north, longitude: east)
        options.magnitudes = min(low, high)...max(low, high)
        (options.radius, options.seconds, options.perSecond) = (radius, seconds, perSecond)
        (options.levelSeconds, options.falseOnsetsPerDay, options.faultsPerDay) = (levelSeconds, falseOnsets, faults)
        (options.earthquakeSeconds, options.seed, options.prefix) = (earthquakeEvery, seed, prefix)
        (options.magnitude, options.atOnce) = (magnitude, atOnce)
        return options
    }

    func run() throws {
        do {
            let board = FleetBoard(isNoting: sent != nil)
            let fleets = try SimulatedFleet.parts(try broker.access(), options(), board)
            let truthFile = try truth.map { try LineFile($0) }
            let sentFile = try sent.map { try LineFile($0) }
            fleets[0].onEarthquake = { earthquake in
                let line = earthquake.json
                printError("earthquake \(String(decoding: line.json(), as: UTF8.self))")
                truthFile?.append([line])
            }
            let tell = {
                printError(report(board))
                sentFile?.append(board.takeNotes().map(\.json))
            }
            Interrupt.listen()
            try SimulatedFleet.run(fleets, report: tell)
            tell()
            try truthFile?.finish()
            try sentFile?.finish()
        } catch let error as SecretError {
            throw failure(error.message, .files)
        } catch let error as LineFile.Failure {
            throw failure(error.description, .files)
        } catch let error as ClientError {
            throw failure(error.description, .unavailable)
        }
    }

    private func report(_ board: FleetBoard) -> String {
        "\(board.connected.count) of \(count) connected, \(board.onsets.count) onsets, published "
            + "\(board.published.1.count) with QoS 1 (\(board.acknowledged.count) acknowledged, \(board.refused.count) refused) "
            + "and \(board.published.0.count) with QoS 0, \(board.unsent.count) not sent without a connection, "
            + "\(board.drops.count) connections lost, \(board.resent.count) asked to send again"
    }
}

/// A file with a JSON object in each line.
private final class LineFile {
    struct Failure: Error {
        let description: String
    }

    private let path: String
    private let descriptor: Int32
    private var code: Int32 = 0

    init(_ path: String) throws(Failure) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        if descriptor < 0 { throw failure(errno) }
    }

    func append(_ lines: [Value]) {
        let bytes = lines.reduce(into: [UInt8]()) { $0 += $1.json() + [UInt8(ascii: "\n")] }
        var done = 0
        while done < bytes.count, code == 0 {
            let count = bytes[done...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { done += count } else if errno != EINTR { code = errno }
        }
    }

    func finish() throws(Failure) {
        if code != 0 || close(descriptor) != 0 { throw failure(code == 0 ? errno : code) }
    }

    private func failure(_ code: Int32) -> Failure {
        Failure(description: "cannot write \(path): \(String(cString: strerror(code)))")
    }
}

func printError(_ text: String) { ProgramOutput.printError(text) }
