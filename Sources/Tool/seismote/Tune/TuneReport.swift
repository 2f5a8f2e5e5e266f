import Messages
import Values

/// Results of all settings on all recordings, best first.
struct TuneReport {
    struct Row {
        var index: Int
        var setting: TuneSetting
        /// The one that the station has now.
        var isPresent: Bool
        var caught = 0
        var falseOnsets = 0
        /// Seconds from onset to detection, rising.
        var delays: [Double] = []

        /// Value of a setting: a false onset costs as much as an event that is missed.
        var score: Int { caught - falseOnsets }
        var median: Double? { delays.isEmpty ? nil : (delays[(delays.count - 1) / 2] + delays[delays.count / 2]) / 2 }
    }

    let rows: [Row]
    let recordings: [TunedRecording]
    let events: Int
    let quietHours: Double

    init(_ settings: [(setting: TuneSetting, present: Bool)], _ recordings: [TunedRecording]) {
        self.recordings = recordings
        events = recordings.reduce(0) { $0 + $1.events.count }
        quietHours = recordings.reduce(0) { $0 + $1.quietSeconds } / 3600
        var rows: [Row] = []
        for (index, one) in settings.enumerated() {
            var row = Row(index: index, setting: one.setting, isPresent: one.present)
            for recording in recordings {
                let delays = recording.events.compactMap { recording.delay($0, index) }
                row.delays += delays
                row.falseOnsets += recording.falseOnsets(index).count
            }
            row.caught = row.delays.count
            row.delays.sort()
            rows.append(row)
        }
        self.rows = rows.sorted { a, b in
            if a.score != b.score { return a.score > b.score }
            if a.median != b.median { return a.median ?? .infinity < b.median ?? .infinity }
            return a.index < b.index
        }
    }

    func perHour(_ row: Row) -> Double? { quietHours > 0 ? Double(row.falseOnsets) / quietHours : nil }
}

// MARK: - For people

extension TuneReport {
    /// - Parameter top: rows of the table at most.
    func text(top: Int) -> String {
        var parts = [heading]
        var table = Table(
            ["", "caught", "false", "per hour", "median s", "slowest s", "detector", "signal", "band", "setting"],
            left: [6, 7, 8, 9])
        for (place, row) in rows.enumerated() where place < top || row.isPresent {
            table.add([
                "\(place + 1)" + (row.isPresent ? "*" : " "), "\(row.caught)/\(events)", "\(row.falseOnsets)",
                fixed(perHour(row), 2), fixed(row.median, 2), fixed(row.delays.last, 2), row.setting.detector,
                row.setting.signal, row.setting.band, row.setting.rest,
            ])
        }
        var note = "Best first: events caught less false onsets, then the shorter median delay from the beginning (P)."
        if rows.count > top { note += " \(rows.count) settings were tried; --top \(rows.count) shows all." }
        if rows.contains(where: \.isPresent) { note += " * is what the settings have now." }
        parts.append(table.text + "\n" + note)
        if events == 0 {
            parts.append("There was no event to detect, so the settings are not ranked.")
        } else if let best = rows.first {
            parts.append(details(best))
            parts.append("To use the best, put this into the settings file:\n\n" + best.setting.lines)
        }
        return parts.joined(separator: "\n\n")
    }

    private var heading: String {
        let seconds = recordings.reduce(0) { $0 + $1.duration }
        var text = "\(recordings.count) recording\(recordings.count == 1 ? "" : "s") of \(duration(seconds)); "
        text += "\(events) event\(events == 1 ? "" : "s") to catch, \(duration(quietHours * 3600)) quiet."
        if quietHours < 0.1 { text += " That is too little to judge false onsets." }
        let found = recordings.reduce(0) { $0 + $1.events.count { !$0.isPicked } }
        if recordings.contains(where: { !$0.events.contains(where: \.isPicked) }), found == events {
            text += "\nEvents were detected automatically: \(Shaking.rule)."
            text +=
                "\nAn onset from \(significant(TunedRecording.before, 3)) s before it begins to its end has caught it."
            text += " Weaker shaking (5 to 10 times) counts neither way."
        } else {
            text += "\nAn onset from 3 s before P to 40 s after S (60 s after P without S) has caught an event."
        }
        let early = recordings.reduce(0) { $0 + $1.early }
        if early > 0 {
            text += "\n\(early) more not counted: too soon after a start or a gap for the longest long-term average."
        }
        let unusable = recordings.reduce(0) { $0 + $1.unusable }
        if unusable > 0 {
            text += "\n\(unusable) samples were left out: not a number, or larger than 10⁶ m/s². Check --scale."
        } else if let noise = recordings.compactMap(\.noise).min(), noise > 1 {
            text += "\nEven the quietest recording has \(significant(noise, 3)) m/s² of noise. Check --scale."
        }
        return text
    }

