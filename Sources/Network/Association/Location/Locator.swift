import Glibc
import Propagation

/// Locates an event by all its onsets: how probable each place is, on a grid around the network and far beyond it, and
/// from that the most probable place and the region that has 90 % (Tarantola and Valette 1982; Lomax et al. 2000).
///
/// What an onset may be off depends on the onsets alone, not on the place that is tried: a tolerance that grows with the
/// distance forgives a far source everything, and a small network then sees its earthquakes far away. Gross errors count
/// only so much (Geman and McClure 1985). Besides the times speak the depth (most earthquakes are shallow), how the peaks
/// fall off across the network, and stations that work and are silent.
struct Locator {
    /// One station's data on an event.
    struct Reading: Sendable, Equatable {
        var place: Place
        var phase: Phase
        /// Seconds of UTC.
        var time: Double
        /// Standard deviation of picking it by the station's own word, s.
        var sigma = 0.0
        /// Largest acceleration until `asOf`, m/s²; 0: none.
        var peak = 0.0
        /// Seconds of UTC.
        var asOf = 0.0
    }

    /// Standard deviation of picking an onset, s.
    private static let pickError = [Phase.p: 0.2, .s: 0.5]
    /// Error of the travel-time model, as part of the time that the wave took from the first station on.
    private static let modelError = 0.015
    /// Cost of a gross error, as a logarithm of a probability.
    private static let gross = 7.0
    /// Standard deviation of the logarithm (base 10) of a station's peak.
    private static let peakError = 0.4
    /// Seconds from the onset until a peak says anything.
    private static let peakSeconds = 2.0
    private static let silence = 0.8
    private static let mostSilence = 8.0
    /// Reach of the grid, km from the middle of the stations.
    private static let reach = 350.0
    private static let mostReadings = 40
    private static let mostSilent = 40
    /// Squares that are cut into four.
    private static let halvings = 300

    private struct Observed {
        var at: SIMD2<Double>
        var time: Double
        var phase: Phase
        var sigma: Double
        /// Logarithm (base 10) of the peak in cm/s²; nil: it says nothing.
        var peak: Double?
        var asOf: Double
    }

    /// The middle of the stations that have an onset.
    let centre: Place
    private let observed: [Observed]
    private let silent: [SIMD2<Double>]
    private let depths: DepthPrior
    /// Kilometres from the middle to the farthest station with an onset.
    private let radius: Double
    private let columns = TravelTimeColumns.iasp91
    // Of the place that is tried.
    private var distances: [Double]
    private var origins: [Double]
    private var sorted: [Double]
    private var excess: [Double]
    private var precisions: [Double]
    /// How many readings have a peak that says something.
    private let peaks: Int

    /// - Parameters:
    ///   - readings: at least one; of more than forty the earliest.
    ///   - silent: stations that work and have no onset.
    ///   - depths: that the region's earthquakes have.
    init(_ readings: [Reading], silent: [Place], depths: DepthPrior = DepthPrior()) {
        self.depths = depths
        let readings = Array(readings.sorted { $0.time < $1.time }.prefix(Self.mostReadings))
        let centre = Place.middle(of: readings.map(\.place))
        let first = readings.first?.time ?? 0
        observed = readings.map { one in
            let model = Self.modelError * (one.time - first)
            let pick = Self.pickError[one.phase] ?? 0.5
            let isRipe = one.peak > 0 && one.asOf - one.time >= Self.peakSeconds
            return Observed(
                at: one.place.projected(around: centre),
                time: one.time - Hypocentre.correction(one.place, one.phase), phase: one.phase,
                sigma: (pick * pick + one.sigma * one.sigma + model * model).squareRoot(),
                peak: isRipe ? log10(one.peak * 100) : nil,
                asOf: one.asOf)
        }
        self.centre = centre
        let quiet: [SIMD2<Double>] = silent.map { $0.projected(around: centre) }
        self.silent = Array(quiet.sorted { ($0 * $0).sum() < ($1 * $1).sum() }.prefix(Self.mostSilent))
        radius = observed.map { ($0.at * $0.at).sum().squareRoot() }.max() ?? 0
        distances = Array(repeating: 0, count: observed.count)
        origins = distances
        sorted = distances
        excess = distances
        precisions = distances
        peaks = observed.filter { $0.peak != nil }.count
    }

