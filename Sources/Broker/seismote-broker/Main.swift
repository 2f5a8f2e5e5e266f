import Administration
import Glibc
import Platform

/// `seismote-broker`: the accounts of a station network's broker, their rights, and its certificates.
///
/// See deploy/docs/install/broker.md. What it keeps is in /etc/seismote-broker; the administrator's own mosquitto is not touched.
@main
enum SeismoteBroker {
    static func main() {
        umask(0o077)
        ProgramOutput.begin()
        do throws(Failure) {
            try run(Array(ProgramArguments.all.dropFirst()))
        } catch {
            note("seismote-broker: \(error.words)")
            exit(error.status.rawValue)
        }
    }

    private static func run(_ words: [String]) throws(Failure) {
        guard !words.isEmpty else {
            note(usage)
            exit(ExitStatus.usage.rawValue)
        }
        let options = try Options(words)
        if options.isHelp { return say(usage) }
        let place = Place()
        let rest = Array(options.rest.dropFirst())
        let accounts = AccountCommands(place: place, options: options)
        let start = InitCommand(place: place, options: options)
        switch options.rest.first {
        case "add": try accounts.add(rest, isNew: true)
        case "password": try accounts.add(rest, isNew: false)
        case "remove": try accounts.remove(rest)
        case "invite": try InviteCommand(place: place, options: options).run(rest)
        case "list": try ListCommands(place: place, options: options).list()
        case "certificates": try ListCommands(place: place, options: options).certificates()
        case "tidy": try TidyCommand(place: place).run()
        case "init": try start.run()
        case "renew": try start.renew()
        case "new-authority": try start.newAuthority()
        case "prepare": try start.prepare()
        case "fingerprint": say(try Authority(place: place).fingerprint())
        case "enrol": try EnrolService(place: place).run()
        case let other: throw .misuse("unknown command: \(other.map { AccountName.printable($0) } ?? "none")")
        }
    }
}

/// The command line.
struct Options {
    var role = Role.station
    var viewer = ""
    var hosts: [String] = []
    var passwordFile: String?
    var count = 1
    var hours = 24
    var output = ""
    var isUserData = false
    var isInstall = false
    var hasCode = true
    var isJSON = false
    var isIfNeeded = false
    var isHelp = false
    /// The command and what it is about.
    var rest: [String] = []

    init(_ words: [String]) throws(Failure) {
        var words = words[...]
        func value(_ option: String) throws(Failure) -> String {
            guard let value = words.popFirst() else { throw .misuse("the last option needs a value") }
            return value
        }
        while let word = words.popFirst() {
            switch word {
            case "-h", "--help": isHelp = true
            case "--role":
                let name = try value(word)
                guard let role = Role(rawValue: name) else {
                    throw .misuse(
                        "--role: station, viewer, commander, home-assistant, network, feed or notify, not '\(AccountName.printable(name))'"
                    )
                }
                self.role = role
            case "--viewer":
                viewer = try value(word)
                if let problem = AccountName.problem(viewer) { throw .misuse(problem) }
            case "--host":
                let name = try value(word)
                guard ServerNames.isAllowed(name) else {
                    throw .misuse("--host: a name or an address, not '\(AccountName.printable(name))'")
                }
                hosts.append(name)
            case "--password-file": passwordFile = try value(word)
            case "--count": count = try Self.number(word, try value(word), 1...9999)
            case "--hours": hours = try Self.number(word, try value(word), 1...Invitation.longest)
            case "--file": output = try value(word)
            case "--user-data": isUserData = true
            case "--install": isInstall = true
            case "--no-qr": hasCode = false
            case "--json": isJSON = true
            case "--if-needed": isIfNeeded = true
            default:
                if word.hasPrefix("-") { throw .misuse("unknown option: \(AccountName.printable(word))") }
                rest.append(word)
            }
        }
    }

