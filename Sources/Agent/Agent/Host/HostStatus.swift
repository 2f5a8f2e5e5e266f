import CLinux
import Glibc
import Messages
import Platform
import Values

/// Facts about the host.
enum HostStatus {
    /// Whether the wall clock follows a source, which, and how far it may be off; nil where this cannot be known.
    static func timeQuality() -> TimeQuality? { clock()?.quality }

    /// The kernel's state of the clock, from itself or by way of a file.
    static func clock() -> (quality: TimeQuality, offset: Int?)? {
        let clock =
            KernelClock.ask()
            ?? ClockWatch.state(SmallFile.text(ClockWatch.path, limit: 4096) ?? "", now: HostClock.monotonic())
        return clock.map {
            (timeQuality(status: $0.status, maxError: $0.maxError, estimatedError: $0.estimatedError), $0.offset)
        }
    }

    /// Quality of the kernel's clock (`adjtimex(2)`).
    ///
    /// It knows that somebody steers it (`STA_UNSYNC` is off) and how far it may be off: `maxerror`, which the steering
    /// program sets and the kernel lets grow by 500 ppm until it is set again; where a program sets only the estimate,
    /// that. It does not know who: `ntp` stands for any daemon (chrony, ntpd, systemd-timesyncd, and phc2sys, which
    /// makes itself known nowhere). Only a clock that the kernel itself disciplines by the pulses of a receiver
    /// (`STA_PPSSIGNAL` with `STA_PPSTIME` or `STA_PPSFREQ`) is surely `gps`; a receiver behind chrony or gpsd is `ntp`.
    /// - Parameters:
    ///   - maxError: microseconds; as is `estimatedError`.
    static func timeQuality(status: Int32, maxError: Int, estimatedError: Int) -> TimeQuality {
        guard status & STA_UNSYNC == 0 else { return TimeQuality(synced: false, source: .free) }
        let pulses = status & STA_PPSSIGNAL != 0 && status & (STA_PPSTIME | STA_PPSFREQ) != 0
        let error = maxError > 0 ? maxError : estimatedError
        return TimeQuality(synced: true, source: pulses ? .gps : .ntp, errorMs: Double(max(0, error)) / 1000)
    }

    /// Seconds of processor time of all threads since the start.
    static func cpuSeconds() -> Double {
        var usage = rusage()
        guard getrusage(RUSAGE_SELF.rawValue, &usage) == 0 else { return 0 }
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) * 1e-6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// Bytes of memory in use now.
    static func residentBytes() -> Int? {
        let fields = (SmallFile.text("/proc/self/statm", limit: 4096) ?? "").split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// A UUID for this run, from the kernel.
    static func uuid() -> String {
        let text = (SmallFile.text("/proc/sys/kernel/random/uuid", limit: 4096) ?? "").prefix { $0 != "\n" }
        // Without /proc: from the library's generator.
        return text.count == 36 ? String(text) : RandomUUID.text()
    }

    /// The host's name as a station id: what an id must not have becomes `-`.
    static func stationID() -> String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "station" }
        return Topics.id(fromHostName: String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self))
    }
}

/// Files that live in memory.
enum MemoryFile {
    /// Replaces one, so that nobody reads half of it.
    /// - Returns: false: `errno` says why.
    static func replace(_ path: String, _ bytes: [UInt8], mode: mode_t) -> Bool {
        let new = path + ".new"
        let file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode)
        guard file >= 0 else { return false }
        // Whatever the umask is.
        let isWhole = fchmod(file, mode) == 0 && write(file, bytes, bytes.count) == bytes.count
        return close(file) == 0 && isWhole && rename(new, path) == 0
    }
}

typealias HostClock = Platform.HostClock

/// The kernel's knowledge of its clock (`adjtimex(2)`).
struct KernelClock: Equatable {
    /// Bits `STA_*`.
    var status: Int32
    /// Microseconds.
    var maxError: Int
    var estimatedError: Int
    /// Offset that is still to be added to the clock, in nanoseconds: how far it is behind its source. Nil where no
    /// program steers it by the kernel's own loop (`STA_PLL`; chrony does not): then the kernel does not know.
    var offset: Int?

    /// Asks the kernel; nil where it may not be asked: a sandbox with `ProtectClock` refuses the call that reads the
    /// state as well, since it is the one that sets it.
    static func ask() -> KernelClock? {
        var state = timex()
        guard adjtimex(&state) >= 0 else { return nil }
        return KernelClock(
            status: state.status, maxError: state.maxerror, estimatedError: state.esterror,
            offset: state.status & STA_PLL == 0 ? nil : state.offset * (state.status & STA_NANO == 0 ? 1000 : 1))
    }
}

/// The state of the kernel's clock by way of a file, for an agent that may not ask. `seismoted --clock FILE` writes it, a
/// process of its own that may do this and nothing else (`seismote-clock.service`).
enum ClockWatch {
    /// Where the unit has it written.
    static let path = "/run/seismote-clock/state"
    /// Seconds between two states, and after which one says nothing any more (ns).
    private static let interval = 2
    private static let patience: Int64 = 10_000_000_000

    /// Writes the state every two seconds, until it is ended.
    /// - Returns: an errno.
    static func run(_ path: String) -> Int32 {
        clinux_forget_code()
        while true {
            guard let clock = KernelClock.ask(),
                MemoryFile.replace(
                    path, Array(text(clock, now: HostClock.monotonic()).utf8), mode: 0o644)
            else {
                return errno
            }
            var pause = timespec(tv_sec: interval, tv_nsec: 0)
            clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nil)
        }
    }

    /// - Parameter now: of the monotonic clock.
    static func text(_ clock: KernelClock, now: Int64) -> String {
        "\(clock.status) \(clock.maxError) \(clock.estimatedError) \(now)" + (clock.offset.map { " \($0)" } ?? "")
            + "\n"
    }

    /// State from a text; nil when it is none or too old. The bound has grown since by 500 ppm, as the kernel lets it
    /// grow.
    static func state(_ text: String, now: Int64) -> KernelClock? {
        guard text.utf8.last == UInt8(ascii: "\n") else { return nil }
        let fields = text.dropLast().split(separator: " ", omittingEmptySubsequences: false)
        guard (4...5).contains(fields.count), let status = Int32(fields[0]), let most = Int(fields[1]),
            let usual = Int(fields[2]),
            let time = Int64(fields[3]), fields.count == 4 || Int(fields[4]) != nil,
            (0...patience).contains(now.subtractingReportingOverflow(time).partialValue)
        else { return nil }
        let grown = Int((now - time) / 2_000_000)
        return KernelClock(
            status: status, maxError: most > 0 ? min(most, 1 << 40) + grown : most, estimatedError: usual,
            offset: fields.count > 4 ? Int(fields[4]) : nil)
    }
}