    /// The largest angle between the directions to two neighbouring stations, degrees: above 180 the point is outside the
    /// network.
    static func gap(at point: SIMD2<Double>, _ stations: [SIMD2<Double>]) -> Double {
        let angles = stations.map { Contour.azimuth($0 - point) }.sorted()
        guard let first = angles.first, let last = angles.last else { return 360 }
        var gap = first + 360 - last
        for (a, b) in zip(angles, angles.dropFirst()) { gap = max(gap, b - a) }
        return gap
    }

    // MARK: Misfit

    /// How badly a place explains what was observed, as the negative logarithm of a probability, and the time of origin
    /// with which it does so best.
    /// - Parameters:
    ///   - column: of the table for this depth; nil: reckoned exactly.
    ///   - blur: seconds that the times differ within what the place stands for.
    private mutating func misfit(
        _ at: SIMD2<Double>, depth: Double, column: Int? = nil, blur: Double = 0
    ) -> (cost: Double, origin: Double) {
        for (i, one) in observed.enumerated() {
            let way = one.at - at
            let distance = (way * way).sum().squareRoot()
            distances[i] = distance
            let travel =
                column.map { columns.seconds(columns.column(one.phase, $0), distance) }
                ?? TravelTimes.iasp91.seconds(one.phase, distance: distance, depth: depth)
            origins[i] = one.time - travel
            precisions[i] = 1 / (one.sigma * one.sigma + blur * blur)
        }
        let origin = origin()
        var cost = 0.0
        for i in origins.indices {
            let error = origins[i] - origin
            cost += Self.loss(error * error * precisions[i])
        }
        cost += depths.cost(depth) + rarity(depths.rarityDepth(depth))
        return (cost + attenuation(depth, origin) + silence(at), origin)
    }

    /// Cost of an error.
    /// - Parameter square: of it, in standard deviations.
    private static func loss(_ square: Double) -> Double { square / 2 / (1 + square / 2 / gross) }

    /// Cost of a place by how rare its earthquakes are: those far away had to be larger to be felt, and larger ones are
    /// rarer (Gutenberg and Richter 1944, b = 1). A peak falls with the square of the distance for two units of
    /// magnitude per factor of ten.
    private func rarity(_ depth: Double) -> Double {
        // (The logarithm of sixteen factors, which do not overflow, costs as much as that of one.)
        let square = depth * depth + 1
        var (sum, product) = (0.0, 1.0)
        for (i, distance) in distances.enumerated() {
            product *= distance * distance + square
            if i % 16 == 15 { (sum, product) = (sum + log(product), 1) }
        }
        sum += log(product)
        return 1.5 * sum / Double(max(1, distances.count))
    }

