import Instruments
import Sensors
import Settings
import SignalProcessing

/// Turns the sensor's numbers into the station's: calibration, axis map, rotation, levelling, one after the other, as
/// one matrix and one offset. Where nothing but the axis map is asked for, numbers are copied, not computed.
struct Mounting: Sendable {
    /// How far from level the sensor was found; nil while not known or not asked for.
    private(set) var level: Level?

    private let axis: (Int, Int, Int)
    private let sign: (Double, Double, Double)
    private let offset: (x: Double, y: Double, z: Double)
    /// All but the levelling.
    private let fixed: Matrix3
    /// All, and its inverse; nil where the axis map is all there is.
    private var matrix: Matrix3?
    private var inverse: Matrix3?
    /// Looks for rest while it is asked for and has not been found.
    private var levelling: Levelling?
    private let wantsLevel: Bool

    init(_ sensor: SensorConfiguration, rate: Double) {
        let mounting = sensor.mounting
        let s = mounting.sources
        axis = (s.x.axis, s.y.axis, s.z.axis)
        sign = (s.x.sign, s.y.sign, s.z.sign)
        let o = sensor.calibration.offset
        offset = (o.x, o.y, o.z)
        func row(_ source: MountingConfiguration.Source) -> (Double, Double, Double) {
            let s = source.sign
            return source.axis == 0 ? (s, 0, 0) : source.axis == 1 ? (0, s, 0) : (0, 0, s)
        }
        let r = mounting.rotation
        fixed =
            Matrix3.turned(roll: r.x, pitch: r.y, yaw: r.z) * Matrix3(row(s.x), row(s.y), row(s.z))
            * Matrix3(rows: sensor.calibration.matrix)
        let isMapOnly =
            r == PerAxis(0) && o == PerAxis(0) && Matrix3(rows: sensor.calibration.matrix) == .identity
        wantsLevel = mounting.level
        levelling = mounting.level ? Levelling(rate: rate) : nil
        if !isMapOnly || mounting.level { use(fixed) }
    }

    private mutating func use(_ matrix: Matrix3) {
        self.matrix = matrix
        inverse = matrix.inverse
    }

    /// Goes on with the level that another one has found, where all before the levelling is the same.
    mutating func takeOver(_ old: Mounting) {
        guard wantsLevel, old.wantsLevel, fixed == old.fixed, offset == old.offset, let found = old.level else {
            return
        }
        take(found)
    }

    private mutating func take(_ found: Level) {
        level = found
        levelling = nil
        use(found.matrix * fixed)
    }

    /// Samples are missing: rest has to be looked for anew, where it has not been found.
    mutating func reset() { levelling?.reset() }

    /// Copies samples of a block into three planes, up to the first that is no number or beyond what any sensor
    /// measures, and up to the one with which the level is found; later ones are turned by it.
    /// - Returns: how many samples.
    mutating func copy(
        _ block: SampleBlock, from start: Int, count: Int, to planes: UnsafeMutablePointer<Double>
    ) -> Int {
        if let matrix { return transform(block, start, count, matrix, planes) }
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

    private mutating func transform(
        _ block: SampleBlock, _ start: Int, _ count: Int, _ matrix: Matrix3, _ planes: UnsafeMutablePointer<Double>
    ) -> Int {
        let (px, py, pz) = (planes, planes + Planes.capacity, planes + 2 * Planes.capacity)
        block.copy(axis: 0, from: start, count: count, to: px)
        block.copy(axis: 1, from: start, count: count, to: py)
        block.copy(axis: 2, from: start, count: count, to: pz)
        var i = 0
        while i < count, isUsable(px[i], py[i], pz[i]) {
            let v = matrix.times(px[i] - offset.x, py[i] - offset.y, pz[i] - offset.z)
            (px[i], py[i], pz[i]) = (v.x, v.y, v.z)
            i += 1
            if let gravity = levelling?.take(v.x, v.y, v.z) {
                take(Level(gravity: gravity))
                break
            }
        }
        return i
    }

    /// Whether a sample of the raw planes was at full scale in the sensor's own axes.
    @inline(__always)
    func isClipped(_ x: Double, _ y: Double, _ z: Double, _ fullScale: Double) -> Bool {
        guard matrix != nil else {
            return x.magnitude >= fullScale || y.magnitude >= fullScale || z.magnitude >= fullScale
        }
        return wasClipped(x, y, z, fullScale)
    }

    private func wasClipped(_ x: Double, _ y: Double, _ z: Double, _ fullScale: Double) -> Bool {
        guard let inverse else { return false }
        let v = inverse.times(x, y, z)
        return (v.x + offset.x).magnitude >= fullScale || (v.y + offset.y).magnitude >= fullScale
            || (v.z + offset.z).magnitude >= fullScale
    }
}

/// No sensor measures more than 10⁶ m/s²; NaN and infinities fail it too.
func isUsable(_ x: Double, _ y: Double, _ z: Double) -> Bool {
    x.magnitude <= 1e6 && y.magnitude <= 1e6 && z.magnitude <= 1e6
}
