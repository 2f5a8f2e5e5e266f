/// The few operations on complex numbers that filter design needs.
struct Complex: Equatable {
    var re: Double
    var im: Double

    static func + (a: Complex, b: Complex) -> Complex { Complex(re: a.re + b.re, im: a.im + b.im) }
    static func - (a: Complex, b: Complex) -> Complex { Complex(re: a.re - b.re, im: a.im - b.im) }
    static func * (a: Complex, b: Complex) -> Complex {
        Complex(re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re)
    }
    static func * (a: Double, b: Complex) -> Complex { Complex(re: a * b.re, im: a * b.im) }
    static func / (a: Complex, b: Complex) -> Complex {
        let d = b.squaredMagnitude
        return Complex(re: (a.re * b.re + a.im * b.im) / d, im: (a.im * b.re - a.re * b.im) / d)
    }
    var squaredMagnitude: Double { re * re + im * im }
    var conjugate: Complex { Complex(re: re, im: -im) }

    /// Principal square root, without cancellation.
    var squareRoot: Complex {
        let magnitude = squaredMagnitude.squareRoot()
        guard magnitude > 0 else { return Complex(re: 0, im: 0) }
        let larger = ((magnitude + abs(re)) / 2).squareRoot()
        let smaller = im / (2 * larger)
        if re >= 0 { return Complex(re: larger, im: smaller) }
        return Complex(re: abs(smaller), im: im < 0 ? -larger : larger)
    }
}
