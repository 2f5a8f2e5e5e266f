import Glibc

/// Lines of equal value on a square grid, by marching squares.
enum Contour {
    /// The closed lines around what is above a level.
    /// - Parameters:
    ///   - values: row by row, all rows of one length; outside the grid everything is below the level.
    ///   - width: of a row.
    /// - Returns: each line's points in columns and rows, without the first one again at the end.
    static func lines(_ values: [Double], width: Int, level: Double) -> [[SIMD2<Double>]] {
        let height = values.count / width
        /// One more on all sides, where all is below.
        func value(_ column: Int, _ row: Int) -> Double {
            (0..<width).contains(column) && (0..<height).contains(row) ? values[row * width + column] : -.infinity
        }
        /// A side of a cell: from a corner to the right or down.
        struct Edge: Hashable {
            var column, row: Int
            var isDown: Bool
        }
        func crossing(_ edge: Edge) -> SIMD2<Double> {
            let (a, b) = (
                value(edge.column, edge.row),
                value(edge.column + (edge.isDown ? 0 : 1), edge.row + (edge.isDown ? 1 : 0))
            )
            var part = 0.5
            if a.isFinite, b.isFinite, a != b { part = max(0, min(1, (level - a) / (b - a))) }
            let at = SIMD2(Double(edge.column), Double(edge.row))
            return at + (edge.isDown ? SIMD2(0, part) : SIMD2(part, 0))
        }
        // From the side by which the line comes into a cell to the one by which it leaves; what is above is on its left.
        var next: [Edge: Edge] = [:]
        for row in -1..<height {
            for column in -1..<width {
                let corners = [(0, 0), (1, 0), (1, 1), (0, 1)].map { value(column + $0.0, row + $0.1) >= level }
                let sides = [
                    Edge(column: column, row: row, isDown: false), Edge(column: column + 1, row: row, isDown: true),
                    Edge(column: column, row: row + 1, isDown: false), Edge(column: column, row: row, isDown: true),
                ]
                // Side i lies between corner i and the next one.
                for i in 0..<4 where !corners[i] && corners[(i + 1) % 4] {
                    var out = (i + 1) % 4
                    while !(corners[out] && !corners[(out + 1) % 4]) { out = (out + 1) % 4 }
                    next[sides[i]] = sides[out]
                }
            }
        }
        var lines: [[SIMD2<Double>]] = []
        for start in next.keys.sorted(by: {
            ($0.row, $0.column, $0.isDown ? 1 : 0) < ($1.row, $1.column, $1.isDown ? 1 : 0)
        }) {
            var line: [SIMD2<Double>] = []
            var edge = start
            while let following = next.removeValue(forKey: edge) {
                line.append(crossing(edge))
                edge = following
            }
            if line.count > 2 { lines.append(line) }
        }
        return lines
    }

    /// The area inside a closed line.
    static func area(_ line: [SIMD2<Double>]) -> Double {
        var sum = 0.0
        for (i, a) in line.enumerated() {
            let b = line[(i + 1) % line.count]
            sum += a.x * b.y - b.x * a.y
        }
        return abs(sum) / 2
    }

    /// Whether a point is inside a closed line.
    static func contains(_ line: [SIMD2<Double>], _ point: SIMD2<Double>) -> Bool {
        var isInside = false
        for (i, a) in line.enumerated() {
            let b = line[(i + 1) % line.count]
            if (a.y > point.y) != (b.y > point.y), point.x < a.x + (point.y - a.y) / (b.y - a.y) * (b.x - a.x) {
                isInside.toggle()
            }
        }
        return isInside
    }

    /// Every so many of a line's points that at most `count` are left.
    static func thinned(_ line: [SIMD2<Double>], to count: Int) -> [SIMD2<Double>] {
        guard line.count > count else { return line }
        return (0..<count).map { line[$0 * line.count / count] }
    }

    /// Points of an ellipse, east and north of its centre.
    /// - Parameter azimuth: of the longer half axis, degrees clockwise from north.
    static func ellipse(_ major: Double, _ minor: Double, _ azimuth: Double, points: Int = 24) -> [SIMD2<Double>] {
        let turn = azimuth * .pi / 180
        return (0..<points).map { i in
            let angle = 2 * .pi * Double(i) / Double(points)
            let (along, across) = (major * cos(angle), minor * sin(angle))
            return SIMD2(along * sin(turn) + across * cos(turn), along * cos(turn) - across * sin(turn))
        }
    }

    /// Direction of an offset to the east and north, degrees clockwise from north, 0 to 360.
    static func azimuth(_ offset: SIMD2<Double>) -> Double {
        let angle = atan2(offset.x, offset.y) * 180 / .pi
        return angle < 0 ? angle + 360 : angle
    }
}
