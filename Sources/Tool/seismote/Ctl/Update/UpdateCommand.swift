import ArgumentParser
import Commands
import Glibc
import MQTT
import Messages

/// `seismote ctl update`
struct UpdateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: Command.update.help,
        discussion: """
            seismote ctl update --group school --version 0.2.0~deb13

            Each station needs the package seismote-update. It installs exactly this version from its own signed apt sources, \
            and puts the version before back when the new one ends by itself, does not sample, does not reach the broker, \
            eats memory, cannot read its database, or when nobody confirms it within 10 minutes: here, where a terminal is, or \
            with `seismote ctl update-confirm`.

            A ring begins when all stations of the one before are updated, and none after a station that is not. The command \
            only looks on: when it ends, updates that have begun go on.
            """)

    @OptionGroup var targets: TargetOptions

    @Option(
        name: .customLong("version"),
        help: ArgumentHelp("Version of the Debian package, such as 0.2.0~deb13.", valueName: "version"))
    var wanted: String

    @Option(help: ArgumentHelp("How many stations at a time: the first, then so many, then all.", valueName: "1,5,all"))
    var rings = UpdateRings.usual

    @Flag(help: "Nobody confirms it: the station does so itself when all is well.")
    var auto = false

    @Flag(help: "An older version, too.")
    var allowDowngrade = false

    @Option(help: ArgumentHelp("Maximum time for a ring.", valueName: "s"))
    var wait = 3600.0

    @OptionGroup var options: RequestOptions

    func validate() throws {
        guard UpdateRequest.isVersion(wanted) else {
            throw ValidationError("--version \(safe(wanted)): \(UpdateRequest.versionForm)")
        }
        guard wait > 0, wait <= 86_400 else { throw ValidationError("--wait must be above 0 and at most 86400") }
    }

    func run() throws {
        let targets = try targets.targets()
        try ctl {
            let client = try options.common.connect()
            defer { client.disconnect() }
            let stations = try stations(targets, client)
            guard !stations.isEmpty else {
                printError("no station is online")
                return .silent
            }
            let rings = rings.split(stations)
            for (number, ring) in rings.enumerated() {
                if rings.count > 1, !options.common.json {
                    printError("ring \(number + 1) of \(rings.count): \(ring.joined(separator: ", "))")
                }
                let course = UpdateRing(
                    client, ring, version: wanted, isAutomatic: auto, options: options, wait: wait)
                let status = try course.run([
                    .init("version", .string(wanted)), .init("auto", .bool(auto)),
                    .init("allow_downgrade", .bool(allowDowngrade)),
                ])
                guard status == .done else {
                    let rest = rings.dropFirst(number + 1).joined()
                    if !rest.isEmpty { printError("not begun: \(rest.joined(separator: ", "))") }
                    return status
                }
            }
            return .done
        }
    }

    /// Stations of a group that are there now, by name.
    private func stations(_ targets: Targets, _ client: BrokerClient) throws(ClientError) -> [String] {
        switch targets {
        case .stations(let names): return names
        case .group(let group):
            var fleet = Fleet(root: client.options.mqtt.root)
            try fleet.look(client, filters: ["state/online", "state/info"], within: 5)
            return fleet.seen.filter { $0.view.isOnline == true && $0.view.isMember(of: group) }.map(\.id)
        }
    }
}

/// `seismote ctl update-confirm`
struct UpdateConfirmCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update-confirm", abstract: Command.updateConfirm.help,
        discussion: "seismote ctl update-confirm basement --version 0.2.0~deb13")

    @OptionGroup var targets: TargetOptions

    @Option(
        name: .customLong("version"),
        help: ArgumentHelp("The version that runs on trial.", valueName: "version"))
    var wanted: String

    @OptionGroup var options: RequestOptions

    func run() throws {
        try options.run("update-confirm", ["version": .string(wanted)], try targets.targets()) { _ in "confirmed" }
    }
}
