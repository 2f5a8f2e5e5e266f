import Settings

/// Turns the sensor's axes into the station's: each is one of the sensor's with a sign.
struct Mounting: Sendable {
    private let axis: (Int, Int, Int)
    private let sign: (Double, Double, Double)

    init(_ configuration: MountingConfiguration) {
        let s = configuration.sources
        axis = (s.x.axis, s.y.axis, s.z.axis)
        sign = (s.x.sign, s.y.sign, s.z.sign)
    }

    func apply(_ x: Double, _ y: Double, _ z: Double) -> (Double, Double, Double) {
        func pick(_ i: Int) -> Double { i == 0 ? x : i == 1 ? y : z }
        return (sign.0 * pick(axis.0), sign.1 * pick(axis.1), sign.2 * pick(axis.2))
    }
}
