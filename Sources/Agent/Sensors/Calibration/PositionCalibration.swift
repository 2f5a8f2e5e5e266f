import SignalProcessing
import Values

/// Calibration from six or more positions at rest, each with another axis up or down: offset, scale and cross-axis of
/// each axis by least squares against ±1 g (ST, AN4508 "Parameters and calibration of a low-g 3-axis accelerometer",
/// which has the same twelve unknowns), or, where the positions are only roughly along the axes, offset and scale
/// against the length of gravity alone (Frosio, Pedersini and Borghese 2009, "Autocalibration of MEMS accelerometers",
/// IEEE Trans. Instrum. Meas. 58(6), its six-parameter model).
public struct PositionCalibration: Sendable, Equatable {
    public enum Method: String, Sendable, CaseIterable { case axes, norm }

    public let method: Method
    public let correction: Correction
    /// Root of the mean square of what is left, and the largest, m/s²: of all components (axes) or of lengths (norm).
    public let residual: Double
    public let worst: Double
    /// The same before, without any correction.
    public let before: Double
    public let positions: Int

    /// Nearest axis must be within this angle (cosine of 20°).
    static let alignment = 0.94
    /// Largest residual, m/s²: beyond it a position was not at rest or not along its axis.
    static let largestResidual = 0.05 * standardGravity

    /// The axis that a mean points along: `+x` is 0, `-x` 1, `+y` 2 ... `-z` 5; nil when it is too far from any.
    public static func direction(_ mean: [Double]) -> Int? {
        let length = (mean[0] * mean[0] + mean[1] * mean[1] + mean[2] * mean[2]).squareRoot()
        guard length > 0.5 * standardGravity, length < 1.5 * standardGravity else { return nil }
        for axis in 0..<3 where mean[axis].magnitude > alignment * length { return 2 * axis + (mean[axis] < 0 ? 1 : 0) }
        return nil
    }

    /// `+x`, `-x` and so on by ``direction(_:)``.
    public static let names = ["+x", "-x", "+y", "-y", "+z", "-z"]

    /// - Parameter means: of each position, m/s², three numbers.
    /// - Throws: what is missing or wrong.
    public init(_ means: [[Double]], method: Method) throws(CalibrationError) {
        self.method = method
        positions = means.count
        var missing = Set(0..<6)
        var targets: [[Double]] = []
        for (number, mean) in means.enumerated() {
            guard mean.count == 3, let direction = Self.direction(mean) else {
                throw CalibrationError("position \(number + 1) is not along an axis: turn it to within 20 degrees")
            }
            missing.remove(direction)
            var target = [0.0, 0, 0]
            target[direction / 2] = direction % 2 == 0 ? standardGravity : -standardGravity
            targets.append(target)
        }
        guard missing.isEmpty else {
            let names = missing.sorted().map { Self.names[$0] }.joined(separator: ", ")
            throw CalibrationError("positions are missing: \(names) up")
        }
        let found = method == .axes ? Self.affine(means, targets) : Self.ellipsoid(means)
        guard let found else {
            throw CalibrationError("the positions do not determine the calibration: repeat them")
        }
        correction = found
        before = Self.residuals(means, targets, Correction(), method).rms
        (residual, worst) = Self.residuals(means, targets, found, method)
        guard worst <= Self.largestResidual else {
            throw CalibrationError(
                "the positions contradict each other: one of them was not at rest or not along its axis")
        }
    }

    private static func residuals(
        _ means: [[Double]], _ targets: [[Double]], _ correction: Correction, _ method: Method
    ) -> (rms: Double, worst: Double) {
        var (sum, worst, count) = (0.0, 0.0, 0)
        for (mean, target) in zip(means, targets) {
            let v = correction.apply(mean)
            let errors =
                method == .axes
                ? (0..<3).map { v[$0] - target[$0] }
                : [(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).squareRoot() - standardGravity]
            for error in errors {
                sum += error * error
                worst = max(worst, error.magnitude)
                count += 1
            }
        }
        return ((sum / Double(max(1, count))).squareRoot(), worst)
    }

