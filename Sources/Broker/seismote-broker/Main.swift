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
        do throws(Failure) {
            try run(Array(ProgramArguments.all.dropFirst()))
            fflush(nil)
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
