import Messages
import Values
import Vibration

/// The intervals of a station, in order of time, with what each is of a limit.
struct VibrationReport {
    struct Day {
        /// Begins at 7 h local time.
        var start: Int64
        var ppv = [0.0, 0.0, 0.0]
        var kbFmax = 0.0
        /// m/s^1.75, of x, y and z.
        var dayDoses = [0.0, 0.0, 0.0]
        var nightDoses = [0.0, 0.0, 0.0]
        var share = 0.0
        /// Seconds that were measured, by day and by night.
        var daySeconds = 0.0
        var nightSeconds = 0.0
        var seconds: Double { daySeconds + nightSeconds }
    }

    /// A stretch of more than an interval in which nothing was measured.
    struct Hole {
        /// Nanoseconds of UTC.
        var from: Int64
        var to: Int64
        var reason: String
    }

    let station: String
    /// `state/info`, and the settings; nil: not known.
    let info: InfoReading?
    let settings: SettingsReading?
    let modes: [ModesMessage]
    let limit: VibrationLimit?
    /// Hours by which local time is ahead of UTC.
    let offset: Double
    private(set) var records: [VibrationRecord]
    /// Share of the limit of each interval.
    private(set) var shares: [VibrationLimit.Share?] = []
    private(set) var days: [Day] = []

    init(_ source: ReportSource, limit: VibrationLimit?, offset: Double) {
        (station, self.limit, self.offset) = (source.station, limit, offset)
        (info, settings, modes) = (source.info, source.settings, source.modes)
        let records = source.records
        // One that was sent twice, or late, counts once: the one that has more of it.
        var best: [Int64: VibrationRecord] = [:]
        for record in records where record.seconds > best[record.start]?.seconds ?? -1 { best[record.start] = record }
        self.records = best.values.sorted { $0.start < $1.start }
        var period = VibrationPeriod(offset: offset)
        for record in self.records {
            let interval = record.interval
            period.add(interval)
            let share = limit?.share(of: interval, doses: period.doses, isNight: period.isNight)
            shares.append(share)
            add(record, share, period)
        }
    }

    private mutating func add(_ record: VibrationRecord, _ share: VibrationLimit.Share?, _ period: VibrationPeriod) {
        let (day, shift) = (86_400_000_000_000 as Int64, Int64(((offset - 7) * 3_600e9).rounded()))
        let local = record.start + shift
        let start = local - ((local % day) + day) % day - shift
        if days.last?.start != start { days.append(Day(start: start)) }
        let k = days.count - 1
        for axis in 0..<3 { days[k].ppv[axis] = max(days[k].ppv[axis], record.axes[axis].ppv) }
        days[k].kbFmax = max(days[k].kbFmax, record.axes.map(\.kbFmax).max() ?? 0)
        days[k].share = max(days[k].share, share?.ratio ?? 0)
        if period.isNight {
            days[k].nightDoses = period.doses
            days[k].nightSeconds += record.seconds
        } else {
            days[k].dayDoses = period.doses
            days[k].daySeconds += record.seconds
        }
    }

    /// Reasons that interrupt intervals, in words that follow a number of them.
    static let reasons: [(VibrationInterval.Interruptions, String)] = [
        (.start, "with a start of measuring"), (.gap, "with missing or invalid samples"),
        (.change, "with a change of settings or of the sensor"), (.stop, "with an orderly end of measuring"),
    ]

    /// Intervals of which a hundredth or more is missing.
    var partial: [VibrationRecord] { records.filter { $0.seconds < 0.99 * Double($0.length) } }

    var holes: [Hole] {
        zip(records, records.dropFirst()).compactMap { before, after in
            let end = before.start + Int64(before.length) * 1_000_000_000
            guard after.start > end else { return nil }
            return Hole(from: end, to: after.start, reason: Self.reason(before.interruptions, after.interruptions))
        }
    }

    /// Reason why nothing was measured between two intervals.
    private static func reason(
        _ before: VibrationInterval.Interruptions, _ after: VibrationInterval.Interruptions
    ) -> String {
        if before.contains(.stop) {
            return "measuring was ended in order: the agent was stopped, or vibration switched off"
        }
        if before.contains(.change) || after.contains(.change) { return "settings or the sensor were changed" }
        if after.contains(.start) { return "ended without notice: a power cut, a crash, or killed" }
        if before.contains(.gap) || after.contains(.gap) {
            return "no samples came, or invalid ones: see the station’s alerts"
        }
        return "not known: not stored, not in these files, or of an earlier version of the agent"
    }

    /// One line for each interval.
    var csv: String {
        var text = "start,interval_s,seconds,gaps,interrupted,pvs_mm_s,pvs_s"
        for name in VibrationRecord.axisNames {
            for key in [
                "ppv_mm_s", "peak_s", "frequency_hz", "rms_mm_s", "displacement_mm", "acceleration_m_s2", "kb_fmax",
                "kb_ftm", "aw_rms_m_s2", "vdv", "floor_mm_s",
            ] {
                text += ",\(name)_\(key)"
            }
        }
        text += ",share,share_axis,share_value,share_limit,share_frequency_hz,share_t\n"
        func number(_ value: Double?) -> String { value.map { "\($0)" } ?? "" }
        for (record, share) in zip(records, shares) {
            text += "\(Timestamp(nanoseconds: record.start)),\(record.length),\(record.seconds),"
            text += "\(record.gaps),\(record.interruptions.names.joined(separator: " ")),\(record.pvs),"
            text += number(record.pvsPeak)
            for axis in record.axes {
                text += ",\(axis.ppv),\(axis.peak),\(number(axis.frequency)),\(axis.rms)"
                text += ",\(number(axis.displacement)),\(number(axis.acceleration))"
                text += ",\(axis.kbFmax),\(axis.kbFTm),\(axis.weightedRMS),\(axis.dose),\(number(axis.floor))"
            }
            text += ",\(number(share?.ratio))"
            text += ",\(share.map { VibrationRecord.axisName($0.axis) } ?? "")"
            text += ",\(number(share?.value)),\(number(share?.limit)),\(number(share?.frequency))"
            text += ",\(share?.time.map { Timestamp(nanoseconds: $0).description } ?? "")\n"
        }
        return text
    }
}