    /// true = A · measured + b, each row by itself; then offset = −A⁻¹ b.
    private static func affine(_ means: [[Double]], _ targets: [[Double]]) -> Correction? {
        var matrix: [Double] = []
        var b: [Double] = []
        for row in 0..<3 {
            var system = LeastSquares(unknowns: 4)
            // In g, so that all unknowns are about as large.
            for (mean, target) in zip(means, targets) {
                system.add(mean.map { $0 / standardGravity } + [1], target[row] / standardGravity)
            }
            guard let x = system.solve() else { return nil }
            matrix += x[0..<3]
            b.append(x[3] * standardGravity)
        }
        var inverse = LeastSquares(unknowns: 3)
        for row in 0..<3 { inverse.add(Array(matrix[3 * row..<3 * row + 3]), -b[row]) }
        guard let offset = inverse.solve() else { return nil }
        return Correction(offset: offset, matrix: matrix)
    }

    /// Gauss and Newton's method for |scale · (measured − offset)| = 1 g, from no correction at all.
    private static func ellipsoid(_ means: [[Double]]) -> Correction? {
        var (offset, scale) = ([0.0, 0, 0], [1.0, 1, 1])
        for _ in 0..<20 {
            var system = LeastSquares(unknowns: 6)
            for mean in means {
                var d = [0.0, 0, 0]
                var square = 0.0
                for axis in 0..<3 {
                    d[axis] = (mean[axis] - offset[axis]) / standardGravity
                    let scaled = scale[axis] * d[axis]
                    square += scaled * scaled
                }
                let length = square.squareRoot()
                guard length > 0 else { return nil }
                // Derivatives of the length with respect to the offsets (in g) and to the scales.
                var row = [Double](repeating: 0, count: 6)
                for axis in 0..<3 {
                    row[axis] = -scale[axis] * scale[axis] * d[axis] / length
                    row[3 + axis] = scale[axis] * d[axis] * d[axis] / length
                }
                system.add(row, 1 - length)
            }
            guard let step = system.solve() else { return nil }
            for axis in 0..<3 {
                offset[axis] += step[axis] * standardGravity
                scale[axis] += step[3 + axis]
            }
            if step.allSatisfy({ $0.magnitude < 1e-13 }) { break }
        }
        guard (offset + scale).allSatisfy({ $0.isFinite }), scale.allSatisfy({ $0 > 0.5 && $0 < 2 }) else { return nil }
        return Correction(offset: offset, matrix: [scale[0], 0, 0, 0, scale[1], 0, 0, 0, scale[2]])
    }
}

/// Finds in one long recording the positions in which the sensor lay still: seconds whose deviation is that of the noise,
/// three or more in a row that agree; the first and the last of them are left out.
public enum PositionFinder {
    /// Means of the positions, in order, m/s².
    public static func positions(_ recording: RestRecording) -> [[Double]] {
        let second = max(2, Int(recording.rate.rounded()))
        let axes = [recording.x, recording.y, recording.z]
        var means: [[Double]] = []
        var deviations: [Double] = []
        for number in 0..<recording.count / second {
            var mean: [Double] = []
            var deviation = 0.0
            for axis in axes {
                let part = axis[number * second..<(number + 1) * second]
                let m = RestRecording.mean(part)
                mean.append(m)
                deviation = max(deviation, part.reduce(0) { $0 + ($1 - m) * ($1 - m) } / Double(second))
            }
            means.append(mean)
            deviations.append(deviation.squareRoot())
        }
        guard !deviations.isEmpty else { return [] }
        let quiet = max(3 * deviations.sorted()[deviations.count / 4], 0.002 * standardGravity)
        let agreement = max(quiet, 0.02 * standardGravity)
        var found: [[Double]] = []
        var group: [[Double]] = []
        func close() {
            defer { group.removeAll() }
            guard group.count >= 3 else { return }
            let inner = group.dropFirst().dropLast()
            found.append((0..<3).map { axis in inner.reduce(0) { $0 + $1[axis] } / Double(inner.count) })
        }
        for (mean, deviation) in zip(means, deviations) {
            let agrees = group.first.map { first in (0..<3).allSatisfy { (first[$0] - mean[$0]).magnitude <= agreement }
            }
            if deviation > quiet || agrees == false { close() }
            if deviation <= quiet { group.append(mean) }
        }
        close()
        return found
    }
}

/// Normal equations of a linear least-squares problem with a few unknowns: sums of products, then Gauss's elimination
/// with pivots.
struct LeastSquares {
    private let size: Int
    /// Rows of the matrix, one after the other, each with the right side as last column. (One array: of an array of arrays
    /// Swift 6.3.1 makes other code in one of some ten compilations.)
    private var rows: [Double]

