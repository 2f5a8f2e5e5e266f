import Messages
import Vibration

/// Natural modes over time: a diagram of their frequencies, interrupted where there are none, and a line for each.
struct ModesChapter {
    /// One mode in the periods in which it was found.
    struct Track {
        var id: Int
        var points: [(period: Int, mode: StructureMode, temperature: Double?)] = []

        var frequencies: [Double] { points.map(\.mode.frequency) }
        var mean: Double { frequencies.reduce(0, +) / Double(points.count) }
        var damping: Double { points.map(\.mode.damping).sorted()[points.count / 2] }

        /// Percent of its frequency for each kelvin, by least squares; nil: no temperatures, or too much alike.
        var slope: Double? {
            let pairs = points.compactMap { point in point.temperature.map { ($0, point.mode.frequency) } }
            guard pairs.count >= 12 else { return nil }
            let count = Double(pairs.count)
            let (warm, high) = (pairs.reduce(0) { $0 + $1.0 } / count, pairs.reduce(0) { $0 + $1.1 } / count)
            let spread = pairs.reduce(0) { $0 + ($1.0 - warm) * ($1.0 - warm) }
            guard spread / count >= 1 else { return nil }
            return 100 * pairs.reduce(0) { $0 + ($1.0 - warm) * ($1.1 - high) } / spread / high
        }
    }

    /// Lines of the table, and colours of the diagram.
    private static let most = 12
    private static let colours = ["#b4332a", "#2a52b4", "#2f7d32", "#8a5a00", "#6a3d9a", "#00707a"]

    /// Damping below which a mode is kept going by something that turns or strikes regularly: share of critical
    /// damping.
    private static let leastDamping = 0.001

    private let periods: [ModesMessage]
    private let tracks: [Track]
    /// Frequencies of sources that turn or strike regularly, Hz.
    private let driven: [Double]

    /// - Parameter messages: in any order, some perhaps twice.
    init(_ messages: [ModesMessage]) {
        var best: [Int64: ModesMessage] = [:]
        for message in messages where message.seconds > best[message.start]?.seconds ?? -1 {
            best[message.start] = message
        }
        var periods = best.values.sorted { $0.start < $1.start }
        // Those of an earlier version have no numbers.
        if periods.contains(where: { $0.modes.contains { $0.id == nil } }) {
            var followed = FollowedModes()
            for i in periods.indices { followed.recognise(&periods[i].modes) }
        }
        var tracks: [Int: Track] = [:]
        for (index, period) in periods.enumerated() {
            for mode in period.modes {
                guard let id = mode.id else { continue }
                tracks[id, default: Track(id: id)].points.append((index, mode, period.temperature))
            }
        }
        self.periods = periods
        // Those that are there most of the time; what was seen once may be a machine.
        let natural = tracks.values.filter { $0.damping >= Self.leastDamping }
        driven = tracks.values.filter { $0.damping < Self.leastDamping }.map(\.mean).sorted()
        let often = natural.sorted { ($1.points.count, $0.id) < ($0.points.count, $1.id) }.prefix(Self.most)
        self.tracks = often.sorted { $0.mean < $1.mean }
    }

    var text: String {
        guard let first = periods.first, let last = periods.last else { return "" }
        var html = "<h2>Natural modes</h2>\n"
        guard !tracks.isEmpty else {
            return html + "<p>None stood out in \(periods.count) periods of ambient vibration.</p>\n" + leftOut
        }
        html +=
            "<p>\(periods.count) periods from \(ReportText.moment(first.start)) to \(ReportText.moment(last.start)), "
        html += "by subspace identification of the ambient vibration; a break in a line: no period, or the mode "
        html +=
            "did not stand out in it. Temperature moves natural frequencies by some percent; a change that stays is "
        html += "a reason to have the structure looked at, no proof of damage.</p>\n\(diagram)\n"
        let rows = tracks.map { track in
            let (damping, found) = (ReportText.number(100 * track.damping, 2), track.points.count)
            let (low, high) = (track.frequencies.min() ?? 0, track.frequencies.max() ?? 0)
            let shape = strongest(track).shape.map { ReportText.number($0, 2) }.joined(separator: ", ")
            return ReportText.row([
                "\(track.id)", ReportText.number(track.mean, 3),
                "\(ReportText.number(low, 3)) to \(ReportText.number(high, 3))", damping + " %", shape,
                "\(found) of \(periods.count)",
                track.slope.map { ReportText.number($0, 3) + " %/K" } ?? "not known",
            ])
        }
        return html
            + ReportText.table(
                [
                    "Mode", "mean, Hz", "range, Hz", "damping", "shape x, y, z", "found in", "with temperature",
                ], rows.joined()) + leftOut
    }

    private var leftOut: String {
        guard !driven.isEmpty else { return "" }
        let all = driven.prefix(20).map { ReportText.number($0, 2) }.joined(separator: ", ")
        return
            "<p>Left out, because they hardly decay (damping below 0.1 %): \(all)\(driven.count > 20 ? ", …" : "") Hz. "
            + "That is something that turns or strikes regularly, no structure.</p>\n"
    }

    private func strongest(_ track: Track) -> StructureMode {
        track.points.map(\.mode).max { $0.prominence < $1.prominence } ?? track.points[0].mode
    }

    /// Whether a period goes on from the one before.
    private func follows(_ index: Int) -> Bool {
        guard index > 0 else { return false }
        // (The last period before a gap may have been short, and its begin a little late.)
        let steps = zip(periods, periods.dropFirst()).map { $1.start - $0.start }.sorted()
        return Double(periods[index].start - periods[index - 1].start) < 1.5 * Double(steps[steps.count / 2])
    }

    private var diagram: String {
        let begin = periods[0].start
        let hours = { (index: Int) in Double(periods[index].start - begin) / 3_600e9 }
        let all = tracks.flatMap(\.frequencies)
        let (low, high) = (all.min() ?? 0, all.max() ?? 1)
        let margin = max(0.05 * (high - low), 0.02 * high)
        let span = max(hours(periods.count - 1), 1)
        let isLong = span > 72
        var x = ReportSVG.Scale.even(0, isLong ? span / 24 : span)
        if isLong {
            (x.low, x.high) = (24 * x.low, 24 * x.high)
            x.ticks = x.ticks.map { (24 * $0.value, $0.text) }
        }
        x.high = span
        x.ticks.removeAll { $0.value > span }
        var svg = ReportSVG(
            x: x, y: .even(max(0, low - margin), high + margin),
            names: ("\(isLong ? "days" : "hours") since \(ReportText.moment(begin))", "frequency, Hz"), height: 300)
        let continues = periods.indices.map(follows)
        for (number, track) in tracks.enumerated() {
            let colour = Self.colours[number % Self.colours.count]
            var stretch: [(Double, Double)] = []
            var before = -2
            for point in track.points {
                if point.period != before + 1 || !continues[point.period] {
                    if stretch.count > 1 { svg.line(stretch, "stroke=\"\(colour)\"") }
                    stretch = []
                }
                stretch.append((hours(point.period), point.mode.frequency))
                svg.dot(stretch[stretch.count - 1], "r=\"1.5\" fill=\"\(colour)\"")
                before = point.period
            }
            if stretch.count > 1 { svg.line(stretch, "stroke=\"\(colour)\"") }
        }
        return svg.text
    }
}
