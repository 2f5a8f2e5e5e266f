import Administration
import ArgumentParser
import Glibc
import MQTT
import Messages
import ServerOptions
import Values

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

/// The line that an operator hands to a board: `HOST/NAME#TOKEN@FINGERPRINT`, made by `seismote-broker invite`.
struct JoinLine: Equatable {
    /// Where the board asks for its certificate, over TLS.
    let broker: BrokerAddress
    /// Station id that the invitation is for.
    let name: String
    /// Public number of the invitation: eight letters or digits.
    let id: String
    /// Secret by which the board proves that it was invited; goes nowhere but to the broker.
    let secret: String
    /// SHA-256 of the authority of the broker's certificate, 64 hexadecimal digits.
    let fingerprint: String
    /// As it was made, without what a person has copied with it.
    let text: String

    private static let idLength = 8
    private static let tokenLength = 34

    /// - Parameter text: the line, with `sudo seismote join` before it or not.
    /// - Throws: which part is wrong. The token is never in the sentence.
    init(_ text: String) throws(CtlError) {
        func wrong(_ why: String) -> CtlError {
            CtlError(
                status: .refused,
                "this is no line for joining: \(why). It has the form HOST/NAME#TOKEN@FINGERPRINT, as `seismote-broker invite` prints it"
            )
        }
        var words = text.split { $0 == " " || $0.isNewline || $0 == "\t" }.map(String.init)
        if let join = words.firstIndex(of: "join"), join < 3 { words.removeFirst(join + 1) }
        guard words.count == 1, let line = words.first else {
            throw wrong(words.isEmpty ? "it is empty" : "it has \(words.count) words")
        }
        guard let hash = line.firstIndex(of: "#"), let slash = line[..<hash].lastIndex(of: "/") else {
            throw wrong("/ or # is missing")
        }
        let rest = line[line.index(after: hash)...]
        guard let at = rest.lastIndex(of: "@") else { throw wrong("@ is missing") }
        name = String(line[line.index(after: slash)..<hash])
        if let problem = Topics.problem(inID: name) {
            throw wrong("`\(safe(name, limit: 80))` is no station id: \(problem)")
        }
        let token = rest[..<at]
        let length = Self.tokenLength
        guard token.isMade(length...length, of: { $0.isSmallLetter || (0x32...0x39).contains($0) }) else {
            throw wrong(
                "the token has \(token.count) characters: there have to be \(length) of a-z and 2-9")
        }
        (id, secret) = (String(token.prefix(Self.idLength)), String(token.dropFirst(Self.idLength)))
        guard let digits = Fingerprint.digits(String(rest[rest.index(after: at)...])) else {
            throw wrong("the fingerprint has to have 64 hexadecimal digits")
        }
        fingerprint = digits
        do throws(MQTTError) {
            broker = try BrokerAddress(uri: "mqtts://\(line[..<slash])")
        } catch { throw wrong(error.message) }
        self.text = line
    }

    /// Account that has the token as its password.
    var account: String { "enrol-\(id)" }
    var requestTopic: String { "enrol/\(id)/csr" }
    var answerTopic: String { "enrol/\(id)/cert" }
}
