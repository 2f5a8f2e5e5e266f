import Propagation

/// Looks for the source that most of some onsets can have in common. The space is halved again and again where most
/// onsets agree on a time of origin (as in Lomax and Curtis 2001 and in PyOcto, Münchmeyer 2024): what the centre of a
/// cell says, give or take the time a wave takes across the cell, is an upper bound for all that is in the cell.
struct OctreeSearch {
    /// A cell in which the search goes on, and up to how many onsets can have come from there.
    private struct Cell {
        /// East, north and down from the centre, km.
        var middle: SIMD3<Double>
        var half: SIMD3<Double>
        var count: Int
        /// The count less what speaks against the cell: an upper bound for all that is in it.
        var value: Double
        var origin: Double
        var rms: Double
    }

    /// Onsets that a silent station takes away which is nearer than all that have an onset.
    static let silence = 0.5
    /// Onsets that each layer takes away: deep earthquakes are rare.
    static let layers = [(0.0, 40.0, 0.0), (40, 120, 1), (120, 300, 2), (300, 700, 3)]

    /// Half the size of the smallest cells, km.
    private static let finest = 4.0
    private static let maximumCells = 6000
    /// Places that are compared by their residuals; so far apart that each has a minimum of its own, km.
    private static let maximumPlaces = 12
    private static let apart = 20.0
    /// Onsets by which a place may be worse than the best one.
    private static let margin = 3.0

    private let centre: Place
    private let stations: [SIMD2<Double>]
    /// Corrected for the elevation.
    private let times: [Double]
    private let tolerance: Double
    private let silent: PointCount
    private let table = TravelTimes.iasp91

    /// - Parameters:
    ///   - onsets: places and times; the first one is in any result.
    ///   - silent: stations that work and have no onset.
    ///   - tolerance: seconds by which an onset may be off.
    init(_ onsets: [(place: Place, time: Double)], silent: [Place], tolerance: Double) {
        let first = onsets[0].place
        centre = first
        stations = onsets.map { $0.place.projected(around: first) }
        times = onsets.map { $0.time - Hypocentre.correction($0.place, .p) }
        self.tolerance = tolerance
        self.silent = PointCount(silent.map { $0.projected(around: first) })
    }

    /// The most promising places, the best one first, by counts alone.
    /// - Parameters:
    ///   - radius: how far from the first onset's station the source may be, km.
    ///   - atLeast: where fewer onsets agree is no place.
    func places(radius: Double, atLeast: Int) -> [Hypocentre] {
        var queue = Heap()
        for (top, bottom, _) in Self.layers {
            let half = SIMD3(radius / 2, radius / 2, (bottom - top) / 2)
            for (i, k) in [(-1.0, -1.0), (-1, 1), (1, -1), (1, 1)] {
                insert(SIMD3(i * radius / 2, k * radius / 2, top + half.z), half, atLeast, -.infinity, &queue)
            }
        }
        var found: [Cell] = []
        var cells = 0
        while let cell = queue.removeFirst(), cells < Self.maximumCells, found.count < Self.maximumPlaces {
            cells += 1
            if let best = found.first, cell.value < best.value - Self.margin { break }
            if cell.half.max() <= Self.finest {
                let isNew = found.allSatisfy { other in
                    let gap = other.middle - cell.middle
                    return (gap * gap).sum() > Self.apart * Self.apart
                }
                if isNew { found.append(cell) }
                continue
            }
            // Only the long sides are halved.
            let longest = cell.half.max()
            var parts = [(cell.middle, cell.half)]
            for axis in 0..<3 where cell.half[axis] > longest * 0.6 {
                parts = parts.flatMap { middle, half in
                    var (low, high, size) = (middle, middle, half)
                    size[axis] /= 2
                    low[axis] -= size[axis]
                    high[axis] += size[axis]
                    return [(low, size), (high, size)]
                }
            }
            for (middle, half) in parts {
                insert(middle, half, atLeast, (found.first?.value ?? -.infinity) - Self.margin, &queue)
            }
        }
        return found.map { cell in
            Hypocentre(
                origin: cell.origin, place: Place(offset: SIMD2(cell.middle.x, cell.middle.y), from: centre),
                depth: cell.middle.z)
        }
    }

