/// Result of a chip's self-test.
public struct SelfTestReport: Sendable, Equatable {
    /// Change of one axis while the chip moves its own mass.
    public struct Axis: Sendable, Equatable {
        /// Measured change, and the smallest and largest that the data sheet allows; in the report's unit.
        public var change: Double
        public var minimum: Double
        public var maximum: Double
        public var passed: Bool { change.isFinite && change >= minimum && change <= maximum }

        public init(change: Double, minimum: Double, maximum: Double) {
            self.change = change
            self.minimum = minimum
            self.maximum = maximum
        }
    }
    public var x: Axis
    public var y: Axis
    public var z: Axis
    /// Unit of the numbers: `m/s^2`, or `%` for chips whose maker gives a change of the factory's value.
    public var unit: String
    /// Where the procedure and its limits stand: data sheet, revision, page.
    public var source: String
    public var passed: Bool { x.passed && y.passed && z.passed }

    public init(x: Axis, y: Axis, z: Axis, unit: String, source: String) {
        self.x = x
        self.y = y
        self.z = z
        self.unit = unit
        self.source = source
    }
}