    private static func number(_ option: String, _ text: String, _ range: ClosedRange<Int>) throws(Failure) -> Int {
        // (As it is written: no sign, no zero in front.)
        guard let number = Int(text), range.contains(number), "\(number)" == text else {
            throw .misuse(
                "\(option): \(range.lowerBound) to \(range.upperBound), not '\(AccountName.printable(text))'")
        }
        return number
    }
}

/// Text of `--help`.
let usage = """
    usage: seismote-broker invite [NAME] [--count N] [--hours H] [--host HOST] [--user-data [--install]] [--file FOLDER] [--no-qr]
                                  [--json]
           seismote-broker add NAME [--role ROLE] [--host HOST] [--viewer NAME] [--password-file FILE] [--no-qr] [--json]
           seismote-broker remove NAME...
           seismote-broker list [--json]
           seismote-broker certificates [--json]
           seismote-broker password NAME [--host HOST] [--password-file FILE] [--no-qr] [--json]
           seismote-broker init [--host NAME]...
           seismote-broker renew [--if-needed]
           seismote-broker fingerprint
           seismote-broker new-authority
           seismote-broker tidy
           seismote-broker prepare
           seismote-broker enrol
           seismote-broker --help

      invite           print the line that makes a station of a board: `sudo seismote join LINE`, as text and as a QR code
                       (with the package qrencode). It is good for one board, which gets a certificate of its own
      add              make an account and print what the other side has to be told: for a station the line for
                       `seismote setup`, as text and as a QR code (with the package qrencode). With the first station an
                       account `viewer` is made for the page (not with --json)
      remove           take accounts away, revoke their certificates, and withdraw their invitations; whoever is connected
                       with them is disconnected, and publishes nothing more when the command ends
      list             accounts, their roles, how they sign in, and who is connected since when
      certificates     the certificates of the broker and of the stations, those that end first at the top
      password         give an account a new password; whoever is connected with the old one is disconnected
      init             make the authority, the certificate and the files of the accounts, where they are missing; the
                       package does so when it is installed
      renew            make a new certificate of the same authority; stations need not be told. With --if-needed only
                       if it ends within 60 days or the names or addresses of this machine have changed
      fingerprint      print the fingerprint of the authority (SHA-256)
      new-authority    make another authority for the certificates of stations. The one before is taken for 100 days more, in
                       which every station gets a certificate of the new one by its usual renewal
      tidy             end invitations that were used or whose time is over; a unit does so when a station has joined, and a
                       timer once a day
      prepare          finish what a power cut has left half, and make anew what begins in the future since a clock was ahead;
                       seismote-broker.service does so before it starts the broker
      enrol            the service that gives stations their certificates (seismote-broker-enrol.service)

      --count N        invite N stations, NAME-01 to NAME-N; default: 1, without a number
      --hours H        how long an invitation is good; default: 24
      --user-data      print a file for cloud-init in place of the line
      --install        with --user-data: the board has no package seismote yet, and installs it from the source that this machine
                       has (/etc/apt/sources.list.d/seismote.list, with its key /etc/apt/keyrings/seismote.gpg)
      --file FOLDER    write what is for the board into FOLDER/NAME and print nothing secret: `seismote-join` for the boot
                       partition, or `user-data` with --user-data
      --role ROLE      station (default): writes its own measurements, obeys commands; NAME is its station.id
                       viewer: sees all stations
                       commander: sees all stations and may command them
                       home-assistant: for Home Assistant's MQTT integration
                       network, feed, notify: for the service seismote-network, seismote-feed, seismote-notify
      --host HOST      name or address by which the station reaches this machine; default: its name with .local
                       (where avahi runs) or its full name
      --viewer NAME    with a station: make an account NAME to look at the page, too
      --password-file FILE
                       file with the password in its first line, `-` for the standard input; default: a new random one
      --no-qr          no QR code
      --json           print JSON

    Exit status: 0 done, 1 not done, 64 wrong arguments.
    """
