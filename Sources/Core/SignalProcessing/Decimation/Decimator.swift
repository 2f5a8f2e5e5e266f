#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Streaming decimation of several signals at once by an integer factor.
///
/// Output k lies at input sample k × factor after a start or a reset: the filter's delay is waited for, not shifted into
/// the signal, so that a decimated trace lies on the original (of a recursive filter: but for ``DecimationFilter/fraction``
/// of a sample). Before the first and after the last sample the signal is continued by its end value, so that a constant
/// (gravity) gives no ramp. The signals lie side by side in memory, so that each coefficient is fetched once for all of
/// them and no sum waits for another.
public struct Decimator: Sendable {
    public let filter: DecimationFilter
    /// Signals.
    public let lanes: Int
    /// Doubles from one output to the next: `lanes`, made even.
    public let stride: Int
    /// Samples that may be given at once.
    public let chunk: Int

    /// Loaded input, sample by sample.
    private var input: [Double]
    private var stages: [RunningStage] = []
    /// The last sample of every lane.
    private var last: [Double]
    /// Delays of a recursive filter, for each section: two of each lane.
    private var delays: [Double]
    private var started = false
    /// Samples to come before the next output of a recursive filter.
    private var wait: Int

    /// - Parameters:
    ///   - lanes: how many signals, at least 1.
    ///   - chunk: how many samples may be given at once, at least 1.
    public init(filter: DecimationFilter, lanes: Int = 1, chunk: Int = 1) {
        self.filter = filter
        self.lanes = max(1, lanes)
        self.chunk = max(1, chunk)
        let stride = (self.lanes + 1) / 2 * 2
        self.stride = stride
        input = [Double](repeating: 0, count: self.chunk * stride)
        last = [Double](repeating: 0, count: stride)
        delays = [Double](repeating: 0, count: 2 * stride * filter.sections.count)
        wait = filter.delay
        var most = self.chunk
        for stage in filter.stages {
            stages.append(RunningStage(stage, stride: stride, chunk: most))
            most = most / stage.factor + 1
        }
    }

    /// Forgets all samples: the next one is output 0's place.
    public mutating func reset() {
        for s in stages.indices { stages[s].reset() }
        started = false
        wait = filter.delay
    }

    /// Sets one signal's next `count` samples, at most `chunk`; to be done for every lane before ``run(_:into:)``.
    public mutating func load(_ values: UnsafePointer<Double>, lane: Int, count: Int) {
        let stride = self.stride
        input.withUnsafeMutableBufferPointer { input in
            var place = lane
            for i in 0..<count {
                input[place] = values[i]
                place += stride
            }
        }
    }

    /// Takes the `count` samples that have been loaded and writes the outputs that they complete, one behind the other
    /// with their lanes side by side; there is room for `count × stride` numbers.
    /// - Returns: how many outputs.
    public mutating func run(_ count: Int, into output: UnsafeMutablePointer<Double>) -> Int {
        guard count > 0 else { return 0 }
        for lane in 0..<stride { last[lane] = input[(count - 1) * stride + lane] }
        if stages.isEmpty { return runRecursive(count, output) }
        var n = stages[0].run(&input, count, output)
        for s in stages.indices.dropFirst() where n > 0 { n = stages[s].run(output, n, output) }
        return n
    }

    /// Takes the last sample once more, `count` times, at most `chunk`; `filter.delay` times after the end of a signal
    /// let out all outputs up to it.
    public mutating func repeatLast(_ count: Int, into output: UnsafeMutablePointer<Double>) -> Int {
        for i in 0..<count {
            for lane in 0..<stride { input[i * stride + lane] = last[lane] }
        }
        return run(count, into: output)
    }

