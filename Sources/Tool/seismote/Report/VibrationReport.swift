import Messages
import Vibration

/// The intervals of a station, in order of time, with what each is of a limit.
struct VibrationReport {
    struct Day {
        /// Begins at 7 h local time.
        var start: Int64
        var ppv = [0.0, 0.0, 0.0]
        var kbFmax = 0.0
        /// m/s^1.75, largest of the axes.
        var dayDose = 0.0
        var nightDose = 0.0
        var share = 0.0
        /// Seconds that were measured.
        var seconds = 0.0
    }

    let station: String
    let limit: VibrationLimit?
    /// Hours by which local time is ahead of UTC.
    let offset: Double
    private(set) var records: [VibrationRecord]
    /// Of each interval.
    private(set) var shares: [VibrationLimit.Share?] = []
    private(set) var days: [Day] = []

    init(station: String, _ records: [VibrationRecord], limit: VibrationLimit?, offset: Double) {
        (self.station, self.limit, self.offset) = (station, limit, offset)
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
        days[k].seconds += record.seconds
        let dose = period.doses.max() ?? 0
        if period.isNight { days[k].nightDose = dose } else { days[k].dayDose = dose }
    }

    /// Stretches of more than an interval in which nothing was measured.
    var holes: [(from: Int64, to: Int64)] {
        zip(records, records.dropFirst()).compactMap { before, after in
            let end = before.start + Int64(before.length) * 1_000_000_000
            return after.start > end ? (end, after.start) : nil
        }
    }

    /// One line for each interval.
    var csv: String {
        var text = "start,interval_s,seconds,gaps,pvs_mm_s"
        for name in VibrationRecord.axisNames {
            for key in ["ppv_mm_s", "frequency_hz", "rms_mm_s", "kb_fmax", "kb_ftm", "vdv"] {
                text += ",\(name)_\(key)"
            }
        }
        text += ",share\n"
        for (record, share) in zip(records, shares) {
            text += "\(Timestamp(nanoseconds: record.start)),\(record.length),\(record.seconds),"
            text += "\(record.gaps),\(record.pvs)"
            for axis in record.axes {
                text += ",\(axis.ppv),\(axis.frequency.map { "\($0)" } ?? ""),\(axis.rms)"
                text += ",\(axis.kbFmax),\(axis.kbFTm),\(axis.dose)"
            }
            text += ",\(share.map { "\($0.ratio)" } ?? "")\n"
        }
        return text
    }
}
