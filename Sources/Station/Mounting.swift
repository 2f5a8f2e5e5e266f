import Settings
import SignalProcessing

/// Turns the sensor's axes into the station's: each is one of the sensor's with a sign.
struct Mounting: Sendable {
    private let axis: (Int, Int, Int)
    private let sign: (Double, Double, Double)

    init(_ configuration: MountingConfiguration) {
        let s = configuration.sources
        axis = (s.x.axis, s.y.axis, s.z.axis)
        sign = (s.x.sign, s.y.sign, s.z.sign)
    }

    /// Copies samples of a block into three planes, up to the first that is no number or beyond what any sensor measures.
    /// - Returns: how many samples.
    func copy(_ block: SampleBlock, from start: Int, count: Int, to planes: UnsafeMutablePointer<Double>) -> Int {
        let capacity = Planes.capacity
        block.copy(axis: axis.0, from: start, count: count, to: planes)
        block.copy(axis: axis.1, from: start, count: count, to: planes + capacity)
        block.copy(axis: axis.2, from: start, count: count, to: planes + 2 * capacity)
        var taken = 0
        while taken < count, isUsable(planes[taken], planes[capacity + taken], planes[2 * capacity + taken]) {
            taken += 1
        }
        if sign.0 != 1 { for i in 0..<taken { planes[i] *= sign.0 } }
        if sign.1 != 1 { for i in capacity..<capacity + taken { planes[i] *= sign.1 } }
        if sign.2 != 1 { for i in 2 * capacity..<2 * capacity + taken { planes[i] *= sign.2 } }
        return taken
    }
}

/// No sensor measures more than 10⁶ m/s²; NaN and infinities fail it too.
func isUsable(_ x: Double, _ y: Double, _ z: Double) -> Bool {
    x.magnitude <= 1e6 && y.magnitude <= 1e6 && z.magnitude <= 1e6
}
