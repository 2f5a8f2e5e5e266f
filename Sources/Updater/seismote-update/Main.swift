import Administration
import Glibc
import Platform

/// `seismote-update`: updates the agent of this station when somebody asks for it over MQTT, and puts the old one back when the
/// new one does not do what the old one did.
///
/// It belongs to a package of its own: an upgrade of `seismote` does not touch who watches it. See
/// deploy/docs/operate/updating.md.
@main
enum SeismoteUpdate {
    static func main() {
        umask(0o022)
        ProgramOutput.begin()
        setenv("LC_ALL", "C.UTF-8", 1)
        setenv("DEBIAN_FRONTEND", "noninteractive", 1)
        let words = Array(ProgramArguments.all.dropFirst())
        switch words.first {
        case "-h", "--help": say(usage)
        case "take" where words.count == 1: take()
        case "status" where words.count == 1:
            say(Disk.text("\(StationPlace.kept)/state.json").map { $0.filter { !$0.isNewline } } ?? "{}")
        default:
            note(usage)
            exit(ExitStatus.usage.rawValue)
        }
    }

    private static func take() {
        guard geteuid() == 0 else { return fail("it needs root") }
        for folder in [StationPlace.kept, StationPlace.shown] { mkdir(folder, 0o755) }
        guard let lock = FileLock("\(StationPlace.kept)/.lock", seconds: 0) else {
            return note("seismote-update: another one is at work")
        }
        let machine = StationMachine()
        machine.showLast()
        do {
            let isDone = try Updater(machine, limits: StationPlace.limits).run()
            lock.release()
            exit(isDone ? 0 : 1)
        } catch { fail("\(error)") }
    }

    private static func fail(_ words: String) {
        note("seismote-update: \(words)")
        exit(1)
    }
}

private let usage = """
    usage: seismote-update [--help]
           seismote-update status
           seismote-update take

      status           print what became of the last update, or where one stands
      take             go on with an update that was interrupted, else carry out what the agent asks for; seismote-update.service
                       does so, started by a request and, after a power cut, by a timer

    An update is asked for by `seismote ctl update STATION --version VERSION`.

    Exit status: 0 done, or nothing to do, 1 not done, 64 wrong arguments.
    """
