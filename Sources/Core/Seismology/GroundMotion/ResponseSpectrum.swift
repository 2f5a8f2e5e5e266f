#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Response spectrum of the horizontals, 5 % damped: of oscillators with some periods, the largest |displacement| times ω²
/// (pseudo-spectral acceleration, m/s²). From rest, exact for acceleration that is linear between the samples (Nigam and
/// Jennings, Calculation of response spectra from strong-motion earthquake records, Bull. Seism. Soc. Am. 59, 1969; Chopra,
/// Dynamics of Structures, table 5.2.1).
public struct ResponseSpectrum: Sendable {
    /// Seconds.
    public static let periods = [0.1, 0.2, 0.3, 0.5, 1, 2, 3]
    public static let damping = 0.05

    /// For each period: A, B, C, D and A', B', C', D' of the recurrence.
    private let coefficients: [Double]
    /// For each period: displacement and velocity of x and of y (m, m/s), and the largest |displacement| of each (m).
    private var state: [Double]
    private var last = (x: 0.0, y: 0.0)
    private var hasLast = false

    /// - Parameter rate: samples per second.
    public init(rate: Double) {
        var all: [Double] = []
        let (z, dt) = (Self.damping, 1 / rate)
        for period in Self.periods {
            let w = 2 * Double.pi / period
            let root = (1 - z * z).squareRoot()
            let (damped, decay) = (w * root, exp(-z * w * dt))
            let (s, c) = (decay * sin(damped * dt), decay * cos(damped * dt))
            let (k, twice) = (w * w, 2 * z / (w * dt))
            all += [
                z / root * s + c, s / damped,
                (twice + ((1 - 2 * z * z) / (damped * dt) - z / root) * s - (1 + twice) * c) / k,
                (1 - twice + (2 * z * z - 1) / (damped * dt) * s + twice * c) / k,
                -w / root * s, c - z / root * s,
                (-1 / dt + (w / root + z / (dt * root)) * s + c / dt) / k, (1 - z / root * s - c) / (k * dt),
            ]
        }
        coefficients = all
        state = [Double](repeating: 0, count: 6 * Self.periods.count)
    }

    /// The next sample does not follow the last: all comes to rest.
    public mutating func gap() {
        hasLast = false
        for k in Self.periods.indices { for i in 0..<4 { state[6 * k + i] = 0 } }
    }

    /// Takes the accelerations of a sample, m/s².
    public mutating func add(_ x: Double, _ y: Double) {
        defer { (last, hasLast) = ((x, y), true) }
        guard hasLast else { return }
        let last = last
        coefficients.withUnsafeBufferPointer { c in
            state.withUnsafeMutableBufferPointer { s in
                for k in 0..<Self.periods.count {
                    let (a, o) = (8 * k, 6 * k)
                    let (ux, vx, uy, vy) = (s[o], s[o + 1], s[o + 2], s[o + 3])
                    s[o] = c[a] * ux + c[a + 1] * vx - c[a + 2] * last.x - c[a + 3] * x
                    s[o + 1] = c[a + 4] * ux + c[a + 5] * vx - c[a + 6] * last.x - c[a + 7] * x
                    s[o + 2] = c[a] * uy + c[a + 1] * vy - c[a + 2] * last.y - c[a + 3] * y
                    s[o + 3] = c[a + 4] * uy + c[a + 5] * vy - c[a + 6] * last.y - c[a + 7] * y
                    s[o + 4] = max(s[o + 4], abs(s[o]))
                    s[o + 5] = max(s[o + 5], abs(s[o + 2]))
                }
            }
        }
    }

    /// Values at each period, m/s²: x, y and their geometric mean.
    public var values: (x: [Double], y: [Double], mean: [Double]) {
        var all: (x: [Double], y: [Double], mean: [Double]) = ([], [], [])
        for (k, period) in Self.periods.enumerated() {
            let w = 2 * Double.pi / period
            let (x, y) = (w * w * state[6 * k + 4], w * w * state[6 * k + 5])
            all.x.append(x)
            all.y.append(y)
            all.mean.append((x * y).squareRoot())
        }
        return all
    }
}
