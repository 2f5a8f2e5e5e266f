/// How the chip is soldered onto the board: 3×3, rows, from the chip's axes to the board's. From the device tree or
/// ACPI, by the kernel's `mount_matrix` (Documentation/devicetree/bindings/iio/mount-matrix.txt).
struct MountMatrix: Sendable, Equatable {
    var rows: (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>)

    static let identity = MountMatrix(
        rows: (SIMD3(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1)))

    static func == (a: Self, b: Self) -> Bool {
        a.rows.0 == b.rows.0 && a.rows.1 == b.rows.1 && a.rows.2 == b.rows.2
    }

    init(rows: (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>)) { self.rows = rows }

    /// `0, 1, 0; -1, 0, 0; 0, 0, 1`. Nil for another text, and for a matrix that loses an axis: some firmware says
    /// all zeros.
    init?(_ text: String) {
        var numbers: [Double] = []
        for word in text.split(whereSeparator: { " ,;\t\n".contains($0) }) {
            guard let number = Double(word), abs(number) <= 1000 else { return nil }
            numbers.append(number)
        }
        guard numbers.count == 9 else { return nil }
        rows = (
            SIMD3(numbers[0], numbers[1], numbers[2]), SIMD3(numbers[3], numbers[4], numbers[5]),
            SIMD3(numbers[6], numbers[7], numbers[8])
        )
        guard abs(determinant) > 1e-6 else { return nil }
    }

    private var determinant: Double {
        let (a, b, c) = rows
        let first = a.x * (b.y * c.z - b.z * c.y)
        let second = a.y * (b.x * c.z - b.z * c.x)
        let third = a.z * (b.x * c.y - b.y * c.x)
        return first - second + third
    }
}
