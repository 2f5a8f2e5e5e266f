import CLinux
import Glibc
import Messages
import Platform
import Settings

/// Looks at this machine for `seismote doctor`.
enum HostGather {
    static func service() -> Known<ServiceFacts> {
        let names = "LoadState,ActiveState,SubState,UnitFileState,Result,ExecMainStatus,NRestarts"
        guard let run = ProgramRun(["systemctl", "show", "seismote.service", "-p", names]) else {
            return .unknown("systemd is not installed here")
        }
        let found = run.properties
        guard run.status == 0, let load = found["LoadState"] else {
            let why = run.errors.split(separator: "\n").first.map { safe(String($0), limit: 200) } ?? "no answer"
            return .unknown("systemd does not answer: \(why)")
        }
        return .known(
            ServiceFacts(
                load: load, active: found["ActiveState"] ?? "", sub: found["SubState"] ?? "",
                file: found["UnitFileState"] ?? "", result: found["Result"] ?? "",
                exitStatus: Int(found["ExecMainStatus"] ?? "") ?? 0, restarts: Int(found["NRestarts"] ?? "") ?? 0))
    }

    static func agent(settings path: String) -> AgentFacts? {
        guard let process = AgentProcesses.with(settings: path) else { return nil }
        let link = SmallFiles.link("/proc/\(process)/exe") ?? ""
        let gone = " (deleted)"
        let isReplaced = link.hasSuffix(gone)
        return AgentFacts(
            process: process, program: isReplaced ? String(link.dropLast(gone.count)) : link, isReplaced: isReplaced)
    }

    /// Version of an installed agent.
    static func installed(_ agent: AgentFacts?) -> Known<String> {
        let program = agent.flatMap { $0.program.isEmpty ? nil : $0.program } ?? "seismoted"
        guard let run = ProgramRun([program, "--version"]) else { return .unknown("no seismoted is installed") }
        let words = run.output.split(separator: " ")
        guard run.status == 0, words.count > 1 else { return .unknown("\(program) does not say its version") }
        return .known(safe(String(words[1])))
    }

    static func clock() -> Known<ClockFacts> {
        var state = timex()
        let code = adjtimex(&state)
        guard code >= 0 else { return .unknown("the kernel may not be asked for the clock's state") }
        // (The kernel keeps 15 letters of a name.)
        let known = [
            "chronyd": "chronyd", "ntpd": "ntpd", "systemd-timesyn": "systemd-timesyncd", "phc2sys": "phc2sys",
            "ntpsec": "ntpsec",
        ]
        let daemons = SmallFiles.names(in: "/proc").compactMap(Int.init).compactMap { process in
            SmallFiles.text("/proc/\(process)/comm").flatMap { known[String($0.dropLast())] }
        }
        return .known(
            ClockFacts(
                isSynchronised: state.status & STA_UNSYNC == 0,
                errorMs: Double(max(0, state.maxerror > 0 ? state.maxerror : state.esterror)) / 1000,
                now: ToolSensor.now(), daemons: Set(daemons).sorted()))
    }

    static func disk(_ directory: String) -> Known<DiskFacts> {
        let path = DiskSpace.folder(at: directory)
        guard let space = DiskSpace(path) else { return .unknown("\(path): \(String(cString: strerror(errno)))") }
        return .known(
            DiskFacts(
                path: path, total: space.total, free: space.free, freeFiles: space.freeFiles,
                isReadOnly: space.isReadOnly, device: mountPoint(of: path)))
    }

    /// `/var (/dev/mmcblk0p2)` of the file system that a path is on.
    private static func mountPoint(of path: String) -> String {
        var best = (place: "/", source: "?")
        for line in (SmallFiles.text("/proc/self/mounts") ?? "").split(separator: "\n") {
            let fields = line.split(separator: " ").map(String.init)
            guard fields.count > 2 else { continue }
            let place = fields[1]
            let isAbove = path == place || path.hasPrefix(place == "/" ? "/" : place + "/")
            if isAbove, place.count >= best.place.count { best = (place, fields[0]) }
        }
        return best.place
    }
}
