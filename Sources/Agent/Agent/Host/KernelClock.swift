import CLinux
import Glibc
import Messages
import Platform

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
