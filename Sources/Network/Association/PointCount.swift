/// Points of a plane, of which those in a circle are counted without looking at each: thousands of stations are silent
/// when an earthquake begins, and a search asks for them thousands of times.
struct PointCount: Sendable {
    private static let height = 4.0

    /// The points of a strip along the first axis, by that.
    private struct Strip: Sendable {
        var low: Double
        var points: [SIMD2<Double>]

        /// The first point from there on.
        func index(from x: Double) -> Int {
            var (low, high) = (0, points.count)
            while low < high {
                let middle = (low + high) / 2
                if points[middle].x < x { low = middle + 1 } else { high = middle }
            }
            return low
        }

        /// How many of these are nearer to a point than that.
        func within(_ radius: Double, of middle: SIMD2<Double>, _ range: Range<Int>) -> Int {
            var count = 0
            for i in range {
                let way = points[i] - middle
                if (way * way).sum() < radius * radius { count += 1 }
            }
            return count
        }
    }

    private var strips: [Strip] = []

    init(_ points: [SIMD2<Double>]) {
        var rows: [Int: [SIMD2<Double>]] = [:]
        for point in points { rows[Int((point.y / Self.height).rounded(.down)), default: []].append(point) }
        strips = rows.map { row, points in
            Strip(low: Double(row) * Self.height, points: points.sorted { $0.x < $1.x })
        }
    }

    /// How many are nearer to a point than that.
    func within(_ radius: Double, of middle: SIMD2<Double>) -> Int {
        var count = 0
        for strip in strips {
            let (below, above) = (strip.low - middle.y, strip.low + Self.height - middle.y)
            let nearest = below > 0 ? below : above < 0 ? -above : 0
            guard nearest < radius else { continue }
            let farthest = max(abs(below), abs(above))
            let outer = (radius * radius - nearest * nearest).squareRoot() + 1e-6
            // Between these all are in it, whatever their distance along the other axis.
            let inner = farthest < radius ? max(0, (radius * radius - farthest * farthest).squareRoot() - 1e-6) : 0
            let (from, to) = (strip.index(from: middle.x - outer), strip.index(from: middle.x + outer))
            let (first, last) = (strip.index(from: middle.x - inner), strip.index(from: middle.x + inner))
            count += last - first
            count += strip.within(radius, of: middle, from..<first) + strip.within(radius, of: middle, last..<to)
        }
        return count
    }
}
