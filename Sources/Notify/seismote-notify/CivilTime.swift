import Values

/// The clock on the wall where the people are who get messages.
struct CivilTime: Sendable {
    private let offset: @Sendable (Int64) -> Int
    private static let second: Int64 = 1_000_000_000

    /// - Parameter offset: seconds east of UTC at a time (nanoseconds of UTC), with daylight saving time.
    init(offset: @escaping @Sendable (Int64) -> Int) { self.offset = offset }

    /// Days since 1970-01-01 by the local calendar.
    func day(_ time: Int64) -> Int { Int(Self.floor(local(time), 86_400)) }

    /// Minutes since the local midnight, 0 to 1439.
    func minute(_ time: Int64) -> Int { Int((local(time) - Int64(day(time)) * 86_400) / 60) }

    /// 0 is Monday, 6 is Sunday.
    func weekday(_ time: Int64) -> Int { (((day(time) + 3) % 7) + 7) % 7 }

    /// Day of the week and time, such as `Tue 14:03:20`: a message may come a day late.
    func moment(_ time: Int64) -> String {
        let name = WeekTime.names[weekday(time)]
        return "\(name.prefix(1).uppercased())\(name.dropFirst()) \(clock(time))"
    }

    /// Hours, minutes and seconds, such as `14:03:20`.
    func clock(_ time: Int64) -> String {
        let seconds = Int(local(time) - Int64(day(time)) * 86_400)
        return "\(Self.two(seconds / 3600)):\(Self.two(seconds / 60 % 60)):\(Self.two(seconds % 60))"
    }

    /// Which week it is since a time of the week has last passed; rises by one at that minute.
    func week(_ time: Int64, since mark: WeekTime) -> Int {
        let days = day(time) + 3 - mark.weekday
        let week = days >= 0 ? days / 7 : (days - 6) / 7
        return weekday(time) == mark.weekday && minute(time) < mark.minute ? week - 1 : week
    }

    static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    private func local(_ time: Int64) -> Int64 { Self.floor(time, Self.second) + Int64(offset(time)) }
    private static func floor(_ a: Int64, _ b: Int64) -> Int64 { a >= 0 ? a / b : (a - b + 1) / b }
}

/// A minute of each week, such as `mon 12:00`.
struct WeekTime: Sendable, Equatable {
    static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    /// 0 is Monday.
    var weekday: Int
    var minute: Int

    /// - Returns: nil for what is none.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, let weekday = Self.names.firstIndex(of: String(words[0])),
            let minute = DayTime.minute(words[1])
        else { return nil }
        (self.weekday, self.minute) = (weekday, minute)
    }
}

/// A stretch of each day, such as `22:00-07:00`; it may go over midnight.
struct DayTime: Sendable, Equatable, CustomStringConvertible {
    var from: Int
    var to: Int

    /// - Returns: nil for what is none; from and to must differ.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let from = Self.minute(parts[0]), let to = Self.minute(parts[1]), from != to else {
            return nil
        }
        (self.from, self.to) = (from, to)
    }

    /// - Parameter minute: since midnight.
    func contains(_ minute: Int) -> Bool {
        from < to ? minute >= from && minute < to : minute >= from || minute < to
    }

    var description: String {
        [from, to].map { "\(CivilTime.two($0 / 60)):\(CivilTime.two($0 % 60))" }.joined(separator: "-")
    }

    static func minute(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2,
            parts.allSatisfy({ $0.isMade(2...2) { $0.isDigit } }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60
        else { return nil }
        return hour * 60 + minute
    }
}
