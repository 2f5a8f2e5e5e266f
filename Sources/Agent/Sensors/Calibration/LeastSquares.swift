/// Normal equations of a linear least-squares problem with a few unknowns: sums of products, then Gauss's elimination
/// with pivots.
struct LeastSquares {
    private let size: Int
    /// Rows of the matrix, and the right side as last column.
    private var rows: [[Double]]

    init(unknowns: Int) {
        size = unknowns
        rows = [[Double]](repeating: [Double](repeating: 0, count: unknowns + 1), count: unknowns)
    }

    /// One equation: the sum of `factors` times the unknowns is `value`.
    mutating func add(_ factors: [Double], _ value: Double) {
        for i in 0..<size {
            for j in 0..<size { rows[i][j] += factors[i] * factors[j] }
            rows[i][size] += factors[i] * value
        }
    }

    /// Nil when the equations do not say enough: a pivot is less than 10⁻⁶ of its column's own sum of squares (the
    /// factors differ by no more than a thousandth).
    func solve() -> [Double]? {
        var a = rows
        let scale = (0..<size).map { rows[$0][$0] }
        for k in 0..<size {
            guard let best = (k..<size).max(by: { a[$0][k].magnitude < a[$1][k].magnitude }) else { return nil }
            a.swapAt(k, best)
            let pivot = a[k][k]
            guard pivot.isFinite, pivot.magnitude > 1e-6 * scale[k], pivot != 0 else { return nil }
            for i in k + 1..<size {
                let factor = a[i][k] / pivot
                for j in k...size { a[i][j] -= factor * a[k][j] }
            }
        }
        var x = [Double](repeating: 0, count: size)
        for i in stride(from: size - 1, through: 0, by: -1) {
            var rest = a[i][size]
            for j in i + 1..<size { rest -= a[i][j] * x[j] }
            x[i] = rest / a[i][i]
        }
        return x
    }
}