    /// The time of origin: from the median of what each onset says, a mean without what is far from it.
    private mutating func origin() -> Double {
        sorted = origins
        for i in 1..<max(1, sorted.count) {
            var k = i
            while k > 0, sorted[k] < sorted[k - 1] {
                sorted.swapAt(k, k - 1)
                k -= 1
            }
        }
        var middle = sorted.isEmpty ? 0 : (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
        for _ in 0..<3 {
            var (sum, weights) = (0.0, 0.0)
            for (i, one) in origins.enumerated() {
                let error = one - middle
                let part = 1 + error * error * precisions[i] / 2 / Self.gross
                let weight = precisions[i] / (part * part)
                sum += weight * error
                weights += weight
            }
            guard weights > 0 else { break }
            middle += sum / weights
        }
        return middle
    }

    /// Cost of a distance by the peaks: near a source they fall off across the network, far from it they do not.
    private mutating func attenuation(_ depth: Double, _ origin: Double) -> Double {
        guard peaks > 2 else { return 0 }
        var sum = 0.0
        for (i, one) in observed.enumerated() {
            guard let peak = one.peak else { continue }
            let slant = (distances[i] * distances[i] + depth * depth).squareRoot()
            // (S waves have 3.4 km/s near the surface.)
            let hasS = one.asOf - origin > slant / 3.4 + 1
            excess[i] = peak - columns.logPeak(hasS ? .s : .p, slant)
            sum += excess[i]
        }
        let mean = sum / Double(peaks)
        var cost = 0.0
        for (i, one) in observed.enumerated() where one.peak != nil {
            let error = (excess[i] - mean) / Self.peakError
            cost += Self.loss(error * error)
        }
        return cost
    }

    /// Cost of a place by silent stations: those nearer than most of the stations with an onset.
    private func silence(_ at: SIMD2<Double>) -> Double {
        guard !silent.isEmpty else { return 0 }
        var sum = 0.0
        for distance in distances { sum += distance }
        let near = 0.7 * sum / Double(max(1, distances.count))
        var cost = 0.0
        for one in silent {
            let way = one - at
            if (way * way).sum() < near * near { cost += Self.silence }
        }
        return min(cost, Self.mostSilence)
    }

    // MARK: Search

    /// A square that is tried, whatever the depth.
    private struct Cell {
        var middle: SIMD2<Double>
        /// km.
        var side: Double
        /// Natural logarithm of the probability per km², not normed.
        var density = -Double.infinity
        /// Cost at the best depth.
        var cost = Double.infinity
        var depth = 0
        /// Natural logarithm of the probability of all of it, not normed; kept, since the heaviest is looked for after each
        /// halving.
        var weight = -Double.infinity
    }

    private mutating func look(_ middle: SIMD2<Double>, _ side: Double) -> Cell {
        var cell = Cell(middle: middle, side: side)
        // From far away, the stations have the wave at nearly the same differences of time all over a square.
        let distance = (middle * middle).sum().squareRoot()
        let blur = 0.3 * side * TravelTimes.slowest * min(1, 1.5 * max(1, radius) / max(1, distance))
        var sum = 0.0
        for depth in TravelTimeColumns.depths.indices {
            let cost = misfit(
                middle, depth: TravelTimeColumns.depths[depth], column: depth, blur: blur
            ).cost
            // Summed in relation to the best one.
            if cost < cell.cost {
                sum *= cell.cost.isFinite ? exp(cost - cell.cost) : 0
                (cell.cost, cell.depth) = (cost, depth)
            }
            sum += TravelTimeColumns.thickness[depth] * exp(cell.cost - cost)
        }
        cell.density = log(sum) - cell.cost
        cell.weight = cell.density + 2 * log(side)
        return cell
    }

    /// Small squares around the network, and rings of larger and larger ones beyond.
    private mutating func wideGrid() -> [Cell] {
        var side = max(2, radius / 4)
        var cells: [Cell] = []
        var isFirst = true
        while side * 4 < Self.reach {
            for row in -8..<8 {
                for column in -8..<8 where isFirst || !(-4..<4).contains(row) || !(-4..<4).contains(column) {
                    cells.append(look(SIMD2(Double(column) + 0.5, Double(row) + 0.5) * side, side))
                }
            }
            side *= 2
            isFirst = false
        }
        return cells
    }

    /// Halves again and again the square that holds most of the probability (as Lomax and Curtis 2001).
    private mutating func refine(_ cells: inout [Cell]) {
        for _ in 0..<Self.halvings {
            guard let most = cells.indices.max(by: { cells[$0].weight < cells[$1].weight }), cells[most].side > 0.1
            else {
                return
            }
            let cell = cells[most]
            let half = cell.side / 2
            var parts: [Cell] = []
            for (x, y) in [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)] {
                parts.append(look(cell.middle + SIMD2(x, y) * half, half))
            }
            cells[most] = parts[0]
            cells += parts[1...]
        }
    }

    /// - Returns: nil where there is no onset.
    mutating func locate() -> Location? {
        guard !observed.isEmpty else { return nil }
        var cells = wideGrid()
        refine(&cells)
        return judged(cells)
    }

