import CKissFFT

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
/// exact to the last digits. What that takes is there only while such lengths are asked for: the memory is given back
/// with the first transform of the longest length, where that is a good one.
public struct FourierTransform: Sendable {
    private enum Part { case direct, chirp, chirpSpectrum, forward, back }

    /// The longest length there can be.
    public let longest: Int
    private let direct: FourierPlan?
    private var padded: FourierPlan?
    private var length = 0
    private var hasChirp = false
    private var part = Part.direct
    /// exp(−iπ j²/n), the first half (it is even) of the spectrum of its conjugate, and room to work in.
    private var chirp: [Double] = []
    private var chirpSpectrum: [Double] = []
    private var work: [Double] = []
    private var product: [Double] = []

    /// - Parameter longest: the longest length.
    public init(longest: Int) {
        self.longest = max(1, longest)
        let isGood = FourierPlan.length(atLeast: self.longest) == self.longest
        direct = isGood ? FourierPlan(length: self.longest) : nil
    }

    /// Says how long the next transform is.
    public mutating func begin(length: Int) {
        precondition(length >= 1 && length <= longest)
        if length == longest, direct != nil {
            part = .direct
            giveBackRoom()
        } else {
            if padded == nil { makeRoom() }
            if length != self.length { hasChirp = false }
            self.length = length
            part = hasChirp ? .forward : .chirp
        }
    }

    /// Gives back the memory that only the lengths with other factors need, until one is asked for again. Not between
    /// the parts of a transform.
    public mutating func giveBackRoom() {
        guard padded != nil else { return }
        padded = nil
        (chirp, chirpSpectrum, work, product) = ([], [], [], [])
        length = 0
    }

    private mutating func makeRoom() {
        let plan = FourierPlan(length: FourierPlan.length(atLeast: 2 * longest - 1))
        padded = plan
        chirp = [Double](repeating: 0, count: 2 * longest)
        work = [Double](repeating: 0, count: 2 * plan.length)
        product = work
        chirpSpectrum = [Double](repeating: 0, count: 2 * (plan.length / 2 + 1))
        hasChirp = false
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
            padded.transform(work, &product)
            for k in chirpSpectrum.indices { chirpSpectrum[k] = product[k] }
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
            let place = 2 * min(k, n - k)
            let (c, d) = (chirpSpectrum[place], chirpSpectrum[place + 1])
            product[2 * k] = a * c - b * d
            product[2 * k + 1] = -(a * d + b * c)
        }
    }
}

/// A discrete Fourier transform of one length without other prime factors than 2, 3 and 5, by KISS FFT in double
/// precision. Complex numbers lie as real and imaginary parts in turns.
public final class FourierPlan: @unchecked Sendable {
    /// Complex numbers.
    public let length: Int
    private let plan: OpaquePointer

    /// - Parameter length: at least 1, with no other prime factors than 2, 3 and 5; see ``length(atLeast:)``.
    public init(length: Int) {
        precondition(length == Self.length(atLeast: length))
        guard let plan = ckissfft_create(length) else { fatalError("no memory for a Fourier transform") }
        self.plan = plan
        self.length = length
    }

    deinit { ckissfft_destroy(plan) }

    /// X[k] = Σ x[j] exp(−2πi jk/n), not scaled. Input and output are different memory.
    public func transform(_ input: UnsafePointer<Double>, _ output: UnsafeMutablePointer<Double>) {
        ckissfft_transform(plan, input, output)
    }

    /// The shortest length, not below the given one, that a plan takes.
    public static func length(atLeast length: Int) -> Int {
        var candidate = max(1, length)
        while !isGood(candidate) { candidate += 1 }
        return candidate
    }

    /// The longest length, not above the given one, that a plan takes.
    public static func length(atMost length: Int) -> Int {
        var candidate = max(1, length)
        while !isGood(candidate) { candidate -= 1 }
        return candidate
    }

    private static func isGood(_ length: Int) -> Bool {
        var rest = length
        while rest % 2 == 0 { rest /= 2 }
        while rest % 3 == 0 { rest /= 3 }
        while rest % 5 == 0 { rest /= 5 }
        return rest == 1
    }
}
