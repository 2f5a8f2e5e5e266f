import Administration
import ArgumentParser
import Glibc
import MQTT
import ServerOptions
import Settings
import Values

/// `seismote setup`: from an installed package to a station that is on the page.
struct SetupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup", abstract: "Set up the station on this machine: sensor, place, broker, noise, test.",
        discussion: """
            sudo seismote setup --name basement --broker here --yes

            A conversation in five steps, which can be repeated: what is set already is offered. Each answer is an option \
            too; with --yes nobody is asked. Connection, rights and clock are tried before anything is saved, and no file \
            is written without its difference being shown. A broker that has invited this station (`seismote-broker invite`) is \
            joined before, by `seismote join`, and stays as it is; the line of `seismote-broker add`, an account with a \
            password, goes here as it is. \
            Exit status 0 done, 1 something was refused or not confirmed, 64 wrong arguments, 74 a file cannot be written, \
            78 wrong settings.
            """)

    @Option(help: ArgumentHelp("auto, i2c:BUS:ADDRESS, iio:NAME or simulate.", valueName: "sensor"))
    var sensor: String?

    @Option(help: ArgumentHelp("Name of the station (station.id); else that of the user.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("Degrees north; may be coarse.", valueName: "degrees"))
    var latitude: String?

    @Option(help: ArgumentHelp("Degrees east.", valueName: "degrees"))
    var longitude: String?

    @Option(help: ArgumentHelp("Bearing of the station's y axis, degrees from north.", valueName: "degrees"))
    var north: String?

    @Option(help: ArgumentHelp("Groups, with commas.", valueName: "names"))
    var groups: String?

    @Option(
        help: ArgumentHelp("Broker, such as mqtts://broker.local:8883; here: one on this machine.", valueName: "uri"))
    var broker: String?

    @Option(help: ArgumentHelp("Fingerprint of the authority of the broker's certificate.", valueName: "SHA256:…"))
    var caFingerprint: String?

    @Option(help: ArgumentHelp("File with that authority's certificate (PEM).", valueName: "file"))
    var ca: String?

    @Option(help: ArgumentHelp("User name.", valueName: "name"))
    var user: String?

    @Option(
        help: ArgumentHelp(
            "Password; others can see it in the list of processes. SEISMOTE_PASSWORD.", valueName: "password"))
    var password: String?

    @Option(help: ArgumentHelp("File with the password in its first line.", valueName: "file"))
    var passwordFile: String?

    @Option(help: ArgumentHelp("Preset: \(Preset.all.map(\.name).joined(separator: ", ")).", valueName: "preset"))
    var preset: String?

    @Option(help: ArgumentHelp("Seconds of quiet that the noise is measured over; 0: not measured.", valueName: "s"))
    var noiseSeconds = 60.0

    @Option(name: .shortAndLong, help: ArgumentHelp("The settings file.", valueName: "file"))
    var config = BrokerOptions.usualFile

    @Option(help: ArgumentHelp("Address of the page; else it is guessed from the broker's.", valueName: "url"))
    var page: String?

    @Flag(help: "Do not start the service.")
    var noStart = false

    @Flag(name: .shortAndLong, help: "Ask nothing: options and defaults hold.")
    var yes = false

    @Flag(help: "Print JSON, one object a line; asks nothing.")
    var json = false

    @Flag(help: "Take over seismote.yaml from the boot partition, and do nothing where there is none.")
    var fromBoot = false

    @Option(help: ArgumentHelp("The boot partition.", valueName: "folder"))
    var boot = "/boot/firmware"

    func validate() throws {
        guard noiseSeconds == 0 || (2...3600).contains(noiseSeconds) else {
            throw ValidationError("--noise-seconds \(noiseSeconds): 0, or 2 to 3600")
        }
        guard yes || json || fromBoot || isatty(STDIN_FILENO) != 0 else {
            throw ValidationError("no terminal: add --yes and the answers as options")
        }
        if let caFingerprint, Fingerprint.digits(caFingerprint) == nil {
            throw ValidationError("--ca-fingerprint \(caFingerprint): SHA256: and 64 hexadecimal digits")
        }
    }

    func run() throws {
        Interrupt.listen()
        try ctl {
            if fromBoot { return try BootFile(folder: boot, config: path(config)).take() }
            var shell = try SetupShell(self, config: path(config))
            return try shell.run()
        }
    }

    /// From the root, for the service.
    private func path(_ name: String) -> String {
        guard !name.hasPrefix("/"), let folder = getcwd(nil, 0) else { return name }
        defer { free(folder) }
        return "\(String(cString: folder))/\(name)"
    }

    /// The answers that were given as options.
    func answers() throws -> SetupAnswers {
        var answers = SetupAnswers()
        let options: [(SetupQuestion, String?)] = [
            (.sensor, sensor), (.name, name ?? user), (.latitude, latitude), (.longitude, longitude), (.north, north),
            (.groups, groups), (.broker, broker), (.user, user), (.password, try secret()), (.preset, preset),
        ]
        for (question, text) in options { answers[question] = text }
        answers[.fingerprint] = caFingerprint ?? (ca == nil ? nil : "")
        // Who gives a broker says with it whether there is a user.
        if broker != nil, user == nil { answers[.user] = "" }
        return answers
    }

    private func secret() throws -> String? {
        if let password { return password }
        if let passwordFile {
            switch SecretFile.read(path(passwordFile)) {
            case .success(let text): return text
            case .failure(let problem): throw CtlError(status: .files, problem.message)
            }
        }
        return getenv("SEISMOTE_PASSWORD").flatMap { $0.pointee == 0 ? nil : String(cString: $0) }
    }
}