    private func insert(
        _ middle: SIMD3<Double>, _ half: SIMD3<Double>, _ atLeast: Int, _ worth: Double, _ queue: inout Heap
    ) {
        let cell = look(middle, half)
        if cell.count >= atLeast, cell.value >= worth { queue.insert(cell) }
    }

    /// How many onsets, with the first one, agree on a time of origin in a cell.
    private func look(_ middle: SIMD3<Double>, _ half: SIMD3<Double>) -> Cell {
        let width = tolerance + (half * half).sum().squareRoot() * TravelTimes.slowest
        let horizontal = SIMD2(middle.x, middle.y)
        var (first, nearest) = (0.0, Double.infinity)
        var origins: [Double] = []
        origins.reserveCapacity(times.count)
        for i in times.indices {
            let way = stations[i] - horizontal
            let distance = (way * way).sum().squareRoot()
            let origin = times[i] - table.seconds(.p, distance: distance, depth: middle.z)
            if i == 0 { first = origin }
            if abs(origin - first) <= 2 * width {
                nearest = min(nearest, distance)
                origins.append(origin)
            }
        }
        origins.sort()
        // Each onset allows the times from a width before its origin to one behind it: where do most of these spans meet?
        var (ended, most, from, until) = (0, 0, first, first)
        for i in origins.indices {
            let begin = origins[i] - width
            while origins[ended] + width < begin { ended += 1 }
            guard i + 1 - ended > most, abs(begin - first) <= width else { continue }
            (most, from, until) = (i + 1 - ended, begin, origins[ended] + width)
            if i + 1 < origins.count { until = min(until, origins[i + 1] - width) }
        }
        let origin = (from + until) / 2
        var squares = 0.0
        for one in origins {
            let r = one - origin
            if abs(r) <= width { squares += r * r }
        }
        return Cell(
            middle: middle, half: half, count: most, value: Double(most) - against(middle, half, nearest),
            origin: origin, rms: squares / Double(max(1, most)))
    }

    /// Evidence against all of a cell, in onsets: stations that would have had the wave before any that has an onset,
    /// and depth.
    private func against(_ middle: SIMD3<Double>, _ half: SIMD3<Double>, _ nearest: Double) -> Double {
        let size = (half.x * half.x + half.y * half.y).squareRoot()
        let limit = nearest - 2 * size
        let passed = limit > 0 ? silent.within(limit, of: SIMD2(middle.x, middle.y)) : 0
        let layer = Self.layers.last { middle.z >= $0.0 }?.2 ?? 0
        return Double(passed) * Self.silence + layer
    }

    /// The most promising cell first: more onsets, then the smaller one, then the smaller residuals.
    private struct Heap {
        private var cells: [Cell] = []

        private static func precedes(_ a: Cell, _ b: Cell) -> Bool {
            if a.value != b.value { return a.value > b.value }
            let (x, y) = (a.half.max(), b.half.max())
            return x != y ? x < y : a.rms < b.rms
        }

        mutating func insert(_ cell: Cell) {
            cells.append(cell)
            var i = cells.count - 1
            while i > 0, Self.precedes(cells[i], cells[(i - 1) / 2]) {
                cells.swapAt(i, (i - 1) / 2)
                i = (i - 1) / 2
            }
        }

        mutating func removeFirst() -> Cell? {
            guard let first = cells.first else { return nil }
            let last = cells.removeLast()
            guard !cells.isEmpty else { return first }
            cells[0] = last
            var i = 0
            while true {
                var best = i
                for child in [2 * i + 1, 2 * i + 2] where child < cells.count {
                    if Self.precedes(cells[child], cells[best]) { best = child }
                }
                if best == i { return first }
                cells.swapAt(i, best)
                i = best
            }
        }
    }
}
