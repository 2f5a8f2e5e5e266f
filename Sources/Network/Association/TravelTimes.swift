/// A wave that a station may have triggered on.
public enum Phase: String, Sendable, CaseIterable {
    case p = "P"
    case s = "S"
}

/// Times of the first P and S waves from a source to the surface in the model iasp91, from a table that
/// deploy/checks/association.d/travel-times.py makes with ObsPy.
public struct TravelTimes: Sendable {
    /// Largest slowness of a P wave in the model, s/km.
    static let slowest = 1 / 5.8
    /// Kilometres up to which there are times.
    public static let reach = 1200.0
    /// Kilometres.
    public static let deepest = 700.0
    /// The table is decoded once.
    public static let iasp91 = TravelTimes()

    private let distances = TravelTimeData.distances
    private let depths = TravelTimeData.depths
    /// Squares of seconds, because these hardly bend between two squares of distances.
    private let squares: [[Double]]

    init() {
        squares = [Self.decode(TravelTimeData.p), Self.decode(TravelTimeData.s)].map { $0.map { $0 * $0 } }
    }

    private static func decode(_ text: StaticString) -> [Double] {
        var values = [UInt8](repeating: 255, count: 256)
        TravelTimeData.alphabet.withUTF8Buffer { for (i, letter) in $0.enumerated() { values[Int(letter)] = UInt8(i) } }
        let digits = text.withUTF8Buffer { $0.compactMap { values[Int($0)] == 255 ? nil : Int(values[Int($0)]) } }
        return stride(from: 0, to: digits.count - 2, by: 3).map { (at: Int) -> Double in
            let steps = (digits[at] * 64 + digits[at + 1]) * 64 + digits[at + 2]
            return Double(steps) * TravelTimeData.unit
        }
    }

    /// - Parameters:
    ///   - distance: along the surface, km; beyond the table it is taken as its end.
    ///   - depth: km.
    /// - Returns: seconds.
    public func seconds(_ phase: Phase, distance: Double, depth: Double) -> Double {
        slope(phase, distance: distance, depth: depth).time
    }

    /// The time, and how it grows with distance and depth (s/km).
    func slope(_ phase: Phase, distance: Double, depth: Double) -> (time: Double, byDistance: Double, byDepth: Double) {
        let x = max(0, min(distance, Self.reach))
        let z = max(0, min(depth, Self.deepest))
        let i = Self.interval(distances, x)
        let k = Self.interval(depths, z)
        let table = squares[phase == .p ? 0 : 1]
        let (x0, x1) = (distances[i] * distances[i], distances[i + 1] * distances[i + 1])
        let (z0, z1) = (depths[k] * depths[k], depths[k + 1] * depths[k + 1])
        let (u, v) = ((x * x - x0) / (x1 - x0), (z * z - z0) / (z1 - z0))
        let row = k * distances.count + i
        let (a, b) = (table[row], table[row + 1])
        let (c, d) = (table[row + distances.count], table[row + distances.count + 1])
        let square = (a * (1 - u) + b * u) * (1 - v) + (c * (1 - u) + d * u) * v
        let time = square.squareRoot()
        guard time > 1e-6 else { return (0, 0, 0) }
        let byU = ((b - a) * (1 - v) + (d - c) * v) / (x1 - x0)
        let byV = ((c - a) * (1 - u) + (d - b) * u) / (z1 - z0)
        return (time, byU * x / time, byV * z / time)
    }

    /// The number of the interval that a value lies in.
    private static func interval(_ nodes: [Double], _ value: Double) -> Int {
        var (low, high) = (0, nodes.count - 1)
        while high - low > 1 {
            let middle = (low + high) / 2
            if nodes[middle] <= value { low = middle } else { high = middle }
        }
        return low
    }
}