    /// Filters in place and takes every so many samples; without sections too, for the factor 1.
    private mutating func runRecursive(_ count: Int, _ output: UnsafeMutablePointer<Double>) -> Int {
        if !started { startSteady() }
        let (stride, factor) = (self.stride, filter.factor)
        var (d, outputs, wait) = (0, 0, self.wait)
        for section in filter.sections {
            let (b0, beta1, beta2, e1, e2) = (section.b0, section.beta1, section.beta2, section.e1, section.e2)
            for lane in Swift.stride(from: 0, to: stride, by: 2) {
                var (x1, x2, y1, y2) = (delays[d], delays[d + 1], delays[d + 2], delays[d + 3])
                input.withUnsafeMutableBufferPointer { input in
                    var place = lane
                    for _ in 0..<count {
                        let (x, y) = (input[place], input[place + 1])
                        let (xo, yo) = (b0 * x + x1, b0 * y + y1)
                        x1 += (beta1 * x - e1 * xo) + x2
                        y1 += (beta1 * y - e1 * yo) + y2
                        x2 += beta2 * x - e2 * xo
                        y2 += beta2 * y - e2 * yo
                        (input[place], input[place + 1]) = (xo, yo)
                        place += stride
                    }
                }
                (delays[d], delays[d + 1], delays[d + 2], delays[d + 3]) = (x1, x2, y1, y2)
                d += 4
            }
        }
        for i in 0..<count {
            if wait == 0 {
                for lane in 0..<stride { output[outputs * stride + lane] = input[i * stride + lane] }
                outputs += 1
                wait = factor
            }
            wait -= 1
        }
        self.wait = wait
        return outputs
    }

    /// The delays as if the first sample had always been the input; every section has the steady gain 1.
    private mutating func startSteady() {
        started = true
        var d = 0
        for section in filter.sections {
            for lane in 0..<stride {
                delays[d] = (1 - section.b0) * input[lane]
                delays[d + 1] = (section.e1 - section.beta1) * input[lane]
                d += 2
            }
        }
    }
}

/// One linear-phase stage of all lanes, which lie in pairs: what a processor computes at once. (As pairs, because memory that
/// is known to begin at 16 bytes can be an operand of an addition.)
private struct RunningStage: Sendable {
    private let coefficients: [Double]
    private let half: Int
    private let factor: Int
    /// Pairs of lanes.
    private let stride: Int
    /// The last samples, lanes side by side, oldest first.
    private var history: [SIMD2<Double>]
    /// Samples in the history, and where the next output's window begins.
    private var filled = 0
    private var next = 0

    /// - Parameter stride: doubles from one sample to the next, even.
    init(_ stage: DecimationStage, stride: Int, chunk: Int) {
        (coefficients, half, factor) = (stage.coefficients, stage.halfLength, stage.factor)
        self.stride = stride / 2
        // Room for several chunks, so that it is moved to the front less often.
        history = [SIMD2](repeating: .zero, count: (2 * half + 1 + factor + 3 * chunk) * self.stride)
    }

    mutating func reset() {
        filled = 0
        next = 0
    }

    /// Takes `count` samples and writes the outputs that they complete; `input` and `output` may be the same memory.
    mutating func run(_ input: UnsafePointer<Double>, _ count: Int, _ output: UnsafeMutablePointer<Double>) -> Int {
        let (stride, half, factor) = (self.stride, self.half, self.factor)
        let frame = stride * MemoryLayout<SIMD2<Double>>.stride
        var (filled, next) = (self.filled, self.next)
        var outputs = 0
        history.withUnsafeMutableBufferPointer { buffer in
            guard let history = buffer.baseAddress else { return }
            func copy(to place: Int, _ samples: Int) {
                UnsafeMutableRawPointer(history + place * stride).copyMemory(from: input, byteCount: samples * frame)
            }
            if filled == 0 {
                // Before the first sample: the first sample.
                for i in 0..<half { copy(to: i, 1) }
                filled = half
            } else if (filled + count) * stride > buffer.count {
                history.update(from: history + next * stride, count: (filled - next) * stride)
                filled -= next
                next = 0
            }
            copy(to: filled, count)
            filled += count
            coefficients.withUnsafeBufferPointer { coefficients in
                guard let taps = coefficients.baseAddress else { return }
                while filled - next > 2 * half {
                    Self.convolve(history + (next + half) * stride, taps, half, stride, output + 2 * outputs * stride)
                    outputs += 1
                    next += factor
                }
            }
        }
        (self.filled, self.next) = (filled, next)
        return outputs
    }

    /// One output of every lane from the samples around `centre`.
    @inline(__always)
    private static func convolve(
        _ centre: UnsafePointer<SIMD2<Double>>, _ taps: UnsafePointer<Double>, _ half: Int, _ stride: Int,
        _ output: UnsafeMutablePointer<Double>
    ) {
        var pair = 0
        while pair + 5 <= stride {
            convolveFive(centre + pair, taps, half, stride, output + 2 * pair)
            pair += 5
        }
        while pair < stride {
            convolveOne(centre + pair, taps, half, stride, output + 2 * pair)
            pair += 1
        }
    }

