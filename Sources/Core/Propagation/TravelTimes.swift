/// A wave that a station may have triggered on.
public enum Phase: String, Sendable, CaseIterable {
    case p = "P"
    case s = "S"
}

/// Times of the first P and S waves from a source to the surface in the model iasp91, from a table that
/// deploy/checks/association.d/travel-times.py makes with ObsPy.
public struct TravelTimes: Sendable {
    /// Largest slowness of a P wave in the model, s/km.
    package static let slowest = 1 / 5.8
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
        (0..<text.utf8CodeUnitCount / 3).map { stored(text, $0) }
    }

    /// A value of the table (s), from its three characters.
    private static func stored(_ text: StaticString, _ number: Int) -> Double {
        let letters = text.utf8Start + 3 * number
        return Double((digit(letters[0]) * 64 + digit(letters[1])) * 64 + digit(letters[2])) * TravelTimeData.unit
    }

    /// Six bits: A to Z, a to z, 0 to 9, - and _.
    private static func digit(_ letter: UInt8) -> Int {
        switch letter {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(letter) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(letter) - 97 + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(letter) - 48 + 52
        default: letter == UInt8(ascii: "-") ? 62 : 63
        }
    }

    /// As ``seconds(_:distance:depth:)``, of a table that stays in the program's text: for a station, which asks a few times
    /// in a year, and has no 60 kB for that.
    public static func seconds(_ phase: Phase, distance: Double, depth: Double) -> Double {
        let text = phase == .p ? TravelTimeData.p : TravelTimeData.s
        let cell = Cell(distance, depth, TravelTimeData.distances, TravelTimeData.depths)
        let corners = cell.corners { number in
            let time = stored(text, number)
            return time * time
        }
        return cell.square(corners).squareRoot()
    }

    /// - Parameters:
    ///   - distance: along the surface, km; beyond the table it is taken as its end.
    ///   - depth: km.
    /// - Returns: seconds.
    public func seconds(_ phase: Phase, distance: Double, depth: Double) -> Double {
        slope(phase, distance: distance, depth: depth).time
    }

    /// The time, and how it grows with distance and depth (s/km).
    package func slope(
        _ phase: Phase, distance: Double, depth: Double
    ) -> (time: Double, byDistance: Double, byDepth: Double) {
        let cell = Cell(distance, depth, distances, depths)
        let table = squares[phase == .p ? 0 : 1]
        let corners = cell.corners { table[$0] }
        let time = cell.square(corners).squareRoot()
        guard time > 1e-6 else { return (0, 0, 0) }
        let (a, b, c, d) = corners
        let byU = ((b - a) * (1 - cell.v) + (d - c) * cell.v) / cell.width
        let byV = ((c - a) * (1 - cell.u) + (d - b) * cell.u) / cell.height
        return (time, byU * cell.x / time, byV * cell.z / time)
    }
}

/// The four values of the table around a distance and a depth. Squares of times are interpolated by the squares of both.
private struct Cell {
    /// Kilometres, within the table.
    let x, z: Double
    /// The first of its values, and that below it.
    private let first, below: Int
    /// Where in it the point is, from 0 to 1.
    let u, v: Double
    /// Its size, km².
    let width, height: Double

    @inline(__always)
    init(_ distance: Double, _ depth: Double, _ distances: [Double], _ depths: [Double]) {
        x = max(0, min(distance, TravelTimes.reach))
        z = max(0, min(depth, TravelTimes.deepest))
        let i = Self.interval(distances, x)
        let k = Self.interval(depths, z)
        let (x0, x1) = (distances[i] * distances[i], distances[i + 1] * distances[i + 1])
        let (z0, z1) = (depths[k] * depths[k], depths[k + 1] * depths[k + 1])
        (width, height) = (x1 - x0, z1 - z0)
        (u, v) = ((x * x - x0) / width, (z * z - z0) / height)
        first = k * distances.count + i
        below = first + distances.count
    }

    @inline(__always)
    func corners(_ value: (Int) -> Double) -> (Double, Double, Double, Double) {
        (value(first), value(first + 1), value(below), value(below + 1))
    }

    @inline(__always)
    func square(_ corners: (Double, Double, Double, Double)) -> Double {
        let (a, b, c, d) = corners
        return (a * (1 - u) + b * u) * (1 - v) + (c * (1 - u) + d * u) * v
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