    private mutating func judged(_ cells: [Cell]) -> Location? {
        let sorted = cells.sorted { $0.density != $1.density ? $0.density > $1.density : $0.cost < $1.cost }
        guard let top = sorted.first?.density, top.isFinite, let best = sorted.min(by: { $0.cost < $1.cost }) else {
            return nil
        }
        let total = sorted.reduce(0) { $0 + exp($1.density - top) * $1.side * $1.side }
        var sum = 0.0
        let probable = sorted.prefix { cell in
            defer { sum += exp(cell.density - top) * cell.side * cell.side }
            return sum < 0.9 * total
        }
        var (source, at) = refined(best)
        ellipse(&source, sorted)
        let candidates = candidates(sorted)
        source.depthSigma = Self.sigma(candidates.map(\.depth))
        var rings: [[SIMD2<Double>]] = []
        var others: [Hypocentre] = []
        for part in Self.connected(Array(probable)) {
            let mass = part.reduce(0) { $0 + exp($1.density - top) * $1.side * $1.side }
            guard mass > total / 100, let ring = Self.outline(part) else { continue }
            rings.append(ring)
            if !part.contains(where: { $0.middle == best.middle }), mass > total / 20,
                let other = part.min(by: { $0.cost < $1.cost })
            {
                others.append(refined(other).source)
            }
        }
        var extent = 0.0
        for point in rings.joined() {
            let way = point - at
            extent = max(extent, (way * way).sum().squareRoot())
        }
        let isOutside = Self.gap(at: at, observed.map(\.at)) > 180
        let quality: Location.Quality =
            !others.isEmpty ? .ambiguous : extent <= Location.goodExtent ? .good : isOutside ? .outside : .poor
        let region = rings.map { ring in
            Contour.thinned(ring, to: 48).map { point in
                let place = Place(offset: point, from: centre)
                return SIMD2(place.latitude, place.longitude)
            }
        }
        var location = Location(source, quality, region, others, centre: centre, extent: extent)
        location.candidates = candidates
        return location
    }

    /// Squares that touch each other, together.
    private static func connected(_ cells: [Cell]) -> [[Cell]] {
        var left = cells
        var parts: [[Cell]] = []
        while let first = left.popLast() {
            var part = [first]
            var next = 0
            while next < part.count {
                let cell = part[next]
                next += 1
                left.removeAll { other in
                    let reach = (cell.side + other.side) / 2 * 1.001
                    let way = other.middle - cell.middle
                    guard abs(way.x) <= reach, abs(way.y) <= reach else { return false }
                    part.append(other)
                    return true
                }
            }
            parts.append(part)
        }
        return parts
    }

    /// The line around squares that touch each other.
    private static func outline(_ cells: [Cell]) -> [SIMD2<Double>]? {
        var (low, high) = (SIMD2(Double.infinity, .infinity), SIMD2(-Double.infinity, -.infinity))
        for cell in cells {
            let half = SIMD2(cell.side, cell.side) / 2
            low = SIMD2(min(low.x, cell.middle.x - half.x), min(low.y, cell.middle.y - half.y))
            high = SIMD2(max(high.x, cell.middle.x + half.x), max(high.y, cell.middle.y + half.y))
        }
        let width = 64
        let step = (high - low) / Double(width)
        var values = [Double](repeating: 0, count: width * width)
        for cell in cells {
            // At least the point that is nearest, however small it is.
            let from = (cell.middle - SIMD2(cell.side, cell.side) / 2 - low) / step
            let to = (cell.middle + SIMD2(cell.side, cell.side) / 2 - low) / step
            let columns = Int(from.x.rounded(.down))...max(Int(from.x.rounded(.down)), Int(to.x.rounded(.up)) - 1)
            let rows = Int(from.y.rounded(.down))...max(Int(from.y.rounded(.down)), Int(to.y.rounded(.up)) - 1)
            for row in rows.clamped(to: 0...(width - 1)) {
                for column in columns.clamped(to: 0...(width - 1)) { values[row * width + column] = 1 }
            }
        }
        let lines = Contour.lines(values, width: width, level: 0.5)
        let line = lines.max { Contour.area($0) < Contour.area($1) }
        return line?.map { low + ($0 + SIMD2(0.5, 0.5)) * step }
    }

