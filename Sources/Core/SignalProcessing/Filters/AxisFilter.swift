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
    /// Designs of x, y and z; and the row of each of their sections.
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
        let (cxy, cz) = (Coefficients(c, c + 5), Coefficients(c + 10, c + 10))
        var (dxy, dz) = (Delays(d, d + 2), Delays(d + 4, d + 4))
        for i in 0..<count {
            let xy = dxy.step(cxy, SIMD2(x[i], y[i]))
            (x[i], y[i], z[i]) = (xy[0], xy[1], dz.step(cz, SIMD2(z[i], z[i]))[0])
        }
        dxy.store(d, d + 2)
        dz.store(d + 4, d + 4)
    }

    /// Two sections after one another, as two calls of ``run(_:_:_:_:_:_:)``: a section has to wait for its own last
    /// sample, and the processor does the other one meanwhile. The z axis of the second goes with that of the first, one
    /// sample behind it.
    @inline(__always)
    private static func runTwo(
        _ c: UnsafePointer<Double>, _ d: UnsafeMutablePointer<Double>, _ x: UnsafeMutablePointer<Double>,
        _ y: UnsafeMutablePointer<Double>, _ z: UnsafeMutablePointer<Double>, _ count: Int
    ) {
        let (first, second) = (Coefficients(c, c + 5), Coefficients(c + 15, c + 20))
        var (dxy, exy) = (Delays(d, d + 2), Delays(d + 6, d + 8))
        let (both, alone, last) = (
            Coefficients(c + 10, c + 25), Coefficients(c + 10, c + 10), Coefficients(c + 25, c + 25)
        )
        var dz = Delays(d + 4, d + 4)
        var between = dz.step(alone, SIMD2(z[0], z[0]))[0]
        dz.takeSecond(d + 10)
        for i in 0..<count {
            let xy = exy.step(second, dxy.step(first, SIMD2(x[i], y[i])))
            (x[i], y[i]) = (xy[0], xy[1])
            guard i > 0 else { continue }
            let pair = dz.step(both, SIMD2(z[i], between))
            (between, z[i - 1]) = (pair[0], pair[1])
        }
        dxy.store(d, d + 2)
        exy.store(d + 6, d + 8)
        dz.store(d + 4, d + 10)
        var ez = Delays(d + 10, d + 10)
        z[count - 1] = ez.step(last, SIMD2(between, between))[0]
        ez.store(d + 10, d + 10)
    }

    /// Coefficients of one section and two axes, or of two sections: a processor with pairs of doubles computes them at
    /// once. (The same operations in the same order as for one of them.)
    private struct Coefficients {
        let b0, beta1, beta2, e1, e2: SIMD2<Double>

        @inline(__always)
        init(_ a: UnsafePointer<Double>, _ b: UnsafePointer<Double>) {
            (b0, beta1, beta2) = (SIMD2(a[0], b[0]), SIMD2(a[1], b[1]), SIMD2(a[2], b[2]))
            (e1, e2) = (SIMD2(a[3], b[3]), SIMD2(a[4], b[4]))
        }
    }

    /// Delays of the same, in registers.
    private struct Delays {
        var first, second: SIMD2<Double>

        @inline(__always)
        init(_ a: UnsafePointer<Double>, _ b: UnsafePointer<Double>) {
            (first, second) = (SIMD2(a[0], b[0]), SIMD2(a[1], b[1]))
        }

        /// Takes the delays of the second of the pair from memory.
        @inline(__always)
        mutating func takeSecond(_ b: UnsafePointer<Double>) { (first[1], second[1]) = (b[0], b[1]) }

        @inline(__always)
        mutating func step(_ c: Coefficients, _ input: SIMD2<Double>) -> SIMD2<Double> {
            let output = c.b0 * input + first
            first += (c.beta1 * input - c.e1 * output) + second
            second += c.beta2 * input - c.e2 * output
            return output
        }

        @inline(__always)
        func store(_ a: UnsafeMutablePointer<Double>, _ b: UnsafeMutablePointer<Double>) {
            (a[0], a[1], b[0], b[1]) = (first[0], second[0], first[1], second[1])
        }
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
