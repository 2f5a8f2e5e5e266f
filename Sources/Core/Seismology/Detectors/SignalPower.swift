import SignalProcessing

/// Which motion a detector looks at.
public enum DetectorSignal: String, Sendable, CaseIterable {
    /// Each axis for itself.
    case each
    case x, y, z
    /// The horizontal vector.
    case h
    /// The 3-D vector.
    case v3

    /// Whether it is made of several axes.
    public var isVector: Bool { self == .h || self == .v3 }

    /// The axes that one of its planes stands for, bits 0, 1, 2: `each` has three planes, all others one.
    func bits(ofPlane plane: Int) -> UInt8 {
        switch self {
        case .each: 1 << UInt8(plane)
        case .x: 1
        case .y: 2
        case .z: 4
        case .h: 3
        case .v3: 7
        }
    }
}

/// The power of a signal, after a filter of its own or those of the axes: for detectors that are made of it.
struct SignalPower: Sendable {
    private var filter: AxisFilter
    private let hasOwnFilter: Bool
    /// Seconds that its own filter needs.
    let settlingTime: Double

    /// - Parameter own: nil: after the filters of the axes.
    init(_ own: FilterSpecification?, rate: Double) throws(FilterDesignError) {
        hasOwnFilter = own != nil
        let design = try (own ?? FilterSpecification.none).design(rate: rate)
        settlingTime = hasOwnFilter ? design.settlingTime(rate: rate) : 0
        filter = AxisFilter(design, design, design)
    }

    /// Goes on from another one.
    /// - Parameter inputGoesOn: whether the filters of the axes go on.
    /// - Returns: false when it is of another filter, and begins anew.
    mutating func takeOver(_ old: SignalPower, inputGoesOn: Bool) -> Bool {
        guard hasOwnFilter || inputGoesOn, hasOwnFilter == old.hasOwnFilter else { return false }
        let kept = filter.takeOver(old.filter)
        return kept.x && kept.y && kept.z
    }

    mutating func reset() { filter.reset() }

    /// Writes the power (m²/s⁴) of the three axes to the scratch planes of the chunk, and that of the signal to one plane,
    /// or three for `each`, as far apart.
    mutating func process(_ chunk: DetectorChunk, to plane: UnsafeMutablePointer<Double>, of signal: DetectorSignal) {
        let (count, s, x) = (chunk.count, chunk.stride, chunk.scratch)
        let (y, z) = (x + s, x + 2 * s)
        let source = hasOwnFilter ? chunk.offsetRemoved : chunk.filtered
        for axis in 0..<3 { (x + axis * s).update(from: source + axis * s, count: count) }
        if hasOwnFilter { filter.process(x, y, z, count: count) }
        for i in 0..<count {
            x[i] *= x[i]
            y[i] *= y[i]
            z[i] *= z[i]
        }
        switch signal {
        case .each: for axis in 0..<3 { (plane + axis * s).update(from: x + axis * s, count: count) }
        case .x: plane.update(from: x, count: count)
        case .y: plane.update(from: y, count: count)
        case .z: plane.update(from: z, count: count)
        case .h: for i in 0..<count { plane[i] = x[i] + y[i] }
        case .v3: for i in 0..<count { plane[i] = x[i] + y[i] + z[i] }
        }
    }
}