    /// The best place near a cell.
    private mutating func refined(_ cell: Cell) -> (source: Hypocentre, at: SIMD2<Double>) {
        var (at, depth) = (cell.middle, TravelTimeColumns.depths[cell.depth])
        var width = SIMD2(max(0.5, cell.side), max(2, depth / 3))
        var best = misfit(at, depth: depth)
        for _ in 0..<60 {
            var next = (at: at, depth: depth, misfit: best)
            for (x, y, z) in [(1.0, 0.0, 0.0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)] {
                let place = at + SIMD2(x, y) * width.x
                let deep = max(0, min(TravelTimes.deepest, depth + z * width.y))
                let other = misfit(place, depth: deep)
                if other.cost < next.misfit.cost { next = (place, deep, other) }
            }
            if next.misfit.cost < best.cost {
                (at, depth, best) = next
            } else {
                width /= 2
                if width.x < 0.02 { break }
            }
        }
        var source = Hypocentre(origin: best.origin, place: Place(offset: at, from: centre), depth: depth)
        // (What the last place was asked for is of a worse one.)
        _ = misfit(at, depth: depth)
        let squares = origins.reduce(0) { $0 + ($1 - best.origin) * ($1 - best.origin) }
        source.rms = (squares / Double(max(1, origins.count))).squareRoot()
        return (source, at)
    }

    /// Sources that stand for all the probable ones, each for as much of the probability: what is computed with a place and a
    /// depth differs by them as much as these leave it open.
    private mutating func candidates(_ cells: [Cell]) -> [Location.Candidate] {
        guard let top = cells.first?.density else { return [] }
        let weights = cells.map { exp($0.density - top) * $0.side * $0.side }
        let total = weights.reduce(0, +)
        var found: [Location.Candidate] = []
        var sum = 0.0
        for (cell, weight) in zip(cells, weights) {
            sum += weight
            while found.count < Self.candidateCount,
                sum >= (Double(found.count) + 0.5) / Double(Self.candidateCount) * total
            {
                // The parts of the depth in an order that has nothing to do with that of the squares.
                let part = (Double(found.count * 7 % Self.candidateCount) + 0.5) / Double(Self.candidateCount)
                found.append(
                    .init(place: Place(offset: cell.middle, from: centre), depth: depth(at: cell.middle, above: part)))
            }
        }
        return found
    }

    /// Sources that stand for all of them; a number that 7 does not divide.
    private static let candidateCount = 24

    /// The depth (km) that a part of the probability below a point lies above.
    private mutating func depth(at point: SIMD2<Double>, above part: Double) -> Double {
        var costs: [Double] = []
        for column in TravelTimeColumns.depths.indices {
            costs.append(misfit(point, depth: TravelTimeColumns.depths[column], column: column).cost)
        }
        let least = costs.min() ?? 0
        let masses = costs.indices.map { TravelTimeColumns.thickness[$0] * exp(least - costs[$0]) }
        var wanted = part * masses.reduce(0, +)
        var top = 0.0
        for (mass, thickness) in zip(masses, TravelTimeColumns.thickness) {
            if wanted <= mass { return top + thickness * wanted / mass }
            wanted -= mass
            top += thickness
        }
        return top
    }

    /// Half of what the middle 68 % of some numbers lie within: their standard deviation, whatever the others are.
    static func sigma(_ numbers: [Double]) -> Double {
        let sorted = numbers.sorted()
        guard let last = sorted.indices.last else { return 0 }
        func quantile(_ part: Double) -> Double {
            let at = max(0, min(Double(last), part * Double(sorted.count) - 0.5))
            let low = Int(at)
            return sorted[low] + (sorted[min(last, low + 1)] - sorted[low]) * (at - Double(low))
        }
        return (quantile(0.84) - quantile(0.16)) / 2
    }

    /// The ellipse that has 68 %, from how the probability is spread.
    private func ellipse(_ source: inout Hypocentre, _ cells: [Cell]) {
        guard let top = cells.first?.density else { return }
        var (sum, mean) = (0.0, SIMD2<Double>(0, 0))
        for cell in cells {
            let weight = exp(cell.density - top) * cell.side * cell.side
            sum += weight
            mean += cell.middle * weight
        }
        mean /= sum
        var (xx, yy, xy) = (0.0, 0.0, 0.0)
        for cell in cells {
            let weight = exp(cell.density - top) * cell.side * cell.side / sum
            let way = cell.middle - mean
            xx += weight * (way.x * way.x + cell.side * cell.side / 12)
            yy += weight * (way.y * way.y + cell.side * cell.side / 12)
            xy += weight * way.x * way.y
        }
        source.setEllipse(xx, yy, xy)
    }
}
