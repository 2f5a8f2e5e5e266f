import Glibc
import Propagation

/// Where and when an earthquake began, and how well that is known.
public struct Hypocentre: Sendable, Equatable {
    /// Seconds of UTC.
    public var origin: Double
    public var place: Place
    /// Kilometres.
    public var depth: Double
    /// Root mean square of the residuals, s.
    public var rms = 0.0
    /// The ellipse that has the true epicentre in it with 68 %: half axes in km, direction of the longer one in degrees
    /// clockwise from north, 0 to 180.
    public var semiMajor = 0.0
    public var semiMinor = 0.0
    public var azimuth = 0.0
    /// Standard deviation of the depth, km.
    public var depthSigma = 0.0

    public init(origin: Double, place: Place, depth: Double) {
        (self.origin, self.place, self.depth) = (origin, place, depth)
    }

    /// When a wave is expected at a station.
    func arrival(_ phase: Phase, at station: Place) -> Double { origin + travel(phase, to: station) }

    func travel(_ phase: Phase, to station: Place) -> Double {
        TravelTimes.iasp91.seconds(phase, distance: place.distance(to: station), depth: depth)
            + Self.correction(station, phase)
    }

    /// Seconds that a wave takes from sea level to a station, roughly.
    static func correction(_ station: Place, _ phase: Phase) -> Double {
        max(0, min(station.elevation, 6)) / (phase == .p ? 5.8 : 3.36)
    }
}

/// One onset that a hypocentre is fitted to.
struct Arrival {
    var station: Place
    var phase: Phase
    /// Seconds of UTC.
    var time: Double
}

extension Hypocentre {
    /// The hypocentre whose waves come closest to the times of arrival: Geiger's method (1912), damped, with weights after
    /// Huber (1964). The depth is held near the first one by a weak assumption, because onsets of P waves alone at a
    /// distance hardly tell it.
    /// - Parameter known: the depth that is taken for known, km; nil: the usual one, or that of a deep source.
    func fitted(to arrivals: [Arrival], depth known: Double? = nil) -> Hypocentre {
        let priorDepth = known ?? (depth < 35 ? 10.0 : depth)
        let priorWidth = known != nil ? 0.5 : arrivals.count < 6 ? 3.0 : priorDepth < 35 ? 8.0 : 40.0
        var result = self
        var damping = 1e-3
        var cost = result.cost(arrivals, priorDepth, priorWidth)
        for _ in 0..<20 {
            let (normal, gradient) = result.equations(arrivals, priorDepth, priorWidth)
            var damped = normal
            for i in 0..<4 { damped[i, i] *= 1 + damping }
            guard let step = damped.solve(gradient) else { break }
            var next = result
            let limit = min(1, 50 / max(1e-9, (step[0] * step[0] + step[1] * step[1]).squareRoot()))
            next.place = Place(offset: SIMD2(step[0], step[1]) * limit, from: result.place)
            next.depth = max(0, min(TravelTimes.deepest, result.depth + step[2] * limit))
            next.origin += step[3] * limit
            let nextCost = next.cost(arrivals, priorDepth, priorWidth)
            if nextCost < cost {
                let gain = cost - nextCost
                (result, cost) = (next, nextCost)
                damping = max(1e-6, damping / 5)
                if gain < 1e-6 * (1 + cost) { break }
            } else {
                damping *= 10
                if damping > 1e6 { break }
            }
        }
        result.judge(arrivals, priorDepth, priorWidth)
        return result
    }

    /// Begins the fit again at the stations that were first, where the onsets fit badly. The source that a few onsets
    /// had in common may be far from that of many, with a valley between the two that no single step crosses.
    /// - Parameter tolerance: seconds by which an onset may be off.
    /// - Returns: whether that has made another place of it.
    mutating func leaveFalseMinimum(_ arrivals: [Arrival], tolerance: Double) -> Bool {
        guard rms > tolerance / 3 else { return false }
        let old = middleResidual(arrivals)
        var best = (residual: old * 0.7, source: self)
        for first in arrivals.filter({ $0.phase == .p }).sorted(by: { $0.time < $1.time }).prefix(4) {
            var start = Hypocentre(origin: first.time - 2.5, place: first.station, depth: 10)
            start = start.fitted(to: arrivals)
            let residual = start.middleResidual(arrivals)
            if residual < best.residual { best = (residual, start) }
        }
        guard best.residual < old * 0.7 else { return false }
        self = best.source
        return true
    }

    /// The median of the residuals without their signs: what is false does not move it.
    func middleResidual(_ arrivals: [Arrival]) -> Double {
        let sizes = arrivals.map { abs(residual($0)) }.sorted()
        return sizes.isEmpty ? 0 : sizes[sizes.count / 2]
    }

    func residual(_ arrival: Arrival) -> Double { arrival.time - self.arrival(arrival.phase, at: arrival.station) }

    /// Expected error of an onset's time, seconds: of picking it, and of the model, which grows along the way.
    private static func sigma(_ travel: Double, _ phase: Phase) -> Double {
        (phase == .p ? 0.2 : 0.5) + 0.015 * travel
    }

    private static let huber = 1.5

