import ArgumentParser
import Glibc
import MQTT
import ServerOptions

/// `seismote join`: a board becomes a station of a broker by one line.
struct JoinCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract: "Make this board a station of a broker, by the line of `seismote-broker invite`.",
        discussion: """
            sudo seismote join 'broker.local/basement#TOKEN@FINGERPRINT'

            The broker is known by the fingerprint in the line, before anything is told to it. The key is made here and never \
            leaves the board; the broker signs a certificate for it, which takes the place of a password. What a power cut \
            interrupts goes on at the next start of the board, or with `seismote join` without a line. Exit status 0 done, 1 \
            refused, 64 wrong arguments, 69 no broker, 74 a file cannot be written, 75 systemd does not start the service, 78 \
            wrong settings, 130 interrupted.
            """)

    @Argument(
        help: ArgumentHelp(
            "HOST/NAME#TOKEN@FINGERPRINT. Others can see it in the list of processes until it is used up: --file.",
            valueName: "line"))
    var line: String?

    @Option(help: ArgumentHelp("File with the line; -: the standard input.", valueName: "file"))
    var file: String?

    @Flag(help: "Go on with what was begun or lies on the boot partition, and do nothing where there is nothing.")
    var resume = false

    /// For the unit: what needs root and what speaks with the network are different processes.
    enum Part: String, ExpressibleByArgument { case take, obtain, finish }

    @Option(help: .hidden)
    var part: Part?

    @Flag(help: "Renew the certificate of this station when two thirds of its life are over.")
    var renew = false

    @Flag(help: "With --renew: renew it now.")
    var now = false

    @Option(help: ArgumentHelp("Seconds that a broker is waited for that does not answer.", valueName: "s"))
    var wait = 600.0

    @Option(name: .shortAndLong, help: ArgumentHelp("The settings file.", valueName: "file"))
    var config = BrokerOptions.usualFile

    @Flag(help: "Do not start the service.")
    var noStart = false

    @Option(help: ArgumentHelp("The boot partition.", valueName: "folder"))
    var boot = "/boot/firmware"

    func validate() throws {
        guard (1...1e7).contains(wait) else { throw ValidationError("--wait \(wait): 1 to 10000000 seconds") }
        let given = [line != nil, file != nil, resume, renew].filter(\.self).count
        if given > 1 { throw ValidationError("a line, --file, --resume and --renew exclude each other") }
        if part != nil, given > 1 || line != nil || file != nil || renew {
            throw ValidationError("--part: with --resume alone")
        }
        if now, !renew { throw ValidationError("--now is for --renew") }
    }

    func run() throws {
        Interrupt.listen()
        try ctl {
            let path = try absolute(config)
            if renew { return try CertificateRenewal(config: path, isForced: now, patience: min(wait, 120)).run() }
            return try JoinShell(self, config: path).run()
        }
    }

    /// From the root, for the service.
    private func absolute(_ name: String) throws(CtlError) -> String {
        if name.hasPrefix("/") { return name }
        guard let folder = getcwd(nil, 0) else { throw CtlError(status: .files, "the present folder is gone") }
        defer { free(folder) }
        return "\(String(cString: folder))/\(name)"
    }
}
