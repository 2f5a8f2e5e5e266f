import CKissFFT

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
