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
