import Instruments
import MiniSEED
import SignalProcessing

/// Puts irregular samples onto a regular grid: as what it is where all that is below 0.8 of half the rate (from 2 % of
/// jitter to 20 % within 3·10⁻⁵ to 5·10⁻³ of a sine), by straight lines where the grid is another than the samples' own
/// rate, or where samples are missing.
///
/// The grid is sought from which a windowed sinc would give the samples at their own times: from straight lines on, what is
/// left over is put onto the grid again and again (F. Marvasti, Nonuniform sampling, 2001; K. Gröchenig, Math. Comp. 59
/// (1992) 181).
struct GridInterpolator {
    private let timeline: SampleTimeline
    private let isBandLimited: Bool
    private let hole: Double
    /// Next place of the grid.
    private var index = 0
    /// Rows of the present stretch that are not done with: place on the grid, x, y, z.
    private var places: [Double] = []
    private var columns: [[Double]] = [[], [], []]
    /// Time of the last of them.
    private var lastTime: Int64 = 0
    /// The first row of the next stretch.
    private var held: CSVRow?
    private var hasEnded = false
    /// Values from place `index` on that wait to be taken.
    private var ready: [[Double]] = [[], [], []]
    private var taken = 0
    /// Places of the grid that were passed over since the last value.
    private var lost = 0

    /// Rows that are worked on at once, and those on either side that are looked at as well.
    private static let chunk = 4096
    private static let margin = 96
    private static let rounds = 10
    /// An interval of so many places has too little around it.
    private static let sparse = 1.6

    init(start: Int64, rate: Double, isBandLimited: Bool) {
        timeline = SampleTimeline(start: start, rate: rate)
        self.isBandLimited = isBandLimited
        hole = CSVSurvey.holeIntervals * 1e9 / timeline.rate
    }

    mutating func fill(_ block: inout SampleBlock, from rows: inout CSVRows) throws(SensorError) {
        while block.count < block.capacity {
            guard taken < ready[0].count else {
                guard try work(&rows) else { return }
                continue
            }
            if lost > 0 {
                if block.count > 0 { return }
                block.gapBefore = true
                block.lostBefore = lost
                lost = 0
            }
            if block.count == 0 { block.time = timeline.time(of: index) }
            block.append(ready[0][taken], ready[1][taken], ready[2][taken])
            taken += 1
            index += 1
        }
    }

    /// Makes values; false at the end.
    private mutating func work(_ rows: inout CSVRows) throws(SensorError) -> Bool {
        taken = 0
        for axis in 0..<3 { ready[axis].removeAll(keepingCapacity: true) }
        if hasEnded, held == nil, places.isEmpty { return false }
        if places.isEmpty, let row = held {
            held = nil
            let next = timeline.firstIndex(notBefore: row.time)
            lost += next - index
            index = next
            take(row)
        }
        var isWhole = false
        while places.count < Self.chunk + 2 * Self.margin {
            guard let row = try rows.next() else {
                (hasEnded, isWhole) = (true, true)
                break
            }
            if let last = places.last, (place(row.time) - last) / timeline.rate * 1e9 > hole {
                (held, isWhole) = (row, true)
                break
            }
            take(row)
        }
        guard let last = places.last else { return true }
        // What is behind this one waits for more rows.
        let until = isWhole ? last : places[places.count - Self.margin]
        let first = max(0, min(index, Int(places[0].rounded(.up))))
        let end = isWhole ? timeline.lastIndex(notAfter: lastTime) : Int(until.rounded(.down))
        if end >= index {
            let from = min(first, index)
            let to = max(end, Int(last.rounded(.down)))
            for axis in 0..<3 {
                let values = Self.grid(places, columns[axis], from...to, isBandLimited: isBandLimited)
                ready[axis] += values[(index - from)...(end - from)]
            }
        }
        if isWhole {
            places.removeAll(keepingCapacity: true)
            for axis in 0..<3 { columns[axis].removeAll(keepingCapacity: true) }
        } else {
            let done = places.count - 2 * Self.margin
            places.removeFirst(done)
            for axis in 0..<3 { columns[axis].removeFirst(done) }
        }
        return true
    }

    private func place(_ time: Int64) -> Double { Double(time - timeline.start) * timeline.rate / 1e9 }

    private mutating func take(_ row: CSVRow) {
        places.append(place(row.time))
        lastTime = row.time
        columns[0].append(row.x)
        columns[1].append(row.y)
        columns[2].append(row.z)
    }

    /// Values at whole places, of samples at any.
    static func grid(
        _ places: [Double], _ values: [Double], _ range: ClosedRange<Int>, isBandLimited: Bool
    ) -> [Double] {
        let straight = lines(places, values, range)
        guard isBandLimited, straight.count > 2 else { return straight }
        var grid = straight
        var rest = [Double](repeating: 0, count: places.count)
        for _ in 0..<rounds {
            for i in places.indices { rest[i] = values[i] - value(grid, at: places[i] - Double(range.lowerBound)) }
            for (k, more) in lines(places, rest, range).enumerated() { grid[k] += more }
        }
        for i in places.indices.dropFirst() where places[i] - places[i - 1] > sparse {
            // Too little is known there.
            let (a, b) = (Int(places[i - 1].rounded(.down)), Int(places[i].rounded(.up)))
            for k in max(a, range.lowerBound)...min(b, range.upperBound) {
                grid[k - range.lowerBound] = straight[k - range.lowerBound]
            }
        }
        return grid
    }

    /// By straight lines between neighbours; beyond the first and the last as these.
    private static func lines(_ places: [Double], _ values: [Double], _ range: ClosedRange<Int>) -> [Double] {
        var right = 0
        return range.map { k in
            let place = Double(k)
            while right < places.count, places[right] < place { right += 1 }
            guard right > 0 else { return values[0] }
            guard right < places.count else { return values[values.count - 1] }
            let part = (place - places[right - 1]) / (places[right] - places[right - 1])
            return values[right - 1] + (values[right] - values[right - 1]) * part
        }
    }

    private static let half = 16
    private static let resolution = 512
    /// Half of a sinc with Kaiser's window (β 10).
    private static let kernel: [Double] = {
        let sinc = KaiserSinc(half: half, beta: 10)
        return (0...half * resolution + 1).map { sinc.weight(at: Double($0) / Double(resolution)) }
    }()

    /// The value that a grid gives at a place; beyond its ends it is mirrored in them, so that a straight line goes on.
    private static func value(_ grid: [Double], at place: Double) -> Double {
        let base = Int(place.rounded(.down))
        let fraction = place - Double(base)
        let last = grid.count - 1
        var (result, sum) = (0.0, 0.0)
        kernel.withUnsafeBufferPointer { kernel in
            grid.withUnsafeBufferPointer { grid in
                for k in (1 - half)...half {
                    let distance = abs(Double(k) - fraction) * Double(resolution)
                    let at = Int(distance)
                    guard at < kernel.count - 1 else { continue }
                    let part = distance - Double(at)
                    let weight = kernel[at] + part * (kernel[at + 1] - kernel[at])
                    let i = base + k
                    let v: Double
                    if i < 0 {
                        v = 2 * grid[0] - grid[min(last, -i)]
                    } else if i > last {
                        v = 2 * grid[last] - grid[max(0, 2 * last - i)]
                    } else {
                        v = grid[i]
                    }
                    result += weight * v
                    sum += weight
                }
            }
        }
        return result / sum
    }
}