    private func place(_ row: Int, _ column: Int) -> Int { row * (size + 1) + column }

    init(unknowns: Int) {
        size = unknowns
        rows = [Double](repeating: 0, count: unknowns * (unknowns + 1))
    }

    /// One equation: the sum of `factors` times the unknowns is `value`.
    mutating func add(_ factors: [Double], _ value: Double) {
        for i in 0..<size {
            for j in 0..<size { rows[place(i, j)] += factors[i] * factors[j] }
            rows[place(i, size)] += factors[i] * value
        }
    }

    /// Nil when the equations do not say enough: a pivot is less than 10⁻⁶ of its column's own sum of squares (the
    /// factors differ by no more than a thousandth).
    func solve() -> [Double]? {
        var a = rows
        let scale = (0..<size).map { rows[place($0, $0)] }
        for k in 0..<size {
            guard let best = (k..<size).max(by: { a[place($0, k)].magnitude < a[place($1, k)].magnitude }) else {
                return nil
            }
            if best != k { for j in 0...size { a.swapAt(place(k, j), place(best, j)) } }
            let pivot = a[place(k, k)]
            guard pivot.isFinite, pivot.magnitude > 1e-6 * scale[k], pivot != 0 else { return nil }
            for i in k + 1..<size {
                let factor = a[place(i, k)] / pivot
                for j in k...size { a[place(i, j)] -= factor * a[place(k, j)] }
            }
        }
        var x = [Double](repeating: 0, count: size)
        for i in stride(from: size - 1, through: 0, by: -1) {
            var rest = a[place(i, size)]
            for j in i + 1..<size { rest -= a[place(i, j)] * x[j] }
            x[i] = rest / a[place(i, i)]
        }
        return x
    }
}

/// Result of a calibration: true = matrix · (measured − offset), in the sensor's own axes, as `sensor.calibration` has
/// it.
public struct Correction: Sendable, Equatable {
    /// m/s², x, y, z.
    public var offset: [Double]
    /// Nine numbers by rows.
    public var matrix: [Double]

    public init(offset: [Double] = [0, 0, 0], matrix: [Double] = [1, 0, 0, 0, 1, 0, 0, 0, 1]) {
        self.offset = offset
        self.matrix = matrix
    }

    /// The true value of a measured one.
    public func apply(_ v: [Double]) -> [Double] {
        var result = [0.0, 0, 0]
        for row in 0..<3 {
            for column in 0..<3 { result[row] += matrix[3 * row + column] * (v[column] - offset[column]) }
        }
        return result
    }
}

/// Reason why a calibration was refused: a sentence that says what to do about it.
public struct CalibrationError: Error, Sendable, Equatable, CustomStringConvertible {
    public var message: String
    public init(_ message: String) { self.message = message }
    public var description: String { message }
}

// A calibration, as it is published and kept.

extension Correction {
    /// The part of `sensor.calibration` in `state/info` that every method has.
    public func members(method: String, time: Int64) -> [Value.Member] {
        [
            .init("t", .string(Timestamp(nanoseconds: time).description)), .init("method", .string(method)),
            .init("offset", .array(offset.map { .double($0) })), .init("matrix", .array(matrix.map { .double($0) })),
        ]
    }
}

extension RestCalibration {
    /// As `sensor.calibration` in `state/info`.
    public func value(time: Int64) -> Value {
        func numbers(_ number: (Axis) -> Double) -> Value { .array([x, y, z].map { .double(number($0)) }) }
        return .object(
            correction.members(method: "rest", time: time) + [
                .init("mean", numbers(\.mean)), .init("noise_rms", numbers(\.noise)),
                .init("noise_ug_per_sqrt_hz", numbers(\.microG)), .init("magnitude", .double(magnitude)),
                .init("plausible", .bool(isPlausible)), .init("seconds", .double(seconds)),
            ])
    }
}

extension PositionCalibration {
    /// As `sensor.calibration` in `state/info`.
    public func value(time: Int64) -> Value {
        .object(
            correction.members(method: method.rawValue, time: time) + [
                .init("positions", .int(Int64(positions))), .init("residual_before", .double(before)),
                .init("residual", .double(residual)), .init("worst", .double(worst)),
            ])
    }
}
