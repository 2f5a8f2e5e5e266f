/// All straight lines that pass every point of a growing series within a tolerance, found in constant time a point on
/// average and without keeping the points.
///
/// Stamps that are rounded to a resolution are such points: the number of the sample, and its time. J. O'Rourke,
/// CACM 24 (1981) 574; in the form of P. Ferragina and G. Vinciguerra, PVLDB 13 (2020) 1162.
public struct FeasibleLine: Sendable {
    private struct Point {
        var x: Double
        var y: Double

        /// Whether the way from `a` to this point is flatter than the way from `c` to `d`; all lead to the right.
        func isFlatter(from a: Point, than d: Point, from c: Point) -> Bool {
            (y - a.y) * (d.x - c.x) < (d.y - c.y) * (x - a.x)
        }
    }

    /// Largest distance of a point from the line.
    private let tolerance: Double
    /// A slope that is taken off each point, so that differences of large numbers stay exact.
    private let slope: Double
    /// Points that lie on the lines.
    public private(set) var count = 0
    private var lower: [Point] = []
    private var upper: [Point] = []
    private var lowerStart = 0
    private var upperStart = 0
    /// The flattest line passes through the first two, the steepest through the others.
    private var flat = (Point(x: 0, y: 0), Point(x: 0, y: 0))
    private var steep = (Point(x: 0, y: 0), Point(x: 0, y: 0))

    /// - Parameters:
    ///   - tolerance: above 0.
    ///   - slope: about that of the lines.
    public init(tolerance: Double, slope: Double) { (self.tolerance, self.slope) = (tolerance, slope) }

    /// Forgets all points.
    public mutating func restart() { count = 0 }

    /// Takes a point to the right of all others; false, and nothing has changed, where no line passes it as well.
    public mutating func add(_ x: Double, _ y: Double) -> Bool {
        let y = y - slope * x
        let above = Point(x: x, y: y + tolerance)
        let below = Point(x: x, y: y - tolerance)
        if count == 0 {
            (flat.0, steep.0) = (above, below)
            lower.removeAll(keepingCapacity: true)
            upper.removeAll(keepingCapacity: true)
            (lowerStart, upperStart) = (0, 0)
            upper.append(above)
            lower.append(below)
        } else if count == 1 {
            (flat.1, steep.1) = (below, above)
            upper.append(above)
            lower.append(below)
        } else {
            if above.isFlatter(from: flat.1, than: flat.1, from: flat.0)
                || steep.1.isFlatter(from: steep.0, than: below, from: steep.1)
            {
                return false
            }
            if above.isFlatter(from: steep.0, than: steep.1, from: steep.0) {
                steep.0 = Self.tilt(to: above, isSteep: true, through: lower, &lowerStart, &upper, upperStart)
                steep.1 = above
            }
            if flat.1.isFlatter(from: flat.0, than: below, from: flat.0) {
                flat.0 = Self.tilt(to: below, isSteep: false, through: upper, &upperStart, &lower, lowerStart)
                flat.1 = below
            }
        }
        count += 1
        return true
    }

    /// Finds the point of a hull through which the steepest line to a new point leads, or the flattest, forgets those before
    /// it, and makes the new point one of the other hull.
    private static func tilt(
        to point: Point, isSteep: Bool, through hull: [Point], _ start: inout Int, _ other: inout [Point],
        _ otherStart: Int
    ) -> Point {
        var best = start
        for i in (start + 1)..<max(hull.count, start + 1) {
            let (a, b) = isSteep ? (hull[best], hull[i]) : (hull[i], hull[best])
            if point.isFlatter(from: a, than: point, from: b) { break }
            best = i
        }
        start = best
        while other.count >= otherStart + 2 {
            let before = other[other.count - 2]
            let (a, c) = isSteep ? (before, point) : (point, before)
            if turnsLeft(a, other[other.count - 1], c) { break }
            other.removeLast()
        }
        other.append(point)
        return hull[best]
    }

    private static func turnsLeft(_ a: Point, _ b: Point, _ c: Point) -> Bool {
        (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) > 0
    }

    /// Slopes of all lines; of one point alone anything.
    public var slopes: ClosedRange<Double> {
        guard count > 1 else { return -.infinity ... .infinity }
        let low = (flat.1.y - flat.0.y) / (flat.1.x - flat.0.x)
        let high = (steep.1.y - steep.0.y) / (steep.1.x - steep.0.x)
        return slope + min(low, high)...slope + max(low, high)
    }

    /// Height of the line in the middle of all lines.
    public func value(at x: Double) -> Double {
        guard count > 1 else { return (flat.0.y + steep.0.y) / 2 + slope * x }
        let low = (flat.1.y - flat.0.y) / (flat.1.x - flat.0.x)
        let high = (steep.1.y - steep.0.y) / (steep.1.x - steep.0.x)
        let (a, b) = (flat.0.y + low * (x - flat.0.x), steep.0.y + high * (x - steep.0.x))
        return (a + b) / 2 + slope * x
    }
}
