/// Three causal cascades of second-order sections, one for each axis, run together.
///
/// Transposed direct form II in the delta operator (see ``Section``). The axes may have different filters; shorter ones
/// are padded with identity sections, so that the arithmetic of three independent axes overlaps in the processor.
/// Adaptive filters, which need the three axes together, run between the sections as stages of their own. A steady
/// start fills the delays as if the first sample had always been the input (as SciPy's `sosfilt_zi` does).
public struct AxisFilter: Sendable {
    private let sectionCount: Int
    /// For each section and axis: b₀ β₁ β₂ e₁ e₂.
    private var coefficients: [Double] = []
    /// For each section and axis: whether it starts in steady state.
    private var steady: [Bool] = []
    private let anySteady: Bool
    /// For each section and axis: two delays.
    private var state: [Double]
    /// Axes whose next sample is their first.
    private var isNew = (x: true, y: true, z: true)
    /// Adaptive filters, each with the number of sections before it.
    private var adaptive: [(row: Int, stage: AdaptiveStage)] = []
    /// Of x, y and z; and the row of each of their sections.
    private let designs: [FilterSpecification.Design]
    private var rows: [[Int]] = [[], [], []]

    /// - Parameter designs: of x, y and z.
    public init(_ x: FilterSpecification.Design, _ y: FilterSpecification.Design, _ z: FilterSpecification.Design) {
        let designs = [x, y, z]
        self.designs = designs
        var used = [0, 0, 0]
        var rows = 0
        for place in 0...(designs.map { $0.adaptive.count }.max() ?? 0) {
            let ends = designs.map { place < $0.adaptive.count ? $0.adaptive[place].before : $0.sections.count }
            let count = (0..<3).map { ends[$0] - used[$0] }.max() ?? 0
            for s in 0..<count {
                for axis in 0..<3 {
                    let k = used[axis] + s
                    let present = k < ends[axis]
                    if present { self.rows[axis].append(rows + s) }
                    let section = present ? designs[axis].sections[k] : .identity
                    coefficients += [section.b0, section.beta1, section.beta2, section.e1, section.e2]
                    steady.append(present && designs[axis].starts[k] == .steady)
                }
            }
            rows += count
            used = ends
            let parts = designs.map { place < $0.adaptive.count ? $0.adaptive[place].axis : nil }
            if parts.contains(where: { $0 != nil }) {
                adaptive.append((rows, AdaptiveStage(parts[0], parts[1], parts[2])))
            }
        }
        sectionCount = rows
        anySteady = steady.contains(true)
        state = [Double](repeating: 0, count: 6 * rows)
    }

    /// Whether the answer to a sum is the sum of the answers: adaptive filters are not like that.
    public var isLinear: Bool { adaptive.isEmpty }

    /// Forgets all samples: the next one is the first.
    public mutating func reset() {
        isNew = (true, true, true)
        for i in state.indices { state[i] = 0 }
        for i in adaptive.indices { adaptive[i].stage.reset() }
    }

    /// Goes on, on the axes whose filter is the same, from where another filter is. The other axes begin with the next
    /// sample.
    /// - Returns: the axes that go on.
    public mutating func takeOver(_ old: AxisFilter) -> (x: Bool, y: Bool, z: Bool) {
        let same = (0..<3).map { designs[$0] == old.designs[$0] }
        for axis in 0..<3 where same[axis] {
            for (to, from) in zip(rows[axis], old.rows[axis]) {
                for d in 0..<2 { state[6 * to + 2 * axis + d] = old.state[6 * from + 2 * axis + d] }
            }
            for place in designs[axis].adaptive.indices {
                adaptive[place].stage.takeOver(old.adaptive[place].stage, axis: axis)
            }
        }
        isNew = (!same[0] || old.isNew.x, !same[1] || old.isNew.y, !same[2] || old.isNew.z)
        return (same[0], same[1], same[2])
    }

    /// Filters three planes of `count` samples in place.
    public mutating func process(
        _ x: UnsafeMutablePointer<Double>, _ y: UnsafeMutablePointer<Double>, _ z: UnsafeMutablePointer<Double>,
        count: Int
    ) {
        guard count > 0 else { return }
        var row = 0
        for i in adaptive.indices {
            run(row..<adaptive[i].row, x, y, z, count)
            row = adaptive[i].row
            adaptive[i].stage.process(x, y, z, count: count)
        }
        run(row..<sectionCount, x, y, z, count)
        isNew = (false, false, false)
    }