    /// Five pairs of lanes: as many sums as fit into the registers beside what they are made of.
    private static func convolveFive(
        _ centre: UnsafePointer<SIMD2<Double>>, _ taps: UnsafePointer<Double>, _ half: Int, _ stride: Int,
        _ output: UnsafeMutablePointer<Double>
    ) {
        let c = SIMD2(repeating: taps[0])
        var (a, b, d) = (c * centre[0], c * centre[1], c * centre[2])
        var (e, f) = (c * centre[3], c * centre[4])
        var (l, r) = (centre, centre)
        var n = 1
        while n <= half {
            l -= stride
            r += stride
            let c = SIMD2(repeating: taps[n])
            a += c * (l[0] + r[0])
            b += c * (l[1] + r[1])
            d += c * (l[2] + r[2])
            e += c * (l[3] + r[3])
            f += c * (l[4] + r[4])
            n &+= 1
        }
        (output[0], output[1], output[2], output[3]) = (a[0], a[1], b[0], b[1])
        (output[4], output[5], output[6], output[7]) = (d[0], d[1], e[0], e[1])
        (output[8], output[9]) = (f[0], f[1])
    }

    /// One pair of lanes, with two sums for each.
    private static func convolveOne(
        _ centre: UnsafePointer<SIMD2<Double>>, _ taps: UnsafePointer<Double>, _ half: Int, _ stride: Int,
        _ output: UnsafeMutablePointer<Double>
    ) {
        var (a, b) = (SIMD2(repeating: taps[0]) * centre[0], SIMD2<Double>.zero)
        var (l, r) = (centre, centre)
        var n = 1
        while n < half {
            let (c, d) = (SIMD2(repeating: taps[n]), SIMD2(repeating: taps[n + 1]))
            a += c * (l[-stride] + r[stride])
            l -= 2 * stride
            r += 2 * stride
            b += d * (l[0] + r[0])
            n &+= 2
        }
        if n == half { a += SIMD2(repeating: taps[n]) * (l[-stride] + r[stride]) }
        (output[0], output[1]) = (a[0] + b[0], a[1] + b[1])
    }
}

/// One linear-phase low pass and the factor by which the rate falls after it.
///
/// A windowed sinc with Kaiser's window (Kaiser and Schafer, On the use of the I₀-sinh window for spectrum analysis,
/// IEEE Trans. Acoust. 28, 1980); ripple of 0.001 dB in the pass band, stop band below −81 dB.
public struct DecimationStage: Sendable, Equatable {
    public let factor: Int
    /// The delay in the stage's own input samples; there are 2 × halfLength + 1 coefficients.
    public let halfLength: Int
    /// The centre coefficient and those to one side of it; the other side is the same.
    public let coefficients: [Double]

    private static let attenuation = 84.0

    /// - Parameters:
    ///   - factor: input samples per output sample, at least 2.
    ///   - pass: end of the pass band, cycles per input sample.
    ///   - stop: begin of the stop band, cycles per input sample, above `pass`.
    init(factor: Int, pass: Double, stop: Double) {
        self.factor = factor
        let half = Self.halfLength(pass: pass, stop: stop)
        halfLength = half
        let beta = 0.1102 * (Self.attenuation - 8.7)
        let cutoff = Double.pi * (pass + stop)
        var taps = [Double](repeating: 0, count: half + 1)
        for n in 0...half {
            let x = Double(n)
            let sinc = n == 0 ? cutoff / Double.pi : sin(cutoff * x) / (Double.pi * x)
            let position = x / Double(half + 1)
            taps[n] = sinc * bessel0(beta * (1 - position * position).squareRoot())
        }
        var sum = taps[0]
        for n in 1...half { sum += 2 * taps[n] }
        for n in taps.indices { taps[n] /= sum }
        coefficients = taps
    }

    /// A stage of given coefficients: the centre one and those to one side of it.
    init(factor: Int, coefficients: [Double]) {
        (self.factor, self.coefficients, halfLength) = (factor, coefficients, coefficients.count - 1)
    }

    /// Kaiser's rule for the length, with one coefficient to spare at each end for short filters.
    static func halfLength(pass: Double, stop: Double) -> Int {
        let length = Int(((attenuation - 7.95) / (2.285 * 2 * Double.pi * (stop - pass))).rounded(.up))
        return length / 2 + 1
    }

    /// Gain at a frequency in cycles per input sample; real, since the filter is symmetric about its centre.
    func gain(at frequency: Double) -> Double {
        var sum = coefficients[0]
        for n in 1..<coefficients.count {
            sum += 2 * coefficients[n] * cos(2 * Double.pi * frequency * Double(n))
        }
        return sum
    }
}
