/// Normal equations of a linear least-squares problem with a few unknowns: sums of products, then Gauss's elimination
/// with pivots.
struct LeastSquares {
    private let size: Int
    /// Rows of the matrix, one after the other, each with the right side as last column. (One array: of an array of arrays
    /// Swift 6.3.1 makes other code in one of some ten compilations.)
    private var rows: [Double]

    private func place(_ row: Int, _ column: Int) -> Int { row * (size + 1) + column }

    init(unknowns: Int) {
        size = unknowns
        rows = [Double](repeating: 0, count: unknowns * (unknowns + 1))
    }

    /// One equation: the sum of `factors` times the unknowns is `value`.
    mutating func add(_ factors: [Double], _ value: Double) {
        for i in 0..<size {
            for j in 0..<size { rows[place(i, j)] += factors[i] * factors[j] }
            rows[place(i, size)] += factors[i] * value
        }
    }

    /// Nil when the equations do not say enough: a pivot is less than 10⁻⁶ of its column's own sum of squares (the
    /// factors differ by no more than a thousandth).
    func solve() -> [Double]? {
        var a = rows
        let scale = (0..<size).map { rows[place($0, $0)] }
        for k in 0..<size {
            guard let best = (k..<size).max(by: { a[place($0, k)].magnitude < a[place($1, k)].magnitude }) else {
                return nil
            }
            if best != k { for j in 0...size { a.swapAt(place(k, j), place(best, j)) } }
            let pivot = a[place(k, k)]
            guard pivot.isFinite, pivot.magnitude > 1e-6 * scale[k], pivot != 0 else { return nil }
            for i in k + 1..<size {
                let factor = a[place(i, k)] / pivot
                for j in k...size { a[place(i, j)] -= factor * a[place(k, j)] }
            }
        }
        var x = [Double](repeating: 0, count: size)
        for i in stride(from: size - 1, through: 0, by: -1) {
            var rest = a[place(i, size)]
            for j in i + 1..<size { rest -= a[place(i, j)] * x[j] }
            x[i] = rest / a[place(i, i)]
        }
        return x
    }
}