    /// Some of the sections over the block.
    private mutating func run(
        _ rows: Range<Int>, _ x: UnsafeMutablePointer<Double>, _ y: UnsafeMutablePointer<Double>,
        _ z: UnsafeMutablePointer<Double>, _ count: Int
    ) {
        guard !rows.isEmpty else { return }
        if anySteady {
            if isNew.x { startSteady(rows, axis: 0, x[0]) }
            if isNew.y { startSteady(rows, axis: 1, y[0]) }
            if isNew.z { startSteady(rows, axis: 2, z[0]) }
        }
        coefficients.withUnsafeBufferPointer { coefficients in
            state.withUnsafeMutableBufferPointer { state in
                guard var c = coefficients.baseAddress, var d = state.baseAddress else { return }
                c += 15 * rows.lowerBound
                d += 6 * rows.lowerBound
                var left = rows.count
                while left >= 2 {
                    Self.runTwo(c, d, x, y, z, count)
                    c += 30
                    d += 12
                    left -= 2
                }
                if left == 1 { Self.run(c, d, x, y, z, count) }
            }
        }
    }

    /// One section of all three axes over the block.
    @inline(__always)
    private static func run(
        _ c: UnsafePointer<Double>, _ d: UnsafeMutablePointer<Double>, _ x: UnsafeMutablePointer<Double>,
        _ y: UnsafeMutablePointer<Double>, _ z: UnsafeMutablePointer<Double>, _ count: Int
    ) {
        let (cx, cy, cz) = (Coefficients(c), Coefficients(c + 5), Coefficients(c + 10))
        var (dx, dy, dz) = (Delays(d), Delays(d + 2), Delays(d + 4))
        for i in 0..<count { (x[i], y[i], z[i]) = (dx.step(cx, x[i]), dy.step(cy, y[i]), dz.step(cz, z[i])) }
        dx.store(d)
        dy.store(d + 2)
        dz.store(d + 4)
    }

    /// Two sections after one another, as two calls of ``run(_:_:_:_:_:_:)``: a section has to wait for its own last
    /// sample, and the processor does the other one meanwhile.
    @inline(__always)
    private static func runTwo(
        _ c: UnsafePointer<Double>, _ d: UnsafeMutablePointer<Double>, _ x: UnsafeMutablePointer<Double>,
        _ y: UnsafeMutablePointer<Double>, _ z: UnsafeMutablePointer<Double>, _ count: Int
    ) {
        let (cx, cy, cz) = (Coefficients(c), Coefficients(c + 5), Coefficients(c + 10))
        let (ex, ey, ez) = (Coefficients(c + 15), Coefficients(c + 20), Coefficients(c + 25))
        var (dx, dy, dz) = (Delays(d), Delays(d + 2), Delays(d + 4))
        var (fx, fy, fz) = (Delays(d + 6), Delays(d + 8), Delays(d + 10))
        for i in 0..<count {
            let (xo, yo, zo) = (dx.step(cx, x[i]), dy.step(cy, y[i]), dz.step(cz, z[i]))
            (x[i], y[i], z[i]) = (fx.step(ex, xo), fy.step(ey, yo), fz.step(ez, zo))
        }
        dx.store(d)
        dy.store(d + 2)
        dz.store(d + 4)
        fx.store(d + 6)
        fy.store(d + 8)
        fz.store(d + 10)
    }

    /// Of one section and axis.
    private struct Coefficients {
        let b0, beta1, beta2, e1, e2: Double

        @inline(__always)
        init(_ c: UnsafePointer<Double>) { (b0, beta1, beta2, e1, e2) = (c[0], c[1], c[2], c[3], c[4]) }
    }

    /// Of one section and axis, in registers.
    private struct Delays {
        var first, second: Double

        @inline(__always)
        init(_ d: UnsafePointer<Double>) { (first, second) = (d[0], d[1]) }

        @inline(__always)
        mutating func step(_ c: Coefficients, _ input: Double) -> Double {
            let output = c.b0 * input + first
            first += (c.beta1 * input - c.e1 * output) + second
            second += c.beta2 * input - c.e2 * output
            return output
        }

        @inline(__always)
        func store(_ d: UnsafeMutablePointer<Double>) { (d[0], d[1]) = (first, second) }
    }

    /// Delays of every steady section of an axis for the constant input that reaches it.
    private mutating func startSteady(_ rows: Range<Int>, axis: Int, _ first: Double) {
        var input = first
        for s in rows {
            let k = 3 * s + axis
            guard steady[k] else {
                // A section that starts from zero answers the first sample with b₀ times it.
                input *= coefficients[5 * k]
                continue
            }
            let (b0, beta1, beta2) = (coefficients[5 * k], coefficients[5 * k + 1], coefficients[5 * k + 2])
            let (e1, e2) = (coefficients[5 * k + 3], coefficients[5 * k + 4])
            let output = e2 == 0 ? b0 * input : beta2 / e2 * input
            state[2 * k] = output - b0 * input
            state[2 * k + 1] = e1 * output - beta1 * input
            input = output
        }
    }
}
