/// A first-order filter as in Apple's sample program AccelerometerGraph (2008), which Shake and many apps took over.
///
/// Low pass: y = k x + (1 − k) y₋₁ with k = dt / (dt + 1/fc). High pass: y = k (y₋₁ + x − x₋₁) with
/// k = (1/fc) / (dt + 1/fc). There is no 2π in it, so the corner is a name and not the −3 dB point: "5 Hz" at 60 Hz is
/// 3 dB down at 0.76 Hz. Starts with x₋₁ = y₋₁ = 0.
public struct SimpleSpecification: FilterKind {
    public static let name = "simple"
    public static let title = "First-order"
    public static let help =
        "First order, as in Apple's AccelerometerGraph and in Shake. The corner is a name, not where it is 3 dB down."

    /// Low pass or high pass.
    public var band = FilterBand.lowpass
    /// The nominal corner in Hz, above 0 and below half of the sample rate.
    public var corner = 1.0
    /// Less smoothing while there is motion, see ``AdaptiveStage``.
    public var adaptive = false

    private static let bands = [FilterBand.lowpass, .highpass]

    public init() {}

    public init(band: FilterBand, corner: Double, adaptive: Bool = false) {
        (self.band, self.corner, self.adaptive) = (band, corner, adaptive)
    }

    public mutating func parameters(_ p: inout FilterParameters) {
        p.word("type", &band, only: Self.bands, required: true, "Which frequencies pass.")
        p.frequency("corner_hz", &corner, "The corner", "The nominal corner.")
        p.flag("adaptive", &adaptive, "Less smoothing while there is motion.")
    }

    public var problem: FilterProblem? {
        guard band.hasTwoCorners else { return nil }
        return .init(
            key: "type", message: "A simple filter is of first order.", got: band.rawValue, allowed: "lowpass, highpass"
        )
    }

    public func design(rate: Double) throws(FilterDesignError) -> FilterSpecification.Design {
        let (k, rest) = try constant(rate: rate)
        guard adaptive else { return .init([Self.section(band, k: k, rest: rest)], start: .zero) }
        var design = FilterSpecification.Design([], start: .zero)
        design.adaptive = [(0, .init(band: band, k: k, rest: rest))]
        return design
    }

    /// The constant k of the difference equation, and 1 − k, each without cancellation.
    func constant(rate: Double) throws(FilterDesignError) -> (k: Double, rest: Double) {
        try FilterDesignError.check(rate: rate)
        guard !band.hasTwoCorners else { throw .cornerCount(expected: 2, got: 1) }
        try FilterDesignError.check(corner: corner, rate: rate)
        // dt : 1/fc = fc : rate
        let (fast, slow) = (corner / (corner + rate), rate / (corner + rate))
        return band == .lowpass ? (fast, slow) : (slow, fast)
    }

    /// The section of a constant k.
    static func section(_ band: FilterBand, k: Double, rest: Double) -> Section {
        band == .lowpass
            ? Section(b0: k, beta1: 2 * k, beta2: k, e1: 1 + k, e2: k)
            : Section(b0: k, beta1: k, beta2: 0, e1: 1 + rest, e2: rest)
    }
}

/// The adaptive mode of Apple's filters: k follows the motion of the axes together.
///
/// At each sample d = clamp(| ‖y₋₁‖ − ‖x‖ | / 0.02 g − 1, 0, 1), x being the input and y₋₁ the last output; the low
/// pass uses (1 − d) k/3 + d k, the high pass d k/3 + (1 − d) k. The norms are over the axes that have an adaptive
/// filter at this place: the first adaptive filters of all chains make one stage, the second ones the next. An axis
/// that has another filter is left out of the norms, and passes.
struct AdaptiveStage: Sendable {
    /// One axis' part in the stage.
    struct Axis: Sendable, Equatable {
        var band: FilterBand
        var k: Double
        /// 1 − k.
        var rest: Double

        /// Section that equals the filter while d keeps a value.
        func section(motion d: Double) -> Section {
            let share = weight(d)
            return SimpleSpecification.section(
                band, k: share * k, rest: band == .lowpass ? 1 - share * k : 1 - share + share * rest)
        }

        /// The factor on k.
        @inline(__always)
        func weight(_ d: Double) -> Double { band == .lowpass ? (1 + 2 * d) / 3 : (3 - 2 * d) / 3 }
    }

    private static let step = 0.02 * standardGravity
    private let x: Axis?
    private let y: Axis?
    private let z: Axis?
    private var last = (x: 0.0, y: 0.0, z: 0.0)
    private var output = (x: 0.0, y: 0.0, z: 0.0)

    init(_ x: Axis?, _ y: Axis?, _ z: Axis?) { (self.x, self.y, self.z) = (x, y, z) }

    mutating func reset() {
        last = (0, 0, 0)
        output = (0, 0, 0)
    }

    /// Goes on, on one axis, from where another stage is.
    mutating func takeOver(_ old: AdaptiveStage, axis: Int) {
        switch axis {
        case 0: (last.x, output.x) = (old.last.x, old.output.x)
        case 1: (last.y, output.y) = (old.last.y, old.output.y)
        default: (last.z, output.z) = (old.last.z, old.output.z)
        }
    }

    mutating func process(
        _ px: UnsafeMutablePointer<Double>, _ py: UnsafeMutablePointer<Double>, _ pz: UnsafeMutablePointer<Double>,
        count: Int
    ) {
        var (last, output) = (last, output)
        for i in 0..<count {
            let input = (x: x == nil ? 0 : px[i], y: y == nil ? 0 : py[i], z: z == nil ? 0 : pz[i])
            let difference = Self.norm(output.x, output.y, output.z) - Self.norm(input.x, input.y, input.z)
            let d = min(max(abs(difference) / Self.step - 1, 0), 1)
            if let x { px[i] = Self.run(x, d, input.x, last.x, &output.x) }
            if let y { py[i] = Self.run(y, d, input.y, last.y, &output.y) }
            if let z { pz[i] = Self.run(z, d, input.z, last.z, &output.z) }
            last = input
        }
        (self.last, self.output) = (last, output)
    }

    @inline(__always)
    private static func run(_ axis: Axis, _ d: Double, _ x: Double, _ last: Double, _ y: inout Double) -> Double {
        let k = axis.weight(d) * axis.k
        y = axis.band == .lowpass ? y + k * (x - y) : k * (y + x - last)
        return y
    }

    @inline(__always)
    private static func norm(_ x: Double, _ y: Double, _ z: Double) -> Double { (x * x + y * y + z * z).squareRoot() }
}