    private func cost(_ arrivals: [Arrival], _ priorDepth: Double, _ priorWidth: Double) -> Double {
        var sum = (depth - priorDepth) * (depth - priorDepth) / (priorWidth * priorWidth)
        for one in arrivals {
            let travel = travel(one.phase, to: one.station)
            let r = abs(one.time - origin - travel) / Self.sigma(travel, one.phase)
            sum += r <= Self.huber ? r * r : Self.huber * (2 * r - Self.huber)
        }
        return sum
    }

    /// The normal equations of one step in east, north, depth (km) and time (s).
    private func equations(
        _ arrivals: [Arrival], _ priorDepth: Double, _ priorWidth: Double
    ) -> (Matrix4, SIMD4<Double>) {
        var normal = Matrix4()
        var gradient = SIMD4<Double>(repeating: 0)
        for one in arrivals {
            let offset = one.station.projected(around: place)
            let distance = (offset * offset).sum().squareRoot()
            let slope = TravelTimes.iasp91.slope(one.phase, distance: distance, depth: depth)
            let sigma = Self.sigma(slope.time, one.phase)
            let r = one.time - origin - slope.time - Self.correction(one.station, one.phase)
            let weight = 1 / (sigma * sigma) * min(1, Self.huber / max(1e-9, abs(r) / sigma))
            let along = distance > 1e-6 ? offset / distance : SIMD2(0, 0)
            // The source moves towards the station: the way becomes shorter.
            let row = SIMD4(-along.x * slope.byDistance, -along.y * slope.byDistance, slope.byDepth, 1)
            normal.add(row, weight)
            gradient += row * (weight * r)
        }
        let prior = 1 / (priorWidth * priorWidth)
        normal[2, 2] += prior
        gradient[2] += prior * (priorDepth - depth)
        // Nothing moves what no onset tells.
        for i in 0..<2 { normal[i, i] += 1e-6 }
        return (normal, gradient)
    }

    /// Residuals and the ellipse.
    private mutating func judge(_ arrivals: [Arrival], _ priorDepth: Double, _ priorWidth: Double) {
        var squares = 0.0
        var normed = 0.0
        for one in arrivals {
            let travel = travel(one.phase, to: one.station)
            let r = one.time - origin - travel
            squares += r * r
            normed += min(9, r * r / (Self.sigma(travel, one.phase) * Self.sigma(travel, one.phase)))
        }
        rms = (squares / Double(max(1, arrivals.count))).squareRoot()
        let (normal, _) = equations(arrivals, priorDepth, priorWidth)
        // With few onsets the residuals are small by themselves: the expected errors count.
        let scale = max(1, normed / Double(max(1, arrivals.count - 3)))
        guard let x = normal.solve(SIMD4(1, 0, 0, 0)), let y = normal.solve(SIMD4(0, 1, 0, 0)) else { return }
        setEllipse(x[0] * scale, y[1] * scale, x[1] * scale)
        // (The assumption on the depth scales with nothing.)
        if let z = normal.solve(SIMD4(0, 0, 1, 0)) { depthSigma = min(priorWidth, (max(0, z[2]) * scale).squareRoot()) }
    }

    /// The ellipse from the variances in east and north and their covariance, km².
    mutating func setEllipse(_ xx: Double, _ yy: Double, _ xy: Double) {
        let (mean, half) = ((xx + yy) / 2, (xx - yy) / 2)
        let root = (half * half + xy * xy).squareRoot()
        // 68 % of a normal distribution in two dimensions: chi square 2.28.
        let factor = 2.28
        semiMajor = min(999, (max(0, mean + root) * factor).squareRoot())
        semiMinor = min(999, (max(0, mean - root) * factor).squareRoot())
        var angle = 90 - atan2(2 * xy, xx - yy) / 2 * 180 / .pi
        if angle < 0 { angle += 180 }
        if angle >= 180 { angle -= 180 }
        azimuth = angle
    }
}

/// A symmetric matrix of four rows.
private struct Matrix4 {
    private var rows = [SIMD4<Double>](repeating: SIMD4(repeating: 0), count: 4)

    subscript(_ i: Int, _ k: Int) -> Double {
        get { rows[i][k] }
        set { rows[i][k] = newValue }
    }

    mutating func add(_ row: SIMD4<Double>, _ weight: Double) {
        for i in 0..<4 { rows[i] += row * (row[i] * weight) }
    }

    /// The solution of M x = b by elimination with pivots; nil when there is none.
    func solve(_ right: SIMD4<Double>) -> SIMD4<Double>? {
        var (a, b) = (rows, right)
        for i in 0..<4 {
            var best = i
            for k in (i + 1)..<4 where abs(a[k][i]) > abs(a[best][i]) { best = k }
            guard abs(a[best][i]) > 1e-12 else { return nil }
            a.swapAt(i, best)
            (b[i], b[best]) = (b[best], b[i])
            for k in (i + 1)..<4 {
                let factor = a[k][i] / a[i][i]
                a[k] -= a[i] * factor
                b[k] -= b[i] * factor
            }
        }
        var x = SIMD4<Double>(repeating: 0)
        for i in stride(from: 3, through: 0, by: -1) {
            var sum = b[i]
            for k in (i + 1)..<4 { sum -= a[i][k] * x[k] }
            x[i] = sum / a[i][i]
        }
        return x
    }
}
