#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The discrete Fourier transform of any length, in parts of bounded work.
///
/// A length with no other prime factors than 2, 3 and 5 is one transform of that length. Every other one is three of
/// about twice the length, as a convolution with a chirp (Bluestein, A linear filtering approach to the computation of
/// the discrete Fourier transform, IEEE Trans. Audio Electroacoust. 18, 1970), so that no length is quadratic and all are
/// exact to the last digits.
public struct FourierTransform: Sendable {
    private enum Part { case direct, chirp, chirpSpectrum, forward, back }

    /// The longest length there can be.
    public let longest: Int
    private let direct: FourierPlan?
    private let padded: FourierPlan?
    private var length = 0
    private var hasChirp = false
    private var part = Part.direct
    /// exp(−iπ j²/n), the spectrum of its conjugate, and room to work in.
    private var chirp: [Double] = []
    private var chirpSpectrum: [Double] = []
    private var work: [Double] = []
    private var product: [Double] = []

    /// - Parameters:
    ///   - longest: the longest length.
    ///   - shorter: whether shorter ones will be asked for too; takes more memory.
    public init(longest: Int, shorter: Bool) {
        self.longest = max(1, longest)
        let isGood = FourierPlan.length(atLeast: self.longest) == self.longest
        direct = isGood ? FourierPlan(length: self.longest) : nil
        guard shorter || !isGood else {
            padded = nil
            return
        }
        let plan = FourierPlan(length: FourierPlan.length(atLeast: 2 * self.longest - 1))
        padded = plan
        chirp = [Double](repeating: 0, count: 2 * self.longest)
        work = [Double](repeating: 0, count: 2 * plan.length)
        (chirpSpectrum, product) = (work, work)
    }

    /// Says how long the next transform is.
    public mutating func begin(length: Int) {
        precondition(length >= 1 && length <= longest)
        if length == longest, direct != nil {
            part = .direct
        } else {
            precondition(padded != nil)
            if length != self.length { hasChirp = false }
            self.length = length
            part = hasChirp ? .forward : .chirp
        }
    }

    /// Does the next part, at most one transform of a plan; true when the output is complete. Input and output are
    /// different memory, and the same in all parts.
    public mutating func step(_ input: UnsafePointer<Double>, _ output: UnsafeMutablePointer<Double>) -> Bool {
        if part == .direct {
            direct?.transform(input, output)
            return true
        }
        guard let padded else { return true }
        switch part {
        case .chirp:
            fillChirp(padded.length)
            part = .chirpSpectrum
        case .chirpSpectrum:
            padded.transform(work, &chirpSpectrum)
            hasChirp = true
            part = .forward
        case .forward:
            multiplyInput(input, padded.length)
            padded.transform(work, &product)
            part = .back
        case .back, .direct:
            multiplySpectra(padded.length)
            padded.transform(product, &work)
            for k in 0..<length {
                // The inverse transform is the conjugate of the forward one of the conjugate.
                let (a, b, c, d) = (work[2 * k], -work[2 * k + 1], chirp[2 * k], chirp[2 * k + 1])
                output[2 * k] = a * c - b * d
                output[2 * k + 1] = a * d + b * c
            }
            return true
        }
        return false
    }

    private mutating func fillChirp(_ n: Int) {
        for i in 2 * length..<2 * n { work[i] = 0 }
        // The angle is π j²/n, and j² only matters modulo 2n.
        var square = 0
        for j in 0..<length {
            let angle = Double.pi * Double(square) / Double(length)
            let (c, s) = (cos(angle), sin(angle))
            (chirp[2 * j], chirp[2 * j + 1]) = (c, -s)
            (work[2 * j], work[2 * j + 1]) = (c, s)
            if j > 0 { (work[2 * (n - j)], work[2 * (n - j) + 1]) = (c, s) }
            square = (square + 2 * j + 1) % (2 * length)
        }
    }

    private mutating func multiplyInput(_ input: UnsafePointer<Double>, _ n: Int) {
        for k in 0..<length {
            let (a, b, c, d) = (input[2 * k], input[2 * k + 1], chirp[2 * k], chirp[2 * k + 1])
            work[2 * k] = a * c - b * d
            work[2 * k + 1] = a * d + b * c
        }
        for i in 2 * length..<2 * n { work[i] = 0 }
    }

    private mutating func multiplySpectra(_ n: Int) {
        let scale = 1 / Double(n)
        for k in 0..<n {
            let (a, b) = (product[2 * k] * scale, product[2 * k + 1] * scale)
            let (c, d) = (chirpSpectrum[2 * k], chirpSpectrum[2 * k + 1])
            product[2 * k] = a * c - b * d
            product[2 * k + 1] = -(a * d + b * c)
        }
    }
}
