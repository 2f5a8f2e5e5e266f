import ArgumentParser
import Glibc
import MQTT
import Messages
import Settings

/// A password that cannot be read; a sentence that names its file.
package struct SecretError: Error {
    package var message: String
}

/// Where the broker is and how to get in.
package struct BrokerOptions: ParsableArguments {
    package static let usualFile = "/etc/seismote/seismote.yaml"

    @Option(
        help: ArgumentHelp(
            "Broker, such as mqtts://broker.example:8883; may be repeated. User, password, certificates: see "
                + "`seismote ctl --help`.", valueName: "uri"))
    package var broker: [String] = []

    @Option(help: Self.help("user"))
    package var user: String?

    @Option(help: Self.help("passwordFile"))
    package var passwordFile: String?

    @Option(help: Self.help("ca"))
    package var ca: String?

    @Option(help: Self.help("clientCert"))
    var clientCert: String?

    @Option(help: Self.help("clientKey"))
    var clientKey: String?

    @Option(help: Self.help("clientId"))
    var clientId: String?

    @Option(help: Self.help("mqtt"))
    package var mqtt: String?

    @Option(help: Self.help("root"))
    package var root: String?

    @Option(name: .shortAndLong, help: Self.help("config", visibility: .default))
    package var config: String?

    /// Help of all of them for `seismote ctl --help`: name, value, environment, what it is.
    private static let lines: [(name: String, value: String, environment: String, help: String)] = [
        (
            "broker", "uri", "SEISMOTE_BROKER",
            "Broker; may be repeated. In the environment several with blanks between them."
        ),
        ("user", "name", "SEISMOTE_USER", "User name."),
        (
            "password-file", "file", "SEISMOTE_PASSWORD_FILE",
            "File with the password in its first line. Or the password itself in SEISMOTE_PASSWORD."
        ),
        ("ca", "file", "SEISMOTE_CA", "Trusted CA certificates (PEM)."),
        ("client-cert", "file", "SEISMOTE_CERT", "Client certificate (PEM)."),
        ("client-key", "file", "SEISMOTE_KEY", "Its private key (PEM)."),
        (
            "client-id", "name", "SEISMOTE_CLIENT_ID",
            "Name of the connection, where the broker takes some names only; no other connection may have it."
        ),
        (
            "mqtt", "version", "SEISMOTE_MQTT",
            "5 or 3.1.1; else 5, and 3.1.1 with a broker that has no 5."
        ),
        ("root", "root", "SEISMOTE_ROOT", "First levels of all topics; else seismote."),
        ("config", "file", "SEISMOTE_CONFIG", "An agent's settings file from which these options are taken."),
    ]

    package static var page: String {
        lines.map { "--\($0.name) <\($0.value)>  \($0.environment)\n    \($0.help)" }.joined(separator: "\n")
    }

    /// Only on that page, not with each subcommand, unless it is visible.
    private static func help(_ property: String, visibility: ArgumentVisibility = .hidden) -> ArgumentHelp {
        let name = property.reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
        let line = lines.first { $0.name == name }
        return ArgumentHelp(
            "\(line?.help ?? "") \(line?.environment ?? "")", valueName: line?.value, visibility: visibility)
    }

    package init() {}

    /// The settings file whose broker is meant where none is named: the one that was named, or the usual one of an agent.
    var settingsPath: String? {
        if let path = config ?? Self.environment("CONFIG") { return path }
        let isNamed = !broker.isEmpty || Self.environment("BROKER") != nil
        return !isNamed && Glibc.access(Self.usualFile, R_OK) == 0 ? Self.usualFile : nil
    }

    /// Whether nobody has named a broker, so that the default is meant.
    package var isUnnamed: Bool { broker.isEmpty && Self.environment("BROKER") == nil && settingsPath == nil }

    /// Access by all of these, with the settings file that is meant.
    package func access() throws -> ConnectionOptions {
        guard let path = settingsPath else { return try access(mqtt: nil) }
        let settings: Configuration
        do { settings = try Settings.load(path: path).configuration } catch {
            throw failure(error.text(fileName: path), .settings)
        }
        return try access(mqtt: settings.mqtt, station: settings.station.id)
    }

    /// Access by all of these: options above the environment above the file. Credentials of the file are for the file's
    /// broker alone.
    /// - Parameters:
    ///   - mqtt: what a settings file says of the broker; nil where there is none.
    ///   - station: id of the station of that file.
    package func access(mqtt settings: MQTTConfiguration?, station: String = "") throws -> ConnectionOptions {
        var uris = broker
        if uris.isEmpty, let text = Self.environment("BROKER") {
            uris = text.split(separator: " ").map(String.init)
        }
        var access = ConnectionOptions(brokers: [])
        var file = (password: "", inline: "", root: nil as String?)
        if let mqtt = settings {
            file.root = mqtt.root
            access.mqtt.protocolVersion = mqtt.protocolVersion
            if uris.isEmpty {
                uris = mqtt.uris
                access.mqtt.username = mqtt.username
                (file.password, file.inline) = (mqtt.passwordFile, mqtt.password)
                access.mqtt.tls = mqtt.tls
                access.takeNames(of: mqtt, station: station)
            }
        }
        access.brokers = try Self.addresses(uris.isEmpty ? Configuration().mqtt.uris : uris)
        if let user = user ?? Self.environment("USER") { access.mqtt.username = user }
        if let name = ca ?? Self.environment("CA") { access.mqtt.tls.caFile = name }
        if let name = clientCert ?? Self.environment("CERT") { access.mqtt.tls.certFile = name }
        if let name = clientKey ?? Self.environment("KEY") { access.mqtt.tls.keyFile = name }
        access.mqtt.root = root ?? Self.environment("ROOT") ?? file.root ?? access.mqtt.root
        if let problem = Topics.problem(inRoot: access.mqtt.root) { throw ValidationError("--root: \(problem)") }
        access.clientID = clientId ?? Self.environment("CLIENT_ID") ?? ""
        switch mqtt ?? Self.environment("MQTT") {
        case nil: break
        case "5": access.mqtt.protocolVersion = .v5
        case "3.1.1": access.mqtt.protocolVersion = .v311
        case let other?: throw ValidationError("--mqtt \(other): must be 5 or 3.1.1")
        }
        if !access.mqtt.username.isEmpty {
            access.mqtt.password = try password(file: file.password, inline: file.inline)
        }
        return access
    }

    private static func addresses(_ uris: [String]) throws -> [BrokerAddress] {
        do throws(MQTTError) {
            var addresses: [BrokerAddress] = []
            for uri in uris { addresses.append(try BrokerAddress(uri: uri.contains("://") ? uri : "mqtt://\(uri)")) }
            return addresses
        } catch {
            throw ValidationError(error.message)
        }
    }

    private func password(file: String, inline: String) throws -> String {
        // A credential of the service (LoadCredential), for root.
        var file = file
        if !file.isEmpty, !file.contains("/"), getenv("CREDENTIALS_DIRECTORY") == nil {
            file = "/etc/seismote/credentials/\(file)"
        }
        var name = passwordFile ?? Self.environment("PASSWORD_FILE")
        if name == nil, let password = Self.environment("PASSWORD") { return password }
        if let given = name, !given.hasPrefix("/"), let folder = getcwd(nil, 0) {
            name = "\(String(cString: folder))/\(given)"
            free(folder)
        }
        // As the agent has it: the password itself goes before its file.
        if name == nil, !inline.isEmpty { return inline }
        let path = name ?? file
        guard !path.isEmpty else { return "" }
        switch SecretFile.read(path) {
        case .success(let text): return text
        case .failure(let problem): throw SecretError(message: problem.message)
        }
    }

    private static func environment(_ name: String) -> String? {
        guard let value = getenv("SEISMOTE_\(name)"), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
