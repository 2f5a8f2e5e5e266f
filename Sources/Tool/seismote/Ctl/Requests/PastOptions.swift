import ArgumentParser
import Glibc
import Threads
import Values

/// A stretch of the past.
struct PastOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "From so long ago (90s, 30m, 12h, 7d), or from this time, such as 2026-01-05 or 2026-01-05T10:20:00Z.",
            valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("To this time, in the same forms; else now.", valueName: "time"))
    var until: String?

    func validate() throws {
        for (option, text) in [("since", since), ("until", until)] {
            guard let text, Self.time(text, now: 0) == nil else { continue }
            throw ValidationError("--\(option) \(text): must be such as 12h, 7d, 2026-01-05 or 2026-01-05T10:20:00Z")
        }
    }

    /// Nanoseconds of UTC.
    /// - Parameter standard: how long ago it begins where nothing is said (ns).
    func range(standard: Int64) -> (from: Int64, to: Int64) {
        let now = HostClock.wall() / 1_000_000_000 * 1_000_000_000
        let to = until.flatMap { Self.time($0, now: now) } ?? now
        return (since.flatMap { Self.time($0, now: now) } ?? to - standard, to)
    }

    private static func time(_ text: String, now: Int64) -> Int64? {
        if let time = Timestamp(text) ?? Timestamp("\(text)T00:00:00Z") { return time.nanoseconds }
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Double(text.dropLast()), number >= 0,
            number * unit < 9e9
        else { return nil }
        return now - Int64(number * unit * 1e9)
    }
}

extension Int64 {
    /// As commands have it.
    var timeValue: Value { .string(Timestamp(nanoseconds: self).description) }
}