    private func duration(_ seconds: Double) -> String {
        if seconds < 120 { return fixed(seconds, 0) + " s" }
        return seconds < 7200 ? fixed(seconds / 60, 1) + " min" : fixed(seconds / 3600, 2) + " h"
    }

    /// Event by event what a setting did; only what went wrong when there are many.
    private func details(_ row: Row) -> String {
        let short = events <= 20
        var lines: [String] = []
        for recording in recordings {
            for event in recording.events {
                let delay = recording.delay(event, row.index)
                if short || delay == nil {
                    let at = "\(event.isPicked ? "P" : "begins") at \(fixed(event.onset, 2)) s"
                    lines.append(
                        "  \(recording.file): \(at), "
                            + (delay.map { "caught \(fixed(abs($0), 2)) s \($0 < 0 ? "before" : "after")" } ?? "missed")
                    )
                }
            }
            for onset in recording.falseOnsets(row.index) {
                lines.append("  \(recording.file): false onset at \(fixed(onset, 2)) s")
            }
        }
        let title = short ? "The best, event by event:" : "What the best missed, and its false onsets:"
        return title + "\n" + (lines.isEmpty ? "  nothing" : lines.joined(separator: "\n"))
    }
}

// MARK: - For machines

extension TuneReport {
    var value: Value {
        let best = events > 0 ? rows.first.map { Value.string($0.setting.lines + "\n") } : nil
        return .object([
            .init("recordings", .array(recordings.map(value))), .init("events", .int(Int64(events))),
            .init("quiet_hours", .double(quietHours)), .init("settings", .array(rows.map(value))),
            .init("best", best ?? .null),
        ])
    }

    private func value(_ recording: TunedRecording) -> Value {
        .object([
            .init("file", .string(recording.file)), .init("rate_hz", .double(recording.rate)),
            .init("duration_s", .double(recording.duration)), .init("quiet_s", .double(recording.quietSeconds)),
            .init("not_counted", .int(Int64(recording.early))),
            .init("events", .array(recording.events.map(value))),
        ])
    }

    private func value(_ event: TunedRecording.Event) -> Value {
        var members: [Value.Member] = [
            .init("onset_s", .double(event.onset)), .init("picked", .bool(event.isPicked)),
        ]
        if let s = event.s { members.append(.init("s_s", .double(s))) }
        return .object(members)
    }

    private func number(_ value: Double?) -> Value { value.map { .double($0) } ?? .null }

    private func value(_ row: Row) -> Value {
        let each = recordings.map { recording -> Value in
            let delays = recording.events.map { number(recording.delay($0, row.index)) }
            let falseOnsets = recording.falseOnsets(row.index).map { Value.double($0) }
            return ["delays_s": .array(delays), "false_s": .array(falseOnsets)]
        }
        return .object([
            .init("detector", .string(row.setting.detector)), .init("settings", .object(row.setting.value)),
            .init("present", .bool(row.isPresent)), .init("caught", .int(Int64(row.caught))),
            .init("missed", .int(Int64(events - row.caught))), .init("false", .int(Int64(row.falseOnsets))),
            .init("false_per_hour", number(perHour(row))), .init("median_delay_s", number(row.median)),
            .init("slowest_delay_s", number(row.delays.last)), .init("recordings", .array(each)),
        ])
    }
}
